"""Models in their libraries' own files: which library wrote one, and is it sound.

Libraries crash, loop or read wild memory on some corrupt files, at load or at the first prediction. So a file
is first loaded in a child process, which also checks what was loaded; a crash or hang there is a clear error here.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icefield.errors import IcefieldError, MissingDependencyError, complaint
from icefield.libraries.registry import LIBRARIES, Files, Library

LOAD_SECONDS = 60.0
CHILD_MEMORY = 8 * 2**30  # and some times the file: a corrupt length must not take the machine's memory
_CHILD = "import sys; from importlib import import_module; getattr(import_module(sys.argv[1]), sys.argv[2])(*sys.argv[3:])"


class LoadError(IcefieldError, ValueError):
    """A file could not be read as what it should be."""


@dataclass(frozen=True)
class NativeFormat:
    """A library's files of one suffix.

    Attributes
    ----------
    kind : what they hold, as in "is not ... model"
    saved_by : the call that writes them
    is_own : whether a file is one, by its first bytes; by its contents where the suffix is ``.json``
    """

    kind: str
    saved_by: str
    is_own: Callable[[Any], bool]


# --- which library, and loading --------------------------------------------------------------------


def native_suffixes() -> tuple[str, ...]:
    """How the names of all libraries' own files end."""
    return tuple(dict.fromkeys(suffix for _, files in _with_files() for suffix in files.FORMATS))


def load_native(file: Path) -> Any:
    """A model from a native file, once a child process has loaded it without harm."""
    library, files = _writer(file)
    _try_in_child(library, file)
    return files.load(file)


def _with_files() -> Iterator[tuple[Library, Files]]:
    for library in LIBRARIES:
        if library.files is not None:
            yield library, library.files


def _writer(file: Path) -> tuple[Library, Files]:
    """Which library wrote a native file: by its suffix and how it begins; JSON by its keys."""
    suffix = file.suffix.lower()
    if file.stat().st_size == 0:
        raise LoadError(complaint("MODEL", "is empty", str(file)))
    is_json = suffix == ".json"
    shows = _json(file) if is_json else _head(file)
    others: list[NativeFormat] = []
    for library, files in _with_files():
        written = files.FORMATS.get(suffix)
        if written is not None and written.is_own(shows):
            return library, files
        others += [written] if written is not None else []
    kinds = " nor ".join(written.kind for written in others)
    problem = f"is JSON, but neither {kinds} model" if is_json else f"is not {kinds} model"
    hint = "save it with " + ", or ".join(written.saved_by for written in others)
    raise LoadError(complaint("MODEL", problem, str(file), hint))


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(4096)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise LoadError(complaint("MODEL", "is not valid JSON", str(file), first_line(error))) from error


def _try_in_child(library: Library, file: Path) -> None:
    package = library.package or library.name
    needed(package)
    try:
        done = in_child(try_file, library.name, str(file))
    except subprocess.TimeoutExpired as error:
        raise LoadError(
            complaint(
                "MODEL", f"did not load within {LOAD_SECONDS:g} s; the file is probably corrupt", str(file)
            )
        ) from error
    if done.returncode < 0:
        problem = f"crashes {package} (signal {-done.returncode}); the file is corrupt"
        raise LoadError(complaint("MODEL", problem, str(file)))
    if done.returncode != 0:
        problem = f"could not be loaded by {package}"
        raise LoadError(complaint("MODEL", problem, str(file), last_words(done)))


def in_child(task: Callable[..., None], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Have a function of this package called in a process of its own, which it may crash.

    Raises `subprocess.TimeoutExpired` where it takes more than `LOAD_SECONDS`.
    """
    command = [sys.executable, "-c", _CHILD, task.__module__, task.__name__, *arguments]
    return subprocess.run(command, capture_output=True, timeout=LOAD_SECONDS, check=False)


def last_words(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a child process said last, which is its error."""
    lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
    return cut(lines[-1])


def try_file(name: str, path: str) -> None:
    """What the child process does: load within a memory limit, and check what came of it."""
    file = Path(path)
    files = next(files for library, files in _with_files() if library.name == name)
    limit_memory(file)
    files.check(files.load(file), file)


def limit_memory(file: Path) -> None:
    """Keep this process, a child that reads a file, from taking the machine's memory."""
    limit = CHILD_MEMORY + 20 * file.stat().st_size
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def check_fits(size: int, what: str) -> None:
    """Refuse what unpacks to more than the machine's memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**36
    if size > memory:
        raise ValueError(f"{what} would take {size / 2**30:,.0f} GiB, this machine has {memory / 2**30:,.0f}")


# --- words -------------------------------------------------------------------------------------------


def optional(name: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def needed(name: str, package: str | None = None) -> Any:
    """A module, or an error that says what to install."""
    found = optional(name)
    if found is None:
        package = package or name
        raise MissingDependencyError(
            f"This file needs {package}, which is not installed. Hint: pip install {package}."
        )
    return found


def first_line(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return cut(f"{type(error).__name__}: {lines[0] if lines else ''}")


def cut(text: str, limit: int = 200) -> str:
    """Text of bounded length."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
