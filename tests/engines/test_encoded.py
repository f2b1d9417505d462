"""Rows are encoded once where there is room, block by block where there is not, to the same numbers."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor

from icefield import Explainer
from icefield.core.question import Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees.encoded import EncodedRows, EncodeOnce
from icefield.libraries.reading import read


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(size=500), "b": rng.integers(0, 5, 500)})
    X["c"] = pd.Categorical(rng.choice(list("xyz"), 500))
    return X


@pytest.fixture(scope="module")
def booster(frame):
    y = frame["a"] * frame["b"] + (frame["c"] == "x")
    return LGBMRegressor(n_estimators=20, num_leaves=8, n_jobs=1, verbose=-1, random_state=0).fit(frame, y)


@pytest.fixture
def counting(booster, frame):
    """An encoder of the model's, and the sizes of the tables it has read."""
    model, sizes = read(booster, table_of(frame)), []

    def encode(table):
        sizes.append(table.n_rows)
        return model.encode(table)

    return EncodeOnce(replace(model, encode=encode)), sizes


def test_a_table_is_encoded_once_while_it_lives(counting, frame):
    encoder, sizes = counting
    table = table_of(frame)
    first = encoder.kept(table, Resources(memory=2**20))
    assert encoder.kept(table, Resources(memory=2**20)) is first
    assert sizes == [500]
    del table, first
    gc.collect()
    encoder.kept(table_of(frame), Resources(memory=2**20))
    assert sizes == [500, 500]


def test_rows_beyond_a_quarter_of_the_budget_are_not_kept(counting, frame):
    encoder, sizes = counting
    table = table_of(frame)
    needed = 4 * 8 * 500 * 3
    assert encoder.kept(table, Resources(memory=needed - 1)) is table
    assert sizes == []
    assert isinstance(encoder.kept(table, Resources(memory=needed)), EncodedRows)


def test_a_sample_keeps_its_weights_and_groups(counting, frame):
    encoder, _ = counting
    codes = np.zeros(500, np.intp)
    given = Block(table_of(frame), np.arange(500.0), codes, 1)
    found = encoder.sample(given, Resources(memory=2**20))
    assert found.weights is given.weights
    assert found.codes is codes
    assert found.n_groups == 1
    assert np.array_equal(encoder(found.table.slice(10, 20)), encoder(given.table.slice(10, 20)))
    some = np.array([7, 3, 3])
    assert np.array_equal(encoder(found.table.take(some)), encoder(given.table.take(some)))


def test_every_answer_is_the_same_with_and_without_room(booster, frame):
    roomy, narrow = Explainer(booster, frame, by="c"), Explainer(booster, frame, by="c", memory=40_000)
    assert roomy.study.resources.memory // 4 > 8 * 500 * 3 > narrow.study.resources.memory // 4
    for ask in (
        lambda ex: ex.partial_dependence("a"),
        lambda ex: ex.ice("b"),
        lambda ex: ex.ale("a"),
        lambda ex: ex.ale("c"),
    ):
        one, two = ask(roomy), ask(narrow)
        assert one.engine == two.engine == "trees"
        np.testing.assert_allclose(one.average, two.average, rtol=1e-13, atol=1e-13)
    h = [ex.interactions(rows=200)["h"] for ex in (roomy, narrow)]
    np.testing.assert_allclose(h[0], h[1], rtol=1e-10, atol=1e-10)
