"""Cells of text as numbers, flags and levels: with arrow and without it, the same."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

from icefield.cli import csv_values
from icefield.cli.csv_values import NotANumber, as_numbers, infer_values, match_levels
from icefield.cli.missing import MissingCells
from icefield.libraries.category_types import KnownLevels

NONE = MissingCells()


@pytest.fixture(params=[True, False], ids=["arrow", "no arrow"])
def _with_and_without_arrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.param:
        monkeypatch.setattr(csv_values, "_numbers_by_arrow", lambda texts, missing: None)


@pytest.mark.usefixtures("_with_and_without_arrow")
@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "2", "-3"], np.array([1, 2, -3])),
        (["007", "+1"], np.array([7, 1])),
        (["1.5", "2", "1e5"], np.array([1.5, 2.0, 1e5])),
        (["1", "", "3"], np.array([1.0, np.nan, 3.0])),
        (["NA", "N/A", "NaN", "nan", "null", "None", ""], np.full(7, np.nan)),
        ([" 1", "2 "], np.array([1, 2])),
        (["inf", "-inf"], np.array([np.inf, -np.inf])),
        (["9223372036854775808", "1"], np.array([2.0**63, 1.0])),
        (["9007199254740993", "1"], np.array([9007199254740993, 1])),
        (["true", "False"], np.array([True, False])),
        (["True", ""], np.array([1.0, np.nan])),
        (["0.1", "0.30000000000000004", "5e-324", "1.7976931348623157e308"], np.array([0.1, 0.1 + 0.2, 5e-324, 1.7976931348623157e308])),
    ],
)  # fmt: skip
def test_numbers(texts: list[str], numbers: Any) -> None:
    found = as_numbers(texts, NONE.numbers)
    assert found.dtype == numbers.dtype
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.usefixtures("_with_and_without_arrow")
@pytest.mark.parametrize(
    "cell", ["abc", "1,5", "0x10", "1_000", "1-2", "--", "2020-01-01", "1 2", "NAN?", "True"]
)
def test_what_is_no_number_is_found(cell: str) -> None:
    with pytest.raises(NotANumber) as caught:
        as_numbers(["1", "", cell, "zz"], NONE.numbers)
    assert (caught.value.row, caught.value.cell) == (
        3 if cell == "True" else 2,
        "zz" if cell == "True" else cell,
    )


@pytest.mark.usefixtures("_with_and_without_arrow")
def test_random_numbers_come_back_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    numbers = np.frombuffer(rng.bytes(8 * 2_000), dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    np.testing.assert_array_equal(as_numbers([repr(float(v)) for v in numbers], ()), numbers)


def test_given_tokens_take_the_place_of_the_usual_ones() -> None:
    given = MissingCells(("?",))
    np.testing.assert_array_equal(as_numbers(["?", "", "2"], given.numbers), [np.nan, np.nan, 2.0])
    with pytest.raises(NotANumber):
        as_numbers(["NA", "2"], given.numbers)
    assert infer_values(["?", "NA", "2"], given).tolist() == [None, "NA", "2"]


@pytest.mark.parametrize(
    ("texts", "looks"),
    [
        (["01234", "5"], ["01234", "5"]),
        (["0", "0.5"], [0.0, 0.5]),
        (["-07", "1"], ["-07", "1"]),
        (["a", "NA", ""], ["a", "NA", None]),
        (["1", "NA"], [1.0, None]),
    ],
)
def test_without_a_word_from_a_model_a_column_is_what_it_looks_like(
    texts: list[str], looks: list[Any]
) -> None:
    found = [None if v != v else v for v in infer_values(texts, NONE).tolist()]
    assert found == looks


@pytest.mark.parametrize(
    ("levels", "values", "codes"),
    [
        (("NA", "None", "01234", "1234", "1e5", "nan"), ["1e5", "01234", "1234", "NA", "None", "nan", ""], [4, 2, 3, 0, 1, 5, -1]),
        ((1, 2, 30), ["1", "2.0", "30", "030", "NA", "", "4"], [0, 1, 2, 2, -1, -1, -1]),
        ((0.5, 1.0), ["0.5", "1", "5e-1"], [0, 1, 0]),
        ((False, True), ["True", "false", "1", "0", ""], [1, 0, 1, 0, -1]),
        (("1", "2"), [1, 2.0, np.int64(1), None, np.nan], [0, 1, 0, -1, -1]),
        ((2**60, 2**60 + 1), [str(2**60 + 1), str(2**60)], [1, 0]),
        (("", "a"), ["", "a"], [0, 1]),
        ((" a", "a"), [" a", "a"], [0, 1]),
        (("True", "x"), [True, "x"], [0, 1]),
        ((dt.date(2020, 1, 2),), ["2020-01-02", dt.date(2020, 1, 2)], [0, 0]),
    ],
)  # fmt: skip
def test_levels_are_matched_as_they_are_written(
    levels: tuple[Any, ...], values: list[Any], codes: list[int]
) -> None:
    assert match_levels(values, KnownLevels(levels), NONE).codes.tolist() == codes


def test_values_never_seen_are_counted() -> None:
    found = match_levels(["a", "b", "b", "c", "", "NA"], KnownLevels(("a",)), NONE)
    assert found.codes.tolist() == [0, -1, -1, -1, -1, -1]
    assert dict(found.unseen) == {"b": 2, "c": 1, "NA": 1}
    assert found.unseen_rows.tolist() == [1, 2, 3, 5]
    missing = MissingCells(("NA",))
    assert match_levels(["a", "NA"], KnownLevels(("a", "NA")), missing).codes.tolist() == [0, -1]
