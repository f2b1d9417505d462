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
    """One feature's statistics; all but `ratio` and `average` in SD of the predictions.

    `known` is the strength without the missing point, `jump` how far that stands above the mean of the others, `line`
    whether the shape is a straight one, `values` and `average` the curve where the feature is known.
    """

    strength: float
    differ: float
    flat_limit: float
    shapes: frozenset[str] | None
    ratio: float
    known: float
    jump: float | None
    line: bool | None
    values: Any
    average: Any

    @property
    def movement(self) -> float:
        return float(np.hypot(self.strength, self.differ))


def predicted(model: Any, frame: pd.DataFrame) -> Any:
    """Predictions, or the probability of the second class."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(frame))[:, 1]
    return np.asarray(model.predict(frame), dtype=float)


def own_facts(case: Case, pairs: bool = True) -> dict[str, Fact]:
    """What is true of the model on these rows, feature by feature; support is a matter of data and left open."""
    found = {name: numbers(case, name) for name in case.X}
    known = pair_strengths(case, found) if pairs else {}
    return {name: fact_of(name, one, known if pairs else None, list(found)) for name, one in found.items()}


def numbers(case: Case, name: str, unit: float | None = None, observations: int | None = None) -> Numbers:
    """Strength, differences of curves and shape of one feature; a missing value is a point, but not of the shape.

    `unit` is the SD of the predictions unless given, `observations` the number of rows.
    """
    X, weights = case.X, shares(case)
    unit = unit or _unit(case)
    column = X[name]
    present = column.notna().to_numpy()
    known = column[present]
    words = not pd.api.types.is_numeric_dtype(column) or column.dtype == bool
    values = np.array(sorted(known.unique()), dtype=object) if words else np.unique(known.to_numpy())
    if not words and len(values) > POINTS:
        values = np.unique(np.quantile(known.to_numpy(float), np.linspace(0, 1, POINTS)))
    mass = _mass(known, values, weights[present], words)
    at = list(values) if present.all() else [*values, np.nan]
    all_mass = mass if present.all() else np.append(mass, weights[~present].sum())
    own = np.column_stack([predicted(case.model, X.assign(**{name: _filled(column, v)})) for v in at])
    average = weights @ own
    strength = deviation(average, all_mass) / unit
    centred = own - (own @ all_mass)[:, None]
    apart = centred - weights @ centred
    differ = float(np.sqrt(weights @ (np.square(apart) @ all_mass))) / unit
    jump = None
    if not present.all():
        jump = float(average[-1] - average[:-1] @ mass / mass.sum()) / unit
        average = average[:-1]
    of_known = deviation(average, mass / mass.sum()) / unit
    limit = max(FLAT, 2.5 * differ / np.sqrt(observations or len(X)))
    low, high = float(average.min()), float(average.max())
    chances = own.min() >= 0 and own.max() <= 1  # averages between 0 and 1 alone may be of any number
    skewed = chances and float(weights @ own @ all_mass) < SKEWED and low > 0 and high - low > 1e-9
    ratio = high / low if skewed else 1.0
    shapes: frozenset[str] | None
    line = None
    if of_known < 0.5 * FLAT and ratio < 1.15:
        shapes = frozenset({"flat"})
    elif of_known < CLEARLY * limit and ratio < 2.0:
        shapes = None
    elif words or len(values) < 3:
        shapes = _two(average) if len(values) == 2 and not words else frozenset({"levels"})
    else:
        shapes = _shape(values.astype(float), average, mass)
        line = _straight(values.astype(float), average, mass)
        if shapes == {"other"} and of_known < 2 * CLEARLY * limit:
            shapes = None
    return Numbers(strength, differ, limit, shapes, ratio, of_known, jump, line, values, average)


def pair_strengths(case: Case, found: dict[str, Numbers]) -> dict[frozenset[str], float]:
    """Root mean square of F_jk - F_j - F_k at the rows' own values, in SD of the predictions.

    Curves of a feature without interactions are parallel, so pairs of such features are left out.
    """
    rng = np.random.default_rng(0)
    weights = shares(case)
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


def fact_of(name: str, one: Numbers, known: dict[frozenset[str], float] | None, names: list[str]) -> Fact:
    """What one feature's numbers and its pairs' strengths clearly say."""
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


def shares(case: Case) -> Any:
    weights = np.ones(len(case.X)) if case.weights is None else np.asarray(case.weights, dtype=float)
    return weights / weights.sum()


def _unit(case: Case) -> float:
    value = predicted(case.model, case.X)
    return deviation(value, shares(case)) or 1.0


def deviation(values: Any, share: Any) -> float:
    return float(np.sqrt(max(share @ np.square(values - share @ values), 0.0)))


def _filled(column: pd.Series, value: Any) -> pd.Series:
    kind = column.dtype if pd.isna(value) else None  # a missing level stays one of the column's kind
    return pd.Series([value] * len(column), index=column.index, dtype=kind)


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


def _read(x: Any, y: Any, mass: Any) -> tuple[Any, Any, Any] | None:
    """The middle nine tenths of the data; None where most happens in the tails."""
    below = np.cumsum(mass) - mass / 2
    below = below / mass.sum()
    inside = (below >= 0.04) & (below <= 0.96)
    if inside.sum() < 3:
        return x, y, mass
    return (x[inside], y[inside], mass[inside]) if np.ptp(y[inside]) > 0.3 * np.ptp(y) else None


def _straight(x: Any, y: Any, mass: Any) -> bool | None:
    """Whether a line says it all, where that is clear."""
    read = _read(x, y, mass)
    if read is None:
        return None
    x, y, mass = read
    share = np.sqrt(0.5 * mass / mass.sum() + 0.5 / len(mass))
    place = (x - x.mean()) / (x.std() or 1.0)
    left = [
        float(np.square(share * (y - np.polyval(np.polyfit(place, y, degree, w=share), place))).sum())
        for degree in (0, 1, min(3, len(x) - 1))
    ]
    by_line, more = 1 - left[1] / left[0], (left[1] - left[2]) / left[0]
    if by_line >= 0.95 and more <= 0.01:
        return True
    return False if by_line < 0.8 or more > 0.06 else None


def _shape(x: Any, y: Any, mass: Any) -> frozenset[str] | None:
    """The shape within the middle nine tenths of the data, where it is clear."""
    read = _read(x, y, mass)
    if read is None:
        return None
    x, y, mass = read
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
