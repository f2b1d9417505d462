"""Errors in the words of a shell: the arguments and options of the command.

An error's text names the table as X, parameters in backticks and settings as ``rows=9``. Here these are spelled as they are
given on the line. What is quoted is somebody's name or value and stays, and so do calls such as ``Explainer(memory=...)``.
"""

from __future__ import annotations

import re
import shlex

from icefield.errors import ErrorMessage, IcefieldError, sentences

OPTIONS = ("by", "weights", "cluster", "y", "target", "scale", "engine", "threads", "seed", "grid", "rows", "bins", "title", "individual", "missing", "increasing", "decreasing", "flips", "threshold", "against", "fit", "level", "step", "plus", "times", "given")  # fmt: skip
ON_THE_LINE = {
    "X": "DATA",
    "model": "MODEL",
    "feature": "FEATURE",
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
    "names": "--name",
    "units": "--unit",
    "target_name": "--target-name",
} | {name: f"--{name}" for name in OPTIONS}
QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
NAMED = re.compile(
    rf"\b\w+\([^()]*\)|(?<!\w)(?P<name>[a-z_]+)=(?P<value>{QUOTED}|\[?\.\.\.\]?|[-+.\w]*\w)"
    rf"|(?<!\w)(?:{QUOTED})(?!\w)|`(?P<argument>\w+)`|\bX\b"
)


def for_shell(error: Exception) -> str:
    """An error as the command prints it; one that was written as a single text says what it says.

    Examples
    --------
    >>> from icefield.errors import InputError
    >>> print(for_shell(InputError.about("by", "names a column that X does not have", "X", "write rows=9")))
    --by names a column that DATA does not have, got 'X'. Hint: write --rows 9.
    """
    message = error.args[0] if isinstance(error, IcefieldError) and error.args else None
    if not isinstance(message, ErrorMessage):
        return str(error)
    subject = None if message.parameter is None else ON_THE_LINE.get(message.parameter, message.parameter)
    hint = message.hint and NAMED.sub(_in_shell_words, message.hint)
    return sentences(subject, NAMED.sub(_in_shell_words, message.problem), message.received, hint)


def _in_shell_words(match: re.Match[str]) -> str:
    """A parameter or setting that an error's text names, as it is spelled on the command line."""
    text, name = match[0], match["name"]
    if name is None:
        return "DATA" if text == "X" else ON_THE_LINE.get(match["argument"] or "", text)
    option = ON_THE_LINE.get(name, "")
    if not option.startswith("-"):
        return text
    value = match["value"]
    if value == "True":
        return option
    return f"{option} ..." if "..." in value else f"{option} {shlex.quote(_unquote(value))}"


def _unquote(value: str) -> str:
    """The text of a literal.

    >>> _unquote("'A day'"), _unquote("25")
    ('A day', '25')
    """
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] in ("'", '"') else value
