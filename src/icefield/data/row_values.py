"""What kept rows hold in every column, read column by column as it is asked for.

An Effect with individual curves carries its rows' other values: to colour curves by, to name rows, to say what tells
them apart. A table may have thousands of columns of which a picture needs one. So the rows themselves are kept,
which is one call of their library, and a column is read when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from icefield.counts import counted
from icefield.typing import Array, Positions

if TYPE_CHECKING:
    from icefield.data.table import Table


class RowValues(Mapping[Any, Array]):
    """Column -> the kept rows' values, with missing ones recognisable as such.

    Holds a copy of those rows and nothing of the table they came from, so it can be pickled and outlives it.
    """

    def __init__(self, table: Table, rows: Positions) -> None:
        self._rows = table.take(rows).on_its_own()
        self._read: dict[Any, Array] = {}

    def __getitem__(self, name: Any) -> Array:
        if name not in self._read:
            if not self._rows.has(name):
                raise KeyError(name)
            self._read[name] = self._rows.column(name).shown()
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return self._rows.has(name)  # the inherited way would read the column

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows.names)

    def __len__(self) -> int:
        return len(self._rows.names)

    def __repr__(self) -> str:
        return f"RowValues({counted(self._rows.n_rows)} rows x {counted(len(self))} columns)"
