"""Models of platforms that are refused, with what to pass instead."""

from __future__ import annotations

import numpy as np
import pytest

from icefield import Explainer
from icefield.errors import ModelError


def of_module(module: str, name: str) -> object:
    return type(
        name,
        (),
        {"__module__": module, "predict": lambda self, rows: rows, "transform": lambda self, rows: rows},
    )()


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("h2o.estimators.gbm", "H2OGradientBoostingEstimator", "H2OFrame"),
        ("synapse.ml.lightgbm.LightGBMRegressionModel", "LightGBMRegressionModel", "getNativeModel"),
    ],
)
def test_a_platforms_model_is_refused(module, name, said):
    with pytest.raises(ModelError, match=said):
        Explainer(of_module(module, name), np.zeros((5, 2)))
