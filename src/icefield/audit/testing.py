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
    result = check(explainer, expectations, against=against, seconds=seconds)
    if not result.ok:
        lines = [f"{len(result.failures)} expectations do not hold:", *map(str, result.failures)]
        raise AssertionError("\n".join(lines))
    return result


def expectation_cases(found: Check) -> list[Any]:
    """One parameter per statement, for ``pytest.mark.parametrize``, named after it.

    Parameters
    ----------
    found : what `icefield.check` returned
    """
    import pytest

    return [pytest.param(s, id=f"{s.feature}-{s.expectation}") for s in found.statements]
