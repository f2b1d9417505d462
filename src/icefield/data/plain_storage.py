"""Frames whose columns are stored in ways their own libraries cannot work with, in plain ways.

Arrow allows dictionaries that list a value twice or hold a null, run-end encoding and string views, and numpy allows the
other byte order. Each is legal, and in each a library somewhere refuses, or takes one level for its neighbour. They
are rewritten once, where frames come in: same values, same rows, a storage that repeating, taking and replacing
rows understand. The caller's own frame is left as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.data.columns import clean_dictionary, is_missing_value, library_named
from icefield.typing import Array


def plain_array(values: Array) -> Array:
    """An array in the machine's own byte order."""
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def plain_arrow_table(table: Any) -> Any:
    """A pyarrow table of columns that can be taken, repeated and compared."""
    for at, field in enumerate(table.schema):
        if _is_odd(field.type):
            column = table.column(at)
            plain = _plain(column)
            if plain is not column:
                table = table.set_column(at, field.name, plain)
    return table


def plain_pandas_frame(frame: Any) -> Any:
    """A pandas frame of columns that can be taken, repeated and compared."""
    changed = {}
    for at, dtype in enumerate(frame.dtypes.array):
        kind = getattr(dtype, "pyarrow_dtype", None)
        if kind is not None and _is_odd(kind):
            column = frame.iloc[:, at].array.__arrow_array__()
            plain = _plain(column)
            if plain is not column:
                changed[at] = library_named("pandas").arrays.ArrowExtensionArray(plain)
        elif isinstance(dtype, np.dtype) and not dtype.isnative:
            changed[at] = plain_array(frame.iloc[:, at].to_numpy())
    if not changed:
        return frame
    pandas, out = library_named("pandas"), frame.copy(deep=False)
    for at, values in changed.items():
        out.isetitem(at, pandas.Series(values, index=out.index))
    return out


def _is_odd(kind: Any) -> bool:
    types = library_named("pyarrow").types
    return bool(
        types.is_dictionary(kind)
        or types.is_run_end_encoded(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
    )


def _plain(column: Any) -> Any:
    """One arrow column in a plain storage; itself where there is nothing to do."""
    arrow = library_named("pyarrow")
    chunks = column if isinstance(column, arrow.ChunkedArray) else arrow.chunked_array([column])
    kind = chunks.type
    if arrow.types.is_run_end_encoded(kind):
        decode = library_named("pyarrow.compute").run_end_decode
        decoded = [decode(chunk) for chunk in chunks.chunks]
        plain = arrow.chunked_array(decoded, type=kind.value_type)
        return _plain(plain) if _is_odd(kind.value_type) else plain
    if arrow.types.is_string_view(kind):
        return chunks.cast(arrow.large_string())
    if arrow.types.is_binary_view(kind):
        return chunks.cast(arrow.large_binary())
    if any(_lists_strangely(chunk.dictionary) for chunk in chunks.chunks):
        return arrow.chunked_array([clean_dictionary(chunks)])
    return column


def _lists_strangely(dictionary: Any) -> bool:
    """Whether a dictionary names a level twice, or holds a missing value."""
    if dictionary.null_count:
        return True
    levels = dictionary.to_pylist()
    try:
        return len(set(levels)) < len(levels) or any(is_missing_value(level) for level in levels)
    except TypeError:  # levels that cannot be compared make no categories; the column is refused by its kind
        return False
