"""How kernels are compiled: cached where a cache can be written, without one elsewhere.

numba's cache looks at the file of a kernel but not at the files of what the kernel calls, so a
changed helper could leave an old kernel in use. Here the sources of all kernels are part of
every cache key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic

POLL = 1023  # instructions of a program between two looks at the stop flag, less one
OPTIONS = {"nogil": True, "error_model": "numpy"}
SOURCES = hashlib.sha256(
    b"".join(p.read_bytes() for p in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()


class _Cache(FunctionCache):
    """numba's cache, with the sources of all kernels in the key."""

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), SOURCES)


def kernel(signature: str) -> Callable[[Callable[..., Any]], Any]:
    """Compile for one explicit signature, using the cache if there is a place for it."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            cached = njit(**OPTIONS)(function)
            cached._cache = _Cache(function)
            cached.compile(signature)
            cached.disable_compile()
        except (RuntimeError, OSError):
            # No directory for the cache, or one that cannot be written (read-only, full).
            return njit(signature, **OPTIONS)(function)
        return cached

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
