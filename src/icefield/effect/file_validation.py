"""Whether an Effect that was read from a file is whole: every field of the type and shape its readers rely on.

A file may have been written by another version, by hand, or by nobody in particular. What is wrong with it is said
when it is loaded, with the field's name; not by whichever picture or table happens to need that field first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from icefield.data.distribution import Distribution, Joint, Marginal
from icefield.data.naming import Naming
from icefield.effect.effect import Effect
from icefield.effect.learner_interval import LearnerInterval
from icefield.errors import brief

CHOICES = {
    "kind": ("pd", "ice", "ale"),
    "view": ("level", "centered", "derivative"),
    "scale": ("response", "raw"),
    "background": ("data", "training"),
    "over": ("rows", "refits"),
}
NUMBERS = "fiub"


class InvalidEffect(ValueError):
    """A saved effect has an unusable field; the message names it."""


def check_effect(effect: Any, where: str = "") -> None:
    """Raise `InvalidEffect` where an effect, or one of its groups, is not whole."""
    if not isinstance(effect, Effect):
        raise InvalidEffect(f"{where or 'it'} holds no effect")
    check = _Checks(where)
    shape = _check_axes(check, effect)
    _check_kept(check, effect, shape)
    _check_curves(check, effect, shape)
    _check_interval(check, effect, shape)
    _check_words(check, effect)
    _check_distribution(check, effect)
    _check_support(check, effect, shape)
    check.kind("groups", effect.groups, Mapping, "must be effects by label")
    for label, group in effect.groups.items():
        inside = f"{where}groups[{brief(label, 40)}]."
        check_effect(group, inside)
        if tuple(len(values) for values in group.grid) != shape or len(group.outputs) != len(effect.outputs):
            raise InvalidEffect(f"`{inside}grid` and its outputs must be those of the whole")


class _Checks:
    """Checks of single fields, which raise with the field's name."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, name: str, expected: str, received: Any) -> None:
        raise InvalidEffect(f"`{self.where}{name}` {expected}, not {brief(received, 60)}")

    def kind(self, name: str, value: Any, kind: Any, expected: str) -> None:
        if not isinstance(value, kind):
            self.fail(name, expected, value)

    def array(
        self, name: str, value: Any, shape: Sequence[int | None], kinds: str = "", optional: bool = True
    ) -> None:
        """An array of this shape (None: of any length) and of these kinds of numbers (empty: of anything)."""
        if value is None and optional:
            return
        self.kind(name, value, np.ndarray, "must be an array")
        expected = tuple("any" if size is None else size for size in shape)
        if value.ndim != len(shape) or any(s not in (None, n) for s, n in zip(shape, value.shape)):
            self.fail(name, f"must be an array of shape {expected}".replace("'", ""), value.shape)
        if kinds and value.dtype.kind not in kinds:
            self.fail(name, "must hold numbers", value.dtype)

    def arrays(self, name: str, values: Any, shape: Sequence[int | None], kinds: str = "") -> None:
        """A mapping of arrays of one shape."""
        if values is None:
            return
        self.kind(name, values, Mapping, "must be arrays by name")
        for key, value in values.items():
            self.array(f"{name}[{brief(key, 40)}]", value, shape, kinds, optional=False)

    def items(self, name: str, values: Any, count: int | None = None) -> None:
        """A tuple, of this many items."""
        if not isinstance(values, tuple) or (count is not None and len(values) != count):
            self.fail(name, "must be a tuple" if count is None else f"must be a tuple of {count}", values)

    def number(self, name: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or math.isnan(value):
            self.fail(name, "must be a number", value)

    def count(self, name: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            self.fail(name, "must be a whole number", value)

    def flag(self, name: str, value: Any) -> None:
        self.kind(name, value, (bool, np.bool_), "must be True or False")

    def texts(self, names: Iterable[str], source: Any) -> None:
        for name in names:
            value = getattr(source, name)
            self.kind(name, value, str, "must be text")
            if name in CHOICES and value not in CHOICES[name]:
                self.fail(name, f"must be one of {', '.join(CHOICES[name])}", value)


def _check_axes(check: _Checks, effect: Effect) -> tuple[int, ...]:
    """The grid, the features and the outputs; returns the grid's shape."""
    check.items("features", effect.features)
    if not effect.features:
        check.fail("features", "must name at least one", effect.features)
    check.items("kinds", effect.kinds, len(effect.features))
    if not all(isinstance(kind, str) for kind in effect.kinds):
        check.fail("kinds", "must be texts", effect.kinds)
    check.items("grid", effect.grid, len(effect.features))
    for axis, values in enumerate(effect.grid):
        check.array(f"grid[{axis}]", values, (None,), optional=False)
    check.items("outputs", effect.outputs)
    if not effect.outputs:
        check.fail("outputs", "must name at least one", effect.outputs)
    return tuple(len(values) for values in effect.grid)


def _check_kept(check: _Checks, effect: Effect, shape: tuple[int, ...]) -> None:
    check.array("rows", effect.rows, (None,), "iu")
    rows = None if effect.rows is None else len(effect.rows)
    if effect.individual is not None and rows is None:
        check.fail("rows", "must say whose the individual curves are", None)
    check.array("individual", effect.individual, (len(effect.outputs), rows, *shape), NUMBERS)
    check.arrays("row_values", effect.row_values, (rows,))
    check.array("row_weights", effect.row_weights, (rows,), NUMBERS)
    check.array("row_clusters", effect.row_clusters, (rows,), "iu")


def _check_curves(check: _Checks, effect: Effect, shape: tuple[int, ...]) -> None:
    whole = (len(effect.outputs), *shape)
    check.array("average", effect.average, whole, NUMBERS, optional=False)
    for name in ("std", "centered_std", "se"):
        check.array(name, getattr(effect, name), whole, NUMBERS)
    check.arrays("quantiles", effect.quantiles, whole, NUMBERS)
    for probability in effect.quantiles or ():
        check.number("quantiles", probability)
    check.array("weight", effect.weight, shape, NUMBERS)
    for name in ("baseline", "output_std", "unit"):
        check.array(name, getattr(effect, name), (len(effect.outputs),), NUMBERS)


def _check_interval(check: _Checks, effect: Effect, shape: tuple[int, ...]) -> None:
    interval = effect.interval
    if interval is None:
        return
    check.kind("interval", interval, LearnerInterval, "must be intervals of a learner")
    for name in ("low", "high", "band_low", "band_high", "std_error"):
        check.array(f"interval.{name}", getattr(interval, name), (len(effect.outputs), *shape), NUMBERS, optional=False)  # fmt: skip
    check.array("interval.curves", interval.curves, (len(effect.outputs), None, *shape), NUMBERS, optional=False)  # fmt: skip
    check.number("interval.level", interval.level)
    check.count("interval.n_rows", interval.n_rows)
    check.flag("interval.logit", interval.logit)
    if interval.about not in ("mean", "full"):
        check.fail("interval.about", "must be one of mean, full", interval.about)


def _check_words(check: _Checks, effect: Effect) -> None:
    check.texts(
        ("kind", "view", "scale", "scale_label", "engine", "why", "background", "over", "library"), effect
    )
    check.count("n_rows", effect.n_rows)
    check.count("sampled_from", effect.sampled_from)
    check.flag("steps", effect.steps)
    check.flag("positive", effect.positive)
    check.kind("by", effect.by, (str, int, tuple, type(None)), "must be a name")
    if effect.others is not None:
        check.items("others", effect.others)
    _check_naming(check, effect.naming)


def _check_naming(check: _Checks, naming: Any) -> None:
    check.kind("naming", naming, Naming, "must be names")
    for name in ("names", "units", "levels", "zones"):
        texts = getattr(naming, name)
        check.kind(f"naming.{name}", texts, Mapping, "must be texts by column")
        for part in texts.values() if name == "levels" else [texts]:
            if not isinstance(part, Mapping) or not all(isinstance(text, str) for text in part.values()):
                check.fail(f"naming.{name}", "must be texts by column", part)
    check.kind("naming.target", naming.target, (str, type(None)), "must be text")
    check.kind("naming.target_unit", naming.target_unit, str, "must be text")


# --- what pictures need of the data ------------------------------------------------------------------


def _check_distribution(check: _Checks, effect: Effect) -> None:
    distribution = effect.distribution
    if distribution is None:
        return
    check.kind("distribution", distribution, Distribution, "must say where the data is")
    check.items("distribution.marginals", distribution.marginals, len(effect.features))
    for axis, marginal in enumerate(distribution.marginals):
        _check_marginal(check, f"distribution.marginals[{axis}]", marginal)
    if distribution.joint is not None:
        _check_joint(check, "distribution.joint", distribution.joint)


def _check_marginal(check: _Checks, name: str, marginal: Any) -> None:
    check.kind(name, marginal, Marginal, "must be the distribution of a feature")
    check.kind(f"{name}.kind", marginal.kind, str, "must be text")
    check.number(f"{name}.total", marginal.total)
    check.number(f"{name}.missing", marginal.missing)
    check.array(f"{name}.counts", marginal.counts, (None,), NUMBERS, optional=False)
    check.array(f"{name}.edges", marginal.edges, (len(marginal.counts) + 1,))
    check.array(f"{name}.levels", marginal.levels, (len(marginal.counts),))
    check.array(f"{name}.deciles", marginal.deciles, (11,))
    check.array(f"{name}.rug", marginal.rug, (None,))


def _check_joint(check: _Checks, name: str, joint: Any) -> None:
    check.kind(name, joint, Joint, "must be the distribution of two features")
    for part in ("features", "edges", "ordered", "sample"):
        check.items(f"{name}.{part}", getattr(joint, part), 2)
    check.array(f"{name}.counts", joint.counts, (None, None), NUMBERS, optional=False)
    for axis in (0, 1):
        check.flag(f"{name}.ordered[{axis}]", joint.ordered[axis])
        edges = joint.counts.shape[axis] + int(joint.ordered[axis])
        check.array(f"{name}.edges[{axis}]", joint.edges[axis], (edges,), optional=False)
        check.array(f"{name}.sample[{axis}]", joint.sample[axis], (None,), optional=False)
    check.array(f"{name}.sample[1]", joint.sample[1], joint.sample[0].shape)


def _check_support(check: _Checks, effect: Effect, shape: tuple[int, ...]) -> None:
    support = effect.support
    if support is None:
        return
    from icefield.effect.data_support import Support

    check.kind("support", support, Support, "must say how much data is behind each point")
    check.array("support.share", support.share, shape, NUMBERS, optional=False)
    check.array("support.low", support.low, shape, "b", optional=False)
    check.array("support.disagreement", support.disagreement, (len(effect.outputs),), NUMBERS)
    check.number("support.outside", support.outside)
    check.number("support.correlation", support.correlation)
    check.items("support.related", support.related)
    check.items("support.rows", support.rows, 2)
    for name in ("details", "thresholds"):
        check.kind(f"support.{name}", getattr(support, name), Mapping, "must be numbers by name")
