"""Checks of plain arguments: one line where they are used, one clear message when they fail."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, currentframe, unwrap
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from icefield.data.features import column_name
from icefield.data.frame import NUMERIC_KINDS, Table
from icefield.errors import InputError, InputTypeError, UnknownNameError, did_you_mean

# What other libraries call a keyword, and its name here.
FOREIGN_KEYWORDS = {
    "grid": ("grid_resolution", "n_points", "num_grid_points", "n_grid_points", "resolution", "points", "grid_points", "custom_values", "percentiles"),
    "weights": ("sample_weight", "sample_weights", "weight", "w"),
    "threads": ("n_jobs", "n_threads", "num_threads", "nthread"),
    "seed": ("random_state", "random_seed"),
    "scale": ("response_method", "prediction_type", "link", "model_output"),
    "target": ("class_name", "target_class", "output", "which_class", "class_index"),
    "rows": ("n_samples", "subsample", "sample_size", "n_rows", "sample", "max_samples", "num_ice", "n_ice"),
    "by": ("groupby", "group_by", "hue", "group", "groups"),
    "bins": ("n_bins", "num_bins", "grid_size", "n_intervals"),
    "engine": ("method", "algorithm"),
    "names": ("feature_names", "labels", "categories"),
    "units": ("unit",),
    "X": ("data", "dataset", "background_data", "train_X", "df"),
    "model": ("estimator", "predictor", "clf", "mdl"),
    "features": ("feature", "columns", "column", "feature_name", "model_features", "variables", "variable"),
}  # fmt: skip
# What other libraries call a question, and how it is asked here.
FOREIGN_QUESTIONS = {
    "partial_dependence(...)": ("pdp", "pd", "pdp_isolate", "pdp_interact", "PDP", "partial_dependency", "model_profile"),
    "partial_dependence(...).plot()": ("partial_dependence_plot", "plot_pdp", "pdp_plot", "plot_partial_dependence", "from_estimator"),
    "ice(...)": ("ice_curves", "ICE", "individual", "individual_conditional_expectation", "ceteris_paribus", "predict_profile"),
    "ale(...)": ("ALE", "accumulated_local_effects", "accumulated", "ale_plot"),
    "importance()": ("feature_importances_", "feature_importance", "feature_importances", "importances", "variable_importance",
                     "permutation_importance", "model_parts", "shap_values", "shap", "shap_importance"),
    "interactions()": ("h_statistic", "h_stat", "H", "friedman_h", "interaction", "shap_interaction_values"),
    "regions(...)": ("subgroups", "regional_effects", "partition"),
    "summary()": ("describe", "explain", "info", "summary_plot"),
    "report(path)": ("dashboard", "to_html", "save_html", "html"),
}  # fmt: skip

PACKAGE = os.path.dirname(__file__)
Function = TypeVar("Function", bound=Callable[..., Any])

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100  # of the largest weight


def choice(parameter: str, value: Any, allowed: Sequence[str]) -> None:
    """A word from a list."""
    problem = f"must be one of {', '.join(map(repr, allowed))}"
    if not isinstance(value, str):
        raise InputTypeError.about(parameter, problem, value)
    if value not in allowed:
        raise InputError.about(parameter, problem, value, did_you_mean(value, allowed))


def old_word(old: str, new: str) -> None:
    """Warn that a public word has another name now, at the line of the caller outside of the package."""
    frame, level = currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(f"`{old}` is `{new}` now; icefield 0.3 drops the old name.", DeprecationWarning, level)


def renamed(old: str, new: str) -> Callable[[Function], Function]:
    """A decorator for a function whose keyword `old` is `new` now: it takes the old word too, with a warning."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def with_new_name(*args: Any, **keywords: Any) -> Any:
            if old in keywords:
                if new in keywords:
                    raise InputTypeError.about(
                        old, f"is `{new}` now, which was given too", keywords[old], "leave it out"
                    )
                old_word(f"{old}=", f"{new}=")
                keywords[new] = keywords.pop(old)
            return function(*args, **keywords)

        with_new_name.old_words = (old, *getattr(function, "old_words", ()))  # type: ignore[attr-defined]
        return cast(Function, with_new_name)

    return decorate


def count(
    parameter: str, value: Any, least: int = 1, optional: bool = False, hint: str | None = None
) -> None:
    """A whole number of at least `least`."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputTypeError.about(parameter, "must be a whole number", value)
    if value < least:
        raise InputError.about(parameter, f"must be at least {least}", value, hint)


def flag(parameter: str, value: Any, optional: bool = False) -> None:
    """True or False; with `optional` also None, for "as usual"."""
    if (value is None and optional) or isinstance(value, (bool, np.bool_)):
        return
    raise InputTypeError.about(parameter, "must be True or False", value)


def sequence(parameter: str, values: Any) -> list[Any]:
    """The items of any sequence, as a list."""
    if isinstance(values, bool) or not hasattr(values, "__iter__"):
        raise InputTypeError.about(parameter, "must be a sequence", values, "write [...]")
    return list(values)


def share(parameter: str, value: Any) -> None:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputTypeError.about(parameter, "must be a number between 0 and 1", value)
    if not 0.0 < value < 1.0:
        raise InputError.about(parameter, "must be a number between 0 and 1", value, "write 0.01 for 1 %")


def probabilities(values: Any) -> tuple[float, ...]:
    """Quantile probabilities, in the order given."""
    if values is None:
        return ()
    problem, example = "must be numbers between 0 and 1", "write [0.1, 0.9]"
    given = [values] if isinstance(values, (int, float)) else values
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise InputTypeError.about("quantiles", problem, values, example)
    items = list(given)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (int, float, np.integer, np.floating)):
            raise InputTypeError.about("quantiles", problem, item, example)
        if not 0.0 <= item <= 1.0:
            raise InputError.about("quantiles", problem, item, example)
    if len({float(i) for i in items}) != len(items):
        raise InputError.about("quantiles", "names a probability twice", values)
    return tuple(float(item) for item in items)


def weights(given: Any, table: Table) -> NDArray[np.float64] | None:
    """Row weights: an array, or the name of a column of X."""
    if given is None:
        return None
    problem = "must be numbers, one per row, or a column of X"
    if isinstance(given, (str, int, np.integer)) and not isinstance(given, bool):
        column = table.column(column_name(given, table, "weights"))
        if column.kind not in (*NUMERIC_KINDS, "boolean"):
            raise InputTypeError.about("weights", f"names a {column.kind} column", given, problem)
        values = column.to_float()
    elif isinstance(given, (bool, np.bool_)):
        raise InputTypeError.about("weights", problem, given)
    else:
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputTypeError.about("weights", problem, given) from error
    if values.shape != (table.n_rows,):
        raise InputError.about("weights", f"must have one entry for each of the {table.n_rows} rows of X",
                               f"an array of shape {values.shape}")  # fmt: skip
    largest = float(usable_weights(values).max())
    if largest == 0.0:
        raise InputError.about("weights", "must not all be zero", "only zeros")
    if not SMALLEST_WEIGHT < largest < LARGEST_WEIGHT:
        # Their squares and sums are needed too, and must stay numbers.
        raise InputError.about("weights", f"must be of ordinary size ({SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g})", largest,
                               "only ratios of weights matter: divide them by their mean")  # fmt: skip
    return values


def usable_weights(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights as they are; an error where one is missing, infinite or below zero."""
    if not np.isfinite(values).all():
        raise InputError.about("weights", "must be finite", float(values[~np.isfinite(values)][0]))
    if (values < 0).any():
        raise InputError.about("weights", "must not be negative", float(values[values < 0][0]))
    return values


def observed(given: Any, table: Table) -> NDArray[Any] | None:
    """Observed targets, one (or one row) per row of X, or a column of X by its name."""
    if given is None:
        return None
    n_rows = table.n_rows
    if isinstance(given, (str, bytes)):
        table.check(given, "y")
        return table.column(given).shown()
    values = np.asarray(given)
    if values.ndim not in (1, 2) or values.shape[0] != n_rows:
        raise InputError.about("y", f"must have one entry for each of the {n_rows} rows of X", f"an array of shape {values.shape}")  # fmt: skip
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def row_positions(rows: Any, n_rows: int, seed: int) -> NDArray[np.intp]:
    """Positions from a number of rows (seeded sample), a boolean mask or positions, ascending if sampled."""
    if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
        if rows < 1:
            raise InputError.about("rows", "must be at least 1", int(rows))
        if rows >= n_rows:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng(seed).choice(n_rows, int(rows), replace=False))
    problem = "must be a number of rows, a boolean mask or positions"
    if isinstance(rows, (str, bytes, bool, float)) or not hasattr(rows, "__len__"):
        raise InputTypeError.about("rows", problem, rows, "write rows=1000")
    try:
        positions = np.asarray(rows)
    except Exception as error:
        raise InputTypeError.about("rows", problem, rows) from error
    if positions.ndim != 1:
        raise InputError.about("rows", "must be one-dimensional", f"shape {positions.shape}")
    if len(positions) == 0:
        raise InputError.about("rows", "chooses no row", rows)
    if positions.dtype == bool:
        if len(positions) != n_rows:
            raise InputError.about("rows", f"as a mask must have one entry for each of the {n_rows} rows of X", f"{len(positions)} entries")  # fmt: skip
        positions = np.flatnonzero(positions)
    elif positions.dtype.kind not in "iu":
        raise InputTypeError.about("rows", problem, rows)
    if len(positions) == 0:
        raise InputError.about("rows", "chooses no row", rows)
    if positions.min() < 0 or positions.max() >= n_rows:
        outside = positions[(positions < 0) | (positions >= n_rows)][0]
        raise InputError.about("rows", f"holds a position outside the {n_rows} rows of X", int(outside))
    return positions.astype(np.intp)


# --- names of other libraries --------------------------------------------------------------------------

Kind = TypeVar("Kind", bound=type)


def explain_keywords(kind: Kind) -> Kind:
    """A class decorator: an unknown keyword of a method raises an error that names the keyword of icefield's."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, _with_hints(method, name))
    return kind


def _with_hints(method: FunctionType, name: str) -> FunctionType:
    code, refuse = unwrap(method).__code__, _refuse_keyword
    named = code.co_argcount + code.co_kwonlyargcount
    takes_any = bool(code.co_flags & CO_VARKEYWORDS)
    known = code.co_varnames[: named + bool(code.co_flags & CO_VARARGS) + takes_any]
    by_name = {*code.co_varnames[code.co_posonlyargcount : named], *getattr(method, "old_words", ())}

    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not (takes_any or keywords.keys() <= by_name):
            refuse(name, known, keywords)
        return method(*arguments, **keywords)

    # A function of the method's own module, where its examples are looked for.
    copy = FunctionType(checked.__code__, method.__globals__, method.__name__, None, checked.__closure__)
    copy.__kwdefaults__ = checked.__kwdefaults__
    return update_wrapper(copy, method)  # type: ignore[return-value]


def _refuse_keyword(method: str, known: Sequence[str], given: Mapping[str, Any]) -> None:
    name = next(name for name in given if name not in known or name == "features")
    keyword = next((own for own, foreign in FOREIGN_KEYWORDS.items() if name == own or name in foreign), None)
    called = "Explainer" if method == "__init__" else f"{method}()"
    if keyword == "features" and "features" in known:
        hint = f'name them first: {method}("age")'
    elif keyword == "features":
        hint = 'pass them to a method: partial_dependence("age")'
    elif name == "kind":
        hint = "ice() gives individual curves, partial_dependence() their average, ale() accumulated local effects"
    elif name in ("centered", "centred", "center", "centre"):
        hint = "call .center() on the result"
    elif keyword in known:
        hint = f"write {keyword}=..."
    elif keyword is not None and method == "__init__":
        hint = f'{keyword}= belongs to the methods: write partial_dependence("age", {keyword}=...)'
    elif keyword is not None:
        hint = f"{keyword}= belongs to the Explainer: write Explainer(model, X, {keyword}=...)"
    else:
        hint = did_you_mean(name, [parameter for parameter in known if parameter != "self"])
    raise InputTypeError.about(name, f"is not a keyword of {called}", given[name], hint)


def unknown_question(owner: Any, name: str) -> UnknownNameError | AttributeError:
    """The error for an attribute that something does not have, with what is meant where that is clear."""
    plain = f"{type(owner).__name__!r} object has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(plain)
    question = next((word for word, foreign in FOREIGN_QUESTIONS.items() if name in foreign), None)
    known = [word for word in dir(type(owner)) if not word.startswith("_")]
    hint = did_you_mean(name, known) if question is None else f"write .{question}"
    return UnknownNameError.saying(f"{plain}.", hint)
