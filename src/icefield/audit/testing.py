"""Contracts in a test suite: each statement a test of its own, or all in one assertion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefield.audit.checking import check

if TYPE_CHECKING:
    from icefield.audit.checking import Check


def assert_expectations(
    explainer: Any, expectations: Any = None, *, against: Any = None, seconds: float = 10.0
) -> Check:
    """`icefield.check` as an assertion, whose message names what failed, with the rows that show it.

    Parameters
    ----------
    explainer, expectations, against, seconds : as in `icefield.check`
    """
    found = check(explainer, expectations, against=against, seconds=seconds)
    if not found.ok:
        lines = [f"{len(found.failures)} expectations do not hold:", *map(str, found.failures)]
        raise AssertionError("\n".join(lines))
    return found


def expectation_cases(found: Check) -> list[Any]:
    """One parameter per statement, for ``pytest.mark.parametrize``, named after it.

    Parameters
    ----------
    found : what `icefield.check` returned
    """
    import pytest

    return [pytest.param(one, id=f"{one.feature}-{one.expectation}") for one in found.statements]
