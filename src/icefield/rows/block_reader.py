"""From rows as they were read to blocks: weights and groups are taken from the columns named for them, once per block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefield import validate
from icefield.core.rows import Block
from icefield.data.frame import Table, table_of
from icefield.errors import InputError, InputTypeError
from icefield.rows.grouping import Grouping
from icefield.rows.stream import ArrowRows
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.rows.source import Origin


@dataclass(frozen=True, eq=False)
class BlockReader:
    """How rows become blocks. It travels to workers with a pass.

    Attributes
    ----------
    weights : the column of weights, or None
    grouping : the rule of groups, or None
    copies : whether weights count how often rows occur
    """

    weights: str | None = None
    grouping: Grouping | None = None
    copies: bool = True

    @property
    def columns(self) -> list[str]:
        """The columns that are read for weights and groups."""
        names = (self.weights, None if self.grouping is None else self.grouping.column)
        return [name for name in names if name is not None]

    @property
    def n_groups(self) -> int:
        return 0 if self.grouping is None else len(self.grouping.labels)

    def block(self, rows: ArrowRows, source: Origin, frames: bool) -> Block:
        """The rows with the weights and groups whose columns were read; as `frames` that models get, or as Arrow's tables."""
        table = source.table(rows.arrow) if frames else table_of(rows.arrow)
        weights = codes = None
        if self.weights is not None and table.has(self.weights):
            weights = _checked_weights(table, self.weights)
        if self.grouping is not None and table.has(self.grouping.column):
            codes = self.grouping.codes(table)
        return Block(table, weights, codes, self.n_groups, self.copies, rows.start, arrow=rows.arrow)


def check_some_weight(largest: float) -> None:
    """Refuse weights that are all zero: nothing would stand behind an average."""
    if largest == 0.0:
        raise InputError.about("weights", "must not all be zero", "only zeros")


def _checked_weights(table: Table, name: str) -> Float:
    """A block's weights, checked as those of a whole table are."""
    column = table.column(name)
    if column.kind not in ("float", "integer", "boolean"):
        raise InputTypeError.about("weights", f"names a {column.kind} column", name, "must hold numbers")
    return validate.usable_weights(column.to_float())
