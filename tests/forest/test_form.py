"""Validation: a well-formed forest passes, and every way of breaking one is named."""

from dataclasses import replace

import numpy as np
import pytest

from icefield.forest.form import LARGEST_CODE, validate
from icefield.forest.tree_model import CannotRead
from strategies import random_forest


@pytest.mark.parametrize("seed", range(50))
def test_random_forests_are_well_formed(seed):
    forest = random_forest(np.random.default_rng(seed)).forest
    assert validate(forest) is forest


@pytest.fixture
def forest():
    rng = np.random.default_rng(0)
    drawn = random_forest(rng, n_columns=4, trees=4, leaves=12, n_outputs=2, vector_leaves=False)
    assert drawn.forest.set_members.size > 1
    return drawn.forest


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def first_split(forest):
    return int(np.flatnonzero(forest.node_condition >= 0)[0])


def first_leaf(forest):
    return int(np.flatnonzero(forest.node_condition < 0)[0])


def first_numeric(forest):
    return int(np.flatnonzero(forest.condition_set < 0)[0])


def long_set_member(forest):
    return int(forest.set_start[np.flatnonzero(np.diff(forest.set_start) > 1)[0]])


BREAKAGES = {
    "column out of range": lambda f: {"condition_column": changed(f.condition_column, 0, f.n_columns)},
    "a condition tests a column": lambda f: {"condition_column": changed(f.condition_column, 0, -1)},
    "condition_threshold and condition_column": lambda f: {"condition_threshold": f.condition_threshold[:-1]},
    "condition_set and": lambda f: {"condition_set": f.condition_set[:-1]},
    "condition_missing_left and": lambda f: {"condition_missing_left": f.condition_missing_left[:-1]},
    "condition_zero_missing and": lambda f: {"condition_zero_missing": f.condition_zero_missing[:-1]},
    "threshold is not a number": lambda f: {
        "condition_threshold": changed(f.condition_threshold, first_numeric(f), np.nan)
    },
    "names a category set": lambda f: {"condition_set": changed(f.condition_set, 0, f.set_start.size - 1)},
    "set_start does not begin": lambda f: {"set_start": changed(f.set_start, 0, 1)},
    "set_start does not cover": lambda f: {"set_start": changed(f.set_start, -1, f.set_members.size + 1)},
    "not sorted": lambda f: {"set_members": changed(f.set_members, long_set_member(f), 1000)},
    "code is out of range": lambda f: {"set_members": changed(f.set_members, -1, LARGEST_CODE + 1)},
    "node_left and": lambda f: {"node_left": f.node_left[:-1]},
    "node_weight and": lambda f: {"node_weight": f.node_weight[:-1]},
    "tree_output and": lambda f: {"tree_output": f.tree_output[:-1]},
    "trees do not follow": lambda f: {"tree_root": f.tree_root[::-1].copy()},
    "root is out of range": lambda f: {"tree_root": changed(f.tree_root, -1, f.node_left.size)},
    "names a condition out": lambda f: {"node_condition": changed(f.node_condition, first_split(f), 10**6)},
    "a leaf has children": lambda f: {"node_left": changed(f.node_left, first_leaf(f), first_leaf(f) + 1)},
    "a split has a leaf": lambda f: {"node_leaf": changed(f.node_leaf, first_split(f), 0)},
    "does not come after": lambda f: {"node_left": changed(f.node_left, first_split(f), first_split(f))},
    "child does not come": lambda f: {"node_right": changed(f.node_right, first_split(f), 10**6)},
    "in another tree": lambda f: {"node_right": changed(f.node_right, 0, f.node_left.size - 1)},
    "more than once": lambda f: {"node_right": changed(f.node_right, 0, f.node_left[0])},
    "training weight": lambda f: {"node_weight": changed(f.node_weight, 0, -1.0)},
    "base does not": lambda f: {"base": f.base[:-1]},
    "base value is not finite": lambda f: {"base": changed(f.base, 0, np.inf)},
    "output out of range": lambda f: {"tree_output": changed(f.tree_output, 0, f.n_outputs)},
    "vector leaves": lambda f: {"tree_output": changed(f.tree_output, 0, -1)},
    "several columns": lambda f: {"leaf_value": np.repeat(f.leaf_value, 2, axis=1)},
    "leaf's value is out": lambda f: {"leaf_value": f.leaf_value[:-1]},
    "leaf value is not finite": lambda f: {"leaf_value": changed(f.leaf_value, 0, np.nan)},
    "not a table": lambda f: {"leaf_value": f.leaf_value[:, 0]},
    "no trees": lambda f: {"tree_root": f.tree_root[:0], "tree_output": f.tree_output[:0]},
}


@pytest.mark.parametrize("message", BREAKAGES)
def test_what_is_broken_is_named(forest, message):
    broken = replace(forest, **BREAKAGES[message](forest))
    with pytest.raises(CannotRead, match=message):
        validate(broken)


def test_infinite_thresholds_and_unknown_weights_are_fine(forest):
    at = first_numeric(forest)
    validate(
        replace(
            forest,
            condition_threshold=changed(forest.condition_threshold, at, np.inf),
            node_weight=np.full_like(forest.node_weight, np.nan),
        )
    )
