"""From any order of nodes to a valid Forest, and joining forests."""

import numpy as np
import pytest

import forest_walk as walk
from icefield.forest import CannotRead
from icefield.forest.build import Nodes, assemble, join
from strategies import random_forest


def stump(order, **changes):
    """A tree of three leaves whose nodes are stored in the given order; node 0 is its root's name."""
    place = {node: i for i, node in enumerate(order)}
    content = {  # node: column, threshold, left, right, value
        0: (0, 1.0, 1, 2, 0.0),
        1: (1, -1.0, 3, 4, 0.0),
        2: (0, 0.0, None, None, 30.0),
        3: (0, 0.0, None, None, 10.0),
        4: (0, 0.0, None, None, 20.0),
    }
    rows = [content[node] for node in order]
    fields = {
        "column": np.array([row[0] for row in rows]),
        "threshold": np.array([row[1] for row in rows]),
        "missing_left": np.zeros(len(rows)),
        "left": np.array([-1 if row[2] is None else place[row[2]] for row in rows]),
        "right": np.array([-1 if row[3] is None else place[row[3]] for row in rows]),
        "value": np.array([row[4] for row in rows]),
    }
    return Nodes(**{**fields, **changes}), place[0]


def built(nodes, root, **changes):
    settings = {"tree_root": [root], "tree_output": [0], "base": [0.5], "n_columns": 2, **changes}
    return assemble(nodes, **settings)


ROWS = np.array([[0.0, -2.0], [0.0, 0.0], [2.0, 0.0], [1.0, -1.0], [np.nan, 0.0]])
RAW = np.array([[10.5], [20.5], [30.5], [10.5], [30.5]])


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 3, 1, 4)])
def test_nodes_may_be_stored_in_any_order(order):
    forest = built(*stump(order))
    assert np.array_equal(walk.raw(forest, ROWS), RAW)
    assert forest.tree_root.tolist() == [0]


def test_nodes_that_no_root_reaches_are_dropped():
    nodes, root = stump((0, 1, 2, 3, 4))
    loose = Nodes(
        **{
            name: np.concatenate([getattr(nodes, name), getattr(nodes, name)[2:]])
            for name in ("column", "threshold", "missing_left", "left", "right", "value")
        }
    )
    forest = built(loose, root)
    assert len(forest.node_left) == 5
    assert np.array_equal(walk.raw(forest, ROWS), RAW)


def test_equal_conditions_are_shared_and_different_ones_are_not():
    first, _ = stump((0, 1, 2, 3, 4))
    parts = vars(first)
    shifted = {
        **parts,
        "left": np.where(first.left >= 0, first.left + 5, -1),
        "right": np.where(first.right >= 0, first.right + 5, -1),
    }

    def two(**changes):
        second = {**shifted, **changes}
        nodes = Nodes(**{name: np.concatenate([parts[name], second[name]]) for name in parts})
        return assemble(nodes, tree_root=[0, 5], tree_output=[0, 0], base=[0.0], n_columns=2)

    assert len(two().condition_column) == 2
    assert len(two(threshold=first.threshold + 1).condition_column) == 4
    assert len(two(missing_left=~first.missing_left).condition_column) == 4
    assert len(two(zero_missing=~first.zero_missing).condition_column) == 4
    assert len(two(threshold=np.where(first.threshold == 1, 1.0, -1.0)).condition_column) == 2


def test_conditions_are_sorted_by_column_kind_and_threshold():
    nodes, root = stump(
        (0, 1, 2, 3, 4), column=np.array([1, 1, 0, 0, 0]), set_number=np.array([0, -1, -1, -1, -1])
    )
    forest = built(nodes, root, sets=[np.array([3, 1, 3])])
    assert forest.condition_column.tolist() == [1, 1]
    assert forest.condition_set.tolist() == [-1, 0]
    assert forest.condition_threshold[0] == -1.0
    assert np.isnan(forest.condition_threshold[1])
    assert forest.set_members.tolist() == [1, 3]


def test_equal_sets_are_shared():
    nodes, root = stump((0, 1, 2, 3, 4), set_number=np.array([0, 1, -1, -1, -1]))
    forest = built(nodes, root, sets=[np.array([1, 2]), np.array([2, 1, 1])])
    assert forest.set_start.tolist() == [0, 2]
    assert forest.condition_set.tolist() == [0, 0]


def test_a_minus_zero_threshold_is_zero():
    nodes, root = stump((0, 1, 2, 3, 4), threshold=np.array([-0.0, 0.0, 0, 0, 0]), column=np.zeros(5))
    forest = built(nodes, root)
    assert len(forest.condition_column) == 1
    assert not np.signbit(forest.condition_threshold[0])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"left": np.array([1, 9, -1, -1, -1])}, "outside"),
        ({"right": np.array([2, -7, -1, -1, -1])}, "outside"),
        ({"right": np.array([1, 4, -1, -1, -1])}, "two parents"),
        ({"left": np.array([0, 3, -1, -1, -1])}, "two parents"),
        ({"column": np.array([0, 5, 0, 0, 0])}, "column"),
        ({"threshold": np.array([np.nan, 0, 0, 0, 0])}, "not a number"),
        ({"value": np.array([0, 0, np.inf, 0, 0])}, "finite"),
    ],
)
def test_what_is_no_forest_is_refused(changes, reason):
    with pytest.raises(CannotRead, match=reason):
        built(*stump((0, 1, 2, 3, 4), **changes))


def test_a_loop_beside_the_trees_is_dropped_and_never_walked():
    nodes, root = stump((0, 1, 2, 3, 4))
    fields = {name: getattr(nodes, name) for name in ("column", "threshold", "missing_left", "value")}
    looped = Nodes(
        **{name: np.concatenate([values, values[:2]]) for name, values in fields.items()},
        left=np.concatenate([nodes.left, [6, 5]]),
        right=np.concatenate([nodes.right, [6, 5]]),
    )
    with pytest.raises(CannotRead, match="two parents"):
        built(looped, root)


@pytest.mark.parametrize("seed", range(8))
def test_joined_forests_add_up(seed):
    draw = np.random.default_rng(seed)
    drawn = [random_forest(draw), random_forest(draw)]
    one, other = (part.forest for part in drawn)
    matrices = [part.matrix(draw, 50) for part in drawn]
    backwards = np.concatenate(matrices, axis=1)[:, ::-1]
    last = backwards.shape[1] - 1
    joint = join(
        [one, other],
        columns=[last - np.arange(one.n_columns), last - one.n_columns - np.arange(other.n_columns)],
        outputs=[np.arange(one.n_outputs), one.n_outputs + np.arange(other.n_outputs)],
        scales=[2.0, -0.5],
        n_columns=last + 1,
        base=np.zeros(one.n_outputs + other.n_outputs),
    )
    expected = np.concatenate(
        [
            2.0 * (walk.raw(one, matrices[0]) - one.base),
            -0.5 * (walk.raw(other, matrices[1]) - other.base),
        ],
        axis=1,
    )
    size = max(part.size for part in drawn)
    assert np.abs(walk.raw(joint, backwards) - expected).max(initial=0.0) <= 1e-12 * (1.0 + size)
