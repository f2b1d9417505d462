"""Encoders: the caller's columns as the float64 matrix a `Forest` routes on.

Every library treats a column in its own way before it compares: rounds to float32, refuses
infinities, takes categories by level, truncates category numbers. A `Rule` mirrors one such
treatment for one column; an `Encoder` applies one rule per matrix column. Both treat every row by
itself and carry no state, so that blocks of rows may be encoded in any order and in any thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from icefield.data.frame import Column, Table, table_of
from icefield.errors import ModelError
from icefield.forest.tree_model import CannotRead
from icefield.typing import Float

LARGEST_EXACT_INTEGER = 2**53
HEAD = 100  # rows by which columns are told apart
INFINITY = "infinity"
TOO_LARGE = "infinity, or a number too large for float32"


class RefusedValue(ModelError):
    """A value the model's own ``predict`` raises on; `column` is its column, `held` the value in words."""

    def __init__(self, column: Any, held: str) -> None:
        super().__init__(column, held)
        self.column, self.held = column, held

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} holds {self.held}, in X or on the grid, which the model does not accept. "
            "Hint: leave it out of the grid, or put a number in its place."
        )


class Rule(Protocol):
    """How one column becomes numbers."""

    def __call__(self, column: Column, library: str) -> Float: ...


@dataclass(frozen=True)
class Numbers:
    """A numeric column.

    Attributes
    ----------
    float32 : the library rounds to float32 before it compares
    largest_plain_integer : integers beyond it, in matrices that are not of floats, are rounded in a way that depends on
        how the matrix is handed over; they are refused
    refuse_missing, refuse_infinite : the library's ``predict`` raises on such values; so does the encoder
    missing : a number that stands for a missing value, besides NaN
    """

    float32: bool = False
    largest_plain_integer: int | None = None
    refuse_missing: bool = False
    refuse_infinite: bool = False
    missing: float | None = None

    def changes_nothing(self, dtype: np.dtype[Any]) -> bool:
        """Whether numbers of some dtype are taken as they are, whatever they are."""
        known = (np.float32,) if self.float32 else (np.float32, np.float64)
        refuses = self.refuse_missing or self.refuse_infinite
        return dtype in known and self.missing is None and not refuses

    def __call__(self, column: Column, library: str) -> Float:
        levels = _numeric_levels(column)
        values = column.values if levels is None else levels
        if levels is None and column.kind != "float" and column.any_missing:
            values = _checked_integers(values, (column.name,)).astype(np.float64)
            values[column.missing] = np.nan
        return self.numbers(values, library, (column.name,))

    def numbers(self, values: NDArray[Any], library: str, names: Sequence[Any]) -> Float:
        """Numbers of one column, or of a matrix with these names, as the library compares them."""
        if values.dtype.kind not in "fiub" or values.dtype.itemsize > 8:
            raise CannotRead(f"{_subject(names)} has dtype {values.dtype}, which trees do not compare")
        limit = LARGEST_EXACT_INTEGER
        if self.largest_plain_integer is not None and library == "numpy":
            limit = self.largest_plain_integer
        out = _checked_integers(values, names, limit).astype(np.float64, copy=False)
        if self.float32:
            # Overflow to infinity is what the library's own cast gives.
            with np.errstate(over="ignore"):
                out = out.astype(np.float32).astype(np.float64)
        if self.refuse_infinite and (bad := np.isinf(out)).any():
            raise RefusedValue(_first_with(bad, names), TOO_LARGE if self.float32 else INFINITY)
        if self.refuse_missing and (bad := np.isnan(out)).any():
            raise RefusedValue(_first_with(bad, names), "NaN")
        if self.missing is not None:
            with np.errstate(over="ignore"):
                sentinel = float(np.float32(self.missing)) if self.float32 else self.missing
            out = np.where(out == sentinel, np.nan, out)
        return out


@dataclass(frozen=True)
class LevelCodes:
    """Categories by level: each known level's number, whatever order the frame has them in.

    A missing value becomes NaN. A level that is not listed becomes NaN as well where
    `unknown_is_missing`; otherwise what the model would do with it is not known, and `unlisted`
    says why; so it is for a missing value where `refuse_missing` says why. Some libraries raise on an
    infinite number among numeric categories; so does the encoder then.
    """

    code_of_level: tuple[tuple[Any, float], ...]
    unknown_is_missing: bool = False
    refuse_infinite: bool = False
    unlisted: str = "the model was not trained on"
    refuse_missing: str = ""

    @cached_property
    def code(self) -> dict[Any, float]:
        """The number of each known level."""
        return dict(self.code_of_level)

    def __call__(self, column: Column, library: str) -> Float:
        if column.kind not in ("categorical", "float", "integer", "boolean"):
            raise CannotRead(f"column {column.name!r} is of kind {column.kind}, not a category")
        if self.refuse_infinite and column.kind == "float" and np.isinf(column.values).any():
            raise RefusedValue(column.name, INFINITY)
        if self.refuse_missing and column.any_missing:
            raise CannotRead(f"column {column.name!r} holds a missing value, {self.refuse_missing}")
        codes, levels = column.stored_codes, column.levels.tolist()
        # The last entry answers for code -1, a missing value.
        numbers = np.array([*(self.code.get(level, np.nan) for level in levels), np.nan])
        if not self.unknown_is_missing:
            unknown = [i for i, level in enumerate(levels) if level not in self.code]
            if unknown and np.isin(codes, unknown).any():
                raise CannotRead(f"column {column.name!r} holds a category {self.unlisted}")
        return numbers[codes]


def levels_in_order(
    levels: Iterable[Any], unknown_is_missing: bool, refuse_infinite: bool = False
) -> LevelCodes:
    """Levels whose codes are their positions."""
    numbered = tuple((level, float(i)) for i, level in enumerate(levels))
    return LevelCodes(numbered, unknown_is_missing, refuse_infinite)


@dataclass(frozen=True)
class Unused:
    """A column no split looks at."""

    def __call__(self, column: Column, library: str) -> Float:
        return np.zeros(len(column.values))


@dataclass(frozen=True)
class CategoryNumbers:
    """Categories given as numbers: whole part taken, what is no category set to -1.

    `negative_fraction_is_zero` is for libraries that truncate before they look at the sign, so
    that -0.5 is category 0. Numbers of `limit` and above are no category.
    """

    numbers: Numbers
    limit: float = 2.0**31
    negative_fraction_is_zero: bool = False

    def __call__(self, column: Column, library: str) -> Float:
        values = self.numbers(column, library)
        whole = np.trunc(values)
        lowest_ok = whole > -1.0 if self.negative_fraction_is_zero else values >= 0.0
        valid = lowest_ok & (whole < self.limit)
        return np.where(np.isnan(values), np.nan, np.where(valid, np.abs(whole), -1.0))


@dataclass(frozen=True, eq=False)
class Encoder:
    """One rule per matrix column: the matrix's column i is ``rules[i]`` of the column ``names[i]``."""

    names: tuple[Any, ...]
    rules: tuple[Rule, ...]
    absent_is_missing: bool = False

    def __call__(self, table: Table) -> Float:
        if table.library == "sparse":
            return self(self._dense(table))
        whole = self._as_one_matrix(table)
        if whole is not None:
            return whole
        out = np.empty((table.n_rows, len(self.names)), order="F")
        for i, (name, rule) in enumerate(zip(self.names, self.rules)):
            out[:, i] = rule(table.column(name), table.library)
        return out

    def _as_one_matrix(self, table: Table) -> Float | None:
        """The encoded matrix at once, where the rows are one numeric matrix and all columns have one rule; else None."""
        rule = self._only_rule(table) if table.library in ("numpy", "pandas") else None
        if rule is None:
            return None
        native = table.native
        if table.library == "pandas":
            # Plain floats alone: whole numbers and extension types have rules that look at one column.
            if any(not isinstance(d, np.dtype) or d.kind != "f" for d in native.dtypes):
                return None
            native = native.to_numpy()
        return rule.numbers(native, table.library, table.names) if native.dtype.kind in "fiub" else None

    def column(self, table: Table, number: int) -> NDArray[Any]:
        """One column of the matrix, of float64 or float32: the table's own values, uncopied, where its rule changes nothing."""
        rule, column = self.rules[number], table.column(self.names[number])
        as_it_is = isinstance(rule, Numbers) and column.kind == "float" and rule.changes_nothing(column.dtype)
        return column.values if as_it_is else rule(column, table.library)

    def as_is(self, table: Table) -> NDArray[Any] | None:
        """The table's own matrix of floats, where encoding it changes and refuses nothing; else None."""
        rule = self._only_rule(table)
        if rule is None:
            return None
        matrix = table.native if table.library == "numpy" else _as_matrix_view(table)
        return matrix if matrix is not None and rule.changes_nothing(matrix.dtype) else None

    def points(self, table: Table, points: Mapping[Any, NDArray[Any]]) -> Float:
        """Rows in which some columns take these values, as a row of the table does, and the others any."""
        one = table.take(np.zeros(1, np.intp))
        if table.library == "sparse":
            return self(one.crossed(points))
        not_plain = {name for name, rule in zip(self.names, self.rules) if not isinstance(rule, Numbers)}
        others = {
            name: values
            for name, values in points.items()
            if name in not_plain or not _takes_as_is(one.column(name), values)
        }
        crossed = one.select(tuple(others)).crossed(others) if others else one
        out = np.zeros((len(next(iter(points.values()))), len(self.names)))
        for i, (name, rule) in enumerate(zip(self.names, self.rules)):
            if name in others:
                out[:, i] = rule(crossed.column(name), table.library)
            elif name in points:
                out[:, i] = cast(Numbers, rule).numbers(points[name], table.library, (name,))
        return out

    def _only_rule(self, table: Table) -> Numbers | None:
        """The rule of numbers that all columns have, where they are the table's."""
        return self._same_rule if table.names == self.names else None

    @cached_property
    def _same_rule(self) -> Numbers | None:
        first = self.rules[0] if self.rules else None
        return first if isinstance(first, Numbers) and all(other == first for other in self.rules) else None

    def _dense(self, table: Table) -> Table:
        """A sparse table as dense: entries that are not stored are zeros, or missing where the library says so."""
        if not self.absent_is_missing:
            return table.to("numpy")
        stored = table.native.tocoo()
        dense = np.full(stored.shape, np.nan)
        dense[stored.row, stored.col] = stored.data
        return table_of(dense)

    @property
    def drives(self) -> dict[Any, tuple[int, ...]]:
        """Frame column to the matrix columns it decides."""
        driven: dict[Any, tuple[int, ...]] = {}
        for i, name in enumerate(self.names):
            driven[name] = (*driven.get(name, ()), i)
        return driven


def _as_matrix_view(table: Table) -> NDArray[Any] | None:
    """The columns of a pandas frame that lie in memory as those of one matrix of floats, as this matrix; else None."""
    if table.library != "pandas":
        return None
    first, *rest = table.native.dtypes.tolist()
    if first not in (np.float32, np.float64) or any(dtype is not first and dtype != first for dtype in rest):
        return None
    columns = [table.column(name).values for name in table.names]
    column = columns[0]
    starts = [values.__array_interface__["data"][0] for values in columns]
    step = starts[1] - starts[0] if len(starts) > 1 else column.itemsize
    alike = all(values.dtype == column.dtype and values.strides == column.strides for values in columns)
    if not alike or step % column.itemsize or starts != [starts[0] + i * step for i in range(len(starts))]:
        return None
    return as_strided(column, (len(column), len(columns)), (column.strides[0], step), writeable=False)


def _takes_as_is(column: Column, values: NDArray[Any]) -> bool:
    """Whether a column, and what is put into it, are plain numbers of one type."""
    return column.kind == "float" and column.values.dtype == values.dtype


def check_width(table: Table, expected: int) -> None:
    """The table must have the model's columns, no more and no fewer."""
    if len(table.names) != expected:
        raise CannotRead(f"the model has {expected} columns, the table {len(table.names)}")


def check_numeric(table: Table, positions: Iterable[int] | None = None) -> None:
    """Refuse at once, with the reason, columns that an encoder would refuse later."""
    head = table.slice(0, min(table.n_rows, HEAD))
    for i in range(len(head.names)) if positions is None else positions:
        _numeric_levels(head.column(head.names[i]))


def _numeric_levels(column: Column) -> Float | None:
    """A categorical column whose levels are numbers, as those numbers; None for a column of numbers."""
    if column.kind in ("float", "integer", "boolean"):
        return None
    if column.kind != "categorical":
        raise CannotRead(f"column {column.name!r} is of kind {column.kind}, not a number")
    levels = column.levels
    numeric = levels.dtype.kind in "fiub" or all(type(v) in (int, float, bool) for v in levels.tolist())
    if not numeric:
        raise CannotRead(f"column {column.name!r} holds categories that are not numbers")
    return np.append(levels.astype(np.float64), np.nan)[column.codes]


def _checked_integers(
    values: NDArray[Any], names: Sequence[Any], limit: int = LARGEST_EXACT_INTEGER
) -> NDArray[Any]:
    """Integers beyond 2**53 are rounded in one step by some libraries and in two by others."""
    if values.dtype.kind in "iu" and values.dtype.itemsize >= 4 and values.size:
        low, high = int(values.min()), int(values.max())
        if low < -limit or high > limit:
            raise CannotRead(f"{_subject(names)} holds integers beyond {limit}, which are rounded")
    return values


def _subject(names: Sequence[Any]) -> str:
    return f"column {names[0]!r}" if len(names) == 1 else "the matrix"


def _first_with(bad: NDArray[np.bool_], names: Sequence[Any]) -> Any:
    """The name of the first column that holds something bad."""
    return names[int(np.argmax(bad.any(axis=0)))] if bad.ndim == 2 else names[0]
