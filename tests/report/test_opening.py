"""What the report says first, what it leaves out for privacy, and how it warns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from handling import as_json
from lightgbm import LGBMClassifier

from icefield import Explainer
from icefield.report import build
from icefield.report.page import page_html
from icefield.wording.sentences import plain_cautions


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    X["b"] = X["a"] + 0.1 * X["b"]
    X["who"] = rng.choice(["many", "others"], 400)
    X.loc[7, "who"] = "Anna Example"
    return X


def plain_model(rows):
    return (rows["a"] + rows["c"]).to_numpy()


def test_a_group_of_one_row_is_that_rows_own_curve_and_left_out(frame):
    ex = Explainer(plain_model, frame, by="who")
    quiet = build(ex.study, ["a"])
    assert quiet.groups == ["many", "others"]
    assert quiet.small_groups == 1
    assert len(quiet.features[0].panel.groups) == 2
    assert "Anna" not in str(quiet.features)
    asked = build(ex.study, ["a"], individual=True)
    assert "Anna Example" in asked.groups
    assert asked.small_groups == 0


def test_the_opening_names_model_data_and_way(frame):
    numbers = frame[["a", "b", "c"]]
    y = (frame["a"] + frame["c"] > 0).to_numpy()
    trees = Explainer(LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1).fit(numbers, y), numbers)
    page = build(trees.study)
    said = {fact.term: fact.text for fact in page.opening}
    assert said["Model"] == "lightgbm LGBMClassifier, classifier"
    assert said["Data"] == "400 rows, 3 features (3 float)"
    assert said["Computed"].startswith("exactly, from the model’s trees, over every row; probability")
    assert page.title == "How LGBMClassifier responds to its features"
    function = build(Explainer(plain_model, frame, by="who").study, ["a"])
    said = {fact.term: fact.text for fact in function.opening}
    assert said["Model"] == "a Python function, plain_model"
    assert function.title == "How the model responds to its features"


def test_advice_for_callers_is_not_on_the_page(frame):
    page = build(Explainer(lambda rows: (rows["a"] * rows["c"]).to_numpy(), frame[["a", "b", "c"]]).study)
    text = as_json(page)
    assert "scale=" not in text
    assert "rows=" not in text
    assert page.matrix.note.startswith(
        "300 of 400 rows, sampled with the seed; an empty cell was not computed"
    )


def test_a_page_without_interactions_says_so(frame):
    page = build(Explainer(plain_model, frame[["a", "b", "c"]]).study)
    assert page.matrix is None
    assert page.no_pairs == "No two features interact: all rows respond to each feature in the same way."
    assert page.no_pairs in page_html(page)


def test_warnings_use_no_terms_before_they_are_explained(frame):
    ex = Explainer(plain_model, frame[["a", "b", "c"]])
    found = ex.summary()
    text = plain_cautions(found.readings["a"], found.effects["a"].support)
    assert (
        "combinations that do not occur in the data, all along the axis; the feature is associated with b"
        in text
    )
    assert "PD" not in text
    assert plain_cautions(found.readings["c"], found.effects["c"].support) == ""
    crossing = Explainer(lambda r: r[:, 0] * np.sign(r[:, 1]), np.random.default_rng(0).normal(size=(300, 2)))
    hidden = crossing.summary()
    assert (
        plain_cautions(hidden.readings[0], hidden.effects[0].support)
        == "the average does not move, but individual rows do"
    )


def test_two_values_are_compared_and_many_curves_fit_the_file():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"flag": rng.random(300) < 0.5, "x": rng.normal(size=300)})
    page = build(
        Explainer(lambda r: 2.0 * r["flag"].to_numpy() + r["x"].to_numpy(), X).study, individual=True
    )
    plain = {line.name: line.sides[0].text for line in page.plain}
    assert plain["flag"].startswith("the average prediction is higher for True (")
    assert " than for False (" in plain["flag"]
    assert page.individual == 100


def test_a_fit_of_noise_is_said_beside_the_fit():
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    model = HistGradientBoostingRegressor(max_iter=40).fit(X, y)
    page = build(Explainer(model, X, y=y).study)
    assert page.fit.caution.startswith("R² 0.")
    text = page_html(page)
    assert text.index('id="fit"') < text.index("Beware: R² 0.") < text.index('id="plain"')
    assert "Beware" not in page_html(build(Explainer(model, X).study))
