"""The live row: the report evaluates the model itself, offline, as the model does."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer

sys.path.insert(0, str(Path(__file__).parent.parent / "explore"))
from explored import data, fitted


def test_a_row_is_changed_and_its_prediction_and_curves_follow(browser, tmp_path):
    X, y = data()
    model = fitted(X, y)
    ex = Explainer(model, X, y)
    path = ex.report(tmp_path / "live.html", live=True)
    browser.look()
    browser.open(path)
    assert browser.problems == []
    assert browser.requests == [path.resolve().as_uri()]
    row = browser.run("document.getElementById('live-row').live.values")
    frame = pd.DataFrame([row]).astype({"age": float, "income": float, "cars": int})
    frame["town"] = pd.Categorical(frame["town"], categories=X["town"].cat.categories)
    shown = "Number(document.getElementById('live-row').dataset.predicted)"
    assert browser.run(shown) == pytest.approx(model.predict(frame[list(X.columns)])[0], abs=1e-9)
    live = "document.getElementById('live-row').live"
    browser.run(f"{live}.set({live}.given.features[0], 71.5); 0")
    frame["age"] = 71.5
    assert browser.run(shown) == pytest.approx(model.predict(frame[list(X.columns)])[0], abs=1e-9)
    curve = browser.run(
        f"{live}.forest.curve({live}.values, 'income', {live}.given.features[1].values).map((v) => v[0])"
    )
    grid = ex.partial_dependence("income").grid[0]
    moved = pd.concat([frame[list(X.columns)]] * len(grid), ignore_index=True).assign(income=grid)
    np.testing.assert_allclose(curve, model.predict(moved), atol=1e-9)
    assert "holds the model itself" in path.read_text(encoding="utf-8")


def test_live_and_static_contradict_each_other(complains):
    X, y = data()
    with complains("live", "script"):
        Explainer(fitted(X, y), X).report(live=True, static=True)
