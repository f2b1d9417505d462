"""Tables of thousands of columns: what is asked of all of them takes memory and steps in proportion, and the same numbers come of it."""

from __future__ import annotations

import logging
import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from icefield import Explainer, progress
from icefield.statistics import row_space, summary
from icefield.statistics.combinations import Combinations
from icefield.statistics.support import surroundings


def explainer(columns: int, rows: int = 120, **options: Any) -> Explainer:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=rows)
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    return Explainer(model, X, threads=1, **options)


def test_columns_are_compared_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = explainer(40).study, explainer(40).study
    wanted = [surroundings(whole).related_to(whole.feature(i), {i}) for i in range(40)]
    assert wanted[0][0][0] == 3
    monkeypatch.setattr(row_space, "AT_A_TIME", 7)
    assert [surroundings(parts).related_to(parts.feature(i), {i}) for i in range(40)] == wanted


def test_no_more_is_held_of_columns_than_is_told() -> None:
    around = surroundings(explainer(60).study)
    around.related_to(explainer(60).study.feature(0), {0})
    assert sum(map(len, around._related.values())) < 16 * 60


def test_as_many_columns_as_rows_are_not_regressed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their regression would say nothing, and takes the cube of the columns."""

    def never(self: Any) -> Any:
        raise AssertionError("the inverse of all columns' products")

    monkeypatch.setattr(row_space.Surroundings, "_precision", property(never))
    study = explainer(130).study
    assert surroundings(study).linear_guess(np.ones((120, 1)) * np.arange(120)[:, None], {0})[1] == 0.0
    few = explainer(5).study
    with pytest.raises(AssertionError, match="inverse"):
        surroundings(few).linear_guess(np.ones((120, 1)) * np.arange(120)[:, None], {0})


def test_a_wide_table_s_support_is_looked_at_for_the_strongest_features(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = explainer(40).summary()
    monkeypatch.setattr(summary, "MOST_PAIRS", 400)
    monkeypatch.setattr(summary, "LEAST_SUPPORTED", 3)
    pairs = []
    known = row_space.Surroundings._contingencies
    monkeypatch.setattr(
        row_space.Surroundings, "_contingencies", lambda self, several: pairs.append(len(several)) or known(self, several)
    )  # fmt: skip
    some = explainer(40).summary()
    assert sum(pairs) == 10  # a feature, each with 40 columns
    assert some["feature"].tolist() == whole["feature"].tolist()
    np.testing.assert_array_equal(some["outside"][:10], whole["outside"][:10])
    assert np.isnan(some["outside"][10:]).all()
    assert not np.isnan(whole["outside"]).any()
    assert "for the 10 features that move predictions most: each is compared with 40 columns" in repr(some)
    assert "move predictions most" not in repr(whole)
    assert [effect.support is None for effect in some.effects.values()] == [False] * 10 + [True] * 30
    monkeypatch.setattr(summary, "MOST_PAIRS", 1)
    assert np.isfinite(explainer(40).summary()["outside"]).sum() == 3


def test_of_very_many_columns_few_are_tried_for_what_never_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 30)).astype(float)
    X[:, 1] = np.where(X[:, 0] == 1, 0.0, X[:, 1])  # never both
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, 3 * X[:, 0] + 2 * X[:, 1] + X[:, 2])
    whole = Explainer(model, X).summary()
    monkeypatch.setattr(summary, "MOST_PAIRS", 90)
    monkeypatch.setattr(summary, "LEAST_SUPPORTED", 3)
    monkeypatch.setattr(row_space, "MOST_BESIDE", 10)
    coded = []
    known = Combinations._coded
    monkeypatch.setattr(Combinations, "_coded", lambda self, name: coded.append(name) or known(self, name))
    some = Explainer(model, X).summary()
    assert set(coded) == {0, 1, 2}
    np.testing.assert_array_equal(some["outside"][:3], whole["outside"][:3])
    assert some["outside"][0] > 0


def test_curves_beyond_the_budget_are_read_and_let_go() -> None:
    plain, small = explainer(30), explainer(30, memory=2**20)
    found = small.importance()
    assert all(effect.individual is None for effect in found.effects.values())
    assert all(effect.individual is not None for effect in plain.importance().effects.values())
    for name in ("importance", "individual", "curve_sd"):
        np.testing.assert_allclose(found[name], plain.importance()[name], rtol=1e-12)
    told = small.summary()
    assert all(effect.individual is None for effect in told.effects.values())
    assert told.opening == plain.summary().opening


def test_memory_does_not_grow_with_curves() -> None:
    def taken(columns: int) -> int:
        asked = explainer(columns, memory=8 * 2**20)
        asked.partial_dependence(0)
        tracemalloc.start()
        asked.importance()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    few, many = taken(50), taken(250)
    # A column's averages, grids and histogram; 120 rows' curves would be 200 kB more.
    assert (many - few) / 200 < 80_000


@pytest.mark.parametrize(
    ("units", "said"), [(1, False), (40, True), (900, False)]
)  # too early to tell, long, nearly done
def test_long_work_is_announced_where_nobody_sees_a_bar(
    units: int, said: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = iter([0.0] + [3.0] * 20)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "visible", lambda: False)
    with caplog.at_level(logging.WARNING, "icefield"), progress.Progress("reading curves", total=1000) as bar:
        bar.advance(units)
        bar.advance(units)
    assert [record.getMessage() for record in caplog.records] == (
        ["icefield: reading curves will take about 1 minute more"] if said else []
    )
