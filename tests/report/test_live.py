"""The live row: the report evaluates the model itself, offline, as the model does."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.wording.values import number_text

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
    assert "contains the model" in path.read_text(encoding="utf-8")


def shown_row(browser, X):
    """The live row's values as a frame of the data's own types."""
    row = browser.run("document.getElementById('live-row').live.values")
    frame = pd.DataFrame([row])[list(X.columns)]
    return frame.assign(**{name: frame[name].astype(X[name].dtype) for name in X.columns})


PREDICTED = "Number(document.getElementById('live-row').dataset.predicted)"


def catboost(X, y):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=10, depth=3, verbose=False, allow_writing_files=False).fit(X, y > 10)


def xgboost(X, y):
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=10, n_jobs=1).fit(X, (y > 10).astype(int))


def scaled(X, y):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        SimpleImputer(),
        StandardScaler(),
        RandomForestClassifier(n_estimators=10, max_depth=5, random_state=0),
    ).fit(X, y > 10)


@pytest.mark.parametrize("make", [catboost, xgboost, scaled])
def test_values_are_dragged_and_typed_in_other_models_too(browser, tmp_path, make):
    X, y = data()
    X = X.drop(columns="town")
    model = make(X, y)
    path = Explainer(model, X).report(tmp_path / "live.html", live=True)
    browser.look(width=1280, height=1100)
    browser.open(path)

    def agrees():
        assert browser.run(PREDICTED) == pytest.approx(
            model.predict_proba(shown_row(browser, X))[0, 1], abs=1e-6
        )

    agrees()
    plot = browser._page.locator(".live-plot").first
    plot.scroll_into_view_if_needed()
    box, before = plot.bounding_box(), shown_row(browser, X)["age"][0]
    browser._page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.4 * box["height"])
    browser._page.mouse.down()
    browser._page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.4 * box["height"])
    browser._page.mouse.up()
    assert shown_row(browser, X)["age"][0] != before
    agrees()
    browser._page.locator("#live-row").get_by_label("income").fill("missing")
    browser.press("Enter")
    assert np.isnan(shown_row(browser, X)["income"][0])
    agrees()
    browser._page.locator("#live-row").get_by_label("cars", exact=True).fill("3")
    browser.press("Enter")
    assert shown_row(browser, X)["cars"][0] == 3
    agrees()
    assert browser.problems == []


def test_classes_are_switched_and_words_are_pythons(browser, tmp_path):
    from lightgbm import LGBMClassifier

    X, y = data()
    labels = np.where(y > np.quantile(y, 0.7), "high", np.where(y > np.quantile(y, 0.3), "mid", "low"))
    model = LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(X, labels)
    path = Explainer(model, X).report(tmp_path / "live.html", live=True)
    browser.look()
    browser.open(path)
    for number, name in enumerate(model.classes_):
        browser._page.locator("#live-row").get_by_label("Output").select_option(label=name)
        chance = model.predict_proba(shown_row(browser, X))[0, number]
        assert browser.run(PREDICTED) == pytest.approx(chance, abs=1e-9)
        told = browser.run("document.querySelector('.live-prediction').textContent")
        assert told.startswith(number_text(float(f"{chance:.4g}")))
        assert told.endswith("of this row as it is")
        assert name in told
    browser.run(
        "(() => { const live = document.getElementById('live-row').live; live.set(live.given.features[0], 71.5); })()"
    )
    told = browser.run("document.querySelector('.live-prediction').textContent")
    assert "than" in told
    assert "{" not in told
    assert browser.problems == []


def test_live_and_static_contradict_each_other(complains):
    X, y = data()
    with complains("live", "script"):
        Explainer(fitted(X, y), X).report(live=True, static=True)
