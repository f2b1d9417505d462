"""Thousands of levels: every statistic stays within bounds, and small tables give what they always gave."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import BudgetError
from icefield.statistics import similarity
from icefield.statistics.similarity import ComparedLevels, similarity_orders

LEVELS, ROWS = 5_000, 12_000
MOST_BYTES = 120 * 2**20  # levels times levels alone would be 190 MB


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    rng = np.random.default_rng(0)
    town, street = rng.integers(0, LEVELS, ROWS), rng.integers(0, LEVELS, ROWS)
    frame = pd.DataFrame(
        {
            "town": pd.Categorical.from_codes(town, [f"t{i}" for i in range(LEVELS)]),
            "street": pd.Categorical.from_codes(street, [f"s{i}" for i in range(LEVELS)]),
            "x": rng.normal(size=ROWS),
        }
    )

    def predicted(rows: Any) -> np.ndarray:
        codes = rows["town"].cat.codes.to_numpy() % 7 + rows["street"].cat.codes.to_numpy() % 3
        return codes * (1.0 + rows["x"].to_numpy())

    return Explainer(predicted, frame, row_by_row=True)


QUESTIONS: dict[str, Callable[[Explainer], Any]] = {
    "pd": lambda e: e.partial_dependence("town", rows=200),
    "two-way pd": lambda e: e.partial_dependence("town", "street", rows=200),
    "ice": lambda e: e.ice("town", rows=5),
    "ale": lambda e: e.ale("town"),
    "ale in level order": lambda e: e.ale("town", level_order="given"),
    "two-way ale": lambda e: e.ale("town", "x", bins=(None, 4)),
    "importance": lambda e: e.importance(rows=200),
    "interactions": lambda e: e.interactions(rows=100),
    "summary": lambda e: e.summary(),
    "regions": lambda e: e.regions("x", rows=200),
    "conditional": lambda e: e.conditional("town", rows=200),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("asked", QUESTIONS)
def test_thousands_of_levels_take_bounded_memory(explainer: Explainer, asked: str) -> None:
    tracemalloc.start()
    try:
        QUESTIONS[asked](explainer)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES, f"{peak / 2**20:.0f} MB"


def test_a_surface_of_all_pairs_of_thousands_of_levels_is_refused_with_its_size(explainer: Explainer) -> None:
    with pytest.raises(BudgetError, match=r"cells and would take [\d,]+ MB, over the budget"):
        explainer.ale("town", "street", level_order="given")


def test_landmarks_find_the_order_that_all_distances_find(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rank = rng.integers(0, 40, 20_000)
    shuffled = rng.permutation(40)
    from icefield.data.frame import table_of

    column = table_of(pd.DataFrame({"x": rank + rng.normal(0, 15, 20_000)})).column("x")

    def order() -> tuple[Any, int]:
        given = ComparedLevels(shuffled[rank], np.ones(20_000, dtype=bool), np.ones(20_000), ["town"])
        return similarity_orders([given], [column])[0]

    whole, compared = order()
    assert compared == 40
    monkeypatch.setattr(similarity, "MOST_LEVELS", 10)
    monkeypatch.setattr(similarity, "LANDMARKS", 15)
    by_landmarks, compared = order()
    assert compared == 15
    places = np.argsort(whole), np.argsort(by_landmarks)
    assert abs(np.corrcoef(*places)[0, 1]) > 0.995
    assert sorted(by_landmarks.tolist()) == list(range(40))


def test_rare_levels_of_another_column_count_as_one() -> None:
    from icefield.data.frame import table_of

    rng = np.random.default_rng(2)
    group = rng.integers(0, 4, 4_000)
    # Beside one telling level per group there are thousands that occur once.
    other = np.where(rng.random(4_000) < 0.5, group, 10 + np.arange(4_000)).astype(str)
    column = table_of(pd.DataFrame({"other": other})).column("other")
    given = ComparedLevels(group, np.ones(4_000, dtype=bool), np.ones(4_000), ["own"])
    ((found, _),) = similarity_orders([given], [column])
    assert sorted(found.tolist()) == [0, 1, 2, 3]
