"""Effects, tables and comparisons as CSV: what `to_frame` holds, as a file or as text."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

import icefield
from icefield.errors import InputError

X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y, z", "x", None]})


def model(rows):
    return 2.0 * np.asarray(rows["a"], dtype=float)


@pytest.mark.parametrize("frame", [X, pl.from_pandas(X)], ids=["pandas", "polars"])
def test_what_is_written_is_the_table(frame, tmp_path):
    explainer = icefield.Explainer(model, frame)
    results = [
        explainer.partial_dependence("a"), explainer.partial_dependence("b"), explainer.summary(),
        icefield.compare({"one": explainer, "two": explainer}).partial_dependence("a"),
    ]  # fmt: skip
    for found in results:
        assert found.to_csv(tmp_path / "found.csv") is None
        read = pd.read_csv(tmp_path / "found.csv")
        table = found.to_frame()
        assert list(read.columns) == list(table.columns)
        assert len(read) == len(table)
        pd.testing.assert_frame_equal(read, pd.read_csv(io.StringIO(found.to_csv())))
    average = pd.read_csv(io.StringIO(results[0].to_csv()))["average"]
    np.testing.assert_array_equal(average, results[0].average[0])


def test_curves_of_single_rows():
    effect = icefield.Explainer(model, X).ice("a")
    read = pd.read_csv(io.StringIO(effect.to_csv(individual=True)))
    np.testing.assert_array_equal(read["prediction"], effect.individual.reshape(-1))


def test_where_no_file_can_be(tmp_path):
    effect = icefield.Explainer(model, X).partial_dependence("a")
    with pytest.raises(InputError, match="folder that does not exist"):
        effect.to_csv(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match="is a folder"):
        effect.to_csv(tmp_path)
