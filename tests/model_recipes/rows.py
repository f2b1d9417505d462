"""Rows to fit and explain, and what a recipe gives: a fitted model with the rows to explain.

Rows hold duplicates, a constant column, zeros, and NaN and infinities where the library takes them; the
rows explained hold values the training rows did not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

TRAINED, EXPLAINED = 160, 70
LEVELS = ["ash", "birch", "cedar", "elm", "fir"]
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Fitted:
    """A model and the rows to explain; `accepts` are values its ``predict`` takes beside numbers."""

    model: Any
    X: Any
    accepts: tuple[float, ...] = ()
    raw: bool = True  # whether it has a raw scale
    tolerance: float = 1e-12
    target: Any = None
    unseen: tuple[str, ...] = field(default=())  # levels the model never saw but takes
    response: Any = None  # what its predict says to rows, where `own_answers` cannot tell from its class
    margin: Any = None  # the same of its raw scale


Case = Callable[[int], Fitted]
Answer = Callable[[Any], Any]
# --- rows ------------------------------------------------------------------------------------------


def rows(seed: int, n: int, *, accepts: tuple[float, ...] = (), wide: bool = False) -> pd.DataFrame:
    """x: numbers with ties; z: small counts with zeros; u: skewed; k: constant."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": np.round(draw.normal(size=n) * (1.4 if wide else 1.0), 1),
            "z": draw.poisson(1.0, n).astype(float),
            "u": np.exp(2 * draw.normal(size=n)) * draw.choice([-1, 1], n),
            "k": np.full(n, 2.5),
        }
    )
    for place, value in enumerate(accepts):
        for column, every in (("x", 9), ("u", 13)):
            frame.loc[draw.permutation(n)[: n // (every + 4 * place)], column] = value
    return frame


def with_categories(seed: int, n: int, *, gaps: bool, accepts: tuple[float, ...] = ()) -> pd.DataFrame:
    draw = np.random.default_rng(seed + 1000)
    frame = rows(seed, n, accepts=accepts)
    labels = draw.choice(LEVELS, n).astype(object)
    if gaps:
        labels[draw.random(n) < 0.1] = None
    frame.insert(1, "c", pd.Categorical(labels, LEVELS))
    return frame


def score(frame: pd.DataFrame) -> np.ndarray:
    """A target with interactions, steps and a category's effect, finite whatever the rows hold."""
    x = np.nan_to_num(frame["x"].to_numpy(float), nan=0.7, posinf=2.0, neginf=-2.0)
    u = np.nan_to_num(frame["u"].to_numpy(float), nan=-1.0, posinf=20.0, neginf=-20.0)
    total = x * frame["z"].to_numpy() + np.tanh(u) * 2 + (x > 0.3)
    if "c" in frame:
        total = total + frame["c"].map(dict(zip(LEVELS, [2.0, -1.0, 0.5, 3.0, -2.0]))).astype(float).fillna(1)
    return np.asarray(total)


def classes(values: np.ndarray, several: bool) -> np.ndarray:
    return np.digitize(values, np.quantile(values, [0.3, 0.7] if several else [0.5]))


NAN = (np.nan,)
ALL = (np.nan, np.inf, -np.inf)


def target_of(kind: str, values: np.ndarray) -> Any:
    """What is to be predicted, from a score: the kinds of targets that models know."""
    if kind in ("binary", "multiclass"):
        return classes(values, kind == "multiclass")
    if kind == "positive":
        return np.exp(values / 4)
    if kind == "counts":
        return np.floor(np.exp(values / 3))
    if kind == "share":
        return 1 / (1 + np.exp(-values))
    if kind == "several":
        return np.column_stack([values, -2 * values**2])
    if kind == "several classes":
        return np.column_stack([classes(values, True), classes(-values, False)])
    if kind == "several labels":
        return np.column_stack([classes(values, False), classes(values**2, False), classes(-values, False)])
    if kind == "labels":
        return np.array(["low", "mid", "top"])[classes(values, True)]
    if kind == "two labels":
        return np.array(["no", "yes"])[classes(values, False)]
    if kind == "truth":
        return classes(values, False).astype(bool)
    if kind == "odd numbers":  # labels that are numbers, but not positions
        return np.array([3, 5, 9])[classes(values, True)]
    return None if kind == "none" else values


def simple(
    build: Callable[[int], Any],
    *,
    accepts: tuple[float, ...] = (),
    trained_on: tuple[float, ...] | None = None,  # where rows explained hold more than training did
    kind: str = "regression",
    array: bool = False,
    fitted_with: Callable[[int], dict[str, Any]] | None = None,  # from the number of rows
    then: Callable[[Any], Any] | None = None,  # from the fitted model to the one that is explained
    response: Callable[[Any], Answer] | None = None,
    margin: Callable[[Any], Answer] | None = None,
    n: int = TRAINED,
    quiet: bool = False,  # whether the library warns while it fits
    **described: Any,
) -> Case:
    """A recipe of a model that is built, fitted on rows of numbers and explained on others."""

    def recipe(seed: int) -> Fitted:
        train = rows(seed, n, accepts=accepts if trained_on is None else trained_on)
        X = rows(seed + 1, EXPLAINED, accepts=accepts, wide=True)
        y = target_of(kind, score(train))
        if array:
            train, X = train.to_numpy(), X.to_numpy()
        model = build(seed)
        given = {} if fitted_with is None else fitted_with(n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if quiet else "error")
            # CatBoost would like it for losses written in Python.
            warnings.filterwarnings("ignore", message="Failed to import numba")
            model.fit(train, **given) if y is None else model.fit(train, y, **given)
        model = model if then is None else then(model)
        asked = {"response": response and response(model), "margin": margin and margin(model)}
        return Fitted(model, X, accepts, **asked, **described)

    return recipe


def categorical(
    build: Callable[[int], Any],
    *,
    gaps: bool = False,
    accepts: tuple[float, ...] = (),
    kind: str = "regression",
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
    then: Callable[[Any], Any] | None = None,
    **described: Any,
) -> Case:
    """A recipe of a model that takes a column of categories beside numbers."""

    def recipe(seed: int) -> Fitted:
        train = with_categories(seed, TRAINED, gaps=gaps, accepts=accepts)
        X = with_categories(seed + 1, EXPLAINED, gaps=gaps, accepts=accepts)
        model = build(seed)
        model.fit(prepare(train), target_of(kind, score(train)))
        return Fitted(model if then is None else then(model), prepare(X), accepts, **described)

    return recipe


def no_raw(build: Callable[[int], Any], **how: Any) -> Case:
    return simple(build, raw=False, target="all", **how)
