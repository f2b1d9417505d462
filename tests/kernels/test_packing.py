"""Codes and bits against the routing rule, condition by condition."""

from types import SimpleNamespace

import numpy as np
import pytest

from forest_walk import goes_left
from icefield.engines.trees import layout as module
from icefield.engines.trees.coding import CodedRows, Coding
from icefield.engines.trees.layout import lay_out
from strategies import random_forest


def unpacked(bits: np.ndarray, rows: int) -> np.ndarray:
    flags = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    return flags[:, :rows].astype(bool)


def packed(forest, matrix, order="C"):
    every = np.arange(forest.condition_column.size)
    layout = lay_out(forest, every, np.ones(every.size, bool))
    rows = len(matrix)
    position = np.arange(rows, dtype=np.int32)
    columns = np.arange(layout.n_columns, dtype=np.int32)
    codes = np.empty((layout.n_columns, rows), np.int32)
    bits = np.empty((layout.n_rows, -(-rows // 64)), np.uint64)
    layout.encode(np.asarray(matrix, order=order), position, columns, codes)
    layout.pack(codes, position, columns, bits)
    return layout, unpacked(bits, rows)


@pytest.mark.parametrize("seed", range(60))
def test_bits_are_the_routing_rule(seed):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, leaves=30, trees=6)
    matrix = drawn.matrix(rng, int(rng.choice([1, 63, 64, 65, 300])))
    layout, bits = packed(drawn.forest, matrix, order="CF"[seed % 2])
    for condition in range(drawn.forest.condition_column.size):
        expected = goes_left(drawn.forest, condition, matrix[:, drawn.forest.condition_column[condition]])
        assert np.array_equal(bits[layout.condition_row[condition]], expected), condition


@pytest.mark.parametrize("few", [0, 3, 255])
@pytest.mark.parametrize("seed", range(20))
def test_bits_from_values_or_codes_are_the_routing_rule(seed, few, monkeypatch):
    monkeypatch.setattr(module, "BYTE_CUTS", few)
    monkeypatch.setattr(module, "AT_A_TIME", 128)
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, leaves=30, trees=6)
    matrix = np.asarray(drawn.matrix(rng, int(rng.choice([1, 64, 65, 700]))), order="CF"[seed % 2])
    rows = len(matrix)
    every = np.arange(drawn.forest.condition_column.size)
    layout = lay_out(drawn.forest, every, np.ones(every.size, bool))
    words = -(-rows // 64) + 2
    # In order, or anywhere with gaps between.
    position = np.arange(rows) if seed % 4 < 2 else rng.permutation(64 * words)[:rows]
    position = position.astype(np.int32)
    codes = np.full((layout.n_columns, 64 * words), -1, np.int32)
    bits = np.zeros((layout.n_rows, words), np.uint64)
    layout.load(lambda a, b: matrix[a:b], position, codes, bits, all_codes=seed % 3 == 0)
    flags = unpacked(bits, 64 * words)
    nowhere = np.setdiff1d(np.arange(64 * words), position)
    for condition in every:
        expected = goes_left(drawn.forest, condition, matrix[:, drawn.forest.condition_column[condition]])
        row = flags[layout.condition_row[condition]]
        assert np.array_equal(row[position], expected), condition
        assert not row[nowhere].any()
    if seed % 3 == 0:
        expected_codes = np.empty((layout.n_columns, rows), np.int32)
        layout.encode(
            matrix,
            np.arange(rows, dtype=np.int32),
            np.arange(layout.n_columns, dtype=np.int32),
            expected_codes,
        )
        assert np.array_equal(codes[:, position], expected_codes)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(12))
def test_rows_at_hand_are_packed_at_once(seed, dtype, monkeypatch):
    monkeypatch.setattr(module, "AT_A_TIME", 128)
    if seed % 2:
        monkeypatch.setattr(module, "BYTE_CUTS", 2)
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, leaves=30, trees=12)
    rows = int(rng.choice([1, 511, 512, 513, 1500]))
    with np.errstate(over="ignore"):
        matrix = np.asarray(drawn.matrix(rng, rows), dtype=dtype, order="CF"[seed % 2])
    every = np.arange(drawn.forest.condition_column.size)
    layout = lay_out(drawn.forest, every, np.ones(every.size, bool))
    words = -(-rows // 64) + 3
    position = np.arange(rows) if seed % 4 < 2 else rng.permutation(64 * words)[:rows]
    position = position.astype(np.int32)
    codes = np.full((layout.n_columns, 64 * words), -1, np.int32)
    bits = np.zeros((layout.n_rows, words), np.uint64)
    asked = []

    def read(start, stop):
        asked.append((start, stop))
        return matrix[start:stop]

    layout.load(read, position, codes, bits, at_hand=True)
    assert asked == [(0, rows)]
    flags = unpacked(bits, 64 * words)
    for condition in every:
        values = matrix[:, drawn.forest.condition_column[condition]].astype(np.float64)
        assert np.array_equal(
            flags[layout.condition_row[condition], position], goes_left(drawn.forest, condition, values)
        )


@pytest.mark.parametrize("n_cuts", [1, 4, 5, 254, 255, 256])
def test_codes_that_just_fit_a_byte_or_do_not(n_cuts):
    n = 2 * n_cuts  # every cut twice: missing values go left, and right
    forest = SimpleNamespace(
        condition_column=np.zeros(n, np.int32),
        condition_threshold=np.arange(n) // 2.0,
        condition_missing_left=np.arange(n) % 2 == 0,
        condition_zero_missing=np.zeros(n, bool),
        condition_set=np.full(n, -1, np.int32),
    )
    values = np.arange(-0.5, n_cuts + 0.5, 0.25)
    matrix = np.concatenate([values, [np.nan, np.inf, -np.inf]])[:, None]
    every = np.arange(forest.condition_column.size)
    layout = lay_out(forest, every, np.ones(every.size, bool))
    bits = np.zeros((layout.n_rows, -(-len(matrix) // 64)), np.uint64)
    codes = np.empty((layout.n_columns, len(matrix)), np.int32)
    layout.load(lambda a, b: matrix[a:b], np.arange(len(matrix), dtype=np.int32), codes, bits)
    flags = unpacked(bits, len(matrix))
    assert layout.search.count.tolist() == [n_cuts]
    for condition in every:
        assert np.array_equal(
            flags[layout.condition_row[condition]], goes_left(forest, condition, matrix[:, 0])
        )


@pytest.mark.parametrize("shape", ["even", "cauchy", "sentinel", "tiny", "huge", "equal"])
def test_skewed_thresholds_are_searched_exactly(shape):
    rng = np.random.default_rng(0)
    drawn = random_forest(rng, n_columns=1, trees=40, leaves=20, numeric_only=True)
    forest = drawn.forest
    n = forest.condition_column.size
    thresholds = {
        "even": np.linspace(-1, 1, n),
        "cauchy": rng.standard_cauchy(n),
        "sentinel": np.append(rng.normal(size=n - 1), 1e9),
        "tiny": rng.normal(size=n) * 1e-310,
        "huge": rng.choice([-1.7e308, 1.7e308], n) * rng.uniform(0.9, 1, n),
        "equal": np.full(n, 3.0),
    }[shape]
    forest.condition_threshold[:] = thresholds
    values = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)])
    matrix = np.concatenate([values, [np.nan, np.inf, -np.inf, 0.0, -0.0]])[:, None]
    layout, bits = packed(forest, matrix)
    straight = np.zeros((layout.n_rows, -(-len(matrix) // 64)), np.uint64)
    codes = np.empty((layout.n_columns, len(matrix)), np.int32)
    layout.load(lambda a, b: matrix[a:b], np.arange(len(matrix), dtype=np.int32), codes, straight)
    for condition in range(n):
        expected = goes_left(forest, condition, matrix[:, 0])
        assert np.array_equal(bits[layout.condition_row[condition]], expected), condition
    assert np.array_equal(unpacked(straight, len(matrix)), bits)


def test_conditions_without_bits_keep_their_codes():
    rng = np.random.default_rng(4)
    drawn = random_forest(rng, n_columns=3, trees=6, leaves=20)
    forest = drawn.forest
    every = np.arange(forest.condition_column.size)
    some = rng.random(every.size) < 0.5
    layout = lay_out(forest, every, some)
    assert layout.n_rows == some.sum()
    assert ((layout.condition_row >= 0) == some).all()
    whole = lay_out(forest, every, np.ones(every.size, bool))
    assert np.array_equal(layout.routing, whole.routing)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(24))
def test_bits_from_codes_of_one_byte_are_the_routing_rule(seed, kind):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, leaves=30, trees=6)
    forest = drawn.forest
    rows = int(rng.choice([1, 64, 65, 700]))
    with np.errstate(over="ignore"):
        matrix = np.asarray(drawn.matrix(rng, rows).astype(kind), order="CF"[seed % 2])
    coding = Coding.of(forest)
    codes = np.empty((coding.columns.size, rows), np.uint8)
    for start in range(0, rows, 300):
        coding.code(matrix[start : start + 300], coding.columns, slice(None), codes, start)
    some = rng.integers(0, rows, rows)
    coded, matrix = CodedRows(codes, coding).take(some), matrix[some].astype(np.float64)
    # All conditions, whose codes are the same, or some of them.
    every = np.arange(forest.condition_column.size)
    every = every if seed % 3 else rng.permutation(every)[: every.size // 2 + 1]
    layout = lay_out(forest, every, np.ones(forest.condition_column.size, bool))
    words = -(-rows // 64) + 2
    position = np.arange(rows) if seed % 4 < 2 else rng.permutation(64 * words)[:rows]
    position = position.astype(np.int32)
    own, bits = (
        np.full((layout.n_columns, 64 * words), -1, np.int32),
        np.zeros((layout.n_rows, words), np.uint64),
    )
    layout.load(lambda a, b: coded.slice(a, b), position, own, bits, all_codes=True)
    expected = np.empty((layout.n_columns, rows), np.int32)
    columns = np.arange(layout.n_columns, dtype=np.int32)
    layout.encode(matrix, np.arange(rows, dtype=np.int32), columns, expected)
    assert np.array_equal(own[:, position], expected)
    found = unpacked(bits, 64 * words)
    empty = np.setdiff1d(np.arange(64 * words), position)
    assert not found[:, empty].any()
    routed = coded.matrix
    for condition in every:
        column = forest.condition_column[condition]
        left = goes_left(forest, condition, matrix[:, column])
        assert np.array_equal(found[layout.condition_row[condition]][position], left), condition
        assert np.array_equal(goes_left(forest, condition, routed[:, column]), left), condition
