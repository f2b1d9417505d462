"""The last stage of a Spark ML pipeline as something that predicts a matrix without Spark: trees, coefficients, a booster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from icefield.forest import links
from icefield.forest.check import raw_by_levels
from icefield.forest.form import Forest
from icefield.forest.tree_model import Link
from icefield.libraries.adapter import type_name
from icefield.libraries.registry import library_of
from icefield.libraries.spark_ml.format import forest_of, java
from icefield.libraries.spark_ml.stages import NotKnown
from icefield.typing import Float

AT_ONCE = 2**20  # rows times trees that are walked together


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A model over a vector.

    Attributes
    ----------
    kind : ``"classifier"`` or ``"regressor"``
    n_columns : length of the vector
    n_classes : of a classifier; 0
    raw_label : what the raw scale is, for axes; empty where there is none
    positive : whether no prediction can be below zero
    """

    kind: str
    n_columns: int
    n_classes: int
    raw_label: str
    positive: bool = field(default=False, kw_only=True)

    @property
    def used_slots(self) -> set[int]:
        """The slots of the vector that may decide a prediction."""
        return set(range(self.n_columns))

    @abstractmethod
    def predict(self, matrix: Float, scale: str) -> Float:
        """Predictions on a scale, one row each."""


@dataclass(frozen=True, eq=False)
class TreePredictor(Predictor):
    forest: Forest
    sizes: dict[int, int]
    link: Link
    raw_link: Link | None = None

    @property
    def used_slots(self) -> set[int]:
        """The slots that splits look at."""
        return set(self.forest.condition_column.tolist())

    def encode(self, matrix: Float) -> Float:
        """The vector as trees compare it: what is no category of its column counts as missing."""
        if not self.sizes:
            return matrix
        out = np.array(matrix)
        for column, size in self.sizes.items():
            values = out[:, column]
            with np.errstate(invalid="ignore"):
                is_category = (values >= 0) & (values < size) & (values == np.floor(values))
            out[:, column] = np.where(is_category, values, np.nan)
        return out

    def predict(self, matrix: Float, scale: str) -> Float:
        rows, link = self.encode(matrix), self.link if scale == "response" else self.raw_link
        step = max(1, AT_ONCE // max(1, len(self.forest.tree_root)))
        parts = [raw_by_levels(self.forest, rows[i : i + step]) for i in range(0, len(rows), step)]
        raw = np.concatenate(parts) if parts else np.empty((0, self.forest.n_outputs))
        return raw if link is None else link.apply(raw)


@dataclass(frozen=True, eq=False)
class Linear(Predictor):
    """Coefficients of shape (columns, outputs), an intercept for each output, and what becomes of their sum."""

    coefficients: Float
    intercept: Float
    response: Callable[[Float], Float]

    def predict(self, matrix: Float, scale: str) -> Float:
        raw = matrix @ self.coefficients + self.intercept
        return raw if scale == "raw" else self.response(raw)


@dataclass(frozen=True, eq=False)
class Booster(Predictor):
    """A model of another library over the vector."""

    native: Any

    def predict(self, matrix: Float, scale: str) -> Float:
        library = library_of(self.native)
        assert library is not None
        answer = library.predictions.adapt(self.native, scale).answer(matrix)
        return np.asarray(answer, np.float64).reshape(len(matrix), -1)


# --- from Spark's models -----------------------------------------------------------------------------------


def predictor_of(model: Any) -> Predictor:
    """A fitted model of Spark ML; `NotKnown` for what is not read."""
    name, module = type_name(model), type(model).__module__
    if module.startswith("xgboost.spark"):
        return _xgboost(model)
    if not module.startswith("pyspark.ml.") or name not in MODELS:
        raise NotKnown(f"{name} of Spark ML is not read")
    return MODELS[name](model)


def _trees(model: Any, *, kind: str, boosted: bool = False, single: bool = False) -> Predictor:
    java_model = java(model)
    trees = [java_model] if single else list(java_model.trees())
    classes = int(model.numClasses) if kind == "classifier" else 0
    weights = [float(weight) for weight in model.treeWeights] if boosted else [1.0 / len(trees)] * len(trees)
    forest, sizes = forest_of(trees, weights, int(model.numFeatures), 0 if boosted else classes)
    label, link = "raw score", links.identity()
    raw: Link | None = None
    if classes and boosted:
        link = links.two_columns(links.logistic(2.0))
    elif classes:
        label, raw = ("", None) if single else ("votes", links.scaled(float(len(trees))))
    return TreePredictor(kind, int(model.numFeatures), classes, label, forest, sizes, link, raw)


def _regression(
    model: Any, name: str = "identity", unlink: Callable[[Float], Float] | None = None
) -> Predictor:
    """A linear regression model of Spark ML, behind the link of this name or the inverse link `unlink`."""
    coefficients = np.asarray(model.coefficients.toArray(), np.float64)[:, None]
    return Linear(
        "regressor", len(coefficients), 0, "raw score", coefficients, np.array([float(model.intercept)]),
        unlink or UNLINK[name], positive=name in ("log", "logit"),
    )  # fmt: skip


def _logistic(model: Any) -> Predictor:
    coefficients = np.asarray(model.coefficientMatrix.toArray(), np.float64).T
    intercept, classes = np.asarray(model.interceptVector.toArray(), np.float64), int(model.numClasses)
    binary = coefficients.shape[1] == 1
    if classes == 1 or (binary and classes != 2):
        raise NotKnown("a LogisticRegressionModel of Spark ML of one class is not read")
    link = links.two_columns(links.logistic()) if binary else links.softmax()
    label = "log-odds" if binary else "raw score"
    return Linear("classifier", len(coefficients), classes, label, coefficients, intercept, link.apply)


def _generalized(model: Any) -> Predictor:
    if model.isDefined("offsetCol") and model.getOrDefault("offsetCol"):
        raise NotKnown("a GeneralizedLinearRegressionModel of Spark ML with an offset is not read")
    family = model.getOrDefault("family").lower()
    if family == "tweedie":
        has_power = model.isDefined("linkPower")
        power = model.getOrDefault("linkPower") if has_power else 1.0 - model.getOrDefault("variancePower")
        return _regression(model, "power", partial(_power, power=float(power)))
    default = {"gaussian": "identity", "binomial": "logit", "poisson": "log", "gamma": "inverse"}[family]
    name = (model.getOrDefault("link") if model.isDefined("link") else default).lower()
    if name not in UNLINK:
        raise NotKnown(f"the link {name!r} of Spark ML is not read")
    return _regression(model, name)


def _xgboost(model: Any) -> Predictor:
    """The scikit-learn style model that one of XGBoost's models for Spark holds."""
    native = model._xgb_sklearn_model  # noqa: SLF001
    is_classifier = hasattr(native, "classes_") and hasattr(native, "predict_proba")
    kind, classes = ("classifier", int(native.n_classes_)) if is_classifier else ("regressor", 0)
    return Booster(kind, model.get_booster().num_features(), classes, "raw score", native)


def _power(raw: Float, power: float) -> Float:
    return np.exp(raw) if power == 0 else raw ** (1.0 / power)


UNLINK: dict[str, Callable[[Float], Float]] = {
    "identity": links.identity().apply,
    "log": np.exp,
    "logit": links.logistic().apply,
    "inverse": partial(np.divide, 1.0),
    "sqrt": np.square,
}
MODELS: dict[str, Callable[[Any], Predictor]] = {
    "GBTRegressionModel": partial(_trees, kind="regressor", boosted=True),
    "GBTClassificationModel": partial(_trees, kind="classifier", boosted=True),
    "RandomForestRegressionModel": partial(_trees, kind="regressor"),
    "RandomForestClassificationModel": partial(_trees, kind="classifier"),
    "DecisionTreeRegressionModel": partial(_trees, kind="regressor", single=True),
    "DecisionTreeClassificationModel": partial(_trees, kind="classifier", single=True),
    "LinearRegressionModel": _regression,
    "LogisticRegressionModel": _logistic,
    "GeneralizedLinearRegressionModel": _generalized,
}
