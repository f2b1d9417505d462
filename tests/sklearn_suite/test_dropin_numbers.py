"""The function: the same numbers, types and errors as scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.inspection
from dropin_samples import BINARY, FRAME, FRAME_Y, MODELS, THREE, VERSION, X, Y, assert_same_call, encoded
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeRegressor

import icefield.sklearn as ours


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
    network = MLPRegressor(
        hidden_layer_sizes=(8,), max_iter=30, tol=1e9, n_iter_no_change=2, random_state=0
    ).fit(single, Y)
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
    monkeypatch.setattr("icefield.core.question.Resources.memory", 1024)
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
    model = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5, categorical_features="from_dtype")
    model.fit(rows, FRAME_Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_call(model, rows, ["a"], grid_resolution=5, rtol=0)


# --- the same errors -------------------------------------------------------------------------------


def refused(**kwargs: Any) -> dict[str, Any]:
    return {"estimator": LinearRegression().fit(X, Y), "X": X, "features": [0], **kwargs}


ERRORS: dict[str, Callable[[], dict[str, Any]]] = {
    "unfitted": lambda: refused(estimator=LinearRegression()),
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
    kinds = (ValueError, TypeError, ZeroDivisionError)
    with pytest.raises(kinds) as given:
        ours.partial_dependence(**arguments)
    if "custom_values" in arguments and VERSION < (1, 7):
        return
    with pytest.raises(kinds) as expected:
        sklearn.inspection.partial_dependence(**arguments)
    assert isinstance(given.value, next(kind for kind in kinds if isinstance(expected.value, kind)))


def test_whole_numbers_are_taken_warned_of_or_refused_as_the_installed_version_does() -> None:
    whole = np.random.default_rng(5).integers(0, 4, (50, 2))
    model = LinearRegression().fit(whole, whole[:, 0] * 2.0)
    if VERSION >= (1, 9):
        for library in (ours, sklearn.inspection):
            with pytest.raises(ValueError, match="The column 0 contains integer data"):
                library.partial_dependence(model, whole, [0])
    elif VERSION >= (1, 7):
        with pytest.warns(FutureWarning, match="The column 0 contains integer data") as caught:
            assert_same_call(model, whole, [0], kind="both")
        assert [one.category for one in caught] == [FutureWarning] * 2
    else:
        assert_same_call(model, whole, [0], kind="both")


def test_names_that_a_frame_has_twice_or_not_at_all_are_refused() -> None:
    model = LinearRegression().fit(X, Y)
    twice = pd.DataFrame(X, columns=["a", "a", "b", "c"])
    with pytest.raises(ValueError, match="not unique"):
        ours.partial_dependence(model, twice, ["a"], feature_names=["u", "v", "w", "x"])
    with pytest.raises(ValueError, match=r"column.*'z'"):
        ours.partial_dependence(model, twice, ["z"], feature_names=["u", "v", "w", "x"])


def test_other_frames_are_refused_with_a_way_out() -> None:
    with pytest.raises(TypeError, match=r"polars DataFrame.*Explainer"):
        ours.partial_dependence(LinearRegression().fit(X, Y), pl.DataFrame(X), [0])


def test_errors_of_the_model_are_the_callers_to_see() -> None:
    with pytest.raises(ValueError, match="X has 3 features"):
        ours.partial_dependence(LinearRegression().fit(X, Y), X[:, :3], [0])
