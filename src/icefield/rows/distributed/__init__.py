"""Rows on a cluster: Spark, Dask and Ray frames, worked on where they lie.

One plan (model, grids, program) goes out, every partition gives back counts and moments, and these merge. The accumulators that
add up a stream's blocks add up a partition's. Frames are recognised by the module of their type: nothing is imported of an engine
that the caller has not imported already.
"""

from __future__ import annotations

from typing import Any

from icefield.rows.distributed.backend import Backend

__all__ = ["Backend", "distributed_source"]


def distributed_source(data: Any) -> Backend | None:
    """The rows of a distributed frame; None for anything else.

    Examples
    --------
    >>> distributed_source([[1.0, 2.0]]) is None
    True
    """
    module, kind = type(data).__module__, type(data).__name__
    if module.startswith("dask.") and kind == "DataFrame":
        from icefield.rows.distributed.dask import DaskOrigin

        return DaskOrigin(data)
    if module.startswith("pyspark.sql") and kind == "DataFrame":
        from icefield.rows.distributed.spark import spark_origin

        return spark_origin(data)
    if module.startswith("ray.data") and kind in ("Dataset", "MaterializedDataset"):
        from icefield.rows.distributed.ray import RayOrigin

        return RayOrigin(data)
    return None
