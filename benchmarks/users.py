"""What users run, from a cold Explainer: ``python -m benchmarks users [CHECKOUT] [--only CASE ...] [--forms FORM ...] [--ask QUESTION ...]``.

Every case is asked about data in several forms: a complete matrix of floats (``matrix``); the same as a pandas frame with missing values,
categories and whole numbers, which is how users have it (``frame``); some also as a matrix with missing values (``missing``) and
as that frame in polars (``polars``). Classifiers on probabilities, wide and tall tables, summaries and reports, each as
elapsed seconds, as a share of one ``predict`` of the same model on the same data (of elapsed and of processor time), and beside the bound it is held to. A case in one form has a process of
its own, in which the library has answered a small question before; every question is put to a new Explainer, and states the most memory that
it took beside what the process had. Short ones are asked several times, and their median counts. woodelf's points are asked of both sides.

Figures are stored in ``users.json`` beside this file, with when and where they are from; ``--resume`` leaves out what is stored
there, ``--table`` prints all of it, and ``--write`` puts it into ``docs/performance.md`` and the README. With the path of another checkout of the project, every line is measured there too, just before, and nothing is stored.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
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
STORED = Path(__file__).with_name("users.json")
LIMIT = 400  # seconds for all questions about one case in one form
SHORT = 2.0  # seconds below which a question is asked several times
FITTED = 20_000  # rows that models are fitted to; all rows are explained
USUAL = ("matrix", "frame")
BEGIN, END = "<!-- python -m benchmarks users --write -->", "<!-- to here -->"


@dataclass(frozen=True)
class Case:
    """A model and data, and what is asked of them in some forms, each with the most it may take: predicts, or seconds after an ``s``."""

    name: str
    rows: int
    columns: int
    classes: int  # 0: a regression
    scale: str
    bounds: dict[str, str]
    forms: tuple[str, ...] = USUAL
    trees: int = 100
    leaves: int = 31
    dtype: str = "float64"
    library: str = "lightgbm"

    def shape(self, form: str) -> str:
        return f"{self.rows:,} x {self.columns} as a {form}, {self.trees} trees, {self.scale}"


CASES = (
    Case("regression, 500 trees", 100_000, 20, 0, "response", {"effects": "0.15", "again": ""}, trees=500),
    Case(
        "woodelf's own case", 100_000, 20, 0, "response", {"effects at woodelf's points": "", "woodelf": "70 x", "effects": ""},
        ("matrix",), library="sklearn",
    ),
    Case("tall", 5_000_000, 20, 0, "response", {"effects": "4 s", "again": "3.2 s"}),
    Case(
        "wide, raw", 472_000, 397, 2, "raw", {"effects": "matrix 0.7, missing 0.7, frame 1", "again": "0.3"},
        ("matrix", "missing", "frame"), dtype="float32",
    ),
    Case(
        "wide, probabilities", 472_000, 397, 2, "response", {"effects with spread": "2"},
        ("matrix", "missing", "frame"), dtype="float32",
    ),
    Case("wide, summary", 472_000, 397, 2, "response", {"summary": "15"}, dtype="float32"),
    Case("wide, report", 472_000, 397, 2, "response", {"report": "60 s"}, dtype="float32"),
    Case(
        "mixed, raw", 100_000, 100, 2, "raw", {"effects": "1", "again": "0.3", "importance": "2", "report": "10"},
        ("frame", "polars"),
    ),
    Case(
        "probabilities", 100_000, 100, 2, "response",
        {"effects": "1", "effects with spread": "2", "importance": "matrix 4, frame 2", "summary": "",
         "interactions": "20", "report": "matrix 15 s, frame 10"},
    ),
    # A step takes ten exponentials here instead of one. Bounds set after a first run, to notice what gets worse.
    Case("ten classes", 100_000, 100, 10, "response", {"effects with spread": "5", "importance": "8"}),
    Case("ten classes, pairs", 100_000, 100, 10, "response", {"interactions": "40"}),
    Case("ten classes, report", 100_000, 100, 10, "response", {"report": "120 s"}),
    Case("flights", 336_776, 15, 0, "response", {"effects": "1", "report": "5 s"}, ("frame",), library="demo"),
)  # fmt: skip


# --- one case in one form, in a process of its own -------------------------------------------------


def _with_gaps(own: Any, rng: np.random.Generator) -> Any:
    """A column without 30 % of its values."""
    own = own.copy()
    own[rng.random(len(own), np.float32) < 0.3] = np.nan
    return own


def _frame(X: Any) -> Any:
    """The same data as a frame: 30 % missing in half of the columns, every sixth column a category of 20 levels, every tenth whole numbers."""
    import pandas as pd

    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    for i in range(X.shape[1]):
        own = _with_gaps(X[:, i], rng) if i % 2 else X[:, i]
        if i % 6 == 5:
            codes = np.where(np.isnan(own), -1, np.clip(np.nan_to_num(own) * 4 + 10, 0, 19)).astype(np.int8)
            columns[f"x{i}"] = pd.Categorical.from_codes(codes, [f"level {k}" for k in range(20)])
        else:
            columns[f"x{i}"] = np.round(own * 10).astype(np.int32) if i % 10 == 4 else own
    return pd.DataFrame(columns)


def _given(X: Any, form: str) -> Any:
    """A complete matrix in another form."""
    if form == "matrix":
        return X
    if form == "missing":
        rng = np.random.default_rng(1)
        for i in range(1, X.shape[1], 2):
            X[:, i] = _with_gaps(X[:, i], rng)
        return X
    frame = _frame(X)
    if form == "frame":
        return frame
    import polars as pl

    # An Enum, whose levels are in the order that the model was fitted with.
    enums = {
        name: pl.Series(name, own.astype(object).where(own.notna(), None).tolist(), dtype=pl.Enum(list(own.cat.categories)))
        for name, own in frame.items() if own.dtype == "category"
    }  # fmt: skip
    return pl.DataFrame({name: enums.get(name, frame[name].to_numpy()) for name in frame}, nan_to_null=True)


def _data(case: Case) -> tuple[Any, Any]:
    """A complete matrix, and what is to be predicted of its first rows."""
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


def _prepared(case: Case, form: str) -> tuple[Any, Any, Callable[[Any], Any], Callable[[], Any]]:
    """The data, the model, what makes an Explainer of rows, and one predict."""
    from icefield import Explainer

    if case.library == "demo":
        from icefield.cli import demo

        X, y = demo.flights()
        known = y.notna()
        model = demo._fit_model(X[known], y[known], small=False)
        return (
            X,
            model,
            lambda rows: demo._explainer(model, rows, y.loc[rows.index]),
            lambda: model.predict(X),
        )
    X, y = _data(case)
    as_fitted = _given(X[:FITTED].copy(), "frame" if form == "polars" else form)
    model = _model(case, as_fitted, y)
    given = _given(X, form)
    ask = model.predict_proba if case.classes else model.predict
    # What LightGBM takes of polars has no categories: a predict is one of the pandas frame.
    predicted = _given(X, "frame") if form == "polars" else given
    return given, model, lambda rows: Explainer(model, rows, scale=case.scale), lambda: ask(predicted)


def _question(name: str, cold: Callable[[], Any], model: Any, X: Any, folder: str) -> Callable[[], Any]:
    """What is timed; for a second question, after the first has been asked."""
    from icefield import Grid

    if name == "again":
        warm = cold()
        warm.effects()
        return warm.effects  # type: ignore[no-any-return]
    asked: dict[str, Callable[[], Any]] = {
        "effects": lambda: cold().effects(),
        # What woodelf is asked: 100 even points of each column from its 5 % quantile to its 95 % quantile.
        "effects at woodelf's points": lambda: cold().effects(grid=Grid("uniform", points=100)),
        "effects with spread": lambda: cold().effects(spread=True),
        "importance": lambda: cold().importance(),
        "summary": lambda: cold().summary(),
        "interactions": lambda: cold().interactions(),
        "report": lambda: cold().report(Path(folder) / "report.html"),
        "woodelf": lambda: _woodelf(model, X),
    }
    return asked[name]


def _woodelf(model: Any, X: Any) -> None:
    import pandas as pd
    from woodelf.pdp import woodelf_pdp

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    woodelf_pdp(model, frame, k=100, verbose=False)


def _memory(line: str) -> float:
    """Megabytes of this process, as Linux counts them."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(own.split()[1]) for own in status if own.startswith(line)) / 1024


def _measure(case: Case, form: str, names: list[str]) -> None:
    """Print what each question takes, as JSON."""
    import warnings

    warnings.simplefilter("ignore")
    X, model, explainer, predict = _prepared(case, form)
    # A small question: modules and kernels are loaded once per process, not per question.
    explainer(X[:500]).effects()
    if "woodelf" in names:
        _woodelf(model, X[:500])
    one, worked = _median(predict)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            question = _question(name, lambda: explainer(X), model, X, folder)
            Path("/proc/self/clear_refs").write_text("5")  # the highest so far is what there is now
            before = _memory("VmRSS")
            first = _timed(question)  # whose memory counts: later ones find what is left of it
            grown = _memory("VmHWM") - before
            seconds, processor = _median(question, first)
        found = {
            "predict": one,
            "seconds": seconds,
            "megabytes": grown,
            "processor_share": processor / worked,
        }
        print(json.dumps({name: found}), flush=True)


def _timed(question: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock, and of all processors."""
    began, worked = time.perf_counter(), time.process_time()
    question()
    return time.perf_counter() - began, time.process_time() - worked


def _median(question: Callable[[], Any], *found: tuple[float, float]) -> tuple[float, float]:
    """The same of one run, or medians of several short ones; some may have been found already."""
    times = list(found) or [_timed(question)]
    while len(times) < 5 and max(times)[0] < SHORT:
        times.append(_timed(question))
    clock, processors = zip(*times)
    return statistics.median(clock), statistics.median(processors)


# --- all cases, in turns -------------------------------------------------------------------------


Found = dict[str, Any]


def _answers(case: Case, form: str, names: list[str], root: Path) -> dict[str, Found]:
    """What a process says about questions; those it did not come to are left out."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "benchmarks.users", "--case", case.name, form, *names]
    try:
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT
        )
        printed = done.stdout
        if done.returncode:
            print(done.stderr[-500:], flush=True)
    except subprocess.TimeoutExpired as late:
        printed = late.stdout.decode() if late.stdout else ""
    found: dict[str, Found] = {}
    for line in printed.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    return found


def _text(found: Found | None) -> str:
    if found is None:
        return f"{'no answer':>36}"
    share = found["seconds"] / found["predict"]
    return f"{found['seconds']:11.3f} s {share:7.2f} p ({found['processor_share']:6.2f} p)"


def bound_of(bound: str, form: str) -> str:
    """The bound in one form, where forms have their own."""
    own = dict(part.split(" ", 1) for part in bound.split(", ")) if "," in bound else {}
    return own.get(form, "") if own else bound


def verdict(bound: str, found: Found, first: float) -> str:
    """The bound, and whether it is met; `first` are the seconds of the case's first question."""
    if not bound:
        return ""
    number = float(bound.split()[0])
    if bound.endswith("x"):
        times = found["seconds"] / first
        return f"{times:.0f} x, at least {number:.0f} x: {'met' if times >= number else 'missed'}"
    taken = found["seconds"] if bound.endswith("s") else found["seconds"] / found["predict"]
    unit = "s" if bound.endswith("s") else "p"
    return f"at most {number:g} {unit}: {'met' if taken <= number else 'missed'}"


def table(stored: dict[str, dict[str, Found]]) -> Iterator[str]:
    """What is stored, as a table in Markdown: a line for each question, a column for each form."""
    forms = ("frame", "polars", "missing", "matrix")
    yield f"| case | asked | {' | '.join(forms)} | bound |"
    yield f"|---|---|{'---|' * len(forms)}---|"
    for case in CASES:
        for name, bound in case.bounds.items():
            cells, said = [], []
            for form in forms:
                by_name = stored.get(f"{case.name}, {form}", {})
                own, first = by_name.get(name), by_name.get(next(iter(case.bounds)))
                cells.append(_cell(own))
                if own is not None and first is not None:
                    own_bound = bound_of(bound, form)
                    said += [f"{form} {verdict(own_bound, own, first['seconds'])}"] if own_bound else []
            yield f"| {case.name} | {name} | {' | '.join(cells)} | {'; '.join(said)} |"


def _cell(found: Found | None) -> str:
    if found is None:
        return ""
    return (
        f"{found['seconds']:.2g} s, {found['seconds'] / found['predict']:.2g} p, {found['megabytes']:.0f} MB"
    )


# What the README shows: the work in words, and the questions that are it.
IN_README = (
    ("PD of all 20 features, 100,000 rows, LightGBM 500 trees x 31 leaves; asked again",
     (("regression, 500 trees", "effects"), ("regression, 500 trees", "again"))),
    ("PD of all 397 features, 472,000 rows, raw scale, LightGBM 100 trees; asked again",
     (("wide, raw", "effects"), ("wide, raw", "again"))),
    ("the same on probabilities, with the spread of all rows' curves", (("wide, probabilities", "effects with spread"),)),
    ("`summary()`; `report()` of these", (("wide, summary", "summary"), ("wide, report", "report"))),
    ("probabilities, 100,000 x 100: PD with spread; `importance()`; `report()`",
     (("probabilities", "effects with spread"), ("probabilities", "importance"), ("probabilities", "report"))),
    ("Friedman's H of all 4,950 pairs of these, on 300 rows", (("probabilities", "interactions"),)),
    ("5,000,000 x 20: PD; asked again", (("tall", "effects"), ("tall", "again"))),
    ("336,776 New York flights, 15 features: PD; `report()`", (("flights", "effects"), ("flights", "report"))),
)  # fmt: skip


def readme(stored: dict[str, dict[str, Found]]) -> Iterator[str]:
    """The README's table: seconds, and in brackets predicts, of data as users have it and of complete matrices."""
    yield "| work, from `Explainer(model, X)` on | a frame with missing values and categories | a complete matrix of floats |"
    yield "|---|---|---|"
    for work, asked in IN_README:
        cells = []
        for form in ("frame", "matrix"):
            known = [stored.get(f"{case}, {form}", {}).get(name) for case, name in asked]
            cells.append("; ".join("" if one is None else f"{one['seconds']:.2g} s (**{one['seconds'] / one['predict']:.2g}**)" for one in known).strip("; "))  # fmt: skip
        yield f"| {work} | {cells[0]} | {cells[1]} |"
    own = stored.get("woodelf's own case, matrix", {})
    if {"woodelf", "effects", "effects at woodelf's points"} <= own.keys():
        ours, theirs, usual = (own[name]["seconds"] for name in ("effects at woodelf's points", "woodelf", "effects"))  # fmt: skip
        yield (
            f"| PD of all 20 features, HistGradientBoosting 100 trees of depth 6, at woodelf's 100 points; at the default ones | | "
            f"{ours:.2g} s, **{theirs / ours:.0f}x** faster than woodelf 0.4.8; {usual:.2g} s, {theirs / usual:.0f}x |"
        )


def written(stored: dict[str, dict[str, Found]]) -> None:
    """Put what is stored between the marks that documents have for it."""
    days = sorted({one["on"] for by_name in stored.values() for one in by_name.values()})
    said = (
        f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))}, on {os.cpu_count()} cores."
        if days
        else ""
    )
    for path, lines in ((ROOT / "docs" / "performance.md", table), (ROOT / "README.md", readme)):
        text = path.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN, 1)
        own = "\n".join([*lines(stored), *(["", said] if said else [])])
        path.write_text(f"{before}{BEGIN}\n\n{own}\n\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks users")
    parser.add_argument("checkout", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", metavar="CASE", choices=[case.name for case in CASES])
    parser.add_argument("--forms", nargs="+", metavar="FORM")
    parser.add_argument("--ask", nargs="+", metavar="QUESTION")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(sys.argv[2:] if arguments is None else arguments)
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    if given.table:
        print("\n".join(table(stored)))
    if given.write:
        written(stored)
    if given.table or given.write:
        return
    started = time.perf_counter()
    print(
        "elapsed seconds, as a share of one predict (p), the same of processor time; memory beside data and model"
    )
    for case in CASES:
        for form in case.forms:
            key = f"{case.name}, {form}"
            names = [n for n in case.bounds if not given.ask or n in given.ask]
            if given.resume:
                names = [n for n in names if n not in stored.get(key, {})]
            if (
                not names
                or (given.only and case.name not in given.only)
                or (given.forms and form not in given.forms)
            ):
                continue
            print(f"\n{case.name}: {case.shape(form)}", flush=True)
            began = time.perf_counter()
            others = [] if given.checkout is None else [_answers(case, form, names, given.checkout.resolve())]
            own = _answers(case, form, names, ROOT)
            for name in names:
                found = [by_name.get(name) for by_name in (*others, own)]
                said = ""
                if (last := found[-1]) is not None:
                    bound = bound_of(case.bounds[name], form)
                    said = f"{last['megabytes']:8.0f} MB  {verdict(bound, last, next(iter(own.values()))['seconds'])}"
                print(f"  {name:28}{''.join(map(_text, found))}{said}", flush=True)
            if own:
                print(f"  {'one predict':20}{next(iter(own.values()))['predict']:11.3f} s", flush=True)
            took, so_far = time.perf_counter() - began, time.perf_counter() - started
            print(f"  {'all of it':20}{took:11.1f} s, {so_far:.0f} s so far", flush=True)
            if not others:
                state = {"on": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(), "python": platform.python_version(), "load": round(os.getloadavg()[0], 1)}  # fmt: skip
                for name, one in own.items():
                    stored.setdefault(key, {})[name] = {k: round(v, 4) for k, v in one.items()} | state
                STORED.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    if "--case" in sys.argv:
        name, form, *questions = sys.argv[2:]
        _measure(next(case for case in CASES if case.name == name), form, questions)
    else:
        main(sys.argv[1:])
