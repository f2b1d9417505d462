"""scikit-learn's grids: the values each asked column takes.

A column's distinct values when they are few or categories, otherwise evenly spaced points between
two percentiles (scipy's `mquantiles`, to the last bit), or the values the caller gave.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats.mstats import mquantiles

from icefield.sklearn.arguments import column_of
from icefield.typing import Array


def grid_values(
    X: Any,
    positions: Sequence[int],
    categorical: Sequence[bool],
    percentiles: Any,
    resolution: int,
    custom: Mapping[int, Any],
) -> list[Array]:
    """One array of values per column; `custom` maps the rank of a column in `positions` to its values."""
    _check_placement(percentiles, resolution)
    axes = _custom_axes(custom)
    values = []
    for rank, (position, is_category) in enumerate(zip(positions, categorical)):
        if rank in axes:
            axis = axes[rank]
        else:
            axis = _axis_values(_dense_column(X, position), rank, is_category, percentiles, resolution)
        if len(axis) == 0:
            raise ValueError(
                f"The grid of column {position} is empty: X has no rows, or no values were given."
            )
        values.append(axis)
    return values


def _dense_column(X: Any, position: int) -> Any:
    column = column_of(X, position)
    if not hasattr(column, "toarray"):
        return column
    warnings.warn(
        f"scikit-learn takes a sparse column for one value and gives a grid of a single point. Column {position} "
        "is read as numbers here, so the result differs from scikit-learn's. Hint: custom_values gives both "
        "the same grid.",
        UserWarning,
        stacklevel=5,
    )
    return column.toarray().ravel()


def _check_placement(percentiles: Any, resolution: int) -> None:
    if not isinstance(percentiles, Iterable) or len(tuple(percentiles)) != 2:
        raise ValueError(f"'percentiles' must be a sequence of 2 elements, got {percentiles!r}.")
    low, high = percentiles
    if not (0 <= low <= 1 and 0 <= high <= 1):
        raise ValueError(f"'percentiles' values must be in [0, 1], got {percentiles!r}.")
    if low >= high:
        raise ValueError(f"percentiles[0] must be strictly less than percentiles[1], got {percentiles!r}.")
    if resolution <= 1:
        raise ValueError(f"'grid_resolution' must be strictly greater than 1, got {resolution}.")


def _custom_axes(custom: Mapping[int, Any]) -> dict[int, Array]:
    axes = {}
    for rank, values in custom.items():
        # numpy would cut strings to a common width.
        axes[rank] = np.asarray(values, dtype=object if any(isinstance(v, str) for v in values) else None)
    problems = [f"Feature {rank}: {v.ndim} dimensions" for rank, v in axes.items() if v.ndim != 1]
    if problems:
        raise ValueError(
            "The custom grid for some features is not a one-dimensional array. " + ", ".join(problems)
        )
    return axes


def _axis_values(
    column: Any, rank: int, is_category: bool, percentiles: tuple[float, float], resolution: int
) -> Array:
    try:
        distinct = np.unique(column)
    except TypeError as error:
        raise ValueError(
            f"The column #{rank} contains mixed data types, such as strings with missing values, which "
            "cannot be sorted. Hint: fill the missing values with a category of their own, or use "
            "icefield.Explainer, which shows them as a point of the grid."
        ) from error
    if is_category or len(distinct) < resolution:
        return distinct
    low, high = mquantiles(column, prob=percentiles, axis=0)
    if np.allclose(low, high):
        raise ValueError(
            "percentiles are too close to each other, unable to build the grid. Please choose "
            "percentiles that are further apart. Hint: icefield.Explainer places such a grid on the "
            "distinct values."
        )
    return np.linspace(low, high, num=resolution, endpoint=True)
