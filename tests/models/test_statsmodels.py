"""Models of statsmodels', by formula and by matrix: predictions, and their linear predictor as the raw scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import ModelError

sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"a": RNG.normal(size=200), "b": RNG.normal(size=200), "c": RNG.choice(list("uvw"), 200)}
)
FRAME["y"] = (RNG.random(200) < 1 / (1 + np.exp(-FRAME["a"]))).astype(int)
FRAME["k"] = RNG.poisson(np.exp(0.3 * FRAME["a"]))
GRID = [-1.0, 0.0, 1.0]

MODELS = {
    "logit": (lambda: smf.logit("y ~ a * b + C(c)", FRAME).fit(disp=0), "log-odds"),
    "probit": (lambda: smf.probit("y ~ a + b", FRAME).fit(disp=0), "linear predictor"),
    "poisson": (lambda: smf.poisson("k ~ a + np.sin(b)", FRAME).fit(disp=0), "log of the prediction"),
    "binomial glm": (lambda: smf.glm("y ~ a + b", FRAME, family=sm.families.Binomial()).fit(), "log-odds"),
    "ols": (lambda: smf.ols("k ~ a + I(b ** 2) + C(c)", FRAME).fit(), "prediction"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_formula_on_both_scales(name: str) -> None:
    make, label = MODELS[name]
    model = make()
    for scale, keywords in (("response", {}), ("raw", {} if name == "ols" else {"which": "linear"})):
        found = Explainer(model, FRAME[["a", "b", "c"]], scale=scale).partial_dependence("a", grid=GRID)
        wanted = [np.mean(model.predict(FRAME.assign(a=value), **keywords)) for value in GRID]
        np.testing.assert_allclose(found.average[0], wanted, rtol=1e-12)
        assert found.scale_label == (label if scale == "raw" else "prediction")


def test_a_matrix_has_a_raw_scale_too() -> None:
    rows: Any = sm.add_constant(FRAME[["a", "b"]].to_numpy())
    model = sm.Logit(FRAME["y"].to_numpy(), rows).fit(disp=0)
    found = Explainer(model, rows, scale="raw").partial_dependence(1, grid=GRID)
    moved = [np.mean(np.column_stack([rows[:, 0], np.full(200, v), rows[:, 2]]) @ model.params) for v in GRID]
    np.testing.assert_allclose(found.average[0], moved, rtol=1e-12)


def test_several_linear_predictors_are_refused() -> None:
    model = smf.mnlogit("k ~ a", FRAME[FRAME["k"] < 3]).fit(disp=0)
    with pytest.raises(ModelError, match="raw"):
        Explainer(model, FRAME[["a"]], scale="raw")
