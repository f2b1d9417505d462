"""Rows moved each to its own point keep their dtypes, in every library."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from icefield.core.question import Axis
from icefield.data.frame import table_of
from icefield.engines.brute.moved_rows import rows_at

FRAME = pd.DataFrame({
    "n": np.array([1, 2, 3, 4]),
    "k": pd.Categorical(["a", "b", "a", "c"], categories=["a", "b", "c", "never"]),
    "x": [0.1, 0.2, 0.3, 0.4],
})  # fmt: skip
ROWS, AT = np.array([3, 0, 0]), np.array([1, 0, 1])


@pytest.mark.parametrize("make", [lambda f: f, pl.DataFrame, pa.Table.from_pandas])
def test_frames_keep_their_types(make):
    table = table_of(make(FRAME))
    axes = [Axis("n", {"n": np.array([10, 20])}), Axis("k", {"k": np.array(["b", "c"], dtype=object)})]
    moved = rows_at(table, ROWS, axes, [AT, 1 - AT])
    assert moved.column("n").values.tolist() == [20, 10, 20]
    assert moved.column("k").values.tolist() == ["b", "c", "b"]
    assert moved.column("x").values.tolist() == [0.4, 0.1, 0.1]
    assert moved.column("n").dtype.kind == "i"
    assert table.column("n").values.tolist() == [1, 2, 3, 4]
    if isinstance(moved.native, pd.DataFrame):
        assert moved.native["k"].cat.categories.tolist() == ["a", "b", "c", "never"]
        assert FRAME["n"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_matrices(make):
    matrix = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0]])
    moved = rows_at(
        table_of(make(matrix)), np.array([1, 0]), [Axis(1, {1: np.array([7.0, 0.0])})], [np.array([0, 1])]
    )
    np.testing.assert_array_equal(moved.to_numpy(), [[3.0, 7.0, 5.0], [0.0, 0.0, 2.0]])


def test_columns_of_a_donor():
    table = table_of(FRAME)
    donor = table.select(["x"]).take(np.array([3, 2, 1, 0]))
    moved = table.with_columns_of(["x"], donor)
    assert moved.column("x").values.tolist() == [0.4, 0.3, 0.2, 0.1]
    assert moved.names == table.names
