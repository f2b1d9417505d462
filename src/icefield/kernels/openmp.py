"""The OpenMP that another library brings: how many threads it wakes for the thread that asks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import NamedTuple


class ThreadNumber(NamedTuple):
    """The calling thread's own number of OpenMP threads: no other thread notices a change."""

    get: Callable[[], int]
    put: Callable[[int], None]


@cache
def thread_number(path: str) -> ThreadNumber | None:
    """That of the OpenMP which an extension module is linked to; None where it is linked to none."""
    try:
        library = ctypes.CDLL(path)
        get, put = library.omp_get_max_threads, library.omp_set_num_threads
    except (OSError, AttributeError):
        return None
    get.restype, get.argtypes, put.restype, put.argtypes = ctypes.c_int, [], None, [ctypes.c_int]
    return ThreadNumber(get, put)
