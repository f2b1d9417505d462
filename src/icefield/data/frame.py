"""Any supported data as a `Table`: the door through which every frame comes in.

`table_of` takes what a caller has, in whatever library, and says what to do about what it cannot take.
What the rest of the library needs of tables and columns is imported from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icefield.data.columns import (
    NUMERIC_KINDS,
    ORDERED_KINDS,
    TIME_KINDS,
    Column,
    is_missing_value,
    library_named,
    object_array,
)
from icefield.data.frame_table import FrameTable
from icefield.data.matrix_tables import ArrayTable, SparseTable, columns_at
from icefield.data.plain_storage import plain_array, plain_arrow_table, plain_pandas_frame
from icefield.data.table import Table, same_name_error
from icefield.errors import InputError, InputTypeError
from icefield.typing import Array

__all__ = [
    "NUMERIC_KINDS",
    "ORDERED_KINDS",
    "TIME_KINDS",
    "ArrayTable",
    "Column",
    "FrameTable",
    "SparseTable",
    "Table",
    "columns_at",
    "is_missing_value",
    "object_array",
    "table_of",
]


def table_of(data: Any, parameter: str = "X") -> Table:
    """Wrap any supported data as a `Table`.

    Examples
    --------
    >>> table_of(np.zeros((3, 2))).names
    (0, 1)
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, np.ndarray):
        return _array_table(data, parameter)
    if type(data).__module__.split(".")[0] == "scipy" and hasattr(data, "tocsr"):
        return _sparse_table(data, parameter)
    import narwhals as nw

    try:
        frame = nw.from_native(data, eager_only=True, allow_series=False)
    except nw.exceptions.DuplicateError as error:
        raise same_name_error(list(getattr(data, "column_names", data.columns)), parameter) from error
    except TypeError:
        return _table_of_other(data, parameter)
    library = frame.implementation.value
    if library not in ("pandas", "polars", "pyarrow"):
        return table_of(frame.to_arrow(), parameter)
    native = frame.to_native()
    if library == "pyarrow":
        native = plain_arrow_table(native)
    elif library == "pandas":
        native = plain_pandas_frame(native)
    return FrameTable(native, library, parameter)


def _table_of_other(data: Any, parameter: str) -> Table:
    if type(data).__module__.startswith("pyarrow") and type(data).__name__ == "RecordBatch":
        return table_of(library_named("pyarrow").Table.from_batches([data]), parameter)
    if isinstance(data, (list, tuple)) and len(data) and isinstance(data[0], (list, tuple, np.ndarray)):
        return _array_table(_matrix_of_rows(data, parameter), parameter)
    hint = "pass a pandas or polars DataFrame, a pyarrow Table or a 2-D numpy array"
    if hasattr(data, "collect"):
        hint = "call .collect() first: a lazy frame has no rows yet"
    elif hasattr(data, "compute"):
        hint = "call .compute() first: a lazy frame has no rows yet"
    elif hasattr(data, "to_frame"):
        hint = "a single column is not a table of features: pass a data frame"
    elif isinstance(data, Mapping):
        hint = "turn the mapping into a frame, for example pandas.DataFrame(X)"
    raise InputTypeError.about(parameter, "must be a table of rows and columns", data, hint)


def _matrix_of_rows(rows: Sequence[Any], parameter: str) -> Array:
    if len({len(row) for row in rows}) > 1:
        raise InputError.about(parameter, "must have rows of equal length", rows)
    cells = [value for row in rows for value in row]
    # Numbers beside text would all be turned to text.
    mixed = any(isinstance(v, str) for v in cells) and not all(isinstance(v, str) for v in cells)
    return np.array(rows, dtype=object if mixed else None)


def _array_table(data: Array, parameter: str) -> Table:
    if isinstance(data, np.ma.MaskedArray):
        raise InputTypeError.about(parameter, "is a masked array, whose mask models do not see", f"an array of shape {data.shape}",
                                   "write X.filled(numpy.nan)")  # fmt: skip
    if data.dtype.names:
        return _table_of_fields(data, parameter)
    if data.ndim != 2:
        raise _not_two_dimensions(data, parameter)
    return ArrayTable(plain_array(np.asarray(data)))


def _not_two_dimensions(data: Any, parameter: str) -> InputError:
    return InputError.about(parameter, "must have two dimensions (rows, columns)", f"an array of shape {data.shape}",
                            "reshape one row with X.reshape(1, -1), one column with X.reshape(-1, 1)")  # fmt: skip


def _sparse_table(data: Any, parameter: str) -> SparseTable:
    if data.ndim != 2:
        raise _not_two_dimensions(data, parameter)
    matrix = data.tocsr()
    return SparseTable(matrix if matrix.dtype.isnative else matrix.astype(matrix.dtype.newbyteorder("=")))


def _table_of_fields(data: Array, parameter: str) -> Table:
    """A structured array: columns of their own types have no 2-D form, and a frame keeps integers integers."""
    if data.ndim != 1:
        raise InputError.about(parameter, "is a structured array, each entry of which is a row already, and so must have one dimension",
                               f"an array of shape {data.shape}", "write X.ravel()")  # fmt: skip
    for name in data.dtype.names or ():
        if data[name].ndim != 1 or data[name].dtype.names:
            raise InputError.about(parameter, f"must hold one value per row in the field {name!r}", str(data.dtype[name]),
                                   "make its parts fields of their own")  # fmt: skip
    columns = {name: plain_array(data[name]) for name in data.dtype.names or ()}
    from icefield.data.new_frames import frame_of

    return table_of(frame_of(columns, "numpy"), parameter)
