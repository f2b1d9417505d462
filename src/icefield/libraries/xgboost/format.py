"""XGBoost's JSON, binary or as text, as ``save_raw`` and ``save_config`` give it: the one place that knows where things stand.

A model is a *learner* with sizes, an objective and a booster; the trees of a dart booster lie one level
deeper than those of a plain one. Nothing is refused here: readers of trees are strict about what they
find, checkers of files are not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from icefield.libraries.xgboost.binary import NotBinary, decode

LOG_OBJECTIVES = {"count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"}


@dataclass(frozen=True)
class Learner:
    """What a booster says of itself; built by `saved_learner` with its trees, by `config_of` without."""

    document: dict[str, Any]
    version: tuple[int, ...] = ()  # of the library, where it says so

    @property
    def objective(self) -> str:
        return str(self.document["objective"]["name"])

    @property
    def sizes(self) -> dict[str, str]:
        return self.document["learner_model_param"]

    @property
    def n_columns(self) -> int:
        return int(self.sizes["num_feature"])

    @property
    def n_classes(self) -> int:
        return int(self.sizes["num_class"])

    @property
    def n_targets(self) -> int:
        return int(self.sizes.get("num_target", "1"))

    @property
    def booster_name(self) -> str:
        return str(self.document["gradient_booster"]["name"])

    @property
    def gbtree(self) -> dict[str, Any] | None:
        """The part that holds trees and what belongs to them; None for a booster that is not made of trees."""
        booster = self.document["gradient_booster"]
        if self.booster_name == "gbtree":
            return booster["model"]
        return booster["gbtree"]["model"] if self.booster_name == "dart" else None

    @property
    def tree_weights(self) -> Sequence[float] | None:
        """The factor of each tree where some were dropped in training (dart); None where none were.

        From XGBoost 3.4 on there is no booster of its own for that.
        """
        booster = self.document["gradient_booster"]
        if self.booster_name == "dart":
            return booster["weight_drop"]
        weights = booster["model"].get("weight_drop")
        return None if weights is None or len(weights) == 0 else weights


def saved_learner(booster: Any) -> Learner:
    """A booster's whole document, with its trees."""
    document = _document(booster)
    return Learner(document["learner"], tuple(document.get("version", ())))


def _document(booster: Any) -> dict[str, Any]:
    """A booster as XGBoost writes it: in binary form, whose arrays need no reading.

    Models with categories are written as text, which has their numeric levels as a user would write them.
    """
    if "c" not in (booster.feature_types or ()):
        try:
            return decode(bytes(booster.save_raw("ubj")))
        except NotBinary:  # of another version
            pass
    return json.loads(bytes(booster.save_raw("json")))


def config_of(booster: Any) -> Learner:
    """A booster's document without its trees: objective and sizes, which XGBoost writes fast."""
    return Learner(json.loads(booster.save_config())["learner"])


def is_model(document: Any) -> bool:
    """Whether a JSON document is a saved model."""
    return isinstance(document, dict) and "learner" in document


def booster_of(model: Any) -> Any:
    """The booster in a wrapper that speaks like scikit-learn; a booster as it is."""
    return model.get_booster() if is_wrapper(model) else model


def is_wrapper(model: Any) -> bool:
    return hasattr(model, "get_booster")
