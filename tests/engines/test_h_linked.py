"""A few rows crossed with each other on a linked scale: the same averages as a plain loop over rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from forest_walk import raw
from icefield.core.question import Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine
from icefield.engines.trees import h_linked as crossed
from icefield.forest import links
from icefield.forest.tree_model import Link
from strategies import random_forest

LINKS = {
    "logistic": links.logistic(),
    "steep": links.logistic(2.5),
    "two columns": links.two_columns(links.logistic()),
    "softmax": links.softmax(),
    "exp": links.exponential(),
}


def plain(forest: Any, matrix: np.ndarray, columns: Any, weights: np.ndarray, link: Link) -> np.ndarray:
    """For every row i the average over rows l of the response to l with these columns from i: ``(outputs, rows)``."""
    found = []
    for row in matrix:
        moved = matrix.copy()
        moved[:, list(columns)] = row[list(columns)]
        found.append(weights @ link.apply(raw(forest, moved)) / weights.sum())
    return np.stack(found, axis=1)


def asked_sets(n_columns: int) -> list[tuple[int, ...]]:
    """Single columns, pairs, all but one, all, none that matter, and a group of two with its pairs."""
    every = range(n_columns)
    return [
        *combinations(every, 1),
        *combinations(every, 2),
        *(tuple(c for c in every if c != left_out) for left_out in every),
        tuple(every),
    ]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("seed", range(6))
def test_random_forests(seed: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, link = np.random.default_rng([seed, 11]), LINKS[name]
    if seed % 2:
        monkeypatch.setattr(crossed, "MOVES", 2**14)  # few rows at a time
    outputs = 1 if name == "two columns" else int(rng.integers(1, 4))
    drawn = random_forest(rng, n_columns=4, leaves=int(rng.integers(2, 40)), n_outputs=outputs)
    n = int(rng.integers(2, 150))
    matrix = drawn.matrix(rng, n)
    n_response = link.apply(np.zeros((1, outputs))).shape[-1]
    selected = sorted(rng.choice(n_response, int(rng.integers(1, n_response + 1)), replace=False).tolist())
    weights = None if seed % 3 == 0 else rng.choice([0.5, 1.0, 2.0], n)
    engine = TreesEngine(drawn.model(link), "response", selected)
    sets = asked_sets(4)
    averages = engine.own_averages(sets, Block(table_of(matrix), weights), Resources(threads=2))
    assert averages is not None
    own = np.ones(n) if weights is None else weights
    for columns, found in zip(sets, averages, strict=True):
        expected = plain(drawn.forest, matrix, columns, own, link)[selected]
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * size)


@pytest.fixture(scope="module")
def pairs_that_come_again() -> tuple[Any, ...]:
    """A forest, its rows, and sets whose pairs are found again; single columns among them are still known."""
    rng = np.random.default_rng(8)
    drawn = random_forest(rng, n_columns=5, trees=7, leaves=20, n_outputs=3)
    matrix, weights = drawn.matrix(rng, 90), rng.choice([0.5, 1.0, 2.0], 90)
    pairs = list(combinations(range(5), 2))
    sets = [*combinations(range(5), 1), *pairs, (1, 2, 3, 4), (0, 1), (0, 1, 2, 3, 4), (2,), (3, 4)]
    expected = [plain(drawn.forest, matrix, columns, weights, links.softmax()) for columns in sets]
    return drawn, matrix, weights, sets, expected


@pytest.mark.parametrize("held", [1, 2, 5])
def test_the_same_where_few_pairs_are_held_at_a_time(
    held: int, pairs_that_come_again: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, matrix, weights, sets, walked = pairs_that_come_again
    sample = Block(table_of(matrix), weights)
    engine = TreesEngine(drawn.model(links.softmax()), "response", [0, 2])
    together = list(engine.own_averages(sets, sample, Resources()) or ())
    monkeypatch.setattr(crossed, "WINDOW_GROUPS", 0)
    little = Resources(memory=4 * (2 * crossed.MOVES + 8 * 90 * 3 * (3 * 5 + held)))
    apart = list(engine.own_averages(sets, sample, little) or ())
    assert len(apart) == len(sets)
    for expected, one, other in zip(walked, together, apart, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, expected[[0, 2]], rtol=0, atol=1e-12)


def test_groups_columns_that_stay_and_columns_that_drive_nothing() -> None:
    rng = np.random.default_rng(3)
    drawn = random_forest(rng, n_columns=5, trees=6, leaves=20, n_outputs=1)
    model = replace(drawn.model(links.logistic()), drives={j: (j,) for j in range(4)} | {"unused": ()})
    matrix = drawn.matrix(rng, 70)
    engine = TreesEngine(model, "response", [0])
    sets = [(0, 1), (2,), (0, 1, 2), ("unused",), ("unused", 2), (2,)]
    averages = engine.own_averages(sets, Block(table_of(matrix)), Resources())
    assert averages is not None
    for columns, found in zip(sets, averages, strict=True):
        moving = [c for c in columns if c != "unused"]
        expected = plain(drawn.forest, matrix, moving, np.ones(70), links.logistic())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_what_it_leaves_to_others() -> None:
    rng = np.random.default_rng(4)
    drawn = random_forest(rng, n_columns=6, trees=3, leaves=9, n_outputs=1)
    engine = TreesEngine(drawn.model(links.logistic()), "response", [0])
    few = Block(table_of(drawn.matrix(rng, 20)))
    assert engine.own_averages([(0,), (1,)], few, Resources()) is not None
    triple = [(0,), (1,), (2,), (0, 1, 2)]
    assert engine.own_averages(triple, few, Resources()) is None
    many = Block(table_of(drawn.matrix(rng, crossed.MOST_ROWS + 1)))
    assert engine.own_averages([(0,), (1,)], many, Resources()) is None
    assert engine.own_averages([(0,), (1,)], few, Resources(memory=2**20)) is None
    unknown = TreesEngine(drawn.model(links.softplus()), "response", [0])
    assert unknown.own_averages([(0,), (1,)], few, Resources()) is None


def test_the_same_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(5)
    drawn = random_forest(rng, n_columns=5, trees=8, leaves=30, n_outputs=2)
    sample = Block(table_of(drawn.matrix(rng, 130)))
    engine = TreesEngine(drawn.model(links.softmax()), "response", [0, 1])
    one, three = (
        list(engine.own_averages(asked_sets(5), sample, Resources(threads=threads)) or ())
        for threads in (1, 3)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))
