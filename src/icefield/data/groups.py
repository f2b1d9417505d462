"""Groups and clusters: what ``by=`` and ``cluster=`` mean, as one code per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from icefield.data.columns import ORDERED_KINDS, Column, column_of_array, column_of_series, object_array
from icefield.data.distribution import weighted_quantiles
from icefield.data.features import column_name
from icefield.data.frame import Table
from icefield.errors import InputError, InputTypeError
from icefield.typing import Float, Int64, Positions

FEW = 10  # numbers with more distinct values than this are cut into quartiles


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the rows: ``codes[i]`` is the number of row i's label."""

    name: str
    codes: Positions
    labels: tuple[Any, ...]


def groups_of(by: Any, table: Table, weights: Float | None) -> Groups | None:
    """Read ``by``: a column of X, an array or series with one entry per row, or None."""
    if by is None:
        return None
    column = column_of("by", by, table)
    return _grouped(column, str(column.name), weights)


def clusters_of(cluster: Any, table: Table, parameter: str = "cluster") -> Positions | None:
    """Read ``cluster``, given as ``by`` is: one code per row. A row without a label is a cluster of its own."""
    if cluster is None:
        return None
    column = column_of(parameter, cluster, table)
    if column.kind == "other":
        raise InputTypeError.about(
            parameter, "must hold numbers, text, categories or times", column.values[0]
        )
    codes = column.codes.astype(np.intp)
    codes[column.missing] = len(column.levels) + np.arange(int(column.missing.sum()))
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)


def column_of(parameter: str, given: Any, table: Table) -> Column:
    """A column of the table by its name, or one entry per row that was given itself."""
    if isinstance(given, (bool, float)):
        raise InputTypeError.about(
            parameter, "must be a column name or one entry per row", given, "name a column of X"
        )
    if isinstance(given, (str, int, np.integer, tuple)):
        return table.column(column_name(given, table, parameter))
    named = isinstance(given, list) and given and all(one in table.names for one in given)
    if named and len(given) != table.n_rows:
        raise InputError.about(parameter, "takes one column, and these are names of several" if len(given) > 1 else "takes the name of a column, not a list",
                               given, "join them into one column first" if len(given) > 1 else f"write {parameter}={given[0]!r}")  # fmt: skip
    name = getattr(given, "name", None)
    read = _read(parameter, given, "group" if name in (None, "") else name)
    if len(read.values) != table.n_rows:
        raise InputError.about(parameter, f"must have one entry for each of the {table.n_rows} rows of X", f"{len(read.values)} entries")  # fmt: skip
    return read


def _read(parameter: str, given: Any, name: Any) -> Column:
    import narwhals as nw

    try:
        return column_of_series(name, nw.from_native(given, series_only=True))
    except TypeError:
        pass
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        # As objects: numpy would turn a NaN among strings into the word "nan".
        return column_of_array(name, object_array(list(given)))
    wanted = "must be a column name or one entry per row"
    try:
        array = np.asarray(given)
    except Exception as error:
        raise InputTypeError.about(parameter, wanted, given) from error
    if array.ndim != 1:
        raise InputError.about(parameter, wanted, given, "pass a 1-D array")
    return column_of_array(name, array)


def _grouped(column: Column, name: str, weights: Float | None) -> Groups:
    if column.kind == "other":
        raise InputTypeError.about("by", "must hold numbers, text, categories or times", column.values[0])
    if column.kind in ORDERED_KINDS and len(np.unique(column.values[~column.missing])) > FEW:
        codes, labels = _quartiles(column, name, weights)
    else:
        # Times stay as they are: as Python objects, nanoseconds would be bare integers.
        levels = column.levels
        codes, labels = column.codes.copy(), list(levels) if levels.dtype.kind in "mM" else levels.tolist()
    occurring = np.unique(codes[codes >= 0])
    renumbered = np.full(len(labels) + 1, -1, dtype=np.intp)
    renumbered[occurring] = np.arange(len(occurring))
    codes = renumbered[codes]
    kept = [labels[i] for i in occurring]
    if column.any_missing:
        codes[column.missing] = len(kept)
        kept.append(None)
    if len(kept) > 50:
        raise InputError.about(
            "by", "has too many groups to show", f"{len(kept)} groups", "group rare levels first"
        )
    return Groups(name, codes.astype(np.intp), tuple(kept))


def _quartiles(column: Column, name: str, weights: Float | None) -> tuple[Int64, list[str]]:
    known = ~column.missing
    values = column.values[known]
    own = None if weights is None else weights[known]
    cuts = np.unique(weighted_quantiles(values, np.array([0.25, 0.5, 0.75]), own))
    codes = np.full(len(column.values), -1, dtype=np.int64)
    codes[known] = np.searchsorted(cuts, values, side="left")

    def text(value: Any) -> str:
        return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)

    labels = [f"{name} <= {text(cuts[0])}"]
    labels += [f"{text(a)} < {name} <= {text(b)}" for a, b in pairwise(cuts)]
    labels.append(f"{name} > {text(cuts[-1])}")
    return codes, labels
