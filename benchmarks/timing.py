"""Shared by the benchmarks: medians, peak memory in a child, and tables of ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def median_both(work: Callable[[], Any], repeats: int = 5, warm: int = 1) -> tuple[float, float]:
    """The median time of several runs, after a few that do not count: on the clock, and of all processors."""
    for _ in range(warm):
        work()
    clock, processors = [], []
    for _ in range(repeats):
        began, worked = time.perf_counter(), time.process_time()
        work()
        clock.append(time.perf_counter() - began)
        processors.append(time.process_time() - worked)
    return statistics.median(clock), statistics.median(processors)


def median_seconds(work: Callable[[], Any], repeats: int = 5, warm: int = 1) -> float:
    """The median time of several runs on the clock, after a few that do not count."""
    return median_both(work, repeats, warm)[0]


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A plain aligned table; numbers to three digits."""
    texts = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in texts)) if texts else len(h) for i, h in enumerate(header)]
    print(f"\n{title}")
    print("  ".join(h.ljust(w) for h, w in zip(header, widths)))
    for row in texts:
        print("  ".join(t.ljust(w) for t, w in zip(row, widths)), flush=True)
