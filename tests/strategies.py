"""Random forests, matrices and grids, with every awkward value the routing rule speaks of.

Everything is drawn from a numpy generator, so a seed is a whole test case; `seeds` hands such
seeds to hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.forest.tree_model import Link, TreeModel

seeds = st.integers(0, 2**32 - 1)

AWKWARD_NUMBERS = np.array(
    [
        np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-36, -1e-36, 1e-34, 1e308, -1e308,
        ZERO_THRESHOLD, -ZERO_THRESHOLD, np.nextafter(ZERO_THRESHOLD, 1), np.nextafter(ZERO_THRESHOLD, 0),
    ]
)  # fmt: skip
AWKWARD_CODES = np.array([np.nan, -1.0, -0.0, 0.5, 2.5, 17.0, 1e18, np.inf, -np.inf, 1e-36])


@dataclass(frozen=True)
class Column:
    """How a random column's values and tests look: a pool of thresholds, or categories."""

    thresholds: np.ndarray
    categories: int  # 0: numeric tests only
    missing_left: float
    zero_missing: float

    def values(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        if self.categories:
            usual = rng.integers(0, self.categories + 1, rows).astype(float)
            awkward = rng.choice(AWKWARD_CODES, rows)
        else:
            usual = rng.choice(self.thresholds, rows) + rng.normal(size=rows) * rng.choice([0.0, 0.3], rows)
            near = rng.choice(self.thresholds, rows)
            near = np.nextafter(near, rng.choice([-np.inf, np.inf], rows))
            awkward = np.where(rng.random(rows) < 0.5, near, rng.choice(AWKWARD_NUMBERS, rows))
        return np.where(rng.random(rows) < 0.25, awkward, usual)


@dataclass(frozen=True)
class RandomForest:
    """A forest with the columns it was drawn from, to draw fitting rows and grids."""

    forest: Forest
    columns: tuple[Column, ...]

    def matrix(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        if not self.columns:
            return np.empty((rows, 0))
        return np.stack([column.values(rng, rows) for column in self.columns], axis=1)

    @property
    def size(self) -> float:
        """Sum of absolute leaf values: the scale rounding errors are measured on."""
        return float(np.abs(self.forest.leaf_value).sum() + np.abs(self.forest.base).sum()) or 1.0

    def model(self, link: Link | None = None) -> TreeModel:
        """A TreeModel over plain matrices whose columns are the forest's own."""
        return TreeModel(
            forest=self.forest,
            encode=lambda table: np.asarray(table.to_numpy(), dtype=np.float64),
            drives={j: (j,) for j in range(self.forest.n_columns)},
            link=link if link is not None else IDENTITY,
            source="random",
        )


def _same(raw: np.ndarray) -> np.ndarray:
    return raw


def _squash(raw: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-raw))


def _softmax(raw: np.ndarray) -> np.ndarray:
    shifted = np.exp(raw - raw.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


IDENTITY = Link("identity", _same, additive=True)
SIGMOID = Link("sigmoid", _squash)
SOFTMAX = Link("softmax", _softmax)


def random_forest(
    rng: np.random.Generator,
    *,
    n_columns: int | None = None,
    trees: int | None = None,
    leaves: int = 9,
    n_outputs: int | None = None,
    vector_leaves: bool | None = None,
    numeric_only: bool = False,
    growth: Callable[[np.random.Generator, list[int]], int] | None = None,
) -> RandomForest:
    """Draw a forest: each tree grown by splitting random leaves up to a random size."""
    n_columns = int(rng.integers(1, 6)) if n_columns is None else n_columns
    trees = int(rng.integers(1, 6)) if trees is None else trees
    n_outputs = int(rng.choice([1, 1, 1, 2, 3])) if n_outputs is None else n_outputs
    vector = bool(rng.random() < 0.5) if vector_leaves is None else vector_leaves
    columns = tuple(_random_column(rng, numeric_only) for _ in range(n_columns))

    conditions: dict[tuple, int] = {}
    sets: list[np.ndarray] = []
    node_condition: list[int] = []
    left: list[int] = []
    right: list[int] = []
    weight: list[float] = []
    roots, outputs = [], []
    for _ in range(trees):
        root = len(node_condition)
        roots.append(root)
        outputs.append(-1 if vector else int(rng.integers(n_outputs)))
        _add_node(node_condition, left, right, weight, 100.0)
        open_leaves = [root]
        for _ in range(int(rng.integers(0, leaves))):
            if not n_columns:
                break
            at = int(rng.integers(len(open_leaves))) if growth is None else growth(rng, open_leaves)
            node = open_leaves.pop(at)
            node_condition[node] = _random_condition(rng, columns, conditions, sets)
            share = rng.uniform(0.05, 0.95)
            left[node] = _add_node(node_condition, left, right, weight, weight[node] * share)
            right[node] = _add_node(node_condition, left, right, weight, weight[node] * (1 - share))
            open_leaves += [left[node], right[node]]

    is_leaf = np.array(node_condition) < 0
    node_leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
    keys = list(conditions)
    set_start = np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64)
    forest = Forest(
        n_columns=n_columns,
        n_outputs=n_outputs,
        condition_column=np.array([k[0] for k in keys], np.int32),
        condition_threshold=np.array([k[1] if k[2] < 0 else np.nan for k in keys], np.float64),
        condition_set=np.array([k[2] for k in keys], np.int32),
        condition_missing_left=np.array([k[3] for k in keys], bool),
        condition_zero_missing=np.array([k[4] for k in keys], bool),
        set_start=set_start,
        set_members=np.concatenate([np.zeros(0, np.int64), *sets]).astype(np.int64),
        tree_root=np.array(roots, np.int32),
        tree_output=np.array(outputs, np.int32),
        node_condition=np.array(node_condition, np.int32),
        node_left=np.array(left, np.int32),
        node_right=np.array(right, np.int32),
        node_leaf=node_leaf.astype(np.int32),
        node_weight=np.array(weight),
        leaf_value=rng.normal(size=(int(is_leaf.sum()), n_outputs if vector else 1)),
        base=rng.normal(size=n_outputs),
    )
    return RandomForest(forest, columns)


def _random_column(rng: np.random.Generator, numeric_only: bool) -> Column:
    pool = rng.normal(size=int(rng.integers(1, 12))) * rng.choice([1.0, 1e-30, 1e9])
    pool = np.concatenate([pool, rng.choice([0.0, -0.0, np.inf, -np.inf, 5e-324, 1e-35, 1e308, -1e308], 2)])
    return Column(
        thresholds=pool,
        categories=0 if numeric_only or rng.random() < 0.6 else int(rng.integers(1, 8)),
        missing_left=float(rng.choice([0.0, 0.5, 1.0])),
        zero_missing=float(rng.choice([0.0, 0.0, 0.5, 1.0])),
    )


def _random_condition(
    rng: np.random.Generator,
    columns: tuple[Column, ...],
    conditions: dict[tuple, int],
    sets: list[np.ndarray],
) -> int:
    at = int(rng.integers(len(columns)))
    column = columns[at]
    number = -1
    # A category column is sometimes compared like a number as well, as several libraries do.
    if column.categories and rng.random() < 0.8:
        members = np.flatnonzero(rng.random(column.categories) < 0.5)
        number = len(sets)
        sets.append(members)
    threshold = float(rng.integers(0, 5)) if column.categories else float(rng.choice(column.thresholds))
    key = (
        at,
        threshold,
        number,
        bool(rng.random() < column.missing_left),
        bool(rng.random() < column.zero_missing),
    )
    return conditions.setdefault(key, len(conditions))


def _add_node(
    condition: list[int], left: list[int], right: list[int], weight: list[float], share: float
) -> int:
    condition.append(-1)
    left.append(-1)
    right.append(-1)
    weight.append(share)
    return len(condition) - 1
