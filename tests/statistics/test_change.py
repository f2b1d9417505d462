"""Changes and slopes against a plain loop over predict: any engine, in memory and streamed, weights, groups, clusters."""

from __future__ import annotations

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.rows.rows import (
    FEATURES,
    NUMBERS,
    booster,
    classifier,
    forest,
    frame,
    three_classes,
    written,
    xgboost,
)

from icefield import Change, Explainer
from icefield.engines.trees.packed_rows import PackedRows
from icefield.errors import IcefieldError, InputError, InputTypeError
from icefield.rows import stream_rows
from icefield.statistics.change import _changes, _moves
from icefield.statistics.change_accumulator import Contrast

ROWS = frame(700)


def pipeline(rows):
    return make_pipeline(StandardScaler(), LinearRegression()).fit(rows[["x0", "x2", "k"]], rows.y)


def bent(X):
    return X["x0"].to_numpy() ** 2 + X["x2"].to_numpy() * X["k"].to_numpy()


MODELS = {
    "lightgbm": (booster(ROWS), FEATURES),
    "lightgbm, classes": (classifier(ROWS), FEATURES),
    "xgboost": (xgboost(ROWS), NUMBERS),
    "three classes": (three_classes(ROWS), NUMBERS),
    "forest": (forest(ROWS), NUMBERS),
    "pipeline": (pipeline(ROWS), ["x0", "x2", "k"]),
    "function": (bent, ["x0", "x2", "k"]),
}


def explainer(name, rows=ROWS, **options):
    model, columns = MODELS[name]
    return Explainer(model, rows[columns], row_by_row=True, **options)


def predicted(name, X):
    """(rows, outputs), of the outputs that an Explainer has."""
    model, columns = MODELS[name]
    X = X[columns]
    if hasattr(model, "predict_proba"):
        found = model.predict_proba(X)
        return found[:, 1:] if found.shape[1] == 2 else found
    return np.asarray(model(X) if callable(model) else model.predict(X), float).reshape(len(X), -1)


def check(found, start, end, weights=None, rows=slice(None), tolerance=1e-6):
    """The whole table of all rows against rows' predictions at both ends."""
    start, end = start[rows], end[rows]
    difference = end - start
    n = len(difference)
    alike = {"rtol": tolerance, "atol": tolerance}
    for column, values in (("start", start), ("end", end), ("estimate", difference)):
        np.testing.assert_allclose(found[column], np.average(values, axis=0, weights=weights), **alike)
    if weights is None:
        np.testing.assert_allclose(found["std_error"], difference.std(axis=0, ddof=1) / np.sqrt(n), **alike)
        np.testing.assert_allclose(found["sd"], difference.std(axis=0), **alike)
        np.testing.assert_allclose(
            found["rises"], (difference > 1e-9 * np.maximum(abs(start), abs(end))).mean(axis=0), atol=1e-12
        )
        np.testing.assert_allclose(
            found["falls"], (difference < -1e-9 * np.maximum(abs(start), abs(end))).mean(axis=0), atol=1e-12
        )
        middle = np.quantile(difference, 0.5, axis=0, method="inverted_cdf")
        np.testing.assert_allclose(found["q50"], middle, **alike)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ["auto", "brute"])
def test_a_change_between_values_is_that_of_a_plain_loop(name, engine):
    found = explainer(name, engine=engine).change("x0", -0.5, 1.0)
    check(found, predicted(name, ROWS.assign(x0=-0.5)), predicted(name, ROWS.assign(x0=1.0)))
    assert found.notes
    assert "causal" in repr(found)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ["auto", "brute"])
def test_a_change_from_rows_own_values_is_that_of_a_plain_loop(name, engine):
    ex = explainer(name, engine=engine)
    check(ex.change("x0", plus=0.7), predicted(name, ROWS), predicted(name, ROWS.assign(x0=ROWS.x0 + 0.7)))
    check(ex.change("k", times=1.5), predicted(name, ROWS), predicted(name, ROWS.assign(k=ROWS.k * 1.5)))
    check(ex.change("k", end=2), predicted(name, ROWS), predicted(name, ROWS.assign(k=2)))


@pytest.mark.parametrize("name", ["lightgbm", "lightgbm, classes", "three classes", "forest", "pipeline"])
@pytest.mark.parametrize(
    "asked",
    [
        {"feature": "x0", "start": -0.5, "end": 1.0},
        {"feature": {"x0": (-0.5, 1.0), "k": (0, 2)}},
        {"feature": "x0", "start": -0.5, "end": 1.0, "across": {"x2": (0.0, 1.0)}},
        {"feature": "k", "plus": 2},
    ],
    ids=["values", "several", "across", "plus"],
)
def test_means_alone_are_those_of_the_whole_answer(name, asked):
    weights = np.linspace(0.0, 2.0, len(ROWS))
    ex = explainer(name, weights=weights, by=ROWS.side)
    whole, means = ex.change(**asked), ex.change(**asked, spread=False)
    shared = [
        "output",
        "group",
        "start",
        "end",
        "estimate",
        *(["ratio"] if "across" not in asked else []),
        "n_rows",
    ]
    assert list(means.columns) == shared
    for column in shared[2:]:
        np.testing.assert_allclose(means[column], whole[column], rtol=1e-6, atol=1e-9)
    assert means.outside == whole.outside
    with pytest.raises(InputError, match="`spread` was False"):
        means.rows()


def test_slopes_without_spread():
    ex = explainer("lightgbm", by=ROWS.side)
    np.testing.assert_allclose(
        ex.slope("x0", spread=False)["estimate"], ex.slope("x0")["estimate"], rtol=1e-9
    )
    assert "std_error" not in ex.slope("x0", spread=False).columns


def test_rows_whose_way_is_cut_short_count_by_their_own():
    """At the ends of the data a slope's step is shorter; of so large a one for most rows."""
    for step in (0.1, 1.0, 50.0):
        for name in ("lightgbm", "lightgbm, classes", "xgboost", "forest"):
            ex = explainer(name, weights=np.linspace(0.0, 2.0, len(ROWS)), by=ROWS.side)
            found, whole = ex.slope("x0", step=step, spread=False), ex.slope("x0", step=step)
            for column in ("start", "end", "estimate"):
                np.testing.assert_allclose(found[column], whole[column], rtol=1e-6, atol=1e-9, err_msg=name)


def test_predictions_of_rows_as_they_are_are_averaged_once(monkeypatch):
    ex, passes = explainer("lightgbm"), []
    known = PackedRows.__init__
    monkeypatch.setattr(
        PackedRows, "__init__", lambda self, *given: passes.append(given[3:]) or known(self, *given)
    )
    ex.change("x0", plus=1.0, spread=False)
    assert [moved is None for (moved,) in passes] == [True, False]
    ex.change("x2", plus=1.0, spread=False)
    assert [moved is None for (moved,) in passes] == [True, False, False]
    chosen = ex.change("x0", plus=1.0, spread=False, rows=range(100))
    check = ROWS[:100]
    np.testing.assert_allclose(chosen["start"], predicted("lightgbm", check).mean(axis=0), rtol=1e-9)


def test_a_block_at_a_time_gives_the_same_means():
    whole, parts = explainer("forest", by=ROWS.side), explainer("forest", by=ROWS.side, memory=20_000)
    for asked in ({"plus": 0.5}, {"times": 2.0}):
        found, expected = (ex.change("x0", **asked, spread=False)["estimate"] for ex in (parts, whole))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("values", "plus"),
    [
        (np.array([2**63 - 1, 0, 5]), 1),
        (np.array([-(2**63), 0, 5]), -1),
        (np.array([2**64 - 1, 0, 5], np.uint64), 1),
        (np.array(["2262-04-11", "2000-01-01", "1990-05-05"], "datetime64[ns]"), dt.timedelta(days=300)),
    ],
    ids=["largest", "smallest", "unsigned", "times"],
)
def test_no_value_goes_around_the_end_of_what_a_column_holds(values, plus):
    X = pd.DataFrame({"a": np.resize(values, 30), "b": np.arange(30.0)})
    with pytest.raises(InputError, match="leads beyond"):
        Explainer(lambda rows: rows["b"].to_numpy(), X).change("a", plus=plus)


def test_no_prediction_of_the_model_is_made_where_it_was_read_as_trees(monkeypatch):
    ex = explainer("lightgbm")
    ex.change("x0", -0.5, 1.0)

    def refuse(*_, **__):
        raise AssertionError("the model was asked")

    monkeypatch.setattr("icefield.models.fingerprint.Fingerprint.still_holds", lambda self: True)
    monkeypatch.setattr(type(ex.study.model), "predict", refuse)
    monkeypatch.setattr(type(ex.study.model), "ask", refuse)
    ex.change("x0", -0.5, 1.0)
    ex.change("x0", plus=1.0)
    ex.slope("x0")


def test_levels_missing_values_and_several_features_together():
    name = "lightgbm"
    ex = explainer(name)
    level = pd.Categorical(["a"] * len(ROWS), categories=["a", "b", "c"])
    other = pd.Categorical(["c"] * len(ROWS), categories=["a", "b", "c"])
    first, last = ROWS.assign(level=level, x0=0.0), ROWS.assign(level=other, x0=1.0)
    check(
        ex.change("level", "a", "c"),
        predicted(name, ROWS.assign(level=level)),
        predicted(name, ROWS.assign(level=other)),
    )
    check(ex.change({"level": ("a", "c"), "x0": (0.0, 1.0)}), predicted(name, first), predicted(name, last))
    moved = ROWS.assign(level=other, x0=ROWS.x0 + 1)
    check(ex.change({"level": (..., "c"), "x0": {"plus": 1}}), predicted(name, ROWS), predicted(name, moved))
    gone, known = predicted(name, ROWS.assign(x1=np.nan)), predicted(name, ROWS.assign(x1=0.5))
    check(ex.change("x1", None, 0.5), gone, known)
    # A row whose value is missing has nothing to add to.
    found = ex.change("x1", plus=1.0)
    has = ROWS.x1.notna().to_numpy()
    check(found, predicted(name, ROWS), predicted(name, ROWS.assign(x1=ROWS.x1 + 1)), rows=has)
    assert found["n_rows"].tolist() == [has.sum()]
    assert "are left out" in repr(found)


def test_a_difference_of_changes_is_the_mixed_difference():
    ex = explainer("lightgbm")
    at = [predicted("lightgbm", ROWS.assign(x0=a, x2=b)) for b in (-1.0, 1.0) for a in (0.0, 1.0)]
    found = ex.change("x0", 0.0, 1.0, across={"x2": (-1.0, 1.0)})
    check(found, at[1] - at[0], at[3] - at[2])
    assert "ratio" not in found.columns


def test_the_ratio_and_its_error_are_those_of_the_two_means():
    found = explainer("lightgbm, classes").change("k", 0, 4)
    low, high = (predicted("lightgbm, classes", ROWS.assign(k=k))[:, 0] for k in (0, 4))
    ratio = high.mean() / low.mean()
    np.testing.assert_allclose(found["ratio"], ratio)
    error = (high - ratio * low).std(ddof=1) / np.sqrt(len(low)) / low.mean()  # of the linearised ratio
    np.testing.assert_allclose(found["ratio_std_error"], error, rtol=1e-6)


@pytest.mark.parametrize("copies", [True, False])
def test_weights_groups_and_rows(copies):
    name = "lightgbm"
    weights = (4 * ROWS.w if copies else ROWS.w * 0.7).to_numpy()
    start, end = predicted(name, ROWS.assign(x0=0.0)), predicted(name, ROWS.assign(x0=1.0))
    found = explainer(name, weights=weights).change("x0", 0.0, 1.0, by=ROWS.side)
    difference, total = (end - start)[:, 0], weights.sum()
    mean = np.average(difference, weights=weights)
    n = total if copies else total**2 / np.square(weights).sum()
    squares = weights if copies else np.square(weights)
    error = np.sqrt((squares * np.square(difference - mean)).sum() / total**2 * n / (n - 1))
    np.testing.assert_allclose([found["estimate"][0], found["std_error"][0]], [mean, error])
    assert found["group"].tolist() == ["all rows", "north", "south"]
    south = (ROWS.side == "south").to_numpy()
    np.testing.assert_allclose(found["estimate"][2], np.average(difference[south], weights=weights[south]))
    chosen = explainer(name).change("x0", 0.0, 1.0, rows=south)
    check(chosen, start, end, rows=south)
    assert chosen.rows()["row"].tolist() == np.flatnonzero(south).tolist()


def test_rows_of_a_cluster_count_as_one():
    clusters = np.arange(len(ROWS)) // 7
    found = explainer("forest", cluster=clusters).change("x0", 0.0, 1.0)
    difference = (predicted("forest", ROWS.assign(x0=1.0)) - predicted("forest", ROWS.assign(x0=0.0)))[:, 0]
    sums = np.bincount(clusters, difference - difference.mean())
    sizes, n = np.bincount(clusters), len(difference)
    effective = n**2 / np.square(sizes).sum()
    error = np.sqrt(np.square(sums).sum() / n**2 * effective / (effective - 1))
    np.testing.assert_allclose(found["std_error"], error, rtol=1e-9)
    assert "cluster" in repr(found)


@pytest.mark.parametrize("name", ["lightgbm", "three classes", "pipeline"])
def test_a_stream_gives_the_numbers_of_rows_in_memory(name, tmp_path, monkeypatch):
    monkeypatch.setattr(
        stream_rows, "STREAMED_ROWS", 300
    )  # so that a pass is made, and the sample leaves rows out
    model, columns = MODELS[name]
    folder = written(tmp_path / "rows", ROWS[[*columns, "w", "side"]])
    stream = Explainer(model, folder, weights="w", by="side", row_by_row=True)
    memory = Explainer(model, ROWS[[*columns, "w", "side"]], weights="w", by="side", row_by_row=True)
    for ask in (
        lambda ex: ex.change("x0", 0.0, 1.0),
        lambda ex: ex.change("x0", plus=0.5),
        lambda ex: ex.slope("x2", step=0.5),
    ):
        found, expected = ask(stream), ask(memory)
        assert found["group"].tolist() == expected["group"].tolist()
        assert len(found.rows()) < len(expected.rows())
        assert "sample of 300 rows" in repr(found)
        for column in ("start", "end", "estimate", "std_error", "sd", "rises", "falls", "n_rows"):
            np.testing.assert_allclose(found[column], expected[column], rtol=1e-9, atol=1e-12, err_msg=column)
    for ask in (
        lambda ex: ex.change("x0", 0.0, 1.0, spread=False),
        lambda ex: ex.change("x0", plus=0.5, spread=False),
        lambda ex: ex.slope("x2", step=0.5, spread=False),
    ):
        found, expected = (ask(ex)["estimate"] for ex in (stream, memory))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_blocks_merge_and_states_go_on():
    ex = explainer("lightgbm", weights=ROWS.w)
    contrast = Contrast(_moves(ex.study, "x0", 0.0, 1.0, None, None))
    sample = ex.study.sample
    parts = [sample.take(np.arange(0, 300)), sample.take(np.arange(300, 700))]
    whole, first, second = (_changes(ex.study, contrast, keep=False, n_groups=0) for _ in range(3))
    whole.add(sample)
    first.add(parts[0])
    again = _changes(ex.study, contrast, keep=False, n_groups=0)
    again.restore(first.state())
    second.add(parts[1])
    again.merge(pickle.loads(pickle.dumps(second.state())))
    np.testing.assert_allclose(again.moments[0].mean, whole.moments[0].mean, rtol=1e-12)
    np.testing.assert_allclose(again.errors[0], whole.errors[0], rtol=1e-10)
    assert again.n_rows == whole.n_rows


def test_slopes_of_smooth_models_are_derivatives():
    found = explainer("function").slope("x0")
    np.testing.assert_allclose(found["estimate"], 2 * ROWS.x0.mean(), atol=1e-3)
    inner = found.rows()
    np.testing.assert_allclose(np.median(np.abs(inner["estimate"] - 2 * ROWS.x0)), 0.0, atol=1e-6)
    assert "derivative" in repr(found)
    np.testing.assert_allclose(explainer("function").slope("k")["estimate"], ROWS.x2.mean(), rtol=1e-9)
    assert "derivative" in repr(explainer("pipeline").slope("x0"))


@pytest.mark.parametrize("engine", ["auto", "brute"])
def test_slopes_of_trees_are_changes_per_unit_over_the_step_that_is_said(engine):
    ex = explainer("lightgbm", engine=engine)
    found = ex.slope("x0")
    step, low, high = found.step, ROWS.x0.min(), ROWS.x0.max()
    down, up = (ROWS.x0 - step / 2).clip(lower=low), (ROWS.x0 + step / 2).clip(upper=high)
    start, end = predicted("lightgbm", ROWS.assign(x0=down)), predicted("lightgbm", ROWS.assign(x0=up))
    slopes = (end - start)[:, 0] / (up - down).to_numpy()
    np.testing.assert_allclose(found.rows()["estimate"], slopes, atol=1e-9)
    np.testing.assert_allclose(found["std_error"], slopes.std(ddof=1) / np.sqrt(len(ROWS)))
    assert "step function" in repr(found)


def test_jumps_at_the_data_s_own_values_are_no_derivative():
    """A small step across one changes as much as a large one: per unit, any number."""
    X = pd.DataFrame({"z": np.repeat(np.arange(5.0), 40), "x": np.tile(np.linspace(-1, 1, 40), 5)})

    def stairs(rows):
        return (
            (rows["z"].to_numpy() >= 0.0) * 1.0 + 2.0 * (rows["z"].to_numpy() >= 2.0) + rows["x"].to_numpy()
        )

    ex = Explainer(stairs, X, row_by_row=True)
    assert "step function" in repr(ex.slope("z"))
    assert "derivative" in repr(ex.slope("x"))
    assert abs(float(ex.slope("z")["estimate"][0])) < 10.0


def test_the_largest_value_has_a_slope_over_a_step_of_one():
    """There is no next value within the data, so such rows come from the one before."""
    X = pd.DataFrame(
        {"k": np.arange(10) % 5, "day": pd.date_range("2024-01-01", periods=10).astype("datetime64[s]")}
    )
    found = Explainer(lambda rows: rows["k"].to_numpy() ** 2.0, X, row_by_row=True).slope("k", step=1)
    np.testing.assert_allclose(found.rows()["estimate"], [1.0, 3.0, 5.0, 7.0, 7.0] * 2)
    assert found["end"].tolist() == [9.2]

    def seconds(rows):
        return (rows["day"] - X.day[0]).dt.total_seconds().to_numpy()

    found = Explainer(seconds, X, row_by_row=True).slope("day", step=dt.timedelta(seconds=1))
    np.testing.assert_allclose(found.rows()["estimate"], 86_400.0)
    assert found["end"] < seconds(X).mean() + 1.0


@pytest.mark.parametrize("spread", [True, False])
def test_values_too_large_for_a_step_have_no_slope(spread):
    X = pd.DataFrame({"x": np.append(np.linspace(0.0, 1.0, 30), 1e30)})
    found = Explainer(lambda rows: 3.0 * rows["x"].to_numpy(), X, row_by_row=True).slope(
        "x", step=0.1, spread=spread
    )
    np.testing.assert_allclose(found["estimate"], 3.0)
    assert found["n_rows"].tolist() == [30]
    assert any("too large for so small a step) are left out" in note for note in found.notes)
    with pytest.raises(InputError, match="Hint: write a larger step"):
        Explainer(lambda rows: rows["x"].to_numpy(), X + 1e20, row_by_row=True).slope(
            "x", step=0.1, spread=spread
        )


def test_dates_and_one_hot_groups():
    days = pd.Series(pd.date_range("2024-01-01", periods=60))
    X = pd.DataFrame(
        {"day": days, "port_C": [1, 0, 0] * 20, "port_Q": [0, 1, 0] * 20, "port_S": [0, 0, 1] * 20}
    )

    def model(rows):
        return (rows["day"] - days[0]).dt.days.to_numpy() * 2.0 + rows["port_Q"].to_numpy() * 5.0

    ex = Explainer(model, X, row_by_row=True)
    np.testing.assert_allclose(ex.change("day", plus=dt.timedelta(days=3))["estimate"], 6.0)
    np.testing.assert_allclose(ex.change("day", "2024-01-05", "2024-01-10")["estimate"], 10.0)
    np.testing.assert_allclose(ex.slope("day", step=dt.timedelta(days=4))["estimate"], 2.0)
    for step in (4, 365 * 300):  # the other end is farther than such a column reaches
        ends = [np.clip(np.arange(60) + way * step / 2, 0, 59) for way in (-1, 1)]
        found = ex.slope("day", step=dt.timedelta(days=step))
        means = [2.0 * own.mean() + 5.0 / 3.0 for own in ends]
        np.testing.assert_allclose([found["start"][0], found["end"][0]], means)
        np.testing.assert_allclose(found["estimate"], 2.0)
    group = {"port": ["port_C", "port_Q", "port_S"]}
    np.testing.assert_allclose(ex.change(group, "C", "Q")["estimate"], 5.0)
    with pytest.raises(InputError, match="`end`"):
        ex.change(group, "C", "X")
    with pytest.raises(InputTypeError, match="duration"):
        ex.change("day", plus=3)


def test_rows_that_leave_the_data_are_counted():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    X = pd.DataFrame({"a": a, "b": a + 0.05 * rng.normal(size=500), "free": rng.normal(size=500)})
    ex = Explainer(lambda rows: rows["a"].to_numpy(), X, row_by_row=True)
    assert ex.change("free", -0.5, 0.5).outside < 0.1
    assert ex.change("a", -1.0, 1.0).outside > 0.8
    assert ex.change("free", plus=100.0).outside == 1.0


def test_what_a_causal_reading_assumes_names_what_is_outside_the_given():
    found = explainer("pipeline").change("x0", 0.0, 1.0, given=["x2"])
    assert "given x2" in found.notes[-1]
    assert "keeps k" in found.notes[-1]
    with pytest.raises(InputError, match="`given`"):
        explainer("pipeline").change("x0", 0.0, 1.0, given=["x0"])


def test_standard_errors_cover():
    """Of 200 samples of 80 rows, about 95 % of the intervals hold the mean over the distribution."""
    held = 0
    for seed in range(200):
        X = np.random.default_rng(seed).normal(size=(80, 2))
        found = Explainer(lambda rows: rows[:, 0] * rows[:, 1] ** 2, X, row_by_row=True).change(0, 0.0, 1.0)
        held += found["conf_low"][0] <= 1.0 <= found["conf_high"][0]
    assert 176 <= held <= 198  # squares of normals are skewed: somewhat below 190 is expected


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (("x0",), {}, "`end` is missing"),
        (("x0", 1.0), {}, "`end` is missing"),
        (("x0", 1.0, 1.0), {}, "no row would change"),
        (("x0", 1.0, 2.0), {"plus": 1}, "cannot be combined with start and end"),
        (("x0",), {"plus": 1, "times": 2}, "`times` cannot be given"),
        (("x0",), {"plus": 0}, "moves no row"),
        (("x0",), {"times": "2"}, "`times` must be a number"),
        (("x0", "low", 1.0), {}, "`start` must hold values"),
        (("level", "a", "d"), {}, "`end`"),
        (("level",), {"plus": 1}, "needs a number"),
        (("nope", 1, 2), {}, "nope"),
        (
            ("x0", 0.0, 1.0),
            {"across": {"x0": (0, 1)}},
            "`across` names a feature that changes already, got 'x0'",
        ),
        (("x0", 0.0, 1.0), {"across": {"x2": 3}}, "pair of values"),
        (("x0", 0.0, 1.0), {"level": 95}, "`level`"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments, options, said):
    with pytest.raises(IcefieldError) as caught:
        explainer("lightgbm").change(*arguments, **options)
    assert said in str(caught.value)


def test_values_beyond_a_dtype_are_refused():
    X = pd.DataFrame({"small": np.array([1, 2, 120], np.int8), "x": [0.0, 1.0, 2.0]})
    ex = Explainer(lambda rows: rows["x"].to_numpy() + rows["small"].to_numpy(), X, row_by_row=True)
    with pytest.raises(InputError, match="int8"):
        ex.change("small", plus=100)
    with pytest.raises(InputError, match="number or a time"):
        Explainer(lambda r: r["x"].to_numpy(), X.assign(c="a"), row_by_row=True).slope("c")


def test_the_table_is_a_frame_and_pickles():
    found = explainer("three classes").change("x0", 0.0, 1.0, quantiles=[0.25])
    assert isinstance(found, Change)
    assert len(found) == 3
    assert {"estimate", "std_error", "conf_low", "conf_high", "q25"} <= set(found.to_frame().columns)
    assert pickle.loads(pickle.dumps(found))["estimate"].tolist() == found["estimate"].tolist()
    assert len(found.rows()) == 3 * len(ROWS)


def test_models_that_look_across_rows_see_all_of_them_at_both_ends():
    def ranks(X):
        return X["x0"].rank().to_numpy()

    ex = Explainer(ranks, ROWS[["x0"]], memory=10_000)
    check(ex.change("x0", plus=1.0), ranks(ROWS)[:, None], ranks(ROWS.assign(x0=ROWS.x0 + 1))[:, None])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e300, 1e-300, np.inf])
def test_predictions_of_any_size_are_answered_without_a_warning(size):
    ex = Explainer(
        lambda X: np.where(X["x0"] > 0, size, 1.0) * (1 + X["k"]), ROWS[["x0", "k"]], row_by_row=True
    )
    found = ex.change("x0", -1.0, 1.0)
    expected = size * (1 + ROWS.k.mean())
    np.testing.assert_allclose(found["end"], expected, rtol=1e-9)
    np.testing.assert_allclose(found["ratio"], expected / found["start"][0], rtol=1e-9)
    assert len(ex.slope("x0", step=0.1)) == 1


def test_one_row_has_a_change_and_no_error():
    found = explainer("function", ROWS[:1]).change("x0", 0.0, 1.0)
    assert found["n_rows"].tolist() == [1]
    assert np.isfinite(found["estimate"]).all()
    assert np.isnan(found["std_error"]).all()
    with pytest.raises(InputError, match="single value"):
        explainer("function", ROWS[:1]).slope("x0")


def test_a_group_without_weight_has_no_number():
    found = explainer("lightgbm", weights=(ROWS.side == "south").to_numpy(float), by=ROWS.side).change(
        "x0", 0.0, 1.0
    )
    known = dict(zip(found["group"], found["estimate"]))
    assert np.isnan(known.pop("north"))
    assert np.isfinite(list(known.values())).all()
