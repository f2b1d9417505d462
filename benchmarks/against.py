"""Two states of the project, measured in turns: ``python -m benchmarks.against PATH_OF_ANOTHER_CHECKOUT [WORDS ...]``.

Each round starts fresh processes for either state, one after the other, on the same models and data. Printed are
medians over the rounds of both, and their ratio, in processor seconds of all threads, and the ratio of the least of either: what else
runs on the machine, or on the one below it, only ever adds to them. With words, only lines whose names hold one of them are measured. The names P1, P2, ... are those of ``docs/performance.md``.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
ROUNDS, COLD_STARTS = 5, 5
REST = 0.5  # seconds in which other libraries' threads, which wait busily after their work, go to sleep
ROWS, COLUMNS = 100_000, 20
FEW = 2_000  # rows for models that are asked themselves


def prepare(folder: Path) -> None:
    """Models and data, fitted once."""
    import lightgbm
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.svm import SVR

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:].sum(axis=1) * 0.2 + 0.1 * rng.normal(size=ROWS)
    few, half = slice(0, FEW), slice(0, ROWS // 2)
    kept = {
        "X": X,
        "regression": lightgbm.LGBMRegressor(n_estimators=500, num_leaves=31, verbose=-1).fit(X, y),
        "classes": lightgbm.LGBMClassifier(n_estimators=500, num_leaves=31, verbose=-1).fit(X, y > 0),
        "small": lightgbm.LGBMRegressor(n_estimators=100, verbose=-1).fit(X[:1000], y[:1000]),
        "unpruned": RandomForestRegressor(12, n_jobs=2, random_state=0).fit(X[half], y[half]),
        "k-NN": KNeighborsRegressor().fit(X[few], y[few]),
        "SVR": SVR().fit(X[few], y[few]),
        "MLP": MLPRegressor(max_iter=30, random_state=0).fit(X[few], y[few]),
    }
    (folder / "kept.pickle").write_bytes(pickle.dumps(kept))


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    work()
    time.sleep(REST)
    found = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return float(np.median(found))


def measure(folder: Path, words: list[str]) -> dict[str, float]:
    """Every line, or those that hold one of the words, in this process."""
    import warnings

    warnings.simplefilter("ignore")
    from icefield import Explainer

    kept = pickle.loads((folder / "kept.pickle").read_bytes())
    X = kept["X"]
    ex, raw = Explainer(kept["regression"], X), Explainer(kept["classes"], X)
    lines: dict[str, Callable[[], float]] = {
        "P1 all curves": lambda: seconds(ex.effects, 5),
        "P1 end to end": lambda: seconds(lambda: Explainer(kept["regression"], X).effects()),
        "P2 all surfaces": lambda: seconds(lambda: ex.effects(order=2)),
        "P3 probability curves of one feature": lambda: seconds(lambda: raw.partial_dependence(0)),
        "P4 H of all pairs": lambda: seconds(lambda: ex.interactions(overall=False)),
        "P4 with each feature's own": lambda: seconds(ex.interactions),
        "ALE of one feature": lambda: seconds(lambda: ex.ale(0)),
        "P7 unpruned forest, 12 trees": lambda: seconds(
            lambda: Explainer(kept["unpruned"], X[: ROWS // 2]).effects(), 1
        ),
        "P8 k-NN": lambda: seconds(lambda: Explainer(kept["k-NN"], X[:FEW]).partial_dependence(0)),
        "P8 SVR": lambda: seconds(lambda: Explainer(kept["SVR"], X[:FEW]).partial_dependence(0)),
        "P8 MLP": lambda: seconds(lambda: Explainer(kept["MLP"], X[:FEW]).partial_dependence(0)),
        "P11 all curves, half the rows": lambda: seconds(
            Explainer(kept["regression"], X[: ROWS // 2]).effects, 5
        ),
        "all probability curves with spread": lambda: seconds(lambda: raw.effects(spread=True), 1),
    }  # fmt: skip
    return {name: work() for name, work in lines.items() if is_wanted(name, words)}


def is_wanted(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


COLD = """
import pickle, sys, time
import numpy
began = time.process_time()
import icefield
imported = time.process_time() - began
kept = pickle.loads(open(sys.argv[1], "rb").read())
kept["small"].predict(kept["X"][:1000])
began = time.process_time()
icefield.Explainer(kept["small"], kept["X"][:1000]).partial_dependence(0)
print(imported, time.process_time() - began)
"""


def cold(folder: Path, environment: dict[str, str]) -> dict[str, float]:
    """P10: import and first curve of a fresh process (its compiled code may be cached, as after a first use)."""
    out = subprocess.run(
        [sys.executable, "-c", COLD, str(folder / "kept.pickle")],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return {"P10 import": float(out[0]), "P10 first curve of a process": float(out[1])}


def main(other: str, words: list[str]) -> None:
    states = {"there": Path(other).resolve(), "here": ROOT}
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for turn in range(ROUNDS):
            for state, root in states.items():
                environment = {**os.environ, "PYTHONPATH": str(root / "src")}
                printed = subprocess.run(
                    [sys.executable, "-P", str(Path(__file__)), "--measure", name, *words],
                    env=environment, capture_output=True, text=True, check=True, cwd=name,
                ).stdout  # fmt: skip
                starts = [cold(folder, environment) for _ in range(COLD_STARTS)]
                for each in (json.loads(printed), *starts):
                    for line, value in each.items():
                        if is_wanted(line, words):
                            found.setdefault(line, {}).setdefault(state, []).append(value)
            print(f"\nafter round {turn + 1} of {ROUNDS}, processor seconds", flush=True)
            _print(found)


def _print(found: dict[str, dict[str, list[float]]]) -> None:
    print(f"{'':42}{'there':>10}{'here':>10}{'here / there':>14}{'of the least':>14}")
    for line, by_state in found.items():
        there, here = (float(np.median(by_state[s])) for s in ("there", "here"))
        least = min(by_state["here"]) / min(by_state["there"])
        print(f"{line:42}{there:10.3f}{here:10.3f}{here / there:14.2f}{least:14.2f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[3:])))
    else:
        main(sys.argv[1], sys.argv[2:])
