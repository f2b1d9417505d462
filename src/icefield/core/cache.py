"""What was worked out once, for all who ask again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Memory:
    """Results by what they answer. Whoever asks while one is being made waits for it and gets the same.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.once("sum", lambda: 1 + 1), memory.once("sum", lambda: 0)
    (2, 2)
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    def once(self, what: Hashable, make: Callable[[], Found]) -> Found:
        """What `make` gave when this was first asked for."""
        with self._lock:
            if what not in self._found:
                self._found[what] = make()
            found: Found = self._found[what]
            return found

    def holds(self, what: Hashable) -> bool:
        """Whether this was made already."""
        return what in self._found
