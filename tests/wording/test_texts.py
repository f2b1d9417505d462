"""Any name and any value becomes one line that can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.wording.names import abbreviated, name_text, wrapped
from icefield.wording.sentences import plain_words
from icefield.wording.values import count_text, duration_unit, shown_value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("age", "age"),
        ("", "(empty)"),
        (" \t\n", "(empty)"),
        ("two\nlines", "two lines"),
        ("nul\0", r"nul\x00"),
        ("\u202eright to left", r"\u202eright to left"),
        ("\ud800", r"\ud800"),
        (None, "missing"),
        (float("nan"), "missing"),
        (7, "7"),
        (("a", "b"), "a × b"),
        ("東京", "東京"),
    ],
)
def test_names(name, text):
    assert name_text(name) == text


def test_long_names_keep_both_ends():
    text = name_text("a" * 200 + "z" * 100)
    assert len(text) == 60
    assert text.startswith("aaa")
    assert text.endswith("zzz")
    assert "…" in text


def test_abbreviating_leaves_short_text_alone():
    assert abbreviated("short", 5) == "short"


@pytest.mark.parametrize("width", [8, 14, 30])
def test_wrapping_loses_nothing(width):
    text = "number_of_open_credit_lines_and_more"
    assert wrapped(text, width).replace("\n", "") == text
    spaced = "change in probability of survived"
    assert "".join(wrapped(spaced, width).split()) == "".join(spaced.split())
    assert all(len(line) <= width for line in wrapped(spaced, width).split("\n"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(22.0), "22"),
        (0.123456, "0.1235"),
        (np.int64(1234), "1234"),
        (123456, "123,456"),
        (True, "True"),
        (np.datetime64("2011-03-04T05:06"), "2011-03-04 05:06"),
        (np.datetime64("2011-03-04"), "2011-03-04"),
        (np.timedelta64(36, "h"), "1.5 days"),
        (np.datetime64("NaT", "D"), "missing"),
        ("Queenstown", "Queenstown"),
    ],
)
def test_values(value, text):
    assert shown_value(value) == text


def test_durations_get_a_readable_unit():
    assert duration_unit(np.array([30.0, 90.0])) == (60.0, "minutes")
    assert duration_unit(np.array([0.002])) == (1e-3, "milliseconds")


def test_counts():
    assert [count_text(c) for c in (7.0, 1234.0, 2.25, 5e6)] == ["7", "1234", "2.25", "5.0M"]


def test_levels_that_begin_and_end_alike_are_told_apart_in_a_sentence():
    import pandas as pd

    from icefield import Explainer

    names = [
        f"Municipality of the {side} river district somewhere in the land"
        for side in ("northern", "southern")
    ]
    frame = pd.DataFrame({"place": pd.Categorical(names * 30), "x": np.arange(60.0)})
    explainer = Explainer(lambda r: (r["place"] == names[1]).to_numpy() * 2.0, frame)
    said = plain_words(explainer.summary().readings["place"], "the average prediction")
    assert "north" in said
    assert "south" in said
