"""The first answers of a fresh process: what a new user, a new container or a cluster's worker waits for.

Every figure is the median over processes that were started for it. ``python -m benchmarks cold`` measures the
environment it runs in; bytecode is written by the first process, as an installer would.
"""

from __future__ import annotations

import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.dropin import all_examples
from benchmarks.timing import print_table

ROOT = Path(__file__).parent.parent
PROCESSES = 5
GUIDE_PROCESSES = 3  # for each example of the user guide, of either side
ROWS, TREES = 1000, 100

_IMPORT = """
import time
import numpy
began = time.perf_counter(); import icefield
print(time.perf_counter() - began)
"""

# One question each in a process of its own; the model and its library are there before, as in a session.
_FIRST = """
import pickle, sys, time
model, X = pickle.load(open(sys.argv[1], "rb"))
model.predict(X)
import icefield
began = time.perf_counter()
explainer = icefield.Explainer(model, X)
{question}
print(time.perf_counter() - began)
"""
QUESTIONS = {
    "first curve": "explainer.partial_dependence(0)",
    "all curves": "explainer.effects()",
    "interactions": "explainer.interactions()",
    "ALE": "explainer.ale(0)",
}

# A call of scikit-learn's user guide from the start of the process to its end, with either module.
_WHOLE = """
import importlib, pickle, sys, warnings
import matplotlib
matplotlib.use("agg")
warnings.simplefilter("ignore")
example = pickle.load(open(sys.argv[1], "rb"))
example.run(importlib.import_module(sys.argv[2]))
"""
LATEST = 0.15  # seconds that no example may be later


def _models() -> dict[str, Any]:
    import lightgbm
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 10))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
    fitted = {
        "LightGBM": lightgbm.LGBMRegressor(n_estimators=TREES, verbose=-1).fit(X, y),
        "HistGradientBoosting": HistGradientBoostingRegressor(max_iter=TREES).fit(X, y),
        "RandomForest": RandomForestRegressor(n_estimators=TREES, random_state=0).fit(X, y),
    }
    return {name: (model, X) for name, model in fitted.items()}


def _run(code: str, *arguments: str) -> tuple[float, str]:
    """Seconds a process takes from its start to its end, and what it printed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return time.perf_counter() - began, done.stdout


def _printed(code: str, *arguments: str) -> float:
    """The median of the seconds that processes print."""
    _run(code, *arguments)
    return statistics.median(float(_run(code, *arguments)[1]) for _ in range(PROCESSES))


def _turn_about(path: Path) -> tuple[float, float]:
    """Median seconds of processes that make one call, ours and scikit-learn's in turns."""
    took: dict[str, list[float]] = {"icefield.sklearn": [], "sklearn.inspection": []}
    for turn in range(GUIDE_PROCESSES + 1):
        for module, seconds in took.items():
            seconds.append(_run(_WHOLE, str(path), module)[0])
        if turn == 0:  # it wrote bytecode
            took = {module: [] for module in took}
    ours, theirs = (statistics.median(seconds) for seconds in took.values())
    return ours, theirs


def main() -> None:
    print_table("P10: seconds `import icefield` adds to numpy", ("import",), [(_printed(_IMPORT),)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "example.pickle"
        firsts = []
        for name, pair in _models().items():
            path.write_bytes(pickle.dumps(pair))
            firsts.append(
                (name, *(_printed(_FIRST.format(question=q), str(path)) for q in QUESTIONS.values()))
            )
        print_table(
            f"P12: seconds to the first answer of a fresh process, {ROWS:,} rows, {TREES} trees",
            ("model", *QUESTIONS), firsts,
        )  # fmt: skip
        wholes = []
        for example in all_examples():
            path.write_bytes(pickle.dumps(example))
            ours, theirs = _turn_about(path)
            wholes.append((example.name, ours, theirs, ours - theirs))
    print_table(
        f"scikit-learn's user guide, whole processes, seconds (no example may be {LATEST} s later)",
        ("example", "icefield", "scikit-learn", "later by"), wholes,
    )  # fmt: skip
    print(f"latest by {max(row[-1] for row in wholes):.3f} s")


if __name__ == "__main__":
    main()
