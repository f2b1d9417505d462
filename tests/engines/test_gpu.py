"""The GPU engine: its numbers are the trees engine's, bit for bit, and what it does not count goes to the CPU with a reason.

Kernels are emulated in numpy, from the very tables that the device would get; the last tests need a device.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from tests.strategies import RandomForest, random_forest

from icefield import Explainer
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.gpu import codes, device, device_rows, engine, finding
from icefield.engines.gpu.codes import CodedColumns
from icefield.engines.gpu.engine import GpuEngine
from icefield.engines.gpu.leaves import ROW, TABLE, THREADS, AnyLeaves, Kind, place
from icefield.engines.trees.engine import TreesEngine
from icefield.engines.trees.program import TreeSums
from icefield.forest.form import ZERO_THRESHOLD


class Lost(Exception):
    pass


class Done:
    def synchronize(self) -> None:
        pass


class EmulatedDevice:
    """The kernels in numpy: rows are codes and a mask in place of planes of bits."""

    name, failures, processors = "emulated", (Lost,), 1

    def __init__(self, columns: int = 50, free: int = 2**40) -> None:
        self.columns, self.free, self.work = columns, free, []

    def fits(self, columns):
        return columns <= self.columns

    def most_columns(self):
        return self.columns

    def slab(self, n_tiles, columns):
        return device.Slab(
            np.full((n_tiles, columns, device.TILE), 77, np.uint8), np.ones((n_tiles, device.TILE), bool)
        )

    def staging(self, shape, dtype):
        return np.full(shape, np.nan, dtype), None, Done()

    def tables(self, columns):
        return [columns, np.zeros(columns.n, bool)]

    def encode(self, slab, staged, n_rows, n_tiles, order, tables, steps):
        columns, met = tables
        places = n_tiles * device.TILE
        row = np.arange(places) if order is None else order
        there = (row < n_rows) & (row >= 0)
        tiles = slice(slab.n_tiles, slab.n_tiles + n_tiles)
        slab.mask[tiles] = there.reshape(n_tiles, -1)
        for v in range(columns.n):
            x = staged[0][np.where(there, row, 0), columns.source[v]].astype(np.float64)
            missing = np.isnan(x) | ((np.abs(x) <= ZERO_THRESHOLD) & bool(columns.zero_missing[v]))
            met[v] |= (missing & there).any()
            code = np.searchsorted(columns.cuts[v, : columns.n_cuts[v]], x, side="left")
            slab.planes[tiles, v] = np.where(missing, columns.missing_code[v], code).reshape(n_tiles, -1)
        slab.n_tiles += n_tiles

    def has_missing(self, tables):
        return tables[1]

    def counts(self, size):
        return np.zeros(size, np.int64)

    def sent(self, work):
        return []

    def fetched(self, counts):
        return counts

    def count(self, work, sent, slab, tiles, counts):
        self.work.append(work)
        chosen = np.arange(slab.n_tiles) if tiles is None else np.array(tiles, np.intp)
        codes = slab.planes[chosen].transpose(1, 0, 2).reshape(slab.planes.shape[1], -1).astype(np.int64)
        here = slab.mask[chosen].ravel()

        def row(word):
            column, line = word // TABLE, word % TABLE // ROW
            if line == 0 or line == 16:
                return np.full(here.size, line == 16)
            return codes[column] >> 4 <= line - 1 if line < 16 else codes[column] & 15 <= line - 17

        def at_most(high, low):
            return row(high - ROW) | (row(high) & row(low))

        for number in range(work.leaf.size):
            if isinstance(work, Kind):
                fails = _fails_of_kind(work, number, at_most)
            else:
                fails = _fails_of_any(work, number, at_most, here.size)
            total = np.sum(fails, axis=0)
            found = [(here & (total == 0)).sum(), *((here & (total == 1) & f).sum() for f in fails)]
            if work.pairs:
                found += [
                    (here & (total == 2) & fails[x] & fails[y]).sum()
                    for y in range(len(fails))
                    for x in range(y)
                ]
            if isinstance(work, Kind):
                block, thread = divmod(number, THREADS)
                counts.reshape(-1, work.n_counts, THREADS)[block, :, thread] += found
            else:
                counts.reshape(-1, work.n_counts)[number] += found


def _fails_of_kind(work: Kind, number: int, at_most):
    table = work.table[number // THREADS, :, number % THREADS].astype(int)
    k, fails = work.elements, []
    for j in range(k):
        holds = at_most(table[2 * j], table[2 * j + 1])
        if j < work.seconds:
            fails.append(~holds | at_most(table[2 * k + 2 * j], table[2 * k + 2 * j + 1]))
        else:
            fails.append(holds if table[-1] >> j & 1 else ~holds)
    return fails


def _fails_of_any(work: AnyLeaves, number: int, at_most, n: int):
    fails = []
    for e in range(number * work.elements, (number + 1) * work.elements):
        bad = np.zeros(n, bool)
        for high, low in work.conditions[work.element_start[e] : work.element_start[e + 1]].tolist():
            holds = at_most(high, low & 0x7FFFFFFF)
            bad |= holds if low >> 31 else ~holds
        fails.append(bad)
    return fails


@pytest.fixture
def emulated(monkeypatch):
    made = EmulatedDevice()
    monkeypatch.setattr(finding, "found", lambda: (made, ""))
    return made


def case(seed: int, rows: int, **given):
    """A forest, rows, and questions of one, two and three axes."""
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, leaves=12, **{"numeric_only": True, **given})
    X = forest.matrix(rng, rows)
    n = X.shape[1]
    axes = [Axis((j,), {j: X[rng.integers(0, rows, 4), j]}) for j in range(n)]
    asked = (
        [(a,) for a in axes] + [(axes[i], axes[j]) for i in range(n) for j in range(i)] + [tuple(axes[:3])]
    )
    return forest, X, [Question(tuple(axes), spread=False) for axes in asked if axes]


def both(forest: RandomForest, block: Block, questions):
    outputs = range(forest.forest.n_outputs)
    return [
        one(forest.model(), "raw", outputs).answer(questions, block, Resources())
        for one in (GpuEngine, TreesEngine)
    ]


def assert_equal(found, expected):
    for a, b in zip(found, expected, strict=True):
        for x, y in zip((a.total, *a.groups), (b.total, *b.groups), strict=True):
            np.testing.assert_array_equal(x.average, y.average)
            assert (x.count, x.weight) == (y.count, y.weight)


@pytest.mark.parametrize("seed", range(25))
def test_averages_are_those_of_the_cpu(emulated, seed):
    forest, X, questions = case(seed, 60)
    found, expected = both(forest, Block(table_of(X)), questions)
    assert_equal(found, expected)
    assert {a.notes for a in found} <= {("counted on the GPU (emulated)",)}
    assert {a.engine for a in found} <= {""}


@pytest.mark.parametrize("free", [2**40, 0])
@pytest.mark.parametrize("seed", [3, 4, 6, 27])
def test_groups_parts_and_little_memory(emulated, monkeypatch, seed, free):
    emulated.free = free
    monkeypatch.setattr(device_rows, "STAGED", 2**15)
    monkeypatch.setattr(device_rows, "SLAB", 6)
    forest, X, questions = case(seed, 5000, n_columns=3, trees=2)
    of_group = np.random.default_rng(seed).integers(-1, 3, len(X))
    for groups in ({}, {"codes": of_group, "n_groups": 3}):
        found, expected = both(forest, Block(table_of(X), **groups), questions)
        assert_equal(found, expected)
        assert found[0].notes == ("counted on the GPU (emulated)",)


def test_kernels_for_leaves_alike_and_for_any_leaf_are_both_used(emulated):
    for seed in range(8):
        forest, X, questions = case(seed, 30)
        both(forest, Block(table_of(X)), questions)
    assert {type(w) for w in emulated.work} == {Kind, AnyLeaves}
    assert {w.pairs for w in emulated.work} == {True, False}


def test_a_condition_is_three_rows_of_a_table():
    high, low = place(np.array([0, 2, 2]), np.array([0, 255, 0x3A]))
    np.testing.assert_array_equal(high, [ROW, 2 * TABLE + 16 * ROW, 2 * TABLE + 4 * ROW])
    np.testing.assert_array_equal(low, [17 * ROW, 2 * TABLE + 16 * ROW, 2 * TABLE + 27 * ROW])


def test_columns_split_only_where_missing_values_go_either_way():
    forest = random_forest(np.random.default_rng(1), n_columns=1, trees=4, numeric_only=True).forest
    used = np.unique(forest.node_condition[forest.node_condition >= 0])
    own = {"condition_zero_missing": np.zeros(forest.condition_column.size, bool)}
    left = np.zeros(forest.condition_column.size, bool)
    sums = TreeSums(replace(forest, condition_missing_left=left, **own), tuple(range(forest.n_outputs)))
    assert CodedColumns.of(sums, None).n == 1
    assert CodedColumns.of(sums, None).missing_code.tolist() == CodedColumns.of(sums, None).n_cuts.tolist()
    first = used[np.argmin(forest.condition_threshold[used])]
    left[first] = True  # left at the first threshold, right at the others
    assert len(np.unique(forest.condition_threshold[used])) > 1
    assert CodedColumns.of(sums, None).n == 2
    assert CodedColumns.of(sums, ()).undecided.tolist() == [True]


# --- what the CPU does -----------------------------------------------------------------------------------------


def said(forest, block, questions):
    found, expected = both(forest, block, questions)
    assert_equal(found, expected)
    assert {a.engine for a in found} == {"trees"}
    (note,) = {a.notes for a in found}
    return note[0]


def test_what_the_device_does_not_count_says_why(emulated):
    forest, X, questions = case(2, 40, n_columns=3)
    assert (
        said(forest, Block(table_of(X), np.arange(40.0)), questions)
        == "on the CPU, because rows have weights"
    )
    many = Block(table_of(X), codes=np.arange(40) % 35, n_groups=35)
    assert said(forest, many, questions) == "on the CPU, because there are more than 31 groups"
    emulated.columns = 0
    assert "and this GPU takes 0" in said(forest, Block(table_of(X)), questions)


def test_more_thresholds_than_a_byte_has_codes(emulated, monkeypatch):
    monkeypatch.setattr(codes, "MOST_CUTS", 1)
    forest, X, questions = case(2, 40, n_columns=1, trees=3)
    assert said(forest, Block(table_of(X)), questions).endswith("a column has more than 1 thresholds")


def test_category_sets(emulated):
    for seed in range(40):
        forest, X, questions = case(seed, 30, numeric_only=False)
        used = np.unique(forest.forest.node_condition[forest.forest.node_condition >= 0])
        if (forest.forest.condition_set[used] >= 0).any():
            assert said(forest, Block(table_of(X)), questions).endswith("by sets of categories")
            break
    else:
        pytest.fail("no forest with sets")


def test_a_device_that_fails_leaves_it_to_the_cpu(emulated, monkeypatch):
    def fail(*_):
        raise Lost("out of memory")

    monkeypatch.setattr(emulated, "count", fail)
    forest, X, questions = case(2, 40, n_columns=3)
    assert (
        said(forest, Block(table_of(X)), questions)
        == "on the CPU, because the GPU failed (Lost: out of memory)"
    )


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0] * X[:, 1]), X


def test_the_explainer_says_who_counted(emulated, fitted):
    model, X = fitted
    explainer, plain = Explainer(model, X, engine="gpu"), Explainer(model, X, engine="trees")
    effect = explainer.partial_dependence(0, spread=False)
    np.testing.assert_array_equal(effect.average, plain.partial_dependence(0, spread=False).average)
    assert effect.engine == "gpu"
    assert effect.why.endswith("counted on the GPU (emulated)")
    spread = explainer.partial_dependence(0, spread=True)
    np.testing.assert_array_equal(spread.std, plain.partial_dependence(0, spread=True).std)
    assert spread.engine == "trees"
    assert "on the CPU, because a GPU counts rows for averages on an additive scale only" in spread.why
    assert plain.plan.engine.name == "trees"


def test_a_linked_scale_is_the_cpus(emulated, fitted):
    _, X = fitted
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, X[:, 0] > 0)
    effect = Explainer(model, X, engine="gpu").partial_dependence(0, spread=False)
    assert effect.engine == "trees"
    assert "additive scale only" in effect.why


def test_without_cupy_the_cpu_answers_and_says_so(monkeypatch, fitted):
    monkeypatch.setattr(finding, "find_spec", lambda _: None)
    finding.found.cache_clear()
    model, X = fitted
    effect = Explainer(model, X, engine="gpu").partial_dependence(0, spread=False)
    finding.found.cache_clear()
    assert effect.engine == "trees"
    assert "CuPy is not installed" in effect.why
    assert not finding.is_likely()


def test_auto_takes_the_device_for_large_work_only(emulated, fitted, monkeypatch):
    model, X = fitted
    monkeypatch.setattr(finding, "is_likely", lambda: True)
    assert Explainer(model, X).plan.engine.name == "trees"
    monkeypatch.setattr(engine, "LARGE", 1)
    assert Explainer(model, X).plan.engine.name == "gpu"
    monkeypatch.setattr(finding, "found", lambda: (None, "no driver"))
    assert Explainer(model, X).plan.engine.name == "trees"


# --- on a machine with CUDA -----------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_the_kernels_compile(tmp_path):
    text = (Path(device.__file__).parent / "counting.cu").read_text()
    source = tmp_path / "counting.cu"
    source.write_text(text.replace("\nKINDS\n", "\nKIND(a, 3, 1, false) KIND(b, 3, 2, true)\n"))
    command = ["nvcc", "-DALWAYS", "-std=c++17", "-arch=sm_80", "-ptx", "-o", tmp_path / "a.ptx", source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not finding.is_likely(), reason="needs a GPU and CuPy")
@pytest.mark.parametrize("seed", range(10))
def test_the_device_counts_as_the_cpu(seed):
    forest, X, questions = case(seed, 100_000)
    of_group = np.random.default_rng(seed).integers(-1, 3, len(X))
    for groups in ({}, {"codes": of_group, "n_groups": 3}):
        found, expected = both(forest, Block(table_of(X), **groups), questions)
        assert_equal(found, expected)
        assert found[0].notes[0].startswith("counted on the GPU")
