"""Trees and coefficients out of Spark ML's fitted models, through the nodes that Spark's own process shows.

A split sends a value left that is at most its threshold, so that NaN goes right. A split by categories remembers the smaller
side alone: whatever is not a category of the column goes to the other one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.forest.build import NO_TEST, Test, assemble, flatten_trees
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


class _NodeReader:
    """Reads one Java node at a time; `sizes` holds the number of categories of each column split by categories."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.sets: list[np.ndarray[Any, Any]] = []
        self.sizes: dict[int, int] = {}
        self._numeric: set[int] = set()

    def __call__(self, weighted: tuple[Any, float]) -> tuple[Test, Any, float, list[tuple[Any, float]]]:
        node, weight = weighted
        if node.numDescendants() == 0:
            return NO_TEST, self._value(node, weight), np.nan, []
        below = [(node.leftChild(), weight), (node.rightChild(), weight)]
        return self._test(node.split()), 0.0, np.nan, below

    def _test(self, split: Any) -> Test:
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


def forest_of(
    trees: list[Any], weights: list[float], n_columns: int, n_classes: int
) -> tuple[Forest, dict[int, int]]:
    """Java's trees as a forest, and the number of categories of each column that is split by these.

    `n_classes` is 0 where leaves hold a prediction; else they give each class's share of the leaf's rows.
    """
    reader = _NodeReader(n_classes)
    nodes, root = flatten_trees(zip([tree.rootNode() for tree in trees], weights, strict=True), reader)
    outputs, base = np.full(len(root), -1 if n_classes else 0), np.zeros(max(1, n_classes))
    forest = assemble(
        nodes, tree_root=root, tree_output=outputs, base=base, n_columns=n_columns, sets=reader.sets
    )
    return forest, reader.sizes
