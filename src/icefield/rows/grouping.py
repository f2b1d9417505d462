"""Groups of a stream: the labels ``by=`` gives over all rows, and a rule that finds each block's rows among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield.data.column_statistics import ColumnValues
from icefield.data.columns import ORDERED_KINDS
from icefield.data.distribution import weighted_quantiles
from icefield.data.frame import Table
from icefield.data.groups import FEW, Groups, groups_of

QUARTERS = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group a row is in.

    Attributes
    ----------
    column, name, labels : the column, what it is called, and the groups' labels
    missing : number of the group of missing values, -1 for none
    of_value : number of the group of each value
    cuts, of_interval : for numbers cut into quarters, where, and the group of each interval between; None for others
    """

    column: str
    name: str
    labels: tuple[Any, ...]
    missing: int
    of_value: dict[Any, int] = field(default_factory=dict)
    cuts: NDArray[Any] | None = None
    of_interval: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, column: str, table: Table, summary: ColumnValues) -> Grouping:
        """The rule for a column, from a table of its summary's values."""
        groups = cast(Groups, groups_of(column, table, summary.weights))
        values_column = summary.column
        present = ~values_column.missing
        missing = int(groups.codes[values_column.missing][0]) if values_column.any_missing else -1
        values, codes = values_column.values[present], groups.codes[present]
        if values_column.kind in ORDERED_KINDS and len(np.unique(values)) > FEW:
            cuts = np.unique(weighted_quantiles(values, np.array(QUARTERS), summary.weights[present]))
            group_of_interval = np.full(len(cuts) + 1, -1, np.intp)
            group_of_interval[np.searchsorted(cuts, values, side="left")] = codes
            return cls(column, groups.name, groups.labels, missing, cuts=cuts, of_interval=group_of_interval)
        of_value = dict(zip(values.tolist(), codes.tolist()))
        return cls(column, groups.name, groups.labels, missing, of_value)

    def codes(self, table: Table) -> NDArray[np.intp]:
        """The group number of every row of a block; -1 for a row in none."""
        column = table.column(self.column)
        present = ~column.missing
        codes = np.full(len(column.values), self.missing, np.intp)
        if self.cuts is not None and self.of_interval is not None:
            codes[present] = self.of_interval[np.searchsorted(self.cuts, column.values[present], side="left")]
            return codes
        if column.kind == "categorical":
            of_level = np.array([self.of_value.get(level, -1) for level in column.levels.tolist()], np.intp)
            codes[present] = of_level[column.codes[present]]
            return codes
        values, inverse = np.unique(column.values[present], return_inverse=True)
        codes[present] = np.array([self.of_value.get(v, -1) for v in values.tolist()], np.intp)[inverse]
        return codes

    def groups(self, table: Table) -> Groups:
        """The groups of some rows, with the labels of all."""
        return Groups(self.name, self.codes(table), self.labels)
