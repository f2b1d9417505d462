"""PackedRows packed and counted in one call: the counts are those of one block after another, bit for bit."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from icefield import Explainer
from icefield.core.question import Axis, Resources, block_moments
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import averages, encoded, layout
from icefield.engines.trees.averages import RowCounting
from icefield.engines.trees.coding import CodedRows
from icefield.engines.trees.encoded import EncodedRows
from icefield.engines.trees.packed_rows import PackedRows
from icefield.engines.trees.predictions import raw_predictions
from icefield.threads import ThreadCrew


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = np.round(X[:, 3])  # zeros
    y = np.nansum(X[:, :3], axis=1) + np.nan_to_num(X[:, 0] * X[:, 4])
    return lgb.LGBMRegressor(n_estimators=30, verbose=-1).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, 64, 700, 4096, 4097, 20_000])
def test_curves_and_surfaces_are_those_of_blocks(model, rows, dtype, monkeypatch):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 6)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.round(X[:, 3])
    X[0] = 1.0
    used = []
    made = RowCounting.__init__
    monkeypatch.setattr(RowCounting, "__init__", lambda self, *given: used.append(1) or made(self, *given))

    def asked(threads):
        explainer = Explainer(model, X, threads=threads)
        grid = {j: [-1.0, 0.0, 0.5, 2.0] for j in range(6)}
        found = [*explainer.effects(grid=grid).values(), *explainer.effects(order=2, grid=grid).values()]
        return [effect.average for effect in found]

    once, twice = asked(1), asked(2)
    assert used
    monkeypatch.setattr(PackedRows, "are_alike", lambda *_: False)
    used.clear()
    expected = asked(2)
    assert not used
    for one, two, three in zip(once, twice, expected, strict=True):
        np.testing.assert_array_equal(one, three)
        np.testing.assert_array_equal(two, three)


@pytest.mark.parametrize(
    "sample", [{}, {"weights": np.arange(50.0)}, {"codes": np.zeros(50, np.intp), "n_groups": 1}]
)
def test_rows_that_weigh_or_stand_in_groups_take_the_other_way(model, sample):
    explainer = Explainer(model, np.ones((50, 6)))
    own = explainer.study.plan.engine
    rows = PackedRows(own.model, own.encoder.sample(Block(table_of(np.ones((50, 6))), **sample), 2**28), 8192)
    with ThreadCrew(1) as crew, crew:
        given = averages.Counted(own.sums, rows, crew, 2**28, None)
        (program,) = given.programs([(0,)], averages.SINGLES)
    assert rows.are_alike(program.layout, False) == (not sample)
    assert not rows.are_alike(program.layout, True)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 100_000])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_are_shared_out_whole_words_at_a_time(n, threads):
    class Own:
        n_lying = n

    pieces = PackedRows.shared_out(Own, threads)
    assert [start for start, _ in pieces] == [0, *(stop for _, stop in pieces[:-1])]
    assert pieces[-1][1] == n
    assert all(start % 64 == 0 for start, _ in pieces)
    assert all(stop > start for start, stop in pieces)


@pytest.mark.parametrize("rows", [1, 64, 4096, 4097, 9000])
def test_predictions_are_those_of_blocks(model, rows, monkeypatch):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    own = Explainer(model, X).study.plan.engine
    sample = own.encoder.sample(Block(table_of(X)), 2**28)
    found = []
    for threads in (1, 2):
        with ThreadCrew(threads) as crew, crew:
            found.append(raw_predictions(own.model, own.sums, sample, crew, 2**28))
    monkeypatch.setattr(PackedRows, "are_alike", lambda *_: False)
    with ThreadCrew(2) as crew, crew:
        expected = raw_predictions(own.model, own.sums, sample, crew, 2**28)
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], expected)
    np.testing.assert_allclose(expected[0, :, 0], model.predict(X), rtol=1e-12)


FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "by column": lambda X: np.asfortranarray(X),
    "codes": lambda X: pd.DataFrame(X).astype(
        {5: "float32"}
    ),  # of several types, so that no matrix is at hand
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["mean", "probability"])
def test_moved_rows_are_those_that_were_written(model, form, weighted, kind, monkeypatch):
    """Own values moved for every row, one value for all, and rows that stay; counted at once, by blocks and with searches."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(5000, 6)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    monkeypatch.setattr(encoded, "FEW_VALUES", 1)
    if kind == "probability":
        model = lgb.LGBMClassifier(n_estimators=30, verbose=-1).fit(X, rng.random(5000) < 0.5)
    given = FORMS[form](X)
    options = {"weights": rng.random(5000), "by": rng.integers(0, 3, 5000)} if weighted else {}
    study = Explainer(model, given, **options).study
    engine, sample, names = study.plan.engine, study.sample, study.model.columns
    assert isinstance(engine.encoder.kept(sample.table, Resources()), CodedRows) == (form == "codes")
    own = np.asarray(given[5] if form == "codes" else given[:, 5], np.float64) * 2.0
    moves = [
        [
            Axis(
                names[5],
                {names[5]: own.astype(np.asarray(given)[:, 5].dtype if form != "codes" else np.float32)},
            )
        ],
        [],
        [Axis(names[0], {names[0]: np.array([0.5])}), Axis(names[3], {names[3]: np.array([np.nan])})],
    ]
    written = [X.copy() for _ in moves]
    written[0][:, 5], written[2][:, 0], written[2][:, 3] = own, 0.5, np.nan
    expected = []
    for one in written:
        raw = (
            model.predict_proba(FORMS[form](one))[:, 1:]
            if kind == "probability"
            else model.predict(one)[:, None]
        )
        expected.append([m.mean for m in block_moments(raw, sample, 0, 5000, False)])
    for way in ("at once", "blocks", "searches"):
        if way == "blocks":
            monkeypatch.setattr(PackedRows, "are_alike", lambda *_: False)
        elif way == "searches":
            monkeypatch.setattr(layout, "BYTE_CUTS", 3)
            monkeypatch.setattr(layout, "_LATEST", WeakKeyDictionary())
            engine.sums._standing.clear()
        engine._unmoved.clear()
        found = engine.moved_means(moves, sample, Resources(threads=2))
        for moments, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose([m.mean for m in moments], wanted, rtol=1e-9, err_msg=way)
        each = engine.moved_predictions(moves, sample.table, Resources(threads=2))
        plain = [m.mean for m in block_moments(each[2], sample, 0, 5000, False)]
        np.testing.assert_allclose(plain, expected[2], rtol=1e-9, err_msg=way)


def test_rows_that_are_asked_about_again_are_coded_and_count_the_same(model):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9000, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    study = Explainer(model, X).study
    engine, sample, name = study.plan.engine, study.sample, study.model.columns[0]
    moves = [[Axis(name, {name: X[:, 0] + way})] for way in (-0.1, 0.1)]
    means, each, forms = [], [], []
    for _ in range(3):
        forms.append(type(engine.encoder.moving(sample, Resources()).table))
        means.append([moments.mean for (moments,) in engine.moved_means(moves, sample, Resources())])
        each.append(engine.moved_predictions(moves, sample.table, Resources()))
    assert forms == [EncodedRows, CodedRows, CodedRows]
    for found in (means, each):
        np.testing.assert_array_equal(found[1], found[0])
        np.testing.assert_array_equal(found[2], found[0])


def test_few_rows_and_very_many_are_not_coded_again(model, monkeypatch):
    for n in (100, 9000):
        monkeypatch.setattr(encoded, "MOST_CODED_AGAIN", 2**24 if n == 100 else 6 * n - 1)
        study = Explainer(model, np.zeros((n, 6))).study
        moving = [study.plan.engine.encoder.moving(study.sample, Resources()).table for _ in range(3)]
        assert all(isinstance(rows, EncodedRows) for rows in moving)


def test_coded_rows_of_trees_without_a_condition_do_not_change():
    X = np.arange(10_000.0).reshape(5000, 2)
    explainer = Explainer(DecisionTreeRegressor().fit(X, np.full(5000, 2.5)), X)
    for spread in (True, False, True):
        found = explainer.change(0, end=1.0, spread=spread)
        assert found["start"].tolist() == found["end"].tolist() == [2.5]
