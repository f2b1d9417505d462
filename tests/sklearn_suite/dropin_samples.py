"""Rows, models and comparisons shared by the tests of the drop-in."""

from __future__ import annotations

import re
import sys
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import sklearn
import sklearn.inspection
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.extmath import cartesian

import icefield.sklearn as ours

VERSION = tuple(map(int, re.findall(r"\d+", sklearn.__version__)[:2]))

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
    given = ours.partial_dependence(*args, **kwargs)
    assert_same(given, theirs(*args, grid=given["grid_values"], **kwargs), rtol)


def theirs(*args: Any, grid: list[np.ndarray], **kwargs: Any) -> Any:
    """scikit-learn's answer; before it had `custom_values` (1.7), on this grid in place of its own."""
    if VERSION >= (1, 7) or "custom_values" not in kwargs:
        return sklearn.inspection.partial_dependence(*args, **kwargs)
    del kwargs["custom_values"]
    module = sys.modules["sklearn.inspection._partial_dependence"]
    with patch.object(module, "_grid_from_X", lambda *_: (cartesian(grid), grid)):
        return sklearn.inspection.partial_dependence(*args, **kwargs)


MODELS = {
    "linear": lambda: LinearRegression().fit(X, Y),
    "several outputs": lambda: LinearRegression().fit(X, np.c_[Y, -2 * Y, Y**2]),
    "logistic": lambda: LogisticRegression().fit(X, BINARY),
    "three classes": lambda: LogisticRegression().fit(X, THREE),
    "decision function only": lambda: SGDClassifier(random_state=0).fit(X, BINARY),
    "forest classifier": lambda: RandomForestClassifier(5, random_state=0).fit(X, THREE),
    "network": lambda: MLPRegressor(hidden_layer_sizes=(8,), max_iter=30, tol=1e9, n_iter_no_change=2, random_state=0).fit(X, Y),
    "neighbours": lambda: KNeighborsRegressor().fit(X, Y),
    "search": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), LinearRegression()), {"linearregression__fit_intercept": [True]}
    ).fit(X, Y),
}  # fmt: skip
