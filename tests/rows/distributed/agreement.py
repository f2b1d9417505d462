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


CHANGES = {
    "between values": lambda ex: ex.change("x0", -0.5, 1.0),
    "from rows' own": lambda ex: ex.change("k", plus=1),
    "of several, across": lambda ex: ex.change({"x0": (0.0, 1.0), "k": (0, 2)}, across={"x2": (-1.0, 1.0)}),
    "means alone": lambda ex: ex.change("x0", -0.5, 1.0, spread=False),
    "slope": lambda ex: ex.slope("x2", step=0.5),
}
SAMPLED = ("q5", "q50", "q95")  # which a stream has of its sample only


def changes_agree(model: Any, rows: pd.DataFrame, frame: Any, **options: Any) -> None:
    """Changes and slopes over all rows: means, errors, spreads and shares, by group too."""
    memory, there = (Explainer(model, X, **options, row_by_row=True) for X in (table(rows), frame))
    for name, ask in CHANGES.items():
        expected, found = ask(memory), ask(there)
        assert list(found.columns) == list(expected.columns), name
        assert found["n_rows"][0] == expected["n_rows"][0] > there.table.n_rows, name
        for column in expected.columns:
            if column in ("output", "group"):
                assert found[column].tolist() == expected[column].tolist()
            elif column not in SAMPLED:
                np.testing.assert_allclose(
                    found[column], expected[column], rtol=1e-9, atol=1e-12, err_msg=f"{name}: {column}"
                )


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
