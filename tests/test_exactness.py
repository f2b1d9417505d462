"""The trees engine gives brute force's numbers, through the Explainer, for every library.

Both engines are asked the same questions about the same fitted model and must agree: averages,
spread, quantiles, individual curves, weights, groups, both scales, missing points, categories, unseen
values, values one ulp beside the thresholds. Brute force only calls the model, so it is the truth.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor

from fitted_models import CASES, DISTINCT, LEVELS, Fitted
from icefield import Effect, Explainer, Grid
from icefield.core.question import Axis, Question
from icefield.core.rows import Block
from icefield.data.columns import is_missing_value
from icefield.engines.trees.engine import TreesEngine
from icefield.errors import EngineError

PROBABILITIES = (0.13, 0.5, 0.77)
TINY = (0.0, -0.0, 5e-324, -5e-324, 1e-36, -1e-36, 1e-35, 2e-35, -2e-35)


@cache
def fitted(name: str) -> Fitted:
    """Fitted once for all tests of this file."""
    return CASES[name](0)


@dataclass(frozen=True)
class Both:
    """Explainers of one model on both engines, and how far they may differ."""

    trees: Explainer
    brute: Explainer
    allowed: float

    @classmethod
    def of(cls, found: Fitted, **options: Any) -> Both:
        options = {"target": found.target, **options}
        trees = Explainer(found.model, found.X, engine="trees", **options)
        brute = Explainer(found.model, found.X, engine="brute", **options)
        assert trees.plan.engine.name == "trees"
        assert brute.plan.engine.name == "brute"
        return cls(trees, brute, found.tolerance * magnitude(trees))

    def same(self, ask: Any, what: str = "") -> Effect:
        """Request both and compare; the trees' answer."""
        found, expected = ask(self.trees), ask(self.brute)
        assert_same(found, expected, self.allowed, what)
        return found


def magnitude(explainer: Explainer) -> float:
    """What sums of the trees' leaf values may reach: the scale of their rounding errors."""
    forest = explainer.plan.trees.forest
    total = np.abs(forest.base).sum()
    bounds = np.append(forest.tree_root, len(forest.node_leaf))
    for first, last in pairwise(bounds):
        own = forest.node_leaf[first:last]
        total += np.abs(forest.leaf_value[own[own >= 0]]).max()
    return float(total) + 1.0


def assert_same(found: Effect, expected: Effect, allowed: float, what: str) -> None:
    assert found.outputs == expected.outputs, what
    assert found.n_rows == expected.n_rows, what
    for ours, theirs in zip(found.grid, expected.grid):
        assert ours.dtype == theirs.dtype, what
        assert all(a == b or (is_missing_value(a) and is_missing_value(b)) for a, b in zip(ours, theirs)), (
            what
        )
    for field in ("average", "std", "se", "individual"):
        ours, theirs = getattr(found, field), getattr(expected, field)
        assert (ours is None) == (theirs is None), (what, field)
        if ours is not None:
            _close(ours, theirs, allowed, f"{what} {field}")
    assert list(found.quantiles or {}) == list(expected.quantiles or {}), what
    for q, values in (found.quantiles or {}).items():
        _close(values, expected.quantiles[q], allowed, f"{what} quantile {q}")
    assert list(found.groups) == list(expected.groups), what
    for label, group in found.groups.items():
        assert_same(group, expected.groups[label], allowed, f"{what} group {label!r}")


def _close(found: np.ndarray, expected: np.ndarray, allowed: float, what: str) -> None:
    assert found.shape == expected.shape, what
    assert np.isfinite(expected).all(), what
    # Exponential links pass rounding on in proportion to the response.
    excess = np.abs(found - expected) - allowed * (1.0 + np.abs(expected))
    assert excess.max(initial=-1.0) <= 0.0, (
        f"{what}: {found.ravel()[excess.argmax()]} is not {expected.ravel()[excess.argmax()]}"
    )


def columns(explainer: Explainer) -> list[Any]:
    return list(explainer.model.columns)


def awkward_values(explainer: Explainer, name: Any, accepts: tuple[float, ...]) -> list[Any]:
    """Values on thresholds and one ulp (of float64 and float32) beside them, zeros, extremes, missing."""
    trees = explainer.plan.trees
    forest = trees.forest
    own = np.isin(forest.condition_column, trees.drives.get(name, ())) & (forest.condition_set < 0)
    thresholds = np.unique(forest.condition_threshold[own])
    thresholds = thresholds[np.isfinite(thresholds) & (np.abs(thresholds) < 1e30)]
    thresholds = thresholds[np.linspace(0, len(thresholds) - 1, 9).astype(int)] if len(thresholds) else []
    near: list[float] = [*TINY, -1e9, 1e9, 0.5, 3.5, *accepts]
    for t in thresholds:
        single = np.float32(t)
        near += [t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf), single]
        near += [np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))]
        midway = (float(single) + float(np.nextafter(single, np.float32(np.inf)))) / 2
        near += [midway, np.nextafter(midway, np.inf)]
    return [float(v) for v in np.random.default_rng(0).permutation(near)]


def asked_values(explainer: Explainer, name: Any, found: Fitted) -> list[Any]:
    kind = explainer.table.column(name).kind
    if kind == "categorical":
        levels = LEVELS[::-1]
        return [*levels, *found.unseen, *([None] if explainer.table.column(name).any_missing else [])]
    return awkward_values(explainer, name, found.accepts)


def check(name: str, seed: int) -> None:
    found = CASES[name](seed) if seed else fitted(name)
    draw = np.random.default_rng(seed + 7)
    n_rows = len(found.X)
    weights = draw.random(n_rows) * (draw.random(n_rows) < 0.9)
    groups = draw.choice(["a", "b", "c"], n_rows)
    plain = Both.of(found)
    rich = Both.of(found, weights=weights, by=groups, scale="raw" if found.raw else "response")
    names = columns(plain.trees)
    first, second, third = (names[i] for i in draw.permutation(len(names))[:3])

    for feature in names:
        values = asked_values(plain.trees, feature, found)
        plain.same(
            lambda ex, f=feature, v=values: ex.partial_dependence(f, grid=v, quantiles=PROBABILITIES),
            f"{feature} given",
        )
        rich.same(
            lambda ex, f=feature, v=values: ex.partial_dependence(f, grid=v, spread=False),
            f"{feature} given, raw",
        )
    kept = draw.integers(0, n_rows, 9)
    plain.same(lambda ex: ex.ice(first, grid=14), f"ice {first}")
    rich.same(lambda ex: ex.ice(second, grid=9, rows=kept, quantiles=[0.31]), f"ice {second}, raw")
    plain.same(
        lambda ex: ex.partial_dependence(first, second, grid=5, spread=True), f"{first} by {second}, spread"
    )
    rich.same(lambda ex: ex.partial_dependence(second, third, grid=6), f"{second} by {third}, raw")
    rich.same(lambda ex: ex.partial_dependence(first, second, third, grid=3), "three")
    plain.same(
        lambda ex: ex.partial_dependence(third, second, first, grid=2, individual=True, rows=11),
        "three, individual",
    )
    for both, order, grid in ((rich, 1, None), (plain, 2, 3)):
        ours, theirs = (ex.effects(order=order, grid=grid) for ex in (both.trees, both.brute))
        assert list(ours) == list(theirs)
        for key, effect in ours.items():
            assert effect.engine == "trees"
            assert_same(effect, theirs[key], both.allowed, f"effects {key}")


@pytest.mark.parametrize("name", DISTINCT)
def test_trees_give_what_brute_force_gives(name: str) -> None:
    check(name, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 90, 10))
@pytest.mark.parametrize("name", CASES)
def test_trees_give_what_brute_force_gives_on_many_more(name: str, seed: int) -> None:
    check(name, seed)


# --- means of rows that move, each to an end of its own --------------------------------------------------


def moved_means(both: Both, method: str, *given: Any, **more: Any) -> None:
    """Both engines' means, and those of the trees with the spread, whose rows are asked one by one."""

    def asked(ex: Explainer, spread: bool) -> Any:
        return getattr(ex, method)(*given, spread=spread, **more)

    found, expected, whole = asked(both.trees, False), asked(both.brute, False), asked(both.trees, True)
    what = f"{method} {given} {more}"
    for column in ("start", "end", "estimate"):
        _close(found[column], expected[column], both.allowed, f"{what} {column}, brute force")
        _close(found[column], whole[column], both.allowed, f"{what} {column}, with the spread")
    assert found["n_rows"].tolist() == expected["n_rows"].tolist(), what


@pytest.mark.sampled(23)
@pytest.mark.parametrize("name", DISTINCT)
def test_means_of_moved_rows_are_those_of_brute_force(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, draw = fitted(name), np.random.default_rng(11)
    n_rows = len(found.X)
    options = {
        "weights": draw.random(n_rows) * (draw.random(n_rows) < 0.9),
        "by": draw.choice(["a", "b", "c"], n_rows),
    }
    answered = []
    known = TreesEngine.moved_means

    def noted(self: Any, moves: Any, *more: Any) -> Any:
        means = known(self, moves, *more)
        answered.append(means is not None)
        return means

    monkeypatch.setattr(TreesEngine, "moved_means", noted)
    for own in ({}, {**options, "scale": "raw" if found.raw else "response"}, options):
        both = Both.of(found, **own)
        by_name = {n: both.trees.table.column(n) for n in columns(both.trees)}
        numbers = [
            n for n, c in by_name.items() if c.kind == "float" and len(np.unique(c.values[~c.missing])) > 1
        ]
        for feature in numbers[:2]:
            moved_means(both, "change", feature, plus=0.7)
            moved_means(both, "change", feature, times=-1.5)
            moved_means(both, "change", feature, end=0.0)
            moved_means(both, "slope", feature, step=0.3)
        first, second = numbers[:2]
        moved_means(both, "change", {first: (0.0, 1.0), second: {"plus": 1}})
        moved_means(both, "change", first, plus=1, across={second: {"times": 2}})
        for feature, column in by_name.items():
            if column.kind == "categorical":
                moved_means(both, "change", feature, *LEVELS[:2])
            else:
                moved_means(both, "change", feature, *awkward_values(both.trees, feature, ())[:2])
    assert answered
    assert all(answered)


# --- Grid("thresholds"): the whole step function ---------------------------------------------------


NUMBERED = ("HistGradientBoostingClassifier categories by number", "LightGBM category numbers")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [n for n in DISTINCT if not n.startswith("Pipeline") and n not in NUMBERED])
def test_the_models_own_thresholds_give_the_whole_step_function(name: str) -> None:
    """Every point speaks for all values after the point before it."""
    found = fitted(name)
    both = Both.of(found, scale="raw" if found.raw else "response")
    for feature in columns(both.trees):
        if both.trees.table.column(feature).kind == "categorical":
            continue
        steps = both.trees.partial_dependence(feature, grid=Grid("thresholds", missing="hide"), spread=False)
        points, heights = steps.grid[0], steps.average
        middles = points[:-1] + (points[1:] - points[:-1]) / 2
        spoken_for = {
            "at the points": (points, heights),
            "just after": (np.nextafter(points[:-1], np.inf), heights[:, 1:]),
            "midway": (np.where(middles > points[:-1], middles, points[1:]), heights[:, 1:]),
            "before the first": (points[:1] - 1e3, heights[:, :1]),
            "after the last": (points[-1:] + 1e3, heights[:, -1:]),
        }
        for where, (values, expected) in spoken_for.items():
            if len(values):
                asked = both.brute.partial_dependence(feature, grid=values.tolist(), spread=False)
                _close(asked.average, expected, both.allowed, f"{feature} {where}")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_thresholds_of_narrow_and_whole_columns(dtype: str) -> None:
    draw = np.random.default_rng(3)
    X = pd.DataFrame({"a": draw.normal(size=200) * 9, "b": draw.normal(size=200) * 9}).astype(dtype)
    model = RandomForestRegressor(n_estimators=5, max_depth=4, random_state=0).fit(X, X["a"] * X["b"])
    trees, brute = (Explainer(model, X, engine=engine) for engine in ("trees", "brute"))
    steps = trees.partial_dependence("a", grid=Grid("thresholds"), spread=False)
    points = steps.grid[0]
    assert points.dtype == dtype
    assert steps.steps
    assert not trees.partial_dependence("a").steps
    if dtype == "int64":
        every = np.arange(points[0] - 3, points[-1] + 3)
    else:
        every = np.concatenate([points, np.nextafter(points, np.float32(np.inf)), points[:1] - 5])
    heights = steps.average[:, np.minimum(np.searchsorted(points, every), len(points) - 1)]
    asked = brute.partial_dependence("a", grid=every.tolist(), spread=False).average
    assert np.allclose(asked, heights, rtol=0, atol=1e-12)


def test_the_number_that_stands_for_missing_is_a_step_of_its_own() -> None:
    draw = np.random.default_rng(6)
    X = pd.DataFrame({"a": draw.integers(-5, 6, 200).astype(float), "b": draw.normal(size=200)})
    y = np.where(X["a"] == 1.0, 9.0, X["a"]) + X["b"]
    model = xgb.XGBRegressor(n_estimators=4, max_depth=4, n_jobs=1, missing=1.0).fit(X, y)
    trees, brute = (Explainer(model, X, engine=engine) for engine in ("trees", "brute"))
    steps = trees.partial_dependence("a", grid=Grid("thresholds"), spread=False)
    points = steps.grid[0]
    asked = np.array([np.nextafter(np.float32(1.0), np.float32(0.0)), 1.0, 1.01], np.float64)
    heights = steps.average[:, np.minimum(np.searchsorted(points, asked), len(points) - 1)]
    expected = brute.partial_dependence("a", grid=asked.tolist(), spread=False).average
    assert np.abs(expected[0, 1] - expected[0, 0]) > 1.0
    assert np.allclose(heights, expected, rtol=0, atol=1e-4)


def test_a_transformed_column_has_no_thresholds_of_its_own() -> None:
    found = fitted("Pipeline one-hot forest")
    explainer = Explainer(found.model, found.X, engine="trees", target="all")
    with pytest.raises(EngineError, match="transformed"):
        explainer.partial_dependence("x", grid=Grid("thresholds"))
    # no split looks at the constant column
    assert explainer.partial_dependence("k", grid=Grid("thresholds")).grid[0].tolist() == [2.5]


def test_categories_have_no_thresholds() -> None:
    found = fitted("HistGradientBoostingClassifier categories by number")
    explainer = Explainer(found.model, found.X, engine="trees", target="all")
    with pytest.raises(EngineError, match="categories"):
        explainer.partial_dependence("c", grid=Grid("thresholds"))


# --- one-hot groups --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
@pytest.mark.parametrize(
    "build",
    [
        lambda: RandomForestClassifier(n_estimators=4, max_depth=5, random_state=0),
        lambda: HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5),
        lambda: lgb.LGBMRegressor(n_estimators=5, min_child_samples=4, verbose=-1, n_jobs=1),
        lambda: xgb.XGBRegressor(n_estimators=5, max_depth=4, n_jobs=1),
    ],
    ids=["forest", "hist", "lightgbm", "xgboost"],
)
def test_one_hot_groups_move_together(build: Any, dtype: str) -> None:
    draw = np.random.default_rng(5)
    code = draw.integers(0, 4, 200)  # 3: none of the three
    X = pd.DataFrame({"x": draw.normal(size=200), "y": draw.normal(size=200)})
    for i, level in enumerate("abc"):
        X[f"kind_{level}"] = (code == i).astype(dtype)
    model = build()
    answer = np.round(X["x"] * (code == 1) + code * 2 + X["y"] * (code == 3))
    model.fit(X, answer % 3 if "Classifier" in type(model).__name__ else answer)
    group = {"kind": ["kind_a", "kind_b", "kind_c"]}
    tolerance = 1e-5 if isinstance(model, xgb.XGBRegressor) else 1e-12
    found = Fitted(model, X[:60], tolerance=tolerance, target="all")
    both = Both.of(found, weights=draw.random(60))
    effect = both.same(lambda ex: ex.partial_dependence(group, quantiles=PROBABILITIES), "group")
    assert effect.grid[0].tolist() == ["a", "b", "c", "(none)"]
    assert np.ptp(effect.average) > 0.1
    both.same(lambda ex: ex.partial_dependence(group, grid=["c", "a", "c"], spread=False), "given levels")
    both.same(lambda ex: ex.partial_dependence("x", group, grid={"x": 7}), "by a number")
    both.same(lambda ex: ex.ice(group, "y", rows=5, grid={"y": 3}), "curves")
    for order in (1, 2):
        ours, theirs = (ex.effects([group, "x", "y"], order=order) for ex in (both.trees, both.brute))
        for key in theirs:
            assert_same(ours[key], theirs[key], both.allowed, str(key))


# --- determinism -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> tuple[Any, pd.DataFrame]:
    draw = np.random.default_rng(8)
    X = pd.DataFrame(draw.normal(size=(20_000, 4)), columns=list("abcd"))
    X.loc[::7, "b"] = np.nan
    y = X["a"] * X["c"] + X["b"].fillna(1) > 0.5
    return lgb.LGBMClassifier(n_estimators=8, num_leaves=9, verbose=-1, n_jobs=1).fit(X[:500], y[:500]), X


def everything(explainer: Explainer) -> list[Effect]:
    return [
        explainer.partial_dependence("a"),
        explainer.partial_dependence("b", grid=5, quantiles=PROBABILITIES),
        explainer.partial_dependence("a", "c", grid=6),
        explainer.partial_dependence("a", "b", "c", grid=3),
        explainer.ice("d", grid=4, rows=50),
        *explainer.effects(grid=9).values(),
        *explainer.effects(order=2, grid=4).values(),
    ]


def assert_identical(one: Effect, other: Effect) -> None:
    for field in ("average", "std", "se", "individual", "weight"):
        a, b = getattr(one, field), getattr(other, field)
        assert (a is None) == (b is None), field
        assert a is None or a.tobytes() == b.tobytes(), field
    for q, values in (one.quantiles or {}).items():
        assert values.tobytes() == other.quantiles[q].tobytes()
    assert list(one.groups) == list(other.groups)
    for label, group in one.groups.items():
        assert_identical(group, other.groups[label])


@pytest.mark.parametrize(("scale", "weighted"), [("raw", False), ("raw", True), ("response", True)])
def test_threads_change_no_bit(many: Any, scale: str, weighted: bool) -> None:
    model, X = many
    draw = np.random.default_rng(9)
    options = {"by": draw.integers(0, 3, len(X)), "scale": scale, "engine": "trees"}
    if weighted:
        options["weights"] = draw.exponential(size=len(X))
    one, *others = ([*everything(Explainer(model, X, threads=n, **options))] for n in (1, 2, 8))
    for other in others:
        assert len(other) == len(one)
        for a, b in zip(one, other):
            assert_identical(a, b)


def test_counted_averages_do_not_depend_on_the_order_of_rows(many: Any) -> None:
    model, X = many
    shuffled = X.sample(frac=1.0, random_state=3).reset_index(drop=True)
    first, second = (Explainer(model, frame, engine="trees", scale="raw") for frame in (X, shuffled))
    for order in (1, 2):
        one, other = (ex.effects(order=order, grid=7) for ex in (first, second))
        for key in one:
            assert one[key].average.tobytes() == other[key].average.tobytes()
    one, other = (ex.partial_dependence(*"abc", grid=[[0.0, 1.0]] * 3) for ex in (first, second))
    assert one.average.tobytes() == other.average.tobytes()


def test_parts_of_the_rows_merge_to_the_whole(many: Any) -> None:
    """Counts of parts add up; what is merged from floats agrees to rounding."""
    model, X = many
    X = X[:3000]
    draw = np.random.default_rng(10)
    for scale, allowed in (("raw", 1e-14), ("response", 1e-13)):
        whole = Explainer(model, X, engine="trees", scale=scale)
        axis = Axis("a", {"a": np.linspace(-2, 2, 12)})
        pair = (axis, Axis("b", {"b": np.array([0.0, 1.0, np.nan])}))
        questions = [
            Question((axis,), spread=False),
            Question(pair, spread=False),
            Question((axis,), spread=True),
        ]
        expected = whole.plan.engine.answer(questions, Block(whole.table), whole.study.resources)
        place = draw.integers(0, 5, len(X))
        place[place == 3] = 2  # one part is empty
        parts = [
            whole.plan.engine.answer(
                questions, Block(whole.table.take(np.flatnonzero(place == p))), whole.study.resources
            )
            for p in range(5)
        ]
        for number, answer in enumerate(expected):
            merged = parts[0][number].total
            for part in parts[1:]:
                merged = merged.merge(part[number].total)
            assert merged.count == answer.total.count == len(X)
            assert np.allclose(merged.mean, answer.total.mean, rtol=0, atol=allowed)
            if questions[number].spread:
                assert np.allclose(merged.std, answer.total.std, rtol=0, atol=allowed)


@pytest.mark.parametrize("frame", ["numpy", "pandas"])
def test_rows_that_cannot_be_written_are_read(frame: str) -> None:
    X = np.random.default_rng(8).normal(size=(300, 3))
    model = RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0).fit(X, X[:, 0] * X[:, 1])
    X.setflags(write=False)
    rows = X if frame == "numpy" else pd.DataFrame(X, columns=list("abc"), copy=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the model was fitted without names
        trees, brute = (Explainer(model, rows, engine=engine) for engine in ("trees", "brute"))
        for feature in range(3):
            assert np.allclose(
                trees.partial_dependence(feature, grid=Grid()).average,
                brute.partial_dependence(feature, grid=Grid()).average,
                rtol=0,
                atol=1e-12,
            )
        assert trees.ice(0, grid=Grid(), rows=5).individual.shape == (1, 5, 100)
