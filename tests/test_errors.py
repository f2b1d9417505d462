"""Errors: one wording, and every kind also the built-in a caller would expect."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import icefield
from icefield.errors import ErrorMessage, brief, did_you_mean


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (icefield.InputError, ValueError),
        (icefield.InputTypeError, TypeError),
        (icefield.ModelError, ValueError),
        (icefield.EngineError, ValueError),
        (icefield.BudgetError, ValueError),
        (icefield.ClusterError, RuntimeError),
        (icefield.MissingDependencyError, ImportError),
    ],
)
def test_every_error_is_icefields_and_a_built_in(error, builtin):
    assert issubclass(error, icefield.IcefieldError)
    assert issubclass(error, builtin)


def test_a_message_says_what_which_and_what_to_write():
    text = ErrorMessage.of("rows", "must be at least 1", 0, "write rows=100.")
    assert text == "Argument `rows` must be at least 1, got 0. Hint: write rows=100."
    assert ErrorMessage.of("rows", "is needed") == "Argument `rows` is needed."
    assert ErrorMessage.of("rows", "must not be None", None) == "Argument `rows` must not be None, got None."


ERRORS = [
    icefield.InputError,
    icefield.InputTypeError,
    icefield.ModelError,
    icefield.EngineError,
    icefield.BudgetError,
    icefield.ClusterError,
    icefield.MissingDependencyError,
]


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_carries_its_fields(kind):
    error = kind(ErrorMessage.of("rows", "must be at least 1", 0, "write rows=100"))
    assert (error.parameter, error.problem, error.received, error.hint) == (
        "rows", "must be at least 1", 0, "write rows=100",
    )  # fmt: skip
    assert str(error) == "Argument `rows` must be at least 1, got 0. Hint: write rows=100."


def test_fields_that_nobody_gave():
    error = icefield.InputError(ErrorMessage.of("rows", "is needed"))
    assert (error.received, error.hint) == (..., None)
    assert icefield.InputError(ErrorMessage.of("rows", "must not be None", None)).received is None


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_of_one_text_has_its_hint_as_a_field(kind):
    error = kind("There is no picture of it. Hint: use to_frame().")
    assert (error.parameter, error.received) == (None, ...)
    assert error.problem == "There is no picture of it."
    assert error.hint == "use to_frame()."
    assert kind("There is none.").hint is None
    assert kind().problem == ""


def test_an_error_that_the_library_raised_has_its_fields():
    with pytest.raises(icefield.InputError) as caught:
        icefield.Explainer(lambda rows: rows[:, 0], np.zeros((3, 1))).partial_dependence("agee")
    assert caught.value.parameter == "features"
    assert caught.value.problem == "names a column that X does not have"
    assert caught.value.received == "agee"
    assert caught.value.hint == "known names are '0'"


def test_a_statement_is_about_no_parameter():
    assert ErrorMessage.of(None, "All is lost.", hint="go home") == "All is lost. Hint: go home."


@pytest.mark.parametrize("received", [0, ..., lambda rows: rows])
def test_errors_cross_processes_with_their_fields(received):
    error = icefield.InputError(ErrorMessage.of("rows", "is odd", received, "write rows=9"))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert (again.parameter, again.problem, again.hint) == ("rows", "is odd", "write rows=9")


def test_what_was_received_stays_readable():
    assert len(brief("x" * 10_000)) == 120
    assert len(brief(np.zeros((100, 100)))) <= 120
    assert "\n" not in brief(np.zeros((3, 3)))

    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert brief(Rude()) == "<Rude>"


def test_close_names_come_first():
    assert did_you_mean("agee", ["age", "fare"]) == "did you mean 'age'?"
    assert did_you_mean("zzz", ["age", 3]) == "known names are 'age', '3'"
    assert did_you_mean("zzz", [f"column {i}" for i in range(20)]).endswith("'column 9' and 10 more")
    assert did_you_mean(("a", 1), [("a", 1), "b"]).startswith("did you mean")
    assert did_you_mean("age", []) == "there are no names to choose from"  # and no "known names are ."
