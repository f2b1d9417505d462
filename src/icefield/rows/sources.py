"""Rows beyond memory are recognised here.

`source_of` knows what is too large, or too lazy, to be a table: paths, datasets, lazy frames, relations,
factories of readers, and distributed frames. Whatever is lazy and cannot be taken gets an error that says how to hand it over.
"""

from __future__ import annotations

import os
from typing import Any

from icefield.errors import InputTypeError, complaint
from icefield.rows.files import files_of, of_dataset
from icefield.rows.lazy_frames import DuckDBSource, PolarsSource, ReaderSource
from icefield.rows.source import Origin, Source

HAND_OVER = {
    "dask": "pass a dask.dataframe.DataFrame, or write Parquet and pass the folder",
    "pyspark": "pass a pyspark.sql.DataFrame, or write Parquet and pass the folder",
    "ray": "pass a ray.data.Dataset, or write Parquet and pass the folder",
    "ibis": "pass a function that opens its reader, X=lambda: table.to_pyarrow_batches()",
    "sqlframe": "write it once as Parquet and pass the folder",
}


DISTRIBUTED = ("dask", "pyspark", "ray")


def source_of(data: Any) -> Origin | None:
    """The source a user means; None where the data is no source but a table.

    Examples
    --------
    >>> source_of([[1.0, 2.0]]) is None
    True
    """
    if isinstance(data, Origin):
        return data
    if isinstance(data, (str, os.PathLike)):
        return files_of(os.fspath(data))
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
        return files_of(*map(os.fspath, data))
    module = type(data).__module__.split(".")[0].lstrip("_")
    if module == "pyarrow":
        return _of_arrow(data)
    if module == "polars" and type(data).__name__ == "LazyFrame":
        return PolarsSource("the polars LazyFrame", data)
    if module == "duckdb" and type(data).__name__ == "DuckDBPyRelation":
        return DuckDBSource("the DuckDB relation", data)
    if module == "narwhals" and type(data).__name__ == "LazyFrame":
        return source_of(data.to_native())
    if module in DISTRIBUTED:
        from icefield.rows.distributed import distributed_source

        found = distributed_source(data)
        if found is not None:
            return found
    if module in HAND_OVER:
        raise InputTypeError(
            complaint("X", "is lazy in a way that cannot be streamed", data, HAND_OVER[module])
        )
    if callable(data) and not hasattr(data, "__array__") and not hasattr(data, "columns"):
        return ReaderSource(f"the reader of {getattr(data, '__name__', type(data).__name__)}", data)
    if hasattr(data, "__next__") or type(data).__name__ == "DuckDBPyConnection":
        raise InputTypeError(
            complaint("X", "can be read only once, and rows are read several times", data,
                      "pass a function that begins anew, X=lambda: pyarrow.RecordBatchReader.from_batches(schema, rows())")
        )  # fmt: skip
    return None


def _of_arrow(data: Any) -> Source | None:
    kind = type(data).__name__
    if kind.endswith("Dataset"):
        return of_dataset(data)
    if kind in ("RecordBatchReader", "Scanner"):
        raise InputTypeError(
            complaint("X", "can be read only once, and rows are read several times", data,
                      "pass a function that opens it, X=lambda: dataset.scanner().to_reader()")
        )  # fmt: skip
    return None
