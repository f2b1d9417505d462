"""The display: scikit-learn's pictures of our numbers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn
import sklearn.inspection
from dropin_samples import FRAME, FRAME_Y, MODELS, X, Y, assert_same, encoded
from sklearn.datasets import load_iris, make_friedman1
from sklearn.linear_model import LinearRegression, LogisticRegression

import icefield.sklearn as ours


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    plt.switch_backend("agg")
    yield
    plt.close("all")


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
            assert (own.get_color(), own.get_linestyle()) == (other.get_color(), other.get_linestyle())
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
        (["a"], {"percentiles": (0.2, 0.8), "n_jobs": 1, "n_cols": 1}),
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
