"""Models without structure: icefield's brute force beside scikit-learn's, same numbers, same process.

Runs alternate between the two, so that a busy machine is busy for both, and the ratio is the
median over the pairs. Memory is the peak of what numpy and Python allocated during one call.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import icefield

PAIRS = 5
POINTS = 100


def cases() -> dict[str, tuple[Any, Any, Any]]:
    """Name -> fitted model, rows, feature."""
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVR

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 10))
    y = 2 * X[:, 0] + np.sin(X[:, 1]) + X[:, 2] * X[:, 3]
    n = 20_000
    frame = pandas.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{i}" for i in range(6)])
    for i, levels in enumerate((5, 12, 40)):
        frame[f"c{i}"] = np.array([f"level {j}" for j in range(levels)])[rng.integers(0, levels, n)]
    encoded = make_column_transformer(
        (OneHotEncoder(), ["c0", "c1", "c2"]), (StandardScaler(), [f"x{i}" for i in range(6)])
    )
    pipeline = make_pipeline(encoded, LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few iterations are enough for a timing
        return {
            "k-NN": (KNeighborsRegressor().fit(X, y), X, 0),
            "SVR": (SVR().fit(X, y), X, 0),
            "MLP": (MLPRegressor(max_iter=50, random_state=0).fit(X, y), X, 0),
            "one-hot + scaler + logistic": (pipeline.fit(frame, frame["x0"] > 0), frame, "x0"),
        }


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_megabytes(work: Callable[[], Any]) -> float:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def main() -> None:
    """Print speed-ups and peak memory."""
    from sklearn.inspection import partial_dependence

    lines = []
    for name, (model, rows, feature) in cases().items():

        def theirs(model: Any = model, rows: Any = rows, feature: Any = feature) -> Any:
            return partial_dependence(model, rows, [feature], grid_resolution=POINTS, method="brute")

        explainer = icefield.Explainer(model, rows, engine="brute")
        grid = theirs()["grid_values"][0]

        def ours(explainer: icefield.Explainer = explainer, feature: Any = feature, grid: Any = grid) -> Any:
            return explainer.partial_dependence(feature, grid=grid)

        difference = float(np.abs(ours().average - theirs()["average"]).max())
        pairs = [(seconds(theirs), seconds(ours)) for _ in range(PAIRS)]
        ratio = statistics.median(a / b for a, b in pairs)
        print(
            f"{name}: scikit-learn {statistics.median(a for a, _ in pairs):.3f} s, icefield "
            f"{statistics.median(b for _, b in pairs):.3f} s, largest difference {difference:.1e}",
            flush=True,
        )
        lines.append((name, len(rows), ratio, peak_megabytes(theirs), peak_megabytes(ours)))
    print(f"\n{'brute force, 100 grid points':<30}{'rows':>8}{'peak MB (theirs, ours)':>26}{'speed-up':>10}")
    for name, n_rows, ratio, their_peak, our_peak in lines:
        print(f"{name:<30}{n_rows:>8,}{their_peak:>16.1f}{our_peak:>10.1f}{ratio:>9.2f}x")


if __name__ == "__main__":
    main()
