"""A thread-safe cache of results that are computed once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Found = TypeVar("Found")


class Cache:
    """Results by key. A caller that asks while one is being computed waits for it and gets the same object.

    Examples
    --------
    >>> cache = Cache()
    >>> cache.once("sum", lambda: 1 + 1), cache.once("sum", lambda: 0)
    (2, 2)
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}
        self._last: dict[str, tuple[Hashable, Any]] = {}
        self._lock = threading.RLock()

    def once(self, what: Hashable, make: Callable[[], Found]) -> Found:
        """The result of `make`, which is called only the first time."""
        with self._lock:
            if what not in self._found:
                self._found[what] = make()
            found: Found = self._found[what]
            return found

    def holds(self, what: Hashable) -> bool:
        """Whether the result exists already."""
        return what in self._found

    def keep(self, name: str, key: Hashable, value: object) -> None:
        """Remember a large result in place of the last one of that name."""
        self._last[name] = (key, value)

    def kept(self, name: str, key: Hashable) -> Any:
        """The last result of that name, if it is the one with this key; else None."""
        known, value = self._last.get(name, (None, None))
        return value if known == key else None
