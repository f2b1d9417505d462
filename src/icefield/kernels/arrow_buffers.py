"""Whole numbers of a column that speaks Arrow's C interface, from where they lie in memory: no library copies or converts them.

Its structures are runs of words of 64 bits, which `WORDS` counts: https://arrow.apache.org/docs/format/CDataInterface.html.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from icefield.typing import Array, Mask

DTYPES = dict(zip("cCsSiIlL", map(np.dtype, ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"))))
WORDS = {"ArrowArrayStream": 5, "ArrowSchema": 9, "ArrowArray": 10}

_Words = ctypes.Array[ctypes.c_int64]
_capsule_place = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def whole_numbers(column: Any) -> tuple[Array, Mask]:
    """Numbers, or the codes of levels, as a copy; and which are missing, whose numbers mean nothing."""
    capsule = column.__arrow_c_stream__()  # which gives the stream back when it goes
    place = _capsule_place(capsule, b"arrow_array_stream")
    get_schema, get_next, *_ = (ctypes.c_int64 * WORDS["ArrowArrayStream"]).from_address(place)
    schema = _filled(get_schema, place, "ArrowSchema")
    kind = ctypes.string_at(schema[0]).decode()
    _release(schema[7])(ctypes.addressof(schema))
    numbers, missing = [np.zeros(0, DTYPES[kind])], [np.zeros(0, bool)]
    while (chunk := _filled(get_next, place, "ArrowArray"))[8]:
        size, gaps, start, *_ = chunk
        if size:
            known, held = (ctypes.c_int64 * 2).from_address(chunk[5])
            numbers.append(_view(held, start + size, DTYPES[kind])[start:].copy())
            bits = np.ones(start + size, np.uint8)
            if gaps and known:
                bits = np.unpackbits(
                    _view(known, -(-len(bits) // 8), np.dtype("u1")), count=len(bits), bitorder="little"
                )
            missing.append(bits[start:] == 0)
        _release(chunk[8])(ctypes.addressof(chunk))
    return np.concatenate(numbers), np.concatenate(missing)


def _filled(get: int, stream: int, name: str) -> _Words:
    """A structure as a stream's function fills it."""
    found = (ctypes.c_int64 * WORDS[name])()
    if status := _get(get)(stream, ctypes.addressof(found)):
        raise OSError(status, "a column could not be read through Arrow's C interface")
    return found


def _view(place: int, size: int, dtype: np.dtype[Any]) -> Array:
    """So many numbers where they lie."""
    memory: Any = (ctypes.c_uint8 * (size * dtype.itemsize)).from_address(place)
    return np.frombuffer(memory, dtype)
