"""What a change costs at 100,000 rows of a model read as trees, against one `predict` of the library on the same rows.

Goals: the mean alone at most a tenth of one predict; `change` with its spread, shares, quantiles and rows at most one. Processor
seconds of one thread, the least of a few calls in turns, so that other work on the machine counts little; with ``--threads``, elapsed seconds of
as many threads as there are processors, on both sides, which need an idle machine. *Cold* is a new Explainer: the model is read and checked, the
rows are looked at. Run ``python -m benchmarks change [--threads]``.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble import RandomForestRegressor

import icefield
from icefield.threads import available_processors

ROWS, COLUMNS, REPEATS = 100_000, 10, 5


def least(lines: dict[str, Callable[[], Any]], clock: Callable[[], float]) -> dict[str, float]:
    """Least seconds of each, asked in turns, after a first call that is not counted."""
    found = dict.fromkeys(lines, float("inf"))
    for repeat in range(1 + REPEATS):
        for name, work in lines.items():
            began = clock()
            work()
            if repeat:
                found[name] = min(found[name], clock() - began)
    return found


def models(X: Any, y: Any, jobs: int = 1) -> dict[str, Any]:
    """Fitted models of trees, each with so many threads."""
    return {
        "LightGBM, 200 trees x 31 leaves": lightgbm.LGBMRegressor(n_estimators=200, num_leaves=31, n_jobs=jobs, verbose=-1).fit(X, y),
        "LightGBM, probabilities": lightgbm.LGBMClassifier(n_estimators=200, num_leaves=31, n_jobs=jobs, verbose=-1).fit(X, y > 0),
        "XGBoost, 200 trees of depth 6": xgboost.XGBRegressor(n_estimators=200, max_depth=6, n_jobs=jobs).fit(X, y),
        "random forest, 100 trees of depth 8": RandomForestRegressor(100, max_depth=8, n_jobs=jobs).fit(X[:20_000], y[:20_000]),
    }  # fmt: skip


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=ROWS)
    jobs = available_processors() if "--threads" in sys.argv else 1
    for name, model in models(X, y, jobs).items():
        ex = icefield.Explainer(model, X, threads=jobs)
        predict = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        seconds = least(
            {
                "one predict": functools.partial(predict, X),
                "change(0, -1, 1, spread=False)": lambda ex=ex: ex.change(0, -1.0, 1.0, spread=False),
                "change(0, plus=1, spread=False)": lambda ex=ex: ex.change(0, plus=1.0, spread=False),
                "change(0, -1, 1)": lambda ex=ex: ex.change(0, -1.0, 1.0),
                "change(0, plus=1)": lambda ex=ex: ex.change(0, plus=1.0),
                "change(0, -1, 1).rows()": lambda ex=ex: ex.change(0, -1.0, 1.0).rows(),
                "slope(0, spread=False)": lambda ex=ex: ex.slope(0, spread=False),
                "slope(0)": lambda ex=ex: ex.slope(0),
                "cold, change(0, -1, 1, spread=False)": lambda model=model: icefield.Explainer(model, X, threads=jobs).change(0, -1.0, 1.0, spread=False),
                "cold, change(0, plus=1, spread=False)": lambda model=model: icefield.Explainer(model, X, threads=jobs).change(0, plus=1.0, spread=False),
            },
            time.process_time if jobs == 1 else time.perf_counter,
        )  # fmt: skip
        print(f"{name}: {ROWS:,} rows, {jobs} thread{'s' * (jobs > 1)}")
        for line, own in seconds.items():
            print(f"  {line:40s} {own:.3f} s, {own / seconds['one predict']:.2f} of one predict", flush=True)


if __name__ == "__main__":
    main()
