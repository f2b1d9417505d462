"""All features' linked curves in one walk: the same numbers as a plain loop, with everything that can come along."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor

from forest_walk import raw
from icefield import Explainer
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine, leaf_masks, linked, linked_scale, sweeps
from icefield.forest import links
from icefield.forest.tree_model import Link
from strategies import random_forest

TOLERANCE = 1e-12


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The shared walk is taken whether it pays or not; counts how often its moments were asked for."""
    monkeypatch.setattr(linked_scale, "pays", lambda *_: True)
    walks: list[int] = []
    moments = linked.LinkedCurves.moments

    def counted(self: Any, *args: Any) -> Any:
        walks.append(len(self.axes))
        return moments(self, *args)

    monkeypatch.setattr(linked.LinkedCurves, "moments", counted)
    return walks


def every_column(rng: np.random.Generator, drawn: Any) -> list[Axis]:
    """A grid for each column, unsorted, with repeats and the odd values of the column."""
    return [
        Axis(j, {j: column.values(rng, int(rng.integers(1, 90)))}) for j, column in enumerate(drawn.columns)
    ]


def loop(drawn: Any, matrix: np.ndarray, axis: Axis, link: Link) -> np.ndarray:
    """Every row's response at every point: ``(rows, outputs, points)``."""
    ((column, values),) = axis.points.items()
    found = []
    for value in values:
        moved = matrix.copy()
        moved[:, column] = value
        found.append(link.apply(raw(drawn.forest, moved)))
    return np.stack(found, axis=-1)


def compared(found: Any, values: np.ndarray, weights: np.ndarray, spread: bool) -> None:
    if weights.sum() == 0:
        assert found.weight == 0
        return
    size = max(1.0, np.abs(values).max())
    mean = np.tensordot(weights, values, (0, 0)) / weights.sum()
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=TOLERANCE * size)
    if spread:
        m2 = np.tensordot(weights, np.square(values - mean), (0, 0)) / weights.sum()
        np.testing.assert_allclose(found.m2 / weights.sum(), m2, rtol=0, atol=TOLERANCE * size**2)


LINKS = {
    "logistic": links.logistic(),
    "steep": links.logistic(2.5),
    "two columns": links.two_columns(links.logistic()),
    "softmax": links.softmax(),
    "exp": links.exponential(),
    "identity": links.identity(),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize(
    ("seed", "swept"), [*((seed, True) for seed in range(10)), *((seed, False) for seed in range(5))]
)
def test_random_forests(
    seed: int, name: str, swept: bool, always: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # masks are asked whether they have rows
        monkeypatch.setattr(sweeps, "SPARSE_LEAVES", 0)
    if seed % 3 == 0:  # leaves are added to the steps of their regions
        monkeypatch.setattr(sweeps, "MANY_EVENTS", -1)
    monkeypatch.setattr(leaf_masks, "MOST_ENTRIES", leaf_masks.MOST_ENTRIES if swept else -1)
    rng, link = np.random.default_rng([seed, 7]), LINKS[name]
    outputs = 1 if name == "two columns" else int(rng.integers(1, 4))
    # Large trees, now and then.
    drawn = random_forest(rng, leaves=int(rng.integers(2, 40 if seed % 3 else 150)), n_outputs=outputs)
    n = int(rng.integers(1, 200 if seed % 4 else 700))
    matrix = drawn.matrix(rng, n)
    n_response = link.apply(np.zeros((1, outputs))).shape[-1]
    selected = sorted(rng.choice(n_response, int(rng.integers(1, n_response + 1)), replace=False).tolist())
    weights = None if seed % 3 == 0 else rng.choice([0.0, 0.5, 2.0], n)
    codes, n_groups = (rng.integers(-1, 3, n), 3) if seed % 2 else (None, 0)
    kept = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False)) if seed % 4 < 2 else None
    axes = every_column(rng, drawn)
    spread = seed % 5 != 0 or name == "identity"  # averages of sums alone are counts
    questions = [Question((axis,), spread=spread, rows=kept) for axis in axes]
    sample = Block(table_of(matrix), weights, codes, n_groups)
    answers = TreesEngine(drawn.model(link), "response", selected).answer(
        questions, sample, Resources(threads=2)
    )
    assert always == [len(axes)] or (name == "identity" and len(axes) == 1)  # one alone walks by itself there
    own = np.ones(n) if weights is None else weights
    for axis, answer in zip(axes, answers):
        values = loop(drawn, matrix, axis, link)[:, selected]
        compared(answer.total, values, own, spread)
        assert len(answer.groups) == n_groups
        for g, moments in enumerate(answer.groups):
            inside = codes == g
            assert moments.count == inside.sum()
            compared(moments, values[inside], own[inside], spread)
        if kept is not None:
            expected = values[kept].transpose(1, 0, 2)
            size = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(answer.curves, expected, rtol=0, atol=TOLERANCE * size)


def test_the_same_for_any_number_of_threads(always: list[int]) -> None:
    rng = np.random.default_rng(3)
    drawn = random_forest(rng, n_columns=4, trees=5, leaves=30, n_outputs=1)
    sample = Block(table_of(drawn.matrix(rng, 20_000)))
    questions = [Question((axis,)) for axis in every_column(rng, drawn)]
    found = [
        TreesEngine(drawn.model(links.logistic()), "response", [0]).answer(
            questions, sample, Resources(threads=k)
        )
        for k in (1, 2, 5)
    ]
    for one, two, five in zip(*found):
        assert np.array_equal(one.total.mean, two.total.mean)
        assert np.array_equal(one.total.m2, five.total.m2)


def test_a_spread_that_rounding_would_drown_is_found_the_other_way(always: list[int]) -> None:
    """Predictions that hardly differ: squares about a mean lose their digits."""
    rng = np.random.default_rng(4)
    drawn = random_forest(rng, n_columns=3, trees=3, leaves=9, n_outputs=1, numeric_only=True)
    object.__setattr__(drawn.forest, "leaf_value", drawn.forest.leaf_value * 1e-13)
    matrix = drawn.matrix(rng, 300)
    axes = every_column(rng, drawn)
    engine = TreesEngine(drawn.model(links.logistic()), "response", [0])
    answers = engine.answer([Question((axis,)) for axis in axes], Block(table_of(matrix)), Resources())
    for axis, answer in zip(axes, answers):
        values = loop(drawn, matrix, axis, links.logistic())
        np.testing.assert_allclose(
            answer.total.m2, np.square(values - values.mean(axis=0)).sum(axis=0), atol=1e-24
        )


def test_margins_beyond_what_exponentials_hold(always: list[int]) -> None:
    rng = np.random.default_rng(5)
    drawn = random_forest(rng, n_columns=2, trees=2, leaves=9, n_outputs=1)
    object.__setattr__(drawn.forest, "leaf_value", drawn.forest.leaf_value * 400)
    matrix = drawn.matrix(rng, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for link in (links.logistic(), links.exponential()):
            axes = every_column(rng, drawn)
            engine = TreesEngine(drawn.model(link), "response", [0])
            answers = engine.answer(
                [Question((axis,), spread=False) for axis in axes], Block(table_of(matrix)), Resources()
            )
            for axis, answer in zip(axes, answers):
                expected = loop(drawn, matrix, axis, link).mean(axis=0)
                known = np.isfinite(expected)
                np.testing.assert_allclose(answer.total.mean[known], expected[known], rtol=1e-9, atol=1e-13)


def test_grids_of_the_same_features_share_a_walk(always: list[int]) -> None:
    rng = np.random.default_rng(6)
    drawn = random_forest(rng, n_columns=2, trees=3, leaves=9, n_outputs=1)
    axes = [*every_column(rng, drawn), *every_column(rng, drawn)]
    engine = TreesEngine(drawn.model(links.logistic()), "response", [0])
    matrix = drawn.matrix(rng, 50)
    kept = [np.arange(5), np.arange(3, 20)]
    questions = [Question((a,), rows=kept[i // 2]) for i, a in enumerate(axes)]
    answers = engine.answer(questions, Block(table_of(matrix)), Resources())
    assert always == [2]
    for axis, answer in zip(axes, answers):
        values = loop(drawn, matrix, axis, links.logistic())
        compared(answer.total, values, np.ones(50), True)
    for question, axis, answer in zip(questions, axes, answers):
        own = loop(drawn, matrix, axis, links.logistic())[question.rows].transpose(1, 0, 2)
        np.testing.assert_allclose(answer.curves, own, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("swept", [True, False])
def test_columns_that_stay(swept: bool, always: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_masks, "MOST_ENTRIES", leaf_masks.MOST_ENTRIES if swept else -1)
    rng = np.random.default_rng(12)
    drawn = random_forest(rng, n_columns=4, trees=6, leaves=25, n_outputs=1)
    axes = every_column(rng, drawn)[1:3]
    matrix = drawn.matrix(rng, 90)
    engine = TreesEngine(drawn.model(links.logistic()), "response", [0])
    answers = engine.answer([Question((a,)) for a in axes], Block(table_of(matrix)), Resources())
    assert always == [2]
    for axis, answer in zip(axes, answers):
        compared(answer.total, loop(drawn, matrix, axis, links.logistic()), np.ones(90), True)


def test_features_that_share_an_input_walk_apart(always: list[int]) -> None:
    rng = np.random.default_rng(6)
    drawn = random_forest(rng, n_columns=3, trees=3, leaves=9, n_outputs=1)
    one, two, three = every_column(rng, drawn)
    points = {0: drawn.columns[0].values(rng, 4), 1: drawn.columns[1].values(rng, 4)}
    axes = [one, two, three, Axis((0, 1), points)]
    engine = TreesEngine(drawn.model(links.logistic()), "response", [0])
    matrix = drawn.matrix(rng, 50)
    answers = engine.answer([Question((a,)) for a in axes], Block(table_of(matrix)), Resources())
    assert always == [3, 1]
    for axis, answer in zip(axes, answers[:3]):
        compared(answer.total, loop(drawn, matrix, axis, links.logistic()), np.ones(50), True)
    moved = np.stack([np.where([True, True, False], (a, b, 0.0), matrix) for a, b in zip(*points.values())])
    values = links.logistic().apply(raw(drawn.forest, moved.reshape(-1, 3))).reshape(4, 50).T[:, None]
    compared(answers[3].total, values, np.ones(50), True)


@pytest.mark.parametrize("kind", ["binary", "classes", "counts"])
def test_the_explainers_curves_by_either_way(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 5] = rng.integers(0, 5, 500)
    model: Any
    if kind == "counts":
        model = LGBMRegressor(objective="poisson", n_estimators=20, num_leaves=9, n_jobs=1, verbose=-1)
        y = rng.poisson(1 + np.abs(np.nan_to_num(X[:, 0])))
    else:
        model = LGBMClassifier(n_estimators=20, num_leaves=9, n_jobs=1, verbose=-1)
        y = rng.integers(0, 2 if kind == "binary" else 4, 500)
    model.fit(X, y, categorical_feature=[5])
    found = []
    for way in (True, False):
        monkeypatch.setattr(linked_scale, "pays", lambda *_, way=way: way)
        ex = Explainer(model, X, engine="trees", target="all")
        found.append((ex.effects(spread=True), ex.importance()))
    (curves, table), (others, other_table) = found
    for name, effect in curves.items():
        np.testing.assert_allclose(effect.average, others[name].average, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(effect.std, others[name].std, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table["individual"], other_table["individual"], rtol=1e-10, atol=1e-13)


def test_what_pays_depends_on_how_many_are_asked() -> None:
    rng = np.random.default_rng(9)
    drawn = random_forest(rng, n_columns=5, trees=5, leaves=30, n_outputs=1)
    engine = TreesEngine(drawn.model(links.logistic()), "response", [0])
    table = table_of(drawn.matrix(rng, 10))
    axes = [
        linked.EncodedAxis.of(engine.model, table, Axis(j, {j: np.linspace(0, 1, 100)})) for j in range(5)
    ]
    assert linked.pays(engine.sums, axes)
    many = random_forest(rng, n_columns=5, trees=400, leaves=60, n_outputs=1)
    sums = TreesEngine(many.model(links.logistic()), "response", [0]).sums
    assert not linked.pays(sums, axes[:1])
