"""Models in their libraries' own files: which library wrote one, and is it sound.

Libraries crash, loop or read wild memory on some corrupt files, at load or at the first prediction. So a file
is first loaded in a child process, which also checks what was loaded; a crash or hang there is a clear error here.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icefield.errors import IcefieldError, MissingDependencyError
from icefield.libraries.child_process import in_child, last_words, limit_memory
from icefield.libraries.registry import LIBRARIES, Files, Library


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
    package = library.package or library.name
    needed(package)
    tried_in_child(package, try_file, file, library.name)
    return files.load(file)


def _with_files() -> Iterator[tuple[Library, Files]]:
    for library in LIBRARIES:
        if library.files is not None:
            yield library, library.files


def _writer(file: Path) -> tuple[Library, Files]:
    """Which library wrote a native file: by its suffix and how it begins; JSON by its keys."""
    suffix = file.suffix.lower()
    if file.stat().st_size == 0:
        raise LoadError.about("MODEL", "is empty", str(file))
    shown = _shown(file)
    others: list[NativeFormat] = []
    for library, files in _with_files():
        if written := files.FORMATS.get(suffix):
            if written.is_own(shown):
                return library, files
            others.append(written)
    kinds = " nor ".join(written.kind for written in others)
    problem = f"is JSON, but neither {kinds} model" if suffix == ".json" else f"is not {kinds} model"
    hint = "save it with " + ", or ".join(written.saved_by for written in others)
    raise LoadError.about("MODEL", problem, str(file), hint)


def _shown(file: Path) -> Any:
    """A file's first bytes; its contents where it is JSON."""
    if file.suffix.lower() != ".json":
        with file.open("rb") as stream:
            return stream.read(4096)
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise LoadError.about("MODEL", "is not valid JSON", str(file), first_line(error)) from error


def tried_in_child(package: str, task: Callable[..., None], file: Path, *arguments: str) -> None:
    """Let a child do something with a file first; what goes wrong there is an error here."""
    done = in_child(task, file, *arguments)
    if done is None:
        raise LoadError.about("MODEL", "did not load in time; the file is probably corrupt", str(file))
    if done.returncode < 0:
        problem = f"crashes {package} (signal {-done.returncode}); the file is corrupt"
        raise LoadError.about("MODEL", problem, str(file))
    if done.returncode != 0:
        raise LoadError.about("MODEL", f"could not be loaded by {package}", str(file), last_words(done))


def try_file(path: str, name: str) -> None:
    """What the child process does: load within a memory limit, and check what came of it."""
    file = Path(path)
    library, files = next(pair for pair in _with_files() if pair[0].name == name)
    needed(library.package or library.name)
    limit_memory(file)
    check_before_loading = getattr(files, "check_before_loading", None)
    if check_before_loading is not None:
        check_before_loading(file)
    model = files.load(file)
    files.check(model, file)
    library.predictions.adapt(model, "response")  # whose names may not even be text


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
