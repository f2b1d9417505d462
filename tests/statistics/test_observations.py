"""Observed targets beside predictions: the right indicator per class, and a reason where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

from icefield import Explainer
from icefield.statistics.observations import observed_outputs


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 2))


def test_a_regressors_target_is_itself(X):
    y = X @ [1.0, 2.0]
    found, reason = observed_outputs(Explainer(LinearRegression().fit(X, y), X, y=y).study)
    np.testing.assert_array_equal(found[:, 0], y)
    assert reason == ""


def test_classes_become_indicators(X):
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    found, _ = observed_outputs(Explainer(LogisticRegression().fit(X, y), X, y=y).study)
    np.testing.assert_array_equal(found, (y[:, None] == np.array(["a", "b", "c"])).astype(float))
    one, _ = observed_outputs(Explainer(LogisticRegression().fit(X, y), X, y=y, target="b").study)
    np.testing.assert_array_equal(one[:, 0], y == "b")


@pytest.mark.parametrize("dtype", [int, bool, float])
def test_the_positive_class_of_two(X, dtype):
    y = (X[:, 0] > 0).astype(dtype)
    found, _ = observed_outputs(Explainer(LogisticRegression().fit(X, y), X, y=y).study)
    np.testing.assert_array_equal(found[:, 0], X[:, 0] > 0)


def test_several_targets(X):
    y = np.column_stack([X[:, 0], X[:, 1], X.sum(axis=1)])
    model = LinearRegression().fit(X, y)
    found, _ = observed_outputs(Explainer(model, X, y=y, target=[2, 0]).study)
    np.testing.assert_array_equal(found, y[:, [2, 0]])


def test_reasons(X):
    labels = np.where(X[:, 0] > 0, "up", "down")
    cases = [
        (Explainer(lambda r: r[:, 0], X), "no y"),
        (Explainer(LinearSVC().fit(X, labels), X, y=labels), "compared"),
        (Explainer(LogisticRegression().fit(X, labels), X, y=labels, scale="raw"), "compared"),
        (Explainer(LogisticRegression().fit(X, labels), X, y=np.full(60, "sideways")), "no outputs"),
        (Explainer(lambda r: r[:, 0], X, y=labels), "numbers"),
        (Explainer(lambda r: r[:, 0], X, y=np.full(60, np.nan)), "missing"),
    ]
    for ex, word in cases:
        found, reason = observed_outputs(ex.study)
        assert found is None
        assert word in reason
