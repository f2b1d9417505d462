"""Small fitted forests of every library, and what they do at every cell of the product of their thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import icefield

LEVELS = ("p", "q", "r")


@dataclass
class Small:
    """A fitted model, the rows to audit, and which of its columns are categories."""

    model: Any
    X: pd.DataFrame
    scale: str
    slack: float  # differences that are rounding, of the library's own predictions


def rows(rng: np.random.Generator, n: int, category: bool, missing: bool) -> pd.DataFrame:
    X = pd.DataFrame({name: rng.normal(size=n).round(3) for name in "abc"})
    if missing:
        X.loc[rng.random(n) < 0.2, "b"] = np.nan
    if category:
        X["g"] = pd.Categorical(rng.choice(LEVELS, n), categories=LEVELS)
    return X


def _target(rng: np.random.Generator, X: pd.DataFrame) -> np.ndarray:
    weight = rng.normal(size=3)
    y = weight[0] * X["a"] + weight[1] * np.nan_to_num(X["b"]) * (X["c"] > 0) + weight[2] * np.abs(X["c"])
    if "g" in X:
        y = y + (X["g"] == "p") * rng.normal() + (X["g"] == "q") * X["a"] * rng.normal() * 0.3
    return np.asarray(y + 0.1 * rng.normal(size=len(X)))


def small(kind: str, seed: int) -> Small:
    """A forest of a kind; every other one is asked on its raw scale, every third has a monotone constraint."""
    rng = np.random.default_rng([seed, len(kind)])
    constrained = seed % 3 == 0
    trees = int(rng.integers(1, 5))
    library, _, task = kind.partition(" ")
    category = library in ("lightgbm", "hist", "xgboost", "catboost") and seed % 2 == 0
    missing = library in ("lightgbm", "xgboost", "catboost", "hist") and seed % 4 != 1
    X = rows(rng, 150, category, missing)
    y = _target(rng, X)
    if task == "classifier":
        y = (y > np.median(y)).astype(int)
    elif task == "classes":
        y = np.digitize(y, np.quantile(y, [0.3, 0.7]))
        task = "classifier"
    scale = "raw" if task == "classifier" and seed % 2 else "response"
    signs = [1 if constrained else 0, -1 if seed % 6 == 0 else 0, 0]
    model: Any
    slack = 1e-9
    if library == "lightgbm":
        import lightgbm as lgb

        cls = lgb.LGBMClassifier if task == "classifier" else lgb.LGBMRegressor
        model = cls(
            n_estimators=trees, num_leaves=4, min_child_samples=5, learning_rate=0.5, verbose=-1, n_jobs=1, min_data_per_group=5,
            monotone_constraints=[*signs, *([0] if category else [])], cat_smooth=1.0, random_state=seed,
            monotone_constraints_method=("basic", "intermediate", "advanced")[seed % 3],
        )  # fmt: skip
    elif library == "xgboost":
        import xgboost as xgb

        cls = xgb.XGBClassifier if task == "classifier" else xgb.XGBRegressor
        model = cls(
            n_estimators=trees, max_depth=2, learning_rate=0.5, n_jobs=1, monotone_constraints=(*signs, *([0] if category else [])),
            enable_categorical=category,
            **({} if task == "classifier" or seed % 2 else {"objective": "reg:absoluteerror"}),
        )  # fmt: skip
        slack = 3e-5
    elif library == "catboost":
        import catboost as cb

        cls = cb.CatBoostClassifier if task == "classifier" else cb.CatBoostRegressor
        model = cls(
            iterations=trees, depth=2, learning_rate=0.5, verbose=0, allow_writing_files=False, thread_count=1,
            random_seed=seed, **({"monotone_constraints": [*signs, *([0] if category else [])]} if constrained else {}),
            **({"cat_features": ["g"], "one_hot_max_size": 5} if category else {}),
        )  # fmt: skip
    elif library == "hist":
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        cls = HistGradientBoostingClassifier if task == "classifier" else HistGradientBoostingRegressor
        model = cls(
            max_iter=trees, max_leaf_nodes=4, min_samples_leaf=5, learning_rate=0.5,
            monotonic_cst=[*signs, *([0] if category else [])],
            categorical_features="from_dtype" if category else None,
        )  # fmt: skip
    else:
        from sklearn import ensemble, tree

        model = {
            "forest": lambda: ensemble.RandomForestRegressor(trees, max_depth=2, random_state=seed, n_jobs=1),
            "tree": lambda: tree.DecisionTreeRegressor(max_depth=3, random_state=seed),
            "boosting": lambda: ensemble.GradientBoostingClassifier(
                n_estimators=trees, max_depth=2, random_state=seed
            ),
        }[library]()
        if library == "boosting":
            y = (y > np.median(y)).astype(int)
            scale = "raw" if seed % 2 else "response"
    model.fit(X, y)
    return Small(model, X, scale, slack)


KINDS = (
    "lightgbm regressor", "lightgbm classifier", "xgboost regressor", "xgboost classifier", "catboost regressor",
    "catboost classifier", "hist regressor", "hist classifier", "forest", "tree", "boosting", "lightgbm classes", "xgboost classes",
)  # fmt: skip


def cells(ex: icefield.Explainer) -> dict[str, list[Any]]:
    """One value inside each cell between thresholds, by column; levels of a category; None for missing where the data has it."""
    trees = ex.plan.trees
    assert trees is not None, ex.plan.why
    forest, found = trees.forest, {}
    for name in ex.model.columns:
        column = ex.table.column(name)
        if column.kind == "categorical":
            found[name] = list(column.levels)
        else:
            (place,) = trees.drives.get(name, (None,))
            own = (forest.condition_column == place) & (forest.condition_set < 0)
            cuts = np.unique(forest.condition_threshold[own])
            cuts = cuts[np.isfinite(cuts) & (np.abs(cuts) > 1e-30) & (np.abs(cuts) < 1e30)]
            if (np.abs(forest.condition_threshold[own]) <= 1e-30).any():
                cuts = np.unique(np.append(cuts, [-1e-9, 1e-9]))
            found[name] = (
                [0.0] if not len(cuts) else [cuts[0] - 1.0, *((cuts[1:] + cuts[:-1]) / 2), cuts[-1] + 1.0]
            )
        if column.any_missing:
            found[name] = [*found[name], None]
    return found


def every_cell(ex: icefield.Explainer, values: dict[str, list[Any]]) -> np.ndarray:
    """The model's own predictions, ``(cells of the first column, of the second, ..., outputs)``."""
    table = pd.DataFrame(list(product(*values.values())), columns=list(values))
    for name in values:
        if ex.table.column(name).kind == "categorical":
            table[name] = pd.Categorical(table[name], categories=LEVELS)
        else:
            table[name] = table[name].astype(float)
    predicted = ex.model.predict(icefield.data.frame.table_of(table, "X"))
    return predicted.reshape(*(len(v) for v in values.values()), -1)
