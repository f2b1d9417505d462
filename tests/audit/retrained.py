"""Three processes that data comes from, models fitted to draws of them, and changes planted in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import icefield

ROWS, REFITS = 10_000, 10
PROCESSES = ("linear", "interacting", "classes")


def rows(rng: np.random.Generator, n: int = ROWS) -> pd.DataFrame:
    return pd.DataFrame({
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "debt": rng.normal(size=n),
        "age": rng.integers(18, 80, n),
        "region": pd.Categorical(rng.choice(["north", "south", "west"], n, p=[0.5, 0.4, 0.1]), categories=["north", "south", "west"]),
        "noise": rng.normal(size=n),
    })  # fmt: skip


def target(process: str, X: pd.DataFrame, rng: np.random.Generator, change: str = "") -> np.ndarray:
    """What is observed; `change` plants one."""
    gone = X["income"].isna()
    income = np.where(gone, -1.5 if change != "missing" else 1.5, X["income"])
    sign = np.where((X["region"] == "west") & (change == "flipped"), -1.0, 1.0)
    debt = -1.0 * (0.7 if change == "weaker" else 1.0) * sign * X["debt"]
    mean = income + debt + 0.02 * (X["age"] - 45) + (X["region"] == "south") * 0.8
    if process == "interacting":
        mean = mean + 0.8 * np.maximum(X["debt"], 0) * (X["age"] > 50)
    if process == "classes":
        return (rng.random(len(X)) < 1 / (1 + np.exp(-1.5 * mean))).astype(int)
    return np.asarray(mean + 0.5 * rng.normal(size=len(X)))


def fitted(process: str, X: pd.DataFrame, y: np.ndarray) -> Any:
    import lightgbm as lgb

    cls = lgb.LGBMClassifier if process == "classes" else lgb.LGBMRegressor
    return cls(
        n_estimators=60, num_leaves=15, learning_rate=0.1, min_child_samples=30, n_jobs=1, verbose=-1
    ).fit(X, y)


def explained(process: str, seed: int, change: str = "") -> icefield.Explainer:
    """A model fitted to a draw of its own, explained on that draw."""
    rng = np.random.default_rng(seed)
    X = rows(rng)
    y = target(process, X, rng, change)
    if change == "lost level":
        keep = (X["region"] != "west").to_numpy()
        X, y = X[keep].reset_index(drop=True), y[keep]
        X["region"] = X["region"].cat.remove_categories("west")
    if change == "leak":
        X["leak"] = y + 0.1 * rng.normal(size=len(y))
    model = fitted(process, X, y)
    return icefield.Explainer(model, X, y, threads=1, scale="raw")


def written(process: str, folder: Path) -> Path:
    return explained(process, 100).snapshot(folder / process, refits=REFITS)


CHANGES: dict[str, Callable[[icefield.Check], bool]] = {
    "flipped": lambda found: any(s.feature == "debt" and "west" in s.expectation for s in found.failures),
    "lost level": lambda found: any(s.feature == "region" and s.found == "lost" for s in found.failures),
    "missing": lambda found: any(
        s.feature == "income" and s.expectation == "missing" for s in found.failures
    ),
    "leak": lambda found: any(s.feature == "leak" and "new" in s.found for s in found.failures),
    "weaker": lambda found: any(
        s.feature == "debt" and s.expectation in ("curve", "movement") for s in found.failures
    ),
}
