"""The training background: the trees' own weights instead of rows, and refusals of what needs rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence
from sklearn.tree import DecisionTreeRegressor

import forest_walk as walk
from fitted_models import CASES, Fitted
from icefield import Explainer
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.engines.training.engine import TrainingEngine
from icefield.errors import EngineError


def plain_average(explainer: Explainer, point: dict[Any, Any]) -> np.ndarray:
    """One grid point: at a split on a moving column follow its value, elsewhere both, by their weights.

    NaN where the moving values lead to nodes that no training row reached.
    """
    trees = explainer.plan.trees
    forest = trees.forest
    # Any row will do: the columns that do not move are not looked at.
    crossed = explainer.table.slice(0, 1).crossed({name: np.array([v]) for name, v in point.items()})
    values = trees.encode(crossed.select(explainer.model.columns))
    moving = {j for name in point for j in trees.drives.get(name, ())}

    def below(node: int) -> np.ndarray:
        condition = int(forest.node_condition[node])
        if condition < 0:
            return forest.leaf_value[forest.node_leaf[node]]
        left, right = int(forest.node_left[node]), int(forest.node_right[node])
        column = int(forest.condition_column[condition])
        if column in moving:
            return below(left if walk.goes_left(forest, condition, values[:, column])[0] else right)
        weights = forest.node_weight[[left, right]]
        if weights.sum() == 0:
            return np.full(forest.leaf_value.shape[1], np.nan)
        share = weights / weights.sum()
        return sum(part * below(child) for part, child in zip(share, (left, right)) if part > 0)

    total = forest.base.copy()
    for root, output in zip(forest.tree_root, forest.tree_output):
        if output < 0:
            total += below(int(root))
        else:
            total[output] += below(int(root))[0]
    return total


# Models whose response is a sum of trees, or that have a raw scale.
NAMES = [
    "DecisionTreeRegressor", "ExtraTreesClassifier several targets", "RandomForestRegressor unpruned",
    "GradientBoostingClassifier log_loss multiclass", "HistGradientBoostingRegressor categories",
    "HistGradientBoostingClassifier multiclass", "HistGradientBoostingRegressor poisson", "BaggingRegressor",
    "LightGBM zero as missing", "LightGBM binary", "LGBMRegressor categories", "LightGBM rf regression",
    "LightGBM category numbers", "XGBRegressor categories", "XGBoost dart", "XGBoost multi:softmax",
    "CatBoostRegressor SymmetricTree", "CatBoostRegressor Lossguide", "CatBoostRegressor one-hot",
    "CatBoostClassifier MultiClass", "Pipeline one-hot XGBoost",
]  # fmt: skip


# CatBoost's export of such trees is tried in another process, under a limit of memory that sanitizers exceed.
ELSEWHERE = [n for n in NAMES if "Lossguide" in n or "Depthwise" in n]
HERE = [n for n in NAMES if n not in ELSEWHERE]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name", [*HERE, *(pytest.param(n, marks=pytest.mark.other_processes) for n in ELSEWHERE)]
)
def test_equals_a_plain_weighted_walk(name: str) -> None:
    found: Fitted = CASES[name](0)
    explainer = Explainer(
        found.model, found.X, target="all", background="training", scale="raw" if found.raw else "response"
    )
    names = list(explainer.model.columns)
    allowed = 1e-12 * (1.0 + np.abs(explainer.plan.trees.forest.leaf_value).sum())
    asked = [(n,) for n in names] + [(names[0], names[1]), (names[2], names[1], names[0])]
    told = 0
    for features in asked:
        points = 6 if len(features) == 1 else 3
        grids = Explainer(found.model, found.X, target="all").partial_dependence(*features, grid=points).grid
        expected = np.array([plain_average(explainer, dict(zip(features, at))) for at in product(*grids)])
        if np.isnan(expected).any():
            with pytest.raises(EngineError, match="saw no training weight"):
                explainer.partial_dependence(*features, grid=points)
            continue
        effect = explainer.partial_dependence(*features, grid=points)
        assert (effect.engine, effect.background, effect.std, effect.se) == (
            "training",
            "training",
            None,
            None,
        )
        expected = expected.T.reshape(-1, *effect.average.shape[1:])
        assert effect.average.shape == expected.shape
        assert np.abs(effect.average - expected).max() <= allowed, features
        told += 1
    assert told > 0


def test_all_features_at_once() -> None:
    found = CASES["LightGBM binary"](0)
    explainer = Explainer(found.model, found.X, background="training", scale="raw")
    singles, pairs = explainer.effects(grid=5), explainer.effects(order=2, grid=3)
    assert len(singles) == 4
    assert len(pairs) == 6
    for key, effect in [*singles.items(), *pairs.items()]:
        features = key if isinstance(key, tuple) else (key,)
        alone = explainer.partial_dependence(*features, grid=5 if len(features) == 1 else 3)
        assert effect.average.tobytes() == alone.average.tobytes()


def test_only_the_outputs_asked_for() -> None:
    found = CASES["HistGradientBoostingClassifier multiclass"](0)
    every, some = (
        Explainer(found.model, found.X, background="training", scale="raw", target=target)
        for target in ("all", [2, 0])
    )
    expected = every.partial_dependence("x", grid=5)
    effect = some.partial_dependence("x", grid=5)
    assert effect.outputs == tuple(expected.outputs[i] for i in (2, 0))
    assert effect.average.tobytes() == expected.average[[2, 0]].tobytes()


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(4)
    X = draw.normal(size=(300, 3))
    return X, 5 + X[:, 0] * X[:, 1] + np.round(X[:, 2])


def recursion(model: Any, X: np.ndarray, features: Any, values: dict[int, np.ndarray]) -> np.ndarray:
    with warnings.catch_warnings():
        # scikit-learn takes a start at zero for one that is not constant.
        warnings.filterwarnings("ignore", message="Using recursion method with a non-constant init")
        found = partial_dependence(
            model, X, list(features), method="recursion", kind="average", custom_values=values
        )
    return found["average"]


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=6),
        RandomForestRegressor(n_estimators=5, max_depth=6, random_state=0),
        GradientBoostingRegressor(n_estimators=6, init="zero", random_state=0),
        GradientBoostingRegressor(n_estimators=6, random_state=0),
        HistGradientBoostingRegressor(max_iter=6),
    ],
    ids=lambda model: type(model).__name__ + str(getattr(model, "init", "") or ""),
)
@pytest.mark.parametrize("features", [(0,), (2,), (1, 0)], ids=str)
def test_equals_scikit_learns_recursion_and_the_baseline(numbers: Any, model: Any, features: Any) -> None:
    """scikit-learn leaves out what boosting starts from; here it is included."""
    X, y = numbers
    model.fit(X, y)
    start = 0.0
    if isinstance(model, GradientBoostingRegressor) and model.init is None:
        start = y.mean()
    elif isinstance(model, HistGradientBoostingRegressor):
        start = model._baseline_prediction.item()
    grid = {f: np.linspace(-2, 2, 8 - f) for f in features}
    effect = Explainer(model, X, background="training").partial_dependence(*features, grid=grid)
    expected = recursion(model, X, features, grid)
    assert np.allclose(effect.average, expected + start, rtol=0, atol=1e-10)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_equals_scikit_learns_recursion_on_margins(numbers: Any, kind: Any, several: bool) -> None:
    X, y = numbers
    model = kind(init="zero", n_estimators=4) if kind is GradientBoostingClassifier else kind(max_iter=4)
    model.fit(X, np.digitize(y, [4.5, 5.5] if several else [5.0]))
    start = np.zeros((1, 1))
    if kind is HistGradientBoostingClassifier:
        start = model._baseline_prediction.reshape(-1, 1)
    grid = {1: np.linspace(-2, 2, 9)}
    effect = Explainer(model, X, background="training", scale="raw").partial_dependence(1, grid=grid)
    assert effect.average.shape[0] == (3 if several else 1)
    assert np.allclose(effect.average, recursion(model, X, (1,), grid) + start, rtol=0, atol=1e-10)


def test_the_rows_explained_do_not_matter(numbers: Any) -> None:
    X, y = numbers
    model = RandomForestRegressor(n_estimators=3, random_state=0).fit(X, y)
    grid = [-1.0, 0.0, 0.5]
    few, many = (Explainer(model, rows, background="training").partial_dependence(0, grid=grid)
                 for rows in (X[:3], X[100:] * 2))  # fmt: skip
    assert few.average.tobytes() == many.average.tobytes()
    assert few.n_rows == 0


# --- refusals --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def explainer(numbers: Any) -> Explainer:
    X, y = numbers
    return Explainer(DecisionTreeRegressor(max_depth=3).fit(X, y), X, y, background="training")


@pytest.mark.parametrize(
    "ask",
    [
        lambda ex: ex.ice(0),
        lambda ex: ex.partial_dependence(0, individual=True),
        lambda ex: ex.partial_dependence(0, spread=True),
        lambda ex: ex.partial_dependence(0, quantiles=[0.5]),
        lambda ex: ex.partial_dependence(0, precision=0.1),
        lambda ex: ex.effects(spread=True),
        lambda ex: ex.ale(0),
        lambda ex: ex.conditional(0),
        lambda ex: ex.importance(),
        lambda ex: ex.interactions(),
        lambda ex: ex.regions(0),
        lambda ex: ex.summary(),
    ],
)
def test_what_needs_rows_is_refused(explainer: Explainer, ask: Any) -> None:
    with pytest.raises(
        EngineError, match=r"not over rows: .* cannot be given\. Hint: write background='data'"
    ):
        ask(explainer)


@pytest.mark.parametrize("option", ["weights", "by"])
def test_weights_and_groups_are_refused_by_name(numbers: Any, option: str) -> None:
    X, y = numbers
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    with pytest.raises(EngineError, match=f"`{option}` cannot be given"):
        Explainer(model, X, background="training", **{option: np.arange(len(X)) % 3 + 1})


def test_the_engine_itself_takes_no_weights_or_groups(explainer: Explainer) -> None:
    engine, table = explainer.plan.engine, explainer.table
    question = Question((Axis(0, {0: np.array([0.0])}),), spread=False)
    ones = np.ones(table.n_rows)
    for sample, option in (
        (Block(table, weights=ones), "weights"),
        (Block(table, codes=ones.astype(np.intp), n_groups=2), "by"),
    ):
        with pytest.raises(EngineError, match=f"`{option}` cannot be given"):
            engine.answer([question], sample, Resources())


def test_a_scale_that_is_no_sum_is_refused(numbers: Any) -> None:
    X, y = numbers
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, y > 5)
    with pytest.raises(EngineError, match=r"needs an additive scale.*scale='raw'"):
        Explainer(model, X, background="training")
    assert Explainer(model, X, background="training", scale="raw").plan.engine.name == "training"


def test_weights_that_are_not_stored_are_told(explainer: Explainer) -> None:
    trees = explainer.plan.trees
    unknown = replace(trees, forest=replace(trees.forest, node_weight=trees.forest.node_weight * np.nan))
    engine = TrainingEngine(unknown, "raw", [0])
    question = Question((Axis(0, {0: np.array([0.0])}),), spread=False)
    with pytest.raises(EngineError, match="does not store them"):
        engine.answer([question], Block(explainer.table), Resources())


def test_a_frame_with_more_columns_than_the_model(numbers: Any) -> None:
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abc"))
    model = RandomForestRegressor(n_estimators=2, max_depth=3, random_state=0).fit(frame, y)
    grid = [-1.0, 1.0]
    plain = Explainer(model, frame, background="training").partial_dependence("b", grid=grid)
    wider = frame.assign(more="text")[["more", "c", "b", "a"]]
    effect = Explainer(model, wider, background="training").partial_dependence("b", grid=grid)
    assert effect.average.tobytes() == plain.average.tobytes()
