"""``--on spark|dask|ray``: an engine started on this machine because it was asked for, and stopped with the command."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from icefield.cli.data_files import DataFile
from icefield.cli.missing import MissingCells
from icefield.cli.model_data import InferredColumns, column_types
from icefield.errors import MissingDependencyError
from icefield.rows.distributed import Backend, distributed_source
from icefield.rows.files import FORMATS, paths_of
from icefield.rows.source import first_rows
from icefield.threads import available_processors

NEEDS = {"spark": ("pyspark",), "dask": ("dask.dataframe", "distributed"), "ray": ("ray", "ray.data")}


def data_on(engine: str, model: Any, files: Sequence[str], threads: int | None) -> Backend:
    """The rows of Parquet files as a frame of an engine that lives as long as the command."""
    paths = [path for file in files for path in paths_of(file)]
    unsuitable = [path for path in paths if FORMATS[os.path.splitext(path)[1].lower()] != "parquet"]
    if unsuitable:
        raise click.UsageError(f"--on reads Parquet files only, and {unsuitable[0]} is none. Leave --on out.")
    for name in NEEDS[engine]:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise MissingDependencyError(
                f"--on {engine} needs {name.split('.')[0]}, which is not installed. Hint: pip install 'icefield[{engine}]'."
            ) from error
    # Workers, started from here, import nothing from the working folder.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    open_frame = {"spark": _spark, "dask": _dask, "ray": _ray}[engine]
    source = distributed_source(open_frame(paths, threads or available_processors()))
    if source is None:
        raise RuntimeError(f"what {engine} opened is no frame of a cluster that is known")
    names = source.schema.names
    missing = MissingCells(())
    types = column_types(model, names, InferredColumns(DataFile(first_rows(source, names)), missing))
    if types.levels:
        levels = ", ".join(map(str, list(types.levels)[:5]))
        raise click.UsageError(
            f"MODEL knows levels of {levels}, which DATA would have to hold as a category type on every worker. Leave --on out."
        )
    return source


def _dask(paths: list[str], processes: int) -> Any:
    distributed, frames = importlib.import_module("distributed"), importlib.import_module("dask.dataframe")
    cluster = distributed.LocalCluster(n_workers=processes, threads_per_worker=1, dashboard_address=None)
    click.get_current_context().call_on_close(cluster.close)
    click.get_current_context().call_on_close(distributed.Client(cluster).close)
    return frames.read_parquet(paths)


def _spark(paths: list[str], processes: int) -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = importlib.import_module("pyspark.sql").SparkSession.builder
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.master(f"local[{processes},3]").appName("icefield").getOrCreate()
    click.get_current_context().call_on_close(session.stop)
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(*paths)


def _ray(paths: list[str], processes: int) -> Any:
    ray = importlib.import_module("ray")
    ray.init(num_cpus=processes, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    click.get_current_context().call_on_close(ray.shutdown)
    data = importlib.import_module("ray.data")
    data.DataContext.get_current().enable_progress_bars = False
    # Said to be local, or Ray tries libraries for remote ones in several threads at once.
    local = importlib.import_module("pyarrow.fs").LocalFileSystem()
    return data.read_parquet([os.path.abspath(path) for path in paths], filesystem=local)
