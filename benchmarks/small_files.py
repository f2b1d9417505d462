"""A pass over 2,000 small Parquet files beside pyarrow's own decoding of them: ``python -m benchmarks small_files``.

Files of 500 rows and 20 columns. Processor seconds of one process, the least of several runs: every file decoded by `pyarrow.parquet.read_table`, and a pass
of `icefield` that streams the same files and adds up nothing but their rows.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.timing import store

FILES, ROWS, COLUMNS, REPEATS = 2_000, 500, 20, 3
BLOCK = 65_536  # rows of a block


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder)
        plain, ours = (_least(work, folder) for work in (_decoded, _streamed))
    store(
        "small_files",
        f"A pass over {FILES:,} files of {ROWS} rows and {COLUMNS} columns, processor seconds",
        ["files", "pyarrow, file by file", "a pass, opening included", "times pyarrow (goal: 1.5)"],
        [[f"{FILES:,}", f"{plain:.2f}", f"{ours:.2f}", f"{ours / plain:.2f}"]],
        f"the least of {REPEATS} runs each",
    )


def _write(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for number in range(FILES):
        columns = {f"x{i}": rng.normal(size=ROWS) for i in range(COLUMNS)}
        pq.write_table(pa.table(columns), folder / f"{number:04d}.parquet")


def _least(work: Callable[[Path], int], folder: Path) -> float:
    found = []
    for _ in range(REPEATS):
        begun = time.process_time()
        rows = work(folder)
        found.append(time.process_time() - begun)
        assert rows == FILES * ROWS
    return min(found)


def _decoded(folder: Path) -> int:
    import pyarrow.parquet as pq

    return sum(int(pq.read_table(file).num_rows) for file in sorted(folder.iterdir()))


def _streamed(folder: Path) -> int:
    from icefield.rows.source import Source
    from icefield.rows.sources import source_of

    source = source_of(folder, None)
    assert isinstance(source, Source)
    return sum(batch.num_rows for batch in source.batches(source.schema.names, BLOCK))
