"""Reading a model's trees, library by library, beside the library's own export of the same model.

Processor milliseconds, the least of several runs: ``python -m benchmarks reading``. Every model has 500 trees of 31
leaves (CatBoost's are symmetric: 32). scikit-learn's trees are arrays already, which nothing has to be exported from.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import print_table
from icefield.data.frame import table_of
from icefield.libraries import reading

ROWS, COLUMNS, TREES, LEAVES = 5000, 20, 500, 31
REPEATS = 7
LONGEST, SHARE = 60.0, 1.3  # milliseconds, or times the library's own export


def _models(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    import catboost
    import lightgbm
    import xgboost
    from sklearn.ensemble import (
        GradientBoostingRegressor,
        HistGradientBoostingRegressor,
        RandomForestRegressor,
    )

    unfitted = {
        "LightGBM": lightgbm.LGBMRegressor(n_estimators=TREES, num_leaves=LEAVES, n_jobs=1, verbose=-1),
        "XGBoost": xgboost.XGBRegressor(
            n_estimators=TREES, max_leaves=LEAVES, max_depth=0, grow_policy="lossguide", n_jobs=1
        ),
        "CatBoost": catboost.CatBoostRegressor(
            iterations=TREES, depth=5, verbose=0, thread_count=1, allow_writing_files=False
        ),
        "HistGradientBoosting": HistGradientBoostingRegressor(
            max_iter=TREES, max_leaf_nodes=LEAVES, early_stopping=False
        ),
        "RandomForest": RandomForestRegressor(TREES, max_leaf_nodes=LEAVES, n_jobs=1, random_state=0),
        "GradientBoosting": GradientBoostingRegressor(n_estimators=TREES, max_leaf_nodes=LEAVES),
    }
    return {name: model.fit(X, y) for name, model in unfitted.items()}


def _exports(folder: str) -> dict[str, Callable[[Any], Any]]:
    """What each library itself offers to get at its trees."""
    return {
        "LightGBM": lambda model: model.booster_.model_to_string(),
        "XGBoost": lambda model: model.get_booster().save_raw("ubj"),
        "CatBoost": lambda model: model.save_model(str(Path(folder) / "model.json"), format="json"),
    }


def _milliseconds(run: Callable[[], Any]) -> float:
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return 1000 * min(taken)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * rng.normal(size=ROWS)
    table, rows = table_of(X), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exports = _exports(folder)
        for name, model in _models(X, y).items():
            read = _milliseconds(lambda m=model: reading.read(m, table))
            own = _milliseconds(lambda m=model, f=exports[name]: f(m)) if name in exports else 0.0
            rows.append((name, read, own or "-", "yes" if read <= max(LONGEST, SHARE * own) else "no"))
    print_table(
        f"reading {TREES} trees of {LEAVES} leaves, processor ms",
        ("library", "read", "its own export", f"at most {LONGEST:.0f} or {SHARE}x"), rows,
    )  # fmt: skip


if __name__ == "__main__":
    main()
