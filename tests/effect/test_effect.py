"""Effect: centring, slopes and tables, checked against plain arithmetic."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield import Effect, Explainer
from icefield.data.frame import table_of
from icefield.errors import InputError, InputTypeError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
FRAME = pd.DataFrame({
    "n": RNG.normal(size=30),
    "s": RNG.choice(["a", "b", "c"], 30),
    "t": pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(30), unit="D"),
    "g": RNG.choice(["u", "v"], 30),
})  # fmt: skip


def wavy(rows: np.ndarray) -> np.ndarray:
    return np.sin(rows[:, 0]) * rows[:, 1] + rows[:, 2] ** 2


def framed(rows: pd.DataFrame) -> np.ndarray:
    days = (rows["t"] - pd.Timestamp("2020-01-01")) / pd.Timedelta("1D")
    return rows["n"].fillna(7.0).to_numpy() * (1 + (rows["s"] == "b")) + 0.5 * days.to_numpy()


def two_outputs(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([wavy(rows), 2 * rows[:, 0]])


# --- centring ----------------------------------------------------------------------------------------


def test_center_at_the_first_value():
    effect = Explainer(wavy, X).ice(0, grid=[0.5, -1.0, 2.0])
    centred = effect.center()
    assert np.array_equal(centred.average, effect.average - effect.average[:, :1])
    assert np.array_equal(centred.individual, effect.individual - effect.individual[:, :, :1])
    assert centred.view == "centered"
    assert centred.reference == 0.5
    assert effect.view == "level"


def test_center_at_any_value_interpolates():
    effect = Explainer(wavy, X).ice(0, grid=[2.0, 0.0, 1.0])
    curves = effect.individual
    assert np.allclose(
        effect.center(0.25).individual,
        curves - (0.75 * curves[..., 1:2] + 0.25 * curves[..., 2:3]),
        rtol=0,
        atol=1e-14,
    )
    assert np.array_equal(effect.center(1.0).individual, curves - curves[..., 2:3])
    assert np.array_equal(effect.center(1).average, effect.average - effect.average[:, 2:3])


def test_center_at_the_mean():
    effect = Explainer(two_outputs, X).partial_dependence(0, 1, grid=[[0.0, 1.0, 3.0], [1.0, 2.0]])
    centred = effect.center("mean")
    assert np.allclose(
        centred.average, effect.average - effect.average.mean(axis=(1, 2), keepdims=True), rtol=0, atol=1e-14
    )
    assert centred.reference == "mean"


def test_center_of_surfaces():
    effect = Explainer(two_outputs, X).ice(0, 1, grid=[[0.0, 1.0, 3.0], [1.0, 2.0]])
    at = effect.center((2.0, 2.0))
    base = (effect.individual[:, :, 1, 1] + effect.individual[:, :, 2, 1]) / 2
    assert np.allclose(at.individual, effect.individual - base[:, :, None, None], rtol=0, atol=1e-13)
    assert np.array_equal(effect.center().average, effect.average - effect.average[:, :1, :1])
    for bad in (1.0, (1.0,), (1.0, 2.0, 3.0)):
        with pytest.raises(InputError, match="one value for each"):
            effect.center(bad)


def test_center_at_levels_and_dates():
    explainer = Explainer(framed, FRAME)
    levels = explainer.partial_dependence("s")
    assert levels.center("b").average[0, 1] == 0.0
    assert levels.center().reference == "a"
    dates = explainer.partial_dependence("t", grid=["2020-01-01", "2020-01-11"])
    for at in (
        "2020-01-06",
        dt.date(2020, 1, 6),
        dt.datetime(2020, 1, 6),
        pd.Timestamp("2020-01-06"),
        np.datetime64("2020-01-06"),
    ):
        assert np.allclose(dates.center(at).average, [[-2.5, 2.5]], rtol=0, atol=1e-12)
    assert dates.center(dt.date(2020, 1, 11)).average[0, 1] == 0.0


def test_a_level_called_first_or_mean_is_a_level():
    effect = Explainer(
        lambda rows: rows["s"].map({"mean": 1.0, "first": 5.0, "x": 9.0}).to_numpy(),
        pd.DataFrame({"s": ["mean", "first", "x"]}),
    )
    found = effect.partial_dependence("s")
    assert found.center("mean").average.tolist() == [[4.0, 0.0, 8.0]]
    assert found.center("first").average.tolist() == [[0.0, -4.0, 4.0]]


def test_centring_leaves_the_missing_point_out():
    data = FRAME.assign(n=[*FRAME["n"][:-1], np.nan])
    effect = Explainer(framed, data).partial_dependence("n", grid=[None, 1.0, 3.0])
    assert np.isnan(effect.grid[0][-1])
    assert effect.center().average[0, 0] == 0.0
    mean = effect.average[:, :2].mean()
    assert np.allclose(effect.center("mean").average, effect.average - mean, rtol=0, atol=1e-12)
    assert effect.center(None).average[0, -1] == 0.0
    with pytest.raises(InputError, match="no missing point"):
        Explainer(framed, FRAME).partial_dependence("n", grid=[1.0, 3.0]).center(np.nan)


def test_a_nan_on_the_curve_stays_where_it_is():
    effect = replace(
        Explainer(wavy, X).partial_dependence(0, grid=[0.0, 1.0, 2.0]), average=np.array([[1.0, np.nan, 4.0]])
    )
    assert np.array_equal(effect.center().average, [[0.0, np.nan, 3.0]], equal_nan=True)


@pytest.mark.parametrize(
    ("at", "error", "words"),
    [(99.0, InputError, "outside the grid"), ("b", InputTypeError, "feature's kind"), ([1, 2], InputTypeError, "feature's kind"),
     (np.array([1.0, 2.0]), InputTypeError, "feature's kind"), (dt.date(2020, 1, 1), InputTypeError, "feature's kind")],
    ids=str,
)  # fmt: skip
def test_values_that_cannot_be_the_base(at, error, words):
    with pytest.raises(error, match=words):
        Explainer(wavy, X).partial_dependence(0, grid=[0.0, 1.0]).center(at)


def test_levels_that_cannot_be_the_base():
    explainer = Explainer(framed, FRAME)
    for bad in ("z", 1.0, ["a"], np.array(["a"])):
        with pytest.raises(InputError, match="grid's values"):
            explainer.partial_dependence("s").center(bad)
    for bad in (5, "soon", 1.5):
        with pytest.raises(InputTypeError, match="feature's kind"):
            explainer.partial_dependence("t", grid=["2020-01-01", "2020-01-11"]).center(bad)


# --- spread of changed curves ------------------------------------------------------------------------


def brute_spread(curves: np.ndarray, weights: np.ndarray | None):
    weights = np.ones(curves.shape[1]) if weights is None else weights
    mean = np.einsum("org,r->og", curves, weights) / weights.sum()
    std = np.sqrt(np.einsum("org,r->og", (curves - mean[:, None]) ** 2, weights) / weights.sum())
    # Each row is one observation, however much it counts.
    rows = weights.sum() ** 2 / (weights**2).sum()
    variance = np.einsum("org,r->og", (curves - mean[:, None]) ** 2, weights**2) / weights.sum() ** 2
    return std, np.sqrt(variance * rows / (rows - 1))


@pytest.mark.parametrize("how", ["ice", "individual"])
def test_spread_is_recomputed_when_every_curve_was_kept(how):
    explainer = Explainer(two_outputs, X)
    grid = [0.0, 0.5, 2.0]
    if how == "ice":
        effect = explainer.ice(0, grid=grid, quantiles=[0.25, 0.9])
    else:
        effect = explainer.partial_dependence(0, grid=grid, individual=True, quantiles=[0.25, 0.9])
    for changed in (effect.center(), effect.center("mean"), effect.derivative(), effect.center().center(2.0)):
        std, se = brute_spread(changed.individual, None)
        assert np.allclose(changed.std, std, rtol=1e-12, atol=1e-14)
        assert np.allclose(changed.se, se, rtol=1e-12, atol=1e-14)
        ranked = np.sort(changed.individual, axis=1)
        assert np.array_equal(changed.quantiles[0.25], ranked[:, 9])
        assert np.array_equal(changed.quantiles[0.9], ranked[:, 35])
    assert np.array_equal(effect.center().center().std, effect.center().std)


def test_spread_is_dropped_when_curves_are_missing():
    explainer = Explainer(wavy, X)
    for effect in (explainer.ice(0, rows=10), explainer.partial_dependence(0, quantiles=[0.5])):
        centred = effect.center()
        assert centred.std is None
        assert centred.se is None
        assert centred.quantiles is None
    # As many curves as rows, but not those of the rows.
    repeated = explainer.ice(0, rows=np.zeros(40, dtype=int))
    assert repeated.individual.shape[1] == repeated.n_rows
    assert repeated.center().std is None


def test_weights_are_never_forgotten():
    weights = RNG.uniform(0.1, 2.0, 40)
    weights *= 40 / weights.sum()  # adds up to the number of rows, as if there were no weights
    effect = Explainer(wavy, X, weights=weights).ice(0, grid=[0.0, 0.5, 2.0])
    std, se = brute_spread(effect.center().individual, weights)
    dressed = replace(effect, row_weights=weights).center()
    assert np.allclose(dressed.std, std, rtol=1e-12, atol=1e-14)
    assert np.allclose(dressed.se, se, rtol=1e-12, atol=1e-14)
    undressed = replace(effect, row_weights=None).center()
    assert undressed.std is None


def test_groups_are_centred_on_their_own_curves():
    effect = Explainer(framed, FRAME, by="g").ice("n", grid=[0.0, 1.0, 2.0])
    centred = effect.center(1.0)
    for label in ("u", "v"):
        group = effect.groups[label]
        assert np.array_equal(centred.groups[label].average, group.average - group.average[:, 1:2])
        assert centred.groups[label].std is None
        assert np.array_equal(centred.groups[label].weight, group.weight)
    slope = effect.derivative()
    assert np.array_equal(slope.groups["u"].weight + slope.groups["v"].weight, slope.weight)


# --- slopes ------------------------------------------------------------------------------------------


def test_slopes_are_central_differences_on_any_grid():
    grid = np.array([2.0, 0.0, 0.5, 0.0, 3.0])
    effect = Explainer(wavy, X).ice(0, grid=grid)
    slope = effect.derivative()
    assert slope.grid[0].tolist() == [0.0, 0.5, 2.0, 3.0]
    curves = effect.individual[..., [1, 2, 0, 4]]
    assert np.allclose(slope.individual, np.gradient(curves, slope.grid[0], axis=-1), rtol=0, atol=1e-13)
    assert np.allclose(slope.average, slope.individual.mean(axis=1), rtol=0, atol=1e-13)
    assert slope.view == "derivative"
    assert slope.weight.shape == (4,)


def test_slopes_of_lines_are_exact():
    line = Explainer(lambda rows: 3 * rows[:, 0] - 2 * rows[:, 1], X)
    assert np.allclose(line.partial_dependence(0).derivative().average, 3.0, rtol=0, atol=1e-9)
    surface = line.partial_dependence(0, 1, grid=5)
    assert np.allclose(surface.derivative(along=1).average, -2.0, rtol=0, atol=1e-9)


def test_slopes_of_times_are_per_day():
    explainer = Explainer(framed, FRAME)
    for data in (FRAME, FRAME.assign(t=FRAME["t"].astype("datetime64[s]"))):
        slope = Explainer(framed, data).partial_dependence("t").derivative()
        assert np.allclose(slope.average, 0.5, rtol=0, atol=1e-9)
    centuries = explainer.partial_dependence("t", grid=["1700-01-01", "2200-01-01"])
    assert np.allclose(centuries.derivative().average, 0.5, rtol=0, atol=1e-9)


def test_slopes_leave_the_missing_point_out():
    integers = pd.DataFrame({"n": pd.array([1, 2, None, 4], dtype="Int64")})
    effect = Explainer(
        lambda rows: rows["n"].astype(float).fillna(99.0).to_numpy() * 2, integers
    ).partial_dependence("n")
    assert effect.grid[0].tolist() == [1, 2, 4, None]
    slope = effect.derivative()
    assert slope.grid[0].tolist() == [1, 2, 4]
    assert np.allclose(slope.average, 2.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Explainer(framed, FRAME).partial_dependence("s").derivative(), InputTypeError, "no slope"),
        (lambda: Explainer(wavy, X).partial_dependence(0, 1).derivative(), InputError, "along"),
        (lambda: Explainer(wavy, X).partial_dependence(0).derivative(along=7), InputError, "along"),
        (
            lambda: Explainer(wavy, X).partial_dependence(0, grid=[1.0, 1.0]).derivative(),
            InputError,
            "fewer than two",
        ),
        (
            lambda: Explainer(wavy, X).partial_dependence(0).derivative().center(),
            InputError,
            "cannot be centred",
        ),
        (
            lambda: Explainer(wavy, X).partial_dependence(0).to_frame(individual=True),
            InputError,
            "Explainer.ice",
        ),
    ],
)
def test_what_has_no_slope(make, error, words):
    with pytest.raises(error, match=words):
        make()


# --- tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_are_in_the_callers_library_and_in_order(library):
    data = pd.DataFrame(X, columns=["a", "b", "c"])
    data = {
        "pandas": lambda: data,
        "polars": lambda: pl.from_pandas(data),
        "pyarrow": lambda: pa.Table.from_pandas(data),
    }[library]()
    effect = Explainer(lambda rows: two_outputs(table_of(rows).to_numpy()), data).ice(
        "a", "b", grid=[[0.0, 1.0, 2.0], [5.0, 6.0]], rows=4
    )
    table = table_of(effect.to_frame())
    assert table.library == library
    cells = list(itertools.product(range(2), range(3), range(2)))
    assert table.n_rows == len(cells)
    assert table.column("output").values.tolist() == [effect.outputs[o] for o, _, _ in cells]
    assert table.column("a").values.tolist() == [effect.grid[0][i] for _, i, _ in cells]
    assert table.column("b").values.tolist() == [effect.grid[1][j] for _, _, j in cells]
    assert table.column("average").values.tolist() == [effect.average[c] for c in cells]
    assert table.column("std").values.tolist() == [effect.std[c] for c in cells]
    assert table.column("weight").values.tolist() == [effect.weight[i, j] for _, i, j in cells]
    curves = table_of(effect.to_frame(individual=True))
    cells = list(itertools.product(range(2), range(4), range(3), range(2)))
    assert curves.column("row").values.tolist() == [effect.rows[r] for _, r, _, _ in cells]
    assert curves.column("prediction").values.tolist() == [effect.individual[c] for c in cells]
    assert curves.column("b").values.tolist() == [effect.grid[1][j] for _, _, _, j in cells]


def test_names_that_clash_with_the_tables_own():
    data = pd.DataFrame(X, columns=["average", "output", "q0.5"])
    effect = Explainer(lambda rows: rows.to_numpy().sum(axis=1), data).partial_dependence(
        "average", "q0.5", grid=3, quantiles=[0.5]
    )
    frame = effect.to_frame()
    assert list(frame.columns) == ["output", "average_", "q0.5_", "average", "q0.5", "weight"]
    assert frame["average_"].tolist() == np.repeat(effect.grid[0], 3).tolist()
    assert frame["q0.5"].tolist() == effect.quantiles[0.5].ravel().tolist()


def test_groups_follow_the_whole():
    effect = Explainer(framed, FRAME, by=[None if i == 0 else "u" for i in range(30)]).ice(
        "n", grid=[0.0, 1.0]
    )
    frame = effect.to_frame()
    assert frame["group"].isna().tolist() == [True] * 2 + [False] * 4
    assert frame["group"].tolist()[2:] == ["u", "u", "missing", "missing"]
    assert frame["average"].tolist()[2:4] == effect.groups["u"].average[0].tolist()
    centred = effect.center().to_frame()
    assert centred["std"].isna().tolist() == [False] * 2 + [True] * 4


def test_values_keep_their_kind_in_tables():
    data = FRAME.assign(
        i=pd.array([*range(29), None], dtype="Int64"), d=[dt.date(2020, 1, 1 + i) for i in range(30)]
    )
    explainer = Explainer(lambda rows: np.ones(len(rows)), data)
    assert str(explainer.partial_dependence("i").to_frame()["i"].dtype) == "Int64"
    assert explainer.partial_dependence("t").to_frame()["t"].dtype.kind == "M"
    assert explainer.partial_dependence("d").to_frame()["d"].dtype.kind == "M"
    assert explainer.partial_dependence("s").to_frame()["s"].tolist() == ["a", "b", "c"]


def test_output_names_of_one_type_keep_it():
    base = Explainer(two_outputs, X).partial_dependence(0, grid=2)
    assert replace(base, outputs=(0, 1)).to_frame()["output"].tolist() == [0, 0, 1, 1]
    assert replace(base, outputs=("x", "y")).to_frame()["output"].tolist() == ["x", "x", "y", "y"]
    assert replace(base, outputs=(0, "y")).to_frame()["output"].tolist() == ["0", "0", "y", "y"]
    assert replace(base, outputs=(None, ("a", 1))).to_frame()["output"].tolist() == [
        "None",
        "None",
        "('a', 1)",
        "('a', 1)",
    ]


# --- the whole ---------------------------------------------------------------------------------------


def test_effects_are_frozen_and_survive_pickling():
    effect = Explainer(framed, FRAME, by="g").ice("t", quantiles=[0.5])
    with pytest.raises(AttributeError):
        effect.kind = "pd"
    again = pickle.loads(pickle.dumps(effect))
    assert isinstance(again, Effect)
    assert np.array_equal(again.average, effect.average)
    assert again.grid[0].dtype == effect.grid[0].dtype
    assert list(again.groups) == ["u", "v"]


def test_what_a_grid_holds_is_told():
    effect = Explainer(framed, FRAME.assign(n=[*FRAME["n"][:-1], np.nan])).partial_dependence(
        "n", "s", grid=[3, None]
    )
    assert effect.missing_last == (True, False)
    assert effect.ordered == (True, False)
    assert effect.n_features == 2
