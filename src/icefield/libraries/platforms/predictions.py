"""The refusals of models that live in another platform's servers."""

from __future__ import annotations

from typing import Any, NoReturn

from icefield.errors import ModelError
from icefield.libraries.adapter import comes_from, type_name


def adapt(model: Any, scale: str) -> NoReturn:
    """Refuse, with what to pass instead."""
    if comes_from(model, "synapse"):
        raise ModelError.about(
            "model", "is a SynapseML model, which only predicts inside Spark and is not read", type_name(model),
            "of its LightGBM models pass lightgbm.Booster(model_str=model.getNativeModel()); of others a function of pandas rows",
        )  # fmt: skip
    raise ModelError.about(
        "model", "is an H2O model, which lives in H2O's own server and is not read", type_name(model),
        "pass a function: lambda X: model.predict(h2o.H2OFrame(X)).as_data_frame().iloc[:, -1].to_numpy()",
    )  # fmt: skip
