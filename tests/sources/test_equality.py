"""Streamed and in memory, the same: every source, every effect, every model family, on the same given grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pytest

from icefield import Explainer, Grid
from icefield.sources import source_of, stream
from sources.rows import FAMILIES, FEATURES, GRID, NUMBERS, booster, table

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def readers(data: pd.DataFrame, rows: int) -> Any:
    whole = table(data)
    return lambda: pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=rows))


def sources(data: pd.DataFrame, folder: Path, scratch: Path) -> dict[str, Any]:
    """The same rows in every form they may be handed over."""
    import duckdb
    import polars as pl

    feather.write_feather(table(data), scratch / "rows.arrow", chunksize=900)
    data.drop(columns="level").to_csv(scratch / "rows.csv", index=False)
    return {
        "folder": folder,
        "path": str(folder),
        "glob": f"{folder}/*.parquet",
        "arrow file": scratch / "rows.arrow",
        "csv": scratch / "rows.csv",
        "dataset": ds.dataset(folder),
        "dataset in memory": ds.dataset(table(data)),
        "readers": readers(data, 350),
        "polars": pl.scan_parquet(f"{folder}/*.parquet"),
        "duckdb": duckdb.connect().read_parquet(f"{folder}/*.parquet"),
    }


NAMES = [
    "folder",
    "path",
    "glob",
    "arrow file",
    "csv",
    "dataset",
    "dataset in memory",
    "readers",
    "polars",
    "duckdb",
]


def given(features: list[str]) -> dict[str, Any]:
    return {name: GRID[name] for name in features}


def same(one: Any, other: Any, exact: bool) -> None:
    """Two effects: bit for bit where they derive from counts."""
    assert one.features == other.features
    assert one.n_rows == other.n_rows
    for mine, theirs in zip(one.grid, other.grid):
        assert np.array_equal(np.asarray(mine, object), np.asarray(theirs, object)) or np.array_equal(
            mine, theirs, equal_nan=True
        )
    if exact:
        assert np.array_equal(one.average, other.average)
    assert np.allclose(one.average, other.average, **CLOSE)
    assert np.allclose(one.weight, other.weight, **CLOSE)
    for name in ("std", "se"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert np.allclose(mine, theirs, **CLOSE)
    assert list(one.groups) == list(other.groups)
    for label in one.groups:
        same(one.groups[label], other.groups[label], exact)


@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_what_the_table_gives(name, data, folder, tmp_path):
    columns = NUMBERS if name in ("csv", "duckdb") else FEATURES
    model = booster(data, columns)
    X = sources(data, folder, tmp_path)[name]
    memory, streamed = (Explainer(model, rows, weights="w", by="side") for rows in (table(data), X))
    for feature, effect in memory.effects(columns, grid=given(columns)).items():
        same(effect, streamed.effects(columns, grid=given(columns))[feature], exact=True)
    pair = given(["x0", "k"])
    same(
        memory.partial_dependence("x0", "k", grid=pair),
        streamed.partial_dependence("x0", "k", grid=pair),
        True,
    )
    same(memory.ice("x0", grid=GRID["x0"]), streamed.ice("x0", grid=GRID["x0"]), False)


@pytest.mark.parametrize(
    "options", [{}, {"weights": "w"}, {"by": "side"}, {"by": "k", "weights": "w"}], ids=str
)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_what_the_table_gives(family, options, data, folder):
    if family in ("forest", "linear"):
        data = data.assign(x1=data.x1.fillna(0))
        folder = readers(data, 800)
    model = FAMILIES[family](data)
    memory, streamed = (Explainer(model, rows, **options) for rows in (table(data), folder))
    assert memory.plan.engine.name == streamed.plan.engine.name
    columns = list(memory.model.columns)
    grids = {name: GRID[name] if name != "x1" else GRID[name][:3] for name in columns}
    exact = getattr(memory.plan.engine, "additive", False)
    mine, theirs = memory.effects(grid=grids), streamed.effects(grid=grids)
    for feature in columns:
        same(mine[feature], theirs[feature], exact)
    pair = {name: grids[name] for name in ("x0", "k")}
    same(
        memory.partial_dependence("x0", "k", grid=pair),
        streamed.partial_dependence("x0", "k", grid=pair),
        exact,
    )
    same(
        memory.partial_dependence("x2", grid=grids["x2"]),
        streamed.partial_dependence("x2", grid=grids["x2"]),
        False,
    )
    kept = streamed.ice("x2", grid=grids["x2"])
    assert np.allclose(kept.individual, memory.ice("x2", grid=grids["x2"]).individual, **CLOSE)


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


def test_a_small_stream_gives_the_whole_of_every_statistic(data, folder):
    """Where the sample holds all rows, what is asked of it is what the table gives."""
    model = booster(data)
    memory = Explainer(model, table(data), data.y.to_numpy())
    streamed = Explainer(model, folder, "y")
    for ask in (
        lambda ex: ex.ale("x0"),
        lambda ex: ex.ale("x0", "k"),
    ):
        assert np.allclose(ask(memory).average, ask(streamed).average, **CLOSE)
    for ask in (lambda ex: ex.importance(), lambda ex: ex.interactions(), lambda ex: ex.summary()):
        mine, theirs = ask(memory), ask(streamed)
        mine, theirs = (
            pa.table(found.to_frame()) if not isinstance(found, pa.Table) else found
            for found in (mine, theirs)
        )
        assert mine.column_names == theirs.column_names
        for name in mine.column_names:
            one, other = mine[name], theirs[name]
            if pa.types.is_floating(one.type):
                assert np.allclose(one.to_numpy(), other.to_numpy(), equal_nan=True)
            else:
                assert one.to_pylist() == other.to_pylist()


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
