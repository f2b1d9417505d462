"""The raw scale of scikit-learn estimators: where each family keeps its margin.

A margin (or linear predictor) is the number before the link: the log-odds of a boosted
classifier, the log of a Poisson rate. This module knows, by an explicit list, which estimators
have one, how to ask for it exactly, and what to say about those that have none.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from icefield.errors import ModelError
from icefield.libraries.adapter import comes_from, type_name
from icefield.libraries.registry import library_of
from icefield.libraries.sklearn.internals import internal
from icefield.libraries.sklearn.nesting import core, handed_on_to, is_pipeline

# Regressors that predict a sum (or an average of leaves) directly: their margin is the prediction.
_LINK_FREE_MODULES = (
    "sklearn.linear_model", "sklearn.tree", "sklearn.svm", "sklearn.kernel_ridge",
    "sklearn.cross_decomposition", "sklearn.ensemble._forest", "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting",
)  # fmt: skip

_WHY_NO_MARGIN = {
    **dict.fromkeys(
        ("RandomForestClassifier", "ExtraTreesClassifier"), "its probabilities are averages of leaf fractions"
    ),
    **dict.fromkeys(
        ("DecisionTreeClassifier", "ExtraTreeClassifier"), "its probabilities are leaf fractions"
    ),
    **dict.fromkeys(
        ("KNeighborsClassifier", "RadiusNeighborsClassifier"), "its probabilities are the neighbours' votes"
    ),
    **dict.fromkeys(
        ("BaggingClassifier", "VotingClassifier"), "its probabilities are averages over its members"
    ),
    "CalibratedClassifierCV": "its probabilities are calibrated averages",
    "StackingClassifier": "its final estimator offers none",
}

LOG_OF_PREDICTION = "log of the prediction"
# Models of statsmodels' that give one linear predictor, and what that is.
_LINEAR_PREDICTORS = {
    "Logit": "log-odds", "Probit": "linear predictor", "Poisson": LOG_OF_PREDICTION,
    "GeneralizedPoisson": LOG_OF_PREDICTION, "NegativeBinomial": LOG_OF_PREDICTION,
    "NegativeBinomialP": LOG_OF_PREDICTION,
}  # fmt: skip

Answer = Callable[[Any], Any]


def raw_answer(model: Any, kind: str) -> tuple[Answer, str]:
    """How to ask an estimator for its margin, and what that number is called."""
    margin = _margin(model, kind)
    if margin is None:
        reason = _WHY_NO_MARGIN.get(type_name(model), "it gives no value before its link")
        problem = f"cannot be 'raw': {type_name(model)} has no margin; {reason}"
        raise ModelError.about("scale", problem, hint='use scale="response"')
    return margin


def _margin(model: Any, kind: str) -> tuple[Answer, str] | None:
    library = library_of(model)
    if library is not None and library.knows_margin:
        adapter = library.predictions.adapt(model, "raw")
        return adapter.answer, adapter.scale_label
    if comes_from(model, "statsmodels"):
        return _linear_predictor(model)
    wrapped = handed_on_to(model)
    if wrapped is not None:
        return _margin(wrapped, kind)
    if is_pipeline(model):
        inner = _margin(model.steps[-1][1], kind)
        if inner is None or len(model.steps) == 1:
            return inner
        return partial(_after_transform, model[:-1], inner[0]), inner[1]
    if hasattr(model, "decision_function"):
        return model.decision_function, _margin_label(model)
    if kind == "regressor":
        return _regression_margin(model)
    return None


def has_log_link(model: Any) -> bool:
    """Whether an estimator predicts the exponential of a sum, which is never negative: Poisson, gamma, Tweedie."""
    inner = core(model)
    library = library_of(inner)
    if library is not None and library.knows_margin and inner is not model:
        return library.predictions.adapt(inner, "response").positive
    if comes_from(inner, "statsmodels"):
        predictor = _linear_predictor(inner)
        return predictor is not None and predictor[1] == LOG_OF_PREDICTION
    loss = getattr(inner, "_base_loss", None) or getattr(inner, "_loss", None)
    return _link_label(loss) == LOG_OF_PREDICTION or getattr(inner, "out_activation_", None) == "exp"


def _linear_predictor(model: Any) -> tuple[Answer, str] | None:
    """The linear predictor of a fitted model of statsmodels', as its own ``predict`` gives it."""
    kind = type_name(getattr(model, "model", None))
    if kind in ("OLS", "WLS", "GLS", "GLSAR"):
        return model.predict, "prediction"
    label = _LINEAR_PREDICTORS.get(kind)
    if kind == "GLM":
        link = type_name(getattr(getattr(model, "family", None), "link", None)).casefold()
        known = {"logit": "log-odds", "log": LOG_OF_PREDICTION, "identity": "prediction"}
        label = known.get(link, "linear predictor")
    return None if label is None else (partial(model.predict, which="linear"), label)


def _regression_margin(model: Any) -> tuple[Answer, str] | None:
    if type_name(model) == "TransformedTargetRegressor" and hasattr(model, "regressor_"):
        return model.regressor_.predict, "transformed target"
    if hasattr(model, "_linear_predictor"):  # generalised linear models
        return internal(model, "_linear_predictor"), _link_label(getattr(model, "_base_loss", None))
    if type_name(model) == "HistGradientBoostingRegressor" and hasattr(model, "_raw_predict"):
        return partial(_single_column, internal(model, "_raw_predict")), _link_label(internal(model, "_loss"))
    if getattr(model, "out_activation_", None) == "exp" and comes_from(model, "sklearn"):  # a Poisson network
        return partial(_without_activation, model), LOG_OF_PREDICTION
    if _is_link_free(model):
        return model.predict, "prediction"
    return None


def _is_link_free(model: Any) -> bool:
    """Whether a regressor's prediction is itself its margin."""
    if getattr(model, "out_activation_", None) == "identity" and comes_from(model, "sklearn"):
        return True
    if type_name(model) == "RANSACRegressor":  # a wrapper around any regressor, whatever its link
        return False
    return any(base.__module__.startswith(_LINK_FREE_MODULES) for base in type(model).__mro__)


def _margin_label(model: Any) -> str:
    inner = core(model)
    binary = len(np.atleast_1d(np.asarray(getattr(model, "classes_", ()), dtype=object))) == 2
    boosted = type_name(inner) in ("GradientBoostingClassifier", "HistGradientBoostingClassifier")
    logistic = type_name(inner) in ("LogisticRegression", "LogisticRegressionCV")
    if binary and (logistic or (boosted and getattr(inner, "loss", None) == "log_loss")):
        return "log-odds"
    return "raw score" if boosted else "decision function"


def _link_label(loss: Any) -> str:
    link = type(getattr(loss, "link", None)).__name__
    return {"LogLink": LOG_OF_PREDICTION, "IdentityLink": "prediction"}.get(link, "raw score")


def _single_column(ask: Answer, rows: Any) -> Any:
    margin = np.asarray(ask(rows))
    return margin[:, 0] if margin.ndim == 2 and margin.shape[1] == 1 else margin


def _without_activation(model: Any, rows: Any) -> Any:
    """A network's last sums. The copy is shallow, and made anew since a model may be fitted again."""
    plain = copy.copy(model)
    plain.out_activation_ = "identity"
    return plain.predict(rows)


def _after_transform(steps: Any, ask: Answer, rows: Any) -> Any:
    return ask(steps.transform(rows))
