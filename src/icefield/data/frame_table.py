"""Tables of data frames: pandas (numpy, nullable or Arrow dtypes), polars and pyarrow.

It hides how each library selects, repeats and rewrites columns. Rows keep what they came with: the labels of a pandas
index, attrs and subclass, and the metadata of an arrow schema, since a model may look at any of it. What is written into a column is made by
`icefield.data.replacement`, in the column's own dtype.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from icefield.data.columns import (
    FEW,
    NUMERIC_KINDS,
    Column,
    column_of_array,
    column_of_series,
    library_named,
    object_array,
    pandas_categories,
    pandas_numbers,
    polars_categories,
)
from icefield.data.matrix_tables import ArrayTable
from icefield.data.replacement import UNSET, arrow_array, own_missing, pandas_values, polars_series
from icefield.data.table import Table, same_name_error
from icefield.typing import Array, Positions

MANY_COLUMNS = 8  # that get new values, from which on a pandas frame is made anew


class FrameTable(Table):
    """A pandas, polars or pyarrow frame."""

    named = True

    def __init__(
        self,
        frame: Any,
        library: str,
        parameter: str = "X",
        marks: Mapping[Any, Any] | None = None,
        names: tuple[Any, ...] | None = None,
    ) -> None:
        self.native, self.library = frame, library
        if names is None:
            names = tuple(frame.column_names if library == "pyarrow" else frame.columns)
            if len(set(names)) != len(names):
                raise same_name_error(list(names), parameter)
        self.names = names  # blocks of rows are told: asking a wide frame takes longer than its rows
        self._given_marks = marks

    @cached_property
    def _marks(self) -> Mapping[Any, Any]:
        """How missing values are written: found once on all rows and handed down, so that every block of rows is written alike."""
        if self._given_marks is not None:
            return self._given_marks
        return own_missing(((name, self._native(name)) for name in self.names), self.library)

    def _native(self, name: Any) -> Any:
        return self.native.column(self.position(name)) if self.library == "pyarrow" else self.native[name]

    @property
    def n_rows(self) -> int:
        if self.origin is not None:
            return len(self.origin[1])
        return int(self.native.num_rows if self.library == "pyarrow" else len(self.native))

    @cached_property
    def zones(self) -> dict[Any, Any]:
        if self.library == "pandas":
            kinds = [getattr(dtype, "pyarrow_dtype", dtype) for dtype in self.native.dtypes]
        elif self.library == "polars":
            kinds = list(self.native.schema.values())
        else:
            kinds = list(self.native.schema.types)
        found = ((name, _zone(kind)) for name, kind in zip(self.names, kinds))
        return {name: zone for name, zone in found if zone is not None}

    @cached_property
    def row_bytes(self) -> int:
        if self.n_rows == 0:
            return 1
        head = self.slice(0, min(self.n_rows, 256))
        if self.library == "pandas":
            total = int(head.native.memory_usage(index=False, deep=True).sum())
        elif self.library == "polars":
            total = int(head.native.estimated_size())
        else:
            total = int(head.native.nbytes)
        return max(1, total // head.n_rows)

    def _with(self, frame: Any) -> FrameTable:
        return FrameTable(frame, self.library, marks=self._marks, names=self.names)

    def select(self, columns: Sequence[Any]) -> FrameTable:
        if tuple(columns) == self.names:
            return self
        if self.library == "pandas":
            frame = self.native.iloc[:, [self.position(c) for c in columns]]
        else:
            frame = self.native.select(list(columns))
        return FrameTable(frame, self.library, marks=self._marks, names=tuple(columns))

    def rows_at(self, positions: Positions) -> Any:
        if self.library == "pandas":
            return _labels_may_repeat(self.native).take(positions)
        if self.library == "polars":
            return self.native[positions]
        return self.native.take(positions.astype(np.int64, copy=False))

    def slice(self, start: int, stop: int) -> FrameTable:
        if self.is_taken:
            return self.take(np.arange(start, stop))
        if self.library == "pandas":
            return self._with(self.native.iloc[start:stop])
        return self._with(self.native.slice(start, max(0, stop - start)))

    def _repeated(self, times: int, points: Mapping[Any, Array]) -> FrameTable:
        positions = np.tile(np.arange(self.n_rows), times)
        # The new values are few: make them once in the column's dtype, then repeat them natively.
        spread = np.repeat(np.arange(times), self.n_rows)
        if self.library == "pandas":
            pandas = library_named("pandas")
            frame = _labels_may_repeat(self.native).take(positions)
            moved = {}
            for name, values in points.items():
                new = pandas_values(values, self.native[name], self._marks.get(name, UNSET)).take(spread)
                moved[name] = pandas.Series(new, index=frame.index, dtype=new.dtype)
            if len(moved) < MANY_COLUMNS:
                for name, new in moved.items():
                    frame[name] = new
                return self._with(frame)
            # Putting in one column after another would split the frame's blocks each time.
            columns = [moved[name] if name in moved else frame[name] for name in self.names]
            make = frame._constructor  # noqa: SLF001  # a subclass says there what its frames are made by
            whole = make(dict(enumerate(columns)), index=frame.index, copy=False)
            return self._with(whole.set_axis(frame.columns, axis=1).__finalize__(frame))
        if self.library == "polars":
            schema = self.native.schema  # which polars makes anew each time it is asked for
            series = [
                polars_series(n, v, schema[n], self._marks.get(n, UNSET))[spread] for n, v in points.items()
            ]
            return self._with(self.native[positions].with_columns(series))
        frame = self.native.take(positions)
        for name, values in points.items():
            at = self.position(name)
            column = self.native.column(at)
            new = arrow_array(values, column.type, column, self._marks.get(name, UNSET)).take(spread)
            # The field as it was: what the schema says of the column besides its type stays.
            frame = frame.set_column(at, self.native.schema.field(at).with_type(new.type), new)
        return self._with(frame)

    def with_columns_of(self, columns: Sequence[Any], donor: Table) -> FrameTable:
        native = self.native
        if self.library == "pandas":
            native = native.copy(deep=False)
            for name in columns:
                native[name] = donor.native[name].array
        elif self.library == "polars":
            native = native.with_columns([donor.native.get_column(name) for name in columns])
        else:
            for name in columns:
                at, column = self.position(name), donor.native.column(name)
                native = native.set_column(at, native.schema.field(at).with_type(column.type), column)
        return FrameTable(native, self.library)

    def _read(self, name: Any) -> Column:
        native = self._native(name)
        if isinstance(getattr(native, "dtype", None), np.dtype) and native.dtype.kind in "fiub":
            return column_of_array(name, native.to_numpy())  # numbers of pandas are arrays already
        if self.library != "pandas" and _plain_numbers(native, self.library):
            # Nulls that become NaN on the way take longer than a query that fills them, which takes long to set up.
            if self.library == "polars" and len(native) > FEW and native.null_count():
                native = native.fill_null(np.nan)
            return column_of_array(name, native.to_numpy())
        if self.library == "pandas":
            plain = pandas_numbers(name, native)
            if plain is not None:
                return plain
            if hasattr(native.dtype, "categories"):
                return pandas_categories(name, native)
        if self.library == "polars" and _has_levels(native.dtype):
            return polars_categories(name, native)
        import narwhals as nw

        return column_of_series(name, nw.from_native(native, series_only=True))

    def to(self, library: str) -> Table:
        if library == self.library:
            return self
        if library == "numpy":
            return ArrayTable(self.to_numpy(), self.names)
        import narwhals as nw

        frame = nw.from_native(self.native, eager_only=True)
        if library == "pandas":
            library_named("pandas")
            return FrameTable(frame.to_pandas(), "pandas")
        if library == "polars":
            return FrameTable(frame.to_polars(), "polars")
        return FrameTable(frame.to_arrow(), "pyarrow")

    def to_numpy(self, dtype: Any = None) -> Array:
        """A plain matrix: numbers with NaN for missing, or objects where there are categories."""
        columns = [self.column(name) for name in self.names]
        if all(c.kind in (*NUMERIC_KINDS, "boolean") for c in columns):
            common = np.result_type(
                *(np.float64 if c.any_missing and c.kind != "float" else c.dtype for c in columns)
            )
            out = np.empty((self.n_rows, len(columns)), dtype=common)
            for i, c in enumerate(columns):
                out[:, i] = c.values
                if c.any_missing:
                    out[c.missing, i] = np.nan
        else:
            out = np.empty((self.n_rows, len(columns)), dtype=object)
            for i, c in enumerate(columns):
                # As a list, because numpy turns times in nanoseconds to bare integers.
                out[:, i] = object_array(list(c.values)) if c.dtype.kind in "mM" else c.values
                if c.any_missing:
                    own = self._marks.get(c.name, UNSET)
                    other = np.nan if c.kind in NUMERIC_KINDS else None
                    out[c.missing, i] = other if own is UNSET else own
        return out if dtype is None else out.astype(dtype, copy=False)


def _zone(kind: Any) -> Any:
    """The zone of a library's type of times; None for any other type."""
    found = getattr(kind, "tz", None) or getattr(kind, "time_zone", None)
    return None if callable(found) else found or None


def _has_levels(kind: Any) -> bool:
    """Whether a polars type is one of categories."""
    polars = library_named("polars")
    return isinstance(kind, (polars.Enum, polars.Categorical))


def _plain_numbers(native: Any, library: str) -> bool:
    """Whether a polars or pyarrow column is floats, or whole numbers without a gap, which go over at once."""
    if library == "polars":
        kind = native.dtype
        is_whole = kind.is_integer() and "128" not in str(kind)
        return bool(kind.is_float() or (is_whole and native.null_count() == 0))
    types = library_named("pyarrow").types
    is_float = types.is_float32(native.type) or types.is_float64(native.type)
    return bool(is_float or (types.is_integer(native.type) and native.null_count == 0))


def _labels_may_repeat(frame: Any) -> Any:
    """A pandas frame whose rows may be repeated with their labels, which a frame can be told to refuse."""
    return frame if frame.flags.allows_duplicate_labels else frame.set_flags(allows_duplicate_labels=True)
