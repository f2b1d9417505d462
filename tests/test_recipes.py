"""The Explainer against a plain loop over the model's own predict, for every kind of model that there is.

The loop is the definition: set the column to a value in every row, ask the model's library, average. It knows
nothing of engines, encoders or adapters, so whatever these get wrong together shows here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from fitted_models import LEVELS, QUICK, RECIPES, Fitted
from icefield import Explainer
from icefield.errors import ModelError
from model_recipes.own_answers import own_margin, own_response


def moved(X: Any, values: dict[Any, Any]) -> Any:
    """The rows with some columns set, of the same types."""
    if isinstance(X, np.ndarray):
        out = X.copy()
        for name, value in values.items():
            out[:, name] = value
        return out
    out = X.copy()
    for name, value in values.items():
        out[name] = pd.Series([value] * len(X), index=X.index, dtype=X[name].dtype)
    return out


def looped(
    found: Fitted, scale: str, features: list[Any], grids: list[list[Any]], weights: Any
) -> np.ndarray:
    """Averages ``(outputs, *grid)`` by the definition."""
    ask = own_margin if scale == "raw" else own_response
    shape = [len(grid) for grid in grids]
    points = []
    for at in np.ndindex(*shape):
        rows = moved(found.X, {name: grid[i] for name, grid, i in zip(features, grids, at)})
        points.append(np.average(ask(found, rows), axis=0, weights=weights))
    return np.array(points).T.reshape(-1, *shape)


def grid_of(found: Fitted, name: Any) -> list[Any]:
    if isinstance(found.X, pd.DataFrame) and not pd.api.types.is_numeric_dtype(found.X[name].dtype):
        column = found.X[name]
        gaps = [None] if column.isna().any() else []
        return [*[level for level in LEVELS if level in set(column)][:3], *found.unseen[:1], *gaps]
    values = np.asarray(found.X[name] if isinstance(found.X, pd.DataFrame) else found.X[:, name])
    seen = np.unique(values[np.isfinite(values.astype(float))])
    picked = [seen[0], seen[len(seen) // 2], seen[-1]]
    strange = (
        sorted(found.accepts, key=np.isnan) if values.dtype.kind == "f" else []
    )  # a missing point is last
    return [*(v.item() for v in picked), *strange]


def check(name: str, seed: int) -> None:
    found = RECIPES[name](seed)
    names = list(found.X.columns) if isinstance(found.X, pd.DataFrame) else list(range(found.X.shape[1]))
    draw = np.random.default_rng(seed + 5)
    weights = draw.random(len(found.X)) * (draw.random(len(found.X)) < 0.9)
    first, second = names[0], names[1]
    for scale in ("response", "raw"):
        if scale == "raw" and not found.raw:
            with pytest.raises(ModelError, match="cannot be 'raw'"):
                Explainer(found.model, found.X, scale=scale)
            continue
        ex = Explainer(found.model, found.X, scale=scale, target="all")
        weighted = Explainer(found.model, found.X, scale=scale, target="all", weights=weights)
        for feature in (first, second):
            grid = grid_of(found, feature)
            expected = looped(found, scale, [feature], [grid], weights)
            same(weighted.partial_dependence(feature, grid=grid), expected, found, f"{scale} {feature}")
        grids = [grid_of(found, f)[:3] for f in (first, second)]
        expected = looped(found, scale, [first, second], grids, None)
        same(ex.partial_dependence(first, second, grid=grids), expected, found, f"{scale} pair")
        curves = ex.ice(first, grid=grids[0], rows=[0, 7])
        for at, value in enumerate(grids[0]):
            own = (own_margin if scale == "raw" else own_response)(found, moved(found.X, {first: value}))
            close(curves.individual[:, :, at], own[[0, 7]].T, found, f"{scale} curves", curves)


def same(effect: Any, expected: np.ndarray, found: Fitted, what: str) -> None:
    assert "self-check" not in effect.why, effect.why
    close(effect.average, expected, found, what, effect)


def close(ours: np.ndarray, expected: np.ndarray, found: Fitted, what: str, effect: Any) -> None:
    assert ours.shape == expected.shape, (what, ours.shape, expected.shape, effect.outputs)
    allowed = max(found.tolerance, 1e-11) * 10 * (1.0 + np.abs(expected).max())
    assert np.abs(ours - expected).max() <= allowed, (what, effect.engine, effect.why, ours, expected)


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("name", QUICK)
def test_the_explainer_says_what_a_loop_over_predict_says(name: str) -> None:
    check(name, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("seed", [0, 20, 40])
@pytest.mark.parametrize("name", RECIPES)
def test_the_explainer_says_what_a_loop_over_predict_says_of_all(name: str, seed: int) -> None:
    if seed or name not in QUICK:
        check(name, seed)


def test_there_are_recipes_enough_to_miss_no_kind_of_model() -> None:
    assert len(RECIPES) >= 150
