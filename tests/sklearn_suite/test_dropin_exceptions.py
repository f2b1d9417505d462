"""Where scikit-learn's answer is plainly wrong: ours is right, and a warning says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.inspection
from dropin_samples import BINARY, FRAME, FRAME_Y, VERSION, X, Y, assert_same, assert_same_call, theirs
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import icefield.sklearn as ours


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
    model = HistGradientBoostingClassifier(
        max_iter=15, max_leaf_nodes=2, min_samples_leaf=3, categorical_features="from_dtype"
    ).fit(rows, target)
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
    model = HistGradientBoostingRegressor(
        max_iter=15, max_leaf_nodes=2, min_samples_leaf=3, categorical_features="from_dtype"
    ).fit(rows, FRAME_Y)
    wrong = sklearn.inspection.partial_dependence(model, rows, ["a"], grid_resolution=6)["average"]
    exact = sklearn.inspection.partial_dependence(model, rows, ["a"], method="brute", grid_resolution=6)[
        "average"
    ]
    assert np.abs(np.ptp(wrong) - np.ptp(exact)) > 0.1
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
        wrong = sklearn.inspection.partial_dependence(model, column, [0])["average"][0]
        assert abs(wrong[2] - wrong[0]) > 1.0


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=3, random_state=0),
        RandomForestRegressor(4, max_depth=3, random_state=0),
    ],
)
def test_recursion_of_several_outputs_is_refused(model: Any) -> None:
    """scikit-learn gives one curve, mixed from the outputs: neither may come back unnoticed."""
    single = sklearn.inspection.partial_dependence(clone(model).fit(X, Y), X, [0], grid_resolution=5)
    model.fit(X, np.c_[Y, -2 * Y])
    mixed = sklearn.inspection.partial_dependence(model, X, [0], grid_resolution=5)["average"]
    assert mixed.shape == (1, 5)
    assert not np.allclose(mixed, single["average"], rtol=0.05)
    for method in ("auto", "recursion"):
        with pytest.raises(
            ValueError, match=rf"`method` cannot be recursion.*2 outputs.*'{method}'.*method='brute'"
        ):
            ours.partial_dependence(model, X, [0], grid_resolution=5, method=method)
        with pytest.raises(ValueError, match="2 outputs"):
            ours.PartialDependenceDisplay.from_estimator(model, X, [0], method=method)
    assert_same_call(model, X, [0], grid_resolution=5, method="brute", kind="both")


def test_fractions_in_an_array_of_whole_numbers_are_not_cut() -> None:
    whole = np.random.default_rng(5).integers(0, 4, (50, 2))
    model = LinearRegression().fit(whole, whole[:, 0] * 2.0)
    with pytest.warns(UserWarning, match=r"grid holds 0\.5") as caught:
        given = ours.partial_dependence(
            model, whole, [0], categorical_features=[0], custom_values={0: [0.5, 1.5]}
        )
    assert caught[0].filename == __file__
    np.testing.assert_allclose(given["average"], [[1.0, 3.0]], rtol=1e-10)


def test_sparse_columns_get_a_grid_of_their_values() -> None:
    linear = LinearRegression().fit(X, Y)
    with pytest.warns(UserWarning, match="grid of a single point") as caught:
        given = ours.partial_dependence(linear, sp.csr_matrix(X), [0], grid_resolution=5)
    assert caught[0].filename == __file__
    assert_same(given, sklearn.inspection.partial_dependence(linear, X, [0], grid_resolution=5))


def test_two_rows_of_a_binary_classifier_work() -> None:
    model = LogisticRegression().fit(X, BINARY)
    if VERSION >= (1, 6):
        with pytest.raises(ValueError, match="cannot reshape"):
            sklearn.inspection.partial_dependence(model, X[:2], [0])
    given = ours.partial_dependence(model, X[:2], [0], kind="both")
    for k, value in enumerate(given["grid_values"][0]):
        rows = X[:2].copy()
        rows[:, 0] = value
        np.testing.assert_allclose(given["individual"][0, :, k], model.predict_proba(rows)[:, 1], rtol=1e-12)


@pytest.mark.parametrize(
    ("features", "options"),
    [
        (["narrow"], {}),
        (["lift", "a"], {}),
        (["floor"], {"categorical_features": ["floor"], "custom_values": {"floor": [0.5, 1.5]}}),
    ],
    ids=["single precision", "truth and number", "fractions of whole numbers"],
)
def test_pandas_columns_that_scikit_learn_stumbles_over_work(features: Any, options: dict[str, Any]) -> None:
    rows = FRAME[["a", "floor", "lift"]].assign(narrow=X[:, 1].astype(np.float32))
    linear = LinearRegression().fit(rows, Y)
    given = ours.partial_dependence(linear, rows, features, grid_resolution=3, **options)
    if pd.__version__ >= "3":
        with pytest.raises(TypeError, match="Invalid value"):
            theirs(linear, rows, features, grid_resolution=3, grid=given["grid_values"], **options)
    expected = theirs(
        linear, rows.astype(np.float64), features, grid=given["grid_values"],
        custom_values=dict(zip(features, given["grid_values"])),
    )  # fmt: skip
    np.testing.assert_allclose(given["average"], expected["average"], rtol=1e-6)
