"""Random forests on frames of every kind, with every missing rule and category sets: the plain walker's numbers, rows kept as codes or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from forest_walk import raw
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine, encoded
from icefield.engines.trees.coding import CodedRows
from icefield.forest.encode import Encoder, LevelCodes, Numbers
from strategies import random_forest

ROWS = 130
LIBRARIES = ("numpy", "pandas", "pandas nullable", "pandas arrow", "polars", "pyarrow")
KINDS = ("float64", "float32", "integer", "boolean")


def drawn_frame(seed: int, library: str):
    """A forest, its encoder, the rows as numbers, a frame of them, and values each column may take, as it holds them and as numbers."""
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, n_columns=5, trees=6, leaves=12)
    matrix = drawn.matrix(rng, ROWS)
    columns, rules, points = {}, [], []
    for j, column in enumerate(drawn.columns):
        own = matrix[:, j]
        name, kind = f"c{j}", KINDS[int(rng.integers(len(KINDS)))]
        if column.categories and library != "numpy":
            levels = np.unique(own[~np.isnan(own)])
            names = [f"level {value!r}" for value in levels.tolist()]
            codes = np.where(np.isnan(own), -1, np.searchsorted(levels, own))
            columns[name] = pd.Categorical.from_codes(codes, names)
            rules.append(LevelCodes(tuple(zip(names, levels.tolist()))))
            points.append((np.array(names, object), levels))
            continue
        rules.append(Numbers())
        if library == "numpy" or column.categories or kind == "float64":
            columns[name] = own
        elif kind == "float32":
            with np.errstate(over="ignore"):
                columns[name] = own.astype(np.float32)
            matrix[:, j] = columns[name]
        else:
            gone = np.isnan(own) & (library != "pandas")
            whole = np.clip(np.round(np.nan_to_num(own)), -50, 50)
            if kind == "boolean":
                columns[name] = pd.array(whole > 0, "boolean")
                whole = (whole > 0) * 1.0
            else:
                columns[name] = pd.array(whole.astype(np.int64), "Int64")
            columns[name][gone] = pd.NA
            if library == "pandas":
                columns[name] = columns[name].to_numpy("bool" if kind == "boolean" else "int64")
            matrix[:, j] = np.where(gone, np.nan, whole)
        known = np.unique(matrix[:, j][~np.isnan(matrix[:, j])])
        is_boolean = str(columns[name].dtype).startswith("bool")
        held = known.astype(bool) if is_boolean else known
        points.append((held, known))
    frame = pd.DataFrame(columns)
    encoder = Encoder(tuple(range(5)) if library == "numpy" else tuple(frame.columns), tuple(rules))
    return drawn, encoder, matrix, as_library(frame, library), points


def as_library(frame: pd.DataFrame, library: str):
    if library == "numpy":
        return frame.to_numpy()
    if library == "pandas arrow":
        import pyarrow as pa

        arrow = {name: pd.ArrowDtype(pa.array(frame[name], from_pandas=True).type) for name in frame}
        return frame.astype({name: dtype for name, dtype in arrow.items() if frame[name].dtype != "category"})
    if library == "polars":
        import polars as pl

        return pl.from_pandas(frame, nan_to_null=True)
    if library == "pyarrow":
        import pyarrow as pa

        return pa.Table.from_pandas(frame, preserve_index=False)
    return frame


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("few", [-1, 2**20], ids=["codes", "numbers"])
def test_every_frame_gives_the_plain_walkers_numbers(library, few, monkeypatch):
    monkeypatch.setattr(encoded, "FEW_VALUES", few)
    for seed in range(4):
        drawn, encoder, matrix, frame, points = drawn_frame(seed, library)
        table = table_of(frame)
        model = replace(drawn.model(), encode=encoder, drives=encoder.drives)
        trees = TreesEngine(model, "raw", range(drawn.forest.n_outputs))
        questions, expected = [], []
        for j, (held, known) in enumerate(points):
            if len(known) == 0:
                continue
            questions.append(Question((Axis(encoder.names[j], {encoder.names[j]: held}),), spread=j % 2 == 0))
            moved = np.repeat(matrix[None], len(known), axis=0)
            moved[:, :, j] = known[:, None]
            expected.append(np.stack([raw(drawn.forest, part) for part in moved], axis=-1))
        answers = trees.answer(questions, Block(table), Resources(threads=1))
        kept = trees.encoder.kept(table, Resources())
        assert isinstance(kept, CodedRows) == (few < 0 and library != "numpy")
        for answer, values in zip(answers, expected):
            close = {"rtol": 0, "atol": 1e-12 * drawn.size, "err_msg": f"{library}, seed {seed}"}
            np.testing.assert_allclose(answer.total.mean, values.mean(axis=0), **close)
            if answer.total.m2 is not None:
                np.testing.assert_allclose(
                    answer.total.m2, ((values - values.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-7, atol=1e-9
                )
