"""The trees engine against the plain walker: the same numbers for every kind of question."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from itertools import combinations

import numpy as np
import pytest
from strategies import IDENTITY, SIGMOID, SOFTMAX, RandomForest, random_forest

from icefield.distribution import weighted_quantiles
from icefield.engines import Axis, Question, Resources, Sample
from icefield.engines.trees import TreesEngine, engine, program
from icefield.forest.walk import raw
from icefield.frame import table_of

TOLERANCE = 1e-12  # times the sum of absolute leaf values
PROBABILITIES = (0.1, 0.5, 0.9)


def reference(drawn: RandomForest, matrix: np.ndarray, question: Question, link) -> np.ndarray:
    """Every row's prediction at every grid point, shape (rows, outputs, *grid): brute force."""
    found = []
    for at in np.ndindex(*question.shape):
        replaced = matrix.copy()
        for axis, k in zip(question.axes, at):
            for column, values in axis.points.items():
                replaced[:, column] = values[k]
        found.append(link.apply(raw(drawn.forest, replaced)))
    stacked = np.stack(found, axis=-1)
    return stacked.reshape(*stacked.shape[:2], *question.shape)


def assert_close(found, expected, drawn, what, factor=1.0):
    assert found.shape == expected.shape, what
    np.testing.assert_allclose(found, expected, rtol=0, atol=factor * TOLERANCE * drawn.size, err_msg=what)


def assert_moments(moments, values, weights, drawn, spread, what):
    assert moments.count == len(values), what
    if weights is None:
        weights = np.ones(len(values))
    np.testing.assert_allclose(moments.weight, weights.sum(), rtol=1e-12, err_msg=what)
    np.testing.assert_allclose(moments.weight_squared, np.square(weights).sum(), rtol=1e-12, err_msg=what)
    assert (moments.m2 is not None) == spread, what
    if weights.sum() == 0:
        return
    mean = np.tensordot(weights, values, (0, 0)) / weights.sum()
    assert_close(moments.mean, mean, drawn, what)
    if spread:
        m2 = np.tensordot(weights, np.square(values - mean), (0, 0)) / weights.sum()
        assert_close(moments.m2 / weights.sum(), m2, drawn, what + " m2", factor=10 * drawn.size)


def assert_quantiles(found, values, weights, what):
    """Quantiles are values of the data; equal ones may differ by rounding."""
    assert found.shape == (len(PROBABILITIES), *values.shape[1:]), what
    if len(values) == 0 or (weights is not None and weights.sum() == 0):
        assert np.isnan(found).all(), what
        return
    lanes = values.reshape(len(values), -1)
    expected = np.stack(
        [weighted_quantiles(lane, np.array(PROBABILITIES), weights) for lane in lanes.T], axis=1
    )
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-9, atol=1e-9, err_msg=what)


def draw_axes(rng, drawn, order, points):
    """Axes over distinct columns, now and then one that moves two columns together."""
    columns = list(rng.permutation(drawn.forest.n_columns))
    axes = []
    for _ in range(order):
        if not columns:
            break
        together = [columns.pop()]
        if columns and rng.random() < 0.2:
            together.append(columns.pop())
        size = int(rng.integers(1, points + 1))
        axes.append(Axis(tuple(together), {int(j): drawn.columns[j].values(rng, size) for j in together}))
    return tuple(axes)


def draw_weights(rng, rows):
    kind = rng.integers(5)
    if kind < 2:
        return None
    if kind == 2:
        return rng.integers(0, 4, rows).astype(float)
    return rng.exponential(size=rows) * (10.0 ** rng.uniform(-8, 8, rows) if kind == 3 else 1.0)


def check_random_case(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng)
    rows = int(rng.choice([1, 3, 40, 70, 200]))
    matrix = drawn.matrix(rng, rows)
    link = SOFTMAX if drawn.forest.n_outputs > 1 else SIGMOID
    if rng.random() < 0.5:
        link = IDENTITY
    # Small blocks, and lists nowhere, somewhere or everywhere.
    monkeypatch.setattr(engine, "BLOCK", int(rng.choice([64, 128, 8192])))
    monkeypatch.setattr(program, "FEW_LEAVES", float(rng.choice([0.0, 0.4, 2.0])))
    weights = draw_weights(rng, rows)
    n_groups = int(rng.choice([0, 0, 1, 3]))
    codes = rng.integers(-1, n_groups, rows) if n_groups else None
    sample = Sample(table_of(matrix), weights, codes, n_groups)

    questions = []
    for _ in range(int(rng.choice([1, 2, 6]))):
        order = int(rng.choice([1, 1, 2, 2, 3]))
        spread = bool(rng.random() < 0.3)
        quantiles = PROBABILITIES if rng.random() < 0.15 else ()
        kept = rng.integers(0, rows, int(rng.integers(0, 5))) if rng.random() < 0.2 else None
        axes = draw_axes(rng, drawn, order, points=70 if order == 1 else 6)
        questions.append(Question(axes, spread, quantiles, kept))
    selected = sorted(
        rng.choice(drawn.forest.n_outputs, int(rng.integers(1, drawn.forest.n_outputs + 1)), False)
    )
    trees = TreesEngine(drawn.model(link), str(rng.choice(["raw", "response"])), selected)
    if trees.additive:
        link = IDENTITY
    answers = trees.answer(questions, sample, Resources(threads=int(rng.choice([1, 2]))))

    assert len(answers) == len(questions)
    for number, (question, answer) in enumerate(zip(questions, answers)):
        what = f"seed {seed}, question {number}"
        values = reference(drawn, matrix, question, link)[:, selected]
        assert_moments(answer.total, values, weights, drawn, question.spread, what)
        assert len(answer.groups) == n_groups, what
        for g, moments in enumerate(answer.groups):
            own = codes == g
            part = None if weights is None else weights[own]
            assert_moments(moments, values[own], part, drawn, question.spread, f"{what}, group {g}")
        if question.quantiles:
            assert_quantiles(answer.quantiles, values, weights, what)
            assert len(answer.group_quantiles) == n_groups, what
            for g, found in enumerate(answer.group_quantiles):
                own = codes == g
                assert_quantiles(found, values[own], None if weights is None else weights[own], what)
        else:
            assert answer.quantiles is None, what
        if question.rows is None:
            assert answer.curves is None, what
        else:
            assert_close(answer.curves, values[question.rows].swapaxes(0, 1), drawn, what + " curves")


@pytest.mark.parametrize("block", range(20))
def test_equals_the_plain_walker(block, monkeypatch):
    for seed in range(50 * block, 50 * block + 50):
        check_random_case(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20, 200))
def test_equals_the_plain_walker_on_many_more(block, monkeypatch):
    for seed in range(50 * block, 50 * block + 50):
        check_random_case(seed, monkeypatch)
