"""Random forests on frames of every kind, with every missing rule and category sets: the plain walker's numbers, rows kept as codes or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from forest_walk import raw
from icefield import Explainer
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine, encoded
from icefield.engines.trees.coding import CodedRows
from icefield.forest.encode import Encoder, LevelCodes, Numbers
from strategies import random_forest

ROWS = 130
LIBRARIES = (
    "numpy", "numpy column-major", "numpy strided", "numpy backwards", "pandas", "pandas nullable", "pandas arrow", "polars",
    "polars categorical", "pyarrow",
)  # fmt: skip
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
        if column.categories and not library.startswith("numpy"):
            levels = np.unique(own[~np.isnan(own)])
            names = [f"level {value!r}" for value in levels.tolist()]
            codes = np.where(np.isnan(own), -1, np.searchsorted(levels, own))
            columns[name] = pd.Categorical.from_codes(codes, names)
            rules.append(LevelCodes(tuple(zip(names, levels.tolist()))))
            points.append((np.array(names, object), levels))
            continue
        rules.append(Numbers())
        if library.startswith("numpy") or column.categories or kind == "float64":
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
    encoder = Encoder(tuple(range(5)) if library.startswith("numpy") else tuple(frame.columns), tuple(rules))
    return drawn, encoder, matrix, as_library(frame, library), points


def as_library(frame: pd.DataFrame, library: str):
    if library.startswith("numpy"):
        matrix = frame.to_numpy()
        if library == "numpy column-major":
            return np.asfortranarray(matrix)
        if library == "numpy strided":
            wide = np.full((2 * len(matrix), 3 * matrix.shape[1]), 7.0)
            wide[::2, 1::3] = matrix
            return wide[::2, 1::3]
        return (
            np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1] if library == "numpy backwards" else matrix
        )
    if library == "pandas arrow":
        import pyarrow as pa

        arrow = {name: pd.ArrowDtype(pa.array(frame[name], from_pandas=True).type) for name in frame}
        return frame.astype({name: dtype for name, dtype in arrow.items() if frame[name].dtype != "category"})
    if library.startswith("polars"):
        import polars as pl

        found = pl.from_pandas(frame, nan_to_null=True)
        levels = [name for name in frame if frame[name].dtype == "category"]
        kind = {
            name: pl.Categorical if "categorical" in library else pl.Enum(list(frame[name].cat.categories))
            for name in levels
        }
        return found.with_columns([pl.col(name).cast(pl.String).cast(kind[name]) for name in levels])
    if library == "pyarrow":
        import pyarrow as pa

        return pa.Table.from_pandas(frame, preserve_index=False)
    return frame


WALKED: dict[tuple[int, int, bytes, bytes], np.ndarray] = {}


def walked(seed: int, drawn, matrix, column: int, values):
    """Every row's raw prediction with a column set to each of some values, ``(rows, outputs, values)``.

    Frames of most libraries hold the same numbers, through which the walker goes once.
    """
    key = seed, column, matrix.tobytes(), values.tobytes()
    if key not in WALKED:
        moved = np.repeat(matrix[None], len(values), axis=0)
        moved[:, :, column] = values[:, None]
        WALKED[key] = np.stack([raw(drawn.forest, part) for part in moved], axis=-1)
    return WALKED[key]


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
            expected.append(walked(seed, drawn, matrix, j, known))
        answers = trees.answer(questions, Block(table), Resources(threads=1))
        kept = trees.encoder.kept(table, Resources())
        assert isinstance(kept, CodedRows) == (few < 0 and not library.startswith("numpy"))
        for answer, values in zip(answers, expected):
            close = {"rtol": 0, "atol": 1e-12 * drawn.size, "err_msg": f"{library}, seed {seed}"}
            np.testing.assert_allclose(answer.total.mean, values.mean(axis=0), **close)
            if answer.total.m2 is not None:
                np.testing.assert_allclose(
                    answer.total.m2, ((values - values.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-7, atol=1e-9
                )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("library", LIBRARIES)
def test_brute_force_on_every_frame_gives_them_too(library, seed):
    """Replaced rows reach a model as the frame holds its own."""
    drawn, encoder, matrix, frame, points = drawn_frame(seed, library)
    explained = Explainer(
        lambda rows: raw(drawn.forest, encoder(table_of(rows))), frame, engine="brute", row_by_row=True
    )
    for j, (held, known) in enumerate(points):
        if len(known) == 0:
            continue
        found = explained.partial_dependence(encoder.names[j], grid=held)
        expected = walked(seed, drawn, matrix, j, known).mean(axis=0)
        np.testing.assert_allclose(
            found.average,
            expected,
            rtol=0,
            atol=1e-12 * drawn.size,
            err_msg=f"{library}, seed {seed}, column {j}",
        )
