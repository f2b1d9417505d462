"""Audits: every row at every threshold against one predict of the model's library, one thread on both sides; and every possible input."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import icefield
from benchmarks.timing import median_both, print_table
from icefield.audit.domain import Domain
from icefield.audit.input_boxes import space_of

ROWS, FEATURES = 100_000, 20


def _models() -> dict[str, tuple[Any, Callable[[np.ndarray], Any], int]]:
    """Fitted models by name, their library's predict on one thread, and how many trees they have."""
    import lightgbm as lgb
    import xgboost as xgb

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, FEATURES))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=len(X))
    found: dict[str, tuple[Any, Callable[[np.ndarray], Any], int]] = {}
    for trees, leaves in ((500, 31), (100, 255)):
        model = lgb.LGBMRegressor(n_estimators=trees, num_leaves=leaves, n_jobs=1, verbose=-1).fit(X, y)
        booster = model.booster_
        found[f"LightGBM {trees} x {leaves}"] = (
            model,
            lambda rows, b=booster: b.predict(rows, num_threads=1),
            trees,
        )
    binary = lgb.LGBMClassifier(n_estimators=500, num_leaves=31, n_jobs=1, verbose=-1).fit(X, y > 0)
    found["LightGBM 500 x 31, probabilities"] = (
        binary,
        lambda rows: binary.booster_.predict(rows, num_threads=1),
        500,
    )
    deep = xgb.XGBRegressor(n_estimators=500, max_depth=6, n_jobs=1).fit(X, y)
    found["XGBoost 500 x depth 6"] = (deep, lambda rows: deep.predict(rows), 500)
    return found


def main() -> None:
    rows = np.random.default_rng(1).normal(size=(ROWS, FEATURES))
    timed, decided = [], []
    for name, (model, predict, trees) in _models().items():
        ex = icefield.Explainer(model, rows, threads=1)
        ex.audit(everywhere=False, rows=100)  # reads the model
        predicted, predict_work = median_both(lambda predict=predict: predict(rows), repeats=3)
        clock, work = median_both(lambda ex=ex: ex.audit(everywhere=False), repeats=3)
        timed.append(
            [name, predicted, clock, clock / predicted, work / predict_work, 1e9 * work / (ROWS * trees)]
        )
        began = time.process_time()
        assert ex.plan.trees is not None
        domain = Domain(space_of(ex.study, ex.plan.trees), 0)
        answers = [
            domain.monotone(v, sign, time.monotonic() + 0.25) for v in range(FEATURES) for sign in (1, -1)
        ]
        alone = time.process_time() - began
        began = time.process_time()
        found = ex.audit(seconds=10)
        known = [one.answer for one in found.everywhere]
        decided.append(
            [name, alone, sum(a.answer != "not decided" for a in answers) / len(answers),
             time.process_time() - began, sum(a != "not decided" for a in known) / len(known)]
        )  # fmt: skip
    print_table(
        f"{ROWS:,} rows x {FEATURES} features, every threshold, one thread",
        ["model", "predict s", "audit s", "predicts", "of processor time", "ns per row and tree"],
        timed,
    )
    print_table(
        "Every possible input, both directions of all features",
        ["model", "without rows s", "decided", "whole audit s", "decided"],
        decided,
    )
