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

from benchmarks.timing import print_table

PROCESSES = 5
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

# From the start of the process to the curve: ours, and scikit-learn's brute force for it.
_WHOLE = """
import pickle, sys
model, X = pickle.load(open(sys.argv[1], "rb"))
from {module} import partial_dependence
partial_dependence(model, X, [0], kind="average", method="brute")
"""


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
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - began, done.stdout


def _printed(code: str, *arguments: str) -> float:
    """The median of the seconds that processes print."""
    _run(code, *arguments)
    return statistics.median(float(_run(code, *arguments)[1]) for _ in range(PROCESSES))


def _whole(code: str, *arguments: str) -> float:
    """The median of the seconds that processes take."""
    _run(code, *arguments)
    return statistics.median(_run(code, *arguments)[0] for _ in range(PROCESSES))


def main() -> None:
    print_table("P10: seconds `import icefield` adds to numpy", ("import",), [(_printed(_IMPORT),)])
    with tempfile.TemporaryDirectory() as folder:
        firsts, wholes = [], []
        for name, pair in _models().items():
            path = Path(folder) / f"{name}.pickle"
            path.write_bytes(pickle.dumps(pair))
            asked = [_printed(_FIRST.format(question=q), str(path)) for q in QUESTIONS.values()]
            firsts.append((name, *asked))
            ours, theirs = (
                _whole(_WHOLE.format(module=module), str(path))
                for module in ("icefield.sklearn", "sklearn.inspection")
            )
            wholes.append((name, ours, theirs, ours - theirs))
    print_table(
        f"P12: seconds to the first answer of a fresh process, {ROWS:,} rows, {TREES} trees",
        ("model", *QUESTIONS), firsts,
    )  # fmt: skip
    print_table(
        "one curve from the start of the process, imports included, seconds",
        ("model", "icefield", "scikit-learn", "later by"), wholes,
    )  # fmt: skip


if __name__ == "__main__":
    main()
