"""The brute method: an estimator's response in scikit-learn's sense, averaged over the rows of X.

scikit-learn decides what a classifier's response is (the positive class of two, the decision
function where there are no probabilities) and hands rows over as the caller gave them; the
`Model` built here keeps both. Its trees answer where they do so sooner, the model itself elsewhere.
Nothing is tried in several forms as `Explainer` does: whatever a call of the estimator raises is
the caller's to see.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import Table, table_of
from icefield.engines.brute.engine import BruteEngine
from icefield.errors import InputError, InputTypeError, did_you_mean
from icefield.libraries.sklearn.nesting import is_pipeline, unwrapped
from icefield.libraries.sklearn.pipelines import NoSplit, SplitPipeline, split_pipeline
from icefield.libraries.sklearn.threads import gains_by_threads
from icefield.models.across_rows import known_row_by_row
from icefield.models.model import Model, untried_model
from icefield.sklearn.exact import tree_answer
from icefield.typing import Array

PROBE_ROWS = 5


class MissingResponseError(InputError, AttributeError):
    """A classifier without the response that is asked for; scikit-learn raised the one, now the other."""


def brute_dependence(
    estimator: Any,
    X: Any,
    positions: Sequence[int],
    values: Sequence[Array],
    response_method: str,
    sample_weight: Array | None,
    individual: bool,
) -> tuple[Array, Array | None]:
    """Average response ``(outputs, *grid)`` and, where asked, every row's ``(outputs, rows, *grid)``."""
    table = table_of(X)
    model, dtype = response_model(estimator, table, response_method)
    axes = tuple(Axis(p, moving_values(table, p, v)) for p, v in zip(positions, values))
    question = Question(axes, spread=False, rows=np.arange(table.n_rows) if individual else None)
    # The caller asked for these curves, so they always fit: scikit-learn knows no budget.
    curves = 8 * len(model.outputs) * table.n_rows * int(np.prod(question.shape)) if individual else 0
    resources = Resources(memory=max(Resources.memory, curves))
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    sample = Block(table, weights)
    # Weights turn averages of single precision numbers into double precision, which shows that trees do
    # not round each prediction as the model does.
    rounds = dtype == np.float32 and weights is not None
    answer = None if rounds else tree_answer(model, question, sample, resources)
    if answer is None:
        (answer,) = BruteEngine(model).answer([question], sample, resources)
    # Averages of whole numbers are fractions; single precision stays single precision.
    of_averages = dtype if dtype.kind == "f" else np.dtype(np.float64)
    if sample_weight is not None:
        of_averages = np.result_type(of_averages, sample_weight.dtype)
    average = answer.total.mean.astype(of_averages, copy=False)
    return average, None if answer.curves is None else answer.curves.astype(dtype, copy=False)


def response_model(estimator: Any, table: Table, response_method: str) -> tuple[Model, np.dtype[Any]]:
    """The estimator as the engine asks it, and the type of number it answers with."""
    methods: tuple[str, ...] = (response_method,)
    if response_method == "auto":
        methods = ("predict",) if is_regressor(estimator) else ("predict_proba", "decision_function")
    answer = partial(_response, estimator, methods)
    row_by_row, probe = known_row_by_row(estimator), table.slice(0, PROBE_ROWS)
    try:
        first = answer(probe.native)
    except Exception:
        if row_by_row:
            raise
        probe = table  # what looks across rows may refuse a few, and take all
        first = answer(probe.native)
    model = untried_model(
        estimator,
        answer,
        table,
        kind="regressor" if is_regressor(estimator) else "classifier",
        scale="raw" if _asks_for_decisions(estimator, methods) else "response",
        n_outputs=first.shape[1],
        parallel=gains_by_threads(estimator),
        parts=_parts(estimator, methods, probe, first),
        across_rows=not row_by_row,
    )
    return model, first.dtype


def _asks_for_decisions(estimator: Any, methods: Sequence[str]) -> bool:
    """Whether the response is the decision function: asked for, or because there are no probabilities."""
    is_listed = "decision_function" in methods
    return is_listed and not ("predict_proba" in methods and hasattr(estimator, "predict_proba"))


def _response(estimator: Any, methods: Sequence[str], rows: Any) -> Array:
    """The first of these methods that the estimator has, applied to rows; of two classes the second one's probability."""
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        raise MissingResponseError(f"The estimator has no {' and no '.join(methods)} method.")
    values = np.asarray(getattr(estimator, method)(rows))
    if method == "predict_proba" and np.size(estimator.classes_) <= 2:
        if values.shape[1] < 2:
            raise ValueError(
                f"Got predict_proba of shape {values.shape}, but need classifier with two classes."
            )
        values = values[:, 1]
    return values.reshape(rows.shape[0], -1)


def _parts(
    estimator: Any, methods: Sequence[str], probe: Table, whole: Array
) -> tuple[SplitPipeline, Callable[[Any], Array]] | None:
    """A pipeline taken apart so that unmoved columns are transformed once, if the parts give the whole."""
    if not is_pipeline(unwrapped(estimator)):
        return None
    split = split_pipeline(estimator, probe)
    if isinstance(split, NoSplit):
        return None
    answer: Callable[[Any], Array] = partial(_response, split.final, methods)
    parts = answer(split.transform(probe))
    if parts.shape != whole.shape or not np.allclose(parts, whole, rtol=1e-12, atol=0.0, equal_nan=True):
        return None
    return split, answer


def moving_values(table: Table, position: int, values: Array) -> Mapping[Any, Array]:
    """A column's grid as the table writes it: in the column's own dtype wherever that loses nothing."""
    name = table.names[position]
    if table.library == "pandas":
        check_levels(table.native.dtypes.iloc[position], name, values)
        return {name: values}
    dtype = table.native.dtype
    if values.dtype == dtype or np.can_cast(values.dtype, dtype, "same_kind"):
        return {name: values}
    cast = values.astype(dtype)
    changed = [original for rounded, original in zip(cast.tolist(), values.tolist()) if rounded != original]
    if not changed:
        return {name: cast}
    warnings.warn(
        f"The grid holds {changed[0]!r} for column {name!r} of an array of {dtype}. scikit-learn would cut "
        "it to that type and report the curve at a value it was not computed at; it is used as given here.",
        UserWarning,
        stacklevel=6,
    )
    return {name: values}


def check_levels(dtype: Any, name: Any, values: Array) -> None:
    """Raise where a value is no level of a pandas category: it would become a missing value unnoticed."""
    levels = getattr(dtype, "categories", None)
    if levels is None:
        return
    for value in values.tolist():
        if value not in levels:
            raise InputTypeError.about("custom_values", f"holds a value that is no category of column {name!r}", value,
                                    did_you_mean(value, levels))  # fmt: skip
