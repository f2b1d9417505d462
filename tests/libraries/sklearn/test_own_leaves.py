"""The same leaf for every row where a library has no call that says so: its own nodes walked here.

HistGradientBoosting keeps nodes as records, walked in plain Python; an IsolationForest's members
say their leaves themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, IsolationForest

from icefield.data.frame import table_of
from icefield.libraries.reading import read
from tree_reading import error, on_the_thresholds, same_leaves


def own_leaf(predictor: Any, row: np.ndarray, known: dict[int, set[float]]) -> int:
    """The number of the node a preprocessed row ends at, by scikit-learn's documented rules."""
    nodes, at = predictor.nodes, 0
    while not nodes[at]["is_leaf"]:
        node = nodes[at]
        column, value = int(node["feature_idx"]), row[int(node["feature_idx"])]
        if np.isnan(value):
            left = node["missing_go_to_left"]
        elif node["is_categorical"]:
            if value < 0 or value not in known[column]:
                left = node["missing_go_to_left"]
            else:
                word = predictor.raw_left_cat_bitsets[node["bitset_idx"]][int(value) // 32]
                left = (int(word) >> (int(value) % 32)) & 1
        else:
            left = value <= node["num_threshold"]
        at = int(node["left"] if left else node["right"])
    return at


def own_leaves(model: Any, X: Any) -> np.ndarray:
    rows = np.asarray(model._preprocess_X(X, reset=False), np.float64)
    known: dict[int, set[float]] = {}
    if model._preprocessor is not None:
        levels = model._preprocessor.named_transformers_["encoder"].categories_
        known = {i: set(np.arange(len(values), dtype=float)) for i, values in enumerate(levels)}
    predictors = [predictor for iteration in model._predictors for predictor in iteration]
    return np.array([[own_leaf(predictor, row, known) for predictor in predictors] for row in rows])


@pytest.fixture(scope="module")
def gaps() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 3))
    X[::6, 0] = np.nan
    X[::9, 2] = np.inf
    X[::11, 2] = -np.inf
    return X, np.nan_to_num(X[:, 0], nan=2.0) * np.sign(X[:, 2]) + X[:, 1]


@pytest.mark.parametrize("several", [False, True])
def test_leaves_of_histogram_boosting_on_numbers(gaps: Any, several: bool) -> None:
    X, y = gaps
    if several:
        y = np.digitize(y, [-0.5, 0.5])
    kind = HistGradientBoostingClassifier if several else HistGradientBoostingRegressor
    model = kind(max_iter=4, min_samples_leaf=4).fit(X, y)
    tree_model = read(model, table_of(X))
    rows = on_the_thresholds(tree_model, X, extra=(np.nan, np.inf, -np.inf))
    assert same_leaves(tree_model, table_of(rows), own_leaves(model, rows))


def test_leaves_of_histogram_boosting_on_categories(gaps: Any) -> None:
    numbers, y = gaps
    draw = np.random.default_rng(1)
    labels = draw.choice(list("abcdefgh"), 200).astype(object)
    labels[::13] = None
    X = pd.DataFrame(
        {"x": numbers[:, 0], "c": pd.Categorical(labels, list("hgfedcba")), "z": numbers[:, 1],
         "n": draw.integers(0, 60, 200).astype(float)}
    )  # fmt: skip
    model = HistGradientBoostingRegressor(
        max_iter=5, min_samples_leaf=3, categorical_features=["c", "n"]
    ).fit(X, y + X["c"].isin(["a", "d"]) * 2 + X["n"] % 3)
    tree_model = read(model, table_of(X))
    rows = on_the_thresholds(tree_model, X, extra=(np.nan,), columns=("x", "z"))
    strange = X.assign(n=np.resize([99.0, -1.0, np.nan, 3.0], 200))
    for asked in (rows, strange):
        assert same_leaves(tree_model, table_of(asked), own_leaves(model, asked))


@pytest.mark.parametrize("settings", [{}, {"max_features": 2}], ids=["all columns", "some columns"])
def test_leaves_of_isolation_forests(gaps: Any, settings: dict[str, Any]) -> None:
    X = np.where(np.isinf(gaps[0]), 9.0, gaps[0])
    model = IsolationForest(n_estimators=5, max_samples=60, random_state=0, **settings).fit(X)
    tree_model = read(model, table_of(X))
    rows = on_the_thresholds(tree_model, X, extra=(np.nan,))
    own = np.column_stack(
        [
            member.tree_.apply(rows[:, features].astype(np.float32))
            for member, features in zip(model.estimators_, model.estimators_features_)
        ]
    )
    assert same_leaves(tree_model, table_of(rows), own)


def test_missing_values_in_sparse_rows_of_isolation_forests(gaps: Any) -> None:
    """scikit-learn knows of missing values in dense rows only; in sparse ones NaN is not less."""
    X = np.nan_to_num(gaps[0], nan=0.0, posinf=0.0, neginf=0.0)
    model = IsolationForest(n_estimators=5, max_samples=60, random_state=0).fit(csr_matrix(X))
    asked = X.copy()
    asked[::3, 1] = np.nan
    for rows in (csr_matrix(asked), asked):
        tree_model = read(model, table_of(rows))
        assert error(tree_model, table_of(rows), model.decision_function(rows)) <= 1e-12
    dense, sparse = (model.decision_function(rows) for rows in (asked, csr_matrix(asked)))
    assert np.abs(dense - sparse).max() > 1e-3
