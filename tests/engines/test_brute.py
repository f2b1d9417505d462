"""The brute engine: the same numbers whatever the blocks, calls, threads or processes."""

from __future__ import annotations

import math
import multiprocessing
import threading
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import icefield
from icefield import Grid
from icefield.engines.brute import engine as brute
from icefield.errors import ModelError
from icefield.models import pace
from icefield.models.pace import Pace

X = np.random.default_rng(5).normal(size=(137, 4))
WEIGHTS = np.random.default_rng(6).integers(0, 4, 137).astype(float)
GROUPS = np.array(["a", "b", "c"])[np.random.default_rng(7).integers(0, 3, 137)]


def two_outputs(rows):
    return np.column_stack([rows[:, 0] * rows[:, 1] + rows[:, 2], np.sin(rows[:, 0]) * rows[:, 3]])


def by_loop(model, rows, features, grids):
    """Every row's prediction at every point of the product grid, shape ``(outputs, rows, *grid)``."""
    shape = [len(g) for g in grids]
    found = None
    for at in np.ndindex(*shape):
        replaced = rows.copy()
        for feature, values, i in zip(features, grids, at):
            replaced[:, feature] = values[i]
        answer = model(replaced).reshape(len(rows), -1)
        if found is None:
            found = np.empty((answer.shape[1], len(rows), *shape))
        found[(slice(None), slice(None), *at)] = answer.T
    return found


def explained(**choices):
    return icefield.Explainer(two_outputs, X, engine="brute", **choices)


# --- against a plain loop ------------------------------------------------------------------------


@pytest.mark.parametrize("features", [(0,), (3,), (0, 1), (2, 0, 1)])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_against_a_loop_over_predict(features, weights):
    grids = [np.linspace(-1, 1, 4 + i) for i in range(len(features))]
    curves = by_loop(two_outputs, X, features, grids)
    effect = explained(weights=weights).partial_dependence(
        *features, grid=grids if len(grids) > 1 else grids[0], individual=True, spread=True
    )
    np.testing.assert_array_equal(effect.individual, curves)
    average = np.average(curves, axis=1, weights=weights)
    np.testing.assert_allclose(effect.average, average, rtol=0, atol=1e-14)
    spread = np.sqrt(np.average(np.square(curves - average[:, None]), axis=1, weights=weights))
    np.testing.assert_allclose(effect.std, spread, rtol=1e-12, atol=1e-14)


def test_groups_are_the_same_question_to_fewer_rows():
    effect = explained(weights=WEIGHTS, by=GROUPS).partial_dependence(0, grid=5, quantiles=[0.2, 0.5])
    for label in "abc":
        mask = np.equal(GROUPS, label)
        alone = icefield.Explainer(two_outputs, X[mask], weights=WEIGHTS[mask], engine="brute")
        expected = alone.partial_dependence(0, grid=effect.grid[0], quantiles=[0.2, 0.5])
        np.testing.assert_allclose(effect.groups[label].average, expected.average, rtol=0, atol=1e-14)
        np.testing.assert_allclose(effect.groups[label].std, expected.std, rtol=1e-12)
        np.testing.assert_allclose(effect.groups[label].se, expected.se, rtol=1e-12)
        for q in (0.2, 0.5):
            np.testing.assert_array_equal(effect.groups[label].quantiles[q], expected.quantiles[q])
        assert effect.groups[label].n_rows == mask.sum()


# --- cutting -------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(
    rows_per_call=st.integers(1, 700),
    first=st.integers(1, 64),
    memory=st.integers(12_000, 400_000),
    threads=st.sampled_from([None, 1, 3]),
    weighted=st.booleans(),
)
def test_cutting_the_work_never_changes_the_answer(rows_per_call, first, memory, threads, weighted):
    chosen = {"weights": WEIGHTS if weighted else None, "by": GROUPS}
    asked = {"grid": np.linspace(-1, 1, 7), "quantiles": [0.1, 0.5, 1.0], "rows": None}
    whole = explained(**chosen).partial_dependence(0, **asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute, "ROWS_PER_CALL", rows_per_call)
        patch.setattr(brute, "FIRST_ROWS", first)
        cut = explained(memory=memory, threads=threads, **chosen).partial_dependence(0, **asked)
        curves = explained(memory=memory, threads=threads, **chosen).ice(
            0, grid=[-1.0, 2.0], rows=[5, 3, 136]
        )
    for one, other in [(whole, cut), *((whole.groups[g], cut.groups[g]) for g in "abc")]:
        np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-14)
        np.testing.assert_allclose(one.std, other.std, rtol=1e-12)
        assert one.n_rows == other.n_rows
        for q in asked["quantiles"]:
            np.testing.assert_array_equal(one.quantiles[q], other.quantiles[q])
    np.testing.assert_array_equal(
        curves.individual, by_loop(two_outputs, X[[5, 3, 136]], (0,), [[-1.0, 2.0]])
    )


def test_how_quick_the_model_is_changes_no_bit(monkeypatch):
    """Calls follow the clock; sums must not."""
    expected = explained(weights=WEIGHTS).partial_dependence(0, 1, grid=5, spread=True)
    learn = Pace.learn
    pretended = iter(np.random.default_rng(0).choice([1e-5, 1e-3, 0.2, 3.0], 10_000))
    monkeypatch.setattr(Pace, "learn", lambda self, done, _: learn(self, done, float(next(pretended))))
    for threads in (1, 2):
        effect = explained(weights=WEIGHTS, threads=threads).partial_dependence(0, 1, grid=5, spread=True)
        assert np.array_equal(effect.average, expected.average)
        assert np.array_equal(effect.std, expected.std)


def test_calls_are_few():
    """One call per grid point is what made others slow."""
    calls = []

    def model(rows):
        calls.append(len(rows))
        return rows[:, 0]

    ex = icefield.Explainer(model, X, row_by_row=True)
    calls.clear()
    ex.partial_dependence(0, grid=100)
    assert len(calls) < 20
    assert sum(calls) <= 100 * len(X) + 2 * len(X)


def test_a_slow_model_is_asked_about_a_second_at_a_time(monkeypatch):
    """Two milliseconds a row: no call may take much more than its time."""
    for module in (brute, pace):
        monkeypatch.setattr(module, "SECONDS_PER_CALL", 0.05)
    sizes = []

    def model(rows):
        sizes.append(len(rows))
        time.sleep(0.002 * len(rows))
        return rows[:, 0]

    ex = icefield.Explainer(model, X, row_by_row=True)
    sizes.clear()
    ex.partial_dependence(0, grid=[0.0, 1.0])
    assert max(sizes) <= 64
    assert sum(sizes) == 3 * len(X)  # two grid points, and the sample behind the baseline


def test_the_pace_grows_step_by_step_and_falls_at_once():
    pace = Pace(first=64, most=16_384, seconds=0.5)
    seen = []
    for seconds in (1e-4, 1e-4, 1e-4, 1e-4):
        pace.learn(pace.predictions, seconds)
        seen.append(pace.predictions)
    assert seen == [512, 4096, 16_384, 16_384]
    assert not pace.searching
    pace.learn(16_384, 5.0)
    assert pace.predictions == 1638


# --- quantiles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_quantiles_are_those_of_the_curves(q):
    grid = np.linspace(-1, 1, 3)
    curves = by_loop(two_outputs, X, (0,), [grid])
    effect = explained().partial_dependence(0, grid=grid, quantiles=[q])
    np.testing.assert_array_equal(effect.quantiles[q], np.quantile(curves, q, axis=1, method="inverted_cdf"))


def test_weighted_quantiles_count_a_weight_as_so_many_rows():
    grid = np.linspace(-1, 1, 3)
    repeated = np.repeat(X, WEIGHTS.astype(int), axis=0)
    weighted = explained(weights=WEIGHTS).partial_dependence(0, grid=grid, quantiles=[0.1, 0.5, 0.9])
    expected = icefield.Explainer(two_outputs, repeated).partial_dependence(
        0, grid=grid, quantiles=[0.1, 0.5, 0.9]
    )
    for q in (0.1, 0.5, 0.9):
        np.testing.assert_array_equal(weighted.quantiles[q], expected.quantiles[q])


def test_a_group_without_weight_has_no_quantiles():
    weights = np.where(GROUPS == "b", 0.0, 1.0)
    effect = explained(weights=weights, by=GROUPS).partial_dependence(0, grid=3, quantiles=[0.5])
    assert np.isnan(effect.groups["b"].quantiles[0.5]).all()
    assert np.isnan(effect.groups["b"].average).all()
    assert np.isfinite(effect.groups["a"].quantiles[0.5]).all()


# --- predictions that are no numbers -------------------------------------------------------------


def test_nan_predictions_are_seen_only_where_they_are():
    def model(rows):
        return np.where((rows[:, 0] > 0.5) & (rows[:, 1] > 1), np.nan, rows[:, 1])

    effect = icefield.Explainer(model, X).partial_dependence(0, grid=[0.0, 1.0], quantiles=[0.5])
    assert effect.average[0, 0] == pytest.approx(X[:, 1].mean(), rel=1e-13)
    for array in (effect.average, effect.std, effect.se, effect.quantiles[0.5]):
        assert np.isfinite(array[0, 0])
        assert np.isnan(array[0, 1])


def test_a_row_without_weight_may_be_nan_in_quantiles():
    weights = np.where(X[:, 1] > 1, 0.0, 1.0)

    def model(rows):
        return np.where(rows[:, 1] > 1, np.nan, rows[:, 1])

    effect = icefield.Explainer(model, X, weights=weights).partial_dependence(0, grid=[0.0], quantiles=[0.5])
    assert np.isfinite(effect.quantiles[0.5]).all()


# --- budgets -------------------------------------------------------------------------------------


def test_too_many_curves_are_refused_with_their_size():
    ex = explained(memory=100_000)
    with pytest.raises(icefield.IcefieldError, match=r"137 individual curves x 100 grid points.*rows=62"):
        ex.ice(0, grid=Grid())
    assert ex.ice(0, grid=Grid(), rows=62).individual.shape == (2, 62, 100)


def test_quantiles_over_budget_are_refused_with_their_size():
    ex = explained(memory=2_000)
    with pytest.raises(icefield.IcefieldError, match=r"137 rows would take.*rows=125"):
        ex.partial_dependence(0, grid=Grid(), quantiles=[0.5])
    assert ex.partial_dependence(0, grid=Grid(), quantiles=[0.5], rows=125).quantiles[0.5].shape == (2, 100)


# --- threads -------------------------------------------------------------------------------------


def fitted(model):
    return model.fit(X, X[:, 0] * X[:, 1] + X[:, 2])


MODELS = {
    "shared": lambda: SVR(),
    "a copy each": lambda: KNeighborsRegressor(algorithm="kd_tree"),
    "matrix products": lambda: MLPRegressor(
        hidden_layer_sizes=(8,), solver="lbfgs", max_iter=20, random_state=0
    ),
    "copies in a pipeline": lambda: make_pipeline(
        StandardScaler(), KNeighborsRegressor(algorithm="ball_tree")
    ),
}


@pytest.mark.filterwarnings("ignore:lbfgs failed")
@pytest.mark.parametrize("name", MODELS)
def test_threads_change_nothing(name, monkeypatch):
    model = fitted(MODELS[name]())
    monkeypatch.setattr(brute, "ROWS_PER_CALL", 300)
    one = icefield.Explainer(model, X, threads=1).partial_dependence(0, grid=20)
    many = icefield.Explainer(model, X, threads=4).partial_dependence(0, grid=20)
    np.testing.assert_allclose(one.average, many.average, rtol=1e-12)
    np.testing.assert_allclose(one.std, many.std, rtol=1e-10)


def test_threads_are_used_and_gone_afterwards(monkeypatch):
    monkeypatch.setattr(brute, "ROWS_PER_CALL", 137)
    seen = set()

    def model(rows):
        seen.add(threading.current_thread().name)
        time.sleep(0.001)
        return rows[:, 0]

    before = threading.active_count()
    icefield.Explainer(model, X, threads=3).partial_dependence(0, grid=40)
    assert len({name for name in seen if name.startswith("icefield")}) > 1
    assert threading.active_count() == before


def test_a_plain_function_stays_in_the_callers_thread():
    seen = set()

    def model(rows):
        seen.add(threading.get_ident())
        return rows[:, 0]

    icefield.Explainer(model, X).partial_dependence(0)
    assert seen == {threading.get_ident()}


def test_an_error_in_a_thread_reaches_the_caller_and_leaves_no_thread():
    def model(rows):
        if (rows[:, 0] > 50).any():
            raise RuntimeError("cannot go beyond 50")
        return rows[:, 0]

    before = threading.active_count()
    ex = icefield.Explainer(model, X, threads=3)
    with pytest.raises(RuntimeError, match="beyond 50"):
        ex.partial_dependence(0, grid=[1.0, 2.0, 99.0])
    assert threading.active_count() == before
    assert ex.partial_dependence(0, grid=[1.0]).average.tolist() == [[1.0]]


def test_threads_see_the_callers_sklearn_settings(monkeypatch):
    """scikit-learn keeps settings per thread; a pipeline may rely on frames between its steps."""
    import sklearn

    monkeypatch.setattr(brute, "ROWS_PER_CALL", 137)
    seen = set()

    def model(rows):
        seen.add(sklearn.get_config()["transform_output"])
        return rows[:, 0]

    with sklearn.config_context(transform_output="pandas"):
        icefield.Explainer(model, X, threads=2).partial_dependence(0, grid=20)
    assert seen == {"pandas"}


# --- errors of the model's own --------------------------------------------------------------------


class _RunsOut:
    """A function that takes numbers from an iterator, which ends after the first questions."""

    def __init__(self):
        self.asked = 0

    def __call__(self, rows):
        self.asked += 1
        if self.asked > 12:
            next(iter(()))
        return rows[:, 0]


@pytest.mark.parametrize("choices", [{}, {"threads": 2}], ids=str)
@pytest.mark.parametrize(
    "question",
    [
        lambda ex: ex.partial_dependence(0, grid=40),
        lambda ex: ex.interactions(),
        lambda ex: ex.ale(0),
        lambda ex: ex.importance(),
    ],
    ids=["pd", "interactions", "ale", "importance"],
)
def test_stop_iteration_inside_predict_is_a_clear_error(question, choices, complains, monkeypatch):
    monkeypatch.setattr(brute, "ROWS_PER_CALL", 100)
    ex = icefield.Explainer(_RunsOut(), X, **choices)
    with complains("model", "StopIteration", "Hint", error=ModelError):
        for _ in range(9):
            question(ex)


class _Fails:
    """Its own error, or one that cannot be sent, from wherever it is asked."""

    def __init__(self, error):
        self.error = error

    def __call__(self, rows):
        if multiprocessing.parent_process() is not None:
            raise self.error
        return rows[:, 0]


class _CannotBeSent(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class _RaisesWhatCannotBeSent(_Fails):
    def __init__(self):
        super().__init__(None)

    def __call__(self, rows):
        if multiprocessing.parent_process() is not None:
            raise _CannotBeSent("this", "that")
        return rows[:, 0]


@pytest.mark.slow
def test_an_error_in_another_process_comes_over(complains):
    with pytest.raises(KeyError, match="lost") as caught:
        icefield.Explainer(_Fails(KeyError("lost")), X, processes=2).partial_dependence(0)
    assert "_Fails" in str(caught.value.__cause__) or "__call__" in str(caught.value.__cause__)
    with complains("model", "_CannotBeSent", "this and that", error=ModelError):
        icefield.Explainer(_RaisesWhatCannotBeSent(), X, processes=2).partial_dependence(0)
    with complains("model", "StopIteration", error=ModelError):
        icefield.Explainer(_Fails(StopIteration()), X, processes=2).partial_dependence(0)


# --- processes -----------------------------------------------------------------------------------


def test_processes_give_the_same_numbers():
    import warnings

    model = fitted(make_pipeline(StandardScaler(), LinearRegression()))
    here = icefield.Explainer(model, X, by=GROUPS).partial_dependence(0, grid=6, quantiles=[0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = icefield.Explainer(model, X, by=GROUPS, processes=2).partial_dependence(
            0, grid=6, quantiles=[0.5]
        )
    np.testing.assert_array_equal(here.average, there.average)
    np.testing.assert_array_equal(here.quantiles[0.5], there.quantiles[0.5])
    np.testing.assert_array_equal(here.groups["a"].std, there.groups["a"].std)


def test_a_model_that_cannot_be_pickled_is_refused_by_name(complains):
    ex = icefield.Explainer(lambda rows: rows[:, 0], X, processes=2)
    with complains("processes", "pickled", "got 2", "Hint", error=ValueError):
        ex.partial_dependence(0)


class _DiesInAnotherProcess:
    """Unpickling it ends the process, as an import error in a real model's module would."""

    def __call__(self, rows):
        return rows[:, 0]

    def __reduce__(self):
        return (_end_the_process, ())


def _end_the_process():
    import multiprocessing
    import os

    if multiprocessing.parent_process() is not None:
        os._exit(3)
    return _DiesInAnotherProcess()


@pytest.mark.slow
def test_a_process_that_dies_is_reported(complains):
    ex = icefield.Explainer(_DiesInAnotherProcess(), X, processes=2)
    with complains("processes", "ended before it answered", "__main__", error=ValueError):
        ex.partial_dependence(0)


# --- pipelines -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def passengers():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, 300),
            "fare": rng.exponential(30, 300),
            "port": np.array(["C", "Q", "S"])[rng.integers(0, 3, 300)],
        }
    )
    survived = (frame.age + frame.fare * (frame.port == "C") + rng.normal(0, 9, 300) > 45).astype(int)
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["port"]), (StandardScaler(), ["age", "fare"])
    )
    return frame, make_pipeline(steps, LogisticRegression()).fit(frame, survived)


@pytest.mark.parametrize("features", [("age",), ("port",), ("age", "port"), ("fare", "age")])
def test_a_pipeline_taken_apart_gives_what_it_gives_whole(passengers, features, monkeypatch):
    frame, model = passengers
    monkeypatch.setattr(brute, "ROWS_PER_CALL", 128)
    split = icefield.Explainer(model, frame).partial_dependence(*features, grid=4, spread=True)
    whole = icefield.Explainer(lambda rows: model.predict_proba(rows)[:, 1], frame).partial_dependence(
        *features, grid=4, spread=True
    )
    np.testing.assert_allclose(split.average, whole.average, rtol=1e-12)
    np.testing.assert_allclose(split.std, whole.std, rtol=1e-10)


def test_what_does_not_move_is_transformed_once_a_block(passengers, monkeypatch):
    frame, model = passengers
    ex = icefield.Explainer(model, frame)
    encoder = model[0].named_transformers_["onehotencoder"]
    rows_encoded = []
    transform = OneHotEncoder.transform

    def counted(self, rows):
        if self is encoder:
            rows_encoded.append(len(rows))
        return transform(self, rows)

    ex.partial_dependence("age", grid=2)  # whatever is done once per Explainer is done
    monkeypatch.setattr(OneHotEncoder, "transform", counted)
    ex.partial_dependence("age", grid=50)
    assert sum(rows_encoded) < 3 * len(frame)


# --- rows and precision --------------------------------------------------------------------------


def test_rows_average_over_those_rows_and_say_so():
    chosen = [3, 4, 50, 51]
    effect = explained(weights=WEIGHTS + 1, by=GROUPS).partial_dependence(0, 1, grid=3, rows=chosen)
    alone = icefield.Explainer(two_outputs, X[chosen], weights=WEIGHTS[chosen] + 1)
    expected = alone.partial_dependence(0, 1, grid=effect.grid, spread=True)
    np.testing.assert_allclose(effect.average, expected.average, rtol=1e-13)
    np.testing.assert_allclose(effect.se, expected.se, rtol=1e-12)
    assert effect.n_rows == 4
    assert "4 of 137 rows" in effect.why
    assert sum(group.n_rows for group in effect.groups.values()) == 4


def test_a_number_of_rows_is_a_seeded_sample():
    one, same = (explained(seed=3).partial_dependence(0, rows=20, grid=3) for _ in range(2))
    other = explained(seed=4).partial_dependence(0, rows=20, grid=3)
    assert np.array_equal(one.average, same.average)
    assert not np.array_equal(one.average, other.average)
    assert one.n_rows == 20


@pytest.fixture(scope="module")
def many_rows():
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(20_000, 3))
    return rows, rng.random(20_000), np.array(["u", "v"])[rng.integers(0, 2, 20_000)]


@pytest.mark.parametrize("weighted", [False, True])
def test_precision_stops_when_the_error_is_small_enough(many_rows, weighted):
    rows, weights, groups = many_rows
    ex = icefield.Explainer(
        lambda r: r[:, 0] + r[:, 1], rows, weights=weights if weighted else None, by=groups, row_by_row=True
    )
    effect = ex.partial_dependence(0, grid=[-2.0, 0.0, 2.0], precision=0.01)
    assert 200 < effect.n_rows < 20_000
    assert effect.se.max() <= 0.01 * np.ptp(effect.average)
    assert f"{effect.n_rows:,} of 20,000 rows" in effect.why
    assert sum(group.n_rows for group in effect.groups.values()) == effect.n_rows
    truth = ex.partial_dependence(0, grid=[-2.0, 0.0, 2.0])
    assert (np.abs(effect.average - truth.average) < 5 * effect.se).all()


def test_precision_that_cannot_be_reached_uses_every_row(many_rows):
    rows, _, _ = many_rows
    ex = icefield.Explainer(lambda r: r[:, 0] + r[:, 1], rows[:500], row_by_row=True)
    effect = ex.partial_dependence(0, grid=[0.0, 1.0], precision=1e-6)
    assert effect.n_rows == 500
    assert "without reaching" in effect.why
    np.testing.assert_allclose(effect.average, ex.partial_dependence(0, grid=[0.0, 1.0]).average, rtol=1e-12)


def test_precision_with_rows_stays_among_those_rows(many_rows):
    rows, _, _ = many_rows
    ex = icefield.Explainer(lambda r: r[:, 0] + r[:, 1], rows, row_by_row=True)
    chosen = np.arange(300)
    effect = ex.partial_dependence(0, grid=[0.0, 1.0], rows=chosen, precision=1e-6)
    assert effect.n_rows == 300
    assert effect.average[0, 0] == pytest.approx(rows[:300, 1].mean(), rel=1e-12)


def test_few_rows_of_a_slow_model_stay_few():
    """The mean prediction that pictures show must not cost more than what was asked for."""
    asked = []

    def model(rows):
        asked.append(len(rows))
        return rows[:, 0]

    ex = icefield.Explainer(model, np.tile(X, (10, 1)))
    asked.clear()
    effect = ex.partial_dependence(0, grid=[0.0, 1.0], rows=10)
    assert sum(asked) == 30
    assert math.isfinite(effect.baseline[0])
