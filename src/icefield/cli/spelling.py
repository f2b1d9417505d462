"""Errors in the words of a shell: the arguments and options of the command, and plain values.

An error knows which parameter it is about and which others, with which values, its text names; here these are
spelled as they are given on the line. What stands in a text otherwise is somebody's name or value and stays.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from icefield.errors import IcefieldError, Setting, Spelling, brief

OPTIONS = ("by", "weights", "cluster", "y", "target", "scale", "engine", "threads", "seed", "grid", "rows", "bins", "title", "individual", "missing", "increasing", "decreasing", "flips", "threshold", "against", "fit", "level", "step", "plus", "times", "given")  # fmt: skip
ON_THE_LINE = {
    "X": "DATA",
    "model": "MODEL",
    "features": "FEATURE",
    "path": "-o",
    "points": "--grid",
    "seconds": "--time",
    "expectations": "EXPECTATIONS",
    "refits": "--refit",
    "start": "--from",
    "end": "--to",
    "row_by_row": "--row-by-row",
    "storage_options": "--storage-option",
} | {name: f"--{name}" for name in OPTIONS}


class ShellSpelling(Spelling):
    """Spells the parameters of an error message as options of the command line.

    Examples
    --------
    >>> from icefield.errors import Argument, complaint, worded, write
    >>> problem = worded("names a column that ", Argument("X"), " does not have")
    >>> print(complaint("by", problem, "X", write(rows=9)).spelled(ShellSpelling()))
    --by names a column that DATA does not have, got 'X'. Hint: write --rows 9.
    """

    def subject(self, parameter: str) -> str:
        return ON_THE_LINE.get(parameter, parameter)

    def argument(self, name: str) -> str:
        return ON_THE_LINE.get(name) or super().argument(name)

    def setting(self, setting: Setting) -> str:
        option = ON_THE_LINE.get(setting.name, "")
        if not option.startswith("-"):
            return super().setting(setting)
        if setting.value is True:
            return option
        return f"{option} {'...' if setting.value is ... else shlex.quote(str(setting.value))}"

    def value(self, value: Any) -> str:
        return brief(_plain(value))


def for_shell(error: Exception) -> str:
    """An error as the command prints it."""
    return error.message.spelled(ShellSpelling()) if isinstance(error, IcefieldError) else str(error)


def _plain(value: Any) -> Any:
    """A value as a user types it, without numpy's types."""
    if isinstance(value, np.generic):
        return str(value) if value.dtype.kind in "mM" else value.item()
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value
