"""What a table is, whatever library holds it: rows of labelled columns.

`Table` is the whole of what the rest of the library knows about data. It promises three things:

* the caller's frame is never changed;
* a rewritten column keeps its dtype and its category levels, so that models which check them
  accept the frame (only fractional values the user asked for turn an integer column to float);
* `Column` (from `icefield.data.columns`) shows every library's data in one form.

Matrices keep these promises in `icefield.data.matrix_tables`, data frames in `icefield.data.frame_table`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.columns import Column
from icefield.errors import InputError, did_you_mean
from icefield.typing import Array, Positions

if TYPE_CHECKING:
    from typing import Self


class Table(ABC):
    """Rows of labelled columns. Build one with `table_of`."""

    library: str
    names: tuple[Any, ...]
    named: bool
    origin: tuple[Table, Positions] | None = None  # the table whose rows these are, and which of them

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @abstractmethod
    def select(self, columns: Sequence[Any]) -> Table:
        """Only these columns, in this order."""

    @abstractmethod
    def rows_at(self, positions: Positions) -> Any:
        """The rows at these positions, as the library has them."""

    @cached_property
    def native(self) -> Any:
        """The rows as the library has them; of taken rows, from when they are first needed."""
        assert self.origin is not None
        return self.origin[0].rows_at(self.origin[1])

    @property
    def is_taken(self) -> bool:
        """Whether the rows have not been copied yet."""
        return "native" not in self.__dict__

    def take(self, positions: Positions) -> Self:
        """The rows at these positions, repeats allowed."""
        at, taken = np.asarray(positions), object.__new__(type(self))
        if at.dtype == np.bool_:
            raise TypeError("positions are whole numbers: a mask would be read as 0 and 1")
        at = at.astype(np.intp, copy=False)
        taken.__dict__ |= {k: v for k, v in self.__dict__.items() if k not in ("native", "_columns_read")}
        taken.origin = (self, at) if self.origin is None else (self.origin[0], self.origin[1][at])
        return taken

    def on_its_own(self) -> Self:
        """These rows as a copy that keeps no reference to the table they came from."""
        self.native  # noqa: B018  (of taken rows, made now)
        self.origin = None
        return self

    @abstractmethod
    def slice(self, start: int, stop: int) -> Table:
        """Consecutive rows, without copying where the library can."""

    @abstractmethod
    def with_columns_of(self, columns: Sequence[Any], donor: Table) -> Table:
        """These columns replaced by the donor's, which has just these, in this order, and as many rows."""

    @abstractmethod
    def _read(self, name: Any) -> Column: ...

    @abstractmethod
    def _repeated(self, times: int, points: Mapping[Any, Array]) -> Table:
        """All rows `times` times over, the k-th copy with its columns rewritten to their k-th value."""

    @abstractmethod
    def to(self, library: str) -> Table:
        """The same rows in another library."""

    @abstractmethod
    def to_numpy(self, dtype: Any = None) -> Array: ...

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """About how many bytes a row takes when rows are repeated for prediction."""

    @property
    def zones(self) -> dict[Any, Any]:
        """The zones of columns of times that have one, by column; no value is read for it."""
        return {}

    def column(self, name: Any) -> Column:
        """One column in library-independent form (read once, then kept)."""
        self.check(name)
        if name not in self._columns_read:
            known = self._known_to_origin(name)
            self._columns_read[name] = self._read(name) if known is None else known
        return self._columns_read[name]

    def _known_to_origin(self, name: Any) -> Column | None:
        """A column of numbers already read from the table these rows come from, so that no frame is needed."""
        read = None if self.origin is None else self.origin[0]._columns_read.get(name)  # noqa: SLF001  (a table too)
        if self.origin is None or read is None or read.decimals is not None:
            return None
        return read.part(self.origin[1]) if read.kind == "float" and read.dtype.kind == "f" else None

    def __getstate__(self) -> dict[str, Any]:
        """Pickles the table's own rows only; columns are read again in the other process."""
        self.native  # noqa: B018  (of taken rows, made now)
        return {k: v for k, v in self.__dict__.items() if k not in ("_columns_read", "origin")}

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {name: position for position, name in enumerate(self.names)}

    def position(self, name: Any) -> int:
        """Where a column stands, found at once among thousands."""
        return self._positions[name]

    def has(self, name: Any) -> bool:
        """Whether there is a column of this name."""
        try:
            return name in self._positions
        except TypeError:  # what cannot be looked up is no name
            return False

    @cached_property
    def _columns_read(self) -> dict[Any, Column]:
        """The columns that were read so far, by name."""
        return {}

    def check(self, name: Any, parameter: str = "features") -> None:
        if not self.has(name):
            raise InputError.about(
                parameter, "names a column that X does not have", name, did_you_mean(name, self.names)
            )

    def crossed(self, points: Mapping[Any, Array]) -> Table:
        """Every row at every grid point: the K grid points' copies of all rows, one after another.

        ``points`` maps each moving column to its K values.
        """
        size = len(next(iter(points.values())))
        return self._repeated(size, {name: np.asarray(values) for name, values in points.items()})


def same_name_error(names: list[Any], parameter: str) -> InputError:
    """What to say of a table with two columns of one name."""
    twice = next(n for n in names if names.count(n) > 1)
    return InputError.about(parameter, "has two columns of the same name", twice, "rename one of them")
