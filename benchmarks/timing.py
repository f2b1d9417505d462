"""Shared by the benchmarks: medians, peak memory in a child, and tables of ratios."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def median_seconds(work: Callable[[], Any], repeats: int = 5, warm: int = 1) -> float:
    """The median time of several runs, after a few that do not count."""
    for _ in range(warm):
        work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A plain aligned table; numbers to three digits."""
    texts = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in texts)) if texts else len(h) for i, h in enumerate(header)]
    print(f"\n{title}")
    print("  ".join(h.ljust(w) for h, w in zip(header, widths)))
    for row in texts:
        print("  ".join(t.ljust(w) for t, w in zip(row, widths)), flush=True)
