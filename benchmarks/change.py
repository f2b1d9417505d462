"""What a change costs at 100,000 rows of a model read as trees, against one `predict` of the library on the same rows.

Goals: the mean alone at most a tenth of one predict; `change` with its spread, shares, quantiles and rows at most one. Processor
seconds of one thread, the least of a few calls in turns, so that other work on the machine counts little. Run ``python -m benchmarks change``.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble import RandomForestRegressor

import icefield

ROWS, COLUMNS, REPEATS = 100_000, 10, 5


def least(lines: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Least processor seconds of each, asked in turns, after a first call that is not counted."""
    found = dict.fromkeys(lines, float("inf"))
    for repeat in range(1 + REPEATS):
        for name, work in lines.items():
            began = time.process_time()
            work()
            if repeat:
                found[name] = min(found[name], time.process_time() - began)
    return found


def models(X: Any, y: Any) -> dict[str, Any]:
    """Fitted models of trees, each with one thread."""
    return {
        "LightGBM, 200 trees x 31 leaves": lightgbm.LGBMRegressor(n_estimators=200, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y),
        "LightGBM, probabilities": lightgbm.LGBMClassifier(n_estimators=200, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y > 0),
        "XGBoost, 200 trees of depth 6": xgboost.XGBRegressor(n_estimators=200, max_depth=6, n_jobs=1).fit(X, y),
        "random forest, 100 trees of depth 8": RandomForestRegressor(100, max_depth=8, n_jobs=1).fit(X[:20_000], y[:20_000]),
    }  # fmt: skip


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=ROWS)
    for name, model in models(X, y).items():
        ex = icefield.Explainer(model, X, threads=1)
        predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        seconds = least(
            {
                "one predict": functools.partial(predict, X),
                "change(0, -1, 1, spread=False)": lambda ex=ex: ex.change(0, -1.0, 1.0, spread=False),
                "change(0, plus=1, spread=False)": lambda ex=ex: ex.change(0, plus=1.0, spread=False),
                "change(0, -1, 1)": lambda ex=ex: ex.change(0, -1.0, 1.0),
                "change(0, plus=1)": lambda ex=ex: ex.change(0, plus=1.0),
                "change(0, -1, 1).rows()": lambda ex=ex: ex.change(0, -1.0, 1.0).rows(),
                "slope(0)": lambda ex=ex: ex.slope(0),
            }
        )
        print(f"{name}: {ROWS:,} rows, one thread")
        for line, own in seconds.items():
            print(f"  {line:34s} {own:.3f} s, {own / seconds['one predict']:.2f} of one predict", flush=True)


if __name__ == "__main__":
    main()
