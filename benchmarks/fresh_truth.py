"""What is true of a model on its rows, by brute force from the definitions, without any of the library's code.

Every statistic is computed as its definition reads: replace a column, predict, average. A truth is stated only where the
number lies clearly on one side of the documented threshold; what lies between is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.fresh import Case, Fact

FLAT, HETEROGENEOUS, EVIDENT, INTERACTION = 0.07, 0.15, 0.30, 0.15  # as documented, in SD of the predictions
CLEARLY = 1.5  # a number is clearly above a threshold from so many times it on, and below from its half on
POINTS = 31
PAIR_ROWS = 120
SKEWED = 0.05  # mean probability below which ratios count, too


@dataclass(frozen=True, eq=False)
class Numbers:
    """One feature's statistics; all but `ratio` in SD of the predictions."""

    strength: float
    differ: float
    flat_limit: float
    shapes: frozenset[str] | None
    ratio: float


def predicted(model: Any, frame: pd.DataFrame) -> Any:
    """Predictions, or the probability of the second class."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(frame))[:, 1]
    return np.asarray(model.predict(frame), dtype=float)


def own_facts(case: Case, pairs: bool = True) -> dict[str, Fact]:
    """What is true of the model on these rows, feature by feature; support is a matter of data and left open."""
    found = {name: numbers(case, name) for name in case.X}
    known = pair_strengths(case, found) if pairs else {}
    return {name: _fact(name, one, known if pairs else None, list(found)) for name, one in found.items()}


def numbers(case: Case, name: str) -> Numbers:
    """Strength, differences of curves and shape of one feature."""
    X, weights = case.X, _shares(case)
    unit = _unit(case)
    column = X[name]
    words = not pd.api.types.is_numeric_dtype(column) or column.dtype == bool
    values = np.array(sorted(column.unique()), dtype=object) if words else np.unique(column.to_numpy())
    if len(values) > POINTS:
        values = np.unique(np.quantile(column.to_numpy(float), np.linspace(0, 1, POINTS)))
    own = np.column_stack([predicted(case.model, X.assign(**{name: _filled(column, v)})) for v in values])
    mass = _mass(column, values, weights, words)
    average = weights @ own
    strength = _deviation(average, mass) / unit
    centred = own - (own @ mass)[:, None]
    apart = centred - weights @ centred
    differ = float(np.sqrt(weights @ (np.square(apart) @ mass))) / unit
    limit = max(FLAT, 2.5 * differ / np.sqrt(len(X)))
    low, high = float(average.min()), float(average.max())
    ratio = high / low if 0 <= low < high <= 1 and low > 0 and float(weights @ own @ mass) < SKEWED else 1.0
    shapes: frozenset[str] | None
    if strength < 0.5 * FLAT and ratio < 1.15:
        shapes = frozenset({"flat"})
    elif strength < CLEARLY * limit and ratio < 2.0:
        shapes = None
    elif words or len(values) < 3:
        shapes = _two(average) if len(values) == 2 and not words else frozenset({"levels"})
    else:
        shapes = _shape(values.astype(float), average, mass)
        if shapes == {"other"} and strength < 2 * CLEARLY * limit:
            shapes = None
    return Numbers(strength, differ, limit, shapes, ratio)


def pair_strengths(case: Case, found: dict[str, Numbers]) -> dict[frozenset[str], float]:
    """Root mean square of F_jk - F_j - F_k at the rows' own values, in SD of the predictions.

    Curves of a feature without interactions are parallel, so pairs of such features are left out.
    """
    rng = np.random.default_rng(0)
    weights = _shares(case)
    chosen = rng.choice(len(case.X), min(PAIR_ROWS, len(case.X)), replace=False, p=weights)
    X, unit = case.X.iloc[chosen].reset_index(drop=True), _unit(case)
    differing = [name for name, one in found.items() if one.differ >= 0.08]
    single = {name: _at_rows(case.model, X, [name]) for name in differing}
    strengths = {}
    for i, a in enumerate(differing):
        for b in differing[i + 1 :]:
            both = _at_rows(case.model, X, [a, b])
            strengths[frozenset((a, b))] = float(np.sqrt(np.mean((both - single[a] - single[b]) ** 2))) / unit
    return strengths


def _at_rows(model: Any, X: pd.DataFrame, names: list[str]) -> Any:
    """The partial dependence at every row's own values, centred."""
    rows = len(X)
    everyone = X.loc[np.tile(np.arange(rows), rows)].reset_index(drop=True)
    for name in names:
        everyone[name] = np.repeat(X[name].to_numpy(), rows)
    value = predicted(model, everyone).reshape(rows, rows).mean(axis=1)
    return value - value.mean()


def _fact(name: str, one: Numbers, known: dict[frozenset[str], float] | None, names: list[str]) -> Fact:
    flat = one.shapes == {"flat"}
    moves = one.shapes is not None and not flat
    hidden: bool | None = None
    clearly_small = one.strength < 0.5 * FLAT or one.strength < 0.08 * one.differ
    if clearly_small and one.differ > CLEARLY * EVIDENT:
        hidden = True
    elif one.differ < 0.65 * HETEROGENEOUS or (moves and one.strength > 0.3 * one.differ):
        hidden = False
    matters: bool | None = True if moves or hidden else None
    if flat and one.differ < 0.65 * HETEROGENEOUS:
        matters = False
    splits: frozenset[str] | None = frozenset() if one.differ < 0.65 * HETEROGENEOUS else None
    if known is None:
        return Fact(one.shapes, matters, hidden, splits=splits)
    others = {n: known.get(frozenset((name, n)), 0.0) for n in names if n != name}
    strongest = max(others.values(), default=0.0)
    allowed = frozenset(n for n, size in others.items() if size >= 0.6 * INTERACTION)
    partners: frozenset[str] | None = None
    if strongest < 0.6 * INTERACTION:
        partners = frozenset()
    elif strongest > CLEARLY * INTERACTION:
        partners = frozenset(n for n, size in others.items() if size >= 0.75 * strongest)
    return Fact(one.shapes, matters, hidden, partners, allowed, None, splits)


# --- parts -----------------------------------------------------------------------------------------


def _shares(case: Case) -> Any:
    weights = np.ones(len(case.X)) if case.weights is None else np.asarray(case.weights, dtype=float)
    return weights / weights.sum()


def _unit(case: Case) -> float:
    value = predicted(case.model, case.X)
    return _deviation(value, _shares(case)) or 1.0


def _deviation(values: Any, shares: Any) -> float:
    return float(np.sqrt(max(shares @ np.square(values - shares @ values), 0.0)))


def _filled(column: pd.Series, value: Any) -> pd.Series:
    return pd.Series([value] * len(column), index=column.index)


def _mass(column: pd.Series, values: Any, weights: Any, words: bool) -> Any:
    """The share of the data at, or nearest to, each value."""
    if words:
        place = pd.Index(values).get_indexer(column)
    else:
        middle = (values[1:].astype(float) + values[:-1].astype(float)) / 2
        place = np.searchsorted(middle, column.to_numpy(float))
    return np.bincount(place, weights, minlength=len(values))


def _two(average: Any) -> frozenset[str]:
    return frozenset({"two up" if average[1] > average[0] else "two down"})


def _shape(x: Any, y: Any, mass: Any) -> frozenset[str] | None:
    """The shape within the middle nine tenths of the data, where it is clear."""
    below = np.cumsum(mass) - mass / 2
    inside = (below >= 0.04) & (below <= 0.96)
    if inside.sum() >= 3 and np.ptp(y[inside]) > 0.3 * np.ptp(y):
        x, y, mass = x[inside], y[inside], mass[inside]
    elif inside.sum() >= 3:
        return None  # most of it happens in the tails
    share = 0.5 * mass / mass.sum() + 0.5 / len(mass)
    extent = float(np.ptp(y))
    rise, fall = _rise(y) / extent, _rise(-y) / extent
    back = min(rise, fall)
    up = rise >= fall
    if back <= 0.07:
        line, step = _by_line(x, y, share), _by_step(y, share)
        run, jump = ("increasing", "threshold up") if up else ("decreasing", "threshold down")
        if step >= 0.95 and line < step - 0.05:
            return frozenset({jump})
        return frozenset({run}) if step <= 0.83 or line > step + 0.05 else frozenset({run, jump})
    if back < 0.33:
        return None
    against = {}
    for name, curve in (("U", y), ("inverted U", -y)):
        at = int(curve.argmin())
        left, right = curve[: at + 1], curve[at:]
        arms = (min(left.max(), right.max()) - curve[at]) / extent
        against[name] = max(_rise(left), _rise(-right)) / extent
        if arms >= 0.3 and against[name] <= 0.07:
            return frozenset({name})
    return frozenset({"other"}) if min(against.values()) >= 0.25 else None


def _rise(y: Any) -> float:
    return float((y - np.minimum.accumulate(y)).max())


def _by_line(x: Any, y: Any, share: Any) -> float:
    dx, dy = x - share @ x, y - share @ y
    return float((share @ (dx * dy)) ** 2 / ((share @ dx**2) * (share @ dy**2)))


def _by_step(y: Any, share: Any) -> float:
    total = float(share @ np.square(y - share @ y))
    best = 0.0
    for cut in range(1, len(y)):
        left, right = share[:cut].sum(), share[cut:].sum()
        gap = share[:cut] @ y[:cut] / left - share[cut:] @ y[cut:] / right
        best = max(best, left * right * gap**2)
    return best / total
