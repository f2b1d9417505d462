"""The drop-in: scikit-learn's numbers, errors and types, its own test suite, and the documented exceptions."""

from __future__ import annotations

import inspect
import os
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.inspection
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_friedman1
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import icefield.sklearn as ours

SUITE = ("sklearn.inspection.tests.test_partial_dependence",
         "sklearn.inspection._plot.tests.test_plot_partial_dependence")  # fmt: skip
SUITE_VERSION, SUITE_TESTS = "1.9.1", 568

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
Y = X[:, 0] + X[:, 1] ** 2 + 0.3 * X[:, 2] * X[:, 3]
BINARY = np.where(Y > 0.5, "yes", "no")
THREE = np.digitize(Y, [0.0, 1.0])
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    colour=pd.Categorical(rng.choice(["red", "green", "blue"], 80), categories=["red", "green", "blue", "grey"]),
    size=rng.choice(["S", "M"], 80),
    floor=rng.integers(0, 3, 80),
    lift=rng.random(80) < 0.5,
)  # fmt: skip
FRAME_Y = Y + 2.0 * (FRAME["colour"] == "red") + FRAME["floor"]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def encoded(model: Any) -> Any:
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), list("abcd")),
         ("levels", OneHotEncoder(handle_unknown="ignore"), ["colour", "size", "floor", "lift"])]
    )  # fmt: skip
    return make_pipeline(columns, model)


def assert_same(given: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Same keys, shapes and types, and the same numbers."""
    assert type(given) is type(expected)
    assert set(given) == set(expected)
    assert isinstance(given["grid_values"], list)
    for own, other in zip(given["grid_values"], expected["grid_values"], strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_array_equal(own, other)
    for key in {"average", "individual"} & set(expected):
        assert given[key].dtype == expected[key].dtype
        assert given[key].shape == expected[key].shape
        np.testing.assert_allclose(given[key], expected[key], rtol=rtol, atol=1e-13)


def assert_same_call(*args: Any, rtol: float = 1e-12, **kwargs: Any) -> None:
    assert_same(ours.partial_dependence(*args, **kwargs),
                sklearn.inspection.partial_dependence(*args, **kwargs), rtol)  # fmt: skip


# --- scikit-learn's own tests ----------------------------------------------------------------------


@pytest.mark.skipif(sklearn.__version__ != SUITE_VERSION, reason=f"counted for scikit-learn {SUITE_VERSION}")
def test_scikit_learns_own_tests_pass_with_our_names(tmp_path: Path) -> None:
    plugin = Path(__file__).parent / "sklearn_suite"
    nothing = tmp_path / "pytest.ini"
    nothing.write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", str(nothing), "-p", "no:cacheprovider", "-p", "plugin", "-n", "2",
         "--pyargs", *SUITE],
        cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False,
        env={**os.environ, "PYTHONPATH": str(plugin), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("icefield:"))
    print(line)
    passed, functions, displays = map(int, re.findall(r"(\d+)", line))
    assert passed == SUITE_TESTS
    # Some of the tests only reach private helpers; most must have come to us.
    assert functions > 400
    assert displays > 150


def test_signatures_and_defaults_are_scikit_learns() -> None:
    def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    theirs = sklearn.inspection
    assert parameters(ours.partial_dependence) == parameters(theirs.partial_dependence)
    assert parameters(ours.PartialDependenceDisplay.from_estimator) == parameters(
        theirs.PartialDependenceDisplay.from_estimator
    )
    assert issubclass(ours.PartialDependenceDisplay, theirs.PartialDependenceDisplay)


def test_scikit_learns_function_is_never_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("scikit-learn's own partial_dependence was called")

    for module in ("sklearn.inspection", "sklearn.inspection._partial_dependence",
                   "sklearn.inspection._plot.partial_dependence"):  # fmt: skip
        monkeypatch.setattr(sys.modules[module], "partial_dependence", forbidden)
    for helper in ("_partial_dependence_brute", "_partial_dependence_recursion", "_grid_from_X"):
        monkeypatch.setattr(sys.modules["sklearn.inspection._partial_dependence"], helper, forbidden)
    linear = LinearRegression().fit(X, Y)
    boosted = GradientBoostingRegressor(n_estimators=3).fit(X, Y)
    with pytest.raises(AssertionError, match="own partial_dependence"):
        sklearn.inspection.PartialDependenceDisplay.from_estimator(linear, X, [0])
    for model in (linear, boosted):
        assert ours.partial_dependence(model, X, [0])["average"].shape == (1, 80)
        display = ours.PartialDependenceDisplay.from_estimator(model, X, [0, (0, 1)], grid_resolution=5)
        assert len(display.pd_results) == 2
    display = ours.PartialDependenceDisplay.from_estimator(linear, X, [0], kind="both", grid_resolution=5)
    assert display.pd_results[0]["individual"].shape == (1, 80, 5)


# --- the same numbers ------------------------------------------------------------------------------

MODELS = {
    "linear": lambda: LinearRegression().fit(X, Y),
    "several outputs": lambda: LinearRegression().fit(X, np.c_[Y, -2 * Y, Y**2]),
    "logistic": lambda: LogisticRegression().fit(X, BINARY),
    "three classes": lambda: LogisticRegression().fit(X, THREE),
    "decision function only": lambda: SGDClassifier(random_state=0).fit(X, BINARY),
    "forest classifier": lambda: RandomForestClassifier(5, random_state=0).fit(X, THREE),
    "network": lambda: MLPRegressor((8,), max_iter=30, tol=1e9, n_iter_no_change=2, random_state=0).fit(X, Y),
    "neighbours": lambda: KNeighborsRegressor().fit(X, Y),
    "search": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), LinearRegression()), {"linearregression__fit_intercept": [True]}
    ).fit(X, Y),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["average", "individual", "both"])
@pytest.mark.parametrize("name", MODELS)
def test_brute_equals_scikit_learn(name: str, kind: str) -> None:
    model = MODELS[name]()
    assert_same_call(model, X, [0], kind=kind, grid_resolution=7, rtol=1e-10)
    assert_same_call(model, X, [1, 3], kind=kind, grid_resolution=4, percentiles=(0.1, 0.8), rtol=1e-10)
    assert_same_call(model, X, (0, 1, 2), kind=kind, grid_resolution=3, rtol=1e-10)


@pytest.mark.parametrize("name", ["linear", "several outputs", "logistic", "three classes"])
def test_weights_equal_scikit_learn(name: str) -> None:
    model = MODELS[name]()
    weights = np.random.default_rng(1).exponential(size=80)
    for kind in ("average", "individual", "both"):
        assert_same_call(model, X, [0], kind=kind, sample_weight=weights, grid_resolution=5)
    assert_same_call(model, X, [0], sample_weight=[2] * 80, grid_resolution=5)


def test_weights_turn_recursion_into_brute() -> None:
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y)
    assert_same_call(model, X, [0], sample_weight=np.arange(1.0, 81.0), grid_resolution=5)


@pytest.mark.parametrize("response", ["auto", "predict_proba", "decision_function"])
def test_response_methods_equal_scikit_learn(response: str) -> None:
    for target in (BINARY, THREE):
        model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, target)
        assert_same_call(model, X, [0], method="brute", response_method=response, grid_resolution=5)


@pytest.mark.parametrize(
    "given",
    [X, X.tolist(), np.asfortranarray(X), pd.DataFrame(X), pd.DataFrame(X, index=range(100, 180)), X[:1], X[3:60:2]],
    ids=["array", "lists", "fortran", "frame", "indexed frame", "one row", "strided"],
)  # fmt: skip
def test_every_container_equals_scikit_learn(given: Any) -> None:
    assert_same_call(LinearRegression().fit(X, Y), given, [1], kind="both", grid_resolution=6)


def test_single_precision_and_whole_number_predictions_keep_their_type() -> None:
    single = X.astype(np.float32)
    network = MLPRegressor((8,), max_iter=30, tol=1e9, n_iter_no_change=2, random_state=0).fit(single, Y)
    assert ours.partial_dependence(network, single, [0])["average"].dtype == np.float32
    assert_same_call(network, single, [0], kind="both", grid_resolution=5, rtol=1e-5)

    class Rounded(LinearRegression):
        def predict(self, X: Any) -> Any:
            return super().predict(X).round().astype(int)

    assert_same_call(Rounded().fit(X, Y), X, [0], kind="both", grid_resolution=5)


@pytest.mark.parametrize(
    "features", [0, [0], (0,), np.array([0, 1]), [True, False, True, False], [0, 0], [(0, 1)]]
)
def test_every_spelling_of_features_equals_scikit_learn(features: Any) -> None:
    assert_same_call(LinearRegression().fit(X, Y), X, features, kind="both", grid_resolution=4)


@pytest.mark.parametrize("model", [LinearRegression(), RandomForestRegressor(4, random_state=0)])
@pytest.mark.parametrize(
    "features",
    ["a", "colour", ["size"], ["floor"], ["lift"], ["a", "b"], ["colour", "floor"], [4, 5], ["a", "floor"]],
)
def test_frames_and_categories_equal_scikit_learn(model: Any, features: Any) -> None:
    pipeline = encoded(model).fit(FRAME, FRAME_Y)
    categories = ["colour", "size", "floor"]
    assert_same_call(
        pipeline, FRAME, features, categorical_features=categories, kind="both", grid_resolution=5
    )
    mask = [name in categories for name in FRAME.columns]
    assert_same_call(pipeline, FRAME, features, categorical_features=mask, grid_resolution=5)
    before = FRAME.copy(deep=True)
    ours.partial_dependence(pipeline, FRAME, features, categorical_features=categories, grid_resolution=5)
    pd.testing.assert_frame_equal(FRAME, before)


def test_custom_values_equal_scikit_learn() -> None:
    linear = LinearRegression().fit(X, Y)
    assert_same_call(linear, X, [0, 2], custom_values={0: [3.0, -1.0], 2: [0]}, kind="both")
    assert_same_call(linear, X, [0, 2], custom_values={2: (1.5, 2.5, 0.0)}, grid_resolution=5)
    pipeline = encoded(LinearRegression()).fit(FRAME, FRAME_Y)
    for custom in ({"size": ["M"]}, {"colour": ["grey", "red"]}, {"floor": [2, 0]}):
        assert_same_call(
            pipeline, FRAME, list(custom), categorical_features=list(custom), custom_values=custom
        )


def test_string_arrays_equal_scikit_learn() -> None:
    words = np.random.default_rng(2).choice(["x", "y", "zebra"], (40, 2))
    for given in (words, words.astype(object)):
        model = make_pipeline(OrdinalEncoder(), LinearRegression()).fit(given, (words[:, 0] == "y") * 1.0)
        assert_same_call(model, given, [0], categorical_features=[0], kind="both")
        assert_same_call(model, given, [0], categorical_features=[0], custom_values={0: ["zebra"]})


@pytest.mark.filterwarnings("ignore:Changing the sparsity structure")
def test_sparse_rows_with_given_values_equal_scikit_learn() -> None:
    linear = LinearRegression().fit(X, Y)
    matrix = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    assert_same_call(linear, matrix, [0], custom_values={0: [0.0, 1.0]}, kind="both")


def test_missing_numbers_equal_scikit_learn_by_brute_force() -> None:
    holes = np.where(np.random.default_rng(3).random(X.shape) < 0.1, np.nan, X)
    model = HistGradientBoostingRegressor(max_iter=10).fit(holes, Y)
    assert_same_call(model, holes, [0], method="brute", kind="both")


def test_many_rows_are_averaged_in_blocks() -> None:
    many = np.random.default_rng(4).normal(size=(40_000, 3))
    model = LinearRegression().fit(many, many[:, 0] * 2)
    assert_same_call(model, many, [0], kind="both", grid_resolution=3)
    assert_same_call(model, many, [0], sample_weight=np.abs(many[:, 1]), grid_resolution=3)


def test_individual_curves_have_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("icefield.engines.Resources.memory", 1024)
    assert_same_call(LinearRegression().fit(X, Y), X, [0], kind="individual", grid_resolution=50)


RECURSIVE = {
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": RandomForestRegressor(5, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=5, random_state=0),
    "hist": HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5),
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_recursion_equals_scikit_learn(name: str) -> None:
    model = sklearn.base.clone(RECURSIVE[name]).fit(X, Y)
    for method in ("auto", "recursion"):
        assert_same_call(model, X, [0], method=method, grid_resolution=8, rtol=0)
        assert_same_call(model, X, [0, 2], method=method, grid_resolution=4, rtol=0)


@pytest.mark.parametrize("classifier", [GradientBoostingClassifier, HistGradientBoostingClassifier])
@pytest.mark.parametrize("target", [BINARY, THREE], ids=["two", "three"])
def test_recursion_of_classifiers_equals_scikit_learn(classifier: Any, target: Any) -> None:
    model = classifier(random_state=0).fit(X, target)
    assert_same_call(model, X, [1], grid_resolution=5, rtol=0)


def test_recursion_without_harm_is_left_to_scikit_learn() -> None:
    """Categories first and none of them moving: scikit-learn reads these trees rightly."""
    rows = FRAME[["colour", "a", "b"]]
    model = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(rows, FRAME_Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_call(model, rows, ["a"], grid_resolution=5, rtol=0)


# --- the same errors -------------------------------------------------------------------------------


def refused(**kwargs: Any) -> dict[str, Any]:
    return {"estimator": LinearRegression().fit(X, Y), "X": X, "features": [0], **kwargs}


ERRORS: dict[str, Callable[[], dict[str, Any]]] = {
    "unfitted": lambda: refused(estimator=LinearRegression()),
    "integers": lambda: refused(X=(10 * X).astype(int)),
    "too close": lambda: refused(X=np.c_[np.r_[np.zeros(196), 1.0:5.0], np.zeros((200, 3))], grid_resolution=5),
    "strings with missing": lambda: refused(X=np.array([["a"], ["b"], [np.nan]], dtype=object)),
    "position": lambda: refused(features=[9]),
    "negative": lambda: refused(features=[-1]),
    "no column": lambda: refused(X=FRAME, features=["nothing"]),
    "no names": lambda: refused(features="a"),
    "weights": lambda: refused(sample_weight=[1.0]),
    "zero weights": lambda: refused(sample_weight=np.zeros(80)),
    "resolution": lambda: refused(grid_resolution=1),
    "resolution type": lambda: refused(grid_resolution=2.5),
    "percentiles": lambda: refused(percentiles=(0.9, 0.1)),
    "percentiles outside": lambda: refused(percentiles=(0.0, 1.1)),
    "percentiles list": lambda: refused(percentiles=[0.0, 1.0]),
    "percentiles three": lambda: refused(percentiles=(0.0, 0.5, 1.0)),
    "method": lambda: refused(method="fast"),
    "kind": lambda: refused(kind="all"),
    "response": lambda: refused(response_method="predict_proba"),
    "recursion": lambda: refused(method="recursion"),
    "categories": lambda: refused(categorical_features=[]),
    "category mask": lambda: refused(categorical_features=[True]),
    "category type": lambda: refused(categorical_features=[1.0]),
    "category name": lambda: refused(X=FRAME, features=["a"], categorical_features=["nothing"]),
    "duplicate names": lambda: refused(feature_names=["a", "a", "b", "c"]),
    "custom values": lambda: refused(custom_values={0: np.ones((2, 2))}),
    "no rows": lambda: refused(X=X[:0]),
    "no values": lambda: refused(custom_values={0: []}),
    "no feature": lambda: refused(features=[]),
    "unknown category": lambda: refused(
        estimator=encoded(LinearRegression()).fit(FRAME, FRAME_Y), X=FRAME, features=["colour"],
        categorical_features=["colour"], custom_values={"colour": ["pink"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_what_scikit_learn_refuses_is_refused_with_the_same_kind_of_error(name: str) -> None:
    arguments = ERRORS[name]()
    with pytest.raises((ValueError, TypeError)) as theirs:
        sklearn.inspection.partial_dependence(**arguments)
    with pytest.raises((ValueError, TypeError)) as given:
        ours.partial_dependence(**arguments)
    shared = next(kind for kind in (ValueError, TypeError) if isinstance(theirs.value, kind))
    assert isinstance(given.value, shared)


def test_other_frames_are_refused_with_a_way_out() -> None:
    with pytest.raises(TypeError, match=r"polars DataFrame.*Explainer"):
        ours.partial_dependence(LinearRegression().fit(X, Y), pl.DataFrame(X), [0])


def test_errors_of_the_model_are_the_callers_to_see() -> None:
    with pytest.raises(ValueError, match="X has 3 features"):
        ours.partial_dependence(LinearRegression().fit(X, Y), X[:, :3], [0])


# --- where scikit-learn is wrong -------------------------------------------------------------------


def raw(model: Any, rows: Any) -> np.ndarray:
    """The sum of the trees: the prediction before the link, without what boosting starts from."""
    return model._raw_predict(rows) - model._baseline_prediction


def test_recursion_with_categories_follows_the_splits() -> None:
    """With every column moving nothing is averaged, so the trees' own sum must come back."""
    rows = FRAME[["a", "colour", "b", "floor"]]
    model = HistGradientBoostingRegressor(
        max_iter=20, min_samples_leaf=3, categorical_features=["colour", "floor"]
    ).fit(rows, FRAME_Y)
    custom = {"a": [-1.0, 0.2], "colour": ["blue", "red"], "b": [0.0, 0.7, 2.0], "floor": [0, 2]}
    with pytest.warns(UserWarning, match="does not follow splits on categories"):
        result = ours.partial_dependence(
            model, rows, list(custom), categorical_features=["colour", "floor"], custom_values=custom
        )
    mesh = np.meshgrid(*[np.arange(len(v)) for v in custom.values()], indexing="ij")
    points = pd.DataFrame(
        {n: np.asarray(v, dtype=object)[at.ravel()] for (n, v), at in zip(custom.items(), mesh)}
    )
    points = points.astype(rows.dtypes.to_dict())
    np.testing.assert_allclose(result["average"].ravel(), raw(model, points).ravel(), rtol=1e-12)


def test_recursion_with_categories_of_single_splits_is_the_average_over_the_training_rows() -> None:
    """Trees of one split are additive, so the training-weighted average is the average over the rows."""
    rows = FRAME[["a", "colour", "b"]]
    target = np.where(FRAME_Y > 2, "high", np.where(FRAME_Y > 0.5, "mid", "low"))
    model = HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=2, min_samples_leaf=3).fit(
        rows, target
    )
    for feature in ("colour", "a"):
        categories = ["colour"] if feature == "colour" else None
        with pytest.warns(UserWarning, match="this result differs from scikit-learn's"):
            given = ours.partial_dependence(
                model, rows, [feature], categorical_features=categories, grid_resolution=6
            )
        expected = sklearn.inspection.partial_dependence(
            model, rows, [feature], method="brute", response_method="decision_function",
            categorical_features=categories, grid_resolution=6,
        )  # fmt: skip
        offset = np.asarray(model._baseline_prediction).reshape(-1, 1)
        np.testing.assert_allclose(given["average"] + offset, expected["average"], rtol=1e-10, atol=1e-12)


def test_scikit_learns_recursion_with_categories_is_wrong_by_default() -> None:
    """The reason for the exception: when this fails, scikit-learn has mended it and we can follow."""
    rows = FRAME[["a", "colour", "b"]]
    model = HistGradientBoostingRegressor(max_iter=15, max_leaf_nodes=2, min_samples_leaf=3).fit(
        rows, FRAME_Y
    )
    theirs = sklearn.inspection.partial_dependence(model, rows, ["a"], grid_resolution=6)["average"]
    exact = sklearn.inspection.partial_dependence(model, rows, ["a"], method="brute", grid_resolution=6)[
        "average"
    ]
    assert np.abs(np.ptp(theirs) - np.ptp(exact)) > 0.1
    with pytest.raises(ValueError, match="could not convert string to float"):
        sklearn.inspection.partial_dependence(model, rows, ["colour"], categorical_features=["colour"])


def test_recursion_at_a_missing_value_goes_where_the_model_sends_it() -> None:
    column = np.repeat([0.0, 1.0, np.nan], 30)[:, None]
    for model in (HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=3), DecisionTreeRegressor()):
        target = np.where(np.isnan(column[:, 0]) | (column[:, 0] == 0), -5.0, 5.0)
        model.fit(column, target)
        with pytest.warns(UserWarning, match="sends a missing value right"):
            given = ours.partial_dependence(model, column, [0])["average"][0]
        assert np.isnan(ours.partial_dependence(model, column, [0], method="brute")["grid_values"][0][-1])
        assert abs(given[2] - given[0]) < 1e-9 < abs(given[2] - given[1])
        theirs = sklearn.inspection.partial_dependence(model, column, [0])["average"][0]
        assert abs(theirs[2] - theirs[0]) > 1.0


@pytest.mark.parametrize(
    "model", [DecisionTreeRegressor(max_depth=3), RandomForestRegressor(4, random_state=0)]
)
def test_recursion_of_several_outputs_keeps_them_apart(model: Any) -> None:
    model.fit(X, np.c_[Y, -3 * Y])
    with pytest.warns(UserWarning, match="mixes up the 2 outputs"):
        given = ours.partial_dependence(model, X, [0], grid_resolution=5)["average"]
    assert given.shape == (2, 5)
    np.testing.assert_allclose(given[1], -3 * given[0], rtol=1e-10)
    members = getattr(model, "estimators_", [model])
    single = np.zeros(5)
    for member in members:  # the first output as a tree of its own
        twin = DecisionTreeRegressor(max_depth=member.max_depth, random_state=member.random_state)
        if len(members) == 1:
            single += ours.partial_dependence(twin.fit(X, Y), X, [0], grid_resolution=5)["average"][0]
    if len(members) == 1:
        np.testing.assert_allclose(given[0], single, rtol=1e-6)
    assert sklearn.inspection.partial_dependence(model, X, [0])["average"].shape[0] == 1


def test_fractions_in_an_array_of_whole_numbers_are_not_cut() -> None:
    whole = np.random.default_rng(5).integers(0, 4, (50, 2))
    model = LinearRegression().fit(whole, whole[:, 0] * 2.0)
    with pytest.warns(UserWarning, match=r"custom_values holds 0\.5"):
        given = ours.partial_dependence(
            model, whole, [0], categorical_features=[0], custom_values={0: [0.5, 1.5]}
        )
    np.testing.assert_allclose(given["average"], [[1.0, 3.0]], rtol=1e-10)


def test_sparse_columns_get_a_grid_of_their_values() -> None:
    linear = LinearRegression().fit(X, Y)
    with pytest.warns(UserWarning, match="grid of a single point"):
        given = ours.partial_dependence(linear, sp.csr_matrix(X), [0], grid_resolution=5)
    assert_same(given, sklearn.inspection.partial_dependence(linear, X, [0], grid_resolution=5))


def test_two_rows_of_a_binary_classifier_work() -> None:
    model = LogisticRegression().fit(X, BINARY)
    with pytest.raises(ValueError, match="cannot reshape"):
        sklearn.inspection.partial_dependence(model, X[:2], [0])
    given = ours.partial_dependence(model, X[:2], [0], kind="both")
    for k, value in enumerate(given["grid_values"][0]):
        rows = X[:2].copy()
        rows[:, 0] = value
        np.testing.assert_allclose(given["individual"][0, :, k], model.predict_proba(rows)[:, 1], rtol=1e-12)


# --- the display -----------------------------------------------------------------------------------


def drawn(library: Any, *args: Any, **kwargs: Any) -> Any:
    return library.PartialDependenceDisplay.from_estimator(*args, **kwargs)


def assert_same_picture(given: Any, expected: Any) -> None:
    assert given.features == expected.features
    assert given.feature_names == expected.feature_names
    assert given.target_idx == expected.target_idx
    assert [tuple(map(bool, c)) for c in given.is_categorical] == [
        tuple(map(bool, c)) for c in expected.is_categorical
    ]
    assert set(given.deciles) == set(expected.deciles)
    for feature, tenths in expected.deciles.items():
        np.testing.assert_array_equal(given.deciles[feature], tenths)
    for own, other in zip(given.pd_results, expected.pd_results, strict=True):
        assert_same(own, other, rtol=1e-10)
    assert given.lines_.shape == expected.lines_.shape
    for own, other in zip(given.lines_.ravel(), expected.lines_.ravel()):
        assert (own is None) == (other is None)
        if own is not None:
            np.testing.assert_allclose(
                own.get_xydata().astype(float), other.get_xydata().astype(float), rtol=1e-10
            )
    for own, other in zip(given.axes_.ravel(), expected.axes_.ravel()):
        assert (own.get_xlabel(), own.get_ylabel()) == (other.get_xlabel(), other.get_ylabel())
        np.testing.assert_allclose(own.get_ylim(), other.get_ylim(), rtol=1e-10)


@pytest.mark.parametrize(
    ("features", "options"),
    [
        (["a", ("a", "b")], {}),
        (["a", 1], {"kind": "both", "subsample": 10, "random_state": 0}),
        (["a", "b"], {"kind": ["individual", "both"], "subsample": 0.2, "random_state": 1, "centered": True}),
        (["size", ("size", "floor")], {"categorical_features": ["size", "floor"]}),
        (["a"], {"sample_weight": np.arange(80.0)}),
        (["a"], {"percentiles": (0.2, 0.8), "custom_values": None, "n_jobs": 1, "n_cols": 1}),
    ],
)
def test_pictures_equal_scikit_learns(features: Any, options: dict[str, Any]) -> None:
    model = encoded(LinearRegression()).fit(FRAME, FRAME_Y)
    arguments = (model, FRAME, features)
    options = {"grid_resolution": 6, **options}
    assert_same_picture(drawn(ours, *arguments, **options), drawn(sklearn.inspection, *arguments, **options))


def test_pictures_of_one_class_and_one_output_equal_scikit_learns() -> None:
    iris = load_iris()
    classes = LogisticRegression(max_iter=500).fit(iris.data, iris.target_names[iris.target])
    for target in iris.target_names:
        arguments, options = (classes, iris.data, [0, (1, 2)]), {"target": target, "grid_resolution": 4}
        assert_same_picture(
            drawn(ours, *arguments, **options), drawn(sklearn.inspection, *arguments, **options)
        )
    outputs = MODELS["several outputs"]()
    arguments, options = (outputs, X, [0]), {"target": 1, "grid_resolution": 4}
    assert_same_picture(drawn(ours, *arguments, **options), drawn(sklearn.inspection, *arguments, **options))


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ([(0, 1, 2)], {}, "Each entry in features"),
        ([4.5], {}, "Each entry in features"),
        ([9], {}, "All entries of features must be less than"),
        (["z"], {}, "not in feature_names"),
        ([(0, 1)], {"kind": "both"}, "ICE plot cannot be rendered"),
        ([0, 1], {"kind": ["both"]}, "`kind` is provided as a list"),
        ([0], {"kind": "mean"}, "kind"),
        ([0], {"subsample": 0}, "should be positive"),
        ([0], {"subsample": 1.5}, r"\(0, 1\) range"),
        ([(0, 1)], {"categorical_features": [0]}, "continuous and categorical"),
        ([0], {"categorical_features": [0], "kind": "both"}, "individual effects"),
        ([0], {"categorical_features": [0], "grid_resolution": 3}, "resolution of the computed grid"),
        ([0, 1], {"ax": [None]}, "Expected ax to have 2 axes, got 1"),
    ],
)
def test_displays_refuse_what_scikit_learns_refuse(
    features: Any, options: dict[str, Any], message: str
) -> None:
    model = LinearRegression().fit(X, Y)
    for library in (ours, sklearn.inspection):
        with pytest.raises(ValueError, match=message):
            drawn(library, model, X, features, **options)


def test_targets_outside_the_outputs_are_refused() -> None:
    """scikit-learn lets a target one past the last output through to an IndexError."""
    model = MODELS["several outputs"]()
    for target in (-1, 3, None):
        with pytest.raises(ValueError, match="target must be"):
            drawn(ours, model, X, [0], target=target)


def test_several_jobs_give_the_same_picture() -> None:
    friedman, target = make_friedman1(n_samples=50, random_state=0)
    model = LinearRegression().fit(friedman, target)
    one = drawn(ours, model, friedman, [0, 1], grid_resolution=4)
    with joblib.parallel_config(backend="threading"):
        two = drawn(ours, model, friedman, [0, 1], grid_resolution=4, n_jobs=2)
    assert_same_picture(two, one)


def test_the_function_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(ours.partial_dependence)) is ours.partial_dependence
