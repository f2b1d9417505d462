"""Every error icefield raises on purpose, and the one way their messages are worded.

A message says which parameter is wrong, what was received, and what to write instead; an error has each of these
as a field (`IcefieldError.parameter`, `.problem`, `.received`, `.hint`). Texts name what Python has: the table as
X, parameters in backticks, settings as ``rows=9``; `cli/shell_errors.py` puts them into the words of a shell. All errors derive from `IcefieldError`, and each is also the built-in exception a caller would expect
(`ValueError`, `TypeError`), so existing ``except`` clauses keep working.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

HINT = " Hint: "


class IcefieldError(Exception):
    """Base of every error raised by icefield.

    Attributes
    ----------
    parameter : the parameter that is wrong; None where the error is about none in particular
    problem : what is wrong
    received : the value that cannot be used; ``...`` where there is none to show
    hint : what to write instead, or None

    Examples
    --------
    >>> error = InputError.about("points", "must be at least 2", 1, "write points=100")
    >>> error.parameter, error.problem, error.received, error.hint
    ('points', 'must be at least 2', 1, 'write points=100')
    """

    @classmethod
    def about(cls, parameter: str, problem: str, received: Any = ..., hint: str | None = None) -> Self:
        """An error about a parameter: what is wrong, what was received, what to write."""
        return cls(ErrorMessage.of(parameter, problem, received, hint))

    @classmethod
    def saying(cls, problem: str, hint: str | None = None) -> Self:
        """An error that is not about one parameter: whole sentences, and what to do instead."""
        return cls(ErrorMessage.of(None, problem, hint=hint))

    @property
    def message(self) -> ErrorMessage:
        """The text with its fields."""
        text = self.args[0] if self.args else ""
        return text if isinstance(text, ErrorMessage) else ErrorMessage.read(str(text))

    @property
    def parameter(self) -> str | None:
        return self.message.parameter

    @property
    def problem(self) -> str:
        return self.message.problem

    @property
    def received(self) -> Any:
        return self.message.received

    @property
    def hint(self) -> str | None:
        return self.message.hint


class InputError(IcefieldError, ValueError):
    """An argument has the right type but a value that cannot be used."""


class InputTypeError(IcefieldError, TypeError):
    """An argument is of a type that cannot be used."""


class UnknownNameError(IcefieldError, AttributeError):
    """A method or attribute that does not exist; the hint gives icefield's name for it."""


class MissingFileError(IcefieldError, FileNotFoundError):
    """A file that is to be read does not exist."""

    def __str__(self) -> str:
        return str(self.message)


class ModelError(IcefieldError, ValueError):
    """The model cannot be used as requested, or returned something that is not a prediction."""


class EngineError(IcefieldError, ValueError):
    """The requested engine cannot compute the requested result for this model."""


class BudgetError(IcefieldError, ValueError):
    """The requested result would not fit into the memory budget."""


class ClusterError(IcefieldError, RuntimeError):
    """Work on a cluster could not be finished, or would not count every row exactly once."""


class ReadingWarning(UserWarning):
    """A model was read as trees, but they do not predict as the model does; brute force is used."""


class VersionWarning(UserWarning):
    """Workers of a cluster have another version of a model's library."""


class MissingDependencyError(IcefieldError, ImportError):
    """The request needs an optional library that is not installed."""


class ErrorMessage(str):
    """The text of an error, with its fields. Made by `ErrorMessage.of`."""

    parameter: str | None
    problem: str
    received: Any
    hint: str | None

    @classmethod
    def of(
        cls, parameter: str | None, problem: str, received: Any = ..., hint: str | None = None
    ) -> ErrorMessage:
        """The parameter, what is wrong, what was received, what to write; without a parameter, whole sentences.

        Examples
        --------
        >>> print(ErrorMessage.of("points", "must be at least 2", 1, "write points=100"))
        Argument `points` must be at least 2, got 1. Hint: write points=100.
        """
        subject = None if parameter is None else f"Argument `{parameter}`"
        text = cls(sentences(subject, problem, received, hint))
        text.parameter, text.problem, text.received, text.hint = parameter, problem, received, hint
        return text

    @classmethod
    def read(cls, text: str) -> ErrorMessage:
        """A message that was written as one text."""
        problem, _, hint = text.partition(HINT)
        return cls.of(None, problem, hint=hint or None)

    def as_json(self) -> dict[str, Any]:
        """The fields as plain texts, for where nothing but text may pass; what was received as the message shows it."""
        shown = {} if self.received is ... else {"received": brief(self.received)}
        return {"parameter": self.parameter, "problem": self.problem, "hint": self.hint} | shown

    @classmethod
    def from_json(cls, fields: Any) -> ErrorMessage:
        """A message from what `as_json` gave; a ValueError where the fields are of anything else."""
        known = isinstance(fields, dict) and fields.keys() <= {"parameter", "problem", "hint", "received"}
        if not known or not all(isinstance(value, str | None) for value in fields.values()):
            raise ValueError("these are not the fields of a message")
        received = _Received(fields["received"]) if "received" in fields else ...
        return cls.of(fields.get("parameter"), fields.get("problem") or "", received, fields.get("hint"))

    def __reduce__(self) -> Any:
        # What was received may be anything, a lambda for one: across processes goes what the message shows.
        received = self.received if self.received is ... else _Received(brief(self.received))
        return ErrorMessage.of, (self.parameter, self.problem, received, self.hint)


class _Received(str):
    """What another process had received, as its message shows it."""

    def __repr__(self) -> str:
        return str(self)


def sentences(subject: str | None, problem: str, received: Any = ..., hint: str | None = None) -> str:
    """A whole message about a subject; without one, the problem is sentences of its own."""
    text = problem
    if subject is not None:
        shown = "" if received is ... else f", got {brief(received)}"
        text = f"{subject} {problem}{shown}."
    if not hint:
        return text
    return f"{text}{HINT}{hint}" + ("" if hint.endswith(("?", ".")) else ".")


def brief(value: Any, limit: int = 120) -> str:
    """`repr` of a value, cut so that a message stays readable whatever was passed in, and without the types of numpy."""
    try:
        text = repr(_plain(value))
    except Exception:
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 2] + " …"


def _plain(value: Any) -> Any:
    """A value as numpy's `item` gives it, times as text; also within lists and tuples."""
    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        return str(value) if value.dtype.kind in "mM" else value.item()
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _letters(text: str) -> str:
    """Letters and digits alone, in lower case; the text itself where it has none."""
    return "".join(c for c in text.casefold() if c.isalnum()) or text


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A hint naming the closest known names, or listing the first of them."""
    from difflib import get_close_matches  # only a wrong name pays for it

    names = [str(k) for k in known]
    # Spaces, underscores and capitals are what people mistake first.
    same_letters = [other for other in names if _letters(other) == _letters(str(name))]
    close = same_letters[:1] or get_close_matches(str(name), names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    if not names:
        return "there are no names to choose from"
    listed = ", ".join(repr(n) for n in names[:10])
    return f"known names are {listed}" + (f" and {len(names) - 10} more" if len(names) > 10 else "")
