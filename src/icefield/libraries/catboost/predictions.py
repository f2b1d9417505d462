"""CatBoost: its classifiers, regressors, rankers and the plain `CatBoost` object, on either scale."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from icefield.errors import ModelError, complaint
from icefield.models.adapter import Adapter, ByClass, Naming, SingleOrNumbered, plain_labels, type_name
from icefield.models.row_form import has_categories

if TYPE_CHECKING:
    from icefield.data.frame import Table

_EXCLUSIVE = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")
_INDEPENDENT = ("MultiLogloss", "MultiCrossEntropy")
_EXPONENT = ("Poisson", "Tweedie", "LogLinQuantile")
_RANKING = (
    "YetiRank",
    "PairLogit",
    "QueryRMSE",
    "QuerySoftMax",
    "StochasticRank",
    "LambdaMart",
    "QueryCrossEntropy",
)


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of a CatBoost model."""
    if not model.is_fitted():
        raise ModelError(complaint("model", f"is not fitted ({type_name(model)})", hint="fit it first"))
    loss = str(model.get_all_params().get("loss_function", "")).split(":")[0]
    classifier = loss in _EXCLUSIVE or loss in _INDEPENDENT
    naming: Naming = SingleOrNumbered("prediction")
    if classifier and model.classes_ is not None and len(plain_labels(model.classes_)):
        naming = ByClass(model.classes_, exclusive=loss in _EXCLUSIVE)
    if scale == "raw":
        kind_of_answer, label = (
            "RawFormulaVal",
            "log-odds" if loss in ("Logloss", "CrossEntropy") else "raw score",
        )
    elif classifier:
        kind_of_answer, label = "Probability", "probability"
    elif hasattr(model, "predict_proba"):
        kind_of_answer, label = "RawFormulaVal", "raw score"
    else:
        kind_of_answer, label = _response_type(loss), "prediction"
    if type_name(model) == "CatBoostRanker":  # its one scale is the score, and it takes no type of answer
        answer = model.predict
    else:
        answer = partial(model.predict, prediction_type=kind_of_answer)
    names = tuple(model.feature_names_)
    return Adapter(
        kind="classifier" if classifier else "ranker" if loss.startswith(_RANKING) else "regressor",
        scale_label=label,
        answer=answer,
        naming=naming,
        columns=names,
        n_columns=len(names),
        names_are_made_up=names == tuple(str(i) for i in range(len(names))),
        avoid=_avoid,
    )


def _response_type(loss: str) -> str:
    if loss in _EXPONENT:
        return "Exponent"
    return "RMSEWithUncertainty" if loss == "RMSEWithUncertainty" else "RawFormulaVal"


def _avoid(table: Table) -> str | None:
    if table.library == "polars" and has_categories(table):
        return "CatBoost reads categories of polars frames by calls that newer polars removed"
    return None
