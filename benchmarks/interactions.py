"""Friedman's H of all pairs at all rows, and ALE, against one pass of ``predict``.

P4 of ``docs/performance.md``. Brute force crosses a sample with itself: 500 rows need 250,000 predictions a pair.
A few pairs are timed and the rest is proportional. Run with ``python -m benchmarks interactions``.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from benchmarks.timing import median_seconds, print_table
from benchmarks.trees import COLUMNS, ROWS, data
from icefield import Explainer

BRUTE_ROWS = 500
BRUTE_FEATURES = 3  # 3 pairs and 3 single features are timed


def main() -> None:
    import lightgbm

    X, y = data()
    model = lightgbm.LGBMRegressor(n_estimators=500, num_leaves=31, verbose=-1).fit(X, y)
    n_pairs = len(list(combinations(range(COLUMNS), 2)))
    explainer, brute = Explainer(model, X), Explainer(model, X, engine="brute")
    predict = median_seconds(lambda: model.predict(X), repeats=3)
    pairs = median_seconds(lambda: explainer.interactions(overall=False), repeats=3)
    everything = median_seconds(explainer.interactions, repeats=3)
    began = time.perf_counter()
    brute.interactions(range(BRUTE_FEATURES), overall=False, rows=BRUTE_ROWS)
    sets = BRUTE_FEATURES + BRUTE_FEATURES * (BRUTE_FEATURES - 1) // 2
    crossed = (time.perf_counter() - began) / sets * (n_pairs + COLUMNS)
    print_table(
        f"P4: H of all {n_pairs} pairs, LightGBM 500 x 31, {ROWS:,} x {COLUMNS}: all rows; brute force at {BRUTE_ROWS} rows",
        ("predict s", "pairs s", "brute s", "pairs + overall s", "brute / pairs", "(pairs + overall) / predict",
         "P4 pairs / predict"),
        [(predict, pairs, crossed, everything, crossed / pairs, everything / predict, pairs / predict)],
    )  # fmt: skip

    local, asked = explainer.ale(0), brute.ale(0)
    apart = float(np.abs(local.average - asked.average).max())
    ale = median_seconds(lambda: explainer.ale(0), repeats=3)
    model_asked = median_seconds(lambda: brute.ale(0), repeats=1, warm=0)
    print_table(
        f"ALE of one feature, {ROWS:,} rows: by the trees, and by asking the model twice a row",
        ("trees s", "model s", "largest difference", "model / trees", "trees / predict"),
        [(ale, model_asked, apart, model_asked / ale, ale / predict)],
    )


if __name__ == "__main__":
    main()
