"""The trees engine against the plain walker: the same numbers for every kind of question."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from forest_walk import goes_left, raw
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.data.distribution import weighted_quantiles
from icefield.data.frame import table_of
from icefield.engines.training.training_averages import training_average
from icefield.engines.trees import (
    TreesEngine,
    encoded,
    engine,
    h_statistic,
    last_values_left,
    program,
)
from icefield.errors import BudgetError, EngineError
from icefield.forest.form import ZERO_THRESHOLD
from icefield.forest.tree_model import CannotRead
from strategies import IDENTITY, SIGMOID, SOFTMAX, RandomForest, random_forest

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
    rows = int(rng.choice([1, 3, 40, 70, 140]))
    matrix = drawn.matrix(rng, rows)
    link = SOFTMAX if drawn.forest.n_outputs > 1 else SIGMOID
    if rng.random() < 0.5:
        link = IDENTITY
    # Small blocks, and lists nowhere, somewhere or everywhere.
    monkeypatch.setattr(encoded, "FEW_VALUES", (2**20, -1)[seed % 2])  # rows as numbers, and as codes
    monkeypatch.setattr(engine, "BLOCK", int(rng.choice([64, 128, 8192])))
    monkeypatch.setattr(program, "FEW_LEAVES", float(rng.choice([0.0, 0.4, 2.0])))
    weights = draw_weights(rng, rows)
    n_groups = int(rng.choice([0, 0, 1, 3]))
    codes = rng.integers(-1, n_groups, rows) if n_groups else None
    sample = Block(table_of(matrix), weights, codes, n_groups)

    questions = []
    for _ in range(int(rng.choice([1, 2, 5]))):
        order = int(rng.choice([1, 1, 2, 2, 3]))
        spread = bool(rng.random() < 0.3)
        quantiles = PROBABILITIES if rng.random() < 0.15 else ()
        kept = rng.integers(0, rows, int(rng.integers(0, 5))) if rng.random() < 0.2 else None
        axes = draw_axes(rng, drawn, order, points=int(rng.choice([3, 8, 70])) if order == 1 else 4)
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", range(20))
def test_equals_the_plain_walker(block, monkeypatch):
    for seed in range(50 * block, 50 * block + 50):
        check_random_case(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20, 200))
def test_equals_the_plain_walker_on_many_more(block, monkeypatch):
    for seed in range(50 * block, 50 * block + 50):
        check_random_case(seed, monkeypatch)


@pytest.mark.parametrize("few_values", [2**20, -1], ids=["numbers", "codes"])
def test_moved_rows_equal_the_plain_walker(few_values, monkeypatch):
    """Several moves in one walk: of any columns, to one value or to a value for each row, asked again in other numbers."""
    monkeypatch.setattr(encoded, "FEW_VALUES", few_values)
    monkeypatch.setattr(engine, "BLOCK", 64)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        monkeypatch.setattr(program, "FEW_LEAVES", (0.0, 0.4)[seed % 2])
        drawn = random_forest(rng, leaves=20)
        rows, n_groups = int(rng.choice([1, 64, 140])), int(rng.choice([0, 3]))
        weights, codes = draw_weights(rng, rows), rng.integers(-1, n_groups, rows) if n_groups else None
        matrix, link = drawn.matrix(rng, rows), SOFTMAX if drawn.forest.n_outputs > 1 else SIGMOID
        sample = Block(table_of(matrix), weights, codes, n_groups)
        trees = TreesEngine(
            drawn.model(link), "raw" if seed % 3 else "response", range(drawn.forest.n_outputs)
        )
        for n_moves in (2, 4, 1):
            moves, expected = [], []
            for _ in range(n_moves):
                chosen = rng.permutation(drawn.forest.n_columns)[: rng.integers(0, 3)]
                sizes = rng.choice([1, rows], len(chosen))
                moves.append(
                    [Axis(j, {j: drawn.columns[j].values(rng, n)}) for j, n in zip(chosen.tolist(), sizes)]
                )
                moved = matrix.copy()
                for axis in moves[-1]:
                    moved[:, axis.feature] = axis.points[axis.feature]
                found = raw(drawn.forest, moved)
                expected.append(found if trees.additive else link.apply(found))
            each = trees.moved_predictions(moves, sample.table, Resources(threads=2))
            assert_close(each, np.array(expected), drawn, f"seed {seed}")
            for means, values in zip(trees.moved_means(moves, sample, Resources(threads=2)), expected):
                members = [codes == g for g in range(n_groups)]
                for moments, own in zip(means, [slice(None), *members]):
                    part = None if weights is None else weights[own]
                    assert_moments(moments, values[own], part, drawn, spread=False, what=f"seed {seed}")


def question(*columns_and_points, **asked):
    """A question from (column, points) pairs, means only unless more is asked."""
    asked = {"spread": False, **asked}
    return Question(tuple(Axis(c, {c: np.asarray(p, float)}) for c, p in columns_and_points), **asked)


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(11)
    return random_forest(rng, n_columns=5, trees=12, leaves=30, n_outputs=2, vector_leaves=False)


@pytest.fixture(scope="module")
def matrix(drawn):
    return drawn.matrix(np.random.default_rng(12), 1000)


def every_kind(drawn, rng):
    points = [c.values(rng, 9) for c in drawn.columns]
    return [
        *[question((j, points[j])) for j in range(5)],
        *[question((a, points[a][:4]), (b, points[b][:3])) for a, b in combinations(range(5), 2)],
        question((0, points[0][:3]), (1, points[1][:3]), (4, points[4][:2])),
    ]


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_do_not_depend_on_threads_or_blocks(drawn, matrix, weighted, monkeypatch):
    rng = np.random.default_rng(0)
    questions = every_kind(drawn, rng)
    weights = rng.exponential(size=len(matrix)) if weighted else None
    sample = Block(table_of(matrix), weights, rng.integers(-1, 3, len(matrix)), 3)
    trees = TreesEngine(drawn.model(), "raw", [0, 1])
    expected = trees.answer(questions, sample, Resources(threads=1))
    for threads, block in ((2, 8192), (8, 64), (3, 192)):
        monkeypatch.setattr(engine, "BLOCK", block)
        for one, other in zip(expected, trees.answer(questions, sample, Resources(threads=threads))):
            for a, b in zip((one.total, *one.groups), (other.total, *other.groups)):
                assert np.array_equal(a.mean, b.mean)


def test_curves_do_not_depend_on_threads(drawn, matrix):
    asked = question((0, drawn.columns[0].values(np.random.default_rng(0), 20)), spread=True)
    trees = TreesEngine(drawn.model(SOFTMAX), "response", [1])
    found = [trees.answer([asked], Block(table_of(matrix)), Resources(threads=t))[0].total for t in (1, 2, 8)]
    assert all(np.array_equal(found[0].mean, other.mean) for other in found[1:])
    assert all(np.array_equal(found[0].m2, other.m2) for other in found[1:])


def test_parts_of_the_rows_merge_to_the_whole(drawn, matrix):
    asked = question((1, drawn.columns[1].values(np.random.default_rng(0), 8)), spread=True)
    trees = TreesEngine(drawn.model(), "raw", [0, 1])
    (whole,) = trees.answer([asked], Block(table_of(matrix)), Resources())
    parts = [
        trees.answer([asked], Block(table_of(m)), Resources())[0].total for m in (matrix[:300], matrix[300:])
    ]
    merged = parts[0].merge(parts[1])
    assert_close(merged.mean, whole.total.mean, drawn, "mean")
    assert merged.count == whole.total.count == 1000


@pytest.mark.parametrize("memory", [2**14, 2**18])
def test_little_memory_means_batches_of_trees_and_the_same_numbers(drawn, matrix, memory):
    rng = np.random.default_rng(0)
    questions = every_kind(drawn, rng)
    questions.append(question((0, drawn.columns[0].values(rng, 5)), spread=True, rows=np.array([3, 1])))
    trees = TreesEngine(drawn.model(), "raw", [0, 1])
    plenty = trees.answer(questions, Block(table_of(matrix)), Resources())
    little = trees.answer(questions, Block(table_of(matrix)), Resources(memory=memory))
    for one, other in zip(plenty, little):
        assert_close(other.total.mean, one.total.mean, drawn, "mean")
    assert_close(little[-1].curves, plenty[-1].curves, drawn, "curves")


def test_more_groups_than_one_walk_takes(drawn, matrix, monkeypatch):
    monkeypatch.setattr(engine, "MOST_GROUPS", 2)
    codes = np.random.default_rng(0).integers(-1, 7, len(matrix))
    asked = question((2, drawn.columns[2].values(np.random.default_rng(1), 5)))
    trees = TreesEngine(drawn.model(), "raw", [0, 1])
    (answer,) = trees.answer([asked], Block(table_of(matrix), None, codes, 7), Resources())
    values = reference(drawn, matrix, asked, IDENTITY)
    assert_moments(answer.total, values, None, drawn, False, "total")
    for g in range(7):
        assert_moments(answer.groups[g], values[codes == g], None, drawn, False, f"group {g}")


def test_a_column_the_model_does_not_know_gives_a_flat_curve(drawn, matrix):
    extra = np.column_stack([matrix, np.zeros(len(matrix))])
    model = drawn.model()
    model = replace(model, encode=lambda table: table.to_numpy()[:, :5])
    asked = [
        question((5, [1.0, 2.0])),
        question((5, [1.0]), (0, [0.0, 1.0])),
        question((5, [1.0, 2.0]), spread=True),
    ]
    answers = TreesEngine(model, "raw", [0, 1]).answer(asked, Block(table_of(extra)), Resources())
    level = raw(drawn.forest, matrix).mean(axis=0)
    assert_close(answers[0].total.mean, np.repeat(level[:, None], 2, axis=1), drawn, "flat")
    assert_close(answers[2].total.mean, np.repeat(level[:, None], 2, axis=1), drawn, "flat")


def test_no_rows_at_all(drawn, matrix):
    asked = question((0, [0.0, 1.0]), spread=True, quantiles=(0.5,), rows=np.zeros(0, np.intp))
    trees = TreesEngine(drawn.model(), "raw", [1])
    (answer,) = trees.answer([asked], Block(table_of(matrix[:0])), Resources())
    assert answer.total.count == 0
    assert answer.total.mean.shape == (1, 2)
    assert np.isnan(answer.total.average).all()
    assert np.isnan(answer.quantiles).all()


def test_axes_that_decide_the_same_input_are_refused(drawn, matrix):
    model = replace(drawn.model(), drives={0: (0,), 1: (0,)})
    with pytest.raises(EngineError, match="engine='brute'"):
        TreesEngine(model, "raw", [0]).answer(
            [question((0, [0.0]), (1, [0.0]))], Block(table_of(matrix)), Resources()
        )


def test_curves_over_the_budget_are_refused(drawn, matrix):
    asked = question((0, np.arange(100.0)), rows=np.arange(1000))
    with pytest.raises(BudgetError, match="individual curves"):
        TreesEngine(drawn.model(), "raw", [0]).answer(
            [asked], Block(table_of(matrix)), Resources(memory=1000)
        )


def test_steps_are_the_models_own_thresholds(drawn):
    forest, table = drawn.forest, table_of(np.zeros((1, 5)))
    for column in range(5):
        own = np.flatnonzero(forest.condition_column == column)
        if (forest.condition_set[own] >= 0).any():
            with pytest.raises(EngineError, match="categories"):
                last_values_left(drawn.model(), column, table)
        else:
            expected = forest.condition_threshold[own]
            expected = set(expected[np.isfinite(expected)].tolist())
            if forest.condition_zero_missing[own].any():
                expected |= {float(np.nextafter(-ZERO_THRESHOLD, -np.inf)), ZERO_THRESHOLD}
            assert last_values_left(drawn.model(), column, table).tolist() == sorted(expected)
    assert last_values_left(drawn.model(), "unknown", table).size == 0


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(25))
def test_own_averages_are_partial_dependence_at_the_rows_own_values(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng)
    n_columns, rows = drawn.forest.n_columns, 80
    monkeypatch.setattr(program, "FEW_LEAVES", (0.0, 0.4, 2.0)[seed % 3])
    monkeypatch.setattr(h_statistic, "MOST_ROWS", 64)
    matrix = drawn.matrix(rng, rows)
    weights = rng.exponential(size=rows) if seed % 2 else None
    selected = sorted(
        rng.choice(drawn.forest.n_outputs, int(rng.integers(1, drawn.forest.n_outputs + 1)), False)
    )
    columns = range(n_columns)
    sets = [
        *[(j,) for j in columns],
        tuple(columns),
        *[tuple(k for k in columns if k != j) for j in columns if n_columns > 1],
        *combinations(columns, 2),
        *list(combinations(columns, 3))[:2],
    ]
    trees = TreesEngine(drawn.model(), "raw", selected)
    found = list(trees.own_averages(sets, Block(table_of(matrix), weights), Resources()))
    assert len(found) == len(sets)
    for moving, values in zip(sets, found):
        expected = np.empty((len(selected), rows))
        for i in range(rows):
            replaced = matrix.copy()
            replaced[:, moving] = matrix[i, moving]
            expected[:, i] = np.average(raw(drawn.forest, replaced)[:, selected], axis=0, weights=weights)
        assert_close(values, expected, drawn, f"seed {seed}, {moving}")


def test_own_averages_are_declined_where_they_cannot_be_had(drawn, matrix):
    sample = Block(table_of(matrix))
    linked = TreesEngine(drawn.model(SOFTMAX), "response", [0])
    assert linked.own_averages([(0,)], sample, Resources()) is None
    assert TreesEngine(drawn.model(), "raw", [0]).own_averages([(0,)], sample, Resources(memory=1000)) is None


def weighted_recursion(forest, node, point, share):
    """The textbook recursion: follow the moving columns, share out the others by training weight."""
    condition = forest.node_condition[node]
    if condition < 0:
        return share * forest.leaf_value[forest.node_leaf[node]]
    left, right = forest.node_left[node], forest.node_right[node]
    column = forest.condition_column[condition]
    if column in point:
        goes = goes_left(forest, condition, np.array([point[column]]))[0]
        return weighted_recursion(forest, left if goes else right, point, share)
    total = forest.node_weight[left] + forest.node_weight[right]
    return sum(
        weighted_recursion(forest, child, point, share * forest.node_weight[child] / total)
        for child in (left, right)
    )


@pytest.mark.parametrize("seed", range(20))
def test_training_average_is_the_weighted_recursion(seed):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng)
    forest = drawn.forest
    asked = Question(draw_axes(rng, drawn, int(rng.integers(1, 4)), points=4))
    found = training_average(drawn.model(), asked.axes, table_of(drawn.matrix(rng, 1)))
    assert found.shape == (forest.n_outputs, *asked.shape)
    for at in np.ndindex(*asked.shape):
        point = {c: v[k] for axis, k in zip(asked.axes, at) for c, v in axis.points.items()}
        expected = forest.base.copy()
        for tree, root in enumerate(forest.tree_root):
            value = weighted_recursion(forest, root, point, 1.0)
            output = forest.tree_output[tree]
            expected[slice(None) if output < 0 else slice(output, output + 1)] += value
        assert_close(found[(slice(None), *at)], expected, drawn, f"seed {seed} at {at}")


def test_training_average_needs_the_weights(drawn, matrix):
    unknown = replace(drawn.forest, node_weight=np.full_like(drawn.forest.node_weight, np.nan))
    axes = question((0, [0.0])).axes
    with pytest.raises(EngineError, match="does not store"):
        training_average(replace(drawn.model(), forest=unknown), axes, table_of(matrix))
    nothing = replace(drawn.forest, node_weight=np.zeros_like(drawn.forest.node_weight))
    with pytest.raises(EngineError, match="no training weight"):
        training_average(replace(drawn.model(), forest=nothing), axes, table_of(matrix))


def test_a_broken_forest_is_refused(drawn):
    broken = replace(drawn.forest, leaf_value=np.full_like(drawn.forest.leaf_value, np.nan))
    with pytest.raises(CannotRead, match="finite"):
        TreesEngine(replace(drawn.model(), forest=broken), "raw", [0])


def test_an_error_in_a_block_reaches_the_caller_and_leaves_no_thread(drawn, matrix):
    calls = []

    def failing(table):
        calls.append(table.n_rows)
        if len(calls) > 3:
            raise RuntimeError("no more rows")
        return table.to_numpy()

    model = replace(drawn.model(), encode=failing)
    many = np.repeat(matrix, 50, 0)
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="no more rows"):
        TreesEngine(model, "raw", [0]).answer(
            [question((0, [0.0, 1.0]), spread=True)],
            Block(table_of(many)),
            Resources(threads=2, memory=2 * many.nbytes),  # too little to encode all rows at once
        )
    assert len(calls) > 3
    assert threading.active_count() == before


def test_many_callers_at_once_get_the_serial_answer(drawn, matrix):
    rng = np.random.default_rng(0)
    questions = every_kind(drawn, rng)
    trees = TreesEngine(drawn.model(), "raw", [0, 1])
    sample = Block(table_of(matrix))
    expected = [a.total.mean for a in trees.answer(questions, sample, Resources(threads=1))]
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(trees.answer, questions, sample, Resources(threads=2)) for _ in range(16)]
        for job in jobs:
            assert all(np.array_equal(a.total.mean, e) for a, e in zip(job.result(), expected))


@pytest.mark.skipif(os.name == "nt", reason="signals are sent the POSIX way")
@pytest.mark.other_processes
@pytest.mark.parametrize("spread", [False, True])
def test_ctrl_c_stops_at_once_and_leaves_no_thread(spread):
    code = f"""
import os, signal, threading, time
from dataclasses import replace
import numpy as np
from strategies import random_forest
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.engines.trees import TreesEngine
from icefield.data.frame import table_of

rng = np.random.default_rng(0)
drawn = random_forest(rng, n_columns=5, trees=60, leaves=60)
pool = drawn.matrix(rng, 8192)

class Endless:
    n_rows, origin = 10**9, None
    def slice(self, start, stop):
        return table_of(pool[: stop - start])
    def take(self, rows):
        return table_of(pool[:1])

encode = lambda rows: rows if isinstance(rows, np.ndarray) else rows.to_numpy()
trees = TreesEngine(replace(drawn.model(), encode=encode), "raw", [0])
asked = [Question((Axis(j, {{j: np.arange(50.0)}}),), spread={spread}) for j in range(5)]
small, rows = Block(table_of(pool[:100])), Block(Endless())
trees.answer(asked, small, Resources(threads=2))
sent = []

def interrupt():
    time.sleep(0.3)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

before = threading.active_count()
threading.Thread(target=interrupt).start()
try:
    trees.answer(asked, rows, Resources(threads=2))
    print("not interrupted")
except KeyboardInterrupt:
    took = time.monotonic() - sent[0]
    time.sleep(0.05)
    print("threads left" if threading.active_count() > before else "stopped" if took < 3 else took)
trees.answer(asked, small, Resources(threads=2))
"""
    here = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(here)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "stopped", done.stdout + done.stderr
