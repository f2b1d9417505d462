"""Buckets, codes, counts: every number against plain numpy."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pytest
from kernel_cases import LISTS, MODES, Case

from icefield import kernels
from icefield.core.question import Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import layout as layouts
from icefield.engines.trees.averages import Counted
from icefield.engines.trees.encoded import EncodedRows
from icefield.engines.trees.layout import lay_out
from icefield.engines.trees.packed_rows import Moved, PackedRows
from icefield.engines.trees.program import JOINT, TreeSums
from icefield.kernels import MISSING
from icefield.progress import Progress
from icefield.threads import ThreadCrew
from strategies import random_forest


def test_buckets_count_the_cuts_below_them():
    rng = np.random.default_rng(0)
    cuts = np.concatenate([np.sort(rng.normal(size=30)), np.sort(rng.standard_cauchy(9)), [-np.inf, np.inf]])
    starts = np.array([0, 30, 39, 41])
    low, scale = np.array([-1.0, 0.0, 0.0]), np.array([4.0, 1.0, 0.0])
    found = np.full((3, 9), -1, np.int32)
    kernels.fill_buckets(cuts=cuts, cut_start=starts, low=low, scale=scale, bucket_start=found)
    for v in range(3):
        own = cuts[starts[v] : starts[v + 1]]
        with np.errstate(invalid="ignore"):
            bucket = np.clip(np.nan_to_num((own - low[v]) * scale[v], nan=0.0), 0, 7).astype(int)
        assert found[v].tolist() == [int((bucket < b).sum()) for b in range(9)]


@pytest.mark.parametrize("seed", range(20))
def test_codes_are_places_among_the_cuts(seed):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, leaves=30, trees=6)
    every = np.arange(drawn.forest.condition_column.size)
    layout = lay_out(drawn.forest, every, np.ones(every.size, bool))
    matrix = drawn.matrix(rng, 200)
    position = rng.permutation(256)[:200].astype(np.int32)
    codes = np.full((layout.n_columns, 256), -7, np.int32)
    matrix.setflags(write=False)
    layout.encode(matrix, position, np.arange(layout.n_columns, dtype=np.int32), codes)
    assert (np.delete(codes, position, axis=1) == -7).all()
    for v in range(layout.n_columns):
        x = matrix[:, layout.column[v]]
        cuts = layout.search.cuts[layout.search.cut_start[v] :][: layout.search.count[v]]
        expected = np.searchsorted(cuts, x)
        if layout.is_set[v]:
            expected[~np.isin(x, cuts)] = cuts.size
        near_zero = bool(layout.zero_missing[v]) & (np.abs(x) <= np.float32(1e-35))
        expected[np.isnan(x) | near_zero] = MISSING
        assert np.array_equal(codes[v, position], expected)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lists", LISTS)
def test_counts_are_those_of_rows_that_reach_the_leaf(seed, mode, lists):
    check_counts(Case.of(seed, MODES[mode], LISTS[lists]), np.random.default_rng(seed), block=128)


@pytest.mark.parametrize("rows", [2047, 2048, 2049, 4096, 9000])  # whole vectors of words, and some left over
@pytest.mark.parametrize("seed", range(4))
def test_long_masks_are_counted_to_their_end(seed, rows):
    check_counts(Case.of(seed, MODES["singles"], 0.0, rows=rows), np.random.default_rng(seed), block=8192)


def check_counts(case: Case, rng: np.random.Generator, block: int) -> None:
    n_groups = int(rng.choice([0, 3]))
    codes = rng.integers(-1, n_groups, case.n_rows) if n_groups else None
    weights = rng.integers(0, 6, case.n_rows).astype(float) if rng.random() < 0.6 else None
    rows = PackedRows(case.drawn.model(), Block(table_of(case.matrix), weights, codes, n_groups), block)
    with ThreadCrew(2) as crew, Progress("counting", total=1) as progress:
        counted = Counted(case.program.batch, rows, crew, Resources().memory, progress)
        counts = counted.counts(case.program)
    whole = np.ones(case.n_rows, np.int64) if weights is None else rows.weights.values
    segment = np.zeros(case.n_rows, int) if codes is None else np.where(codes < 0, n_groups, codes)
    for leaf in range(case.n_leaves):
        node = int(case.program.leaf_node[leaf])
        for slot, opened in case.slots(leaf):
            mine = np.where(case.reached(node, opened), whole, 0)
            expected = [int(mine[segment == s].sum()) for s in range(rows.n_segments)]
            assert counts[slot].tolist() == expected, (leaf, slot)


@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.parametrize("seed", range(24))
def test_moves_are_counted_together_as_each_alone(seed, searched, monkeypatch):
    """Rows moved in up to three ways, some of them not at all: every leaf's rows are those of the matrix that was written."""
    if searched:
        monkeypatch.setattr(layouts, "BYTE_CUTS", 2)
        monkeypatch.setattr(layouts, "_LATEST", WeakKeyDictionary())
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, n_columns=5, trees=4, leaves=14)
    n = int(rng.choice([1, 64, 150, 5000]))
    matrix = drawn.matrix(rng, n)
    columns = tuple(sorted(rng.permutation(5)[: rng.integers(0, 4)].tolist()))
    written = [matrix.copy() for _ in range(rng.integers(1, 4))]
    for one in written:
        moving = np.flatnonzero(rng.random(n) < rng.choice([0.0, 0.2, 1.0]))
        one[np.ix_(moving, columns)] = drawn.matrix(rng, n)[np.ix_(moving, columns)]
    values = np.array([one[:, list(columns)].T for one in written])
    sums = TreeSums(drawn.forest, tuple(range(drawn.forest.n_outputs)))
    (program,) = sums.standing_programs(False, {"words": 64, "threads": 2, "segments": 1, "memory": 2**28})
    rows = EncodedRows(matrix)
    for block in (128, 8192):  # codes of rows are kept from one time to the next
        sample = PackedRows(drawn.model(), Block(rows), block, Moved(columns, values))
        with ThreadCrew(2) as crew, crew, Progress("counting", total=1) as progress:
            counted = Counted(sums, sample, crew, Resources().memory, progress)
            found = list(counted.counts_of_moves(program))
        for counts, one in zip(found, written, strict=True):
            case = Case(drawn, one, np.full(5, -1, np.int32), program, JOINT)
            reached = [int(case.reached(int(node), set()).sum()) for node in program.leaf_node]
            assert counts[program.leaf_slot, 0].tolist() == reached


def test_resolve_follows_every_kind():
    kinds = [getattr(kernels, k) for k in ("ALL", "SAME", "COUNTED", "REST", "ALSO", "UNUSED")]
    counts = np.full((6, 2), -1, np.int64)
    kernels.resolve(
        slot_origin=np.array([0, 0, 0, 1, 2, 0], np.int32),
        slot_counter=np.array([0, 0, 1, 0, 0, 0], np.int32),
        slot_kind=np.array(kinds, np.int8),
        counters=np.array([[1, 2], [30, 40]]),
        total=np.array([100, 200]),
        counts=counts,
    )
    assert counts.tolist() == [[100, 200], [100, 200], [30, 40], [99, 198], [31, 42], [0, 0]]


@pytest.mark.parametrize("lists", LISTS)
def test_a_raised_flag_stops_a_kernel(lists):
    case = Case.of(3, MODES["joint"], LISTS[lists], scatter=True)
    walk = case.walk()
    walk.values["stop"][0] = 1
    out = np.zeros((case.n_outputs, 1, 192))
    n = case.n_leaves
    finished = kernels.add_leaves(
        walk=walk, leaves=case.program.leaves, update_start=np.arange(n + 1), update_at=np.zeros(n, np.int32),
        update_sign=np.ones(n), differences=out,
    )  # fmt: skip
    assert not finished
    assert not out.any()
