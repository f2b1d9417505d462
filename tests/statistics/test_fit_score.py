"""Scores and means in groups, against scikit-learn and plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score, roc_auc_score

from icefield import Explainer
from icefield.statistics import fit_score
from icefield.statistics.fit_score import LEAST_ROWS, Observed, along_feature, along_predictions, at_levels


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=700),
            "b": rng.integers(0, 5, 700),
            "c": pd.Categorical(rng.choice(["x", "y", "rare"], 700, p=[0.6, 0.396, 0.004])),
        }
    )
    X.loc[:59, "a"] = np.nan
    return X, X["a"].fillna(0).to_numpy() + 0.3 * rng.normal(size=700), rng.integers(1, 4, 700).astype(float)


def seen_of(X, y, weights=None):
    study = Explainer(lambda r: r["a"].fillna(0.0).to_numpy() * 0.9 + 0.1, X, y=y, weights=weights).study
    seen, why = fit_score.observed(study)
    assert why == ""
    return study, seen


def test_scores_of_numbers_are_scikit_learns(rows):
    X, y, weights = rows
    for given in (None, weights):
        _, seen = seen_of(X, y, given)
        predicted = X["a"].fillna(0).to_numpy() * 0.9 + 0.1
        assert fit_score.explained(seen)[0] == pytest.approx(r2_score(y, predicted, sample_weight=given))
        assert fit_score.mean_absolute(seen)[0] == pytest.approx(
            mean_absolute_error(y, predicted, sample_weight=given)
        )
        square = np.average(np.square(y - predicted), weights=given)
        assert fit_score.root_mean_square(seen)[0] == pytest.approx(np.sqrt(square))


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_classes_are_scikit_learns(rows, classes):
    X, y, weights = rows
    known = X[["b"]].assign(a=X["a"].fillna(0.0).round(1))
    label = np.digitize(y, [0.0] if classes == 2 else [-0.5, 0.5])
    model = LogisticRegression().fit(known, label)
    seen, _ = fit_score.observed(Explainer(model, known, y=label, weights=weights).study)
    share = model.predict_proba(known)
    right = fit_score.accuracy(seen)
    assert right[0] == pytest.approx(accuracy_score(label, model.predict(known), sample_weight=weights))
    assert right[1] == pytest.approx(np.bincount(label, weights).max() / weights.sum())
    assert fit_score.log_loss(seen)[0] == pytest.approx(log_loss(label, share, sample_weight=weights))
    if classes == 2:
        area = fit_score.roc_auc(seen.truth[:, 0], seen.predicted[:, 0], seen.weights)
        assert area == pytest.approx(roc_auc_score(label, share[:, 1], sample_weight=weights))


def test_groups_along_the_predictions_are_a_plain_loops(rows):
    X, y, weights = rows
    _, seen = seen_of(X, y, weights)
    bins = along_predictions(seen, 0)
    order = np.argsort(seen.predicted[:, 0], kind="stable")
    assert bins.rows.sum() == len(order)
    assert (bins.rows >= fit_score.BIN_ROWS).all()
    assert (np.diff(bins.at) > 0).all()
    start = 0
    for size, at, observed in zip(bins.rows, bins.at, bins.observed, strict=True):
        group = order[start : start + size]
        assert at == pytest.approx(np.average(seen.predicted[group, 0], weights=seen.weights[group]))
        assert observed == pytest.approx(np.average(y[group], weights=seen.weights[group]))
        start += size


def test_no_mean_is_of_fewer_than_five_rows(rows):
    X, y, _ = rows
    study, seen = seen_of(X, y)
    levels = ["x", "y", "rare"]
    places, bins = at_levels(seen, study.sample.table.column("c"), levels, 0)
    counts = X["c"].value_counts()
    assert counts["rare"] < LEAST_ROWS
    assert places.tolist() == [0, 1]
    assert bins.rows.tolist() == [counts["x"], counts["y"]]
    assert bins.observed[1] == pytest.approx(y[X["c"] == "y"].mean())
    gone = fit_score.where_missing(seen, study.sample.table.column("a"), 0)
    assert gone.rows.tolist() == [60]
    assert gone.observed[0] == pytest.approx(y[:60].mean())
    for size in (5, 9, 23, 60):
        few = Observed(np.arange(size), size, y[:size, None], y[:size, None], np.ones(size), False)
        column = Explainer(
            lambda r: r["v"], pd.DataFrame({"v": np.arange(float(size))})
        ).study.sample.table.column("v")
        assert (along_feature(few, column, 0).rows >= LEAST_ROWS).all()


def test_whole_numbers_have_a_group_each_and_others_equal_parts(rows):
    X, y, _ = rows
    study, seen = seen_of(X, y)
    bins = along_feature(seen, study.sample.table.column("b"), 0)
    assert bins.at.tolist() == [0, 1, 2, 3, 4]
    assert bins.observed[2] == pytest.approx(y[X["b"] == 2].mean())
    bins = along_feature(seen, study.sample.table.column("a"), 0)
    assert len(bins.at) == fit_score.FEATURE_BINS
    assert bins.rows.sum() == 640
    assert np.ptp(bins.rows) <= 1


def test_what_cannot_be_compared_is_said_why(rows):
    X, y, _ = rows
    assert fit_score.observed(Explainer(lambda r: r["b"], X).study) == (None, "no y was given")
    gone = y.copy()
    gone[3] = np.nan
    assert "missing" in fit_score.observed(Explainer(lambda r: r["b"], X, y=gone).study)[1]
