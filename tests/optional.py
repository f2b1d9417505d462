"""Libraries that tests need and may lack, imported by the first test that uses them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


class _Later:
    """A module, imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def imported_later(name: str, reason: str | None = None) -> Any:
    """As ``pytest.importorskip`` at the top of a file, for what takes a second to import.

    Both processes of ``make test`` read every file, and one runs its tests.
    """
    if find_spec(name) is None:
        pytest.skip(reason or f"{name} is not installed", allow_module_level=True)
    return _Later(name)
