"""Forest columns as codes of one byte, in which every condition is ``code <= c``.

A code is the number of a column's thresholds below the value. A missing value has the code of a place at which every condition
sends it the way it goes: there is one where missing values go right at the first thresholds and left from some threshold on. Where there is none,
the column becomes two: one of the conditions that send missing values left and one of the others.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from icefield.engines.trees.program import TreeSums
from icefield.typing import Float, Int32, Mask, Positions

MOST_CUTS = 255


class NotOnDevice(Exception):
    """What the device does not count, in words; the CPU does."""


@dataclass(frozen=True, eq=False, repr=False)
class CodedColumns:
    """The columns as codes.

    Attributes
    ----------
    source, zero_missing, missing_code, n_cuts : by coded column: the forest's column, whether zeros are missing, the code of missing values
    cuts : thresholds by coded column, 256 each, NaN where there are no more
    column, code : by the forest's condition, which is ``code of column <= code``; -1 for those that no tree tests
    undecided : coded columns whose missing values have no code of their own, since none were expected
    """

    source: Int32
    zero_missing: Int32
    missing_code: Int32
    n_cuts: Int32
    cuts: Float
    column: Int32
    code: Int32
    undecided: Mask

    @property
    def n(self) -> int:
        return self.source.size

    @classmethod
    def of(cls, sums: TreeSums, with_missing: Collection[int] | None) -> CodedColumns:
        """The coded columns of trees, where only these columns of the forest have missing values (None: any may)."""
        forest = sums.forest
        ends = np.append(forest.tree_root[1:], forest.node_left.size)
        nodes = np.zeros(forest.node_left.size + 1, np.int32)
        np.add.at(nodes, forest.tree_root[sums.trees], 1)
        np.add.at(nodes, ends[sums.trees], -1)
        tested = forest.node_condition[np.cumsum(nodes[:-1]) > 0]
        used = np.unique(tested[tested >= 0])
        if (forest.condition_set[used] >= 0).any():
            raise NotOnDevice("the trees split by sets of categories")
        column = np.full(forest.condition_column.size, -1, np.int32)
        code = np.full(forest.condition_column.size, -1, np.int32)
        made: list[tuple[int, int, int, Float, bool]] = []
        keys = forest.condition_column[used].astype(np.int64) * 2 + forest.condition_zero_missing[used]
        for key in np.unique(keys):
            own = used[keys == key]
            for part, first, undecided in _parts(
                forest.condition_threshold[own],
                forest.condition_missing_left[own],
                with_missing is None or int(key // 2) in with_missing,
            ):
                cuts, places = np.unique(forest.condition_threshold[own[part]], return_inverse=True)
                if cuts.size > MOST_CUTS:
                    raise NotOnDevice(f"a column has more than {MOST_CUTS} thresholds")
                column[own[part]], code[own[part]] = len(made), places
                # A threshold may be infinite, so "never left" is None.
                at = cuts.size if first is None else int(np.searchsorted(cuts, first))
                made.append((int(key // 2), int(key % 2), at, cuts, undecided))
        sources, zeros, missing, every_cut, either_way = zip(*made) if made else ((),) * 5
        table = np.full((len(made), 256), np.nan)
        for own_row, cuts in zip(table, every_cut):
            own_row[: cuts.size] = cuts
        numbers = (sources, zeros, missing, [cuts.size for cuts in every_cut])
        source, zero, gone, n_cuts = (np.array(one, np.int32) for one in numbers)
        return cls(source, zero, gone, n_cuts, table, column, code, np.array(either_way, bool))


def _parts(threshold: Float, left: Mask, missing: bool) -> list[tuple[Positions, float | None, bool]]:
    """Conditions of one column that share their codes, and the first threshold at which missing values go left (None: at none).

    Last, whether that is not true of all of them, which is so only where no values are missing.
    """
    every = np.arange(threshold.size)
    if not left.any():
        return [(every, None, False)]
    first = float(threshold[left].min())
    if not (~left & (threshold >= first)).any():
        return [(every, first, False)]
    if not missing:
        return [(every, None, True)]
    return [(np.flatnonzero(left), -np.inf, False), (np.flatnonzero(~left), None, False)]
