"""Errors: one wording, and every kind also the built-in a caller would expect."""

from __future__ import annotations

import numpy as np
import pytest

import icefield
from icefield.errors import complaint, did_you_mean, shortened


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (icefield.InputError, ValueError),
        (icefield.InputTypeError, TypeError),
        (icefield.ModelError, ValueError),
        (icefield.EngineError, ValueError),
        (icefield.BudgetError, ValueError),
        (icefield.MissingDependencyError, ImportError),
    ],
)
def test_every_error_is_icefields_and_a_built_in(error, builtin):
    assert issubclass(error, icefield.IcefieldError)
    assert issubclass(error, builtin)


def test_a_complaint_says_what_which_and_what_to_write():
    text = complaint("rows", "must be at least 1", 0, "write rows=100.")
    assert text == "Argument `rows` must be at least 1, got 0. Hint: write rows=100."
    assert complaint("rows", "is needed") == "Argument `rows` is needed."
    assert complaint("rows", "must not be None", None) == "Argument `rows` must not be None, got None."


def test_what_was_received_stays_readable():
    assert len(shortened("x" * 10_000)) == 120
    assert len(shortened(np.zeros((100, 100)))) <= 120
    assert "\n" not in shortened(np.zeros((3, 3)))

    class Rude:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shortened(Rude()) == "<Rude>"


def test_close_names_come_first():
    assert did_you_mean("agee", ["age", "fare"]) == "did you mean 'age'?"
    assert did_you_mean("zzz", ["age", 3]) == "known names are 'age', '3'"
    assert did_you_mean("zzz", [f"column {i}" for i in range(20)]).endswith(", ...")
    assert did_you_mean(("a", 1), [("a", 1), "b"]).startswith("did you mean")
