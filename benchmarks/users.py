"""What users run, from a cold Explainer: ``python -m benchmarks users [CHECKOUT] [--only CASE ...]``.

Every case is asked about data as users have it, a pandas frame with missing values and categories (``frame``), and as a
complete matrix (``matrix``), except where another library's own case is one. ``--frames`` leaves the matrices out.
Classifiers on probabilities, wide and tall tables, summaries and reports, each as elapsed seconds, as a share of one
``predict`` of the same model in the same process, and beside the bound it is held to. Every question has a process of
its own, in which the library has answered a small question before; it gets `LIMIT` seconds, and states the most memory it
took beside the data and the model. Short ones are asked several times, each time of a new Explainer, and their median
counts. With the path of another checkout of the project, every line is measured there too, just before.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
LIMIT = 240  # seconds for one question
SHORT = 2.0  # seconds below which a question is asked several times
FITTED = 20_000  # rows that models are fitted to; all rows are explained


@dataclass(frozen=True)
class Case:
    """A model and data, and what is asked of them, with the most it may take: predicts, or seconds after an ``s``."""

    name: str
    rows: int
    columns: int
    classes: int  # 0: a regression
    scale: str
    bounds: dict[str, str] = field(hash=False)
    trees: int = 100
    leaves: int = 31
    form: str = "frame"
    dtype: str = "float64"
    library: str = "lightgbm"


CASES = (
    Case("regression, 500 trees", 100_000, 20, 0, "response", {"effects": "0.15", "again": ""}, trees=500),
    Case(
        "woodelf's own case", 100_000, 20, 0, "response", {"effects": "", "woodelf": "60 x"}, library="sklearn", form="matrix",
    ),
    Case("tall", 5_000_000, 20, 0, "response", {"effects": "4 s", "again": "3.2 s"}),
    Case("wide, raw", 472_000, 397, 2, "raw", {"effects": "1", "again": ""}, dtype="float32"),
    Case(
        "wide, probabilities", 472_000, 397, 2, "response",
        {"effects with spread": "3", "summary": "15", "report": "60 s"}, dtype="float32",
    ),
    Case(
        "probabilities", 100_000, 100, 2, "response",
        {"effects": "1", "effects with spread": "3", "importance": "4", "summary": "", "interactions": "20", "report": "15 s"},
    ),
    # A step takes ten exponentials here instead of one. Bounds set after a first run, to notice what gets worse.
    Case(
        "ten classes", 100_000, 100, 10, "response",
        {"effects with spread": "5", "importance": "8", "interactions": "40", "report": "120 s"},
    ),
)  # fmt: skip


# --- one case, in a process of its own -----------------------------------------------------------


def _frame(X: Any) -> Any:
    """The same data as a frame: 30 % missing in half of the columns, every sixth column a category of 20 levels, every tenth whole numbers."""
    import pandas as pd

    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    for i in range(X.shape[1]):
        own = X[:, i].copy()
        if i % 2:
            own[rng.random(len(own), np.float32) < 0.3] = np.nan
        if i % 6 == 5:
            codes = np.where(np.isnan(own), -1, np.clip(np.nan_to_num(own) * 4 + 10, 0, 19)).astype(np.int8)
            columns[f"x{i}"] = pd.Categorical.from_codes(codes, [f"level {k}" for k in range(20)])
        else:
            columns[f"x{i}"] = np.round(own * 10).astype(np.int32) if i % 10 == 4 else own
    return pd.DataFrame(columns)


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
    given = _frame(X) if case.form == "frame" else X
    if case.classes == 0:
        return given, score
    cuts = np.quantile(score, np.linspace(0, 1, case.classes + 1)[1:-1])
    return given, np.searchsorted(cuts, score)


def _model(case: Case, X: Any, y: Any) -> Any:
    if case.library == "sklearn":
        from sklearn.ensemble import HistGradientBoostingRegressor

        whole = HistGradientBoostingRegressor(
            max_iter=case.trees, max_depth=6, max_leaf_nodes=None, early_stopping=False
        )
        return whole.fit(X, y)
    import lightgbm

    kind = lightgbm.LGBMClassifier if case.classes else lightgbm.LGBMRegressor
    shape: dict[str, Any] = {"num_leaves": case.leaves}
    if case.trees != 500:
        shape = {"num_leaves": 64, "max_depth": 6}
    return kind(n_estimators=case.trees, verbose=-1, **shape).fit(X, y)


def _question(name: str, case: Case, model: Any, X: Any, folder: str) -> Callable[[], Any]:
    """What is timed; for a second question, after the first has been asked."""
    from icefield import Explainer

    def cold() -> Explainer:
        return Explainer(model, X, scale=case.scale)

    if name == "again":
        warm = cold()
        warm.effects()
        return warm.effects
    asked: dict[str, Callable[[], Any]] = {
        "effects": lambda: cold().effects(),
        "effects with spread": lambda: cold().effects(spread=True),
        "importance": lambda: cold().importance(),
        "summary": lambda: cold().summary(),
        "interactions": lambda: cold().interactions(),
        "report": lambda: cold().report(Path(folder) / "report.html"),
        "woodelf": lambda: _woodelf(model, X),
    }
    return asked[name]


def _warm(case: Case, X: Any, y: Any) -> None:
    """A small question to a small model: modules and kernels are loaded once per process, not per question."""
    from icefield import Explainer

    few = X[:500]
    model = _model(replace(case, trees=5), few, y[:500])
    Explainer(model, few, scale=case.scale).effects()
    if "woodelf" in case.bounds:
        _woodelf(model, few)


def _woodelf(model: Any, X: Any) -> None:
    import pandas as pd
    from woodelf.pdp import woodelf_pdp

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    woodelf_pdp(model, frame, k=100, verbose=False)


def _measure(case: Case, name: str) -> None:
    """Print what one question takes, as JSON."""
    import resource
    import warnings

    warnings.simplefilter("ignore")
    X, y = _data(case)
    model = _model(case, X[:FITTED], y)
    _warm(case, X, y)
    ask = model.predict_proba if case.classes else model.predict
    predict = _median(lambda: ask(X))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        question = _question(name, case, model, X, folder)
        first = _timed(question)  # whose memory counts: later ones find what is left of it
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        seconds = _median(question, first)
    print(json.dumps({"predict": predict, "seconds": seconds, "megabytes": grown}), flush=True)


def _timed(question: Callable[[], Any]) -> float:
    began = time.perf_counter()
    question()
    return time.perf_counter() - began


def _median(question: Callable[[], Any], *found: float) -> float:
    """Seconds of one run, or the median of several short ones; some may have been found already."""
    times = list(found) or [_timed(question)]
    while len(times) < 5 and max(times) < SHORT:
        times.append(_timed(question))
    return statistics.median(times)


# --- all cases, in turns -------------------------------------------------------------------------


def _answer(case: Case, name: str, root: Path) -> dict[str, float] | None:
    """What a process says about a question; None where it does not end in time."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "benchmarks.users", "--case", case.name, case.form, name]
    try:
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT + 60
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr[-500:], flush=True)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _text(found: dict[str, float] | None) -> str:
    if found is None:
        return f"{'no answer':>24}"
    return f"{found['seconds']:11.3f} s {found['seconds'] / found['predict']:9.2f} p"


def _verdict(bound: str, found: dict[str, float] | None, others: float) -> str:
    """The bound, and whether it is met."""
    if not bound or found is None:
        return ""
    number = float(bound.split()[0])
    if bound.endswith("x"):
        times = found["seconds"] / others
        return f"{times:.0f} x, at least {number:.0f} x: {'met' if times >= number else 'missed'}"
    taken = found["seconds"] if bound.endswith("s") else found["seconds"] / found["predict"]
    unit = "s" if bound.endswith("s") else "p"
    return f"at most {number:g} {unit}: {'met' if taken <= number else 'missed'}"


def main(arguments: list[str] | None = None) -> None:
    given = list(sys.argv[2:] if arguments is None else arguments)
    forms = ("frame",) if "--frames" in given else ("matrix", "frame")
    given = [one for one in given if one != "--frames"]
    words = given[given.index("--only") + 1 :] if "--only" in given else []
    others = [] if not given or given[0].startswith("--") else [Path(given[0]).resolve()]
    print(
        "elapsed seconds, and as a share of one predict (p) in the same process; memory beside data and model"
    )
    for case in (replace(case, form=form) for case in CASES for form in forms):
        if (words and case.name not in words) or (case.library == "sklearn" and case.form == "frame"):
            continue
        shape = f"{case.rows:,} x {case.columns} as a {case.form}, {case.trees} trees, {case.scale}"
        print(f"\n{case.name}: {shape}", flush=True)
        first = 0.0
        for name, bound in case.bounds.items():
            roots = others if name != "woodelf" else []
            found = [_answer(case, name, root) for root in (*roots, ROOT)]
            last = found[-1]
            first = first or (0.0 if last is None else last["seconds"])
            memory = "" if last is None else f"{last['megabytes']:8.0f} MB"
            said = _verdict(bound, last, first)
            print(f"  {name:20}{''.join(map(_text, found))}{memory}  {said}", flush=True)
        if last is not None:
            print(f"  {'one predict':20}{last['predict']:11.3f} s", flush=True)


if __name__ == "__main__":
    if "--case" in sys.argv:
        name, form, question = sys.argv[-3:]
        _measure(replace(next(case for case in CASES if case.name == name), form=form), question)
    else:
        main(sys.argv[1:])
