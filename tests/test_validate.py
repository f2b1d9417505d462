"""Checks of plain arguments: what passes, and in which form (what fails is in test_bad_inputs)."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

from icefield import Explainer, compare, validate
from icefield.data.frame import table_of

TABLE = table_of(pd.DataFrame({"x": [1.0, 2.0, 3.0], "w": [1, 0, 2], "paid": [True, False, True]}))


@pytest.mark.parametrize("value", [1, np.int64(7), np.uint8(3)])
def test_whole_numbers(value):
    validate.count("threads", value)


def test_a_count_may_be_optional(complains):
    validate.count("threads", None, optional=True)
    with complains("threads", "None", error=TypeError):
        validate.count("threads", None)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_flags(value):
    validate.flag("spread", value)
    validate.flag("spread", value, optional=True)


@pytest.mark.parametrize("value", [1, 0, "yes", None, np.ones(2)])
def test_what_is_no_flag(value, complains):
    with complains("spread", "True or False", error=TypeError):
        validate.flag("spread", value)


@pytest.mark.parametrize("value", [0.5, 1e-9, np.float32(0.25)])
def test_shares(value):
    validate.share("precision", value)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, ()),
        (0.5, (0.5,)),
        (0, (0.0,)),
        ([0.9, 0.1], (0.9, 0.1)),
        (np.array([0.0, 1.0]), (0.0, 1.0)),
        (pd.Series([0.25]), (0.25,)),
        ((q for q in (0.2, 0.3)), (0.2, 0.3)),
    ],
)
def test_probabilities_keep_their_order(given, read):
    found = validate.probabilities(given)
    assert found == read
    assert all(type(q) is float for q in found)


@pytest.mark.parametrize(
    "given",
    [
        [1, 0, 2],
        np.array([1.0, 0.0, 2.0]),
        "w",
        1,
        pd.Series([1, 0, 2], index=[9, 8, 7]),
        pl.Series([1, 0, 2]),
        (1, 0, 2),
    ],
    ids=str,
)
def test_weights_from_anything_with_one_number_a_row(given):
    found = validate.weights(given, TABLE)
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 0.0, 2.0]


def test_flags_are_weights_of_one_and_zero():
    assert validate.weights("paid", TABLE).tolist() == [1.0, 0.0, 1.0]
    assert validate.weights(np.array([True, False, True]), TABLE).tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("size", [1e-300, 1e-101, 1e101, 1e308])
def test_weights_whose_squares_are_no_numbers_are_refused(size, complains):
    with complains("weights", "ordinary size", "Hint", error=ValueError):
        validate.weights(np.array([size, size, 0.0]), TABLE)


def test_weights_are_not_the_callers_to_lose():
    given = np.array([1.0, 2.0, 3.0])
    validate.weights(given, TABLE)
    assert given.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("rows", "read"),
    [
        (3, [0, 1, 2]),
        (99, [0, 1, 2]),
        ([2, 0], [2, 0]),
        ([1, 1], [1, 1]),
        (np.array([True, False, True]), [0, 2]),
        (pd.Series([False, True, False]), [1]),
        (range(2), [0, 1]),
        (np.uint8([2]), [2]),
    ],
    ids=str,
)
def test_rows_by_number_mask_or_position(rows, read):
    found = validate.row_positions(rows, 3, seed=0)
    assert found.tolist() == read
    assert found.dtype == np.intp


def test_a_number_of_rows_is_a_sorted_seeded_sample_without_repeats():
    one, same, other = (validate.row_positions(20, 1000, seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert (np.diff(one) > 0).all()


@pytest.mark.parametrize("given", [[1, 0, 1], np.array([[1], [0], [1]]), pd.Series([1, 0, 1])], ids=str)
def test_observed_targets_of_one_column(given):
    assert validate.observed(given, TABLE).tolist() == [1, 0, 1]


def test_observed_targets_of_several_columns():
    assert validate.observed(np.zeros((3, 2)), TABLE).shape == (3, 2)


def test_listed_takes_any_sequence():
    assert validate.sequence("features", (f for f in "ab")) == ["a", "b"]


def test_old_words_still_work_and_name_the_new_one(complains):
    plt.switch_backend("agg")
    rows = np.random.default_rng(0).normal(size=(30, 2))
    ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1], rows)
    effect, both = ex.partial_dependence(0), compare({"one": ex, "other": ex})
    calls = {
        "spread=": (lambda **o: effect.plot(**o), {"spread": None}, "band="),
        "order=": (lambda **o: ex.ale(0, **o), {"order": "given"}, "level_order="),
        'plot("spread")': (lambda **o: ex.importance().plot("spread"), {}, 'plot("curve_sd")'),
        'measure="spread"': (lambda **o: ex.importance(**o), {"measure": "spread"}, 'measure="curve_sd"'),
    }
    for old, (call, given, new) in calls.items():
        with pytest.warns(DeprecationWarning, match=re.escape(f"`{old}` is `{new}` now")) as caught:
            call(**given)
        assert [one.filename for one in caught] == [__file__]
    for call in (
        lambda: ex.plot(spread=None),
        lambda: both.plot(0, spread=None),
        lambda: both.ale(0, order="given"),
    ):
        with pytest.warns(DeprecationWarning, match=r"`\w+=` is `\w+=` now"):
            call()
    plt.close("all")
    with complains("spread", "band", error=TypeError):
        effect.plot(spread="se", band="se")
    np.testing.assert_array_equal(
        ex.importance(measure="curve_sd")["importance"], ex.importance()["curve_sd"]
    )
