"""Trees and coefficients out of Spark ML's fitted models, through the nodes that Spark's own process shows.

A split sends a value left that is at most its threshold, so that NaN goes right. A split by categories remembers the smaller
side alone: whatever is not a category of the column goes to the other one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.forest.build import Nodes, assemble
from icefield.forest.form import Forest
from icefield.libraries.spark_ml.stages import NotKnown


def in_this_session(model: Any) -> bool:
    """Whether a model's Java object can be asked; over Spark Connect there is none."""
    return hasattr(getattr(model, "_java_obj", None), "_gateway_client")


def java(model: Any) -> Any:
    """A model's Java object."""
    if not in_this_session(model):
        raise NotKnown("models of Spark Connect do not show what they hold")
    return model._java_obj  # noqa: SLF001


class _TreeWalk:
    """The nodes of trees as they are walked, children after parents."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        # Column, threshold, whether missing goes left, number of the set.
        self.rows: list[tuple[int, float, bool, int]] = []
        self.children: list[list[int]] = []
        self.values: list[Any] = []
        self.sets: list[np.ndarray[Any, Any]] = []
        self.sizes: dict[int, int] = {}  # by column that is split by categories, how many there are
        self._numeric: set[int] = set()

    def tree(self, root: Any, weight: float) -> int:
        """Walk a tree; the number of its root."""
        first, waiting = len(self.rows), [(root, -1, 0)]
        while waiting:
            node, parent, side = waiting.pop()
            number = len(self.rows)
            if parent >= 0:
                self.children[parent][side] = number
            self.children.append([-1, -1])
            if node.numDescendants() == 0:
                self.rows.append((0, 0.0, False, -1))
                self.values.append(self._value(node, weight))
                continue
            self.rows.append(self._test(node.split()))
            self.values.append(np.zeros(self.n_classes) if self.n_classes else 0.0)
            waiting += [(node.rightChild(), number, 1), (node.leftChild(), number, 0)]
        return first

    def _test(self, split: Any) -> tuple[int, float, bool, int]:
        column = int(split.featureIndex())
        if column not in self._numeric and column not in self.sizes:
            if split.getClass().getSimpleName() == "CategoricalSplit":
                self.sizes[column] = int(split.numCategories())
            else:
                self._numeric.add(column)
        if column in self._numeric:
            return column, float(split.threshold()), False, -1
        left = np.array([int(category) for category in split.leftCategories()], np.int64)
        self.sets.append(left)
        return column, np.nan, len(left) > self.sizes[column] // 2, len(self.sets) - 1

    def _value(self, leaf: Any, weight: float) -> Any:
        if not self.n_classes:
            return float(leaf.prediction()) * weight
        counts = np.array([float(count) for count in leaf.impurityStats().stats()])
        if len(counts) != self.n_classes or not counts.sum() > 0:
            raise NotKnown("a leaf of the Spark model has no rows")
        return counts / counts.sum() * weight

    def forest(self, roots: list[int], n_columns: int) -> Forest:
        column, threshold, missing_left, set_number = map(np.array, zip(*self.rows))
        children = np.array(self.children)
        nodes = Nodes(
            column=column, threshold=threshold, missing_left=missing_left, set_number=set_number,
            left=children[:, 0], right=children[:, 1], value=np.array(self.values),
        )  # fmt: skip
        return assemble(
            nodes,
            tree_root=np.array(roots),
            tree_output=np.full(len(roots), -1 if self.n_classes else 0),
            base=np.zeros(max(1, self.n_classes)),
            n_columns=n_columns,
            sets=self.sets,
        )


def forest_of(
    trees: list[Any], weights: list[float], n_columns: int, n_classes: int
) -> tuple[Forest, dict[int, int]]:
    """Java's trees as a forest, and the number of categories of each column that is split by these.

    `n_classes` is 0 where leaves hold a prediction; else they give each class's share of the leaf's rows.
    """
    reading = _TreeWalk(n_classes)
    roots = [reading.tree(tree.rootNode(), weight) for tree, weight in zip(trees, weights, strict=True)]
    return reading.forest(roots, n_columns), reading.sizes
