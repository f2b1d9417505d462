"""What is said is true of what a reader cares about: missing values, units, constants, ties, rare events, one-hot columns."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer, Grid
from icefield.core.prediction_level import prediction_level
from icefield.statistics.fit_check import fit_check
from icefield.statistics.one_hot import one_hot_groups
from icefield.wording.overview import CONSTANT
from icefield.wording.sentences import plain_words

N = 600


def frame(seed=0, rows=N, names="abc"):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.normal(size=rows) for name in names})


def without(X, column, share, seed=1):
    gone = np.random.default_rng(seed).random(len(X)) < share
    return X.assign(**{column: X[column].mask(gone)})


# --- 1: missing values take part ---------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("share", [0.05, 0.16, 0.4, 0.8])
@pytest.mark.parametrize("jump", [5.0, -3.0])
def test_missing_values_take_part(share, jump):
    X = without(frame(), "a", share)
    ex = Explainer(lambda d: jump * d["a"].isna().to_numpy() + 0.2 * d["b"].to_numpy(), X, row_by_row=True)
    summary = ex.summary()
    assert summary["feature"][0] == "a"
    assert ex.importance()["feature"][0] == "a"
    reading = summary.readings["a"]
    p = float(X["a"].isna().mean())
    unit = float(prediction_level(ex.study).std[0])
    if reading.unit_name == "SD":
        assert reading.strength == pytest.approx(abs(jump) * np.sqrt(p * (1 - p)) / unit, rel=1e-6)
    assert reading.shape == "flat"
    assert reading.responds
    side = "higher" if jump > 0 else "lower"
    assert f"{side} where it is missing ({100 * p:.0f} % of rows)" in reading.sentence
    assert summary["shape"][0].startswith(f"flat where known, {side} where missing")
    assert f"{side} where it is missing" in summary.opening
    assert "where a is missing" in plain_words(reading, "the average prediction")


def test_missing_values_take_part_in_levels_differences_and_regions():
    X = without(frame(), "a", 0.4).assign(k=np.where(np.arange(N) % 3 == 0, "x", "y"))
    X.loc[np.arange(N) % 5 == 0, "k"] = None

    def model(d):
        gone = d["a"].isna().to_numpy()
        return gone * np.where(d["b"] > 0, 3.0, -3.0) + 4.0 * d["k"].isna().to_numpy()

    ex = Explainer(model, X, row_by_row=True)
    summary = ex.summary()
    a, k = summary.readings["a"], summary.readings["k"]
    assert a.interacts[0][0] == "b"
    assert "b" in ex.regions("a")["rule"][0]
    assert ex.regions("a").heterogeneity == pytest.approx(a.heterogeneity, abs=0.005)
    assert k.missing_moves
    assert "higher where it is missing" in k.sentence


def test_missing_values_take_no_part_in_the_classical_measure():
    X = without(frame(), "a", 0.4)
    table = Explainer(lambda d: 5.0 * d["a"].isna().to_numpy(), X, row_by_row=True).importance(
        measure="curve_sd"
    )
    assert table["curve_sd"].max() < 1e-12


def test_a_missing_value_like_any_other_is_not_a_finding():
    X = without(frame(), "a", 0.3)
    reading = Explainer(lambda d: d["a"].fillna(0.0).to_numpy(), X, row_by_row=True).summary().readings["a"]
    assert not reading.missing_moves
    assert "missing" not in reading.sentence


@pytest.mark.parametrize("jump", [2.0, -2.0])
def test_missing_values_are_said_plainly_beside_the_classical_measure(jump):
    X = without(frame(), "a", 0.3)
    # Flat where it is known, but for a few rows far out, which an even grid counts as much as all others.
    ex = Explainer(
        lambda d: jump * d["a"].isna().to_numpy() + 0.8 * (d["a"] > 2.5).to_numpy() + d["b"].to_numpy(),
        X,
        row_by_row=True,
    )
    table = ex.importance(grid=Grid(trim=(0, 1)))
    said = table["shape"][table["feature"].tolist().index("a")]
    assert said.startswith(f"flat where known, {'higher' if jump > 0 else 'lower'} where missing")
    assert "where the data is" not in said


def test_a_column_without_values_has_no_range():
    X = frame().assign(gone=np.full(N, np.nan))
    sentence = Explainer(lambda d: d["a"].to_numpy(), X, row_by_row=True).summary().readings["gone"].sentence
    assert sentence == "gone: flat on average (strength 0.00 SD of the predictions, under 0.07)."


# --- 2: one curve is read ----------------------------------------------------------------------------


def test_a_reading_of_a_given_grid_says_so():
    ex = Explainer(lambda d: d["a"].to_numpy() ** 3, frame(), row_by_row=True)
    for grid in (Grid("uniform"), 7, [-1.0, 0.0, 1.0]):
        assert "read on the grid given" in ex.partial_dependence("a", grid=grid).reading.sentence
    for usual in (ex.partial_dependence("a"), ex.ice("a"), ex.partial_dependence("a", grid=Grid("auto"))):
        assert "grid" not in usual.reading.sentence


@pytest.mark.parametrize("tail", [lambda a: 8 * np.maximum(0, a - 1.9), lambda a: -6 * (a < -2.0)])
def test_the_curve_that_is_read_is_the_one_that_is_shown(tail):
    ex = Explainer(
        lambda d: tail(d["a"].to_numpy()) + 0.7 * d["b"].to_numpy(), frame(rows=900), row_by_row=True
    )
    decided = ex.summary().readings["a"]
    for reading in (ex.partial_dependence("a").reading, ex.ice("a").reading):
        assert (reading.shape, reading.direction) == (decided.shape, decided.direction)
        assert reading.strength == pytest.approx(decided.strength, rel=0.02)


def test_half_of_the_change_is_net():
    x = np.linspace(0, 10, 600)
    X = pd.DataFrame({"a": x, "b": np.random.default_rng(0).normal(size=600)})
    # Wiggles of no net change before 6, all of the rise after it.
    ex = Explainer(
        lambda d: 0.12 * np.sin(12 * d["a"]) * (d["a"] < 6) + 1.5 * np.clip(d["a"] - 6, 0, 3),
        X,
        row_by_row=True,
    )
    reading = ex.partial_dependence("a").reading
    assert reading.one_directional
    assert reading.changes_at[0] > 5.9


@pytest.mark.parametrize(
    ("depth", "word"), [(0.0, "monotone"), (0.1, "mostly monotone"), (0.4, "non-monotone")]
)
def test_monotone_only_without_reversals(depth, word):
    X = pd.DataFrame({"a": np.linspace(0, 3, 600), "b": np.random.default_rng(0).normal(size=600)})

    def model(d):
        a = d["a"].to_numpy()
        return np.interp(a, [0, 1, 2, 3], [0.0, 0.5, 0.5 - depth, 1.0]) + 0.3 * np.maximum(0, a - 2.5)

    reading = Explainer(model, X, row_by_row=True).partial_dependence("a").reading
    assert reading.shape in (word, "linear" if word == "monotone" else word)
    assert ("mostly increasing" in reading.sentence) == (word == "mostly monotone")


# --- 3: the noise caution ----------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("columns", [4, 12])
def test_models_of_noise_are_cautioned(seed, columns):
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(300, columns)), rng.normal(size=300)
    for model in (LinearRegression(), DecisionTreeRegressor(max_depth=4, random_state=0)):
        check = fit_check(Explainer(model.fit(X, y), X, y=y).study)
        assert "may be noise" in check.caution or "hardly anything about y" in check.caution


@pytest.mark.parametrize("rate", [-5.5, -4.5])
def test_good_models_of_rare_events_are_not_cautioned(rate):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(3)
    X = rng.normal(size=(12_000, 4))
    y = (rng.random(12_000) < 1 / (1 + np.exp(-(rate + 1.3 * X[:, 0] - X[:, 1])))).astype(int)
    model = LogisticRegression().fit(X[:6000], y[:6000])
    check = fit_check(Explainer(model, X[6000:], y=y[6000:]).study)
    assert check.classes
    assert check.caution == ""
    assert str(check).startswith("AUC 0.")


def test_too_few_events_are_said_to_be_too_few():
    from sklearn.linear_model import LogisticRegression

    X = np.random.default_rng(0).normal(size=(800, 3))
    y = (np.argsort(np.argsort(-X[:, 0])) < 9).astype(int)
    check = fit_check(Explainer(LogisticRegression().fit(X, y), X, y=y).study)
    assert check.caution == ""
    assert "too few events (9) to tell" in str(check)


# --- 4: several outputs ------------------------------------------------------------------------------


def test_several_outputs_are_told_apart():
    ex = Explainer(
        lambda d: np.column_stack([d["a"] + 0.3 * d["b"], -2 * d["a"] + d["b"]]), frame(), row_by_row=True
    )
    summary = ex.summary()
    assert summary["output"].tolist() == [r.output for r in summary.readings.values()]
    assert any(
        note.startswith("a: linear, increasing in") and "linear, decreasing in" in note
        for note in summary.notes
    )
    assert [f"a ({r.output}):" in r.sentence for r in summary.decisions["a"].readings] == [True, True]


def test_classes_are_told_apart():
    from sklearn.linear_model import LogisticRegression

    X = frame()
    y = np.digitize(X["a"], [-0.5, 0.5])
    summary = Explainer(LogisticRegression().fit(X, y), X).summary()
    assert "output" in summary.columns
    assert "output" not in Explainer(LogisticRegression().fit(X, y > 0), X).summary().columns


@pytest.mark.parametrize("sizes", [(1.0, 100.0), (1.0, 1.0), (1e-6, 5.0)])
def test_several_outputs_are_ranked_by_the_number_that_is_printed(sizes):
    ex = Explainer(
        lambda d: np.column_stack([sizes[0] * (d["a"] + 0.2 * d["b"]), sizes[1] * (d["b"] + 0.5 * d["c"])]),
        frame(rows=1500),
        row_by_row=True,
    )
    summary = ex.summary()
    printed = [float(size) for size in re.findall(r"([\d.]+) SD", summary.opening)]
    assert len(printed) == 3
    assert printed == sorted(printed, reverse=True)
    assert summary["output"].tolist()[:2] in ([0, 1], [1, 0], ["0", "1"], ["1", "0"])
    assert all(f"(output {one.output}" in summary.opening for one in summary.readings.values())


@pytest.mark.parametrize("classes", [3, 4])
def test_classes_that_a_feature_moves_apart_are_told_apart(classes):
    from sklearn.linear_model import LogisticRegression

    X = frame(rows=900)
    y = np.digitize(X["a"] + 0.2 * X["b"], np.quantile(X["a"], np.arange(1, classes) / classes))
    ex = Explainer(LogisticRegression().fit(X, y), X, y=y)
    by_class = {reading.output: reading for reading in ex.summary().decisions["a"].readings}
    assert by_class[0].direction == "decreasing"
    assert by_class[classes - 1].direction == "increasing"
    note = next(note for note in ex.summary().notes if note.startswith("a: "))
    assert "decreasing in" in note
    assert "increasing in" in note


def test_plain_words_and_regions_say_of_which_output_they_speak():
    from icefield.report import build

    for target, what in ((None, "prediction of output 1"), ("delay", "predicted delay, output 1 ")):
        ex = Explainer(
            lambda d: np.column_stack([d["c"], d["a"] * np.sign(d["b"]) + 0.3 * d["a"]]),
            frame(),
            row_by_row=True,
            target_name=target,
        )
        line = next(line for line in build(ex.study).plain if line.name == "a")
        assert what in line.sides[0].text
        assert all(said.endswith(" (1)") for said in ex.regions("a")["effect"])


# --- 5: units ----------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("far", [1, 3, 5])
def test_a_handful_of_rows_never_makes_the_rest_flat(far):
    X = frame(rows=1000)
    odd = set(X["a"][:far])

    def model(d):
        return np.where(d["a"].isin(odd), 10_000.0, d["a"] + 0.5 * d["b"])

    summary = Explainer(model, X, row_by_row=True).summary()
    assert "flat" not in summary.readings["b"].shape
    assert "robust SD of the predictions" in summary.readings["b"].sentence
    assert any(note.startswith("sizes are in robust SD") for note in summary.notes)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("share", [0.005, 0.01, 0.02, 0.028])
@pytest.mark.parametrize("far", [300.0, -10_000.0])
def test_a_few_per_cent_of_the_rows_never_make_the_rest_flat(share, far):
    X = frame(rows=2000)
    odd = set(X["a"][: int(share * 2000)])
    ex = Explainer(
        lambda d: np.where(d["a"].isin(odd), far, d["a"] + 0.5 * d["b"] + 0.3 * d["c"]), X, row_by_row=True
    )
    readings = ex.summary().readings
    assert [readings[name].flat for name in "abc"] == [False] * 3
    assert float(prediction_level(ex.study).unit[0]) < 5


def test_long_tails_keep_their_unit():
    X = frame(rows=2000)
    ex = Explainer(lambda d: np.exp(1.2 * d["a"]) + d["b"], X, row_by_row=True)
    assert prediction_level(ex.study).unit is None  # no group far beyond all others
    assert not ex.summary().readings["a"].flat


@pytest.mark.parametrize(
    ("size", "error", "unit", "text"),
    [
        (0.444, 0.01148, 0.25, "11.1 ± 0.3 percentage points"),
        (0.0608, 0.0124, 1.0, "6.1 ± 1.2 percentage points"),
        (0.9, 0.2, 0.5, "45 ± 10 percentage points"),
        (0.41234, 0.0187, None, "0.41 ± 0.02 SD"),
        (0.41234, 0.004, None, "0.41 SD"),
    ],
)
def test_an_error_has_two_digits_at_most_and_its_number_as_many_places(size, error, unit, text):
    from dataclasses import replace

    from icefield.wording.sentences import _with_error

    reading = Explainer(lambda d: d["a"], frame(), row_by_row=True).partial_dependence("a").reading
    if unit is not None:
        reading = replace(reading, scale_label="probability", unit=unit)
    assert _with_error(reading, size, error) == text


def test_sizes_are_in_the_unit_of_the_target_where_it_is_known():
    X = without(frame(), "a", 0.2)
    said = {"target_name": "delay", "units": {"delay": "min"}}
    ex = Explainer(
        lambda d: 12 * d["a"].isna().to_numpy() + 9 * d["b"].to_numpy(), X, row_by_row=True, **said
    )
    summary = ex.summary()
    assert "12 min higher where it is missing" in summary.readings["a"].sentence
    assert re.search(
        r"b matters most: it moves predictions by [\d.]+ min \(SD\), on average from \S+ min to \S+ min",
        summary.opening,
    )
    assert (
        "SD of the predictions"
        in Explainer(lambda d: d["b"], X, row_by_row=True).summary().readings["b"].sentence
    )


# --- 6: constant models ------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("value", [0.3, 0.0, 1 / 3, 1e9 + 0.1, -7e-9])
def test_constant_models_do_not_move(value):
    ex = Explainer(lambda d: np.full(len(d), value), frame())
    summary = ex.summary()
    assert summary.opening == CONSTANT
    assert summary["movement"].tolist() == [0.0, 0.0, 0.0]
    assert all(not r.tails and r.shape == "flat" for r in summary.readings.values())
    assert ex.importance()["importance"].tolist() == [0.0, 0.0, 0.0]


def test_a_dummy_and_trees_without_splits_are_constant():
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import RandomForestRegressor

    X = frame()
    y = np.random.default_rng(0).normal(size=N)
    for model in (
        DummyRegressor(),
        RandomForestRegressor(20, max_depth=1, min_samples_leaf=N, random_state=0),
    ):
        summary = Explainer(model.fit(X, y), X).summary()
        assert (summary["movement"] == 0).all()
        assert summary.opening == CONSTANT


def test_copies_that_cancel_are_no_constant_model():
    X = frame().assign(b=lambda d: d["a"])
    summary = Explainer(lambda d: d["a"] - d["b"], X, row_by_row=True).summary()
    assert summary.opening != CONSTANT
    assert summary["movement"][0] > 0.5


# --- 7: regions do not deny what the summary names ---------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize("share", [0.02, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_small_regions_are_reported_as_small(share, seed):
    X = frame(seed, 1000)
    X["g"] = (np.random.default_rng(seed + 50).random(1000) < share).astype(int)
    ex = Explainer(lambda d: np.where(d["g"] == 1, -4, 1) * d["a"] + 0.3 * d["b"], X, row_by_row=True)
    assert ex.summary().decisions["a"].partner[0] == "g"
    found = ex.regions("a")
    assert sorted(found["rule"].tolist()) == ["g == 0", "g == 1"]
    assert any("a small region" in note for note in found.notes)
    reading = ex.summary().readings["a"]
    assert reading.interaction_errors[0] > 0
    assert " ± " in reading.sentence


SMALL = {
    "a level": lambda r, n: pd.Categorical(np.where(r.random(n) < 0.025, "vip", r.choice(["x", "y"], n))),
    "a tail": lambda r, n: r.exponential(1.0, n),
    "missing": lambda r, n: np.where(r.random(n) < 0.025, np.nan, r.normal(size=n)),
}


@pytest.mark.parametrize("kind", list(SMALL))
def test_small_regions_of_other_kinds_are_found_and_said(kind):
    X = frame(1, 1000)
    X["g"] = SMALL[kind](np.random.default_rng(60), 1000)
    few = {"a level": lambda g: g == "vip", "a tail": lambda g: g > 3.7, "missing": lambda g: g.isna()}[kind]
    assert 10 <= few(X["g"]).sum() <= 40
    ex = Explainer(lambda d: np.where(few(d["g"]), -4, 1) * d["a"] + 0.3 * d["b"], X, row_by_row=True)
    assert ex.summary().decisions["a"].partner[0] == "g"
    found = ex.regions("a")
    assert {split.column for split in found.splits} == {"g"}
    assert found.removed > 0.95
    assert any("a small region" in note for note in found.notes)


def test_an_interaction_just_below_what_is_named_is_not_denied():
    """Differences of 0.15 SD, by one feature whose interaction is a little less than that at the rows it is measured at."""
    rng = np.random.default_rng(119)
    X = pd.DataFrame(rng.normal(size=(800, 3)), columns=list("abc"))
    seen = []
    for size in np.linspace(0.156, 0.162, 4):
        ex = Explainer(lambda d, w=size: d["a"] + w * d["b"] * d["c"] + 0.2 * d["b"], X, row_by_row=True)
        reading = ex.summary().readings["c"]
        if reading.curves_differ and not reading.interacts:
            assert "no single feature" not in reading.sentence
            assert re.search(
                r"b accounts for \d+ % of it, by an interaction below the 0.15 SD", reading.sentence
            )
            assert {split.column for split in ex.regions("c").splits} == {"b"}
            seen.append(size)
    assert seen


# --- 8: columns that are one feature -----------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("as_type", [int, float, bool])
def test_one_hot_columns_are_read_as_one(as_type):
    X = frame(names="a")
    city = np.random.default_rng(1).choice(list("xyz"), N)
    for level in "xyz":
        X[f"city_{level}"] = (city == level).astype(as_type)
    group = {"city": ["city_x", "city_y", "city_z"]}
    ex = Explainer(
        lambda d: d["a"] + 2 * d["city_x"].astype(float) - d["city_y"].astype(float), X, row_by_row=True
    )
    assert one_hot_groups(ex.study) == {"city": ("city_x", "city_y", "city_z")}
    summary = ex.summary()
    place = summary["feature"].tolist().index("city_x")
    assert summary["warning"][place] == f"these columns are one feature; pass them as one: {group}"
    assert summary["next"][place] == f"partial_dependence({group})"
    ex.partial_dependence(group)  # what is advised works
    assert not any("ALE" in str(text) for text in summary["warning"])


def test_flags_that_overlap_are_not_one_feature():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"has_{name}": (rng.random(N) < 0.3).astype(int) for name in "xyz"})
    assert one_hot_groups(Explainer(lambda d: d.sum(axis=1), X).study) == {}


def test_a_group_without_its_first_level_and_unnamed_columns_are_found():
    codes = np.random.default_rng(0).integers(0, 4, N)
    hot = (codes[:, None] == np.arange(4)).astype(float)
    dropped = pd.DataFrame(hot[:, 1:], columns=["k_1", "k_2", "k_3"])
    assert one_hot_groups(Explainer(lambda d: d.sum(axis=1), dropped).study) == {"k": ("k_1", "k_2", "k_3")}
    assert list(one_hot_groups(Explainer(lambda d: d.sum(axis=1), hot).study).values()) == [(0, 1, 2, 3)]


# --- 9: many small effects ---------------------------------------------------------------------------

MANY_EFFECTS = [(60, 0.1), (150, 0.0), (150, 0.1), (200, 0.0), (240, 0.0), (240, 0.1)]


@pytest.mark.parametrize(
    ("count", "spread"), [(40, 0.0), *(pytest.param(n, s, marks=pytest.mark.slow) for n, s in MANY_EFFECTS)]
)
def test_many_small_effects_share(count, spread):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, count))).add_prefix("x")
    size = 1.0 + spread * rng.normal(size=count)
    opening = Explainer(lambda d: d.to_numpy() @ size, X, row_by_row=True).summary().opening
    assert opening.startswith(f"Over 400 rows, no single feature stands out: {count} share what moves")
    assert "matter" not in opening


def test_many_small_effects_do_not_hide_one_that_stands_out():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 50))).add_prefix("x")
    opening = (
        Explainer(lambda d: d.to_numpy().sum(axis=1) + 4 * d["x7"], X, row_by_row=True).summary().opening
    )
    assert "x7 matters most" in opening
    assert "stands out" not in opening


def test_few_features_about_as_strong_are_named():
    X = frame(rows=1500, names="abcdef")
    opening = Explainer(lambda d: d.to_numpy().sum(axis=1), X, row_by_row=True).summary().opening
    assert "all 6 features move" in opening
    assert "stands out" not in opening


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [0.08, 0.09, 0.1])
def test_exact_lines_are_linear_however_small(size):
    X = frame(rows=1200)
    reading = Explainer(lambda d: size * d["a"] + d["b"], X, row_by_row=True).summary().readings["a"]
    assert reading.shape == "linear"


# --- 10: ties, and places as people write them -------------------------------------------------------


def test_ties_of_levels_are_said():
    shops = np.array([f"s{i:02d}" for i in range(8)])
    X = pd.DataFrame({"shop": np.random.default_rng(0).choice(shops, N)})
    size = dict(zip(shops, [1.0, 20.0, 30.0, 47.2, 12.0, 47.1, 47.15, 5.0]))
    reading = (
        Explainer(lambda d: d["shop"].map(size).to_numpy(float), X, row_by_row=True)
        .summary()
        .readings["shop"]
    )
    assert "highest for s03, s05 and s06, lowest for s00" in reading.sentence
    assert "highest for s03, s05 and s06" in plain_words(reading, "predicted sales")
    assert reading.high_ties == ("s03", "s05", "s06")


@pytest.mark.parametrize(
    ("heights", "said"),
    [
        ([5.0, 5.01, 1.0, 0.99], "highest for s00 and s01, lowest for s02 and s03"),
        ([5.0, 5.0, 5.0, 5.0, 0.0], "highest for s00 and 3 others, lowest for s04"),
        ([5.0, 4.0, 1.0, 0.0], "highest for s00, lowest for s03"),
    ],
)
def test_ties_at_either_end_are_said_and_only_ties(heights, said):
    shops = [f"s{i:02d}" for i in range(len(heights))]
    X = pd.DataFrame({"shop": np.random.default_rng(0).choice(shops, N)})
    size = dict(zip(shops, heights))
    ex = Explainer(lambda d: d["shop"].map(size).to_numpy(float), X, row_by_row=True)
    assert said in ex.summary().readings["shop"].sentence


def test_features_about_as_strong_are_said_to_be():
    X = frame(rows=2000)
    tie = Explainer(lambda d: d["a"] + 1.01 * d["b"] + 0.1 * d["c"], X, row_by_row=True).summary().opening
    assert "matter most, about equally" in tie
    assert re.search(r"\. b \(.* and a \(.* matter most", tie)
    clear = Explainer(lambda d: 3 * d["a"] + d["b"], X, row_by_row=True).summary().opening
    assert "a matters most: " in clear


def test_dates_have_a_before_and_an_after():
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), unit="D")
    X = frame().assign(day=days)

    def model(d):
        t = ((d["day"] - days[0]) / pd.Timedelta(days=1)).to_numpy() / N
        return np.sin(12 * t) - 8 * np.maximum(0.03 - t, 0) * 20 + 8 * np.maximum(t - 0.97, 0) * 20

    summary = Explainer(model, X, row_by_row=True).summary()
    reading = summary.readings["day"]
    assert {tail.side for tail in reading.tails} == {"below", "above"}
    for text in (reading.sentence, summary["shape"][0], plain_words(reading, "the average prediction")):
        assert " before 2020" in text
        assert " after 2021" in text
        assert "below" not in text


def test_places_keep_a_digit_and_days_are_whole():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": np.exp(rng.normal(0, 3, 900)), "day": rng.integers(1, 366, 900)})
    ex = Explainer(lambda d: 3 * np.log(d["dose"]) + 5 * (d["day"] > 185), X, row_by_row=True)
    readings = ex.summary().readings
    assert "(at 0.0" in plain_words(readings["dose"], "the average prediction")
    assert readings["day"].changes_at[0] == round(readings["day"].changes_at[0])
    assert ".5" not in plain_words(readings["day"], "the average prediction").split(" at ")[-1]


@pytest.mark.parametrize("factor", [1.0, 1.02, 1.3, 3.0])
def test_what_matters_most_is_what_has_the_largest_number(factor):
    X = frame(rows=1500).assign(b=lambda d: np.where(np.abs(d["b"]) > 2.2, 6 * d["b"], d["b"]))
    # The range of b is far larger than that of a; over the data it moves about as much, or more.
    ex = Explainer(lambda d: factor * 3 * d["a"] + d["b"] + 0.3 * d["c"], X, row_by_row=True)
    opening, table = ex.summary().opening, ex.summary()
    printed = [float(size) for size in re.findall(r"([\d.]+) SD", opening)]
    assert printed == sorted(printed, reverse=True)
    assert [f"{size:.2f}" for size in printed] == [
        f"{size:.2f}" for size in table["movement"][: len(printed)]
    ]
    tied = table["movement"][1] >= 0.95 * table["movement"][0]
    assert ("about equally" in opening) == tied


# --- 11: few rows carry the variance -----------------------------------------------------------------


@pytest.mark.parametrize(("share", "said"), [(0.02, True), (0.03, True), (0.5, False), (1.0, False)])
def test_standard_errors_of_few_rows_are_said_to_be_small(share, said):
    X = frame(rows=300)
    X["c"] = (np.random.default_rng(4).random(300) < share).astype(float)
    reading = Explainer(lambda d: d["a"] + 40 * d["c"] * d["b"], X, row_by_row=True).ice("a").reading
    assert (reading.error_rows is not None) == said
    assert ("standard errors rest on about" in reading.sentence) == said


# --- 12: pairs of the model that the data supports ---------------------------------------------------


def drawn(truth, seed=0, rows=700, noise=0.5):
    """Rows with two that go together, a flag and levels; targets with noise; a boosting fitted to them."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(seed)
    X = frame(seed, rows, "abcd").assign(flag=(rng.random(rows) < 0.3).astype(int))
    X["b"] = 0.9 * X["a"] + 0.44 * X["b"]
    X["k"] = pd.Categorical(rng.choice(list("xyz"), rows))
    signal = np.asarray(truth(X), dtype=float)
    y = signal + noise * (signal.std() or 1.0) * rng.normal(size=rows)
    model = HistGradientBoostingRegressor(
        max_iter=80, categorical_features="from_dtype", random_state=0, early_stopping=False
    )
    return model.fit(X, y), X, y


def told(ex):
    """The pairs worth naming, with what is said of them."""
    table, unit = ex.interactions(overall=False), float(prediction_level(ex.study).std[0])
    if "supported" not in table.columns:
        return {}
    return {
        frozenset(names): said
        for names, size, said in zip(table["features"], table["strength"], table["supported"])
        if size >= 0.15 * unit
    }


PAIRED = {
    "product": (lambda d: d["a"] + d["c"] * d["d"], {"c", "d"}),
    "sign": (lambda d: d["a"] + d["c"] * np.sign(d["d"]), {"c", "d"}),
    "corner": (lambda d: d["a"] + 3.0 * ((d["c"] > 0) & (d["d"] > 0)), {"c", "d"}),
    "flag": (lambda d: d["a"] + np.where(d["flag"] == 1, -1.0, 1.0) * d["c"], {"c", "flag"}),
    "levels": (
        lambda d: d["a"] + d["k"].map({"x": 1.0, "y": -1.0, "z": 0.0}).astype(float) * d["c"],
        {"c", "k"},
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", list(PAIRED))
@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_pairs_of_the_data_are_supported(kind, noise):
    truth, pair = PAIRED[kind]
    model, X, y = drawn(truth, noise=noise)
    ex = Explainer(model, X, y=y)
    assert told(ex)[frozenset(pair)] == "yes"
    for one in pair:
        reading = ex.summary().readings[one]
        assert reading.interacts[0][0] in pair
        assert reading.interactions_supported[0] == "yes"
        assert "not supported" not in reading.sentence.split(" and ")[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(4))
def test_pairs_that_only_the_model_has_are_not_supported_and_rank_lower(seed):
    from icefield.report import build

    model, X, y = drawn(lambda d: 2 * d["a"] + d["b"] ** 2 + 0.7 * d["c"] * np.sign(d["d"]), seed)
    ex = Explainer(model, X, y=y)  # the rows it was fitted to, whose noise it follows
    said = told(ex)
    assert said[frozenset("ab")] == "no"
    assert said[frozenset("cd")] == "yes"
    pairs = ex.interactions().pairs()
    assert set(pairs["features"][0]) == {"c", "d"}
    assert pairs["strength"][pairs["features"].tolist().index(("a", "b"))] > 0.15
    frame = pairs.to_frame()
    assert frame.loc[(frame["feature_1"] == "a") & (frame["feature_2"] == "b"), "supported"].item() == "no"
    summary = ex.summary()
    assert "b (" in summary.readings["a"].sentence
    assert "in the model, not supported by held-out rows" in summary.readings["a"].sentence
    assert "in the model, not supported by held-out rows: a x b" in summary.notes
    assert summary["supported"][summary["feature"].tolist().index("a")] == "no"
    page = build(ex.study)
    assert "not supported by held-out rows: a x b" in page.matrix.note
    assert "(held-out rows do not support it)" in " ".join(line.sides[0].text for line in page.plain)
    assert page.surfaces[0].names in (["c", "d"], ["d", "c"])


def test_rules_on_a_pair_that_only_the_model_has_say_so():
    from dataclasses import replace

    from icefield.statistics.decision import decision_of

    truth = PAIRED["flag"][0]
    _, X, _ = drawn(truth)
    y = X["a"] + np.random.default_rng(1).normal(size=len(X))  # where the flag does nothing
    ex = Explainer(lambda d: truth(d).to_numpy(), X, y=y, row_by_row=True)
    decided = decision_of(ex.study, "c").reading
    assert decided.unsupported == ("flag",)
    assert replace(decided, interactions_supported=("yes",)).unsupported == ()
    assert (
        "flag: in the model, its interaction with c is not supported by held-out rows"
        in ex.regions("c").notes
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_interactions_of_a_model_of_noise_are_not_supported(seed):
    model, X, y = drawn(lambda d: 0.0 * d["a"], seed, rows=400)
    said = list(told(Explainer(model, X, y=y)).values())
    assert said
    assert said.count("yes") <= 1


def test_support_of_pairs_does_not_depend_on_the_rows_the_model_was_fitted_to():
    model, X, y = drawn(PAIRED["sign"][0], rows=1400)
    model.fit(X[:700], y[:700])
    assert told(Explainer(model, X[700:], y=y[700:]))[frozenset("cd")] == "yes"


def test_support_of_pairs_of_classes_outputs_clusters_and_missing_values():
    from sklearn.ensemble import RandomForestClassifier

    X = without(frame(rows=900, names="cde"), "e", 0.2)
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(-3 * X["c"] * np.sign(X["d"])))
    y = (rng.random(len(X)) < chance).astype(int)
    forest = RandomForestClassifier(40, max_depth=6, random_state=0).fit(X, y)
    assert told(Explainer(forest, X, y=y))[frozenset("cd")] == "yes"
    both = np.column_stack([X["c"] * X["d"], X["c"] + X["d"]])
    seen = both + 0.5 * rng.normal(size=both.shape)
    ex = Explainer(
        lambda d: np.column_stack([d["c"] * d["d"], d["c"] * d["d"] + d["c"]]), X, y=seen, row_by_row=True
    )
    table = ex.interactions(["c", "d"], overall=False)
    assert table["supported"].tolist() == ["yes", "no"]  # of each output, by its own targets
    persons = np.repeat(np.arange(90), 10)
    alike = Explainer(lambda d: d["c"] * d["d"], X, y=seen[:, 0], cluster=persons, row_by_row=True)
    assert told(alike)[frozenset("cd")] == "yes"


@pytest.mark.parametrize("rate", [0.004, 0.2])
def test_of_few_events_no_pair_is_said_to_be_refused(rate):
    """The true function of rare events: with 13 of them nobody can tell that a pair is not in the data."""
    rng = np.random.default_rng(110)
    X = pd.DataFrame({"amount": rng.lognormal(3, 1, 3000), "abroad": (rng.random(3000) < 0.15).astype(int)})

    class Chances:
        classes_ = np.array([0, 1])

        def predict(self, d):
            return (self.predict_proba(d)[:, 1] > 0.5).astype(int)

        def predict_proba(self, d):
            p = rate + 0.1 * ((d["amount"] > 70) & (d["abroad"] == 1)).to_numpy()
            return np.column_stack([1 - p, p])

    y = (rng.random(3000) < (rate if rate > 0.1 else Chances().predict_proba(X)[:, 1])).astype(int)
    ex = Explainer(Chances(), X, y=y)
    said = ex.summary().readings["amount"]
    assert said.interacts[0][0] == "abroad"
    assert said.interactions_supported[0] in (("unclear", "yes") if rate < 0.1 else ("no", "unclear"))
    assert ("too few events" in str(ex.summary().fit)) == (rate < 0.1)


def test_without_targets_nothing_is_said_of_what_the_data_supports():
    model, X, _ = drawn(PAIRED["product"][0])
    assert told(Explainer(model, X)) == {}
    assert "supported" not in Explainer(model, X).summary().columns
    few = Explainer(model, X[:100], y=np.random.default_rng(0).normal(size=100) * 30)
    assert set(told(few).values()) <= {"unclear"}
    assert "too few rows to check it in the data" in few.summary().readings["c"].sentence
