"""Errors in the words of the shell: its arguments and options, plain values, and nobody's name touched."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.cli.shell_errors import ON_THE_LINE, OPTIONS, for_shell
from icefield.errors import ErrorMessage, InputError, brief


@pytest.mark.parametrize(
    ("message", "python", "line"),
    [
        (ErrorMessage.of("X", "has 3 columns of X"),
         "Argument `X` has 3 columns of X.", "DATA has 3 columns of DATA."),
        (ErrorMessage.of("path", "is a folder", "X"),
         "Argument `path` is a folder, got 'X'.", "-o is a folder, got 'X'."),
        (ErrorMessage.of("points", "must be at least 1", np.int64(0), "write points=100"),
         "Argument `points` must be at least 1, got 0. Hint: write points=100.",
         "--grid must be at least 1, got 0. Hint: write --grid 100."),
        (ErrorMessage.of("MODEL", "is empty"), "Argument `MODEL` is empty.", "MODEL is empty."),
        (ErrorMessage.of("grid", "is odd", hint=f"values look like {brief(np.float64(41.5))}"),
         "Argument `grid` is odd. Hint: values look like 41.5.", "--grid is odd. Hint: values look like 41.5."),
        (ErrorMessage.of(None, "It needs `weights` and `axes`."),
         "It needs `weights` and `axes`.", "It needs --weights and `axes`."),
        (ErrorMessage.of("by", "is odd", "Argument of X"),
         "Argument `by` is odd, got 'Argument of X'.", "--by is odd, got 'Argument of X'."),
        (ErrorMessage.of("title", "must be text", 3, 'write title="A day"'),
         "Argument `title` must be text, got 3. Hint: write title=\"A day\".", "--title must be text, got 3. Hint: write --title 'A day'."),
        (ErrorMessage.of("feature", "must be a number", "c"),
         "Argument `feature` must be a number, got 'c'.", "FEATURE must be a number, got 'c'."),
        (ErrorMessage.of("end", "is missing", hint="write start=... and end=..., or plus=..."),
         "Argument `end` is missing. Hint: write start=... and end=..., or plus=...",
         "--to is missing. Hint: write --from ... and --to ..., or --plus ..."),
        (ErrorMessage.of(None, "Nothing fits.", hint="use memory=10 or rows=..."),
         "Nothing fits. Hint: use memory=10 or rows=...", "Nothing fits. Hint: use memory=10 or --rows ..."),
        (ErrorMessage.of(None, "X's column 'X' of `X`, 'rows=9', has none.", hint="write by='it\\'s `y`', or Explainer(rows=9)"),
         "X's column 'X' of `X`, 'rows=9', has none. Hint: write by='it\\'s `y`', or Explainer(rows=9).",
         """DATA's column 'X' of DATA, 'rows=9', has none. Hint: write --by 'it'"'"'s `y`', or Explainer(rows=9)."""),
        (ErrorMessage.of("rows", "is odd", hint="write row_by_row=True, features=[...], y=-1.5"),
         "Argument `rows` is odd. Hint: write row_by_row=True, features=[...], y=-1.5.",
         "--rows is odd. Hint: write --row-by-row, features=[...], --y -1.5."),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_one_error_is_spelled_for_python_and_for_a_shell(
    message: ErrorMessage, python: str, line: str
) -> None:
    error = InputError(message)
    assert str(error) == python
    assert for_shell(error) == line


def test_what_was_received_has_no_types_of_numpy() -> None:
    received = [np.float64(1.5), (np.int8(2), np.str_("a")), np.datetime64("2020-01-01")]
    text = for_shell(InputError(ErrorMessage.of("grid", "is odd", received)))
    assert text == "--grid is odd, got [1.5, (2, 'a'), '2020-01-01']."


def test_texts_without_fields_are_printed_as_they_are() -> None:
    assert for_shell(InputError("X and `by` are words here. Hint: write rows=9.")) == (
        "X and `by` are words here. Hint: write rows=9."
    )
    assert for_shell(OSError(28, "No space left")) == "[Errno 28] No space left"


def test_every_option_that_is_spelled_exists() -> None:
    from icefield.cli.commands import main

    known = {option for command in main.commands.values() for one in command.params for option in one.opts}
    assert {f"--{name}" for name in OPTIONS} <= known
    assert {spelled for spelled in ON_THE_LINE.values() if spelled.startswith("-")} <= known
