"""Plain callables: the rows they get, the shapes they may answer in, the one scale they have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from icefield.data.frame import table_of
from icefield.errors import ModelError
from icefield.models.across_rows import NOT_KNOWN
from icefield.models.model import read_model

N = 80
FRAME = pd.DataFrame(np.random.default_rng(7).normal(size=(N, 3)), columns=["a", "b", "c"])
LIBRARIES = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME, preserve_index=False),
}


@pytest.mark.parametrize("library", list(LIBRARIES))
def test_a_function_receives_the_callers_library(library):
    seen = []

    def function(rows):
        seen.append(type(rows))
        return np.asarray(rows["a"]) * 2

    table = table_of(LIBRARIES[library])
    model = read_model(function, table)
    np.testing.assert_array_equal(model.predict(table)[:, 0], FRAME["a"] * 2)
    assert set(seen) == {type(LIBRARIES[library])}
    assert model.notes == (NOT_KNOWN,)
    assert model.across_rows
    assert (model.kind, model.scale_label, model.outputs) == ("function", "prediction", ("prediction",))


def test_a_function_of_arrays_gets_arrays_and_the_note_says_why():
    table = table_of(FRAME)
    model = read_model(lambda rows: rows[:, 1] + 1, table)
    np.testing.assert_array_equal(model.predict(table)[:, 0], FRAME["b"] + 1)
    assert "converted from pandas to numpy" in model.notes[0]
    assert "refuses pandas" in model.notes[0]


@pytest.mark.parametrize(
    ("answer", "outputs"),
    [
        (lambda rows: np.zeros(len(rows)), ("prediction",)),
        (lambda rows: np.zeros((len(rows), 1)), ("prediction",)),
        (lambda rows: np.zeros((len(rows), 3)), (0, 1, 2)),
        (lambda rows: pd.DataFrame({"low": rows["a"], "high": rows["b"]}), ("low", "high")),
        (lambda rows: pl.DataFrame({"low": list(rows["a"]), "high": list(rows["b"])}), ("low", "high")),
        (lambda rows: rows["a"], ("prediction",)),
        (lambda rows: list(rows["a"]), ("prediction",)),
        (lambda rows: rows["a"] > 0, ("prediction",)),
        (lambda rows: sparse.csr_matrix(rows.to_numpy()[:, :2]), (0, 1)),
    ],
)
def test_functions_may_answer_in_any_shape_of_numbers(answer, outputs):
    table = table_of(FRAME)
    model = read_model(answer, table)
    assert model.outputs == outputs
    assert model.predict(table).shape == (N, len(outputs))
    assert model.predict(table).dtype == np.float64


def test_a_function_has_no_raw_scale():
    with pytest.raises(ModelError, match=r"a function has only the scale of what it returns"):
        read_model(lambda rows: rows["a"], table_of(FRAME), scale="raw")
