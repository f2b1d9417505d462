"""Cells of text, and values of other types, as what a model takes: numbers, or levels it knows.

A text file does not say whether ``01234`` is a number, nor whether ``NA`` is Namibia or nothing. The model does: its numbers
are read as numbers, its levels matched by how they are written. Only where no model says anything does the column
decide: it holds numbers where every cell is one, and none is written with a leading zero.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.cli.missing import MissingCells
from icefield.data.columns import is_missing_value
from icefield.libraries.category_types import KnownLevels, number_as_text
from icefield.libraries.native_files import optional

_CODE = re.compile(r"\s*[+-]?0\d")  # a number written like this is a code: a postal area, an article
_FLAGS = {"true": True, "false": False}


class NotANumber(ValueError):
    """A cell that is not a number, in a column of numbers."""

    def __init__(self, row: int, cell: str) -> None:
        super().__init__(cell)
        self.row, self.cell = row, cell


def as_numbers(cells: Sequence[str], missing: Collection[str]) -> NDArray[Any]:
    """Cells as numbers, or as flags where all are true or false; `NotANumber` for the first that is neither."""
    by_arrow = _numbers_by_arrow(cells, missing)
    if by_arrow is not None:
        return by_arrow
    cells = [cell.strip() for cell in cells]
    is_missing = np.fromiter((cell in missing for cell in cells), bool, len(cells))
    present = [cell for cell, skip in zip(cells, is_missing) if not skip] if is_missing.any() else cells
    numbers = _plain_numbers(present)
    if numbers is None:
        for row, cell in enumerate(cells):
            if not is_missing[row] and _plain_numbers([cell]) is None and cell.lower() not in _FLAGS:
                raise NotANumber(row, cell)
        flags = [cell.lower() in _FLAGS for cell in present]
        if not all(flags):
            row = int(np.flatnonzero(~is_missing)[flags.index(True)])
            raise NotANumber(row, cells[row])
        numbers = np.array([_FLAGS[cell.lower()] for cell in present])
    if not is_missing.any():
        return numbers
    out = np.full(len(cells), np.nan)
    out[~is_missing] = numbers
    return out


def _numbers_by_arrow(cells: Sequence[str], missing: Collection[str]) -> NDArray[Any] | None:
    """Cells as numbers by pyarrow, which is much faster; None where a cell needs parsing, or pyarrow is not installed."""
    arrow, compute = optional("pyarrow"), optional("pyarrow.compute")
    if arrow is None or compute is None:
        return None
    column = arrow.array(cells, arrow.string())
    is_missing = compute.is_in(column, arrow.array(sorted(missing), arrow.string()))
    if compute.any(compute.match_substring_regex(column, r"^\+|[xX_]")).as_py():
        return None  # signs that arrow does not read, and hexadecimal numbers, which only arrow does
    present = compute.if_else(is_missing, arrow.scalar(None, arrow.string()), column)
    for kind in (arrow.int64(), arrow.float64()):
        try:
            numbers = compute.cast(present, kind)
        except arrow.ArrowInvalid:
            continue
        if numbers.null_count == len(cells):
            return np.full(len(cells), np.nan)
        if numbers.null_count:
            numbers = compute.cast(numbers, arrow.float64())
        return np.asarray(numbers.to_numpy(zero_copy_only=False))
    return None


def _plain_numbers(cells: list[str]) -> NDArray[Any] | None:
    """Integers where all cells are whole, else floats; None where a cell is not a number."""
    if any("_" in cell or not cell for cell in cells):  # which Python reads, and no other program writes
        return None
    kinds: tuple[tuple[Any, Any], ...] = ((int, np.int64), (float, np.float64))
    for parse, kind in kinds:
        with suppress(ValueError, OverflowError):
            return np.array([parse(cell) for cell in cells], dtype=kind)
    return None


def infer_values(cells: Sequence[str], missing: MissingCells) -> NDArray[Any]:
    """Cells of a column whose type no model knows: numbers where all cells are, without a leading zero; else text."""
    with suppress(NotANumber):
        numbers = as_numbers(cells, missing.numbers)
        # Most cells are settled by their first character, which costs far less than the pattern.
        if not any(cell[:1] in "0+- \t" and _CODE.match(cell) for cell in cells):
            return numbers
    return as_text(cells, missing.texts)


def as_text(cells: Sequence[str], missing: Collection[str]) -> NDArray[Any]:
    out = np.empty(len(cells), dtype=object)
    out[:] = [None if cell in missing else cell for cell in cells]
    return out


# --- levels ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LevelMatch:
    """A column as the model's levels: their numbers (-1: missing or unseen), and how often each unseen value occurs."""

    codes: NDArray[np.int64]
    unseen: Counter[Any] = field(default_factory=Counter)
    unseen_rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


def match_levels(values: Sequence[Any], known: KnownLevels, missing: MissingCells) -> LevelMatch:
    """Match cells of text, or values of any type, to levels: as they are written, numbers by their value."""
    spelling = _LevelLookup(known.levels)
    code_of: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    unseen: Counter[Any] = Counter()
    rows = []
    for row, value in enumerate(values):
        key = (type(value), value)
        if key not in code_of:
            code_of[key] = spelling.place(value, missing)
        code = code_of[key]
        if code == _UNSEEN:
            unseen[value] += 1
            rows.append(row)
            code = -1
        codes[row] = code
    return LevelMatch(codes, unseen, np.array(rows, dtype=np.intp))


_UNSEEN = -2


class _LevelLookup:
    """The code of each level, by its value and by each way it may be written in a cell."""

    def __init__(self, levels: Sequence[Any]) -> None:
        self.exact = {level: code for code, level in enumerate(levels) if isinstance(level, str)}
        self.flags = {bool(v): code for code, v in enumerate(levels) if isinstance(v, (bool, np.bool_))}
        # Whole numbers and floats of one value are one key, and neither is rounded.
        self.numbers = {
            (level.item() if isinstance(level, np.number) else level): code
            for code, level in enumerate(levels)
            if isinstance(level, (int, float, np.number)) and not isinstance(level, (bool, np.bool_))
        }
        self.times = {
            str(v): code for code, v in enumerate(levels) if isinstance(v, (dt.date, np.datetime64))
        }

    def place(self, value: Any, missing: MissingCells) -> int:
        if is_missing_value(value):
            return -1
        if not isinstance(value, str):
            return self._code_of_value(value)
        if value in missing.user_texts:
            return -1
        if value in self.exact:
            return self.exact[value]
        cell = value.strip()
        if cell in missing.texts or (not self.exact and cell in missing.numbers):
            return -1
        if cell.lower() in _FLAGS and self.flags:
            return self.flags.get(_FLAGS[cell.lower()], _UNSEEN)
        if self.numbers or self.flags:
            number = _plain_numbers([cell])
            if number is not None:
                return self._code_of_number(number[0].item())
        return self.times.get(cell, _UNSEEN)

    def _code_of_value(self, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)):
            code = self.flags.get(bool(value), _UNSEEN)
            return self.exact.get(str(value), _UNSEEN) if code == _UNSEEN else code
        if isinstance(value, (int, float, np.number)):
            code = self._code_of_number(value.item() if isinstance(value, np.number) else value)
            return self.exact.get(number_as_text(value), _UNSEEN) if code == _UNSEEN else code
        return self.times.get(str(value), self.exact.get(str(value), _UNSEEN))

    def _code_of_number(self, number: int | float) -> int:
        if number in self.numbers:
            return self.numbers[number]
        return self.flags.get(bool(number), _UNSEEN) if self.flags and number in (0.0, 1.0) else _UNSEEN
