"""Filters: rows counted where they lie, by a bit each, give the averages of the same rows taken out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer, kernels
from icefield.engines.trees import encoded
from icefield.engines.trees.encoded import EncodedRows, FilteredRows

N = 3000


def _model(X, y, **settings):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=12, num_leaves=15, verbose=-1, random_state=0, n_jobs=1, **settings
    ).fit(X, y)


def _matrix(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 2])
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "by column":
        X = np.asfortranarray(X)
    if kind == "frame":
        X = pd.DataFrame(X, columns=list("abcde")).assign(f=pd.Categorical(rng.choice(list("pqrs"), N)))
    return X, y


MASKS = {
    "most": lambda rng: rng.random(N) < 0.9,
    "half": lambda rng: rng.random(N) < 0.5,
    "a stretch": lambda rng: (np.arange(N) > 700) & (np.arange(N) < 1900),
    "the last": lambda rng: np.arange(N) >= N - 300,
    "few": lambda rng: np.arange(N) % 40 == 3,
    "all": lambda rng: np.ones(N, bool),
}


@pytest.fixture
def counted(monkeypatch):
    """How many calls counted rows by a mask."""
    seen = {"masked": 0}
    count = kernels.count_rows

    def count_rows(**given):
        seen["masked"] += given["here"].size > 0
        return count(**given)

    monkeypatch.setattr(kernels, "count_rows", count_rows)
    return seen


@pytest.mark.parametrize("kind", ["float64", "float32", "by column", "frame"])
@pytest.mark.parametrize("which", MASKS)
def test_averages_of_filtered_rows_are_those_of_the_rows_alone(kind, which, counted, monkeypatch):
    monkeypatch.setattr(encoded, "FEW_VALUES", 0)  # codes, where a frame has them
    X, y = _matrix(kind)
    mask = MASKS[which](np.random.default_rng(2))
    model = _model(X, y)
    whole = Explainer(model, X)
    whole.effects()
    counted.update(masked=0)
    grid = {name: np.asarray(effect.grid[0]) for name, effect in whole.effects().items()}
    found = whole.effects(rows=mask, grid=grid)
    surface = whole.partial_dependence(*list(grid)[:2], rows=mask, grid=5, spread=False)
    assert bool(counted["masked"]) == (which != "few")
    alone = Explainer(model, X[mask] if isinstance(X, np.ndarray) else X.loc[mask])
    for name, effect in alone.effects(grid=grid).items():
        np.testing.assert_array_equal(found[name].average, effect.average)
    brute = Explainer(model, X, engine="brute")
    for name in list(grid)[:2]:
        expected = brute.partial_dependence(name, rows=mask, grid=grid[name], spread=False)
        np.testing.assert_allclose(found[name].average, expected.average, rtol=1e-9, atol=1e-12)
    first, second = (surface.grid[i] for i in (0, 1))
    expected = brute.partial_dependence(
        *list(grid)[:2], rows=mask, grid=dict(zip(grid, (first, second))), spread=False
    )
    np.testing.assert_allclose(surface.average, expected.average, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("how", ["positions in no order", "positions twice", "weights", "groups"])
def test_other_choices_of_rows_are_taken_out(how, counted):
    X, y = _matrix("float64")
    rng = np.random.default_rng(3)
    settings = {"weights": rng.random(N)} if how == "weights" else {}
    model = _model(X, y)
    ex = Explainer(model, X, **settings)
    rows = np.flatnonzero(rng.random(N) < 0.5)
    if how == "positions in no order":
        rows = rng.permutation(rows)
    if how == "positions twice":
        rows = np.sort(np.append(rows, rows[:500]))
    counted.update(masked=0)
    asked = {"by": rng.choice(["u", "v"], N)} if how == "groups" else {}
    found = ex.effects([0], rows=rows, grid=7, **asked)[0]
    assert counted["masked"] == 0
    expected = Explainer(model, X, engine="brute", **settings).effects([0], rows=rows, grid=7, **asked)[0]
    np.testing.assert_allclose(found.average, expected.average, rtol=1e-9)


def test_a_filter_of_rows_in_order_is_bits():
    whole = EncodedRows(np.arange(200.0)[:, None])
    positions = np.flatnonzero(np.arange(200) % 3 == 0)
    rows = FilteredRows.of(whole, positions)
    assert rows is not None
    bits = np.unpackbits(rows.here.view(np.uint8), bitorder="little")
    assert np.flatnonzero(bits).tolist() == positions.tolist()
    assert rows.slice(2, 4).matrix.ravel().tolist() == [6.0, 9.0]
    assert rows.take(np.array([5, 1])).matrix.ravel().tolist() == [15.0, 3.0]
    assert FilteredRows.of(whole, positions[::-1]) is None
    assert FilteredRows.of(whole, positions[:3]) is None


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 1000])
def test_codes_are_counted_where_a_bit_is_set(n_rows):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, 256, (3, n_rows)).astype(np.uint8)
    for kept in (rng.random(n_rows) < 0.4, np.ones(n_rows, bool), np.zeros(n_rows, bool)):
        flags = np.zeros(-(-n_rows // 64) * 64, bool)
        flags[:n_rows] = kept
        flags[n_rows:] = True  # beyond the last row nothing is counted
        here = np.packbits(flags, bitorder="little").view(np.uint64)
        counts = np.ones((3, 256), np.int64)
        kernels.count_codes(codes=codes, here=here, counts=counts)
        for own, found in zip(codes, counts):
            assert found.tolist() == (1 + np.bincount(own[kept], minlength=256)).tolist()
    with pytest.raises(OverflowError):
        kernels.count_codes(
            codes=np.zeros((1, 65), np.uint8),
            here=np.zeros(1, np.uint64),
            counts=np.zeros((1, 256), np.int64),
        )


@pytest.mark.parametrize("kind", ["float64", "float32", "frame"])
@pytest.mark.parametrize("asked", [{"start": -1.0, "end": 1.0}, {"plus": 0.5}], ids=["values", "plus"])
def test_a_change_of_chosen_rows_moves_those_rows_and_no_others(kind, asked):
    # Between values rows are counted where they lie; moved from their own values they are taken out first.
    X, y = _matrix(kind)
    model, name = _model(X, y), "a" if kind == "frame" else 0
    mask = MASKS["half"](np.random.default_rng(2))
    ex = Explainer(model, X, threads=1)
    ex.effects(spread=False)  # rows are kept encoded from here on
    given = {"rows": mask, "spread": False, **asked}
    brute = Explainer(model, X, engine="brute", threads=1).change(name, **given)["estimate"]
    np.testing.assert_allclose(ex.change(name, **given)["estimate"], brute, rtol=1e-9, atol=1e-12)
