"""Every error icefield raises on purpose, and the one way their messages are worded.

A message says which parameter is wrong, what was received, and what to write instead; an error has each of these
as a field (`IcefieldError.parameter`, `.problem`, `.received`, `.hint`). Where a text names a parameter, a setting
or a value, it holds it as such (`worded`), so that the same error can be spelled for Python, as `str` does, or for
a shell. All errors derive from `IcefieldError`, and each is also the built-in exception a caller would expect
(`ValueError`, `TypeError`), so existing ``except`` clauses keep working.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
    >>> error = InputError(complaint("points", "must be at least 2", 1, write(points=100)))
    >>> error.parameter, error.problem, error.received, error.hint
    ('points', 'must be at least 2', 1, 'write points=100')
    """

    @property
    def message(self) -> Complaint:
        """The text with its fields."""
        text = self.args[0] if self.args else ""
        return text if isinstance(text, Complaint) else Complaint.read(str(text))

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
    """Something was asked by a name that it does not have."""


class MissingFileError(IcefieldError, FileNotFoundError):
    """A file that is to be read does not exist."""

    def __str__(self) -> str:
        return str(self.message)


class ModelError(IcefieldError, ValueError):
    """The model cannot be used as asked, or answered with something that is no prediction."""


class EngineError(IcefieldError, ValueError):
    """The asked engine cannot give the asked result for this model."""


class BudgetError(IcefieldError, ValueError):
    """The asked result would not fit the memory budget."""


class ClusterError(IcefieldError, RuntimeError):
    """Work on a cluster could not be finished, or would not be about all rows once."""


class ReadingWarning(UserWarning):
    """A model was read as trees, but they do not predict as the model does; brute force is used."""


class VersionWarning(UserWarning):
    """Workers of a cluster have another version of a model's library."""


class MissingDependencyError(IcefieldError, ImportError):
    """An optional library is needed for what was asked and is not installed."""


# --- texts that name parameters, settings and values ---------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """A parameter that a text names."""

    name: str


@dataclass(frozen=True)
class Setting:
    """A parameter with the value to give it; ``...`` stands for one the reader chooses.

    `python` is how it is written in Python, where that is not ``name=value``.
    """

    name: str
    value: Any
    python: str | None = None


@dataclass(frozen=True)
class Value:
    """A value that a text shows."""

    value: Any


Piece = str | Argument | Setting | Value


class Spelling:
    """How a message is spelled: here for who writes Python."""

    def subject(self, parameter: str) -> str:
        """The parameter a complaint is about."""
        return f"Argument `{parameter}`"

    def argument(self, name: str) -> str:
        """A parameter within a text. The table is called X also in prose."""
        return name if name == "X" else f"`{name}`"

    def setting(self, setting: Setting) -> str:
        """A parameter with its value within a text."""
        chosen = "..." if setting.value is ... else self.value(setting.value)
        return setting.python or f"{setting.name}={chosen}"

    def value(self, value: Any) -> str:
        """A value, or what was received."""
        return brief(value)

    def text(self, text: str) -> str:
        """A text, with what it names spelled this way."""
        return "".join(self.piece(piece) for piece in text.pieces) if isinstance(text, Wording) else text

    def message(
        self, parameter: str | None, problem: str, received: Any = ..., hint: str | None = None
    ) -> str:
        """A whole message; without a parameter, the problem is sentences of its own."""
        text = self.text(problem)
        if parameter is not None:
            shown = "" if received is ... else f", got {self.value(received)}"
            text = f"{self.subject(parameter)} {text}{shown}."
        if not hint:
            return text
        spelled = self.text(hint)
        return f"{text}{HINT}{spelled}" + ("" if spelled.endswith(("?", ".")) else ".")

    def piece(self, piece: Piece) -> str:
        if isinstance(piece, Argument):
            return self.argument(piece.name)
        if isinstance(piece, Setting):
            return self.setting(piece)
        return self.value(piece.value) if isinstance(piece, Value) else self.text(piece)


PYTHON = Spelling()


class Wording(str):
    """A text that still knows which parameters, settings and values it names. Made by `worded`."""

    pieces: tuple[Piece, ...]


def worded(*pieces: Piece) -> Wording:
    """A text of pieces: plain text, and what is spelled differently in Python and in a shell.

    Examples
    --------
    >>> worded("is no column of ", Argument("X"), ", write ", Setting("rows", 9))
    'is no column of X, write rows=9'
    """
    text = Wording("".join(PYTHON.piece(piece) for piece in pieces))
    text.pieces = pieces
    return text


def write(**settings: Any) -> Wording:
    """A hint to give parameters these values.

    Examples
    --------
    >>> write(rows=1000)
    'write rows=1000'
    """
    pieces: list[Piece] = []
    for name, value in settings.items():
        pieces += [", " if pieces else "write ", Setting(name, value)]
    return worded(*pieces)


# --- whole messages --------------------------------------------------------------------------------------


class Complaint(str):
    """The text of an error, with its fields. Made by `complaint` and `statement`."""

    parameter: str | None
    problem: str
    received: Any
    hint: str | None

    @classmethod
    def of(
        cls, parameter: str | None, problem: str, received: Any = ..., hint: str | None = None
    ) -> Complaint:
        text = cls(PYTHON.message(parameter, problem, received, hint))
        text.parameter, text.problem, text.received, text.hint = parameter, problem, received, hint
        return text

    @classmethod
    def read(cls, text: str) -> Complaint:
        """A message that was written as one text."""
        problem, _, hint = text.partition(HINT)
        return cls.of(None, problem, hint=hint or None)

    def spelled(self, spelling: Spelling) -> str:
        """The message for another reader."""
        return spelling.message(self.parameter, self.problem, self.received, self.hint)

    def as_json(self) -> dict[str, Any]:
        """The fields as plain texts, for where nothing but text may pass; what was received as the message shows it."""
        shown = {} if self.received is ... else {"received": brief(self.received)}
        return {"parameter": self.parameter, "problem": _plain_pieces(self.problem), "hint": _plain_pieces(self.hint)} | shown  # fmt: skip

    @classmethod
    def from_json(cls, fields: Any) -> Complaint:
        """A message from what `as_json` gave; a ValueError where the fields are of anything else."""
        known = isinstance(fields, dict) and fields.keys() <= {"parameter", "problem", "hint", "received"}
        if not known or not isinstance(fields.get("parameter"), str | None):
            raise ValueError("these are not the fields of a message")
        problem, hint = _worded_again(fields.get("problem")), _worded_again(fields.get("hint"))
        received = _Shown(fields["received"]) if "received" in fields else ...
        return cls.of(fields.get("parameter"), problem or "", received, hint)

    def __reduce__(self) -> Any:
        # What was received may be anything, a lambda for one: across processes goes what the message shows.
        received = self.received if self.received is ... else _Shown(brief(self.received))
        return Complaint.of, (self.parameter, self.problem, received, self.hint)


class _Shown(str):
    """What another process had received, as its message shows it."""

    def __repr__(self) -> str:
        return str(self)


def _plain_pieces(text: str | None) -> Any:
    """A text as JSON: a text, or a list of pieces where it knows what it names."""
    if not isinstance(text, Wording):
        return text
    return [
        {"argument": piece.name} if isinstance(piece, Argument)
        else {"setting": piece.name, "value": None if piece.value is ... else brief(piece.value), "python": piece.python}
        if isinstance(piece, Setting)
        else {"value": brief(piece.value)} if isinstance(piece, Value)
        else _plain_pieces(piece)
        for piece in text.pieces
    ]  # fmt: skip


def _worded_again(given: Any) -> str | None:
    """The text that `_plain_pieces` made JSON of."""
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise ValueError("a text must be a text, or a list of its pieces")
    pieces: list[Piece] = []
    for piece in given:
        fields = piece if isinstance(piece, dict) else {}
        if not all(isinstance(value, str | None) for value in fields.values()):
            raise ValueError("a piece of a text holds more than texts")
        if "argument" in fields:
            pieces.append(Argument(str(fields["argument"])))
        elif "setting" in fields:
            value = ... if fields.get("value") is None else _Shown(fields["value"])
            pieces.append(Setting(str(fields["setting"]), value, fields.get("python")))
        elif "value" in fields:
            pieces.append(Value(_Shown(fields["value"])))
        else:
            pieces.append(_worded_again(piece) or "")
    return worded(*pieces)


def complaint(parameter: str, problem: str, received: Any = ..., hint: str | None = None) -> Complaint:
    """Word an error message: the parameter, what is wrong, what was received, what to write.

    Examples
    --------
    >>> print(complaint("points", "must be at least 2", 1, "write points=100"))
    Argument `points` must be at least 2, got 1. Hint: write points=100.
    """
    return Complaint.of(parameter, problem, received, hint)


def statement(problem: str, hint: str | None = None) -> Complaint:
    """Word an error message that is about no single parameter: whole sentences, and what to do instead."""
    return Complaint.of(None, problem, hint=hint)


def brief(value: Any, limit: int = 120) -> str:
    """`repr` of a value, cut so that a message stays readable whatever was passed in."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 2] + " …"


def _letters(text: str) -> str:
    """Letters and digits alone, in lower case; the text itself where it has none."""
    return "".join(c for c in text.casefold() if c.isalnum()) or text


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """A hint naming the closest known names, or listing the first of them."""
    from difflib import get_close_matches  # only a wrong name pays for it

    names = [str(k) for k in known]
    # Spaces, underscores and capitals are what people mistake first.
    alike = [other for other in names if _letters(other) == _letters(str(name))]
    close = alike[:1] or get_close_matches(str(name), names, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    if not names:
        return "there are no names to choose from"
    listed = ", ".join(repr(n) for n in names[:10])
    return f"known names are {listed}" + (f" and {len(names) - 10} more" if len(names) > 10 else "")
