"""Layout: how the conditions of some trees become codes and rows of bits.

A *coded column* is a forest column as one kind of condition sees it: numeric or set, zeros
missing or not. Its cuts are the thresholds (or category codes) its conditions mention; a row's
code says where its value lies among them, and answers all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.engines.trees.coding import CodedRows, Coding, SearchTables, starts
from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.typing import Array, Bits, Bytes, Float, Int32, Int64, Mask, Positions

WORD = 64

BYTE_CUTS = 255  # of a column whose codes fit a byte, which go straight to bits
AT_A_TIME = 1024  # rows of a matrix that is made a part at a time; whole words
MOST_KEPT = 2**18  # conditions of a layout that is kept for the next question


Reader = Callable[[int, int], Array | CodedRows]  # of rows from one to another


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """Tables for `kernels.encode` and `kernels.pack`; the first block is by coded column, the others as named."""

    column: Int32
    is_set: Bytes
    zero_missing: Bytes
    search: SearchTables
    row_start: Int64
    code_start: Int64

    code_row: Int32
    row_missing_left: Bytes  # by row of bits, as is member_start
    member_start: Int64
    members: Int32
    condition_row: Int32  # by the forest's condition: row of bits, -1: none
    routing: NDArray[np.void]  # by the forest's condition: the rule by which it routes a row's code
    set_table: Bytes

    @property
    def n_columns(self) -> int:
        return self.column.size

    @property
    def n_rows(self) -> int:
        return self.row_missing_left.size

    @property
    def _most_categories(self) -> int:
        sizes = np.diff(self.code_start)[self.is_set > 0] - 1
        return int(sizes.max()) if sizes.size else 0

    def encode(
        self,
        matrix: Float | CodedRows,
        position: Int32,
        chosen: Int32,
        codes: Int32,
        column: Int32 | None = None,
    ) -> None:
        """Write the codes of the rows, at their positions, for the chosen coded columns.

        `column` says where in a matrix each coded column is, if not at its column of the forest.
        """
        if isinstance(matrix, CodedRows):
            _, own = self._coded(matrix.coding)
            for v in chosen.tolist():
                codes[v, position] = own[v][matrix.codes[matrix.coding.place[self.column[v]]]]
            return
        search = self.search
        kernels.encode(
            matrix=matrix, position=position, chosen=chosen,
            column=self.column if column is None else column, exact=self.is_set,
            zero_missing=self.zero_missing, zero_limit=ZERO_THRESHOLD, cuts=search.cuts, cut_start=search.cut_start,
            cut_count=search.count, low=search.low, scale=search.scale, bucket_start=search.bucket_start,
            steps=search.steps, codes=codes,
        )  # fmt: skip

    def load(
        self,
        read: Reader,
        position: Int32,
        codes: Int32,
        bits: Bits,
        *,
        all_codes: bool = False,
        at_hand: bool = False,
        but_for: MovingColumns | None = None,
        kept: KeptCodes | None = None,
        first_row: int = 0,
    ) -> None:
        """Write the bits of every condition, and the codes of columns that need them or, if asked for, of all; `but_for` those that move.

        Codes are taken from those `kept` of the rows from `first_row` on, and kept there, where they are given.

        `read` gives the matrix of rows from one to another, which may be of float32, or their codes. Where it has to make them,
        and the rows are in the order of their positions, few are asked for at a time: what is made for this stays near, and
        small. Rows that are `at_hand` are taken at once.
        """
        n = position.size
        in_order = n > 0 and position[-1] == n - 1 and bool((np.diff(position) == 1).all())
        straight, searched = self._ways if but_for is None else but_for.others
        coded = searched
        if all_codes:
            every = np.arange(self.n_columns, dtype=np.int32)
            coded = every if but_for is None else np.concatenate(but_for.others)
        some = AT_A_TIME if in_order and not at_hand else max(1, n)
        for start in range(0, n, some):
            stop = min(start + some, n)
            matrix, own = read(start, stop), position[start:stop]
            words = -(-(stop - start) // WORD) if in_order else bits.shape[1]
            if straight.size:
                kernels.pack_values(
                    matrix=matrix.by_row if isinstance(matrix, CodedRows) else matrix,
                    tables=self.tables_for(matrix) if but_for is None else but_for.tables_of_others(matrix),
                    position=own - start if in_order else own,
                    first_word=start // WORD, words=words, bits=bits,
                )  # fmt: skip
            if coded.size and kept is None:
                self.encode_stored(matrix, own, coded, codes)
            elif coded.size and kept is not None:
                rows = slice(first_row + start, first_row + stop)
                missing = kept.missing(coded, rows)
                if missing.any():
                    self.encode_stored(matrix, own, coded[missing], codes)
                    kept.keep(coded[missing], rows, codes, own)
                kept.write(coded[~missing], rows, codes, own)
        if searched.size:
            self.pack(codes, position, searched, bits)

    def moving(self, columns: tuple[int, ...]) -> MovingColumns:
        """What it takes to write over some forest columns; kept for the latest ones."""
        found = self._latest_moving.get(columns)
        if found is None:
            moving = np.isin(self.column, columns)
            straight, searched = (way[moving[way]] for way in self._ways)
            place = np.zeros(self.n_columns, np.int32)
            place[moving] = [columns.index(column) for column in self.column[moving].tolist()]
            none = np.zeros((self.n_columns, 0), np.uint8)
            tables = self._tables(place, none, none, np.zeros(self.n_columns, np.uint8), straight)
            stays = tuple(way[~moving[way]] for way in self._ways)
            found = MovingColumns(self, straight, searched, place, tables, (stays[0], stays[1]))
            self._latest_moving.clear()
            self._latest_moving[columns] = found
        return found

    @cached_property
    def _latest_moving(self) -> dict[tuple[int, ...], MovingColumns]:
        return {}

    def encode_stored(self, matrix: Array | CodedRows, position: Int32, chosen: Int32, codes: Int32) -> None:
        """Codes of a matrix that may be of float32."""
        if isinstance(matrix, CodedRows) or matrix.dtype == np.float64:
            self.encode(matrix, position, chosen, codes)
            return
        for start in range(0, len(matrix), AT_A_TIME):
            part = slice(start, start + AT_A_TIME)
            self.encode(matrix[part].astype(np.float64), position[part], chosen, codes)

    @cached_property
    def _ways(self) -> tuple[Int32, Int32]:
        """Coded columns whose values go straight to bits, and those that take a code and a search for each."""
        straight = self.search.count <= np.where(self.is_set > 0, BYTE_CUTS - 1, BYTE_CUTS)
        return np.flatnonzero(straight).astype(np.int32), np.flatnonzero(~straight).astype(np.int32)

    @property
    def is_straight(self) -> bool:
        """Whether all columns' values go straight to bits."""
        return not self._ways[1].size

    def tables_for(self, rows: Array | CodedRows) -> kernels.ValueTables:
        """What leads from rows as they are given, values or codes, straight to bits."""
        return self._coded(rows.coding)[0] if isinstance(rows, CodedRows) else self._value_tables

    @cached_property
    def _value_tables(self) -> kernels.ValueTables:
        """What leads from values straight to bits."""
        none = np.zeros((self.n_columns, 0), np.uint8)
        return self._tables(self.column, none, none, np.zeros(self.n_columns, np.uint8))

    def _coded(self, coding: Coding) -> tuple[kernels.ValueTables, Int32]:
        """The same for codes of one byte; and what each of these is among this layout's own."""
        if coding not in self._by_coding:
            place = coding.place[self.column]
            own = np.empty((self.n_columns, coding.values.shape[1]), np.int32)
            every, size = np.arange(self.n_columns, dtype=np.int32), np.arange(own.shape[1], dtype=np.int32)
            self.encode(coding.values.T, size, every, own, place)
            missing = own == kernels.MISSING
            # A category that no set here mentions is above all codes, as a missing value is.
            outside = (self.is_set > 0)[:, None] & (own == self.search.count[:, None])
            codes = np.where(outside, coding.missing, np.minimum(own, coding.missing)).astype(np.uint8)
            alike = ((codes == size) & ~missing) | (size > coding.count[place][:, None])
            tables = self._tables(place, codes, missing.view(np.uint8), alike.all(axis=1).astype(np.uint8))
            self._by_coding[coding] = (tables, own)
        return self._by_coding[coding]

    @cached_property
    def _by_coding(self) -> WeakKeyDictionary[Coding, tuple[kernels.ValueTables, Int32]]:
        return WeakKeyDictionary()

    def _tables(
        self, column: Int32, code_of: Bytes, missing_of: Bytes, as_coded: Bytes, chosen: Int32 | None = None
    ) -> kernels.ValueTables:
        search = self.search
        return kernels.ValueTables(
            chosen=self._ways[0] if chosen is None else chosen, column=column, zero_missing=self.zero_missing, zero_limit=ZERO_THRESHOLD,
            cuts=search.cuts, cut_start=search.cut_start, low=search.low, scale=search.scale,
            bucket_start=search.bucket_start, steps=search.steps, row_start=self.row_start,
            code_start=self.code_start, code_row=self.code_row, row_missing_left=self.row_missing_left,
            is_set=self.is_set, member_start=self.member_start, members=self.members, code_of=code_of,
            missing_of=missing_of, as_coded=as_coded,
        )  # fmt: skip

    def pack(self, codes: Int32, position: Int32, chosen: Int32, bits: Bits) -> None:
        """Write the bits of every condition of the chosen coded columns."""
        words = bits.shape[1]
        category_bits = np.empty((self._most_categories, words), np.uint64)
        kernels.pack(
            codes=codes, position=position, chosen=chosen, is_set=self.is_set, row_start=self.row_start,
            code_start=self.code_start, code_row=self.code_row, row_missing_left=self.row_missing_left,
            member_start=self.member_start, members=self.members, category_bits=category_bits,
            missing=np.empty(words, np.uint64), bits=bits,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class KeptCodes:
    """Codes of rows, ``(coded columns, rows)``, and which of them are known."""

    codes: Int32
    known: Mask

    @classmethod
    def none(cls, n_columns: int, n_rows: int) -> KeptCodes:
        shape = n_columns, n_rows
        return cls(np.empty(shape, np.int32), np.zeros(shape, bool))

    def missing(self, chosen: Int32, rows: slice) -> Mask:
        """Which of some columns are not known of all these rows."""
        return np.array([not self.known[v, rows].all() for v in chosen.tolist()], bool)

    def keep(self, chosen: Int32, rows: slice, codes: Int32, position: Int32) -> None:
        """Keep the codes of these rows, which are at their positions, of some columns."""
        at = _as_slice(position)
        for v in chosen.tolist():
            self.codes[v, rows] = codes[v, at]
            self.known[v, rows] = True

    def write(self, chosen: Int32, rows: slice, codes: Int32, position: Int32) -> None:
        """Write the codes of these rows at their positions."""
        at = _as_slice(position)
        for v in chosen.tolist():
            codes[v, at] = self.codes[v, rows]


def _as_slice(position: Int32) -> slice | Int32:
    """Positions as a slice, where each follows the one before."""
    in_order = bool((np.diff(position) == 1).all())
    return slice(int(position[0]), int(position[0]) + position.size) if in_order else position


_LATEST: WeakKeyDictionary[Forest, tuple[bytes, Layout]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class MovingColumns:
    """Forest columns that take other values than the rows have.

    Attributes
    ----------
    layout : the layout whose bits and codes are written
    straight, searched : coded columns whose values go straight to bits, and those that take a code and a search for each
    place : of each coded column, its column among the values that are given
    tables : of the values that go straight to bits
    others : the coded columns that do not move, in the same two parts
    """

    layout: Layout
    straight: Int32
    searched: Int32
    place: Int32
    tables: kernels.ValueTables
    others: tuple[Int32, Int32]

    @cached_property
    def rows(self) -> Bytes:
        """Which rows of bits they decide."""
        found = np.zeros(self.layout.n_rows, np.uint8)
        for v in np.concatenate([self.straight, self.searched]).tolist():
            found[self.layout.row_start[v] : self.layout.row_start[v + 1]] = 1
        return found

    def tables_of_others(self, rows: Array | CodedRows) -> kernels.ValueTables:
        """What leads from rows as they are given straight to the bits of what does not move."""
        every = self.layout.tables_for(rows)
        own = {**every.values, "chosen": self.others[0]}
        return kernels.ValueTables(**own) if self.straight.size else every

    def write(
        self, values: Float, position: Int32, codes: Int32, bits: Bits, *, all_codes: bool = False
    ) -> None:
        """Write over what `Layout.load` wrote of these columns."""
        if self.straight.size:
            kernels.pack_values(
                matrix=values,
                tables=self.tables,
                position=position,
                first_word=0,
                words=bits.shape[1],
                bits=bits,
            )
        coded = np.concatenate([self.straight, self.searched]) if all_codes else self.searched
        if coded.size:
            self.layout.encode(values, position, coded, codes, self.place)
        if self.searched.size:
            self.layout.pack(codes, position, self.searched, bits)

    def moves(self, values: Float) -> kernels.Moves:
        """What kernels that pack rows themselves are given; `values` are of one move after another."""
        return kernels.Moves(values=values, chosen=self.straight, column=self.place)


def laid_out(forest: Forest, coded: Positions, packed: Mask) -> Layout:
    """The same as `lay_out`, of a forest that nobody changes: the latest layout is kept as long as the forest.

    What moves does not matter to a layout. So all questions about the same trees share one, and thousands
    of pairs asked one after another take it apart once.
    """
    if coded.size > MOST_KEPT:
        return lay_out(forest, coded, packed)
    key = coded.tobytes() + packed.tobytes()
    kept = _LATEST.get(forest)
    if kept is None or kept[0] != key:
        kept = (key, lay_out(forest, coded, packed))
        _LATEST[forest] = kept
    return kept[1]


def lay_out(forest: Forest, coded: Positions, packed: Mask) -> Layout:
    """The layout of the conditions `coded`; those with `packed` (by forest condition) get bits."""
    is_set = forest.condition_set[coded] >= 0
    number = 2 * forest.condition_column[coded].astype(np.int64) + is_set
    number = 2 * number + forest.condition_zero_missing[coded]
    numbers_used, owner = np.unique(number, return_inverse=True)
    keys = np.stack([numbers_used // 4, numbers_used // 2 % 2, numbers_used % 2])
    n = numbers_used.size

    condition_row = np.full(forest.condition_column.size, -1, np.int32)
    routing = np.zeros(forest.condition_column.size, kernels.ROUTING_RULE)
    routing["column"][coded] = owner
    routing["missing_left"][coded] = forest.condition_missing_left[coded]
    cuts: list[Float] = []
    code_rows: list[Int64] = []
    members: list[Int32] = []
    member_counts: list[Int64] = []
    tables = [np.zeros(1, np.uint8)]  # the first place is what numeric conditions look up
    row_conditions = []
    row_start = np.zeros(n + 1, np.int64)
    table_size = 1
    by_owner = np.argsort(owner, kind="stable")
    owner_start = np.searchsorted(owner[by_owner], np.arange(n + 1))
    for v in range(n):
        own = coded[by_owner[owner_start[v] : owner_start[v + 1]]]
        if keys[1, v]:
            sets = [_members(forest, int(c)) for c in own]
            categories = np.unique(np.concatenate(sets))
            numbers = [np.searchsorted(categories, s).astype(np.int32) for s in sets]
            for condition, places in zip(own, numbers):
                table = np.zeros(categories.size + 1, np.uint8)
                table[places] = 1
                tables.append(table)
                routing["threshold"][condition] = -1
                routing["set_start"][condition] = table_size
                routing["set_last"][condition] = categories.size
                table_size += table.size
            rows = own[packed[own]]
            members += [places for condition, places in zip(own, numbers) if packed[condition]]
            member_counts.append(np.array([numbers[i].size for i in np.flatnonzero(packed[own])], np.int64))
            code_rows.append(np.full(categories.size + 1, -1, np.int64))
            cuts.append(categories.astype(np.float64))
        else:
            column_cuts, code = np.unique(forest.condition_threshold[own], return_inverse=True)
            routing["threshold"][own] = code
            chosen = packed[own]
            order = np.argsort(code[chosen], kind="stable")
            rows = own[chosen][order]
            first = np.searchsorted(code[chosen][order], np.arange(column_cuts.size + 1))
            code_rows.append(np.where(first < rows.size, first + row_start[v], -1))
            member_counts.append(np.zeros(rows.size, np.int64))
            cuts.append(column_cuts)
        condition_row[rows] = row_start[v] + np.arange(rows.size)
        row_conditions.append(rows)
        row_start[v + 1] = row_start[v] + rows.size

    row_condition = np.concatenate([np.zeros(0, np.intp), *row_conditions]).astype(np.intp)
    search = SearchTables.of(cuts)
    return Layout(
        column=keys[0].astype(np.int32),
        is_set=keys[1].astype(np.uint8),
        zero_missing=keys[2].astype(np.uint8),
        search=search,
        row_start=row_start,
        code_start=starts(search.count + 1),
        code_row=np.concatenate([np.zeros(0, np.int64), *code_rows]).astype(np.int32),
        row_missing_left=forest.condition_missing_left[row_condition].astype(np.uint8),
        member_start=starts(np.concatenate([np.zeros(0, np.int64), *member_counts])),
        members=np.concatenate([np.zeros(0, np.int32), *members]).astype(np.int32),
        condition_row=condition_row,
        routing=routing,
        set_table=np.concatenate(tables),
    )


def _members(forest: Forest, condition: int) -> Int64:
    number = forest.condition_set[condition]
    return forest.set_members[forest.set_start[number] : forest.set_start[number + 1]]
