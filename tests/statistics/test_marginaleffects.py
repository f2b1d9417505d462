"""Changes and slopes against what marginaleffects answered once: `docs/coming-from/peers/marginaleffects_peer.py`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

from icefield import Explainer

KEPT = json.loads(
    (Path(__file__).parents[2] / "docs/coming-from/peers/marginaleffects_peer.json").read_text("utf-8")
)
X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
LINKS = {"ols": lambda z: z, "logit": lambda z: 1 / (1 + np.exp(-z)), "poisson": np.exp}
ASKED = {
    "change": lambda ex: ex.change("bmi", 24, 32)["estimate"],
    "change by sex": lambda ex: ex.change("bmi", 24, 32, by="sex")["estimate"][1:],
    "ratio": lambda ex: ex.change("bmi", 24, 32)["ratio"],
    "plus": lambda ex: ex.change("bmi", plus=1)["estimate"],
    "several": lambda ex: ex.change({"bmi": (24, 32), "sex": (1, 2)})["estimate"],
    "rows": lambda ex: ex.change("bmi", 24, 32).rows()["estimate"].to_numpy()[:20],
    "slope": lambda ex: ex.slope("bmi")["estimate"],
    "slope by sex": lambda ex: ex.slope("bmi", by="sex")["estimate"][1:],
}


def explainer(name: str) -> Explainer:
    """The model that marginaleffects was asked about: a formula with its coefficients, or the same trees."""
    if name == "trees":
        model = GradientBoostingRegressor(random_state=0).fit(X, Y)
        if not np.allclose(model.predict(X)[:20], KEPT["trees predictions"], rtol=1e-9):
            pytest.skip("this scikit-learn grows other trees")
        return Explainer(model, X)
    constant, bmi, s5, both, bp, sex = KEPT[f"{name} parameters"]

    def formula(rows):
        b, s, p, x = (rows[column] for column in ("bmi", "s5", "bp", "sex"))
        return LINKS[name](constant + bmi * b + s5 * s + both * b * s + bp * p + sex * x).to_numpy()

    return Explainer(formula, X, row_by_row=True)


@pytest.mark.parametrize("name", [*LINKS, "trees"])
def test_the_numbers_of_marginaleffects(name):
    ex = explainer(name)
    for what, ask in ASKED.items():
        theirs = KEPT.get(f"{name} {what}")
        if theirs is None:
            assert name == "trees"
            assert "slope" in what
            continue
        # Derivatives are differences over small steps there and here.
        np.testing.assert_allclose(ask(ex), theirs, rtol=1e-4 if "slope" in what else 1e-9, err_msg=what)
