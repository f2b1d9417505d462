"""Rows beyond memory are recognised here.

`source_of` knows what is too large, or too lazy, to be a table: paths and URLs, datasets, Delta and Iceberg tables, lazy
frames, relations, factories of readers, and distributed frames. Whatever is lazy and cannot be taken gets an error that says how to hand it over.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from icefield.errors import InputError, InputTypeError
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


def source_of(data: Any, storage_options: Mapping[str, Any] | None = None) -> Origin | None:
    """The source a user means; None where the data is no source but a table.

    `storage_options` say how the store of a URL is reached; they are for paths and URLs alone.

    Examples
    --------
    >>> source_of([[1.0, 2.0]]) is None
    True
    """
    if isinstance(data, Origin):
        return data
    paths = data if isinstance(data, (list, tuple)) else [data]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return source_at([os.fspath(path) for path in paths], storage_options)
    if storage_options is not None:
        # What they hold is not shown.
        raise InputError.about("storage_options", f"are for a path or a URL, and X is a {type(data).__name__}", hint="leave them out")  # fmt: skip
    module = type(data).__module__.split(".")[0].lstrip("_")
    if module == "pyarrow":
        return _of_arrow(data)
    if module == "polars" and type(data).__name__ == "LazyFrame":
        return PolarsSource("the polars LazyFrame", data)
    if module == "duckdb" and type(data).__name__ == "DuckDBPyRelation":
        return DuckDBSource("the DuckDB relation", data)
    if module == "deltalake" and type(data).__name__ == "DeltaTable":
        from icefield.rows.table_formats import of_delta

        return of_delta(data)
    if module == "pyiceberg":
        from icefield.rows.table_formats import of_iceberg

        return of_iceberg(data)
    if module == "narwhals" and type(data).__name__ == "LazyFrame":
        return source_of(data.to_native())
    if module in DISTRIBUTED:
        from icefield.rows.distributed import distributed_source

        source = distributed_source(data)
        if source is not None:
            return source
    if module in HAND_OVER:
        raise InputTypeError.about("X", "is lazy in a way that cannot be streamed", data, HAND_OVER[module])
    if callable(data) and not hasattr(data, "__array__") and not hasattr(data, "columns"):
        return ReaderSource(f"the reader of {getattr(data, '__name__', type(data).__name__)}", data)
    if hasattr(data, "__next__") or type(data).__name__ == "DuckDBPyConnection":
        raise InputTypeError.about("X", "can be read only once, and rows are read several times", data,
                                   "pass a function that starts a new reader, X=lambda: pyarrow.RecordBatchReader.from_batches(schema, rows())")  # fmt: skip
    return None


def source_at(
    texts: Sequence[str], storage_options: Mapping[str, Any] | None, missing: Sequence[str] = ()
) -> Source:
    """The files or the table that paths or URLs name; `missing` are texts that stand for no value in CSV."""
    table = None
    if len(texts) == 1:
        from icefield.rows.table_formats import table_at

        table = table_at(texts[0], storage_options)
    return files_of(*texts, missing=missing, storage_options=storage_options) if table is None else table


def _of_arrow(data: Any) -> Source | None:
    kind = type(data).__name__
    if kind.endswith("Dataset"):
        return of_dataset(data)
    if kind in ("RecordBatchReader", "Scanner"):
        raise InputTypeError.about("X", "can be read only once, and rows are read several times", data,
                                   "pass a function that opens it, X=lambda: dataset.scanner().to_reader()")  # fmt: skip
    return None
