"""The brute method: an estimator's response in scikit-learn's sense, averaged by the brute engine.

scikit-learn decides what a classifier's response is (the positive class of two, the decision
function where there are no probabilities) and hands rows over as the caller gave them; an
`EstimatorResponse` keeps both, and is otherwise the model the engine asks. Nothing is tried on a
few rows in several forms as `Explainer` does: whatever a call raises is the caller's to see.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils._response import _get_response_values

from icefield.engines import Axis, Question, Resources, Sample
from icefield.engines.brute import BruteEngine
from icefield.errors import InputTypeError, complaint, did_you_mean
from icefield.frame import Table, table_of


class EstimatorResponse:
    """An estimator as an engine asks it: rows in, one float64 column per output out."""

    parallel = False  # estimators bring their own threads, and n_jobs runs several features at once
    shareable = True

    def __init__(self, estimator: Any, response_method: str, table: Table) -> None:
        self.estimator = estimator
        self.methods: Any = response_method
        if response_method == "auto":
            self.methods = "predict" if is_regressor(estimator) else ["predict_proba", "decision_function"]
        self.columns = table.names
        first = self._answer(table.slice(0, 1))
        self.outputs = tuple(range(first.shape[1]))
        self.dtype = first.dtype

    def predict(self, table: Table) -> NDArray[np.float64]:
        return self._answer(table).astype(np.float64, copy=False)

    def _answer(self, table: Table) -> NDArray[Any]:
        values, _ = _get_response_values(self.estimator, table.native, response_method=self.methods)
        return np.asarray(values).reshape(table.n_rows, -1)


def brute_dependence(
    estimator: Any,
    X: Any,
    positions: Sequence[int],
    values: Sequence[NDArray[Any]],
    response_method: str,
    sample_weight: NDArray[Any] | None,
    individual: bool,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Average response ``(outputs, *grid)`` and, where asked, every row's ``(outputs, rows, *grid)``."""
    table = table_of(X)
    response = EstimatorResponse(estimator, response_method, table)
    axes = tuple(Axis(p, moving_values(table, p, v)) for p, v in zip(positions, values))
    question = Question(axes, spread=False, rows=np.arange(table.n_rows) if individual else None)
    # The caller asked for these curves, so they always fit: scikit-learn knows no budget.
    curves = 8 * len(response.outputs) * table.n_rows * int(np.prod(question.shape)) if individual else 0
    resources = Resources(memory=max(Resources.memory, curves))
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    (answer,) = BruteEngine(cast(Any, response)).answer([question], Sample(table, weights), resources)
    # Averages of whole numbers are fractions; single precision stays single precision.
    average_dtype = response.dtype if response.dtype.kind == "f" else np.float64
    average = answer.total.mean.astype(average_dtype, copy=False)
    return average, None if answer.curves is None else answer.curves.astype(response.dtype, copy=False)


def moving_values(table: Table, position: int, values: NDArray[Any]) -> Mapping[Any, NDArray[Any]]:
    """A column's grid as the table writes it: in the column's own dtype wherever that loses nothing."""
    name = table.names[position]
    if table.library == "pandas":
        _check_levels(table.native.dtypes.iloc[position], name, values)
        return {name: values}
    dtype = table.native.dtype
    if values.dtype == dtype or np.can_cast(values.dtype, dtype, "same_kind"):
        return {name: values}
    own = values.astype(dtype)
    if all(a == b for a, b in zip(own.tolist(), values.tolist())):
        return {name: own}
    lost = next(b for a, b in zip(own.tolist(), values.tolist()) if a != b)
    warnings.warn(
        f"custom_values holds {lost!r} for column {name!r} of an array of {dtype}. scikit-learn would cut "
        "it to that type and report the curve at a value it was not computed at; it is used as given here.",
        UserWarning,
        stacklevel=4,
    )
    return {name: values}


def _check_levels(dtype: Any, name: Any, values: NDArray[Any]) -> None:
    """A value that is no level of a pandas category would become a missing value unnoticed."""
    levels = getattr(dtype, "categories", None)
    if levels is None:
        return
    known = set(levels)
    for value in values.tolist():
        if value not in known:
            raise InputTypeError(
                complaint("custom_values", f"holds a value that is no category of column {name!r}", value,
                          did_you_mean(value, levels))
            )  # fmt: skip
