"""A pytest plugin that puts icefield's two names where scikit-learn's tests look for them.

Loaded with ``-p plugin`` before anything is collected, it rebinds `partial_dependence` and
`PartialDependenceDisplay` in `sklearn.inspection`, from where the test modules import them, and makes
scikit-learn's own function raise wherever else it is bound, so that no test can pass by reaching it.
The tree engine answers whatever it can, also where that is too little to pay. Calls of ours and
answers from trees are counted, over all workers, and the counts end the report.
"""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

TESTED = {
    "sklearn.inspection.tests.test_partial_dependence": "partial_dependence",
    "sklearn.inspection._plot.tests.test_plot_partial_dependence": "PartialDependenceDisplay",
}
OWN_COSTS = ("FIRST_USE", "FIXED", "FIXED_PIPELINE", "OWN_NODE", "OWN_PREDICTION", "WORTH_READING")
calls: Counter[str] = Counter()


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counting(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return function(*args, **kwargs)

    return counting


def forbidden(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("scikit-learn's own partial_dependence was called")


def pytest_configure(config: pytest.Config) -> None:
    import sklearn.inspection
    import sklearn.inspection._partial_dependence as function_module
    import sklearn.inspection._plot.partial_dependence as display_module

    import icefield.engines.training.training_averages as training
    import icefield.sklearn as ours
    from icefield.engines.trees import TreesEngine
    from icefield.sklearn import exact as trees

    for cost in OWN_COSTS:
        assert getattr(trees, cost) > 0
        setattr(trees, cost, 0)
    engine: Any = TreesEngine
    engine.answer = counted("brute by trees", engine.answer)
    training.training_average = counted("recursion by trees", training.training_average)
    display: Any = ours.PartialDependenceDisplay
    display.from_estimator = classmethod(counted("from_estimator", display.from_estimator.__func__))
    function_module.partial_dependence = forbidden
    display_module.partial_dependence = forbidden
    sklearn.inspection.partial_dependence = counted("partial_dependence", ours.partial_dependence)
    sklearn.inspection.PartialDependenceDisplay = display


def pytest_collection_finish(session: pytest.Session) -> None:
    """The test modules must hold our names; a change of their imports would otherwise go unnoticed."""
    import sklearn.inspection

    for module, name in TESTED.items():
        if module in sys.modules:
            assert getattr(sys.modules[module], name) is getattr(sklearn.inspection, name)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["icefield_calls"] = dict(calls)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    calls.update(getattr(node, "workeroutput", {}).get("icefield_calls", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = len(terminalreporter.stats.get("passed", ()))
    terminalreporter.write_line(
        f"icefield: {passed} of scikit-learn's tests passed; partial_dependence was called "
        f"{calls['partial_dependence']} times, from_estimator {calls['from_estimator']} times; trees answered "
        f"{calls['brute by trees']} times by brute, {calls['recursion by trees']} times by recursion"
    )
