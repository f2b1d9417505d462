"""What a change costs at 100,000 rows of a model read as trees, against one `predict` of the library on the same rows.

Goals: the mean alone at most a tenth of one predict; `change` with its spread, shares, quantiles and rows at most one. Run ``python -m benchmarks change``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np

import icefield

ROWS, COLUMNS, REPEATS = 100_000, 10, 5


def median(work: Callable[[], Any]) -> float:
    """Median seconds of a few calls, after one that is not counted."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=ROWS)
    model = lightgbm.LGBMRegressor(n_estimators=200, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y)
    ex = icefield.Explainer(model, X, threads=1)
    predict = median(lambda: model.predict(X, num_threads=1))
    print(f"one predict of {ROWS:,} rows, {model.n_estimators} trees, one thread: {predict:.3f} s")
    lines = {
        "the two means, partial_dependence(0, grid=[-1, 1], spread=False)": lambda: ex.partial_dependence(0, grid=[-1.0, 1.0], spread=False),
        "change(0, -1, 1)": lambda: ex.change(0, -1.0, 1.0),
        "change(0, plus=1)": lambda: ex.change(0, plus=1.0),
        "slope(0)": lambda: ex.slope(0),
        "change(0, -1, 1).rows()": lambda: ex.change(0, -1.0, 1.0).rows(),
    }  # fmt: skip
    for name, work in lines.items():
        seconds = median(work)
        print(f"{name:66s} {seconds:.3f} s, {seconds / predict:.2f} of one predict", flush=True)


if __name__ == "__main__":
    main()
