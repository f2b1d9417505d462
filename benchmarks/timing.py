"""Shared by the benchmarks: medians, peak memory in a child, and tables of ratios."""

from __future__ import annotations

import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
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


def store(
    name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], note: str, keys: int = 1
) -> None:
    """Print a table and keep it in docs/measured, which pages show: rows of this run in place of the same ones before.

    Parameters
    ----------
    name : of the file
    title, header, rows : of the table, values as they are to be shown
    note : what the figures are of; the load of the machine, as it is at the end, and its cores are added
    keys : how many of a row's first values say which row it is
    """
    path = Path(__file__).parent.parent / "docs" / "measured" / f"{name}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    today = dt.date.today().isoformat()
    texts = [[*(str(value) for value in row), today] for row in rows]  # a run may be of some rows only
    kept = {tuple(row[:keys]): row for row in [*before, *texts]}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout
    table: dict[str, Any] = {
        "title": title,
        "date": today,
        "commit": commit.strip(),
        "command": f"python -m benchmarks {' '.join(sys.argv[1:]) or name}",
        "note": f"{note}; {os.cpu_count()} cores, load average {os.getloadavg()[1]:.0f} over five minutes",
        "columns": [*header, "on"],
        "rows": list(kept.values()),
    }
    path.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print_table(title, table["columns"], table["rows"])
