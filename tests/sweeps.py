"""Sweeps over many like cases: some of them run in `make test`, all of them in `make test-all`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], *, every: int = 0, kept: Container[Any] = ()) -> list[Any]:
    """The cases for `parametrize`: each `every`-th and those in `kept` always, the others marked slow.

    What differs by a setting only may be left to the long run; one case of every code path must be kept.
    """
    return [
        case if (every and number % every == 0) or case in kept else slow(case)
        for number, case in enumerate(cases)
    ]


def slow(case: Any) -> Any:
    """A case of a parametrized test that belongs to `make test-all`."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
