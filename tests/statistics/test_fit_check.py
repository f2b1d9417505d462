"""Noise that was learned by heart must be seen, and a real signal must not be doubted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from icefield import Explainer
from icefield.statistics.fit_check import fit_check


def noise(seed: int, rows: int = 500, columns: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.normal(size=rows)


def checked(model: Any, X: Any, y: Any, **given: Any) -> Any:
    return fit_check(Explainer(model, X, y=y, **given).study)


@pytest.mark.parametrize("seed", range(4))
def test_noise_learned_by_heart_is_seen(seed):
    X, y = noise(seed)
    model = HistGradientBoostingRegressor(max_iter=60).fit(X, y)
    found = checked(model, X, y)
    assert found.score > 0.5
    assert found.by_heart
    summary = Explainer(model, X, y=y).summary(features=[0, 1])
    assert summary.warnings[0] == found.caution
    assert f"! {found.caution}" in summary.notes
    assert summary.fit == found


@pytest.mark.parametrize("seed", range(4))
def test_rows_the_model_has_not_seen_tell_at_once(seed):
    X, y = noise(seed)
    model = HistGradientBoostingRegressor(max_iter=30).fit(X, y)
    found = checked(model, *noise(seed + 100))
    assert found.useless
    assert "hardly anything about y" in found.caution


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", ["line", "product", "parity", "classes"])
@pytest.mark.parametrize("seed", range(3))
def test_a_signal_is_not_doubted(seed, shape):
    X, error = noise(seed, rows=800)
    if shape == "classes":
        y = (X[:, 0] + error > 0).astype(int)
        model = HistGradientBoostingClassifier(max_iter=40).fit(X, y)
    else:
        y = {"line": X[:, 0], "product": X[:, 0] * X[:, 1], "parity": np.sign(X[:, 0] * X[:, 1])}[
            shape
        ] + 0.7 * error
        model = HistGradientBoostingRegressor(max_iter=40).fit(X, y)
    found = checked(model, X, y)
    assert found.caution == ""
    assert found.carried > 0.1
    assert "on rows it has not seen" in " ".join(Explainer(model, X, y=y).summary(features=[0]).notes)


def test_rare_classes_of_noise_are_seen():
    X, _ = noise(1, rows=700)
    y = (np.random.default_rng(2).random(700) < 0.05).astype(int)
    assert checked(HistGradientBoostingClassifier(max_iter=60).fit(X, y), X, y).by_heart


def test_rows_of_a_person_do_not_vouch_for_each_other():
    """Everybody has a level of their own, and is known by an unchanging column: only clusters tell that apart."""
    rng = np.random.default_rng(3)
    people = np.repeat(np.arange(60), 12)
    X = np.column_stack([rng.normal(size=60)[people], rng.normal(size=720)])
    y = rng.normal(size=60)[people] + 0.1 * rng.normal(size=720)
    model = HistGradientBoostingRegressor(max_iter=100).fit(X, y)
    assert checked(model, X, y).caution == ""
    assert checked(model, X, y, cluster=people).by_heart


def test_weights_count():
    """Where only noise has weight, the signal of other rows says nothing."""
    X, error = noise(4, rows=1_000)
    first = np.arange(1_000) < 500
    y = np.where(first, 2 * X[:, 0], 0) + error
    model = HistGradientBoostingRegressor(max_iter=60).fit(X, y)
    assert checked(model, X, y).caution == ""
    assert checked(model, X, y, weights=np.where(first, 1e-9, 1.0)).by_heart


def test_the_score_is_the_share_of_the_variance():
    X, error = noise(5, rows=400)
    y = X[:, 0] + error
    model = LinearRegression().fit(X, y)
    assert checked(model, X, y).score == pytest.approx(model.score(X, y), rel=1e-12)


def test_nothing_is_said_without_targets_or_rows():
    X, y = noise(6, rows=50)
    model = LinearRegression().fit(X, y)
    assert fit_check(Explainer(model, X).study) is None
    assert checked(model, X, y) is None
    assert Explainer(model, X).summary().fit is None
