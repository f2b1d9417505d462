"""Blocks of the sample's rows as the kernels want them: codes, bits, weights, segments.

Rows of one group stand together at whole words of the masks, so that a group's count is a
count over a range of words. Weights become whole numbers whose sum fits 62 bits: sums of them
are exact, the same for any blocks and threads, and off by less than rounding would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield.core.rows import Block
from icefield.engines.trees.coding import CodedRows
from icefield.engines.trees.encoded import EncodedRows, FilteredRows, stored_rows
from icefield.engines.trees.layout import WORD, Layout
from icefield.forest.tree_model import TreeModel
from icefield.typing import Array, Bits, Float, Int32, Int64, Positions

NO_WEIGHT = -(2**20)  # the exponent of a segment's unit when nothing in it weighs anything
PIECES, MOST_AT_ONCE = 3, 2**18  # pieces of the rows that a thread counts, and rows of one
NO_FILTER = np.empty(0, np.uint64)
MOST_POSITIONS = 2**16  # list entries keep a row's position in 16 bits


def aligned(shape: tuple[int, ...]) -> Bits:
    """Words that begin at a cache line, uninitialised."""
    size = int(np.prod(shape))
    raw = np.empty(size + 8, np.uint64)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + size].reshape(shape)


def bit_mask(position: Int32, words: int) -> Bits:
    """A mask with the bits at these positions set."""
    flags = np.zeros(words * WORD, np.uint8)
    flags[position] = 1
    return np.packbits(flags, bitorder="little").view(np.uint64)


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """Weights as whole numbers times a unit that each segment has of its own; None: 1 each.

    A group of rows that weigh next to nothing beside the others is still averaged to full
    precision.
    """

    values: Int64 | None
    units: Float  # by segment, relative to the largest
    n_planes: int

    @classmethod
    def of(cls, weights: Float | None, segment: Positions | None, n_segments: int) -> WholeWeights:
        """Whole weights of rows in segments (None: all in one)."""
        if weights is None:
            return cls(None, np.ones(n_segments), 0)
        values = np.zeros(weights.size, np.int64)
        exponents = np.full(n_segments, NO_WEIGHT)
        n_planes = 1
        for s in range(n_segments):
            own = slice(None) if segment is None else np.flatnonzero(segment == s)
            total = float(weights[own].sum())
            if total == 0.0:
                continue
            shift = 61 - int(np.frexp(total)[1])
            whole = np.rint(np.ldexp(weights[own], shift)).astype(np.int64)
            # Weights with few digits (counts, say) need few bit planes.
            used = int(np.bitwise_or.reduce(whole))
            spare = (used & -used).bit_length() - 1
            values[own] = whole >> spare
            exponents[s] = spare - shift
            n_planes = max(n_planes, (used >> spare).bit_length())
        return cls(values, np.ldexp(1.0, exponents - exponents.max()), n_planes)


@dataclass(frozen=True, eq=False)
class Moved:
    """Forest columns that take other values than the rows have, in several ways: ``(moves, columns, rows)``."""

    columns: tuple[int, ...]
    values: Float

    def part(self, move: int, start: int, stop: int) -> Float:
        """The values of some rows, ``(rows, columns)``."""
        return self.values[move, :, start:stop].T

    def all_moves(self, start: int, stop: int) -> Float:
        """The same of one move after another."""
        return self.values.reshape(-1, self.values.shape[2])[:, start:stop].T


class PackedRows:
    """The sample, cut into blocks; with `moved`, once for each way in which columns take other values."""

    def __init__(self, model: TreeModel, sample: Block, block: int, moved: Moved | None = None) -> None:
        self.model, self.sample, self.block, self.moved = model, sample, block, moved
        self.n_segments = 1 if sample.codes is None else sample.n_groups + 1
        # A row in no group belongs to the last segment.
        segment = None if sample.codes is None else np.where(sample.codes < 0, sample.n_groups, sample.codes)
        self.weights = WholeWeights.of(sample.weights, segment, self.n_segments)
        self.words = -(-block // WORD) + (self.n_segments if self.n_segments > 1 else 0)

    @property
    def n_moves(self) -> int:
        return 1 if self.moved is None else len(self.moved.values)

    @property
    def blocks(self) -> list[tuple[int, int]]:
        n = self.sample.n_rows
        return [(start, min(start + self.block, n)) for start in range(0, n, self.block)]

    @property
    def weigh_alike(self) -> bool:
        """Whether all rows weigh 1 in one segment."""
        return self.n_segments == 1 and self.weights.values is None

    def are_alike(self, layout: Layout, has_lists: bool) -> bool:
        """Whether all weigh 1 in one segment and lie in a matrix, and a program needs no more than their bits."""
        # Values of moves are those of the sample's rows, not of all that a filter chooses from.
        at_hand = (EncodedRows, CodedRows, FilteredRows) if self.moved is None else (EncodedRows, CodedRows)
        is_at_hand = isinstance(self.sample.table, at_hand)
        return self.weigh_alike and is_at_hand and layout.is_straight and not has_lists

    def at_once(self, layout: Layout, start: int, stop: int) -> dict[str, Any]:
        """What kernels that pack rows themselves are given of rows at hand, or of all those that a filter chooses from."""
        table: Any = self.sample.table
        own = stored_rows(self.model, table.whole if isinstance(table, FilteredRows) else table)
        matrix = own.by_row if isinstance(own, CodedRows) else own
        moved = Moved((), np.empty((1, 0, len(matrix)))) if self.moved is None else self.moved
        moving = layout.moving(moved.columns)
        moves = moving.moves(moved.all_moves(start, stop))
        return {"matrix": matrix[start:stop], "tables": moving.tables_of_others(own), "moves": moves}

    def here(self, start: int, stop: int) -> Bits:
        """Which of these rows a filter keeps, a bit each; nothing where there is no filter."""
        table: Any = self.sample.table
        return table.here[start // WORD : -(-stop // WORD)] if isinstance(table, FilteredRows) else NO_FILTER

    @property
    def n_lying(self) -> int:
        """Rows that kernels which pack rows themselves go over: all those that a filter chooses from."""
        table: Any = self.sample.table
        return int(table.whole.n_rows if isinstance(table, FilteredRows) else self.sample.n_rows)

    def shared_out(self, threads: int) -> list[tuple[int, int]]:
        """Larger pieces of whole blocks, a few for each thread."""
        n = self.n_lying
        share = min(-(-n // (PIECES * threads)), MOST_AT_ONCE)
        size = max(WORD, -(-share // WORD) * WORD)
        return [(start, min(start + size, n)) for start in range(0, n, size)]

    def totals(self) -> Int64:
        """Whole weights by segment: each group's, and last that of rows in none."""
        codes, values = self.sample.codes, self.weights.values
        if codes is None:
            return np.array([self.sample.n_rows if values is None else values.sum()], np.int64)
        totals = np.zeros(self.n_segments, np.int64)
        np.add.at(totals, codes, 1 if values is None else values)  # -1 is the last
        return totals

    @property
    def at_hand(self) -> Array | CodedRows | None:
        """All rows as layouts read them, where they are in this form: of float64 or float32, or as codes."""
        table: Any = self.sample.table
        if isinstance(table, FilteredRows):
            table = table.taken
        if isinstance(table, EncodedRows):
            return table.matrix
        return table if isinstance(table, CodedRows) else None

    def matrix(self, start: int, stop: int) -> Float:
        return self.model.encode(self._part(start, stop))

    def stored(self, start: int, stop: int) -> Array | CodedRows:
        """Some rows as layouts read them."""
        return stored_rows(self.model, self._part(start, stop))

    def _part(self, start: int, stop: int) -> Any:
        table = self.sample.table
        return table if start == 0 and stop == table.n_rows else table.slice(start, stop)


class Workspace:
    """One thread's memory for packing a block; reused from block to block.

    `layers` is room for bits, one layer for each move, of which only those counted together use more than the first.
    """

    def __init__(self, rows: PackedRows, layout: Layout, has_lists: bool, layers: Bits | None = None) -> None:
        self.rows, self.layout = rows, layout
        words = rows.words
        self.codes = np.empty((layout.n_columns, words * WORD), np.int32)
        # Lists ask few rows about many columns: a row's codes stand together for them.
        self.codes_by_row = np.empty((words * WORD if has_lists else 0, layout.n_columns), np.int32)
        self.layers = aligned((rows.n_moves, layout.n_rows, words)) if layers is None else layers
        self.bits = self.layers[0]
        self.planes = aligned((max(rows.weights.n_planes, int(rows.n_segments > 1)), words))
        self.weight_of = np.ones(words * WORD, np.int64)
        self.segment_of = np.zeros(words * WORD, np.int32)
        self.segments = np.array([0, words], np.int64)
        self._position = np.empty(0, np.int32)
        self._moving = None if rows.moved is None else layout.moving(rows.moved.columns)
        table: Any = rows.sample.table
        is_searched = isinstance(table, EncodedRows) and not layout.is_straight
        self._kept = table.codes(layout) if is_searched else None

    def load(self, start: int, stop: int, here: Bits) -> Int32:
        """Fill this workspace with a block, but for what moves, and mark its rows in `here`; returns their positions."""
        rows = self.rows
        position = np.arange(stop - start, dtype=np.int32)
        if rows.sample.codes is not None:
            position = self._by_segment(rows.sample.codes[start:stop])
        here[:] = bit_mask(position, rows.words)
        self.layout.load(
            lambda a, b: rows.stored(start + a, start + b), position, self.codes, self.bits,
            all_codes=self.codes_by_row.size > 0, at_hand=rows.at_hand is not None, but_for=self._moving,
            kept=self._kept, first_row=start,
        )  # fmt: skip
        if self.codes_by_row.size:
            self.codes_by_row[:] = self.codes.T
        if rows.weights.values is not None:
            values = rows.weights.values[start:stop]
            self.weight_of[position] = values
            for plane in range(rows.weights.n_planes):
                self.planes[plane] = bit_mask(position[(values >> plane) & 1 == 1], rows.words)
        elif rows.n_segments > 1:
            self.planes[0] = here
        self._position = position
        return position

    def move(self, number: int, start: int, bits: Bits | None = None) -> None:
        """Let the columns that move take the values of one of the moves, in the block that is loaded and begins at `start`.

        Their bits are written to those of the block, or to the layer given.
        """
        moved, moving, position = self.rows.moved, self._moving, self._position
        if moved is None or moving is None:
            return
        by_row = self.codes_by_row.size > 0
        values = moved.part(number, start, start + position.size)
        layer = self.bits if bits is None else bits
        moving.write(values, position, self.codes, layer, all_codes=by_row)
        if by_row:
            self.codes_by_row[:] = self.codes.T

    def _by_segment(self, codes: Positions) -> Int32:
        """Positions that keep the rows of a group together, each group at whole words."""
        n = self.rows.n_segments
        segment = np.where(codes < 0, n - 1, codes)
        sizes = np.bincount(segment, minlength=n)
        self.segments = np.concatenate([[0], np.cumsum(-(-sizes // WORD))]).astype(np.int64)
        order = np.argsort(segment, kind="stable")
        rank = np.arange(segment.size) - np.concatenate([[0], np.cumsum(sizes)])[segment[order]]
        position = np.empty(segment.size, np.int32)
        position[order] = self.segments[segment[order]] * WORD + rank
        self.segment_of[position] = segment
        return position
