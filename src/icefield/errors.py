"""Every error icefield raises on purpose, and the one way their messages are worded.

A message says which parameter is wrong, what was received, and what to write instead. All
errors derive from `IcefieldError`, and each is also the built-in exception a caller would
expect (`ValueError`, `TypeError`), so existing ``except`` clauses keep working.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class IcefieldError(Exception):
    """Base of every error raised by icefield."""


class InputError(IcefieldError, ValueError):
    """An argument has the right type but a value that cannot be used."""


class InputTypeError(IcefieldError, TypeError):
    """An argument is of a type that cannot be used."""


class ModelError(IcefieldError, ValueError):
    """The model cannot be used as asked, or answered with something that is no prediction."""


class EngineError(IcefieldError, ValueError):
    """The asked engine cannot give the asked result for this model."""


class BudgetError(IcefieldError, ValueError):
    """The asked result would not fit the memory budget."""


class MissingDependencyError(IcefieldError, ImportError):
    """An optional library is needed for what was asked and is not installed."""


def complaint(parameter: str, problem: str, received: Any = ..., hint: str | None = None) -> str:
    """Word an error message: the parameter, what is wrong, what was received, what to write.

    Examples
    --------
    >>> print(complaint("points", "must be at least 2", 1, "write points=100"))
    Argument `points` must be at least 2, got 1. Hint: write points=100.
    """
    text = f"Argument `{parameter}` {problem}"
    if received is not ...:
        text += f", got {shortened(received)}"
    text += "."
    if hint:
        text += f" Hint: {hint}" if hint.endswith(("?", ".")) else f" Hint: {hint}."
    return text


def shortened(value: Any, limit: int = 120) -> str:
    """`repr` of a value, cut so that a message stays readable whatever was passed in."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A hint naming the closest known names, or listing the first of them."""
    names = [str(k) for k in known]
    close = get_close_matches(str(name), names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    listed = ", ".join(repr(n) for n in names[:10])
    return f"known names are {listed}" + (", ..." if len(names) > 10 else "")
