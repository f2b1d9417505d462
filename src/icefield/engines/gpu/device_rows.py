"""Rows on the device: brought there in pieces of constant size, as codes of one byte a column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icefield.engines.gpu.codes import CodedColumns, NotOnDevice
from icefield.engines.gpu.device import TILE, Device, Slab
from icefield.engines.gpu.leaves import ProgramLeaves
from icefield.engines.trees.averages import Counted
from icefield.engines.trees.coding import CodedRows
from icefield.engines.trees.packed_rows import PackedRows
from icefield.engines.trees.program import Program, TreeSums
from icefield.threads import ThreadCrew
from icefield.typing import Int32, Int64, Mask, Positions

STAGED = 2**27  # bytes brought at a time, twice
PIECE = 2**16  # rows that one thread copies at a time
SLAB = 2**16  # tiles that are counted at once
MOST_GROUPS = 31


class DeviceRows:
    """A sample's rows as slabs of codes: kept on the device where they fit half of what is free, else brought again for every program."""

    def __init__(self, device: Device, sums: TreeSums, rows: PackedRows, crew: ThreadCrew) -> None:
        self._device, self._sums, self._rows, self._crew = device, sums, rows, crew
        if rows.weights.values is not None:
            raise NotOnDevice("rows have weights")
        if rows.n_segments - 1 > MOST_GROUPS:
            raise NotOnDevice(f"there are more than {MOST_GROUPS} groups")
        whole = None if isinstance(rows.at_hand, CodedRows) else rows.at_hand
        self._whole, self._dtype = whole, np.dtype(np.float64 if whole is None else whole.dtype)
        n = rows.sample.n_rows
        self._kept: list[Slab] | None = None
        self._take_columns(())
        keeps = n * self.columns.n * 9 // 8 < device.free // 2
        if keeps and self.columns.n:
            slabs, met = self._brought()
            if (met & self.columns.undecided).any():  # values are missing that go either way
                self._take_columns(set(self.columns.source[met].tolist()))
                slabs, _ = self._brought()
            self._kept = slabs
        else:
            self._take_columns(None)

    def _take_columns(self, with_missing: Collection[int] | None) -> None:
        self.columns = CodedColumns.of(self._sums, with_missing)
        if self.columns.n > (most := self._device.most_columns()):
            raise NotOnDevice(f"the trees test {self.columns.n} columns, and this GPU takes {most}")

    def _brought(self) -> tuple[list[Slab], Mask]:
        tables = self._device.tables(self.columns)
        slabs = list(self._bring(tables, keep=True))
        return slabs, self._device.has_missing(tables)

    @property
    def slabs(self) -> Iterator[Slab]:
        if self._kept is not None:
            yield from self._kept
        elif self.columns.n:
            yield from self._bring(self._device.tables(self.columns), keep=False)

    def _bring(self, tables: list, keep: bool) -> Iterator[Slab]:
        """All rows, slab by slab; without `keep` the next one takes the place of the last."""
        rows, device = self._rows, self._device
        n, n_columns = rows.sample.n_rows, self._sums.forest.n_columns
        at_once = max(TILE, STAGED // max(1, n_columns * self._dtype.itemsize) // TILE * TILE)
        at_once = min(at_once, -(-n // TILE) * TILE)
        spare = rows.n_segments if rows.n_segments > 1 else 0
        per_stage = at_once // TILE + spare
        room = max(per_stage, min(SLAB, -(-n // at_once) * per_stage))
        staged = [device.staging((at_once, n_columns), self._dtype) for _ in range(2)]
        slab = None
        for number, start in enumerate(range(0, n, at_once)):
            stop = min(start + at_once, n)
            if slab is not None and slab.n_tiles + per_stage > room:
                yield slab
                slab = None if keep else _emptied(slab)
            if slab is None:
                slab = _emptied(device.slab(room, self.columns.n), rows.n_segments)
            own = staged[number % 2]
            own[2].synchronize()
            self._fill(own[0], start, stop)
            order, n_tiles = None, -(-(stop - start) // TILE)
            if rows.sample.codes is not None:
                order, tiles = by_segment(rows.sample.codes[start:stop], rows.n_segments)
                for segment, some in enumerate(tiles):
                    slab.segments[segment] += [slab.n_tiles + t for t in some]
                n_tiles = order.size // TILE
            device.encode(slab, own, stop - start, n_tiles, order, tables, (n_columns, 1))
        if slab is not None:
            yield slab

    def _fill(self, to: NDArray, start: int, stop: int) -> None:
        def copy(piece: tuple[int, int]) -> None:
            a, b = piece
            values = self._rows.matrix(a, b) if self._whole is None else self._whole[a:b]
            to[a - start : b - start] = values

        pieces = [(a, min(a + PIECE, stop)) for a in range(start, stop, PIECE)]
        self._crew.each(copy, pieces)


def _emptied(slab: Slab, n_segments: int | None = None) -> Slab:
    slab.n_tiles = 0
    slab.segments = [[] for _ in range(len(slab.segments) if n_segments is None else n_segments)]
    return slab


def by_segment(codes: Positions, n_segments: int) -> tuple[Int32, list[range]]:
    """Rows in an order in which each segment has whole tiles, -1 where a place is empty, and each segment's tiles."""
    segment = np.where(codes < 0, n_segments - 1, codes)
    order = np.argsort(segment, kind="stable").astype(np.int32)
    sizes = np.bincount(segment, minlength=n_segments)
    tiles = -(-sizes // TILE)
    first = np.concatenate([[0], np.cumsum(tiles)])
    places = np.full(int(first[-1]) * TILE, -1, np.int32)
    for begin, own in zip(first * TILE, np.split(order, np.cumsum(sizes)[:-1])):
        places[begin : begin + own.size] = own
    return places, [range(int(first[s]), int(first[s + 1])) for s in range(n_segments)]


@dataclass(frozen=True, eq=False)
class DeviceCounted(Counted):
    """Averages over rows that the device counts; all else is done as on the CPU."""

    device: Device
    device_rows: DeviceRows

    def counts(self, program: Program, meanwhile: Callable[[], object] | None = None) -> Int64:
        if meanwhile is not None:
            meanwhile()
        leaves = ProgramLeaves.of(program, program.mode, self.device_rows.columns)
        n_segments, device = self.rows.n_segments, self.device
        sent = [
            (work, device.sent(work), [device.counts(work.size) for _ in range(n_segments)])
            for work in leaves.work
        ]
        if sent:
            for slab in self.device_rows.slabs:
                for work, tables, counts in sent:
                    for segment in range(n_segments):
                        tiles = slab.segments[segment] if n_segments > 1 else None
                        device.count(work, tables, slab, tiles, counts[segment])
        found = np.zeros((program.slots.n, n_segments), np.int64)
        for segment, total in enumerate(self.rows.totals().tolist()):
            leaves.put_reached(total, found[:, segment])
            for work, _, counts in sent:
                leaves.put(work, device.fetched(counts[segment]), found[:, segment])
        self.progress.advance(self.rows.sample.n_rows * program.batch.roots.size)
        return found
