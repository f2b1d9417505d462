"""Average partial dependence keeps nothing of size rows x grid."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

CHILD = """
import json, resource, sys
import numpy as np
import icefield

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def model(rows):
    return rows[:, 0] * rows[:, 1]

n, points, kind, memory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
small = np.random.default_rng(0).normal(size=(1000, 3))
icefield.Explainer(model, small, row_by_row=True).partial_dependence(0, 1, grid=3)  # whatever is imported on first use
X = np.empty((n, 3))
rng = np.random.default_rng(0)
for start in range(0, n, 100_000):
    X[start : start + 100_000] = rng.normal(size=(min(100_000, n - start), 3))
if kind == "extra":
    import pandas
    X = pandas.DataFrame(X, columns=["a", "b", "c"])
    ask = lambda rows: model(rows.to_numpy())
else:
    ask = model
choices = {"weights": np.ones(n), "by": np.arange(n) % 2} if kind == "groups" else {}
before = peak()
ex = icefield.Explainer(ask, X, row_by_row=True, memory=memory, **choices)
features = (0, 1) if kind == "surface" else (0,)
grid = (points // 10, 10) if kind == "surface" else points
effect = ex.partial_dependence(*features, grid=grid)
assert effect.n_rows == n and np.isfinite(effect.average).all()
print(json.dumps({"used": peak() - before}))
"""

BUDGET = 256 * 2**20


def used(n: int, points: int, kind: str, memory: int = BUDGET) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(n), str(points), kind, str(memory)],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout.splitlines()[-1])["used"])


@pytest.mark.parametrize("kind", ["curve", "surface", "groups", "extra"])
def test_the_peak_stays_within_the_budget(kind):
    """300,000 rows at 30 points are 72 MB of predictions, of which none may stay."""
    assert used(300_000, 30, kind, 2**26) < 2**26 * 3 // 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["curve", "surface"])
def test_ten_million_rows_at_a_hundred_points(kind):
    """80 MB a column, 8 GB of predictions: the peak is the input and the budget."""
    assert used(10_000_000, 100, kind) < BUDGET


MANY_CURVES = """
import json, resource, sys
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
import icefield

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 40))
y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-1.0, -0.5, 0.0, 0.5, 1.0])
model = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=8, random_state=0).fit(X, y)
getattr(icefield.Explainer(model, X[:200]), sys.argv[1])([0, 1])
before = peak()
found = getattr(icefield.Explainer(model, X, memory=2**26), sys.argv[1])()
assert len(found.effects) == 40
held = sum(effect.individual.nbytes for effect in found.effects.values())
print(json.dumps({"used": peak() - before, "held": held}))
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("question", ["importance", "summary"])
def test_curves_of_many_outputs_do_not_pile_up(question):
    """The thousand curves that are read of each of 40 features and 6 classes take 130 MB, of a budget of 64 MB."""
    done = subprocess.run(
        [sys.executable, "-c", MANY_CURVES, question],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["used"] - found["held"] < 2**26
