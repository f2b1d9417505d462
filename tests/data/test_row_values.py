"""Kept rows' values: read when asked for, complete, and independent of where they came from."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sparse

from icefield import Effect, Explainer
from icefield.data.columns import Column
from icefield.data.frame import table_of
from icefield.data.row_values import RowValues

FRAME = pd.DataFrame(
    {"a": [1.5, 2.5, np.nan], "t": ["x", None, "y"], "i": pd.array([1, None, 3], dtype="Int64")}
)


@pytest.mark.parametrize(
    "make", [lambda: FRAME, lambda: pl.from_pandas(FRAME), lambda: pa.Table.from_pandas(FRAME)]
)
def test_values_are_those_of_the_rows(make: Any) -> None:
    values = RowValues(table_of(make()), np.array([2, 0]))
    assert list(values) == ["a", "t", "i"]
    assert len(values) == 3
    assert values["t"].tolist() == ["y", "x"]
    assert values["i"].tolist() == [3, 1]
    np.testing.assert_array_equal(values["a"], [np.nan, 1.5])
    assert "nothing" not in values
    assert ["a"] not in values
    with pytest.raises(KeyError):
        values["nothing"]
    again = pickle.loads(pickle.dumps(values))
    assert again["t"].tolist() == ["y", "x"]
    assert dict(again).keys() == {"a", "t", "i"}


def test_an_effect_keeps_its_rows_when_the_frame_changes() -> None:
    frame = FRAME.fillna({"a": 0.0})
    effect = Explainer(lambda rows: rows["a"].to_numpy(), frame).ice("a", rows=[1, 2])
    frame.loc[:, "t"] = "changed"
    assert effect.row_values["t"].tolist()[1] == "y"
    array = np.arange(6.0).reshape(3, 2)
    effect = Explainer(lambda rows: rows[:, 0], array).ice(0, rows=[1])
    array[:] = -1.0
    assert effect.row_values[1].tolist() == [3.0]


@pytest.mark.slow
def test_ice_on_20000_columns_takes_only_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    read = []
    own = Column.__init__

    def counted(self: Column, name: Any, *rest: Any, **options: Any) -> None:
        read.append(name)
        own(self, name, *rest, **options)

    monkeypatch.setattr(Column, "__init__", counted)
    for wide in (
        np.zeros((40, 20_000)),
        pd.DataFrame(np.zeros((40, 20_000))),
        pl.DataFrame(np.zeros((40, 20_000)), schema=[f"c{i}" for i in range(20_000)]),
        sparse.csr_matrix((40, 20_000)),
    ):
        explainer = Explainer(lambda rows: np.zeros(rows.shape[0]), wide)
        read.clear()
        effect = explainer.ice(0, rows=5, grid=[0.0, 1.0])
        assert len(read) < 50
        last = explainer.table.names[-1]
        assert effect.row_values[last].tolist() == [0.0] * 5
    effect.save(tmp_path / "wide.icefield")
    assert len(Effect.load(tmp_path / "wide.icefield").row_values) == 20_000
