"""The exact tree engine against one pass of ``predict``, scikit-learn and woodelf.

Every line is a ratio of medians from the same run. Names P1, P2, ... are the goals listed in
``docs/performance.md``. Run all with ``python -m benchmarks trees``.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.timing import median_both, median_seconds, print_table
from icefield import Explainer

ROWS, COLUMNS = 100_000, 20


def data(rows: int = ROWS, skewed: bool = False, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with interactions; `skewed` makes heavy tails and a sentinel value."""
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy((rows, COLUMNS)) if skewed else rng.normal(size=(rows, COLUMNS))
    if skewed:
        X[rng.integers(0, rows, rows // 100), :] = 1e9
    z = np.arctan(X)
    y = z[:, 0] * z[:, 1] + np.sin(3 * z[:, 2]) + z[:, 3:].sum(axis=1) * 0.2 + 0.1 * rng.normal(size=rows)
    return X, y


def models(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """One fitted model per library, of the size the goals name."""
    import catboost
    import lightgbm
    import xgboost
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

    few = slice(0, 20_000)
    return {
        "LightGBM 500 x 31": lightgbm.LGBMRegressor(n_estimators=500, num_leaves=31, verbose=-1).fit(X, y),
        "XGBoost 500, depth 5": xgboost.XGBRegressor(n_estimators=500, max_depth=5).fit(X, y),
        "CatBoost 500, depth 5": catboost.CatBoostRegressor(
            iterations=500, depth=5, verbose=False, allow_writing_files=False
        ).fit(X, y),
        "HistGradientBoosting 100, depth 6": HistGradientBoostingRegressor(
            max_iter=100, max_depth=6, max_leaf_nodes=None, early_stopping=False
        ).fit(X, y),
        "RandomForest 100, depth 6": RandomForestRegressor(
            n_estimators=100, max_depth=6, n_jobs=2, random_state=0
        ).fit(X[few], y[few]),
    }


def all_features(skewed: bool) -> None:
    """P1, P2, P3 for every library."""
    X, y = data(skewed=skewed)
    rows = []
    for name, model in models(X, y).items():
        predict = median_seconds(lambda m=model: m.predict(X), repeats=3)
        explainer = Explainer(model, X)
        one = median_seconds(explainer.effects, repeats=5)
        whole = median_seconds(lambda m=model: Explainer(m, X).effects(), repeats=3)
        two = median_seconds(lambda e=explainer: e.effects(order=2), repeats=3)
        curves = median_seconds(lambda e=explainer: e.partial_dependence(0), repeats=3)
        engine = explainer.plan.engine.name
        rows.append((name, engine, predict, one / predict, whole / predict, two / predict, curves / predict))
    print_table(
        f"{ROWS:,} x {COLUMNS} {'heavily skewed' if skewed else 'normal'} columns, as a share of one predict pass",
        ("model", "engine", "predict s", "P1 all PD", "(end to end)", "P2 all pairs", "spread of one"),
        rows,
    )


def probability_curves() -> None:
    """P3: every row's curve of one feature, on the probability scale."""
    import lightgbm

    X, y = data()
    model = lightgbm.LGBMClassifier(n_estimators=500, num_leaves=31, verbose=-1).fit(X, y > np.median(y))
    predict = median_seconds(lambda: model.predict_proba(X), repeats=3)
    explainer = Explainer(model, X)
    curves = median_seconds(lambda: explainer.partial_dependence(0), repeats=5)
    print_table(
        "P3: 100,000 ICE curves of one feature, 100 points, probability scale (mean and spread)",
        ("predict s", "curves s", "ratio"),
        [(predict, curves, curves / predict)],
    )


def against_woodelf() -> None:
    """P5: all features on the same models as woodelf's exact PDP, both from the fitted model and the frame on.

    The second model is the configuration woodelf's own comparison uses. Seconds on the clock, and what processors
    worked, which other work on the machine does not change.
    """
    import lightgbm
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor
    from woodelf.pdp import woodelf_pdp

    X, y = data()
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(COLUMNS)])
    unfitted = {
        "LightGBM": lightgbm.LGBMRegressor(n_estimators=100, max_depth=6, num_leaves=64, verbose=-1),
        "HistGradientBoosting": HistGradientBoostingRegressor(
            max_iter=100, max_depth=6, max_leaf_nodes=None, early_stopping=False
        ),
    }
    lines = []
    for name, model in unfitted.items():
        model.fit(frame, y)
        ours = median_both(lambda m=model: Explainer(m, frame).effects(), repeats=9)
        warm = median_both(Explainer(model, frame).effects, repeats=9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = median_both(
                lambda m=model: woodelf_pdp(m, frame, k=100, verbose=False), repeats=1, warm=0
            )
        ratios = [t / o for t, o in zip(theirs, ours)]
        lines.append((name, theirs[0], ours[0], ratios[0], warm[0], theirs[1], ours[1], ratios[1]))
    print_table(
        "P5: all features, 100 points, 100,000 rows, 100 trees of depth 6, end to end on both sides",
        ("model", "woodelf s", "icefield s", "speed-up", "(asked again s)", "processor: woodelf s", "icefield s",
         "speed-up"),
        lines,
    )  # fmt: skip


def against_scikit_learn() -> None:
    """P6: scikit-learn's training-weighted recursion (another estimate, without rows) and its brute force."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.inspection import partial_dependence

    lines = []
    for n_rows in (16_000, 100_000):
        X, y = data(n_rows)
        model = HistGradientBoostingRegressor(
            max_iter=100, max_depth=6, max_leaf_nodes=None, early_stopping=False
        ).fit(X, y)
        ours = median_seconds(lambda m=model, rows=X: Explainer(m, rows).effects(), repeats=5)

        def recursion(m: Any = model, rows: Any = X) -> None:
            for j in range(COLUMNS):
                partial_dependence(m, rows, [j], method="recursion", kind="average")

        def brute(m: Any = model, rows: Any = X) -> None:
            partial_dependence(m, rows, [0], method="brute", kind="average")

        recursive = median_seconds(recursion, repeats=3)
        one_feature = median_seconds(brute, repeats=1, warm=0)
        lines.append((n_rows, ours, recursive, recursive / ours, one_feature * COLUMNS / ours))
    print_table(
        "P6: all features of HistGradientBoosting 100 x depth 6; speed-up over scikit-learn",
        ("rows", "icefield s", "recursion s", "over recursion", "over brute (x20 features)"),
        lines,
    )


def unpruned_forest() -> None:
    """P7: a forest whose leaves hold single rows."""
    from sklearn.ensemble import RandomForestRegressor

    X, y = data(50_000)
    model = RandomForestRegressor(n_estimators=100, n_jobs=2, random_state=0).fit(X, y)
    predict = median_seconds(lambda: model.predict(X), repeats=3)
    explainer = Explainer(model, X)
    began = time.perf_counter()
    explainer.effects()
    first = time.perf_counter() - began
    again = median_seconds(explainer.effects, repeats=1, warm=0)
    print_table(
        "P7: unpruned random forest, 100 trees, 50,000 x 20: all-feature PD / one predict pass",
        ("predict s", "first s", "again s", "ratio"),
        [(predict, first, again, again / predict)],
    )


def growth() -> None:
    """P11: twice the rows, trees or grid points, as a ratio of times."""
    import lightgbm

    X, y = data(200_000)
    big = lightgbm.LGBMRegressor(n_estimators=400, num_leaves=31, verbose=-1).fit(X[:100_000], y[:100_000])
    small = lightgbm.LGBMRegressor(n_estimators=200, num_leaves=31, verbose=-1).fit(X[:100_000], y[:100_000])
    half = Explainer(big, X[:100_000])
    base = median_seconds(half.effects, repeats=5)
    rows = median_seconds(Explainer(big, X).effects, repeats=5)
    trees = base / median_seconds(Explainer(small, X[:100_000]).effects, repeats=5)
    points = median_seconds(lambda: half.effects(grid=200), repeats=5)
    print_table(
        "P11: time when one size doubles", ("rows x 2", "trees x 2", "grid points x 2"),
        [(rows / base, trees, points / base)],
    )  # fmt: skip


_MEMORY = """
import sys
import numpy as np
import lightgbm, icefield

def peak():  # of this process alone; the usual ru_maxrss starts from the parent's
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

rng = np.random.default_rng(0)
rows = int(float(sys.argv[1]))
X = rng.standard_normal((rows, 20), dtype=np.float32)
model = lightgbm.LGBMRegressor(n_estimators=100, num_leaves=31, verbose=-1).fit(X[:50_000], X[:50_000, 0])
icefield.Explainer(model, X[:1000]).effects()
before = peak()
icefield.Explainer(model, X).effects()
after = peak()
print(X.nbytes / 2**20, before, after)
"""


def memory(rows: float = 1e7) -> None:
    """P9: peak memory of all-feature PD over ten million rows."""
    printed = subprocess.run(
        [sys.executable, "-c", _MEMORY, str(rows)], capture_output=True, text=True, check=True
    ).stdout.split()
    input_mb, before, after = (float(p) for p in printed)
    print_table(
        f"P9: peak memory of all-feature PD, {rows:,.0f} x 20 float32",
        ("input MB", "peak before MB", "peak after MB", "added MB"),
        [(input_mb, before, after, after - before)],
    )


def main() -> None:
    all_features(skewed=False)
    all_features(skewed=True)
    probability_curves()
    against_woodelf()
    against_scikit_learn()
    unpruned_forest()
    growth()
    memory()


if __name__ == "__main__":
    main()
