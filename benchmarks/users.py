"""What users run, from a cold Explainer: ``python -m benchmarks users [CHECKOUT] [--only CASE ...]``.

Classifiers on probabilities, wide and tall tables, summaries and reports, each as seconds and as a share of one
``predict`` of the same model in the same process. With the path of another checkout of the project, every line is
measured there too, in turns, and printed before this one. A question gets at most `LIMIT` seconds. Every case runs
in a process of its own, which also states the most memory it took beside the data and the model.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
LIMIT = 300  # seconds for one question
FITTED = 20_000  # rows that models are fitted to; all rows are explained


@dataclass(frozen=True)
class Case:
    """A model and data, and what is asked of them in order."""

    name: str
    rows: int
    columns: int
    classes: int  # 0: a regression
    scale: str
    questions: tuple[str, ...]
    trees: int = 100
    leaves: int = 31
    dtype: str = "float64"
    library: str = "lightgbm"


CASES = (
    Case("regression, 500 trees", 100_000, 20, 0, "response", ("effects", "again"), trees=500),
    Case("woodelf's own case", 100_000, 20, 0, "response", ("effects", "woodelf"), library="sklearn"),
    Case("tall", 5_000_000, 20, 0, "response", ("effects", "again")),
    Case("wide, raw", 472_000, 397, 2, "raw", ("effects", "again"), dtype="float32"),
    Case("wide, probabilities", 472_000, 397, 2, "response", ("effects", "summary", "report"), dtype="float32"),
    Case(
        "probabilities", 100_000, 100, 2, "response",
        ("effects", "importance", "summary", "interactions", "report"),
    ),
    Case("ten classes", 100_000, 100, 10, "response", ("effects", "importance")),
)  # fmt: skip


# --- one case, in a process of its own -----------------------------------------------------------


def _data(case: Case) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.empty((case.rows, case.columns), case.dtype)
    for start in range(0, case.rows, 100_000):
        part = X[start : start + 100_000]
        part[:] = rng.normal(size=part.shape)
    head = X[:FITTED].astype(np.float64)
    score = (
        head[:, 0] * head[:, 1] + np.sin(3 * head[:, 2]) + 0.2 * head[:, 3:].sum(axis=1) / case.columns**0.5
    )
    if case.classes == 0:
        return X, score
    cuts = np.quantile(score, np.linspace(0, 1, case.classes + 1)[1:-1])
    return X, np.searchsorted(cuts, score)


def _model(case: Case, X: Any, y: Any) -> Any:
    if case.library == "sklearn":
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=case.trees, max_depth=6, max_leaf_nodes=None).fit(X, y)
    import lightgbm

    kind = lightgbm.LGBMClassifier if case.classes else lightgbm.LGBMRegressor
    shape: dict[str, Any] = {"num_leaves": case.leaves}
    if case.trees == 100:
        shape = {"num_leaves": 64, "max_depth": 6}
    return kind(n_estimators=case.trees, verbose=-1, **shape).fit(X, y)


def _questions(case: Case, model: Any, X: Any, folder: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    from icefield import Explainer

    kept: list[Any] = []

    def cold() -> Any:
        kept[:] = [Explainer(model, X, scale=case.scale)]
        return kept[0]

    asked: dict[str, Callable[[], Any]] = {
        "effects": lambda: cold().effects(),
        "again": lambda: kept[0].effects(),
        "importance": lambda: cold().importance(),
        "summary": lambda: cold().summary(),
        "interactions": lambda: cold().interactions(),
        "report": lambda: cold().report(Path(folder) / "report.html"),
        "woodelf": lambda: _woodelf(model, X),
    }
    for name in case.questions:
        yield name, asked[name]


def _woodelf(model: Any, X: Any) -> None:
    import pandas as pd
    from woodelf.pdp import woodelf_pdp

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    woodelf_pdp(model, frame, k=100, verbose=False)


def _measure(case: Case) -> None:
    """Print a line of JSON for each question, as soon as it is answered."""
    import resource
    import warnings

    warnings.simplefilter("ignore")
    X, y = _data(case)
    model = _model(case, X[:FITTED], y)
    ask = model.predict_proba if case.classes else model.predict
    ask(X[:1000])
    began = time.perf_counter(), time.process_time()
    ask(X)
    print(json.dumps({"question": "predict", **_since(began)}), flush=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        for name, question in _questions(case, model, X, folder):
            began = time.perf_counter(), time.process_time()
            question()
            taken = _since(began)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            print(json.dumps({"question": name, **taken, "megabytes": grown}), flush=True)


def _since(began: tuple[float, float]) -> dict[str, float]:
    return {"seconds": time.perf_counter() - began[0], "processor": time.process_time() - began[1]}


# --- all cases, in turns -------------------------------------------------------------------------


def _answers(case: Case, root: Path) -> dict[str, dict[str, float]]:
    """What a process says about a case, as far as it comes within the limit."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{ROOT}"}
    limit = LIMIT * len(case.questions)
    command = [sys.executable, "-m", "benchmarks.users", "--case", case.name]
    try:
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=limit
        )
        printed = done.stdout
        if done.returncode:
            print(done.stderr[-500:], flush=True)
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode()
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {line["question"]: line for line in lines}


def _text(found: dict[str, float] | None, predict: dict[str, float]) -> str:
    if found is None:
        return "no answer".rjust(44)
    each = (f"{found[of]:9.2f} s {found[of] / predict[of]:8.2f} p" for of in ("seconds", "processor"))
    return "".join(each)


def main(arguments: list[str] | None = None) -> None:
    given = list(sys.argv[2:] if arguments is None else arguments)
    words = given[given.index("--only") + 1 :] if "--only" in given else []
    others = [] if not given or given[0].startswith("--") else [Path(given[0]).resolve()]
    print("elapsed, then processor seconds, each also as a share of one predict (p) of the same process;")
    print("memory beside data and model")
    for case in CASES:
        if words and case.name not in words:
            continue
        print(f"\n{case.name}: {case.rows:,} x {case.columns}, {case.trees} trees, {case.scale}", flush=True)
        found = [_answers(case, root) for root in (*others, ROOT)]
        print(
            f"  {'predict':14}"
            + "".join(
                f"{one['predict'][of]:9.2f} s{'':11}" for one in found for of in ("seconds", "processor")
            )
        )
        for question in case.questions:
            sides = [
                _text(one.get(question), one["predict"])
                for one in (found if question != "woodelf" else found[-1:])
            ]
            last = found[-1].get(question, {}).get("megabytes")
            print(
                f"  {question:14}{''.join(sides)}" + ("" if last is None else f"  {last:8.0f} MB"), flush=True
            )


if __name__ == "__main__":
    if "--case" in sys.argv:
        _measure(next(case for case in CASES if case.name == sys.argv[-1]))
    else:
        main(sys.argv[1:])
