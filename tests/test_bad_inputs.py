"""Bad input gets a clear error: the right type, the parameter, what was received, and a hint.

Every case goes through the public surface. A case names the parameter, words the message must
hold (what was received among them), and the built-in error it must also be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import icefield
from icefield import Explainer, Grid
from icefield.errors import IcefieldError

RNG = np.random.default_rng(1)
N = 30


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": np.linspace(1, 60, N),
            "count": np.arange(N) % 7,
            "sex": pd.Categorical(np.array(["f", "m"])[np.arange(N) % 2]),
            "paid": np.arange(N) % 3 == 0,
            "day": pd.date_range("2024-01-01", periods=N),
            "hot_a": (np.arange(N) % 3 == 0).astype(int),
            "hot_b": (np.arange(N) % 3 == 1).astype(int),
            "hot_c": (np.arange(N) % 3 == 2).astype(int),
            "empty": np.full(N, np.nan),
            "list": [[i] for i in range(N)],
        }
    )


DATA = frame()
NUMBERS = DATA[["age", "count"]].to_numpy()
REGRESSOR = LinearRegression().fit(NUMBERS, NUMBERS[:, 0])
CLASSIFIER = LogisticRegression().fit(NUMBERS, np.array(["no", "yes", "perhaps"])[np.arange(N) % 3])


def model(rows: Any) -> Any:
    return rows["age"].to_numpy() * 2.0


def pd_(*features: Any, **asked: Any) -> Any:
    return Explainer(model, DATA).partial_dependence(*features, **asked)


def built(**choices: Any) -> Any:
    return Explainer(model, DATA, **choices)


@dataclass(frozen=True)
class Case:
    name: str
    does: Callable[[], Any]
    parameter: str
    words: tuple[str, ...]
    error: type[Exception] = ValueError


def case(
    name: str, does: Callable[[], Any], parameter: str, *words: str, error: type[Exception] = ValueError
) -> Case:
    return Case(name, does, parameter, words, error)


class Opaque:
    """Neither a model nor data."""

    def __repr__(self) -> str:
        return "<opaque>"


CASES = [
    # --- X ---
    case("X is None", lambda: Explainer(model, None), "X", "None", "Hint", error=TypeError),
    case("X is a path to nothing", lambda: Explainer(model, "rows.csv"), "X", "rows.csv", "Hint"),
    case("X is a number", lambda: Explainer(model, 3), "X", "3", "Hint", error=TypeError),
    case("X is an object", lambda: Explainer(model, Opaque()), "X", "<opaque>", "Hint", error=TypeError),
    case("X is one row", lambda: Explainer(model, np.zeros(3)), "X", "(3,)", "reshape"),
    case("X has three dimensions", lambda: Explainer(model, np.zeros((2, 2, 2))), "X", "(2, 2, 2)", "Hint"),
    case("X is a series", lambda: Explainer(model, DATA["age"]), "X", "frame", error=TypeError),
    case("X is a polars series", lambda: Explainer(model, pl.Series([1.0])), "X", "frame", error=TypeError),
    case("X is a mapping", lambda: Explainer(model, {"age": [1.0]}), "X", "DataFrame", error=TypeError),
    case("X is read once", lambda: Explainer(model, iter([[1.0]])), "X", "only once", error=TypeError),
    case("X is a generator", lambda: Explainer(model, (r for r in [[1.0]])), "X", "Hint", error=TypeError),
    case("X has no rows", lambda: Explainer(model, DATA[:0]), "X", "0 rows"),
    case("X has no columns", lambda: Explainer(model, DATA[[]]), "X", "column"),
    case("X has twin columns", lambda: Explainer(model, DATA[["age", "age"]]), "X", "'age'", "rename"),
    case("X lacks the model's columns", lambda: Explainer(
        LinearRegression().fit(DATA[["age", "count"]], DATA["age"]), DATA[["age"]]), "X", "count"),
    case("X has too few columns", lambda: Explainer(REGRESSOR, NUMBERS[:, :1]), "X", "1 columns", "2"),
    # --- model ---
    case("model is None", lambda: Explainer(None, DATA), "model", "None", "Hint", error=TypeError),
    case("model is an object", lambda: Explainer(Opaque(), DATA), "model", "<opaque>", "Hint", error=TypeError),
    case("model is a class", lambda: Explainer(LinearRegression, DATA), "model", "LinearRegression", "fit", error=TypeError),
    case("model is not fitted", lambda: Explainer(LinearRegression(), NUMBERS), "model", "not fitted", "fit it first"),
    case("model only transforms", lambda: Explainer(StandardScaler().fit(NUMBERS), NUMBERS), "model", "StandardScaler"),
    case("model is a clusterer", lambda: Explainer(KMeans(2, n_init=1).fit(NUMBERS), NUMBERS), "model", "KMeans", "Hint"),
    case("model answers too few rows", lambda: Explainer(lambda r: np.zeros(1), DATA), "model", "1 rows"),
    case("model answers None", lambda: Explainer(lambda r: None, DATA), "model"),
    case("model answers text", lambda: Explainer(lambda r: np.array(["a"] * len(r)), DATA), "model"),
    case("model answers complex numbers", lambda: Explainer(lambda r: np.ones(len(r)) * 1j, DATA), "model", "complex"),
    case("model answers a cube", lambda: Explainer(lambda r: np.zeros((len(r), 2, 2)), DATA), "model", "shape"),
    case("model raises", lambda: Explainer(lambda r: 1 / 0, DATA), "model", "ZeroDivisionError", "Hint"),
    # --- bins, changed ---
    case("bins is text", lambda: built().ale("age", bins="many"), "bins", "'many'", "bins=40", error=TypeError),
    case("bins is a fraction", lambda: built().ale("age", bins=2.5), "bins", "2.5", "bins=40", error=TypeError),
    case("bins holds text", lambda: built().ale("age", bins=["a", "b"]), "bins", "'age'", error=TypeError),
    case("conditional bins hold no edges", lambda: built().conditional("age", bins=[]), "bins", "'age'"),
    case("changed holds text", lambda: built().ice("age", changed={"count": "few"}), "changed", "few", error=TypeError),
    case("changed holds another level", lambda: built().ice("age", changed={"sex": "none of these"}), "changed", "none of these"),
    # --- target, scale, background, engine ---
    case("target is unknown", lambda: Explainer(CLASSIFIER, NUMBERS, target="maybe"), "target", "'maybe'", "Hint"),
    case("target is misspelt", lambda: Explainer(CLASSIFIER, NUMBERS, target="perhap"), "target", "did you mean 'perhaps'"),
    case("target is out of range", lambda: Explainer(CLASSIFIER, NUMBERS, target=3), "target", "3", "0 to 2"),
    case("target is negative", lambda: Explainer(CLASSIFIER, NUMBERS, target=-1), "target", "-1"),
    case("target is a flag", lambda: Explainer(CLASSIFIER, NUMBERS, target=True), "target", "True"),
    case("target is empty", lambda: Explainer(CLASSIFIER, NUMBERS, target=[]), "target", "[]"),
    case("target is doubled", lambda: Explainer(CLASSIFIER, NUMBERS, target=["no", "no"]), "target", "twice"),
    case("scale is unknown", lambda: built(scale="log"), "scale", "'log'", "'response'"),
    case("scale is None", lambda: built(scale=None), "scale", "None", error=TypeError),
    case("scale raw of a function", lambda: built(scale="raw"), "scale", "Hint"),
    case("background is unknown", lambda: built(background="train"), "background", "did you mean 'training'"),
    case("background is a number", lambda: built(background=1), "background", "1", error=TypeError),
    case("engine is unknown", lambda: built(engine="tree"), "engine", "did you mean 'trees'"),
    case("engine is a flag", lambda: built(engine=True), "engine", "True", error=TypeError),
    # --- numbers of the Explainer ---
    case("threads is zero", lambda: built(threads=0), "threads", "got 0", "at least 1"),
    case("threads is negative", lambda: built(threads=-1), "threads", "got -1"),
    case("threads is a fraction", lambda: built(threads=1.5), "threads", "1.5", error=TypeError),
    case("threads is text", lambda: built(threads="2"), "threads", "'2'", error=TypeError),
    case("processes is zero", lambda: built(processes=0), "processes", "got 0"),
    case("processes is a flag", lambda: built(processes=True), "processes", "True", error=TypeError),
    case("memory is zero", lambda: built(memory=0), "memory", "got 0"),
    case("memory is text", lambda: built(memory="1GB"), "memory", "'1GB'", error=TypeError),
    case("seed is negative", lambda: built(seed=-5), "seed", "-5"),
    case("seed is None", lambda: built(seed=None), "seed", "None", error=TypeError),
    # --- weights ---
    case("weights are too few", lambda: built(weights=[1.0, 2.0]), "weights", "30 rows", "(2,)"),
    case("weights are negative", lambda: built(weights=np.full(N, -1.0)), "weights", "-1.0"),
    case("weights are zero", lambda: built(weights=np.zeros(N)), "weights", "zero"),
    case("weights are missing", lambda: built(weights=np.full(N, np.nan)), "weights", "nan"),
    case("weights are infinite", lambda: built(weights=np.full(N, np.inf)), "weights", "inf"),
    case("weights overflow", lambda: built(weights=np.full(N, 1e308)), "weights", "1e+308", "Hint"),
    case("weights are words", lambda: built(weights=["a"] * N), "weights", error=TypeError),
    case("weights are a table", lambda: built(weights=np.ones((N, 2))), "weights", "(30, 2)"),
    case("weights are one number", lambda: built(weights=2.0), "weights", "30 rows"),
    case("weights are a flag", lambda: built(weights=True), "weights", "True", error=TypeError),
    case("weights name no column", lambda: built(weights="agee"), "weights", "did you mean 'age'"),
    case("weights name a category", lambda: built(weights="sex"), "weights", "sex", error=TypeError),
    case("weights are nothing", lambda: built(weights=[]), "weights", "(0,)"),
    # --- by ---
    case("by names no column", lambda: built(by="sexx"), "by", "did you mean 'sex'"),
    case("by is too short", lambda: built(by=[1, 2, 3]), "by", "30", "3 entries"),
    case("by is a table", lambda: built(by=np.ones((N, 2))), "by", "1-D"),
    case("by has too many groups", lambda: Explainer(
        lambda r: r["x"].to_numpy(), pd.DataFrame({"x": np.arange(99.0)}), by=[f"g{i}" for i in range(99)]),
        "by", "99 groups", "Hint"),
    case("cluster names no column", lambda: built(cluster="sexx"), "cluster", "did you mean 'sex'"),
    case("cluster is too short", lambda: built(cluster=[1, 2, 3]), "cluster", "30", "3 entries"),
    case("cluster is a table", lambda: built(cluster=np.ones((N, 2))), "cluster", "1-D"),
    case("cluster is a flag", lambda: built(cluster=True), "cluster", "True", "Hint", error=TypeError),
    case("by is a flag", lambda: built(by=True), "by", "True", "Hint", error=TypeError),
    case("by is a position outside", lambda: built(by=77), "by", "77"),
    # --- y ---
    case("y is too short", lambda: built(y=[1.0]), "y", "30 rows", "(1,)"),
    case("y is a number", lambda: built(y=3.0), "y", "()"),
    case("y is a cube", lambda: built(y=np.zeros((N, 1, 1))), "y", "(30, 1, 1)"),
    # --- features ---
    case("no feature", lambda: pd_(), "features", "at least one", "'age'"),
    case("feature is misspelt", lambda: pd_("agee"), "features", "'agee'", "did you mean 'age'"),
    case("feature is a position outside", lambda: pd_(99), "features", "99", "Hint"),
    case("feature is a negative position", lambda: pd_(-1), "features", "-1"),
    case("feature is None", lambda: pd_(None), "features", "None", error=TypeError),
    case("feature is a flag", lambda: pd_(True), "features", "True", error=TypeError),
    case("feature is a fraction", lambda: pd_(1.5), "features", "1.5", error=TypeError),
    case("feature is a list", lambda: pd_(["age", "count"]), "features", "['age', 'count']", error=TypeError),
    case("feature is given twice", lambda: pd_("age", "age"), "features", "twice"),
    case("feature is given twice, by position", lambda: pd_("age", 0), "features", "twice"),
    case("feature is not the model's", lambda: Explainer(
        LinearRegression().fit(DATA[["age"]], DATA["age"]), DATA[["age", "count"]]).partial_dependence("count"),
        "features", "count"),
    case("group without columns", lambda: pd_({"hot": []}), "features", "hot"),
    case("group of one column", lambda: pd_({"hot": ["hot_a"]}), "features", "two columns"),
    case("group is text", lambda: pd_({"hot": "hot_a"}), "features", "'hot_a'"),
    case("group of unknown columns", lambda: pd_({"hot": ["hot_a", "hot_z"]}), "features", "hot_z"),
    case("group lists a column twice", lambda: pd_({"hot": ["hot_a", "hot_a"]}), "features", "twice"),
    case("group is not one-hot", lambda: pd_({"x": ["age", "hot_a"]}), "features", "age"),
    case("group with overlapping columns", lambda: pd_({"x": ["hot_a", "paid"]}), "features", "row 0", "Hint"),
    case("two groups in one mapping", lambda: pd_({"a": ["hot_a", "hot_b"], "b": ["hot_b", "hot_c"]}), "features", "one group"),
    case("an empty mapping", lambda: pd_({}), "features", "{}"),
    case("effects of nothing", lambda: Explainer(model, DATA).effects([]), "features", "[]"),
    case("pairs of one feature", lambda: Explainer(model, DATA).effects(["age"], order=2), "features", "at least 2"),
    case("effects of an unknown feature", lambda: Explainer(model, DATA).effects(["agee"]), "features", "did you mean"),
    case("effects of the same feature twice", lambda: Explainer(model, DATA).effects(["age", "age"]), "features", "twice"),
    case("effects of a number of features", lambda: Explainer(model, DATA).effects(3.5), "features", "3.5", error=TypeError),
    case("order is zero", lambda: Explainer(model, DATA).effects(order=0), "order", "got 0"),
    case("order is three", lambda: Explainer(model, DATA).effects(order=3), "order", "got 3", "Hint"),
    case("order is text", lambda: Explainer(model, DATA).effects(order="2"), "order", "'2'", error=TypeError),
    # --- grid ---
    case("grid is empty", lambda: pd_("age", grid=[]), "grid", "[]", "Hint"),
    case("grid is a word", lambda: pd_("age", grid="quantile"), "grid", "Grid('quantile')", error=TypeError),
    case("grid is zero points", lambda: pd_("age", grid=0), "grid", "got 0", "Hint"),
    case("grid is negative", lambda: pd_("age", grid=-3), "grid", "-3"),
    case("grid is a flag", lambda: pd_("age", grid=True), "grid", "True", error=TypeError),
    case("grid is a fraction", lambda: pd_("age", grid=2.5), "grid", "2.5", error=TypeError),
    case("grid holds words for a number", lambda: pd_("age", grid=["old"]), "grid", "old", "Hint", error=TypeError),
    case("grid holds dates for a number", lambda: pd_("age", grid=[dt.date(2024, 1, 1)]), "grid", "age", error=TypeError),
    case("grid holds words for a date", lambda: pd_("day", grid=["someday"]), "grid", "someday", error=TypeError),
    case("grid holds 7 for a flag", lambda: pd_("paid", grid=[7]), "grid", "True or False", "7"),
    case("grid holds lists", lambda: pd_("age", grid=[[1.0], [2.0]]), "grid", "age", error=TypeError),
    case("grid holds an unknown level", lambda: pd_("sex", grid=["x"]), "grid", "'x'", "Hint"),
    case("grid holds an unknown level of a group", lambda: pd_({"hot": ["hot_a", "hot_b", "hot_c"]}, grid=["z"]), "grid", "'z'", "Hint"),
    case("grid for too few features", lambda: pd_("age", "count", grid=[[1.0]]), "grid", "2 features"),
    case("grid for too many features", lambda: pd_("age", "count", grid=[[1.0]] * 3), "grid", "2 features"),
    case("grid for another feature", lambda: pd_("age", grid={"agee": 5}), "grid", "'agee'", "did you mean"),
    case("Grid of an unknown kind", lambda: Grid("quantiles"), "kind", "did you mean 'quantile'"),
    case("Grid of no kind", lambda: Grid(None), "kind", "None"),
    case("Grid with points zero", lambda: Grid(points=0), "points", "got 0"),
    case("Grid with points text", lambda: Grid(points="9"), "points", "'9'", error=TypeError),
    case("Grid with trim reversed", lambda: Grid(trim=(0.9, 0.1)), "trim", "(0.9, 0.1)", "Hint"),
    case("Grid with trim outside", lambda: Grid(trim=(0, 2)), "trim", "(0, 2)"),
    case("Grid with trim a number", lambda: Grid(trim=0.05), "trim", "0.05"),
    case("Grid with trim of three", lambda: Grid(trim=(0, 0.5, 1)), "trim", "(0, 0.5, 1)"),
    case("Grid with trim missing", lambda: Grid(trim=(np.nan, 1)), "trim", "nan"),
    case("Grid with unknown missing", lambda: Grid(missing="no"), "missing", "'no'", "'show'"),
    # --- quantiles, rows, precision ---
    case("quantiles beyond one", lambda: pd_("age", quantiles=[5]), "quantiles", "got 5", "Hint"),
    case("quantiles below zero", lambda: pd_("age", quantiles=[-0.1]), "quantiles", "-0.1"),
    case("quantiles missing", lambda: pd_("age", quantiles=[np.nan]), "quantiles", "nan"),
    case("quantiles as words", lambda: pd_("age", quantiles=["0.5"]), "quantiles", "'0.5'", error=TypeError),
    case("quantiles as text", lambda: pd_("age", quantiles="median"), "quantiles", "'median'", "Hint", error=TypeError),
    case("quantiles twice", lambda: pd_("age", quantiles=[0.5, 0.5]), "quantiles", "twice"),
    case("quantiles as an object", lambda: pd_("age", quantiles=Opaque()), "quantiles", "<opaque>", error=TypeError),
    case("quantiles as a flag", lambda: pd_("age", quantiles=True), "quantiles", "True", error=TypeError),
    case("rows is zero", lambda: pd_("age", rows=0), "rows", "got 0"),
    case("rows is negative", lambda: pd_("age", rows=-3), "rows", "-3"),
    case("rows is a fraction", lambda: pd_("age", rows=0.5), "rows", "0.5", "Hint", error=TypeError),
    case("rows is text", lambda: pd_("age", rows="all"), "rows", "'all'", error=TypeError),
    case("rows is a flag", lambda: pd_("age", rows=True), "rows", "True", error=TypeError),
    case("rows is empty", lambda: pd_("age", rows=[]), "rows", "no row"),
    case("rows outside", lambda: pd_("age", rows=[0, 99]), "rows", "99", "30 rows"),
    case("rows negative positions", lambda: pd_("age", rows=[-1]), "rows", "-1"),
    case("rows a short mask", lambda: pd_("age", rows=[True, False]), "rows", "30 rows", "2 entries"),
    case("rows a mask of nothing", lambda: pd_("age", rows=np.zeros(N, dtype=bool)), "rows", "no row"),
    case("rows a table", lambda: pd_("age", rows=[[1, 2]]), "rows", "(1, 2)"),
    case("rows fractions", lambda: pd_("age", rows=[1.5]), "rows", "1.5", error=TypeError),
    case("rows names", lambda: pd_("age", rows=["a"]), "rows", "'a'", error=TypeError),
    case("rows an object", lambda: pd_("age", rows=Opaque()), "rows", "<opaque>", error=TypeError),
    case("rows of curves outside", lambda: Explainer(model, DATA).ice("age", rows=[30]), "rows", "30"),
    case("precision is zero", lambda: pd_("age", precision=0), "precision", "got 0", "Hint"),
    case("precision is one", lambda: pd_("age", precision=1), "precision", "got 1"),
    case("precision is missing", lambda: pd_("age", precision=float("nan")), "precision", "nan"),
    case("precision is text", lambda: pd_("age", precision="1%"), "precision", "'1%'", error=TypeError),
    case("precision with quantiles", lambda: pd_("age", precision=0.1, quantiles=[0.5]), "precision", "Hint"),
    case("precision with curves", lambda: pd_("age", precision=0.1, individual=True), "precision", "Hint"),
    case("individual is text", lambda: pd_("age", individual="yes"), "individual", "'yes'", error=TypeError),
    case("spread is text", lambda: pd_("age", spread="yes"), "spread", "'yes'", error=TypeError),
    # --- effects ---
    case("centring outside the grid", lambda: pd_("age", grid=[1.0, 2.0]).center(at=9.0), "at", "9.0", "Hint"),
    case("centring at a word", lambda: pd_("age", grid=[1.0, 2.0]).center(at="last"), "at", "'last'", error=TypeError),
    case("centring at an unknown level", lambda: pd_("sex").center(at="x"), "at", "'x'"),
    case("centring a surface at one value", lambda: pd_("age", "count", grid=3).center(at=1.0), "at", "1.0"),
    case("slope along another feature", lambda: pd_("age").derivative(along="count"), "along", "'count'"),
    case("slope of a surface along nothing", lambda: pd_("age", "count", grid=3).derivative(), "along", "Hint"),
    case("curves that were not kept", lambda: pd_("age").to_frame(individual=True), "individual", "Hint"),
]  # fmt: skip


@pytest.mark.parametrize("bad", CASES, ids=lambda bad: bad.name)
def test_is_refused_with_a_clear_error(bad, complains):
    with complains(bad.parameter, *bad.words, error=bad.error):
        bad.does()
    pd.testing.assert_frame_equal(DATA, frame())


def test_there_are_enough_cases():
    assert len(CASES) >= 80
    assert len({bad.name for bad in CASES}) == len(CASES)


SPEAKS = [
    case("grid of a column without values", lambda: pd_("empty", grid=Grid(missing="hide")), "", "empty", "Hint"),
    case("feature holds lists", lambda: pd_("list"), "", "list", "Hint", error=TypeError),
    case("slope of a category", lambda: pd_("sex").derivative(), "", "sex", "no slope", "Hint", error=TypeError),
    case("slope of one point", lambda: pd_("age", grid=[1.0]).derivative(), "", "age", "two distinct"),
    case("centring a slope", lambda: pd_("age").derivative().center(), "", "derivative", "Hint"),
    case("thresholds without trees", lambda: pd_("age", grid=Grid("thresholds")), "", "thresholds", "Hint"),
    case("trees without trees", lambda: built(engine="trees"), "", "engine='trees'", "Hint"),
    case("curves over budget", lambda: built(memory=1000).ice("age"), "", "MB", "rows=", "memory="),
    case("raw margin of labels", lambda: Explainer(LinearSVC().fit(NUMBERS, DATA["sex"]), NUMBERS, target="f"),
         "", "'f'"),
]  # fmt: skip


@pytest.mark.parametrize("bad", SPEAKS, ids=lambda bad: bad.name)
def test_is_refused_in_a_sentence(bad):
    """Where no single parameter is at fault the message is a sentence of its own."""
    with pytest.raises(icefield.IcefieldError) as caught:
        bad.does()
    assert isinstance(caught.value, bad.error)
    for word in bad.words:
        assert word in str(caught.value), str(caught.value)


# --- names of other libraries ----------------------------------------------------------------------

EXPLAINED = icefield.Explainer(lambda rows: rows[:, 0], np.arange(12.0).reshape(6, 2))


@pytest.mark.parametrize(
    ("method", "name", "words"),
    [
        ("partial_dependence", "grid_resolution", "write grid=..."),
        ("partial_dependence", "n_points", "write grid=..."),
        ("partial_dependence", "points", "write grid=..."),
        ("partial_dependence", "kind", "ice() gives individual curves"),
        ("partial_dependence", "sample_weight", "write Explainer(model, X, weights=...)"),
        ("partial_dependence", "features", 'name them first: partial_dependence("age")'),
        ("partial_dependence", "feature", 'name them first: partial_dependence("age")'),
        ("partial_dependence", "n_jobs", "write Explainer(model, X, threads=...)"),
        ("partial_dependence", "n_samples", "write rows=..."),
        ("partial_dependence", "centered", "call .center() on the result"),
        ("partial_dependence", "gird", "did you mean 'grid'?"),
        ("ice", "grid_resolution", "write grid=..."),
        ("ice", "random_state", "write Explainer(model, X, seed=...)"),
        ("ale", "n_bins", "write bins=..."),
        ("importance", "sample_weight", "write Explainer(model, X, weights=...)"),
        ("interactions", "random_state", "seed=..."),
        ("regions", "max_depth", "depth"),
        ("effects", "grid_resolution", "write grid=..."),
        ("report", "include_plotlyjs", "known names are"),
    ],
)
def test_keywords_of_other_libraries_are_told_their_names_here(method, name, words, complains):
    with complains(name, f"is not a keyword of {method}()", words, error=TypeError):
        getattr(EXPLAINED, method)(0, **{name: 5})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sample_weight", "write weights=..."),
        ("n_jobs", "write threads=..."),
        ("random_state", "write seed=..."),
        ("feature_names", "write names=..."),
        ("response_method", "write scale=..."),
        ("grid_resolution", 'write partial_dependence("age", grid=...)'),
        ("features", "pass them to a method"),
        ("wieghts", "did you mean 'weights'?"),
    ],
)
def test_an_explainer_s_keywords_too(name, words, complains):
    with complains(name, "is not a keyword of Explainer", words, error=TypeError):
        icefield.Explainer(lambda rows: rows[:, 0], np.ones((3, 2)), **{name: 1})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pdp", "write .partial_dependence(...)"),
        ("shap_values", "write .importance()"),
        ("feature_importances_", "write .importance()"),
        ("h_statistic", "write .interactions()"),
        ("ice_curves", "write .ice(...)"),
        ("accumulated_local_effects", "write .ale(...)"),
        ("partial_dependance", "did you mean 'partial_dependence'"),
        ("nothing_of_the_kind", "known names are"),
    ],
)
def test_attributes_of_other_libraries_are_told_their_names_here(name, words):
    with pytest.raises(AttributeError) as caught:
        getattr(EXPLAINED, name)
    assert isinstance(caught.value, IcefieldError)
    assert f"has no attribute {name!r}. Hint: " in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not hasattr(EXPLAINED, name)


def test_every_name_that_is_told_is_one():
    from inspect import signature

    from icefield.validate import FOREIGN_KEYWORDS, FOREIGN_QUESTIONS

    for question in FOREIGN_QUESTIONS:
        assert callable(getattr(icefield.Explainer, question.partition("(")[0]))
    methods = (
        icefield.Explainer,
        *(getattr(icefield.Explainer, q.partition("(")[0]) for q in FOREIGN_QUESTIONS),
    )
    known = {name for method in methods for name in signature(method).parameters}
    assert set(FOREIGN_KEYWORDS) <= known


# --- the rest of a class of messages ---------------------------------------------------------------

NAMED = {"age": np.arange(6.0), "fare": np.arange(6.0) % 2, "month": np.arange(6) % 3 + 1}


@pytest.mark.parametrize(
    ("keywords", "parameter", "words"),
    [
        ({"names": {"age": "fare"}}, "names", "calls the columns 'age' and 'fare' the same"),
        ({"names": {"age": "x", "fare": "x"}}, "names", "calls the columns 'age' and 'fare' the same"),
        ({"names": {"fare": ("age", {0: "no", 1: "yes"})}}, "names", "the same"),
        ({"names": {"fare": {0: "no", 1: "no"}}}, "names", "calls the values 0 and 1 of 'fare' the same"),
        ({"y": "nope"}, "y", "does not have"),
        ({"y": b"nope"}, "y", "does not have"),
        ({"by": ["age", "fare"]}, "by", "names of several"),
        ({"by": ["age"]}, "by", "write by='age'"),
        ({"cluster": ["age", "fare"]}, "cluster", "names of several"),
        ({"threads": -1}, "threads", "write threads=None, to use all"),
        ({"threads": 0}, "threads", "at least 1"),
    ],
)
def test_what_is_wrong_with_an_explainer_is_said_of_the_right_argument(keywords, parameter, words, complains):
    pd = pytest.importorskip("pandas")
    with complains(parameter, words, "Hint"):
        icefield.Explainer(lambda rows: rows["age"], pd.DataFrame(NAMED), **keywords)


def test_swapped_names_and_names_of_one_s_own_are_fine():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(NAMED)
    for names in ({"age": "fare", "fare": "age"}, {"age": "age"}, {"fare": {0: "no", 1: "yes"}}):
        icefield.Explainer(lambda rows: rows["age"], X, names=names)


@pytest.mark.parametrize("grid", [-5, 0])
def test_a_grid_of_too_few_points_is_the_grid_s_fault(grid, complains):
    with complains("grid", "at least 1", str(grid), "write grid=100", error=ValueError):
        EXPLAINED.partial_dependence(0, grid=grid)
    with complains("points", "at least 1", "write points=100", error=ValueError):
        icefield.Grid(points=grid)


@pytest.mark.parametrize(
    ("path", "words", "error"),
    [
        ("nowhere.icefield", "does not exist", FileNotFoundError),
        ("", "is empty", ValueError),
        (".", "is a folder", ValueError),
        (None, "must be the name of a file", TypeError),
        (3, "must be the name of a file", TypeError),
        ("a\0b", "does not exist", FileNotFoundError),
    ],
)
def test_loading_nothing_is_told(path, words, error):
    with pytest.raises(IcefieldError, match=words) as caught:
        icefield.Effect.load(path)
    assert isinstance(caught.value, error)
    assert caught.value.parameter == "path"


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_text_in_a_column_of_numbers_is_refused(library, complains):
    """Digits too: some libraries would read them as numbers, and the picture would show them as levels."""
    module, pd = pytest.importorskip(library), pytest.importorskip("pandas")
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7})
    made = {
        "lightgbm": lambda: module.LGBMRegressor(n_estimators=2, min_child_samples=2, verbose=-1),
        "xgboost": lambda: module.XGBRegressor(n_estimators=2, max_depth=2),
        "catboost": lambda: module.CatBoostRegressor(
            iterations=2, depth=2, verbose=0, allow_writing_files=False
        ),
    }
    model = made[library]().fit(X, X["a"])
    for texts in (X["a"].astype(str), pd.Series(["one", "two"] * 20)):
        with complains("X", "holds text in the column 'a'", "astype(float)"):
            icefield.Explainer(model, X.assign(a=texts))
    assert icefield.Explainer(model, X).partial_dependence("a").engine == "trees"
