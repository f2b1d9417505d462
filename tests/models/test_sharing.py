"""Which models threads may share: known ones only, and neighbour searches by private copies."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import icefield
from icefield.core.question import Resources
from icefield.data.frame import table_of
from icefield.engines.brute.pool import wanted_threads
from icefield.models.model import read_model
from icefield.models.sharing import copies_help, predict_lock, private_copy, shareable
from icefield.threads import available_processors

RNG = np.random.default_rng(4)
X = RNG.normal(size=(200, 4))
Y = X[:, 0] * X[:, 1]
MEMORY = 2**28


def read(model):
    return icefield.Explainer(model, X, engine="brute").model


class OwnSVR(SVR):
    """A user's subclass may do anything in predict."""


class Ducks(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


SHAREABLE = {
    "function": lambda: lambda rows: rows[:, 0],
    "svr": lambda: SVR().fit(X, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), SVR()).fit(X, Y),
    "passthrough": lambda: make_pipeline("passthrough", SVR()).fit(X, Y),
    "search": lambda: GridSearchCV(SVR(), {"C": [1.0]}, cv=2).fit(X, Y),
}
ALONE = {
    "forest": lambda: RandomForestRegressor(3).fit(X, Y),
    "columns": lambda: make_pipeline(make_column_transformer((StandardScaler(), [0, 1])), SVR()).fit(X, Y),
    "subclass": lambda: OwnSVR().fit(X, Y),
    "custom": lambda: Ducks().fit(X, Y),
    "neighbours": lambda: KNeighborsRegressor().fit(X, Y),
}


@pytest.mark.parametrize("name", SHAREABLE)
def test_models_that_threads_share(name):
    model = read(SHAREABLE[name]())
    assert shareable(model)
    assert wanted_threads(model, Resources(threads=3)) == 3


@pytest.mark.parametrize("name", ALONE)
def test_models_that_are_asked_one_at_a_time(name):
    assert not shareable(read(ALONE[name]()))


@pytest.mark.parametrize("name", ["forest", "columns", "custom"])
def test_threads_asked_for_are_not_used_where_they_would_harm(name):
    assert wanted_threads(read(ALONE[name]()), Resources(threads=3)) == 1


def test_threads_are_used_unasked_only_where_they_help():
    assert wanted_threads(read(SVR().fit(X, Y)), Resources()) == available_processors()
    assert wanted_threads(read(lambda rows: rows[:, 0]), Resources()) == 1


def test_one_at_a_time_means_it():
    model = read(ALONE["forest"]())
    inside = threading.Event()
    with predict_lock(model), predict_lock(model):  # the same thread may come back
        other = threading.Thread(
            target=lambda: (
                predict_lock(model).__enter__(),
                inside.set(),
                predict_lock(model).__exit__(None, None, None),
            )
        )
        other.start()
        assert not inside.wait(0.05)
    other.join(timeout=10)
    assert inside.is_set()


def test_warning_filters_survive_many_threads_asking_a_forest():
    """Without the lock, filters get lost here, or the calls never end."""
    ex = icefield.Explainer(RandomForestRegressor(3, random_state=0).fit(X, Y), X, engine="brute")
    before = list(warnings.filters)
    threads = [
        threading.Thread(target=ex.partial_dependence, args=(0,), kwargs={"grid": 5}) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before


# --- neighbour searches --------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan"])
def test_a_private_copy_finds_the_same_neighbours(algorithm, weights, metric):
    rows = icefield.data.frame.table_of(np.vstack([X, RNG.integers(-1, 2, (50, 4))]))  # ties among them
    settings = {"algorithm": algorithm, "weights": weights, "metric": metric}
    for model in (KNeighborsRegressor(**settings).fit(X, Y), KNeighborsClassifier(**settings).fit(X, Y > 0)):
        read_model = read(model)
        own = private_copy(read_model)
        np.testing.assert_array_equal(own.predict(rows), read_model.predict(rows))
        assert "kneighbors" not in vars(model)


def test_a_private_copy_refuses_what_the_model_refuses():
    own = private_copy(read(KNeighborsRegressor(algorithm="kd_tree").fit(X, Y)))
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        own.predict(icefield.data.frame.table_of(holed))


def test_a_pipeline_around_a_search_is_copied_as_a_whole():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(StandardScaler(), KNeighborsRegressor(algorithm="kd_tree")).fit(frame, Y)
    one = icefield.Explainer(model, frame, threads=1).partial_dependence("a", grid=30)
    many = icefield.Explainer(model, frame, threads=3).partial_dependence("a", grid=30)
    np.testing.assert_array_equal(one.average, many.average)


def test_copies_are_made_only_of_searches_and_within_the_budget():
    search = read(KNeighborsRegressor(algorithm="kd_tree").fit(X, Y))
    assert copies_help(search, 2, MEMORY)
    assert not copies_help(search, 2, X.nbytes)
    assert not copies_help(read(KNeighborsRegressor(algorithm="brute").fit(X, Y)), 2, MEMORY)
    assert not copies_help(read(SVR().fit(X, Y)), 2, MEMORY)
    columns = make_column_transformer((StandardScaler(), [0, 1]))
    mixed = make_pipeline(columns, KNeighborsRegressor(algorithm="kd_tree")).fit(X, Y)
    assert not copies_help(read(mixed), 2, MEMORY)


def test_a_private_copy_is_asked_without_waiting_for_others() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = read_model(KNeighborsRegressor(algorithm="kd_tree").fit(X, X[:, 0]), table_of(X))
    assert not shareable(model)
    assert shareable(private_copy(model))
