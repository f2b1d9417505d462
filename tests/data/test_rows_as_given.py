"""Rows reach a model as their caller has them: with their index, dtypes, attrs, subclass and metadata."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.inspection import partial_dependence as sklearn_partial_dependence
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from icefield import Explainer
from icefield.sklearn import partial_dependence

N = 24
A = np.random.default_rng(0).normal(size=N)
INDEXES = {
    "times": pd.date_range("2024-03-01", periods=N, freq="h"),
    "zoned times": pd.date_range("2024-03-09 20:00", periods=N, freq="h", tz="America/New_York"),
    "durations": pd.timedelta_range(0, periods=N, freq="h"),
    "periods": pd.period_range("2024-01", periods=N, freq="M"),
    "texts": pd.Index([f"row {i:03d}" for i in range(N)]),
    "categories": pd.CategoricalIndex(list("abcd") * (N // 4)),
    "integers": pd.Index(np.arange(N)[::-1] * 7),
    "floats": pd.Index(np.linspace(0.5, 9, N)),
    "intervals": pd.interval_range(0, N),
    "repeated": pd.Index([1, 2, 3] * (N // 3)),
    "several levels": pd.MultiIndex.from_product([list("xy"), range(N // 2)], names=["side", "at"]),
    "with gaps": pd.Index([None, *"abc"] * (N // 4)),
    "a range": pd.RangeIndex(100, 100 - N, -1),
    "arrow texts": pd.Index([f"r{i}" for i in range(N)], dtype=pd.ArrowDtype(pa.string())),
}


def _label_numbers(frame: pd.DataFrame) -> np.ndarray:
    """A number that follows from a row's label alone."""
    return np.array([sum(map(ord, str(label))) % 97 for label in frame.index], dtype=float)


def _by_label(frame: pd.DataFrame) -> np.ndarray:
    return frame["a"].to_numpy() * _label_numbers(frame)


def _with_label(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=_label_numbers(frame) * frame["a"])


def _frame(index: pd.Index) -> pd.DataFrame:
    return pd.DataFrame({"a": A, "b": A[::-1], "c": np.arange(N)}, index=index)


def _loop(predict, frame: pd.DataFrame, grid: list[float]) -> np.ndarray:
    return np.array([predict(frame.assign(a=value)) for value in grid])


@pytest.mark.parametrize("row_by_row", [False, True])
@pytest.mark.parametrize("index", INDEXES.values(), ids=list(INDEXES))
def test_a_function_sees_the_index(index: pd.Index, row_by_row: bool) -> None:
    frame, grid = _frame(index), [-1.0, 0.5, 2.0]
    explainer = Explainer(_by_label, frame, row_by_row=row_by_row)
    curves = explainer.ice("a", grid=grid).individual[0]
    np.testing.assert_array_equal(curves.T, _loop(_by_label, frame, grid))
    # The model is a line in a whose slope is the label's number, whatever rows are moved together.
    curve = explainer.ale("a")
    slopes = np.diff(curve.average[0]) / np.diff(curve.grid[0])
    assert slopes.min() >= _label_numbers(frame).min() - 1e-9
    assert slopes.max() <= _label_numbers(frame).max() + 1e-9
    assert slopes.max() > 1


@pytest.mark.parametrize(
    "final", [LinearRegression(), DecisionTreeRegressor(random_state=0)], ids=["line", "tree"]
)
@pytest.mark.parametrize("in_branch", [False, True])
def test_pipelines_that_look_at_the_index_answer_as_scikit_learn(final, in_branch: bool) -> None:
    frame, grid = _frame(INDEXES["times"]), np.array([-1.0, 0.5, 2.0])
    first = FunctionTransformer(_with_label)
    if in_branch:
        first = make_column_transformer((first, ["a"]), (StandardScaler(), ["b", "c"]))
    model = make_pipeline(first, final).fit(frame, _by_label(frame))
    expected = sklearn_partial_dependence(model, frame, ["a"], custom_values={"a": grid}, kind="both")
    ours = Explainer(model, frame).ice("a", grid=grid)
    dropped_in = partial_dependence(model, frame, ["a"], custom_values={"a": grid}, kind="both")
    np.testing.assert_array_equal(ours.individual[0], expected["individual"][0])
    np.testing.assert_array_equal(dropped_in["individual"], expected["individual"])


class Measured(pd.DataFrame):
    """A frame of a class of its own, as geopandas and others have."""

    @property
    def _constructor(self) -> type:
        return Measured


@pytest.mark.parametrize("row_by_row", [False, True])
def test_attrs_subclass_and_columns_reach_the_model(row_by_row: bool) -> None:
    frame = Measured(_frame(INDEXES["texts"]))
    frame.attrs["factor"] = 3.0
    frame.columns.name = "measured"
    seen = []

    def predict(rows: pd.DataFrame) -> np.ndarray:
        seen.append((type(rows), rows.columns.name, list(rows.columns), list(map(str, rows.dtypes))))
        return rows["a"].to_numpy() * rows.attrs["factor"]

    effect = Explainer(predict, frame, row_by_row=row_by_row).partial_dependence("a", grid=[1.0, 2.0])
    np.testing.assert_array_equal(effect.average[0], [3.0, 6.0])
    assert set(map(str, seen)) == {
        str((Measured, "measured", ["a", "b", "c"], ["float64", "float64", "int64"]))
    }


@pytest.mark.parametrize("row_by_row", [False, True])
def test_a_frame_that_refuses_repeated_labels_is_taken(row_by_row: bool) -> None:
    frame = _frame(INDEXES["texts"]).set_flags(allows_duplicate_labels=False)
    effect = Explainer(_by_label, frame, row_by_row=row_by_row).partial_dependence("a", grid=[1.0, 2.0])
    np.testing.assert_allclose(effect.average[0], _label_numbers(frame).mean() * np.array([1.0, 2.0]))


def test_what_an_arrow_schema_says_reaches_the_model() -> None:
    field = pa.field("a", pa.float64(), nullable=False, metadata={"factor": "3"})
    table = pa.table(
        [pa.array(A), pa.array(A)], schema=pa.schema([field, ("b", pa.float64())], metadata={"k": "2"})
    )

    def predict(rows: pa.Table) -> np.ndarray:
        factor = int(rows.schema.field("a").metadata[b"factor"]) * int(rows.schema.metadata[b"k"])
        return rows["a"].to_numpy() * factor

    explainer = Explainer(predict, table, row_by_row=True)
    np.testing.assert_array_equal(explainer.partial_dependence("a", grid=[1.0, 2.0]).average[0], [6.0, 12.0])
    assert explainer.ale("a").average.shape[0] == 1
