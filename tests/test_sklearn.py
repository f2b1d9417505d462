"""The drop-in as a whole: scikit-learn's own test suite, its signatures, and who computes."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn
import sklearn.inspection
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import icefield.sklearn as ours

SUITE = ("sklearn.inspection.tests.test_partial_dependence",
         "sklearn.inspection._plot.tests.test_plot_partial_dependence")  # fmt: skip

# scikit-learn has it since 1.7, we have it with every version.
HAS_CUSTOM_VALUES = "custom_values" in inspect.signature(sklearn.inspection.partial_dependence).parameters

X = np.random.default_rng(0).normal(size=(80, 4))
Y = X[:, 0] + X[:, 1] ** 2


@pytest.mark.slow
def test_scikit_learns_own_tests_pass_with_our_names(
    tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    plugin = Path(__file__).parent / "sklearn_suite"
    nothing = tmp_path / "pytest.ini"
    nothing.write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", str(nothing), "-p", "no:cacheprovider", "-p", "plugin", "-n", "2",
         "--pyargs", *SUITE],
        cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False,
        env={**os.environ, "PYTHONPATH": str(plugin), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("icefield:"))
    record_property("printed", line)
    passed, functions, displays, brute, recursion = map(int, re.findall(r"(\d+)", line))
    # 373 tests in scikit-learn 1.5, 568 in 1.9. Some only reach private helpers; most must have come to us.
    assert passed >= 373
    assert functions > 250
    assert displays > 100
    assert brute > 100
    assert recursion > 100


def test_signatures_and_defaults_are_scikit_learns() -> None:
    def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
        every = inspect.signature(function).parameters.values()
        return [(p.name, p.kind, p.default) for p in every if p.name != "custom_values" or HAS_CUSTOM_VALUES]

    theirs = sklearn.inspection
    assert parameters(ours.partial_dependence) == parameters(theirs.partial_dependence)
    assert parameters(ours.PartialDependenceDisplay.from_estimator) == parameters(
        theirs.PartialDependenceDisplay.from_estimator
    )
    assert issubclass(ours.PartialDependenceDisplay, theirs.PartialDependenceDisplay)


def test_scikit_learns_function_is_never_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("scikit-learn's own partial_dependence was called")

    for module in ("sklearn.inspection", "sklearn.inspection._partial_dependence",
                   "sklearn.inspection._plot.partial_dependence"):  # fmt: skip
        monkeypatch.setattr(sys.modules[module], "partial_dependence", forbidden)
    for helper in ("_partial_dependence_brute", "_partial_dependence_recursion", "_grid_from_X"):
        monkeypatch.setattr(sys.modules["sklearn.inspection._partial_dependence"], helper, forbidden)
    plt.switch_backend("agg")
    linear = LinearRegression().fit(X, Y)
    boosted = GradientBoostingRegressor(n_estimators=3).fit(X, Y)
    with pytest.raises(AssertionError, match="own partial_dependence"):
        sklearn.inspection.PartialDependenceDisplay.from_estimator(linear, X, [0])
    for model in (linear, boosted):
        assert ours.partial_dependence(model, X, [0])["average"].shape == (1, 80)
        display = ours.PartialDependenceDisplay.from_estimator(model, X, [0, (0, 1)], grid_resolution=5)
        assert len(display.pd_results) == 2
    display = ours.PartialDependenceDisplay.from_estimator(linear, X, [0], kind="both", grid_resolution=5)
    assert display.pd_results[0]["individual"].shape == (1, 80, 5)
    plt.close("all")
