"""The GPU, through CuPy: its memory and its kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from icefield.engines.gpu.codes import CodedColumns
from icefield.engines.gpu.leaves import SECONDS, TABLE, THREADS, AnyLeaves, Kind
from icefield.forest.form import ZERO_THRESHOLD
from icefield.typing import Array, Int32, Int64, Mask

TILE = 1024  # rows
GENERAL_THREADS = 128


class Slab:
    """Rows on the device: planes of codes, and which rows are there. `tiles` are by segment, None where there is one only."""

    def __init__(self, planes: Any, mask: Any) -> None:
        self.planes, self.mask = planes, mask
        self.n_tiles = 0
        self.segments: list[list[int]] = []


class Device:
    """Kernels and memory of one GPU."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        self.name = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])
        self.shared = int(cupy.cuda.Device(0).attributes["MaxSharedMemoryPerBlockOptin"])
        self._modules: dict[Any, Any] = {}

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What is raised where the device is lost, full, or does not compile."""
        cuda = self._cupy.cuda
        return (
            cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError, cuda.memory.OutOfMemoryError,
            cuda.compiler.CompileException,
        )  # fmt: skip

    @property
    def free(self) -> int:
        """Bytes that are free."""
        pool = self._cupy.get_default_memory_pool()
        return int(self._cupy.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def most_columns(self) -> int:
        return (self.shared // 4 - 32) // TABLE

    def _kernel(self, name: str, key: Any, kinds: str, always: bool, columns: int = 0) -> Any:
        if key not in self._modules:
            text = (Path(__file__).parent / "counting.cu").read_text().replace("\nKINDS\n", f"\n{kinds}\n")
            options = ("-std=c++17", *(("-DALWAYS",) if always else ()))
            self._modules[key] = self._cupy.RawModule(code=text, options=options)
        kernel = self._modules[key].get_function(name)
        if columns:
            kernel.max_dynamic_shared_size_bytes = (columns * TABLE + 32) * 4
        return kernel

    def slab(self, n_tiles: int, columns: int) -> Slab:
        cupy = self._cupy
        return Slab(
            cupy.empty((n_tiles, columns, 8, 32), cupy.uint32), cupy.empty((n_tiles, 32), cupy.uint32)
        )

    def staging(self, shape: tuple[int, ...], dtype: Any) -> tuple[Array, Any, Any]:
        """Pinned memory as an array, the device's memory for it, and an event for when it was read."""
        cupy = self._cupy
        size = int(np.prod(shape))
        pinned = cupy.cuda.alloc_pinned_memory(max(1, size * np.dtype(dtype).itemsize))
        host = np.frombuffer(pinned, dtype, size).reshape(shape)
        return host, cupy.empty(shape, dtype), cupy.cuda.Event()

    def tables(self, columns: CodedColumns) -> list[Any]:
        parts = (columns.source, columns.cuts, columns.n_cuts, columns.missing_code, columns.zero_missing)
        return [*(self._cupy.asarray(part) for part in parts), self._cupy.zeros(columns.n, np.int32)]

    def encode(
        self, slab: Slab, staged: tuple[Array, Any, Any], n_rows: int, n_tiles: int,
        order: Int32 | None, tables: list[Any], steps: tuple[int, int]
    ) -> None:  # fmt: skip
        """Codes of staged rows, behind what the slab holds."""
        host, there, done = staged
        there.set(host)
        source, cuts, n_cuts, missing, zero, met = tables
        name = "encode_double" if host.dtype == np.float64 else "encode_float"
        kernel = self._kernel(name, "always", "", True)
        on_device = None if order is None else self._cupy.asarray(order)
        columns = int(source.size)
        blocks = -(-n_tiles * columns // 8)
        kernel((blocks,), (256,), (
            there, np.int64(steps[0]), np.int64(steps[1]), np.intp(0) if on_device is None else on_device, np.int64(n_rows),
            np.int64(slab.n_tiles), np.int64(n_tiles), np.int32(columns), source, cuts, n_cuts, missing, zero,
            np.float64(ZERO_THRESHOLD), slab.planes, slab.mask, met,
        ))  # fmt: skip
        done.record()
        slab.n_tiles += n_tiles

    def has_missing(self, tables: list[Any]) -> Mask:
        """Coded columns in which a missing value was met."""
        return np.asarray(tables[-1].get() > 0)

    def counts(self, size: int) -> Any:
        return self._cupy.zeros(size, np.uint64)

    def sent(self, work: Kind | AnyLeaves) -> list[Any]:
        """The leaves' tables on the device."""
        put = self._cupy.asarray
        if isinstance(work, Kind):
            return [put(work.table)]
        leaf_start = np.arange(work.leaf.size + 1, dtype=np.int32) * work.elements
        out_start = np.arange(work.leaf.size, dtype=np.int32) * work.n_counts
        return [put(work.conditions), put(work.element_start), put(leaf_start), put(out_start)]

    def count(
        self, work: Kind | AnyLeaves, sent: list[Any], slab: Slab, tiles: list[int] | None, counts: Any
    ) -> None:
        """Add the counts of leaves over the slab's tiles, or some of them."""
        n_tiles = slab.n_tiles if tiles is None else len(tiles)
        if not n_tiles:
            return
        columns = int(slab.planes.shape[1])
        chosen = np.intp(0) if tiles is None else self._cupy.asarray(np.array(tiles, np.int32))
        begin = (slab.planes, slab.mask, chosen, np.int32(n_tiles), np.int32(columns))
        shared = (columns * TABLE + 32) * 4
        if isinstance(work, Kind):
            mode = "pairs" if work.pairs else "singles"
            name = f"{mode}_{work.elements}_{work.seconds}"
            kinds = "\n".join(
                f"KIND({mode}_{work.elements}_{e}, {work.elements}, {e}, {str(work.pairs).lower()})"
                for e in sorted({min(s, work.elements) for s in SECONDS})
            )
            kernel = self._kernel(name, (mode, work.elements), kinds, False, columns)
            blocks, threads, rest = len(work.table), THREADS, (*sent, counts)
        else:
            kernel = self._kernel("general", "always", "", True, columns)
            blocks, threads = -(-work.leaf.size // GENERAL_THREADS), GENERAL_THREADS
            rest = (*sent, np.int32(work.leaf.size), np.int32(work.pairs), counts)
        slices = max(1, min(n_tiles, 65535, -(-8 * self.processors // blocks)))
        kernel((blocks, slices), (threads,), (*begin, *rest), shared_mem=shared)

    def fetched(self, counts: Any) -> Int64:
        return np.asarray(counts.get()).astype(np.int64)
