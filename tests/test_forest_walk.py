"""The plain walker, checked against hand-written answers and a scalar walk."""

import math

import numpy as np
import pytest

from forest_walk import goes_left, leaves, raw
from icefield.forest.form import ZERO_THRESHOLD, Forest
from strategies import random_forest


def one_condition(threshold=np.nan, members=None, missing_left=False, zero_missing=False):
    return Forest(
        n_columns=1,
        n_outputs=1,
        condition_column=np.zeros(1, np.int32),
        condition_threshold=np.array([threshold]),
        condition_set=np.array([-1 if members is None else 0], np.int32),
        condition_missing_left=np.array([missing_left]),
        condition_zero_missing=np.array([zero_missing]),
        set_start=np.array([0] if members is None else [0, len(members)], np.int64),
        set_members=np.array(members or [], np.int64),
        tree_root=np.zeros(1, np.int32),
        tree_output=np.zeros(1, np.int32),
        node_condition=np.array([0, -1, -1], np.int32),
        node_left=np.array([1, -1, -1], np.int32),
        node_right=np.array([2, -1, -1], np.int32),
        node_leaf=np.array([-1, 0, 1], np.int32),
        node_weight=np.array([3.0, 1.0, 2.0]),
        leaf_value=np.array([[10.0], [20.0]]),
        base=np.array([1.0]),
    )


@pytest.mark.parametrize(
    ("x", "left"),
    [
        (2.0, True),
        (np.nextafter(2.0, 3.0), False),
        (np.nextafter(2.0, 1.0), True),
        (np.inf, False),
        (-np.inf, True),
        (0.0, True),
    ],
)
def test_numbers_go_left_up_to_the_threshold(x, left):
    assert goes_left(one_condition(2.0), 0, np.array([x])).tolist() == [left]


@pytest.mark.parametrize("missing_left", [False, True])
def test_missing_follows_its_own_flag(missing_left):
    forest = one_condition(2.0, missing_left=missing_left)
    assert goes_left(forest, 0, np.array([np.nan])).tolist() == [missing_left]
    categories = one_condition(members=[0, 3], missing_left=missing_left)
    assert goes_left(categories, 0, np.array([np.nan])).tolist() == [missing_left]


@pytest.mark.parametrize("missing_left", [False, True])
def test_zeros_are_missing_only_where_asked(missing_left):
    values = np.array([0.0, -0.0, ZERO_THRESHOLD, -ZERO_THRESHOLD, np.nextafter(ZERO_THRESHOLD, 1), 1.0])
    plain = one_condition(-5.0, missing_left=missing_left)
    assert not goes_left(plain, 0, values).any()
    zero = one_condition(-5.0, missing_left=missing_left, zero_missing=True)
    assert goes_left(zero, 0, values).tolist() == [missing_left] * 4 + [False, False]


def test_categories_are_non_negative_whole_numbers_of_the_set():
    forest = one_condition(members=[0, 3])
    values = np.array([0.0, -0.0, 3.0, 1.0, -3.0, 3.5, 0.5, 1e300, np.inf, -np.inf])
    assert goes_left(forest, 0, values).tolist() == [True, True, True] + [False] * 7


def test_raw_adds_base_and_leaf_values():
    forest = one_condition(2.0)
    assert raw(forest, np.array([[1.0], [3.0]])).tolist() == [[11.0], [21.0]]
    assert leaves(forest, np.array([[1.0], [3.0]])).tolist() == [[0], [1]]


def scalar_raw(forest, row):
    total = forest.base.copy()
    for tree, node in enumerate(forest.tree_root):
        while forest.node_condition[node] >= 0:
            c = forest.node_condition[node]
            x = row[forest.condition_column[c]]
            if math.isnan(x) or (forest.condition_zero_missing[c] and abs(x) <= ZERO_THRESHOLD):
                left = forest.condition_missing_left[c]
            elif forest.condition_set[c] >= 0:
                s = forest.condition_set[c]
                members = forest.set_members[forest.set_start[s] : forest.set_start[s + 1]]
                left = math.isfinite(x) and x == math.floor(x) and int(x) in members.tolist()
            else:
                left = x <= forest.condition_threshold[c]
            node = forest.node_left[node] if left else forest.node_right[node]
        value = forest.leaf_value[forest.node_leaf[node]]
        output = forest.tree_output[tree]
        if output < 0:
            total += value
        else:
            total[output] += value[0]
    return total


@pytest.mark.parametrize("seed", range(30))
def test_rows_walked_together_equal_rows_walked_alone(seed):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng)
    matrix = drawn.matrix(rng, 40)
    expected = np.array([scalar_raw(drawn.forest, row) for row in matrix])
    np.testing.assert_allclose(raw(drawn.forest, matrix), expected, rtol=0, atol=1e-14 * drawn.size)
