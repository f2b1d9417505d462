"""Links: from a model's raw sums to what its ``predict`` or ``predict_proba`` returns.

A link sees any array whose last axis holds the raw outputs and returns one whose last axis holds
the response columns. Links are built from functions of modules, so a `TreeModel` pickles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from icefield.forest.tree_model import Link, LinkForm
from icefield.typing import Float


def identity() -> Link:
    """The response is the raw sum itself."""
    return Link("identity", _same, additive=True)


def scaled(factor: float) -> Link:
    """The raw sum times a constant."""
    return Link("scaled", partial(np.multiply, factor))


def logistic(factor: float = 1.0) -> Link:
    """``1 / (1 + exp(-factor * raw))``, for each raw output by itself."""
    return Link("logistic", partial(_sigmoid, factor=factor), form=LinkForm("logistic", factor))


def softmax() -> Link:
    """Exponentials normalised to sum to one over the raw outputs."""
    return Link("softmax", _softmax, form=LinkForm("softmax"))


def exponential() -> Link:
    """``exp(raw)``."""
    return Link("exp", _exp, form=LinkForm("exp"))


def softplus() -> Link:
    """``log(1 + exp(raw))``."""
    return Link("log1p(exp)", partial(np.logaddexp, 0.0))


def signed_square() -> Link:
    """``sign(raw) * raw**2``, the way back from a square-root transformed target."""
    return Link("signed square", _signed_square)


def ascending() -> Link:
    """The raw outputs in ascending order, as of quantiles that must not cross."""
    return Link("ascending", partial(np.sort, axis=-1))


def two_columns(link: Link) -> Link:
    """A binary classifier's columns: one minus the positive class's probability, and it."""
    form = None if link.form is None else replace(link.form, complement=True)
    return Link(link.name, partial(_complement_first, inner=link.apply), form=form, second=link.apply)


def then(first: Link, name: str, second: Callable[[Float], Float]) -> Link:
    """A link followed by another function of its response."""
    return Link(name, partial(_chain, first=first.apply, second=second))


def anomaly(denominator: float, offset: float) -> Link:
    """An isolation forest's ``decision_function`` from the sum of path lengths."""
    return Link("anomaly score", partial(_anomaly, denominator=denominator, offset=offset))


def mixture(parts: Sequence[tuple[Link, int, float, Sequence[int]]], n_response: int) -> Link:
    """A weighted sum of several models' responses over raw outputs laid side by side.

    Each part is its link, its number of raw outputs, its weight, and the response columns its own
    columns add to.
    """
    plan = tuple((link.apply, width, weight, tuple(target)) for link, width, weight, target in parts)
    return Link("mixture", partial(_mixture, plan=plan, n_response=n_response))


def _same(raw: Float) -> Float:
    return raw


def _sigmoid(raw: Float, factor: float) -> Float:
    # exp may overflow to infinity, which gives the right limit, 0. In one array: blocks stay near the processor.
    with np.errstate(over="ignore"):
        found = np.asarray(-factor * raw)
        np.exp(found, out=found)
        found += 1.0
        return np.divide(1.0, found, out=found)


def _softmax(raw: Float) -> Float:
    shifted = np.exp(raw - raw.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def _exp(raw: Float) -> Float:
    with np.errstate(over="ignore"):
        return np.exp(raw)


def _signed_square(raw: Float) -> Float:
    return np.sign(raw) * raw * raw


def _complement_first(raw: Float, inner: Callable[[Float], Float]) -> Float:
    positive = inner(raw)
    return np.concatenate([1.0 - positive, positive], axis=-1)


def _chain(raw: Float, first: Callable[[Float], Float], second: Callable[[Float], Float]) -> Float:
    return second(first(raw))


def _anomaly(depth: Float, denominator: float, offset: float) -> Float:
    relative = depth / denominator if denominator != 0 else np.ones_like(depth)
    return -(2.0**-relative) - offset


def _mixture(
    raw: Float,
    plan: tuple[tuple[Callable[[Float], Float], int, float, tuple[int, ...]], ...],
    n_response: int,
) -> Float:
    out = np.zeros((*raw.shape[:-1], n_response))
    start = 0
    for apply, width, weight, target in plan:
        out[..., list(target)] += weight * apply(raw[..., start : start + width])
        start += width
    return out
