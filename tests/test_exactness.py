"""The trees engine gives brute force's numbers, through the Explainer, for every library.

Both engines are asked the same questions about the same fitted model and must agree: averages,
spread, quantiles, individual curves, weights, groups, both scales, missing points, categories, unseen
values, values one ulp beside the thresholds. Brute force only calls the model, so it is the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fitted_models import CASES, LEVELS, Fitted

from icefield import Effect, Explainer, Grid
from icefield.columns import is_missing_value

PROBABILITIES = (0.13, 0.5, 0.77)
TINY = (0.0, -0.0, 5e-324, -5e-324, 1e-36, -1e-36, 1e-35, 2e-35, -2e-35)


@lru_cache(maxsize=4)
def fitted(name: str, seed: int) -> Fitted:
    return CASES[name](seed)


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
        """Ask both and compare; the trees' answer."""
        found, expected = ask(self.trees), ask(self.brute)
        assert_same(found, expected, self.allowed, what)
        return found


def magnitude(explainer: Explainer) -> float:
    """What sums of the trees' leaf values may reach: the scale of their rounding errors."""
    forest = explainer.plan.trees.forest
    total = np.abs(forest.base).sum()
    bounds = np.append(forest.tree_root, len(forest.node_leaf))
    for first, last in zip(bounds[:-1], bounds[1:]):
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
    thresholds = thresholds[np.linspace(0, len(thresholds) - 1, 12).astype(int)] if len(thresholds) else []
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
        levels = [level for level in reversed(LEVELS)]
        return [*levels, *found.unseen, *([None] if explainer.table.column(name).any_missing else [])]
    return awkward_values(explainer, name, found.accepts)


def check(name: str, seed: int) -> None:
    found = fitted(name, seed)
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
    for both, order, grid in ((plain, 1, 8), (rich, 1, None), (plain, 2, 3), (rich, 2, 4)):
        ours, theirs = (ex.effects(order=order, grid=grid) for ex in (both.trees, both.brute))
        assert list(ours) == list(theirs)
        for key, effect in ours.items():
            assert effect.engine == "trees"
            assert_same(effect, theirs[key], both.allowed, f"effects {key}")


@pytest.mark.parametrize("name", CASES)
def test_trees_give_what_brute_force_gives(name: str) -> None:
    check(name, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 90, 10))
@pytest.mark.parametrize("name", CASES)
def test_trees_give_what_brute_force_gives_on_many_more(name: str, seed: int) -> None:
    check(name, seed)
