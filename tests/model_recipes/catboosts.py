"""CatBoost: every loss and class, files and other exports, sums of models, categories."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pandas as pd
from catboost import CatBoostClassifier, CatBoostRanker, CatBoostRegressor

from model_recipes.rows import (
    EXPLAINED,
    NAN,
    TRAINED,
    Answer,
    Case,
    Fitted,
    categorical,
    rows,
    score,
    simple,
)

RECIPES: dict[str, Case] = {}
SMALL = {"iterations": 5, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
OWN_OBJECTIVE = {"leaf_estimation_iterations": 1, "leaf_estimation_method": "Gradient"}
FOCAL = "Focal:focal_alpha=0.4;focal_gamma=1.5"


class LogisticByHand:
    """A user's own loss: log loss of one score."""

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> list[tuple[float, float]]:
        found = []
        for i in range(len(targets)):
            share = 1 / (1 + np.exp(-approxes[i]))
            found.append((targets[i] - share, -share * (1 - share)))
        return found


class SquaresByHand:
    """A user's own loss of a regression."""

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> list[tuple[float, float]]:
        return [(targets[i] - approxes[i], -1.0) for i in range(len(targets))]


class SeveralClassesByHand:
    """A user's own loss of several scores."""

    def calc_ders_multi(self, approx: Any, target: Any, weight: Any) -> tuple[list[float], list[list[float]]]:
        powers = np.exp(np.array(approx) - max(approx))
        shares = powers / powers.sum()
        first = [float(target == i) - share for i, share in enumerate(shares)]
        second = [
            [a * b - (a if i == j else 0.0) for j, b in enumerate(shares)] for i, a in enumerate(shares)
        ]
        return first, second


def built(kind: Any, **settings: Any) -> Callable[[int], Any]:
    return lambda seed: kind(**SMALL, random_seed=seed, **settings)


def plain(**settings: Any) -> Callable[[int], Any]:
    return lambda seed: catboost.CatBoost({**SMALL, "random_seed": seed, **settings})


def asked_for(kind_of_answer: str) -> Callable[[Any], Answer]:
    return lambda model: partial(model.predict, prediction_type=kind_of_answer)


def saved_as(form: str, kind: Any) -> Callable[[Any], Any]:
    """The model written in a form of CatBoost's and read again as a class of its."""

    def again(model: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            model.save_model(path, format=form)
            return kind().load_model(path, format=form)

    return again


# --- losses ----------------------------------------------------------------------------------------

for loss, kind in (
    ("MAE", "regression"), ("MAPE", "positive"), ("Quantile:alpha=0.3", "regression"),
    ("MultiQuantile:alpha=0.2,0.7", "regression"), ("LogLinQuantile:alpha=0.4", "positive"),
    ("Tweedie:variance_power=1.4", "positive"), ("RMSEWithUncertainty", "regression"),
    ("Expectile:alpha=0.3", "regression"), ("Lq:q=3", "regression"), ("Huber:delta=1", "regression"),
    ("LogCosh", "regression"), ("Cox", "positive"), ("MultiRMSEWithMissingValues", "several"),
):  # fmt: skip
    RECIPES[f"CatBoostRegressor {loss}"] = simple(
        built(CatBoostRegressor, loss_function=loss), kind=kind, accepts=NAN
    )
RECIPES["CatBoostRegressor own loss"] = simple(
    built(CatBoostRegressor, loss_function=SquaresByHand(), eval_metric="RMSE", **OWN_OBJECTIVE)
)
for loss, kind in (
    ("CrossEntropy", "share"), (FOCAL, "binary"), (FOCAL, "two labels"), ("Logloss", "truth"),
    ("MultiClass", "labels"), ("MultiClass", "odd numbers"), ("MultiLogloss", "several labels"),
    ("MultiCrossEntropy", "several labels"),
):  # fmt: skip
    RECIPES[f"CatBoostClassifier {loss.partition(':')[0]} of {kind}"] = simple(
        built(CatBoostClassifier, loss_function=loss), kind=kind, accepts=NAN
    )
RECIPES["CatBoostClassifier own loss"] = simple(
    built(CatBoostClassifier, loss_function=LogisticByHand(), eval_metric="Logloss", **OWN_OBJECTIVE),
    kind="two labels",
)
RECIPES["CatBoostClassifier own loss of several classes"] = simple(
    built(CatBoostClassifier, loss_function=SeveralClassesByHand(), eval_metric="MultiClass", **OWN_OBJECTIVE),
    kind="multiclass", n=60, quiet=True,
)  # fmt: skip
RECIPES["CatBoostClassifier Lossguide"] = simple(
    built(CatBoostClassifier, grow_policy="Lossguide"), kind="two labels", accepts=NAN
)

# --- the plain class, whose response is what the estimator of its loss gives (decision 005) ---------

for loss, kind, answer in (
    ("RMSE", "regression", "RawFormulaVal"), ("LogLinQuantile:alpha=0.4", "positive", "RawFormulaVal"),
    ("Poisson", "counts", "Exponent"), ("Tweedie:variance_power=1.4", "positive", "Exponent"),
    ("RMSEWithUncertainty", "regression", "RMSEWithUncertainty"), ("Logloss", "two labels", "Probability"),
    ("CrossEntropy", "share", "Probability"), (FOCAL, "binary", "Probability"),
    ("MultiClass", "labels", "Probability"), ("MultiClassOneVsAll", "multiclass", "Probability"),
    ("MultiLogloss", "several labels", "Probability"),
):  # fmt: skip
    RECIPES[f"CatBoost {loss.partition(':')[0]}"] = simple(
        plain(loss_function=loss), kind=kind, accepts=NAN, response=asked_for(answer)
    )
RECIPES["CatBoost own loss"] = simple(
    plain(loss_function=LogisticByHand(), eval_metric="Logloss", **OWN_OBJECTIVE), kind="binary"
)
for loss in ("QueryRMSE", "YetiRank", "PairLogit"):
    RECIPES[f"CatBoostRanker {loss}"] = simple(
        built(CatBoostRanker, loss_function=loss),
        kind="multiclass", accepts=NAN, fitted_with=lambda n: {"group_id": np.arange(n) // 20},
    )  # fmt: skip

# --- exports ---------------------------------------------------------------------------------------

for form, kind, estimator in (
    ("cbm", "labels", CatBoostClassifier), ("json", "labels", CatBoostClassifier),
    ("onnx", "binary", CatBoostClassifier), ("onnx", "multiclass", CatBoostClassifier),
    ("onnx", "regression", CatBoostRegressor), ("coreml", "regression", CatBoostRegressor),
    ("json", "regression", CatBoostRegressor),
):  # fmt: skip
    RECIPES[f"{estimator.__name__} of {kind} from {form}"] = simple(
        built(estimator), kind=kind, then=saved_as(form, estimator), array=form == "coreml"
    )
RECIPES["CatBoost classifier from cbm"] = simple(
    built(CatBoostClassifier), kind="two labels",
    then=saved_as("cbm", catboost.CatBoost), response=asked_for("Probability"),
)  # fmt: skip
RECIPES["CatBoostRegressor Poisson from cbm"] = simple(
    built(CatBoostRegressor, loss_function="Poisson"), kind="counts", then=saved_as("cbm", CatBoostRegressor)
)
RECIPES["CatBoostRegressor Depthwise pickled"] = simple(
    built(CatBoostRegressor, grow_policy="Depthwise"), then=lambda model: pickle.loads(pickle.dumps(model))
)


def _summed(model: Any) -> Any:
    return catboost.sum_models([model, model], weights=[0.3, 0.5])


RECIPES["CatBoost sum of classifiers"] = simple(
    built(CatBoostClassifier), kind="two labels", then=_summed, response=asked_for("Probability")
)
RECIPES["CatBoost sum of several classes"] = simple(
    built(CatBoostClassifier), kind="labels", then=_summed, response=asked_for("Probability")
)
RECIPES["CatBoost sum of Poisson"] = simple(
    built(CatBoostRegressor, loss_function="Poisson"),
    kind="counts",
    then=_summed,
    response=asked_for("Exponent"),
)
RECIPES["CatBoostRegressor sum of Poisson"] = simple(  # its predict gives the raw score
    built(CatBoostRegressor, loss_function="Poisson"), kind="counts",
    then=lambda model: catboost.to_regressor(_summed(model)),
)  # fmt: skip
RECIPES["CatBoostClassifier sum"] = simple(
    built(CatBoostClassifier), kind="two labels", then=lambda model: catboost.to_classifier(_summed(model))
)


class OfTwoLosses:
    """Fits by two losses and holds the sum of the models, which has no loss of its own."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Any:
        losses = ("RMSE", "Poisson")
        members = [
            CatBoostRegressor(**SMALL, loss_function=loss, random_seed=self.seed).fit(X, y) for loss in losses
        ]
        self.total = catboost.sum_models(members)


RECIPES["CatBoost sum of two losses"] = simple(OfTwoLosses, kind="counts", then=lambda fitted: fitted.total)

# --- categories ------------------------------------------------------------------------------------


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories as texts, the second of them numbers."""
    frame = frame.assign(c=frame["c"].astype(object), z=frame["z"].astype(int))
    return frame[["c", "z", "x", "u", "k"]]


for name, settings in {
    "one-hot": {"one_hot_max_size": 20}, "one-hot Lossguide": {"one_hot_max_size": 20, "grow_policy": "Lossguide"},
    "CTR": {"one_hot_max_size": 1},
}.items():  # fmt: skip
    RECIPES[f"CatBoostRegressor texts {name}"] = categorical(
        built(CatBoostRegressor, cat_features=["c", "z"], **settings), prepare=_texts, accepts=NAN
    )
RECIPES["CatBoostClassifier categories one-hot"] = categorical(
    built(CatBoostClassifier, cat_features=["c"], one_hot_max_size=20), kind="labels", accepts=NAN
)


def _reordered_numbers(seed: int) -> Fitted:
    """Fitted on columns named 0 to 3, explained on them in another order: CatBoost goes by the names."""
    train = rows(seed, TRAINED).set_axis([0, 1, 2, 3], axis=1)
    y = score(rows(seed, TRAINED))
    X = rows(seed + 1, EXPLAINED).set_axis([0, 1, 2, 3], axis=1)[[2, 0, 3, 1]]
    return Fitted(CatBoostRegressor(**SMALL, random_seed=seed).fit(train, y), X)


RECIPES["CatBoostRegressor reordered integer names"] = _reordered_numbers
