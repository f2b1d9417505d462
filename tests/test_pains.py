"""What users of other tools kept asking for, one test each, through the Explainer.

The numbers are those of the list of recurring pains; the ones about pictures, tree speed, ALE, H and
distributed data have their tests beside the code that answers them.
"""

from __future__ import annotations

import threading
import time
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from icefield import Explainer, Grid

RNG = np.random.default_rng(28)
N = 120
FRAME = pd.DataFrame({
    "rooms": RNG.integers(1, 9, N),
    "area": RNG.normal(100, 25, N),
    "town": RNG.choice(["ely", "bath", "york"], N),
    "sold": pd.to_datetime("2015-01-01") + pd.to_timedelta(RNG.integers(0, 2000, N), unit="D"),
})  # fmt: skip
PRICE = 3.0 * FRAME["rooms"] + 0.1 * FRAME["area"] + (FRAME["town"] == "bath") * 5.0
NUMBERS = FRAME[["rooms", "area"]].to_numpy(dtype=float)


def loop(predict, frame: pd.DataFrame, name: str, values) -> np.ndarray:
    """Partial dependence as in the textbook: replace, predict, average."""
    means = []
    for value in values:
        moved = frame.copy()
        moved[name] = pd.Series([value] * len(frame), index=frame.index).astype(frame[name].dtype)
        means.append(predict(moved).mean(axis=0))
    return np.array(means).T.reshape(-1, len(means))


class Counting:
    """A model that notes how it is called."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.threads: set[int] = set()

    def __call__(self, rows) -> np.ndarray:
        self.rows.append(len(rows))
        self.threads.add(threading.get_ident())
        return np.asarray(rows)[:, 0] * 2.0


def encoded(model):
    """A pipeline over the frame, as users write it."""
    columns = ColumnTransformer([
        ("town", OneHotEncoder(handle_unknown="error"), ["town"]),
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["rooms", "area"]),
    ])  # fmt: skip
    return make_pipeline(columns, model)


# --- kinds of columns --------------------------------------------------------------------------------


def test_pain_01_integer_columns_rejected_or_rounded():
    model = GradientBoostingRegressor(n_estimators=5).fit(FRAME[["rooms", "area"]], PRICE)
    explainer = Explainer(model, FRAME[["rooms", "area"]])
    effect = explainer.partial_dependence("rooms")
    assert effect.grid[0].dtype.kind == "i"
    assert effect.grid[0].tolist() == sorted(set(FRAME["rooms"]))
    assert np.allclose(
        effect.average,
        loop(model.predict, FRAME[["rooms", "area"]], "rooms", effect.grid[0]),
        rtol=0,
        atol=1e-10,
    )
    between = Explainer(lambda rows: rows["rooms"] * 2.0, FRAME).partial_dependence("rooms", grid=[1.5, 2.25])
    assert between.average.tolist() == [[3.0, 4.5]]


def test_pain_02_numeric_nan_gives_a_blank_plot_or_nan_grid():
    frame = FRAME[["rooms", "area"]].assign(area=FRAME["area"].where(FRAME["rooms"] > 2))
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(frame, PRICE)
    effect = Explainer(model, frame).partial_dependence("area")
    assert np.isfinite(effect.average).all()
    assert np.isfinite(effect.grid[0][:-1]).all()
    assert np.isnan(effect.grid[0][-1])
    assert np.allclose(
        effect.average[:, [0, -1]],
        loop(model.predict, frame, "area", effect.grid[0][[0, -1]]),
        rtol=0,
        atol=1e-10,
    )
    hidden = Explainer(model, frame).partial_dependence("area", grid=Grid("auto", missing="hide"))
    assert np.array_equal(hidden.grid[0], effect.grid[0][:-1])


@pytest.mark.parametrize("blank", [None, np.nan])
def test_pain_03_string_categories_with_missing_values_crash(blank):
    town = FRAME["town"].astype(object).where(RNG.random(N) > 0.2, blank)
    frame = FRAME[["rooms", "area"]].assign(town=town)
    model = encoded(LinearRegression()).fit(frame, PRICE)
    effect = Explainer(model, frame).partial_dependence("town")
    assert effect.grid[0].tolist() == ["bath", "ely", "york", None]
    for value, average in zip(["bath", "ely", "york", blank], effect.average[0]):
        moved = frame.assign(town=pd.Series([value] * N, dtype=object))
        assert np.isclose(average, model.predict(moved).mean(), rtol=0, atol=1e-9)


def test_pain_13_categorical_ice():
    model = encoded(KNeighborsRegressor(3)).fit(FRAME, PRICE)
    effect = Explainer(model, FRAME).ice("town", rows=[5, 0])
    assert effect.individual.shape == (1, 2, 3)
    for i, row in enumerate([5, 0]):
        for k, town in enumerate(["bath", "ely", "york"]):
            one = FRAME.iloc[[row]].assign(town=town)
            assert np.isclose(effect.individual[0, i, k], model.predict(one)[0], rtol=0, atol=1e-12)


def test_pain_19_categorical_dtype_lost_on_replacement():
    seen: set = set()

    def strict(rows: pd.DataFrame) -> np.ndarray:
        seen.add((str(rows["town"].dtype), tuple(rows["town"].cat.categories)))
        return rows["town"].cat.codes.to_numpy() * 1.0

    levels = pd.CategoricalDtype(["york", "ely", "bath", "leeds"])
    effect = Explainer(strict, FRAME.astype({"town": levels})).partial_dependence("town")
    assert seen == {("category", ("york", "ely", "bath", "leeds"))}
    assert effect.grid[0].tolist() == ["york", "ely", "bath"]
    assert effect.average.tolist() == [[0.0, 1.0, 2.0]]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_pain_19_boosters_accept_the_replaced_categories(library):
    module = pytest.importorskip(library)
    frame = FRAME.drop(columns="sold").astype({"town": "category"})
    if library == "lightgbm":
        model = module.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(frame, PRICE)
    else:
        model = module.XGBRegressor(n_estimators=5, enable_categorical=True, n_jobs=1).fit(frame, PRICE)
    effect = Explainer(model, frame).partial_dependence("town")
    assert np.allclose(
        effect.average, loop(model.predict, frame, "town", effect.grid[0]), rtol=1e-5, atol=1e-5
    )


def test_pain_20_one_hot_groups():
    hot = pd.get_dummies(FRAME[["rooms", "town"]], dtype=float)
    names = ["town_bath", "town_ely", "town_york"]
    model = LinearRegression().fit(hot, PRICE)
    effect = Explainer(model, hot).partial_dependence({"town": names})
    assert effect.features == ("town",)
    assert effect.grid[0].tolist() == ["bath", "ely", "york"]
    for name, average in zip(names, effect.average[0]):
        moved = hot.assign(**{n: float(n == name) for n in names})
        assert np.isclose(average, model.predict(moved).mean(), rtol=0, atol=1e-10)
    surface = Explainer(model, hot).partial_dependence("rooms", {"town": names})
    assert surface.average.shape == (1, 8, 3)


def test_pain_24_datetime():
    def by_year(rows: pd.DataFrame) -> np.ndarray:
        return rows["sold"].dt.year.to_numpy() + rows["rooms"].to_numpy() * 0.01

    explainer = Explainer(by_year, FRAME)
    effect = explainer.partial_dependence("sold")
    assert effect.grid[0].dtype == FRAME["sold"].to_numpy().dtype
    assert np.allclose(effect.average, loop(by_year, FRAME, "sold", effect.grid[0]), rtol=0, atol=1e-9)
    given = explainer.partial_dependence("sold", grid=["2016-05-01", pd.Timestamp("2018-01-01")])
    assert np.diff(given.average[0]).round(9).tolist() == [2.0]
    dates = Explainer(
        lambda rows: rows["day"].dt.year().to_numpy() * 1.0, pl.DataFrame({"day": FRAME["sold"].dt.date})
    )
    assert dates.partial_dependence("day").grid[0].dtype == np.dtype("datetime64[D]")


# --- work and memory ---------------------------------------------------------------------------------


def test_pain_04_one_predict_per_grid_point_is_slow():
    model = Counting()
    Explainer(model, NUMBERS, row_by_row=True).partial_dependence(1, grid=np.linspace(50, 150, 100).tolist())
    # Trials of a few rows aside, all 100 grid points go into a handful of calls.
    assert sum(n > 5 for n in model.rows) <= 10
    assert max(model.rows) > 10 * N


def test_pain_05_memory_blows_up():
    rows, points = 40_000, 100
    data = RNG.normal(size=(rows, 3))
    explainer = Explainer(lambda x: x[:, 0] + x[:, 1], data, memory=2**22)
    explainer.partial_dependence(0, grid=2)
    tracemalloc.start()
    effect = explainer.partial_dependence(0, grid=points)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert effect.average.shape == (1, points)
    # Every prediction at once would be 8 * rows * points bytes, replaced rows three times that.
    assert peak < 8 * rows * points / 2


def test_pain_06_more_workers_do_nothing_for_a_single_feature():
    class Slow(Counting):
        def __call__(self, rows) -> np.ndarray:
            time.sleep(0.002)
            return super().__call__(rows)

    model = Slow()
    effect = Explainer(model, RNG.normal(size=(500, 2)), threads=2, memory=200_000).partial_dependence(0)
    assert len(model.threads - {threading.get_ident()}) == 2
    assert np.allclose(effect.average, 2 * effect.grid[0], rtol=1e-12, atol=0)


def test_pain_27_pipelines_rerun_all_preprocessing_for_each_grid_point():
    model = encoded(LinearRegression()).fit(FRAME, PRICE)
    encoder = model[0].named_transformers_["town"]
    done: list[int] = []
    original = type(encoder).transform

    class Noted(OneHotEncoder):
        def transform(self, X):
            done.append(len(X))
            return original(self, X)

    encoder.__class__ = Noted
    noted = Explainer(model, FRAME).partial_dependence("area")
    encoder.__class__ = OneHotEncoder
    done_by_unknown = sum(done)
    assert noted.average.shape == (1, noted.grid[0].size)
    # A transformer of the user's own is transformed whole; a known one only where it is driven.
    counted: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OneHotEncoder, "transform", lambda self, X: counted.append(len(X)) or original(self, X))
        effect = Explainer(model, FRAME).partial_dependence("area")
    assert sum(counted) < 10 * N <= 50 * N <= done_by_unknown
    assert np.allclose(effect.average, loop(model.predict, FRAME, "area", effect.grid[0]), rtol=0, atol=1e-9)
    assert np.allclose(effect.average, noted.average, rtol=0, atol=1e-9)


# --- the same number, whatever the engine ------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor]
)
def test_pain_07_recursion_differs_from_brute_silently(kind):
    options = {"max_iter": 5} if kind is HistGradientBoostingRegressor else {"n_estimators": 5}
    # Correlated features: averages over training weights would differ from those over the rows.
    data = np.column_stack([NUMBERS[:, 0], NUMBERS[:, 0] * 10 + NUMBERS[:, 1]])
    model = kind(random_state=0, **options).fit(data, data[:, 0] * data[:, 1])
    auto, brute = (Explainer(model, data, engine=e).partial_dependence(0) for e in ("auto", "brute"))
    assert np.allclose(auto.average, brute.average, rtol=1e-9, atol=1e-9)
    assert np.allclose(auto.std, brute.std, rtol=1e-9, atol=1e-9)
    assert auto.engine == "trees"
    assert "trees" in auto.why
    assert brute.engine == "brute"
    assert "engine='brute'" in brute.why
    fallback = Explainer(KNeighborsRegressor().fit(data, data[:, 0]), data).partial_dependence(0)
    assert fallback.engine == "brute"
    assert "because" in fallback.why


# --- what is computed --------------------------------------------------------------------------------


def test_pain_09_weights():
    counts = RNG.integers(0, 4, N)
    model = encoded(KNeighborsRegressor(4)).fit(FRAME, PRICE)
    weighted = Explainer(model, FRAME, weights=counts).partial_dependence(
        "area", grid=[80.0, 120.0], quantiles=[0.2, 0.5]
    )
    repeated = FRAME.loc[FRAME.index.repeat(counts)].reset_index(drop=True)
    doubled = Explainer(model, repeated).partial_dependence("area", grid=[80.0, 120.0], quantiles=[0.2, 0.5])
    assert np.allclose(weighted.average, doubled.average, rtol=1e-12, atol=0)
    assert np.allclose(weighted.std, doubled.std, rtol=1e-12, atol=0)
    for q in (0.2, 0.5):
        assert np.array_equal(weighted.quantiles[q], doubled.quantiles[q])
    assert np.array_equal(weighted.weight, doubled.weight)
    named = Explainer(lambda rows: rows["area"], FRAME.assign(w=counts), weights="w").partial_dependence(
        "rooms"
    )
    assert np.allclose(named.average, np.average(FRAME["area"], weights=counts), rtol=1e-12, atol=0)


def test_pain_12_ice_carries_the_columns_to_colour_by():
    effect = Explainer(lambda rows: rows["area"], FRAME).ice("rooms", rows=[3, 1])
    assert effect.row_values["town"].tolist() == FRAME["town"].iloc[[3, 1]].tolist()
    assert set(effect.row_values) == set(FRAME)


def test_pain_14_effects_know_where_the_data_is():
    effect = Explainer(lambda rows: rows["area"], FRAME).partial_dependence("rooms")
    assert effect.weight.tolist() == np.unique(FRAME["rooms"], return_counts=True)[1].tolist()
    (marginal,) = effect.distribution.marginals
    assert marginal.counts.sum() == N
    assert len(marginal.rug) == N


def test_pain_16_bands():
    effect = Explainer(lambda rows: rows[:, 0] * rows[:, 1], NUMBERS).ice(
        0, grid=[1.0, 2.0], quantiles=[0.1, 0.9]
    )
    curves = effect.individual[0]
    assert np.allclose(effect.std[0], curves.std(axis=0), rtol=1e-12, atol=0)
    assert np.allclose(effect.se[0], curves.std(axis=0, ddof=1) / np.sqrt(N), rtol=1e-12, atol=0)
    for q in (0.1, 0.9):
        assert np.array_equal(effect.quantiles[q][0], np.quantile(curves, q, axis=0, method="inverted_cdf"))


def test_pain_17_own_grid():
    def model(rows: pd.DataFrame) -> np.ndarray:
        return rows["area"].to_numpy() + (rows["town"] == "ely")

    explainer = Explainer(model, FRAME)
    assert explainer.partial_dependence("area", grid=[9.0, -3.0, 9.0]).grid[0].tolist() == [9.0, -3.0, 9.0]
    assert explainer.partial_dependence("town", grid=["ely", "new"]).grid[0].tolist() == ["ely", "new"]
    surface = explainer.partial_dependence("area", "town", grid={"area": [1.0, 2.0], "town": ["ely"]})
    assert surface.average.tolist() == [[[2.0], [3.0]]]
    mixed = explainer.partial_dependence("area", "rooms", grid=[Grid("quantile", points=4), 3])
    assert mixed.average.shape == (1, 4, 3)


@pytest.mark.parametrize(
    "values",
    [np.zeros(N), np.r_[np.zeros(N - 1), 1.0], np.arange(N) % 2, np.r_[np.zeros(N - 3), 1e6, 2e6, 3e6], RNG.lognormal(0, 9, N)],
    ids=["constant", "one apart", "binary", "almost constant", "skewed"],
)  # fmt: skip
@pytest.mark.parametrize(
    "grid", [None, 2, Grid("quantile"), Grid("distinct"), Grid(trim=(0.4, 0.6))], ids=str
)
def test_pain_18_percentiles_are_too_close(values, grid):
    data = np.column_stack([values, NUMBERS[:, 0]])
    effect = Explainer(lambda rows: rows[:, 0] + rows[:, 1], data).partial_dependence(0, grid=grid)
    assert np.allclose(effect.average[0], effect.grid[0] + NUMBERS[:, 0].mean(), rtol=1e-9, atol=0)
    assert (effect.grid[0][1:] > effect.grid[0][:-1]).all()


def test_pain_21_all_classes_or_targets_at_once():
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RandomForestClassifier(5, random_state=0).fit(x, names)
    effect = Explainer(model, x).partial_dependence(2, grid=[2.0, 5.0])
    assert effect.outputs == ("setosa", "versicolor", "virginica")
    assert np.allclose(effect.average.sum(axis=0), 1.0, rtol=0, atol=1e-12)
    one = Explainer(model, x, target="versicolor").partial_dependence(2, grid=[2.0, 5.0])
    assert np.array_equal(one.average[0], effect.average[1])
    both = Explainer(LinearRegression().fit(x[:, :2], x[:, 2:]), x[:, :2]).partial_dependence(0)
    assert both.average.shape[0] == 2
    binary = LogisticRegression().fit(x[:100], names[:100])
    assert Explainer(binary, x).partial_dependence(0).outputs == ("versicolor",)
    assert Explainer(binary, x, target="all").partial_dependence(0).outputs == ("setosa", "versicolor")


def test_pain_22_two_point_grids():
    explainer = Explainer(lambda rows: rows[:, 0] ** 2, NUMBERS)
    for grid in (2, Grid(points=2), Grid("quantile", points=2), [1.0, 5.0]):
        effect = explainer.partial_dependence(1, grid=grid)
        assert effect.average.shape == (1, 2)
    assert explainer.partial_dependence(0, 1, grid=2).average.shape == (1, 2, 2)
    assert explainer.partial_dependence(0, grid=1).average.shape == (1, 1)
    assert explainer.ice(0, grid=[3.0]).center().average.tolist() == [[0.0]]


def test_pain_23_models_that_are_not_scikit_learn_estimators():
    class Fitted:
        def predict(self, rows: pd.DataFrame) -> list[float]:
            return (rows["area"] * 2).tolist()

    for model in (lambda rows: rows["area"] * 2, Fitted(), Fitted().predict):
        effect = Explainer(model, FRAME).partial_dependence("area", grid=[1.0, 2.0])
        assert effect.average.tolist() == [[2.0, 4.0]]
    lightgbm = pytest.importorskip("lightgbm")
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(NUMBERS, PRICE), 5)
    effect = Explainer(booster, NUMBERS).partial_dependence(0)
    frame = pd.DataFrame(NUMBERS, columns=[0, 1])
    assert np.allclose(
        effect.average,
        loop(lambda f: booster.predict(f.to_numpy()), frame, 0, effect.grid[0]),
        rtol=0,
        atol=1e-9,
    )


def test_pain_28_two_way_ice():
    effect = Explainer(
        lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], np.column_stack([NUMBERS, NUMBERS[:, 0] ** 2])
    ).ice(0, 1, grid=[[1.0, 2.0, 3.0], [10.0, 20.0]], rows=[7, 2])
    expected = np.multiply.outer([1.0, 2.0, 3.0], [10.0, 20.0]) + (NUMBERS[[7, 2], 0] ** 2)[:, None, None]
    assert np.array_equal(effect.individual[0], expected)
    assert np.allclose(
        effect.average[0],
        np.multiply.outer([1.0, 2.0, 3.0], [10.0, 20.0]) + (NUMBERS[:, 0] ** 2).mean(),
        rtol=1e-12,
        atol=0,
    )
    assert effect.center().individual[0, :, 0, 0].tolist() == [0.0, 0.0]
