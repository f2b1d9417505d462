"""Questions about rows that are streamed: files, lazy frames, readers; what is read; checkpoints."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from icefield import Explainer, Grid

from .answers import Answers
from .inside import Noted, small_blocks
from .rows import FEATURES, NUMBERS, WHOLE, frame, function, model, numbers_function

GRID: dict[str, Any] = {
    "x0": np.linspace(-2.0, 2.0, 7), "x1": [-1.0, 0.0, 0.5, None], "x2": np.linspace(-1.5, 1.5, 5), "k": [0, 1, 2, 3, 4, 5],
    "level": ["a", "b", "c", "d"], "flag": [False, True],
}  # fmt: skip
SAMPLE = 400


def table(rows: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(rows, preserve_index=False)


def ask_all(found: Answers) -> None:
    """Every question about streamed rows."""
    if not found.wants("streams"):
        return
    with tempfile.TemporaryDirectory() as folder:
        _sources(found, Path(folder))
        _families(found)
        _reading(found)
        _checkpoints(found, Path(folder))


def _written(folder: Path, rows: pd.DataFrame) -> dict[str, Any]:
    """The same rows as files of several kinds, and as what opens them."""
    import polars as pl

    for kind in ("parquet", "csv"):
        (folder / kind).mkdir()
    for number, (start, stop) in enumerate(pairwise([0, 500, 1_700, 1_800, len(rows)])):
        part = rows.iloc[start:stop]
        pq.write_table(table(part), folder / "parquet" / f"{number}.parquet", row_group_size=300)
        part.drop(columns=["level", "day", "flag"]).to_csv(folder / "csv" / f"{number}.csv", index=False)
    whole = table(rows)

    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=450))

    return {
        "parquet": folder / "parquet",
        "csv": folder / "csv",
        "reader": reader,
        "polars": pl.scan_parquet(folder / "parquet" / "*.parquet"),
    }


def streamed(found: Answers, at: str, ex: Explainer, features: list[str], local: bool = True) -> None:
    """What rows outside are asked: sums over all rows, sketches, and what the sample gives."""
    grid = {name: GRID[name] for name in features}
    found.ask(f"{at}/all given", lambda: ex.effects(features, grid=grid))
    found.ask(f"{at}/all", lambda: ex.effects(features))
    found.ask(f"{at}/all spread", lambda: ex.effects(features, spread=True, grid=8))
    found.ask(f"{at}/alone", lambda: ex.partial_dependence("x0"))
    found.ask(f"{at}/exact", lambda: ex.partial_dependence("x0", grid=Grid("quantile", points=5, exact=True)))
    found.ask(f"{at}/distinct", lambda: ex.partial_dependence("k", grid=Grid("distinct")))
    found.ask(f"{at}/pair", lambda: ex.partial_dependence("x0", "k", grid=4))
    found.ask(f"{at}/pairs", lambda: ex.effects(features[:3], order=2, grid=3))
    found.ask(f"{at}/rows", lambda: ex.partial_dependence("x2", grid=5, rows=100))
    found.ask(f"{at}/quantiles", lambda: ex.partial_dependence("x2", grid=5, quantiles=(0.1, 0.9)))
    found.ask(f"{at}/individual", lambda: ex.partial_dependence("x2", grid=3, individual=True))
    found.ask(f"{at}/precision", lambda: ex.partial_dependence("x2", grid=3, precision=0.1))
    found.ask(f"{at}/support", lambda: ex.partial_dependence("x2", grid=5, support=True))
    found.ask(f"{at}/by here", lambda: ex.partial_dependence("x2", grid=5, by="k"))
    found.ask(f"{at}/ice", lambda: ex.ice("x0", grid=4, rows=12))
    found.ask(f"{at}/ale", lambda: ex.ale("x0", bins=6))
    found.ask(f"{at}/ale edges", lambda: ex.ale("x2", bins=[-1.0, 0.0, 1.0]))
    found.ask(f"{at}/ale pair", lambda: ex.ale("x0", "x2", bins=4))
    if local:
        found.ask(f"{at}/ale all", lambda: ex.effects(features, kind="ale"))
    if "level" in features:
        found.ask(f"{at}/level", lambda: ex.partial_dependence("level", "x0", grid={"x0": 3}))
        found.ask(f"{at}/ale level", lambda: ex.ale("level"))
    found.ask(f"{at}/sample", lambda: [ex.table.n_rows, ex.weights, repr(ex), ex.plan.why])


def _statistics(found: Answers, at: str, ex: Explainer) -> None:
    found.ask(f"{at}/importance", lambda: ex.importance())
    found.ask(f"{at}/importance permutation", lambda: ex.importance(["x0"], permutation=True, repeats=2))
    found.ask(f"{at}/interactions", lambda: ex.interactions())
    found.ask(f"{at}/regions", lambda: ex.regions("x0"))
    found.ask(f"{at}/summary", lambda: ex.summary())
    found.ask(f"{at}/conditional", lambda: ex.conditional("x0", bins=5))


def _sources(found: Answers, folder: Path) -> None:
    """Files, lazy frames and readers, in small blocks with a sample smaller than the rows, with weights and groups."""
    rows = frame(3_000, 5)
    both = {"weights": "w", "by": "side"}
    ways: dict[str, list[dict[str, Any]]] = {
        "parquet": [{}, {**both, "y": "y"}], "csv": [both], "reader": [{"weights": "w"}, {"by": "side"}], "polars": [{}],
    }  # fmt: skip
    for kind, source in _written(folder, rows).items():
        fitted, features = (
            ("lightgbm", FEATURES) if kind in ("parquet", "reader") else ("lightgbm numbers", NUMBERS)
        )
        for options in ways[kind]:
            at = " ".join(["streams/" + kind, *options])
            if not found.wants(at):
                continue
            with small_blocks(SAMPLE):
                ex = Explainer(model(fitted), source, **options)
                streamed(found, at, ex, features)
                if kind == "parquet":
                    _statistics(found, at, ex)
    # By the budget alone: blocks as they are, a sample of fewer rows than there are; and rows that fit the sample.
    lot = table(frame(20_000, 6)[NUMBERS])
    pq.write_table(lot, folder / "lot.parquet", row_group_size=3_000)
    streamed(
        found,
        "streams/budget",
        Explainer(model("lightgbm numbers"), folder / "lot.parquet", memory=1_000_000),
        NUMBERS,
    )
    streamed(found, "streams/fits", Explainer(model("lightgbm"), folder / "parquet"), FEATURES)


def _families(found: Answers) -> None:
    """Other models on streamed rows."""
    rows = table(frame(3_000, 5))

    def reader() -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=450))

    ways: dict[str, tuple[Any, list[str], dict[str, Any]]] = {
        "brute": (model("lightgbm"), FEATURES, {"engine": "brute"}),
        "binary raw": (model("lightgbm binary"), FEATURES, {"scale": "raw", "by": "side"}),
        "classes": (model("lightgbm classes"), FEATURES, {}),
        "training": (model("lightgbm"), FEATURES, {"background": "training"}),
        "xgboost": (model("xgboost"), NUMBERS, {}),
        "forest": (model("forest"), WHOLE, {}),
        "linear": (model("linear"), WHOLE, {"weights": "w"}),
        "function": (numbers_function, WHOLE, {"weights": "w", "by": "side"}),
    }
    for way, (fitted, features, options) in ways.items():
        if found.wants(f"streams/families/{way}"):
            with small_blocks(SAMPLE):
                streamed(found, f"streams/families/{way}", Explainer(fitted, reader, **options), features)
    with small_blocks(SAMPLE):
        found.ask(
            "streams/families/dates",
            lambda: Explainer(function, reader).effects(["day", "flag"], spread=True),
        )


def _reading(found: Answers) -> None:
    """Which columns are read how often, question by question of one Explainer, and of a fresh one for each."""
    rows = table(frame(3_000, 5))
    grid = {"x0": GRID["x0"], "level": GRID["level"]}
    questions: dict[str, Callable[[Explainer], Any]] = {
        "effects given": lambda ex: ex.effects(["x0", "level"], grid=grid),
        "effects": lambda ex: ex.effects(),
        "again": lambda ex: ex.effects(),
        "alone": lambda ex: ex.partial_dependence("x0"),
        "pair": lambda ex: ex.partial_dependence("x0", "k", grid=4),
        "exact": lambda ex: ex.partial_dependence("x2", grid=Grid("quantile", points=5, exact=True)),
        "rows": lambda ex: ex.partial_dependence("x0", grid=4, rows=50),
        "ice": lambda ex: ex.ice("x0", grid=4, rows=5),
        "ale": lambda ex: ex.ale("x0"),
        "ale all": lambda ex: ex.effects(kind="ale"),
        "ale pair": lambda ex: ex.ale("x0", "k", bins=3),
        "interactions": lambda ex: ex.interactions(["x0", "k"]),
        "summary": lambda ex: ex.summary(["x0", "k"]),
        "support": lambda ex: ex.partial_dependence("x0", grid=4, support=True),
        "table": lambda ex: ex.table,
        "plan": lambda ex: ex.plan,
        "text": lambda ex: repr(ex),
    }
    ways: dict[str, dict[str, Any]] = {
        "plain": {}, "weights, by": {"weights": "w", "by": "side"}, "brute": {"engine": "brute"},
        "training": {"background": "training"},
    }  # fmt: skip
    for way, options in ways.items():
        at = f"streams/reading/{way}"
        if not found.wants(at):
            continue
        with small_blocks(SAMPLE):
            source = Noted(rows)
            one = Explainer(model("lightgbm"), source, **options)
            found.ask(f"{at}/built", lambda s=source: list(s.read))
            for name, question in questions.items():
                found.ask(f"{at}/one/{name}", lambda s=source, e=one, q=question: _read(s, e, q))
                found.ask(f"{at}/fresh/{name}", lambda o=options, q=question: _fresh(rows, o, q))


def _read(source: Noted, ex: Explainer, question: Callable[[Explainer], Any]) -> list[str]:
    source.read.clear()
    try:
        question(ex)
    except ValueError as error:
        return [*source.read, str(error)]
    return list(source.read)


def _fresh(rows: pa.Table, options: dict[str, Any], question: Callable[[Explainer], Any]) -> list[str]:
    source = Noted(rows)
    return _read(source, Explainer(model("lightgbm"), source, **options), question)


def _checkpoints(found: Answers, folder: Path) -> None:
    """Passes that end early go on; passes that are complete are not repeated."""
    rows = table(frame(3_000, 5))
    questions: dict[str, Callable[[Explainer], Any]] = {
        "effects": lambda ex: ex.effects(grid=GRID),
        "spread": lambda ex: ex.effects(["x0", "k"], grid={"x0": GRID["x0"], "k": GRID["k"]}, spread=True),
        "ale": lambda ex: ex.ale("x0", bins=[-1.0, 0.0, 1.0]),
        "exact": lambda ex: ex.partial_dependence("x2", grid=Grid("quantile", points=5, exact=True)),
    }
    for way, options in {"plain": {}, "weights, by": {"weights": "w", "by": "side"}}.items():
        for name, question in questions.items():
            at = f"streams/checkpoint/{way}/{name}"
            place = folder / f"sums {way} {name}"
            found.ask(at, lambda p=place, o=options, q=question: _resumed(rows, p, o, q))


def _resumed(
    rows: pa.Table, place: Path, options: dict[str, Any], question: Callable[[Explainer], Any]
) -> Any:
    """Cut short after some batches, asked again, and once more."""
    found: list[Any] = []
    with small_blocks(SAMPLE):
        for fails_after in (12, None, None):  # in the middle of the first whole pass
            source = Noted(rows, fails_after)
            try:
                answer = question(Explainer(model("lightgbm"), source, checkpoint=place, **options))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
            else:
                # Where a pass goes on from depends on how far decoding ahead was when the rows ended, so of the
                # second run only the answer is kept; of the third, what it reads too.
                found.append(answer)
        found.append(source.read)
    return found
