"""XGBoost's own binary form of a model: universal binary JSON, as ``save_raw("ubj")`` gives it.

Every value is a letter for its type and then its bytes, numbers with the highest byte first. What a tree holds for
each node is an array of one type, which numpy takes as it stands: nothing is written as text and read again.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

import numpy as np

NUMBERS = {ord(letter): Struct(f">{code}") for letter, code in zip("iUIlLdD", "bBhiqfd")}
ARRAYS = {letter: np.dtype(form.format) for letter, form in NUMBERS.items()}
CONSTANTS = {ord("Z"): None, ord("T"): True, ord("F"): False}
OBJECT, OBJECT_END, ARRAY, ARRAY_END, TEXT, TYPE, COUNT = (ord(letter) for letter in "{}[]S$#")


class NotBinary(ValueError):
    """Bytes that are not in the form known here."""


def decode(raw: bytes) -> Any:
    """The one value these bytes hold: as `json.loads` gives it, with arrays of one type as numpy's.

    Examples
    --------
    >>> decode(b"{i\\x01ai\\x05i\\x01b[$U#i\\x02\\x07\\x08}")
    {'a': 5, 'b': array([7, 8], dtype=uint8)}
    """
    try:
        value, end = _value(raw, 0)
    except (IndexError, KeyError, ValueError, RecursionError) as error:
        raise NotBinary(f"cannot be read ({error!r})") from error
    if end != len(raw):
        raise NotBinary(f"has {len(raw) - end} bytes after its end")
    return value


def _value(raw: bytes, at: int) -> tuple[Any, int]:
    """The value that begins at a place, and where the next one does."""
    kind = raw[at]
    if kind == OBJECT:
        return _object(raw, at + 1)
    if kind == ARRAY:
        return _array(raw, at + 1)
    if kind == TEXT:
        return _text(raw, at + 1)
    if kind in CONSTANTS:
        return CONSTANTS[kind], at + 1
    return _number(raw, at)


def _number(raw: bytes, at: int) -> tuple[Any, int]:
    form = NUMBERS[raw[at]]
    end = at + 1 + form.size
    return form.unpack(_bytes(raw, at + 1, end))[0], end


def _text(raw: bytes, at: int) -> tuple[str, int]:
    size, at = _size(raw, at)
    return _bytes(raw, at, at + size).decode(), at + size


def _bytes(raw: bytes, start: int, end: int) -> bytes:
    if end > len(raw):
        raise ValueError("it breaks off")
    return raw[start:end]


def _size(raw: bytes, at: int) -> tuple[int, int]:
    size, at = _number(raw, at)
    if not isinstance(size, int) or size < 0:
        raise ValueError(f"a size is {size!r}")
    return size, at


def _object(raw: bytes, at: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while raw[at] != OBJECT_END:
        name, at = _text(raw, at)
        fields[name], at = _value(raw, at)
    return fields, at + 1


def _array(raw: bytes, at: int) -> tuple[Any, int]:
    if raw[at] == TYPE:
        dtype = ARRAYS[raw[at + 1]]
        if raw[at + 2] != COUNT:
            raise ValueError("an array of one type does not say how long it is")
        size, at = _size(raw, at + 3)
        return np.frombuffer(raw, dtype, size, at), at + size * dtype.itemsize
    values: list[Any] = []
    has_count = raw[at] == COUNT
    size, at = _size(raw, at + 1) if has_count else (-1, at)
    while len(values) != size if has_count else raw[at] != ARRAY_END:
        value, at = _value(raw, at)
        values.append(value)
    return values, at if has_count else at + 1
