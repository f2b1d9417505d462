"""What it costs that a model is not known to predict row by row: one curve, every grid point in a call of its own.

Each model is asked as it is, and as a bare function of rows, of which nothing is known: without a word, and with
`row_by_row=True`, which stacks grid points in one call as every function was asked before. Processor milliseconds, the median
of runs that alternate between the ways. The numbers of all ways are compared.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import icefield
from benchmarks.timing import print_table

RUNS = 3
POINTS = 100
ROWS = (200, 2_000)
MOST_PREDICTIONS = 50_000  # of a slow model


class Additive:
    """Like an explainable boosting machine: a table of 256 bins for every feature, and for every pair of neighbours."""

    def __init__(self, X: np.ndarray) -> None:
        draw = np.random.default_rng(1)
        self.edges = np.quantile(X, np.linspace(0, 1, 257)[1:-1], axis=0).T
        self.scores = draw.normal(size=(X.shape[1], 256))
        self.pairs = draw.normal(size=(X.shape[1] - 1, 32, 32))

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        bins = np.stack([np.searchsorted(edges, column) for edges, column in zip(self.edges, rows.T)])
        total = sum(scores[own] for scores, own in zip(self.scores, bins))
        for table, one, other in zip(self.pairs, bins, bins[1:]):
            total = total + table[one // 8, other // 8]
        return total


def models() -> dict[str, tuple[Any, Callable[[Any], Any]]]:
    """Name -> the model, and its predictions as a function."""
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.svm import SVR

    X = np.random.default_rng(0).normal(size=(400, 10))
    y = 2 * X[:, 0] + np.sin(X[:, 1]) + X[:, 2] * X[:, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few iterations are enough for a timing
        fitted = {
            "k-NN": KNeighborsRegressor().fit(X, y),
            "SVR": SVR().fit(X, y),
            "MLP": MLPRegressor(max_iter=50, random_state=0).fit(X, y),
        }
    found: dict[str, tuple[Any, Callable[[Any], Any]]] = {
        name: (model, lambda rows, model=model: model.predict(rows)) for name, model in fitted.items()
    }
    formula = lambda rows: 2 * rows[:, 0] + np.sin(rows[:, 1]) + rows[:, 2] * rows[:, 3]  # noqa: E731
    additive = Additive(X)
    return {**found, "a lambda": (None, formula), "like an EBM": (None, additive)}


def milliseconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return 1e3 * (time.process_time() - began)


def main() -> None:
    for name, (model, function) in models().items():
        lines = []
        for n_rows in ROWS:
            if name in ("k-NN", "SVR") and n_rows * POINTS > MOST_PREDICTIONS:
                continue
            X = np.random.default_rng(2).normal(size=(n_rows, 10))
            ways = {"not known": (function, {}), "row_by_row=True": (function, {"row_by_row": True})}
            if model is not None:
                ways["as it is"] = (model, {})
            asked = {
                way: icefield.Explainer(one, X, threads=1, **given) for way, (one, given) in ways.items()
            }
            curves = {way: ex.partial_dependence(0, grid=POINTS).average for way, ex in asked.items()}
            for curve in curves.values():
                np.testing.assert_allclose(curve, curves["not known"], rtol=1e-9)
            taken: dict[str, list[float]] = {way: [] for way in asked}
            for _ in range(RUNS):
                for way, ex in asked.items():
                    taken[way].append(milliseconds(lambda ex=ex: ex.partial_dependence(0, grid=POINTS)))
            middle = {way: statistics.median(each) for way, each in taken.items()}
            as_is = middle.get("as it is", "-")
            stacked, apart = middle["row_by_row=True"], middle["not known"]
            lines.append((name, n_rows, as_is, stacked, apart, apart / stacked))
        print_table(
            f"a curve of {POINTS} points, processor ms",
            ("model", "rows", "as it is", "function, row_by_row=True", "function, not known", "ratio"), lines,
        )  # fmt: skip


if __name__ == "__main__":
    main()
