"""The form of rows a model accepts: a frame library, or an array of a number type.

Models differ in what they take: some want column names, some refuse polars, some only take
float32. A `RowForm` is one such taste, able to turn any `Table` into it; `usual_forms` lists the
forms worth trying, the caller's own first, so that a conversion happens only where it is needed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield.data.frame import ArrayTable, Table

FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class RowForm:
    """Rows as a model gets them.

    Attributes
    ----------
    library : ``"pandas"``, ``"polars"``, ``"pyarrow"``, ``"numpy"`` or ``"sparse"``
    dtype : number type of a numpy form, or None for whatever the table has
    names : column names the model knows, put on rows that have none
    """

    library: str
    dtype: str | None = None
    names: tuple[Any, ...] | None = None

    def of(self, table: Table) -> Any:
        """The table's rows as the native object to hand to the model."""
        if self.names is not None and self.library in FRAME_LIBRARIES:
            return ArrayTable(table.to_numpy(), self.names).to(self.library).native
        if self.library == "numpy":
            return table.to_numpy() if self.dtype is None else self._numbers(table)
        return table.native if table.library == self.library else table.to(self.library).native

    def _numbers(self, table: Table) -> Any:
        rows = table.to_numpy()
        if np.dtype(self.dtype).kind == "i" and rows.dtype.kind not in "iub":
            raise TypeError("fractional numbers would be cut to integers")
        return np.ascontiguousarray(rows, dtype=self.dtype)

    def __str__(self) -> str:
        if self.dtype:
            return f"{self.library} {self.dtype}"
        return f"{self.library} with the model's column names" if self.names else self.library


def installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def usual_forms(table: Table, names: Sequence[Any] | None) -> list[RowForm]:
    """Forms to try, best first: the caller's own, frames (with the model's names), plain numbers.

    Parameters
    ----------
    table : the caller's rows
    names : the model's column names when the table does not carry them
    """
    forms = [RowForm(table.library)]
    columns = tuple(names) if names is not None else None
    if table.library != "pandas" and (table.named or columns is not None):
        frames = [library for library in FRAME_LIBRARIES if installed(library)]
        forms += [RowForm(library, names=columns) for library in frames[:1] if library != table.library]
    if table.library != "numpy":
        forms.append(RowForm("numpy"))
    forms += [RowForm("numpy", "float64"), RowForm("numpy", "float32")]
    return forms


def has_categories(table: Table) -> bool:
    """Whether a frame has columns that are not plain numbers (arrays are taken as they are)."""
    if table.library in ("numpy", "sparse"):
        return False
    return any(table.column(name).kind not in ("float", "integer", "boolean") for name in table.names)
