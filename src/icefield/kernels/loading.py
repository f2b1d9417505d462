"""The library of kernels this machine runs best: found, checked against `_abi.py` and the sources, and loaded.

One library was built for each instruction level. The one for the lowest level says which levels the
machine can run; the best that is there is used, unless ``ICEFIELD_KERNELS`` names one.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from icefield.errors import IcefieldError, did_you_mean

BUILT = Path(__file__).parent / "built"
NATIVE = Path(__file__).parent / "native"
SOURCE_TREE = Path(__file__).parents[3]
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
VARIABLE = "ICEFIELD_KERNELS"
# The bit by which a library says "it runs here".
LEVELS = {"v2": 2, "v3": 3, "v4": 4, "arm64": 0, "generic": 0}


class KernelsError(IcefieldError, ImportError):
    """The native kernels are not there, not of these sources, or not for this machine."""


class NativeLibrary:
    """A loaded library whose stamps are those of `_abi.py` and, in a source tree, of the sources."""

    def __init__(self, path: Path) -> None:
        self.level = _level_of(path)
        try:
            self._functions = ctypes.CDLL(str(path))
        except OSError as error:
            raise KernelsError(f"The native kernels could not be loaded: {error}. {_remedy()}") from error
        self._check(path)

    def _check(self, path: Path) -> None:
        from icefield.kernels import _abi  # which stands on this module

        if self._stamp("icefield_interface") != _abi.STAMP:
            raise KernelsError(f"The native kernels in {path.name} have another interface. {_remedy()}")
        sources = source_stamp()
        if sources is not None and self._stamp("icefield_sources") != sources:
            raise KernelsError(
                f"The native kernels in {path.name} were built from other sources. {_remedy()}"
            )

    def _stamp(self, name: str) -> str:
        try:
            return (ctypes.c_char_p.in_dll(self._functions, name).value or b"").decode()
        except ValueError:
            return ""

    def function(self, name: str) -> Any:
        """A kernel, which takes the bytes of its arguments and gives its status."""
        function = self._functions[f"icefield_{name}"]
        function.argtypes, function.restype = [ctypes.c_char_p], ctypes.c_int64
        return function

    def runnable(self) -> set[int]:
        """The levels this machine can run."""
        asked = self._functions.icefield_levels
        asked.argtypes, asked.restype = [], ctypes.c_int64
        mask = asked()
        return {bit for bit in range(8) if mask >> bit & 1}


@cache
def source_stamp() -> str | None:
    """The hash of the sources, in a source tree, where they may have changed since the build; elsewhere None."""
    if not (SOURCE_TREE / "build_kernels.py").exists():
        return None
    # As `generation.source_stamp` does, which would take longer to import than to run.
    whole = hashlib.sha256()
    for path in sorted(NATIVE.glob("*.[ch]pp")):
        whole.update(f"{path.name}\n{path.read_text(encoding='utf-8')}\n".encode())
    return whole.hexdigest()


@cache
def library() -> NativeLibrary:
    """The library in use, loaded the first time it is asked for."""
    asked = os.environ.get(VARIABLE, "")
    if asked:
        return _asked_for(asked)
    lowest, *better = _found()
    first = NativeLibrary(lowest)
    runnable = first.runnable()
    if LEVELS[first.level] not in runnable:
        raise KernelsError(
            "This machine lacks instructions that every build of the native kernels needs (x86-64-v2)."
        )
    best = [path for path in better if LEVELS[_level_of(path)] in runnable]
    return NativeLibrary(best[-1]) if best else first


def level() -> str:
    """The instruction level of the kernels in use: v2, v3 or v4 on x86-64, arm64 on 64-bit ARM."""
    return library().level


def levels() -> list[str]:
    """The levels that were built and that this machine can run, the best last."""
    found = _found()
    runnable = NativeLibrary(found[0]).runnable()
    return [_level_of(path) for path in found if LEVELS[_level_of(path)] in runnable]


def _asked_for(name: str) -> NativeLibrary:
    path = BUILT / f"kernels-{name}{SUFFIX}"
    if not path.exists():
        known = sorted(_level_of(p) for p in BUILT.glob(f"kernels-*{SUFFIX}"))
        raise KernelsError(
            f"{VARIABLE}={name} names no library of kernels. Hint: {did_you_mean(name, known)}."
        )
    if name in LEVELS and LEVELS[name] not in NativeLibrary(_found()[0]).runnable():
        raise KernelsError(f"{VARIABLE}={name} asks for instructions this machine does not have.")
    return NativeLibrary(path)


def _found() -> list[Path]:
    """The libraries that may be chosen by themselves, the lowest level first."""
    found = [path for path in BUILT.glob(f"kernels-*{SUFFIX}") if _level_of(path) in LEVELS]
    if not found:
        raise KernelsError(f"The native kernels have not been built. {_remedy()}")
    return sorted(found, key=lambda path: LEVELS[_level_of(path)])


def _level_of(path: Path) -> str:
    return path.stem.removeprefix("kernels-")


def _remedy() -> str:
    script = SOURCE_TREE / "build_kernels.py"
    if script.exists():
        return f"Hint: run `{sys.executable} {script}` (or `make kernels`)."
    return "Hint: run `pip install --force-reinstall icefield`."
