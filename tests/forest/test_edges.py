"""Edges: where along a column the trees' answer can change, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icefield.forest import CannotRead, TreeModel, walk
from icefield.forest.edges import edges
from icefield.forest.encode import Encoder, Numbers, Rule
from icefield.frame import table_of
from strategies import random_forest, seeds

RULES = [
    Numbers(),
    Numbers(float32=True),
    Numbers(missing=-7.25),
    Numbers(float32=True, missing=0.1),
    Numbers(float32=True, missing=float(np.finfo(np.float32).max)),
]


def forest_model(seed: int, rule: Rule) -> TreeModel:
    """A random forest of one numeric column, read by the rule."""
    drawn = random_forest(np.random.default_rng(seed), n_columns=1, numeric_only=True)
    encode = Encoder((0,), (rule,))
    return replace(drawn.model(), encode=encode, drives=encode.drives)


def answers(model: TreeModel, values: np.ndarray) -> np.ndarray:
    return walk.raw(model.forest, model.encode(table_of(values.reshape(-1, 1))))


@given(seeds, st.sampled_from(RULES))
@settings(max_examples=150, deadline=None)
def test_nothing_changes_between_edges(seed: int, rule: Rule) -> None:
    model = forest_model(seed, rule)
    found = edges(model, 0)
    assert (np.diff(found) > 0).all()
    assert np.isfinite(found).all()
    ends = np.array([-1e308, 1e308]) if not rule.float32 else np.array([-1e38, 1e38])
    points = np.unique(np.concatenate([found, ends]))
    draw = np.random.default_rng(seed)
    for low, high in pairwise(points):
        share = draw.random(3)
        inside = np.concatenate([[np.nextafter(low, np.inf), high], low * (1 - share) + high * share])
        inside = inside[(inside > low) & (inside <= high)]
        if np.abs(inside).max() <= ends[1]:
            assert len(np.unique(answers(model, inside), axis=0)) == 1


@given(seeds, st.sampled_from(RULES[:2]))
@settings(max_examples=100, deadline=None)
def test_every_edge_is_one_of_a_condition(seed: int, rule: Rule) -> None:
    """The number after an edge goes another way at some condition than the one before.

    Near zero, where zeros may stand for missing, an edge may separate nothing.
    """
    model = forest_model(seed, rule)
    found = edges(model, 0)
    found = found[np.abs(found) > 1e-30]
    found = found[np.abs(found) < 1e37] if rule.float32 else found[np.abs(found) < 1e307]
    for at, after in zip(found, np.nextafter(found, np.inf)):
        before_after = model.encode(table_of(np.array([[at], [after]])))[:, 0]
        ways = [
            walk.goes_left(model.forest, c, before_after) for c in range(len(model.forest.condition_column))
        ]
        assert any(left[0] != left[1] for left in ways)


def test_rounding_to_float32_moves_an_edge_to_the_last_number_that_rounds_down() -> None:
    model = forest_model(0, Numbers(float32=True))
    single = model.forest
    one = replace(
        model, forest=replace(single, condition_threshold=np.full_like(single.condition_threshold, 0.1))
    )
    (edge,) = edges(one, 0)[~np.isclose(edges(one, 0), 0.0, atol=1e-30)]
    assert float(np.float32(edge)) <= 0.1 < float(np.float32(np.nextafter(edge, 1.0)))


def test_columns_that_are_not_used_have_no_edges() -> None:
    model = forest_model(1, Numbers())
    assert edges(model, "elsewhere").size == 0


def test_categories_and_transformed_columns_have_none_of_their_own() -> None:
    rng = np.random.default_rng(3)
    drawn = next(f for f in (random_forest(rng) for _ in range(100)) if (f.forest.condition_set >= 0).any())
    column = int(drawn.forest.condition_column[drawn.forest.condition_set >= 0][0])
    encode = Encoder(tuple(range(drawn.forest.n_columns)), (Numbers(),) * drawn.forest.n_columns)
    with pytest.raises(CannotRead, match="by sets of categories"):
        edges(replace(drawn.model(), encode=encode), column)
    used = next(s for s in range(50) if forest_model(s, Numbers()).forest.condition_column.size)
    transformed = replace(forest_model(used, Numbers()), encode=lambda table: table.to_numpy())
    with pytest.raises(CannotRead, match="transformed before the trees see it"):
        edges(transformed, 0)
