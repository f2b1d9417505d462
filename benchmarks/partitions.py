"""Many partitions: 2,000 through every effect on local engines, and 10,000 real outcomes merged level by level in this process.

The second is what a driver would hold if it merged alone: outcomes of 60 columns and 100 trees (of small partitions of random rows, made by the
code that workers run) are made one after another, merged 16 at a time and condensed, level by level, no more than 16 of a level at once. Printed are
their sizes, the seconds of merging and the peak of what this process held beyond what it began with.

``.venv-cluster/bin/python -m benchmarks partitions [merge|dask|spark|ray ...]``; ``ICEFIELD_PARTITIONS=200`` and ``ICEFIELD_OUTCOMES=1000`` for less.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import resource
import sys
import time
from typing import Any

import numpy as np

from benchmarks.timing import store

COLUMNS, TREES, ROWS = 60, 100, 600
DISTINCT = (
    100  # partitions that are worked on; outcomes beyond these are of the same rows under other numbers
)
NEEDS = {"dask": "distributed", "spark": "pyspark", "ray": "ray"}


def main() -> None:
    asked = [name for name in sys.argv[2:] if name in ("merge", *NEEDS)] or ["merge", *NEEDS]
    if "merge" in asked:
        merging(int(os.environ.get("ICEFIELD_OUTCOMES", "10000")))
    for engine in (name for name in NEEDS if name in asked):
        if importlib.util.find_spec(NEEDS[engine]) is None:
            print(f"{engine} is left out: {NEEDS[engine]} is not installed")
            continue
        parts = int(os.environ.get("ICEFIELD_PARTITIONS", "2000"))
        store(
            "partitions",
            "Every effect of 20 columns and 100 trees, partitions of 600 rows, two workers",
            ["engine", "partitions", "seconds"],
            [[engine, f"{parts:,}", f"{effects(engine, parts):.0f}"]],
            "an engine that had answered a question before",
            keys=2,
        )


def model_and_rows(n_rows: int, columns: int) -> tuple[Any, Any]:
    import lightgbm as lgb
    import pandas as pd

    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(n_rows, columns)), columns=[f"x{i}" for i in range(columns)])
    sample = rows[:5_000]
    model = lgb.LGBMRegressor(n_estimators=TREES, verbose=-1, n_jobs=1).fit(
        sample, sample.sum(axis=1) + rng.normal(size=len(sample))
    )
    return model, rows


# --- merging -------------------------------------------------------------------------------------------------


def merging(n_outcomes: int) -> None:
    """The first pass's outcomes merged as clusters merge them, in this process."""
    import pyarrow as pa

    from icefield import Explainer
    from icefield.rows.distributed import worker
    from icefield.rows.distributed.backend import FAN_IN, Backend, Census
    from icefield.rows.distributed.partition_result import Outcome

    model, rows = model_and_rows(DISTINCT * ROWS, COLUMNS)
    whole = pa.Table.from_pandas(rows, preserve_index=False)
    found: dict[str, Any] = {}

    class Parts(Backend):
        """The same rows again and again, as so many partitions."""

        label = "the parts"

        @property
        def schema(self) -> Any:
            return whole.schema.remove_metadata()

        def first(self, columns: Any, rows: int) -> Any:
            return whole.select(list(columns)).slice(0, rows)

        def dumps(self, thing: Any) -> bytes:
            return pickle.dumps(thing)

        def census(self, columns: Any, listed: Any) -> Census:
            return Census((ROWS,) * n_outcomes, ROWS * n_outcomes)

        def outcomes(self, model: Any, task: Any, columns: Any, all_columns: Any, progress: Any) -> Any:
            ways = model.way, task.way
            base, seconds, sizes = _held(), 0.0, []
            levels: list[list[Outcome]] = [[]]

            def push(level: int, one: Outcome) -> None:
                nonlocal seconds
                if level == len(levels):
                    levels.append([])
                levels[level].append(one)
                if len(levels[level]) == FAN_IN:
                    begun = time.process_time()
                    merged = worker.merge_on_worker(*ways, levels[level])
                    sizes.append((level + 1, len(merged.to_bytes())))
                    seconds += time.process_time() - begun
                    levels[level] = []
                    push(level + 1, merged)

            first = 0
            for number in range(n_outcomes):
                part = whole.slice((number % DISTINCT) * ROWS, ROWS)
                packed = worker.run_partition(*ways, number, part.to_batches()).to_bytes()
                first = max(first, len(packed))
                push(0, Outcome.from_bytes(packed))
            found.update(first=first, sizes=sizes, seconds=seconds, peak=_held() - base)
            return [one for level in levels for one in level]

    Explainer(model, Parts()).effects()
    largest: dict[int, int] = {}
    for level, size in found["sizes"]:
        largest[level] = max(largest.get(level, 0), size)
    sizes = [f"{found['first'] / 1e6:.2f}", ", ".join(f"{size / 1e6:.2f}" for size in largest.values())]
    store(
        "merging",
        f"Outcomes of {COLUMNS} columns and {TREES} trees, made and merged {FAN_IN} at a time in one process",
        ["outcomes", "largest of a partition, MB", "after each level, MB", "merging, processor seconds", "peak grew by, MiB (goal: 300)"],
        [[f"{n_outcomes:,}", *sizes, f"{found['seconds']:.0f}", f"{found['peak'] / 2**20:.0f}"]],
        f"partitions of {ROWS} rows",
    )  # fmt: skip


def _held() -> int:
    """The most that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- engines -------------------------------------------------------------------------------------------------


def effects(engine: str, parts: int) -> float:
    """Seconds of every effect on an engine of two workers that has answered a question before."""
    from icefield import Explainer

    model, rows = model_and_rows(parts * ROWS, 20)
    few, many = _frames(engine, rows, parts)
    Explainer(model, few).effects()
    begun = time.monotonic()
    Explainer(model, many).effects()
    return time.monotonic() - begun


def _frames(engine: str, rows: Any, parts: int) -> tuple[Any, Any]:
    """The first partition's rows alone, and all of them in so many partitions."""
    if engine == "dask":
        import dask.dataframe
        from distributed import Client

        Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
        return dask.dataframe.from_pandas(rows[:ROWS], npartitions=1), dask.dataframe.from_pandas(
            rows, npartitions=parts
        )
    if engine == "ray":
        import ray

        ray.init(num_cpus=2, object_store_memory=2**30, include_dashboard=False, log_to_driver=False)
        cut = [rows[at * ROWS : (at + 1) * ROWS] for at in range(parts)]
        return ray.data.from_pandas(cut[:1]), ray.data.from_pandas(cut)
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    whole = spark.createDataFrame(rows).repartition(parts).cache()
    whole.count()
    return spark.createDataFrame(rows[:ROWS]), whole
