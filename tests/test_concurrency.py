"""One Explainer, asked from 32 threads at once: everyone gets the serial answer."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import icefield

CALLS = 32
RNG = np.random.default_rng(9)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=90),
        "b": RNG.normal(size=90),
        "c": np.array(["x", "y", "z"])[RNG.integers(0, 3, 90)],
    }
)
NUMBERS = FRAME[["a", "b"]].to_numpy()


def explainers():
    steps = make_column_transformer((OneHotEncoder(), ["c"]), (StandardScaler(), ["a", "b"]))
    pipeline = make_pipeline(steps, LogisticRegression()).fit(FRAME, FRAME["a"] > FRAME["b"])
    return {
        "function": lambda: icefield.Explainer(
            lambda rows: rows[:, 0] * rows[:, 1], NUMBERS, row_by_row=True
        ),
        "threads": lambda: icefield.Explainer(SVR().fit(NUMBERS, FRAME["a"] ** 2), NUMBERS, threads=2),
        "copies": lambda: icefield.Explainer(
            KNeighborsRegressor(algorithm="kd_tree").fit(NUMBERS, FRAME["a"] ** 2), NUMBERS, threads=2
        ),
        "pipeline": lambda: icefield.Explainer(pipeline, FRAME, by="c"),
    }


def questions(ex):
    """Every kind of question, twice over; the first ones also race for what is made on first need."""
    asked = [
        lambda: ex.partial_dependence(0, grid=9),
        lambda: ex.partial_dependence(1, quantiles=[0.1, 0.9], grid=9),
        lambda: ex.ice(0, grid=5, rows=7),
        lambda: ex.partial_dependence(0, 1, grid=4),
        lambda: ex.partial_dependence(0, rows=30, grid=5),
        lambda: ex.partial_dependence(0, precision=0.2, grid=5),
    ]
    return [asked[i % len(asked)] for i in range(CALLS)]


def same(one, other):
    np.testing.assert_array_equal(one.average, other.average)
    for field in ("std", "se", "individual", "weight", "baseline"):
        mine, theirs = getattr(one, field), getattr(other, field)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_array_equal(mine, theirs)
    for q, values in (one.quantiles or {}).items():
        np.testing.assert_array_equal(values, other.quantiles[q])
    for label, group in one.groups.items():
        same(group, other.groups[label])


@pytest.mark.parametrize("name", explainers())
def test_concurrent_calls_equal_the_serial_ones(name):
    expected = [ask() for ask in questions(explainers()[name]())]
    shared = explainers()[name]()
    start = threading.Barrier(CALLS)

    def go(ask):
        start.wait(timeout=60)
        return ask()

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # as many interleavings as a short test can have
    try:
        with ThreadPoolExecutor(CALLS) as threads:
            found = list(threads.map(go, questions(shared)))
    finally:
        sys.setswitchinterval(switching)
    for one, other in zip(found, expected, strict=True):
        same(one, other)


def test_an_explainer_can_be_used_inside_the_model_of_another():
    """Nested use must not wait for itself."""
    inner = icefield.Explainer(lambda rows: rows[:, 0], NUMBERS)

    def model(rows):
        return rows[:, 0] + inner.partial_dependence(0, grid=[1.0]).average[0, 0]

    effect = icefield.Explainer(model, NUMBERS, threads=2).partial_dependence(0, grid=[0.0, 1.0])
    assert effect.average.tolist() == [[1.0, 2.0]]
