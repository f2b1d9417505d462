"""Learner intervals: against a plain loop over halves, in every answer that carries them, and how fits are made."""

from __future__ import annotations

import pickle
import signal
import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import icefield
from icefield.effect.learner_interval import LearnerInterval, RefitSpread, t_quantile, t_within
from icefield.refits.halves import halves
from icefield.refits.hypotheses import holm
from icefield.refits.refits import learner_kind

SEED = 5


def least_squares(X, y):
    """A function of rows and targets; at the top, so that processes can have it."""
    A = np.column_stack([np.ones(len(X)), X])
    b = np.linalg.solve(A.T @ A, A.T @ y)
    return Fitted(b)


class Fitted:
    def __init__(self, b):
        self.b = b

    def __call__(self, rows):
        return self.b[0] + np.asarray(rows) @ self.b[1:]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    return X, X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=120)


@pytest.fixture(scope="module")
def frame(data):
    X, y = data
    rows = pd.DataFrame(X, columns=["a", "b", "c"])
    rows["who"] = np.arange(120) // 4
    rows["sex"] = np.where(np.arange(120) % 2, "m", "f")
    return rows, y


@pytest.fixture(scope="module")
def refits(frame):
    rows, y = frame
    model = LinearRegression().fit(rows[["a", "b", "c"]], y)
    return icefield.Explainer(model, rows, seed=SEED).refits(LinearRegression(), y)


# --- the scheme --------------------------------------------------------------------------------------


def test_against_a_plain_loop(data):
    X, y = data
    grid = [-1.0, 0.0, 1.5]
    ex = icefield.Explainer(least_squares(X, y), X, seed=SEED)
    effect = ex.refits(least_squares, y).partial_dependence(0, grid=grid)
    curves = []
    for fitted, held, _ in halves(len(X), 15, SEED):
        model, own = least_squares(X[fitted], y[fitted]), []
        for value in grid:
            rows = X[held].copy()
            rows[:, 0] = value
            own.append(model(rows).mean())
        curves.append(own)
    sd = np.std(curves, axis=0, ddof=1)
    np.testing.assert_allclose(effect.interval.std_error[0], sd, rtol=1e-9)
    np.testing.assert_allclose(effect.interval.low[0], effect.average[0] - t_quantile(0.95, 14) * sd)
    np.testing.assert_allclose(effect.interval.curves[0], curves, rtol=1e-9)
    assert effect.average.tolist() == ex.partial_dependence(0, grid=grid).average.tolist()
    assert (effect.interval.band_low <= effect.interval.low).all()
    assert (effect.interval.band_high >= effect.interval.high).all()


def test_about_the_full_curve_is_a_root_mean_square():
    full, parts = np.zeros(2), np.array([[1.0, 2.0], [3.0, -2.0], [1.0, 0.0]])
    spread = RefitSpread.of(full, parts, "full")
    np.testing.assert_allclose(spread.std_error, np.sqrt(np.square(parts).mean(axis=0)))
    assert spread.df == 3
    assert RefitSpread.of(full, parts, "mean").df == 2


@pytest.mark.parametrize("df", [1, 2, 7, 14, 15, 40])
def test_students_t(df):
    stats = pytest.importorskip("scipy.stats")
    assert t_quantile(0.95, df) == pytest.approx(stats.t.ppf(0.95, df), rel=1e-9)
    assert t_within(2.3, df) == pytest.approx(2 * stats.t.cdf(2.3, df) - 1, rel=1e-9)


def test_the_band_is_between_one_points_and_bonferronis():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    alone = rng.normal(size=(15, 10))
    together = np.repeat(rng.normal(size=(15, 1)), 10, axis=1)
    zero = np.zeros(10)
    one = RefitSpread.of(zero, together, "mean").multiplier(0.9)
    many = RefitSpread.of(zero, alone, "mean").multiplier(0.9)
    assert one == pytest.approx(t_quantile(0.95, 14), rel=0.1)
    assert one < many < 1.1 * stats.t.ppf(1 - 0.05 / 10, 14)


def test_points_that_no_refit_moves_have_no_width():
    parts = np.ones((1, 9, 3))
    parts[0, :, 0] = np.arange(9)
    found = LearnerInterval.of(np.ones((1, 3)), parts, level=0.9, about="mean", n_rows=50)
    assert found.low[0, 1:].tolist() == found.high[0, 1:].tolist() == [1.0, 1.0]
    assert found.band_high[0, 0] > 1


def test_probabilities_stay_inside(frame):
    rows, y = frame
    columns = ["a", "b"]
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(rows[columns], y > 1.2)
    found = icefield.Explainer(forest, rows).refits(RandomForestClassifier(5, max_depth=2), y > 1.2)
    assert found.about == "full"
    curve = found.partial_dependence("a")
    assert curve.interval.logit
    assert 0 < curve.interval.band_low.min() <= curve.interval.band_high.max() < 1
    centred = curve.center()
    assert not centred.interval.logit
    assert centred.interval.low[0, 0] == centred.interval.high[0, 0] == 0


def test_kinds_of_learners():
    assert learner_kind(RandomForestClassifier()) == "forest"
    assert learner_kind(LinearRegression()) == learner_kind(LogisticRegression()) == "linear"
    assert learner_kind(abs) == "other"


# --- halves ------------------------------------------------------------------------------------------


def test_groups_and_stretches_of_time_stay_whole(frame):
    rows, y = frame
    ex = icefield.Explainer(LinearRegression().fit(rows[["a"]], y), rows)
    grouped = ex.refits(LinearRegression(), y, groups="who")
    assert grouped.kept_whole == "groups"
    assert "groups kept whole" in repr(grouped)
    for refit in grouped.fitted:
        held = rows["who"].to_numpy()[refit.rows]
        assert not set(held) & set(np.delete(rows["who"].to_numpy(), refit.rows))
        assert abs(len(refit.rows) - 60) <= 2
    timed = ex.refits(LinearRegression(), y, time=np.arange(120) // 2, blocks=10)
    for refit in timed.fitted:
        assert {int(row) // 12 for row in refit.rows}.isdisjoint({int(r) // 12 for r in np.setdiff1d(np.arange(120), refit.rows)})  # fmt: skip
    clustered = icefield.Explainer(ex.model.native, rows, cluster="who").refits(LinearRegression(), y)
    assert clustered.kept_whole == "clusters"


def test_every_class_is_in_every_half():
    classes = np.r_[np.zeros(97), 1.0, 1.0, 1.0]
    for fitted, _, _ in halves(100, 30, 0, None, classes):
        assert classes[fitted].any()
    with pytest.raises(icefield.InputError, match="class of so few rows"):
        list(halves(100, 5, 0, np.arange(100) // 50, np.r_[np.zeros(50), np.ones(50)]))


# --- every answer ------------------------------------------------------------------------------------


def test_what_is_said(refits):
    assert "this learner's expected curve at 120 rows" in repr(refits)
    assert "not covered: bias" in repr(refits)
    effect = refits.partial_dependence("a", grid=4)
    assert "90% intervals of this learner's expected curve at 120 rows" in repr(effect)
    frame = effect.to_frame()
    assert frame["conf_low"].tolist() == effect.interval.low[0].tolist()
    assert frame["band_high"].tolist() == effect.interval.band_high[0].tolist()


def test_groups_have_their_own(refits):
    effect = refits.partial_dependence("a", grid=4, by="sex")
    one = effect.groups["f"].interval
    assert one.low.shape == (1, 4)
    assert not np.allclose(one.low, effect.groups["m"].interval.low)


def test_effects_and_ale(refits):
    found = refits.effects(["a", "b"], grid=5)
    again = refits.partial_dependence("b", grid=5)
    np.testing.assert_allclose(found["b"].interval.band_low, again.interval.band_low)
    local = refits.ale("a", bins=6)
    assert local.interval.low.shape == local.average.shape
    assert (local.interval.low < local.average).all()
    assert refits.effects(["a"], kind="ale")["a"].interval is not None


def test_changes_and_slopes(refits, frame):
    rows, y = frame
    found = refits.change("a", 0.0, 1.0, by="sex")
    slopes = []
    for fitted, _, _ in halves(120, 15, SEED):
        slopes.append(LinearRegression().fit(rows[["a", "b", "c"]].iloc[fitted], y[fitted]).coef_[0])
    sd = np.std(slopes, ddof=1)
    np.testing.assert_allclose(found["std_error"], sd, rtol=1e-6)
    np.testing.assert_allclose(found["conf_high"], found["estimate"] + t_quantile(0.95, 14) * sd, rtol=1e-6)
    assert any("this learner's expected" in note for note in found.notes)
    assert not any("this model, over other rows" in note for note in found.notes)
    np.testing.assert_allclose(refits.slope("a")["std_error"], sd, rtol=1e-4)
    wide = refits.change("a", 0.0, 1.0, level=0.99)
    assert wide["conf_low"][0] < found["conf_low"][0]


def test_importances_and_interactions(refits):
    table = refits.importance()
    assert (table["conf_low"] <= table["importance"]).all()
    assert (table["conf_high"] >= table["importance"]).all()
    assert table["feature"].tolist()[0] == "a"
    pairs = refits.interactions(rows=40).pairs()
    assert (pairs["h_low"] <= pairs["h"]).all()
    assert (pairs["strength_high"] >= pairs["strength"]).all()


def test_the_picture_names_its_target(refits):
    ax = refits.partial_dependence("a").plot()
    words = " ".join(text.get_text().replace("\n", " ") for text in ax.figure.findobj(lambda a: hasattr(a, "get_text")))  # fmt: skip
    assert "this learner's expected curve at 120 rows (15 refits)" in words
    assert len([c for c in ax.collections if c.get_gid() == "icefield:band"]) == 2


def test_saved_and_pickled(refits, tmp_path):
    effect = refits.partial_dependence("a", grid=4)
    effect.save(tmp_path / "a.icefield")
    loaded = icefield.Effect.load(tmp_path / "a.icefield")
    assert loaded.interval.high.tolist() == effect.interval.high.tolist()
    assert (loaded.interval.level, loaded.interval.about) == (0.9, "mean")
    assert pickle.loads(pickle.dumps(effect)).center().interval.low[0, 0] == 0


# --- tests -------------------------------------------------------------------------------------------


def test_is_it_flat(refits):
    table = refits.flatness_test()
    assert table["feature"].tolist()[:2] == ["a", "b"]
    p = dict(zip(table["feature"], table["p_value"]))
    assert p["a"] < 1e-3 < 0.05 < p["c"]
    assert table["p_adjusted"].tolist() == holm(table["p_value"]).tolist()
    assert (table["effect_size"][:-1] > table["effect_size"][1:]).all()


def test_the_same_in_both_groups_and_no_interaction(data):
    X, _ = data
    rng = np.random.default_rng(3)
    X = np.column_stack([np.vstack([X, X]), rng.integers(0, 2, 240)])
    y = X[:, 0] * (1 + 2 * X[:, 3]) + 0.5 * rng.normal(size=240)

    def fit(X, y):
        inner = least_squares(np.column_stack([X, X[:, 0] * X[:, 3]]), y)
        return lambda rows: inner(np.column_stack([rows, rows[:, 0] * rows[:, 3]]))

    found = icefield.Explainer(fit(X, y), X, by=X[:, 3].astype(int), row_by_row=True).refits(fit, y)
    assert found.group_test(0)["p_value"][0] < 1e-4
    same = found.group_test(1)
    assert (same["p_value"][0], same["effect_size"][0] < 1e-9) == (1.0, True)
    pairs = found.interaction_test()
    known = {frozenset(pair): p for pair, p in zip(pairs["features"], pairs["p_adjusted"])}
    assert known.pop(frozenset((0, 3))) < 1e-4
    assert set(known.values()) == {1.0}


@pytest.mark.slow
def test_p_values_are_uniform_where_nothing_is_there():
    rng = np.random.default_rng(8)
    p = []
    for _ in range(120):
        curves = rng.normal(size=(16, 4)) @ np.triu(np.ones((4, 4)))
        p.append(RefitSpread.of(curves[0], curves[1:], "mean").p_value(curves[0])[1])
    assert 0.02 < np.mean(np.array(p) < 0.1) < 0.2


# --- how fits are made -------------------------------------------------------------------------------


def test_seeds_differ_and_are_the_same_again(frame):
    rows, y = frame
    seeds = []

    def fit(X, y, seed):
        seeds.append(seed)
        return LinearRegression().fit(X, y)

    ex = icefield.Explainer(LinearRegression().fit(rows[["a"]], y), rows)
    ex.refits(fit, y)
    assert len(set(seeds)) == 15
    ex.refits(fit, y)
    assert len(seeds) == 15, "what was fitted is remembered"
    icefield.Explainer(ex.model.native, rows).refits(fit, y)
    assert seeds[15:] == seeds[:15]


def test_weights_reach_the_learner(frame):
    rows, y = frame
    weights = np.linspace(0.5, 2, 120)
    model = LinearRegression().fit(rows[["a"]], y, weights)
    found = icefield.Explainer(model, rows, weights=weights).refits(LinearRegression(), y)
    fitted = np.setdiff1d(np.arange(120), found.fitted[0].rows)
    by_hand = LinearRegression().fit(rows[["a"]].iloc[fitted], y[fitted], weights[fitted])
    np.testing.assert_allclose(found.fitted[0].study.model.native.coef_, by_hand.coef_)


def test_in_processes_and_resumed_from_a_folder(data, tmp_path):
    X, y = data
    ex = icefield.Explainer(least_squares(X, y), X)
    here = ex.refits(least_squares, y).partial_dependence(0, grid=3)
    fresh = icefield.Explainer(least_squares(X, y), X)
    there = fresh.refits(least_squares, y, processes=1, checkpoint=tmp_path / "fits")
    assert there.partial_dependence(0, grid=3).interval.low.tolist() == here.interval.low.tolist()
    assert len(list((tmp_path / "fits").glob("refit-*.pickle"))) == 15
    (tmp_path / "fits" / "refit-03.pickle").unlink()
    again = icefield.Explainer(least_squares(X, y), X).refits(least_squares, y, checkpoint=tmp_path / "fits")
    assert again.partial_dependence(0, grid=3).interval.low.tolist() == here.interval.low.tolist()
    with pytest.raises(icefield.InputError, match="refits of another learner"):
        ex.refits(least_squares, y + 1, checkpoint=tmp_path / "fits")


def scaled(X, y, by=1.0):
    return Fitted(by * least_squares(X, y).b)


def test_a_folder_knows_constants_and_arguments_of_functions(data, tmp_path):
    X, y = data
    ex = icefield.Explainer(least_squares(X, y), X)

    def closed(by):
        return lambda X, y: scaled(X, y, by)

    pairs = [(partial(scaled, by=1.0), partial(scaled, by=2.0)), (closed(1.0), closed(2.0)),
             (lambda X, y: scaled(X, y, 1.0), lambda X, y: scaled(X, y, 2.0))]  # fmt: skip
    for number, (one, other) in enumerate(pairs):
        folder = tmp_path / str(number)
        ex.refits(one, y, n=8, checkpoint=folder)
        with pytest.raises(icefield.InputError, match="refits of another learner"):
            ex.refits(other, y, n=8, checkpoint=folder)
    (folder / "refit-03.pickle").write_bytes(b"junk")
    with pytest.raises(icefield.InputError, match="not a refit"):
        icefield.Explainer(least_squares(X, y), X).refits(one, y, n=8, checkpoint=folder)
    with pytest.raises(icefield.InputError, match="is a file"):
        ex.refits(one, y, checkpoint=folder / "refits.json")


def test_catboost_is_fitted_anew_with_seeds_of_its_own(frame):
    catboost = pytest.importorskip("catboost")
    rows, y = frame
    model = catboost.CatBoostRegressor(
        iterations=5, depth=2, verbose=0, cat_features=["sex"], allow_writing_files=False, thread_count=1
    ).fit(rows[["a", "sex"]], y)
    found = icefield.Explainer(model, rows[["a", "sex"]]).refits(model, y, n=8)
    assert len({refit.study.model.native.get_param("random_seed") for refit in found.fitted}) == 8
    assert np.isfinite(found.change("sex", "m", "f")["std_error"]).all()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")  # fmt: skip
def test_interrupted_at_once_and_gone_on_with(data):
    X, y = data
    slow, calls, ended = threading.Event(), [], []

    def fit(X, y):
        calls.append(len(calls))
        if len(calls) == 5 and not slow.is_set():
            threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
            slow.wait(30)
            ended.append(len(calls))
        return least_squares(X, y)

    ex = icefield.Explainer(least_squares(X, y), X)
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # jobs in the background are born deaf to it
    try:
        with pytest.raises(KeyboardInterrupt):
            ex.refits(fit, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not ended, "Ctrl-C does not wait for the fit that is being made"
    slow.set()
    assert len(ex.refits(fit, y)) == 15
    assert len(calls) <= 17, "the four that were done are not done again"


# --- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"fit": LinearRegression}, "is a class"),
        ({"fit": 3}, "must be an estimator"),
        ({"n": 5}, "`n`"),
        ({"about": "median"}, "`about`"),
        ({"y": None}, "the targets that the learner is fitted to"),
        ({"groups": "who", "time": "who"}, "one or the other"),
        ({"groups": "sex"}, "at least 8"),
        ({"time": "sex"}, "have an order"),
        ({"fit": lambda X, y: None}, "returned nothing"),
        ({"fit": lambda X, y: 1 / 0}, "could not fit 60 rows"),
    ],
)
def test_refused(frame, asked, words):
    rows, y = frame
    ex = icefield.Explainer(LinearRegression().fit(rows[["a"]], y), rows)
    with pytest.raises(icefield.IcefieldError, match=words):
        ex.refits(**({"fit": LinearRegression(), "y": y} | asked))


def test_rows_that_do_not_count_are_none(frame):
    rows, y = frame
    ex = icefield.Explainer(
        LinearRegression().fit(rows[["a"]], y), rows, weights=np.r_[np.ones(30), np.zeros(90)]
    )
    with pytest.raises(
        icefield.InputError, match="at least 40 rows that count for refits on halves, got '30 rows'"
    ):
        ex.refits(LinearRegression(), y)


def test_rows_cannot_be_chosen(refits):
    with pytest.raises(icefield.InputError, match="all rows that it has not seen"):
        refits.partial_dependence("a", rows=10)
    with pytest.raises(icefield.InputError, match="`by`"):
        refits.group_test("a")


def test_the_report_carries_them(refits, tmp_path):
    refits.report(tmp_path / "report.html", features=["a", "b"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "interval of this learner\\u2019s expected curve at 120 rows" in page or "interval of this learner’s expected curve at 120 rows" in page  # fmt: skip
    plain = icefield.Explainer(refits.model.native, refits.table.native).report(features=["a"]).html
    assert "expected curve at 120 rows" not in plain
