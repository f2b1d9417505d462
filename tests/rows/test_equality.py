"""Streamed and in memory, the same: every source, every effect, every model family, on the same given grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pytest

from icefield import Explainer, Grid
from icefield.counts import counted
from icefield.rows import stream, stream_rows
from icefield.rows.sources import source_of
from icefield.statistics.ale import ales
from rows.rows import FAMILIES, FEATURES, GRID, NUMBERS, WITHOUT_GAPS, booster, frame, table, written

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def readers(data: pd.DataFrame, rows: int) -> Any:
    whole = table(data)
    return lambda: pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=rows))


SOURCES: dict[str, Any] = {
    "folder": lambda rows, folder: written(folder, rows),
    "path": lambda rows, folder: str(written(folder, rows)),
    "glob": lambda rows, folder: f"{written(folder, rows)}/*.parquet",
    "several paths": lambda rows, folder: sorted(written(folder, rows).iterdir()),
    "arrow file": lambda rows, folder: feathered(folder, rows),
    "csv": lambda rows, folder: as_csv(folder, rows),
    "dataset": lambda rows, folder: ds.dataset(written(folder, rows)),
    "dataset in memory": lambda rows, _: ds.dataset(table(rows)),
    "readers": lambda rows, _: readers(rows, 350),
    "polars": lambda rows, folder: pytest.importorskip("polars").scan_parquet(
        f"{written(folder, rows)}/*.parquet"
    ),
    "duckdb": lambda rows, folder: (
        pytest.importorskip("duckdb").connect().read_parquet(f"{written(folder, rows)}/*.parquet")
    ),
}
TEXT = (
    "csv",
    "duckdb",
)  # sources whose levels are text, which boosters of categories refuse, as they do in memory


def feathered(folder: Path, rows: pd.DataFrame) -> Path:
    feather.write_feather(table(rows), folder / "rows.arrow", chunksize=900)
    return folder / "rows.arrow"


def as_csv(folder: Path, rows: pd.DataFrame) -> Path:
    rows.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def given(features: Any) -> dict[str, Any]:
    return {name: GRID[name] for name in features}


def same(one: Any, other: Any, exact: bool) -> None:
    """Two effects: bit for bit where they derive from counts, to 1e-12 elsewhere."""
    assert one.features == other.features
    assert one.n_rows == other.n_rows
    for mine, theirs in zip(one.grid, other.grid):
        assert np.array_equal(np.asarray(mine, object), np.asarray(theirs, object)) or np.array_equal(
            mine, theirs, equal_nan=True
        )
    if exact:
        assert np.array_equal(one.average, other.average)
    assert np.allclose(one.average, other.average, equal_nan=True, **CLOSE)
    assert np.allclose(one.weight, other.weight, **CLOSE)
    for name in ("std", "se", "individual"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert np.allclose(mine, theirs, equal_nan=True, **CLOSE), name
    assert list(one.groups) == list(other.groups)
    for label in one.groups:
        same(one.groups[label], other.groups[label], exact)


def same_table(one: Any, other: Any) -> None:
    """Two tables of results."""
    assert list(one.columns) == list(other.columns)
    for name, mine in one.columns.items():
        theirs = other.columns[name]
        if mine.dtype.kind == "f":
            assert np.allclose(mine, theirs, equal_nan=True, rtol=1e-9, atol=1e-9), name
        else:
            assert mine.tolist() == theirs.tolist(), name


def _all_features(ex: Explainer) -> Any:
    columns = [name for name in ex.model.columns if name in GRID]  # a function sees all there are
    return list(ex.effects(columns, grid=given(columns)).values())


# What is added up over all rows, block by block; and whether it derives from counts on an additive scale.
STREAMED: dict[str, tuple[Any, bool]] = {
    "effects": (_all_features, True),
    "one-way, with spread": (lambda ex: [ex.partial_dependence("x2", grid=GRID["x2"])], False),
    "two-way": (lambda ex: [ex.partial_dependence("x0", "k", grid=given(["x0", "k"]))], True),
    "pairs": (
        lambda ex: list(ex.effects(["x0", "x2", "k"], order=2, grid=given(["x0", "x2", "k"])).values()),
        True,
    ),
    "three-way": (
        lambda ex: [ex.partial_dependence("x0", "x2", "k", grid=[[0.0, 1.0], [0.0], [1, 2]])],
        True,
    ),
    "ale": (lambda ex: [ex.ale("x0", bins=np.linspace(-2.0, 2.0, 9))], False),
    "ale of several": (lambda ex: ales(ex.study, ["x0", "x2", "k"], bins=np.linspace(-2.0, 4.0, 9)), False),
    "ale of two": (lambda ex: [ex.ale("x0", "k", bins=[np.linspace(-2.0, 2.0, 5), [0, 2, 4]])], False),
}
# What needs rows together: the sample, which holds all rows here.
SAMPLED: dict[str, Any] = {
    "ice": lambda ex: [ex.ice("x2", grid=GRID["x2"])],
    "ice of some": lambda ex: [ex.ice("x0", grid=GRID["x0"], rows=40)],
    "quantiles": lambda ex: [ex.partial_dependence("x2", grid=GRID["x2"], quantiles=[0.1, 0.9])],
    "default bins": lambda ex: [ex.ale("x0")],
    "default grid": lambda ex: [ex.partial_dependence("x0")],
    "support": lambda ex: [ex.partial_dependence("x0", grid=GRID["x0"], support=True)],
}
TABLES: dict[str, Any] = {
    "importance": lambda ex: ex.importance(["x0", "x2", "k"]),
    "interactions": lambda ex: ex.interactions(["x0", "x2", "k"]),
    "summary": lambda ex: ex.summary(["x0", "x2", "k"]),
    "conditional": lambda ex: ex.conditional("x0", bins=5),
}
USUAL = [
    *(("folder", family) for family in FAMILIES),
    *((name, "lightgbm") for name in SOURCES if name != "folder"),
]
ALL = [(name, family) for name in SOURCES for family in FAMILIES if (name, family) not in USUAL]


@dataclass(frozen=True)
class InMemory:
    """Rows, a model of them, and what is said of both in memory: once for all sources."""

    rows: pd.DataFrame
    model: Any
    streamed: list[tuple[dict[str, Any], str, bool, dict[str, Any]]]  # by options: engine, additive, answers
    sampled: dict[str, Any]
    tables: dict[str, Any]

    @classmethod
    @cache
    def of(cls, family: str, numbers: bool) -> InMemory:
        rows = frame(1_000)
        if family in WITHOUT_GAPS:
            rows = rows.assign(x1=rows.x1.fillna(0.0))
        model = FAMILIES[family](rows, NUMBERS) if numbers else FAMILIES[family](rows)
        whole, streamed = table(rows), []
        for options in ({}, {"weights": "w", "by": "side"}):
            ex = Explainer(model, whole, row_by_row=True, **options)
            engine = ex.plan.engine
            answers = {what: ask(ex) for what, (ask, _) in STREAMED.items()}
            streamed.append((options, engine.name, getattr(engine, "additive", False), answers))
        ex = Explainer(model, whole, rows.y.to_numpy(), row_by_row=True)
        sampled, tables = ({what: ask(ex) for what, ask in asked.items()} for asked in (SAMPLED, TABLES))
        return cls(rows, model, streamed, sampled, tables)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "family"), [*USUAL, *(pytest.param(*both, marks=pytest.mark.slow) for both in ALL)]
)
def test_every_source_gives_what_the_table_gives(name, family, tmp_path, monkeypatch):
    """One test for all sources, all effects and all families of models."""
    memory = InMemory.of(family, numbers=name in TEXT and "lightgbm" in family)
    X = SOURCES[name](memory.rows, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(stream, "LEAST_ROWS", 250)
        patched.setattr(stream, "MOST_ROWS", 500)
        patched.setattr(stream_rows, "STREAMED_ROWS", 300)
        for options, engine, additive, answers in memory.streamed:
            streamed = Explainer(memory.model, X, row_by_row=True, **options)
            assert streamed.plan.engine.name == engine
            for what, (ask, counts) in STREAMED.items():
                for one, other in zip(answers[what], ask(streamed), strict=True):
                    same(one, other, exact=counts and additive)
            assert streamed.table.n_rows == 300
    streamed = Explainer(memory.model, X, "y", row_by_row=True)
    for what, ask in SAMPLED.items():
        for one, other in zip(memory.sampled[what], ask(streamed), strict=True):
            same(one, other, exact=False)
    for what, ask in TABLES.items():
        same_table(memory.tables[what], ask(streamed))


def test_a_report_of_a_stream_is_about_all_its_rows(data, folder, tmp_path, monkeypatch):
    from icefield.report import build

    model = booster(data)
    monkeypatch.setattr(stream_rows, "STREAMED_ROWS", 1_000)
    mine, theirs = (build(Explainer(model, rows).study) for rows in (table(data), folder))
    assert [card.name for card in mine.features] == [card.name for card in theirs.features]
    assert f"{counted(len(data))} rows" in str([vars(fact) for fact in theirs.facts])
    Explainer(model, folder).report(tmp_path / "report.html")
    assert "what needs rows together over a seeded sample of 1000" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("rows", [37, 1_000, 100_000])
@pytest.mark.parametrize("threads", [1, 3])
def test_counts_do_not_depend_on_batches_order_or_threads(rows, threads, data, monkeypatch):
    monkeypatch.setattr(stream, "LEAST_ROWS", 500)
    monkeypatch.setattr(stream, "MOST_ROWS", 1_500)
    model = booster(data)
    expected = Explainer(model, table(data)).effects(grid=GRID)
    shuffled = data.sample(frac=1.0, random_state=rows)
    found = Explainer(model, readers(shuffled, rows), threads=threads).effects(grid=GRID)
    for feature in FEATURES:
        assert np.array_equal(found[feature].average, expected[feature].average)


def test_effects_of_pairs(data, folder):
    model = booster(data)
    memory, streamed = Explainer(model, table(data)), Explainer(model, folder)
    mine, theirs = memory.effects(order=2, grid=GRID), streamed.effects(order=2, grid=GRID)
    assert list(mine) == list(theirs)
    for pair in mine:
        same(mine[pair], theirs[pair], True)


def test_training_background_needs_no_rows(data, folder):
    model = booster(data)
    memory, streamed = (Explainer(model, rows, background="training") for rows in (table(data), folder))
    same(
        memory.partial_dependence("x0", grid=GRID["x0"]),
        streamed.partial_dependence("x0", grid=GRID["x0"]),
        True,
    )


def test_one_hot_groups(data):
    hot = data.assign(**{f"level_{v}": (data.level == v).astype(float) for v in "abc"})
    columns = ["x0", "level_a", "level_b", "level_c"]
    model = booster(hot, columns)
    group = {"level": columns[1:]}
    memory, streamed = Explainer(model, table(hot)), Explainer(model, readers(hot, 700))
    same(memory.partial_dependence(group), streamed.partial_dependence(group), False)
    same(memory.partial_dependence(group, "x0", grid=[["a", "b"], [0.0, 1.0]]),
         streamed.partial_dependence(group, "x0", grid=[["a", "b"], [0.0, 1.0]]), True)  # fmt: skip


def test_thresholds_and_few_values_place_the_same_grids(data, folder):
    model = booster(data)
    memory, streamed = Explainer(model, table(data)), Explainer(model, folder)
    for feature, grid in (
        ("x0", Grid("thresholds")),
        ("k", None),
        ("level", None),
        ("k", Grid("quantile", 3)),
    ):
        same(
            memory.partial_dependence(feature, grid=grid),
            streamed.partial_dependence(feature, grid=grid),
            False,
        )


def test_a_source_is_read_with_the_columns_it_needs(data, folder):
    asked: list[tuple[str, ...]] = []
    source = source_of(folder)
    read = source.batches

    def noted(columns: Any, rows: int, skip: int = 0) -> Any:
        asked.append(tuple(columns))
        return read(columns, rows, skip)

    source.batches = noted
    explainer = Explainer(booster(data, ["x0", "k"]), source)
    del asked[0]  # the look at the first rows, when the model's columns are not known yet
    explainer.partial_dependence("x0")
    assert set(asked) == {("x0", "k")}
