"""Beyond one machine: what Dask, Spark and Ray cost against the plain stream, and against explode-and-predict on the same engine.

On this machine, with one worker and with two: every feature's exact partial dependence over the same Parquet files
(`Explainer(model, frame).effects()`). Engines are started and have answered a small question before the clock starts. What is
done elsewhere, every row repeated for every grid point and predicted, runs on a sample of the rows; its time for all of
them is extrapolated, and said to be.

Sizes: ``ICEFIELD_CLUSTERS=5 python -m benchmarks clusters`` is five million rows; the default is two. An engine that is not
installed is left out, and ``python -m benchmarks clusters dask`` measures one of them (``make test-cluster`` makes an environment that has all: ``.venv-cluster/bin/python -m benchmarks clusters``).
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.scale import NAMES, ROWS_A_FILE, fitted, rows
from benchmarks.timing import store

EXPLODED = 4_000  # rows that are repeated for every grid point
POINTS = 20  # of every feature's grid
LIBRARIES = {"dask": "dask", "pyspark": "pyspark", "ray": "ray"}
NEEDS = {"stream": "pyarrow", "dask": "distributed", "spark": "pyspark", "ray": "ray"}


def main() -> None:
    millions = int(os.environ.get("ICEFIELD_CLUSTERS", "2"))
    asked = [name for name in sys.argv[2:] if name in NEEDS] or list(NEEDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = fitted(folder)
        _write(folder / "rows", millions)
        _write(folder / "few", 1, EXPLODED)
        for engine in asked:
            if importlib.util.find_spec(NEEDS[engine]) is None:
                print(f"{engine} is left out: {NEEDS[engine]} is not installed")
                continue
            for workers in (1, 2):
                own = _measured(engine, workers, folder, model)
                seconds, repeated = (
                    own["seconds"],
                    own.get("exploded", 0.0) * millions * ROWS_A_FILE / EXPLODED,
                )
                store(
                    "clusters",
                    f"All {len(NAMES)} features of {millions} million rows, {POINTS} points each",
                    ["engine", "workers", "seconds", "rows a second", f"explode-and-predict, extrapolated from {EXPLODED:,} rows", "times ours"],
                    [[engine, workers, f"{seconds:.1f}", f"{millions * ROWS_A_FILE / seconds:,.0f}",
                      f"{repeated:,.0f} s" if repeated else "", f"{repeated / seconds:,.0f}" if repeated else ""]],
                    f"100 trees, Parquet; {', '.join(f'{n} {version(p)}' for n, p in LIBRARIES.items() if importlib.util.find_spec(n))}",
                    keys=2,
                )  # fmt: skip


def _write(folder: Path, files: int, most: int = ROWS_A_FILE) -> None:
    import pyarrow.parquet as pq

    folder.mkdir()
    for number in range(files):
        pq.write_table(rows(number).slice(0, most), folder / f"{number:03d}.parquet", row_group_size=125_000)


def _measured(engine: str, workers: int, folder: Path, model: Path) -> dict[str, float]:
    """One engine with so many workers, in a process of its own."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.clusters",
        engine,
        str(workers),
        str(folder),
        str(model),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def piece(engine: str, workers: int, folder: Path, path: Path) -> None:
    import lightgbm as lgb

    from icefield import Explainer, Grid

    model = lgb.Booster(model_file=str(path))
    opened = {"stream": _stream, "dask": _dask, "spark": _spark, "ray": _ray}[engine](workers)
    Explainer(model, opened(folder / "few"), threads=workers).effects(grid=Grid("quantile", POINTS))
    began = time.perf_counter()
    Explainer(model, opened(folder / "rows"), threads=workers).effects(grid=Grid("quantile", POINTS))
    found = {"seconds": time.perf_counter() - began}
    if engine != "stream":
        exploded = _Exploded(path.read_text())
        began = time.perf_counter()
        {"dask": _dask_exploded, "spark": _spark_exploded, "ray": _ray_exploded}[engine](
            opened(folder / "few"), exploded, workers
        )
        found["exploded"] = time.perf_counter() - began
    print(json.dumps(found), flush=True)
    os._exit(0)  # engines take their time to end


# --- the engines, on this machine -----------------------------------------------------------------------------


def _stream(workers: int) -> Any:
    return lambda folder: folder


def _dask(workers: int) -> Any:
    import dask.dataframe as dd
    import distributed

    distributed.Client(
        distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    )
    return lambda folder: dd.read_parquet(folder)


def _spark(workers: int) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers}]").config("spark.driver.memory", "2g")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    return lambda folder: session.read.parquet(str(folder))


def _ray(workers: int) -> Any:
    import ray

    ray.init(num_cpus=workers, object_store_memory=2 * 2**30, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return lambda folder: ray.data.read_parquet(str(folder))


# --- what is done elsewhere -----------------------------------------------------------------------------------


class _Exploded:
    """Every row once for every point of every feature, predicted; sums of the predictions by feature and point."""

    def __init__(self, model: str) -> None:
        self.model = model

    def __call__(self, frame: Any) -> Any:
        import lightgbm as lgb
        import numpy as np
        import pandas as pd

        model, sums = lgb.Booster(model_str=self.model), []
        for name in NAMES:
            repeated = frame.loc[frame.index.repeat(POINTS)]
            grid = np.tile(np.linspace(-2.0, 2.0, POINTS), len(frame))
            predicted = model.predict(repeated.assign(**{name: grid})[NAMES], num_threads=1)
            sums.append(predicted.reshape(-1, POINTS).sum(axis=0))
        return pd.DataFrame({"sums": np.concatenate(sums)})


def _dask_exploded(frame: Any, exploded: _Exploded, workers: int) -> None:
    import pandas as pd

    frame.repartition(npartitions=workers).map_partitions(
        exploded, meta=pd.DataFrame({"sums": [0.0]})
    ).compute()


def _spark_exploded(frame: Any, exploded: _Exploded, workers: int) -> None:
    frame.repartition(workers).mapInPandas(lambda parts: map(exploded, parts), "sums double").toPandas()


def _ray_exploded(frame: Any, exploded: _Exploded, workers: int) -> None:
    def work(part: Any) -> Any:
        return exploded(part.to_pandas())

    frame.repartition(workers).map_batches(work, batch_format="pyarrow", batch_size=None).to_pandas()


if __name__ == "__main__":
    piece(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
