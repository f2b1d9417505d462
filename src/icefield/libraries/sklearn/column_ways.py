"""The way of every column through scikit-learn's own transformers: which inputs an output depends on.

Only what is on an explicit list is followed; everything on it works row by row. Anything else is
`UnknownTransformer`, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from icefield.libraries.adapter import type_name

Sources = list[frozenset[int]]
"""For each output column, the positions of the input columns it depends on."""


class UnknownTransformer(Exception):
    """A transformer that is not on the list."""


def compose(before: Sequence[frozenset[int]], step: Sources) -> Sources:
    """The raw columns that a step's outputs depend on, given those its inputs depend on and the step's own sources."""
    return [frozenset().union(*(before[i] for i in sources)) for sources in step]


def passes_through(step: Any) -> bool:
    """Whether a pipeline's step hands its rows on unchanged."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def trace(step: Any, width: int) -> Sources:
    """What each output of a fitted transformer depends on; `UnknownTransformer` when that is not known."""
    if passes_through(step):
        return _one_to_one(step, width)
    known = _TRACES.get(type(step).__name__)
    if known is None or type(step).__module__.split(".")[0] != "sklearn":
        raise UnknownTransformer(f"{type_name(step)} is not known to work row by row")
    return known(step, width)


def _one_to_one(step: Any, width: int) -> Sources:
    return [frozenset([i]) for i in range(width)]


def _spread_out(counts: Iterable[int]) -> Sources:
    return [frozenset([i]) for i, count in enumerate(counts) for _ in range(int(count))]


def _one_hot(step: Any, width: int) -> Sources:
    counts = getattr(step, "_n_features_outs", None)
    if counts is None:
        raise UnknownTransformer("this scikit-learn keeps the widths of a OneHotEncoder elsewhere")
    return _spread_out(counts)


def _evenly(step: Any, width: int) -> Sources:
    """The sources of a transformer that gives the same number of outputs for each input, side by side."""
    outputs = len(step.get_feature_names_out())
    if outputs % width:
        raise UnknownTransformer(f"{type_name(step)} gives its {width} columns unequal numbers of outputs")
    return _spread_out([outputs // width] * width)


def _simple_imputer(step: Any, width: int) -> Sources:
    missing = [isinstance(s, (float, np.floating)) and np.isnan(s) for s in step.statistics_.tolist()]
    kept = [i for i in range(width) if step.keep_empty_features or not missing[i]]
    return [frozenset([i]) for i in kept] + _indicator(step.indicator_)


def _mixing_imputer(step: Any, width: int) -> Sources:
    if getattr(step, "sample_posterior", False):
        raise UnknownTransformer("IterativeImputer(sample_posterior=True) answers at random")
    indicated = _indicator(step.indicator_)
    outputs = len(step.get_feature_names_out()) - len(indicated)
    return [frozenset(range(width))] * outputs + indicated


def _indicator(step: Any, width: int = 0) -> Sources:
    return [] if step is None else [frozenset([int(i)]) for i in step.features_]


def _function(step: Any, width: int) -> Sources:
    """The sources of a FunctionTransformer: one to one for no function or a numpy ufunc of one argument, else unknown."""
    known = step.func is None or (isinstance(step.func, np.ufunc) and step.func.nin == 1)
    if not known or step.kw_args:
        raise UnknownTransformer("the function of a FunctionTransformer may look across rows")
    return _one_to_one(step, width)


def _pipeline(step: Any, width: int) -> Sources:
    sources = _one_to_one(step, width)
    for _, inner in step.steps:
        sources = compose(sources, trace(inner, len(sources)))
    return sources


def _union(step: Any, width: int) -> Sources:
    kept = [inner for _, inner in step.transformer_list if not (isinstance(inner, str) and inner == "drop")]
    return [sources for inner in kept for sources in trace(inner, width)]


def _column_transformer(step: Any, width: int) -> Sources:
    outputs: dict[int, frozenset[int]] = {}
    for transformer, columns, where in branches(step):
        traced = trace(transformer, len(columns))
        if len(traced) != where.stop - where.start:
            raise UnknownTransformer(
                f"{type_name(transformer)} in a ColumnTransformer gave another number of columns"
            )
        sources_of = (frozenset(columns[s] for s in sources) for sources in traced)
        outputs |= dict(zip(range(where.start, where.stop), sources_of))
    return [outputs[i] for i in range(len(outputs))]


def branches(step: Any) -> list[tuple[Any, list[int], slice]]:
    """A ColumnTransformer's working parts: transformer, input positions, output positions."""
    inputs = getattr(step, "_transformer_to_input_indices", None)
    if inputs is None:
        raise UnknownTransformer("this scikit-learn keeps the columns of a ColumnTransformer elsewhere")
    parts = []
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        if isinstance(columns, str):
            raise UnknownTransformer(
                f"the ColumnTransformer hands {name!r} a single column instead of a table"
            )
        positions = [int(i) for i in inputs[name]]
        if positions:
            parts.append((transformer, positions, step.output_indices_[name]))
    return parts


_TRACES: dict[str, Callable[[Any, int], Sources]] = {
    **dict.fromkeys(
        ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "QuantileTransformer",
         "PowerTransformer", "OrdinalEncoder", "Binarizer"),
        _one_to_one,
    ),
    **dict.fromkeys(
        ("PCA", "TruncatedSVD", "FactorAnalysis", "FastICA"),
        lambda step, width: [frozenset(range(width))] * len(step.get_feature_names_out()),
    ),
    **dict.fromkeys(("KNNImputer", "IterativeImputer"), _mixing_imputer),
    **dict.fromkeys(
        ("VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFromModel", "RFE", "RFECV",
         "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect", "SequentialFeatureSelector"),
        lambda step, width: [frozenset([i]) for i in step.get_support(indices=True).tolist()],
    ),
    "OneHotEncoder": _one_hot,
    "TargetEncoder": _evenly,
    "SplineTransformer": _evenly,
    "KBinsDiscretizer": lambda step, width: _spread_out([1] * width if step.encode == "ordinal" else step.n_bins_),
    "PolynomialFeatures": lambda step, width: [frozenset(np.flatnonzero(powers).tolist()) for powers in step.powers_],
    "Normalizer": lambda step, width: [frozenset(range(width))] * width,
    "SimpleImputer": _simple_imputer,
    "MissingIndicator": _indicator,
    "FunctionTransformer": _function,
    "Pipeline": _pipeline,
    "FeatureUnion": _union,
    "ColumnTransformer": _column_transformer,
}  # fmt: skip
