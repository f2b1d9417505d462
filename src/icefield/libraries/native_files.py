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
from icefield.libraries.child_process import error_line, limit_memory, run_in_child
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
    return tuple(dict.fromkeys(suffix for _, files in _file_libraries() for suffix in files.FORMATS))


def load_native(file: Path) -> Any:
    """A model from a native file, once a child process has loaded it without harm."""
    library, files = _writer(file)
    package = library.package or library.name
    require(package)
    try_in_child(package, try_file, file, library.name)
    return files.load(file)


def _file_libraries() -> Iterator[tuple[Library, Files]]:
    for library in LIBRARIES:
        if library.files is not None:
            yield library, library.files


def _writer(file: Path) -> tuple[Library, Files]:
    """Which library wrote a native file: by its suffix and how it begins; JSON by its keys."""
    suffix = file.suffix.lower()
    if file.stat().st_size == 0:
        raise LoadError.about("MODEL", "is empty", str(file))
    head = _head_of(file)
    forms: list[NativeFormat] = []
    for library, files in _file_libraries():
        if form := files.FORMATS.get(suffix):
            if form.is_own(head):
                return library, files
            forms.append(form)
    kinds = " nor ".join(form.kind for form in forms)
    problem = f"is JSON, but neither {kinds} model" if suffix == ".json" else f"is not {kinds} model"
    hint = "save it with " + ", or ".join(form.saved_by for form in forms)
    raise LoadError.about("MODEL", problem, str(file), hint)


def _head_of(file: Path) -> Any:
    """A file's first bytes; its contents where it is JSON."""
    if file.suffix.lower() != ".json":
        with file.open("rb") as stream:
            return stream.read(4096)
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise LoadError.about("MODEL", "is not valid JSON", str(file), first_line(error)) from error


def try_in_child(package: str, task: Callable[..., None], file: Path, *arguments: str) -> None:
    """Run `task` on a file in a child process; a crash, a hang or an error there is a `LoadError` here."""
    child = run_in_child(task, file, *arguments)
    if child is None:
        raise LoadError.about("MODEL", "did not load in time; the file is probably corrupt", str(file))
    if child.returncode < 0:
        problem = f"crashes {package} (signal {-child.returncode}); the file is corrupt"
        raise LoadError.about("MODEL", problem, str(file))
    if child.returncode != 0:
        raise LoadError.about("MODEL", f"could not be loaded by {package}", str(file), error_line(child))


def try_file(path: str, name: str) -> None:
    """Run in the child: load a file by the library of this name within a memory limit, and check the model."""
    file = Path(path)
    library, files = next(pair for pair in _file_libraries() if pair[0].name == name)
    require(library.package or library.name)
    limit_memory(file)
    check_before_loading = getattr(files, "check_before_loading", None)
    if check_before_loading is not None:
        check_before_loading(file)
    model = files.load(file)
    files.check(model, file)
    library.predictions.adapt(model, "response")  # whose names may not even be text


def check_fits(size: int, what: str) -> None:
    """Raise where a size in bytes is more than the machine's memory; `what` names what has it."""
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


def require(name: str, package: str | None = None) -> Any:
    """A module, or an error that says what to install."""
    module = optional(name)
    if module is None:
        package = package or name
        raise MissingDependencyError(
            f"This file needs {package}, which is not installed. Hint: pip install {package}."
        )
    return module


def first_line(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return cut(f"{type(error).__name__}: {lines[0] if lines else ''}")


def cut(text: str, limit: int = 200) -> str:
    """Text of bounded length."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
