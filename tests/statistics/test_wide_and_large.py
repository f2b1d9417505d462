"""What grows with the square of something is bounded, or refused with its size, before it takes the machine's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from icefield import Explainer, kernels
from icefield.errors import BudgetError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 300))
Y = X[:, 0] * X[:, 1]
MODELS = {"trees": RandomForestRegressor(3, max_depth=3, random_state=0), "brute": Ridge()}


@pytest.mark.parametrize("engine", MODELS)
def test_a_grid_of_too_many_points_is_refused_with_its_size(engine: str) -> None:
    explainer = Explainer(MODELS[engine].fit(X[:, :3], Y), X[:, :3], memory=2**20)
    many = np.linspace(-1.0, 1.0, 100_000)
    for ask in (
        lambda: explainer.partial_dependence(0, 1, grid=[many, many]),
        lambda: explainer.ice(0, 1, grid=[many, many], rows=3),
        lambda: explainer.partial_dependence(0, 1, grid=[many, many], precision=0.1),
    ):
        with pytest.raises(
            BudgetError, match=r"100,000 x 100,000 points would take 305,176 MB.*fewer points"
        ):
            ask()
    assert explainer.partial_dependence(0, 1, grid=[many[:100], many[:100]]).average.shape == (1, 100, 100)


@pytest.mark.parametrize("engine", MODELS)
@pytest.mark.parametrize("method", ["h", "variance"])
def test_pairs_of_a_wide_table_are_refused_with_their_number(engine: str, method: str) -> None:
    explainer = Explainer(MODELS[engine].fit(X, Y), X, memory=2**20)
    with pytest.raises(BudgetError, match=r"300 features have 44,850 pairs, .* \(about \d+ fit\)"):
        explainer.interactions(method=method)
    with pytest.raises(BudgetError, match="triples"):
        explainer.interactions(range(60), triples=True)
    assert len(explainer.interactions([0, 1, 2], method=method, overall=False).pairs()["strength"]) == 3


@pytest.mark.parametrize("engine", MODELS)
def test_a_summary_of_very_many_columns_is_refused_with_its_size(engine: str) -> None:
    explainer = Explainer(MODELS[engine].fit(X, Y), X, memory=2**20)
    with pytest.raises(
        BudgetError,
        match=r"summary of 300 features would take about 11 MB, over 8 times the budget of 1 MB.*about 209 fit",
    ):
        explainer.summary()
    assert len(explainer.summary(range(3))["feature"]) == 3


def test_single_curves_of_many_columns_hold_no_table_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def spied(**parts: Any) -> Any:
        asked.append(parts["asked"].shape)
        return plain(**parts)

    plain = kernels.PlanQuestion
    monkeypatch.setattr(kernels, "PlanQuestion", spied)
    explainer = Explainer(MODELS["trees"].fit(X, Y), X, engine="trees")
    found = explainer.importance()
    assert len(found["feature"]) == 300
    assert max(asked) < (300, 300)  # pairs of those that interact, at most
