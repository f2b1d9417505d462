"""The plan: which engine answers, why, and that a wrong or unknown reading is never used silently."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

import icefield.libraries.reading
from icefield import Explainer, Grid
from icefield.errors import EngineError, InputError, ModelError, ReadingWarning
from icefield.forest import TreeModel
from icefield.models import tree_reading as reading
from icefield.models.fingerprint import Fingerprint

READ = icefield.libraries.reading.read


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(150, 3)), columns=list("abc"))
    frame.loc[::6, "b"] = np.nan
    return frame


@pytest.fixture(scope="module")
def booster(rows: pd.DataFrame) -> lgb.LGBMRegressor:
    y = rows["a"] * 2 + rows["b"].fillna(3) + rows["c"] ** 2
    return lgb.LGBMRegressor(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1).fit(rows, y)


# --- a reader that is wrong ------------------------------------------------------------------------


def bent_leaf(trees: TreeModel) -> TreeModel:
    values = trees.forest.leaf_value.copy()
    values[0] += 1e-6
    return replace(trees, forest=replace(trees.forest, leaf_value=values))


def bent_base(trees: TreeModel) -> TreeModel:
    return replace(trees, forest=replace(trees.forest, base=trees.forest.base + 1e-9))


def bent_threshold(trees: TreeModel) -> TreeModel:
    return replace(
        trees, forest=replace(trees.forest, condition_threshold=trees.forest.condition_threshold + 0.3)
    )


def bent_missing(trees: TreeModel) -> TreeModel:
    flipped = ~trees.forest.condition_missing_left
    return replace(trees, forest=replace(trees.forest, condition_missing_left=flipped))


def bent_children(trees: TreeModel) -> TreeModel:
    forest = trees.forest
    return replace(trees, forest=replace(forest, node_left=forest.node_right, node_right=forest.node_left))


def bent_link(trees: TreeModel) -> TreeModel:
    return replace(trees, link=replace(trees.link, apply=lambda raw: raw * 1.0001, additive=False))


BENT = [bent_leaf, bent_base, bent_threshold, bent_missing, bent_children, bent_link]


@pytest.mark.parametrize("bend", BENT)
def test_a_wrong_reading_is_told_and_not_used(bend: Any, rows: Any, booster: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(reading, "read", lambda model, table: bend(READ(model, table)))
    explainer = Explainer(booster, rows)
    with pytest.warns(ReadingWarning, match="LGBMRegressor was read as trees, but the trees as read predict"):
        effect = explainer.partial_dependence("a", grid=5)
    assert effect.engine == "brute"
    assert effect.why.startswith("brute force, because the self-check failed: the trees as read predict")
    expected = Explainer(booster, rows, engine="brute").partial_dependence("a", grid=5)
    assert np.array_equal(effect.average, expected.average)


@pytest.mark.parametrize("bend", BENT)
def test_a_wrong_reading_is_an_error_where_trees_were_asked_for(
    bend: Any, rows: Any, booster: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(reading, "read", lambda model, table: bend(READ(model, table)))
    for options in ({"engine": "trees"}, {"background": "training"}):
        with (
            pytest.warns(ReadingWarning),
            pytest.raises(EngineError, match="the self-check failed: the trees as read predict"),
        ):
            Explainer(booster, rows, **options)


def test_a_wrong_number_of_outputs_is_told(rows: Any, booster: Any, monkeypatch: Any) -> None:
    def doubled(model: Any, table: Any) -> TreeModel:
        trees = READ(model, table)
        link = replace(trees.link, apply=lambda raw: np.concatenate([raw, raw], axis=-1))
        return replace(trees, link=link)

    monkeypatch.setattr(reading, "read", doubled)
    with pytest.warns(ReadingWarning, match="the trees give 2 outputs, the model 1"):
        assert Explainer(booster, rows).partial_dependence("a").engine == "brute"


def test_a_right_reading_warns_of_nothing(rows: Any, booster: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effect = Explainer(booster, rows).partial_dependence("a")
    assert (effect.engine, effect.why) == ("trees", "exact, from the lightgbm trees")


# --- what cannot be read ---------------------------------------------------------------------------


def hinge(rows: Any) -> Any:
    X = rows.fillna(0.0)
    return xgb.train({"objective": "binary:hinge", "nthread": 1}, xgb.DMatrix(X, X["a"] > 0), 2)


def linear_trees(rows: Any) -> Any:
    X = rows.fillna(0.0)
    settings = {"linear_tree": True, "verbose": -1, "num_threads": 1}
    return lgb.train(settings, lgb.Dataset(X, X["a"] * X["c"]), 3)


def mixed(rows: Any) -> Any:
    X = rows.fillna(0.0)
    poly = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    return make_pipeline(poly, DecisionTreeRegressor(max_depth=3)).fit(X, X["a"] * X["c"])


UNREADABLE = {
    "objective": (hinge, "objective 'binary:hinge' is not known"),
    "linear": (linear_trees, "LightGBM linear trees hold linear models in their leaves"),
    "mixed": (mixed, "mixes columns"),
    "boosted": (
        lambda rows: AdaBoostRegressor(n_estimators=2).fit(rows.fillna(0.0), rows["a"]),
        "AdaBoostRegressor is not known to be a sum of trees",
    ),
    "no trees": (
        lambda rows: LinearRegression().fit(rows.fillna(0.0), rows["a"]),
        "LinearRegression is not known to be a sum of trees",
    ),
}


@pytest.mark.parametrize(("build", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_asked_instead_with_the_reason(build: Any, reason: str, rows: Any) -> None:
    model, X = build(rows), rows.fillna(0.0)
    effect = Explainer(model, X).partial_dependence("a", grid=4)
    assert effect.engine == "brute"
    assert effect.why.startswith("brute force, because ")
    assert reason in effect.why
    with pytest.raises(EngineError, match="engine='trees' cannot be used for this model") as caught:
        Explainer(model, X, engine="trees")
    assert reason in str(caught.value)
    assert "engine='auto'" in str(caught.value)
    with pytest.raises(EngineError, match="background='training' needs a model read as trees") as caught:
        Explainer(model, X, background="training")
    assert reason in str(caught.value)
    with pytest.raises(EngineError, match="needs a model read as trees"):
        Explainer(model, X).partial_dependence("a", grid=Grid("thresholds"))


def test_brute_force_that_was_asked_for_says_so(rows: Any, booster: Any) -> None:
    effect = Explainer(booster, rows, engine="brute").partial_dependence("a")
    assert (effect.engine, effect.why) == ("brute", "engine='brute' was asked for")
    with pytest.raises(EngineError, match="engine='brute' was asked for"):
        Explainer(booster, rows, engine="brute", background="training")


def test_products_no_split_looks_at_do_not_tie_columns_together(rows: Any) -> None:
    X = rows.fillna(0.0)
    poly = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    model = make_pipeline(poly, DecisionTreeRegressor(max_depth=1)).fit(X, X["a"] > 0)
    effect = Explainer(model, X, engine="trees").partial_dependence("a", "b", grid=3)
    expected = Explainer(model, X, engine="brute").partial_dependence("a", "b", grid=3)
    assert np.allclose(effect.average, expected.average, rtol=0, atol=1e-13)


# --- values the trees turn out not to know ---------------------------------------------------------


@pytest.fixture(scope="module")
def one_hot() -> tuple[Any, pd.DataFrame]:
    draw = np.random.default_rng(1)
    X = pd.DataFrame({"c": draw.choice(list("abc"), 150).astype(object), "x": draw.normal(size=150)})
    model = catboost.CatBoostRegressor(
        iterations=4, one_hot_max_size=5, cat_features=["c"], verbose=0, thread_count=1,
        allow_writing_files=False,
    )  # fmt: skip
    return model.fit(X, X["x"] + 2 * (X["c"] == "a")), X


def test_a_category_only_the_grid_holds_is_left_to_brute_force(one_hot: Any) -> None:
    model, X = one_hot
    explainer = Explainer(model, X)
    assert explainer.partial_dependence("c").engine == "trees"
    effect = explainer.partial_dependence("c", grid=["a", "strange"])
    assert effect.engine == "brute"
    assert "column 'c' holds a category that no row of X holds" in effect.why
    expected = Explainer(model, X, engine="brute").partial_dependence("c", grid=["a", "strange"])
    assert np.array_equal(effect.average, expected.average)
    with pytest.raises(EngineError, match="holds a category that no row of X holds"):
        Explainer(model, X, engine="trees").partial_dependence("c", grid=["a", "strange"])


@pytest.mark.parametrize("late", [True, False], ids=["one late row", "every row"])
def test_integers_a_matrix_would_round_are_left_to_brute_force(late: bool) -> None:
    """Found at the self-check where all rows hold them, and at the first question where one does."""
    X = np.random.default_rng(2).integers(0, 99, (300, 2))
    model = lgb.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(X, X[:, 0])
    X[-1:] = 2**30 + 1 if late else X[-1:]
    if not late:
        X[:, 1] = 2**30 + 1
    effect = Explainer(model, X).partial_dependence(0, grid=4)
    assert effect.engine == "brute"
    assert "holds integers beyond 16777216" in effect.why
    with pytest.raises(EngineError, match="holds integers beyond 16777216"):
        Explainer(model, X, engine="trees").partial_dependence(0, grid=4)


def test_what_predict_refuses_the_trees_refuse() -> None:
    draw = np.random.default_rng(3)
    X = draw.normal(size=(400, 2))
    model = RandomForestRegressor(n_estimators=2, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="infinity"):
        Explainer(model, X, engine="trees").partial_dependence(0, grid=[0.0, np.inf])
    with pytest.raises(ValueError, match="infinity"):
        Explainer(model, X, engine="brute").partial_dependence(0, grid=[0.0, np.inf])


# --- scales and outputs ----------------------------------------------------------------------------


def test_the_self_check_looks_at_every_output_of_either_scale(rows: Any, monkeypatch: Any) -> None:
    """A wrong class is found although another one was asked for."""
    y = np.digitize(rows["a"], [-0.4, 0.4])
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(rows, y)

    def wrong_first_class(model: Any, table: Any) -> TreeModel:
        trees = READ(model, table)
        base = trees.forest.base + np.array([1e-6, 0.0, 0.0])
        return replace(trees, forest=replace(trees.forest, base=base))

    for scale in ("response", "raw"):
        assert Explainer(model, rows, target=2, scale=scale).plan.engine.name == "trees"
    monkeypatch.setattr(reading, "read", wrong_first_class)
    for scale in ("response", "raw"):
        with pytest.warns(ReadingWarning):
            assert Explainer(model, rows, target=2, scale=scale).plan.engine.name == "brute"


# --- reasons that are known ------------------------------------------------------------------------


def test_a_reason_that_is_also_a_note_of_the_model_is_given_once(rows: Any) -> None:
    known = rows.fillna(0.0)
    model = make_pipeline(
        FunctionTransformer(lambda frame: frame * 2), DecisionTreeRegressor(max_depth=2)
    ).fit(known, known["a"])
    effect = Explainer(model, known).partial_dependence("a", grid=2)
    assert effect.why.count("may look across rows") == 1


@pytest.mark.parametrize("build", [xgb.XGBRegressor, xgb.XGBClassifier])
def test_a_zero_tree_xgboost_model_says_that_it_has_no_trees(rows: Any, build: Any) -> None:
    model = build(n_estimators=0, n_jobs=1).fit(rows, (rows["a"] > 0).astype(int))
    effect = Explainer(model, rows).partial_dependence("a", grid=2)
    assert effect.engine == "brute"
    assert effect.why == (
        "brute force, because the XGBoost model holds no trees: it predicts the same for every row"
    )


@pytest.mark.parametrize("scale", ["response", "raw"])
def test_poisson_inside_a_transformed_target_is_read_on_both_scales(rows: Any, scale: str) -> None:
    inner = HistGradientBoostingRegressor(loss="poisson", max_iter=3)
    model = TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1)
    model.fit(rows, np.exp(rows["a"]))
    trees, brute = (Explainer(model, rows, scale=scale, engine=e) for e in ("trees", "brute"))
    ours, theirs = (ex.partial_dependence("a", grid=5) for ex in (trees, brute))
    assert np.allclose(ours.average, theirs.average, rtol=0, atol=1e-12)
    ours, theirs = (ex.ice("b", grid=4, rows=[1, 2]) for ex in (trees, brute))
    assert np.allclose(ours.individual, theirs.individual, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "wrap", [lambda m: m, lambda m: VotingRegressor([("one", m)])], ids=["alone", "in a vote"]
)
def test_the_training_background_refuses_hist_gradient_boosting_fitted_with_weights(
    rows: Any, wrap: Any
) -> None:
    model = wrap(HistGradientBoostingRegressor(max_iter=3))
    model.fit(rows, rows["a"], sample_weight=np.linspace(0.1, 2, len(rows)))
    with pytest.raises(EngineError, match="fitted with sample weights and stores how many rows"):
        Explainer(model, rows, background="training")
    assert Explainer(model, rows).partial_dependence("a", grid=3).engine == "trees"
    unweighted = HistGradientBoostingRegressor(max_iter=3).fit(rows, rows["a"])
    assert Explainer(unweighted, rows, background="training").partial_dependence("a").engine == "training"


def test_one_question_checks_the_model_once_and_the_next_one_again(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X[:, 0])
    explainer = Explainer(model, X)
    checks = []
    held = Fingerprint.still_holds
    monkeypatch.setattr(Fingerprint, "still_holds", lambda self: checks.append(1) or held(self))
    explainer.effects()
    assert len(checks) == 1
    explainer.effects()
    assert len(checks) == 2
    with pytest.raises(InputError):
        explainer.effects(grid=0)
    model.fit(X, X[:, 1])
    with pytest.raises(ModelError, match="fitted again"):
        explainer.effects()


@pytest.mark.parametrize("engine", ["trees", "brute"])
def test_a_call_of_several_questions_checks_the_model_once_unless_it_is_asked_itself(
    monkeypatch, engine, tmp_path
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X[:, 0] * X[:, 1])
    explainer = Explainer(model, X, engine=engine)
    explainer.effects()
    checks = []
    held = Fingerprint.still_holds
    monkeypatch.setattr(Fingerprint, "still_holds", lambda self: checks.append(1) or held(self))
    for call in (explainer.importance, explainer.summary, lambda: explainer.report(tmp_path / "report.html")):
        checks.clear()
        call()
        assert len(checks) == 1 if engine == "trees" else len(checks) > 0
    checks.clear()
    explainer.effects()
    assert len(checks) == 1
    model.fit(X, X[:, 1])
    for call in (explainer.importance, explainer.summary, lambda: explainer.report(tmp_path / "report.html")):
        with pytest.raises(ModelError, match="fitted again"):
            call()
