"""CatBoost: its classifiers, regressors, rankers and the plain `CatBoost` object, on either scale."""

from __future__ import annotations

from functools import partial
from typing import Any

from icefield.data.frame import Table
from icefield.errors import ModelError
from icefield.libraries.adapter import Adapter, ByClass, Naming, SingleOrNumbered, plain_labels, type_name
from icefield.libraries.catboost.format import stored_loss
from icefield.libraries.category_types import refuse_text
from icefield.libraries.row_form import has_categories

BINARY = ("Logloss", "CrossEntropy", "Focal")
_EXCLUSIVE = (*BINARY, "MultiClass", "MultiClassOneVsAll")
_INDEPENDENT = ("MultiLogloss", "MultiCrossEntropy")
EXPONENT = ("Poisson", "Tweedie")
_UNCERTAINTY = "RMSEWithUncertainty"
_RANKING = (
    "YetiRank", "PairLogit", "QueryRMSE", "QuerySoftMax", "StochasticRank", "LambdaMart", "QueryCrossEntropy",
)  # fmt: skip


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of a CatBoost model."""
    if not model.is_fitted():
        raise ModelError.about("model", f"is not fitted ({type_name(model)})", hint="fit it first")
    loss, response = stored_loss(model), response_type(model)
    classifier = response == "Probability"
    naming: Naming = SingleOrNumbered("prediction")
    if classifier and model.classes_ is not None and len(plain_labels(model.classes_)):
        naming = ByClass(model.classes_, exclusive=loss not in _INDEPENDENT)
    if scale == "raw":
        response, label = "RawFormulaVal", "log-odds" if loss in BINARY else "raw score"
    else:
        label = "probability" if classifier else "prediction"
    if type_name(model) == "CatBoostRanker":  # its one scale is the score, and it takes no type of answer
        answer = model.predict
    else:
        answer = partial(model.predict, prediction_type=response)
    names = tuple(model.feature_names_)
    return Adapter(
        kind="classifier" if classifier else "ranker" if loss.startswith(_RANKING) else "regressor",
        scale_label=label,
        answer=answer,
        naming=naming,
        columns=names,
        n_columns=len(names),
        names_are_made_up=names == tuple(str(i) for i in range(len(names))),
        avoid=partial(_avoid, model),
        notes=_notes(model, loss, response) if scale == "response" else (),
        positive=response == "Exponent",
    )


def response_type(model: Any) -> str:
    """The type of answer that is the response, in CatBoost's words.

    That of classifiers is ``predict_proba``, that of regressors and rankers ``predict``. The plain class, which
    is also what files load as, answers ``predict`` with raw scores whatever its loss; its response is what the
    classifier or regressor of its loss gives.
    """
    if hasattr(model, "predict_proba"):
        return "Probability"
    if _is_plain(model):
        loss = stored_loss(model)
        if loss in (*_EXCLUSIVE, *_INDEPENDENT):
            return "Probability"
    else:  # predict goes by the parameters of the object, which a sum of models has none of
        parameters = model.get_params()
        loss = str(parameters.get("loss_function", parameters.get("objective", ""))).split(":")[0]
    if loss in EXPONENT:
        return "Exponent"
    return _UNCERTAINTY if loss == _UNCERTAINTY else "RawFormulaVal"


def _is_plain(model: Any) -> bool:
    """Whether it is ``CatBoost`` itself, or a subclass other than the three estimators."""
    estimators = {"CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker"}
    return not any(base.__name__ in estimators for base in type(model).__mro__)


def _notes(model: Any, loss: str, response: str) -> tuple[str, ...]:
    """Notes for the user where the response is not what ``predict()`` returns, or not what the loss may suggest."""
    if not loss:
        returned = "probabilities" if response == "Probability" else "raw scores"
        return (f"the response of a CatBoost model whose loss is not known is its {returned}",)
    if _is_plain(model) and response != "RawFormulaVal":
        note = f"the response is prediction_type={response!r}, as CatBoost's estimators give for {loss}"
        return (f"{note}; predict() of the plain CatBoost class gives scale='raw'",)
    if loss == "LogLinQuantile":
        return (
            "CatBoost's predict() gives the logarithm of the quantile for LogLinQuantile, and so does the response",
        )
    return ()


def _avoid(model: Any, table: Table) -> str | None:
    from icefield.libraries.catboost.files import number_columns

    refuse_text(table, number_columns(model, table.names))
    if table.library == "polars" and has_categories(table):
        return "CatBoost reads categories of polars frames by calls that newer polars removed"
    return None
