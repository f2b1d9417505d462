"""What every engine must give: the numbers of the same rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from icefield import Explainer
from rows.rows import GRID, NUMBERS, booster, classifier, function, table
from rows.test_equality import STREAMED, same

MODELS = {"lightgbm": booster, "lightgbm classifier": classifier, "function": lambda rows, _: function(rows)}
FORMULA = ["x0", "x2", "k"]


def agree(model: Any, rows: pd.DataFrame, frame: Any, names: Any = None, **options: Any) -> Explainer:
    """Ask both, and compare: bit for bit where answers derive from counts, else to 1e-12."""
    memory, there = (
        Explainer(model, table(rows), **options, row_by_row=True),
        Explainer(model, frame, **options, row_by_row=True),
    )
    assert memory.plan.engine.name == there.plan.engine.name
    additive = getattr(memory.plan.engine, "additive", False)
    for name in STREAMED if names is None else names:
        ask, counts = STREAMED[name]
        for one, other in zip(ask(memory), ask(there), strict=True):
            same(one, other, exact=counts and additive)
    return there


def agree_all(rows: pd.DataFrame, frame: Any, few_rows: Any) -> None:
    """Families of models, weights and groups, every effect that merges; then what the sample gives."""
    with few_rows(300):
        for name, fit in MODELS.items():
            model = fit(rows, NUMBERS)
            there = agree(model, rows, frame)
            assert there.table.n_rows == 300
            assert there.study.rows.n_rows == len(rows)
            if name != "lightgbm classifier":
                agree(model, rows, frame, ["effects", "one-way, with spread", "ale"], weights="w", by="side")


def formula_agrees(model: Any, rows: pd.DataFrame, frame: Any) -> None:
    """One question to a model that is asked block by block."""
    expected = Explainer(function(rows), table(rows), row_by_row=True).partial_dependence(
        "x0", grid=GRID["x0"]
    )
    found = Explainer(model, frame, row_by_row=True).partial_dependence("x0", grid=GRID["x0"])
    assert found.n_rows == len(rows)
    assert np.allclose(found.average, expected.average, rtol=1e-12, atol=1e-12)
    assert np.array_equal(found.weight, expected.weight)


def unpickled(folder: Any) -> list[str]:
    """The processes a counted model was unpickled in, each as often as it was."""
    return (folder / "unpickled").read_text().split()
