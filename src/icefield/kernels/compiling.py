"""How kernels are compiled: cached where a cache can be written, without one elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.errors import NumbaWarning
from numba.extending import intrinsic

POLL = 1023  # instructions of a program between two looks at the stop flag, less one
OPTIONS = {"nogil": True, "error_model": "numpy"}


def kernel(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Compile for one explicit signature, using numba's cache if there is a place for it."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                return njit(signature, cache=True, **OPTIONS)(function)
        except (RuntimeError, OSError):
            # No directory for the cache, or one that cannot be written (read-only, full).
            return njit(signature, **OPTIONS)(function)

    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """A helper that is compiled into the kernels calling it."""
    return njit(function, nogil=True, error_model="numpy", inline="never")


@intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """Number of set bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest(typing: Any, word: Any) -> Any:
    """Position of the lowest set bit of a uint64 that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate
