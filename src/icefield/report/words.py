"""The report's plain words: what each feature does to the prediction, for a reader without the vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.plots.text import value_text
from icefield.printing import range_texts
from icefield.report.plain import label
from icefield.statistics.reading import Reading
from icefield.statistics.support import Support

STRENGTHS = ((0.5, "strong"), (0.2, "moderate"), (0.07, "slight"))


def strength_word(strength: float) -> str:
    """How strong an effect is, from its standard deviation relative to the predictions'.

    Examples
    --------
    >>> [strength_word(s) for s in (0.9, 0.3, 0.1, 0.01)]
    ['strong', 'moderate', 'slight', 'hardly any']
    """
    return next((word for least, word in STRENGTHS if strength >= least), "hardly any")


def plain_words(reading: Reading, partner: Any, what: str) -> str:
    """One feature's effect as a sentence that starts after its name: "raises the prediction from ...".

    `what` is the name of the predicted quantity.
    """
    low, high = range_texts(reading.low, reading.high)
    text = {
        "flat": f"hardly changes the average {what}",
        "levels": f"gives the highest average {what} at {_at(reading.high_at)} ({high}), "
        f"the lowest at {_at(reading.low_at)} ({low})",
        "U-shaped": f"gives the lowest average {what} ({low}) near {_at(_turn(reading, reading.low_at))} "
        f"and more on both sides, up to {high}",
        "inverted U": f"gives the highest average {what} ({high}) near {_at(_turn(reading, reading.high_at))} "
        f"and less on both sides, down to {low}",
        "non-monotone": f"moves the average {what} up and down between {low} (at {_at(reading.low_at)}) "
        f"and {high} (at {_at(reading.high_at)})",
    }.get(reading.shape)
    if reading.shape == "levels" and reading.direction != "none":
        text = f"gives a higher average {what} at {_at(reading.high_at)} ({high}) than at {_at(reading.low_at)} ({low})"
    if text is None:
        rises = reading.direction != "decreasing"
        start, end = (low, high) if rises else (high, low)
        verb = "raises" if rises else "lowers"
        how = {"linear": "evenly, ", "threshold": "in one step, "}.get(reading.shape, "")
        text = f"{verb} the average {what} as it grows, {how}from {start} to {end}"
        if reading.shape == "threshold" and reading.changes_at:
            text += f" at {_at(reading.changes_at[0])}"
        elif reading.shape == "monotone" and len(reading.changes_at) == 2:
            text += f", mostly between {_at(reading.changes_at[0])} and {_at(reading.changes_at[1])}"
    if reading.hidden:
        text += ", but individual rows do respond, in ways that cancel out"
    elif reading.heterogeneous:
        text += "; rows differ in how they respond"
    if partner is not None and (reading.hidden or reading.heterogeneous):
        text += f", depending on {label(partner)}"
    return text + "."


def cautions(reading: Reading, support: Support | None) -> str:
    """What to keep in mind about a feature, without terms; a sentence's middle, without its end."""
    parts = []
    if reading.hidden:
        flat = "hardly moves" if reading.shape != "flat" else "does not move"
        parts.append(f"the average {flat}, but individual rows do")
    if support is not None and support.doubtful and (reading.shape != "flat" or reading.hidden):
        text = f"{100 * support.outside:.0f} % of the curve is asked of rows unlike any in the data"
        if support.related:
            text += f" (it goes with {', '.join(label(name, 40) for name, _ in support.related[:2])})"
        apart = support.disagreement
        if apart is not None and np.nanmax(apart) > support.thresholds["disagreement"]:
            text += "; the dashed curve (ALE), which stays near the data, tells another story: trust that one"
        else:
            text += "; compare it with the dashed curve (ALE), which stays near the data"
        parts.append(text)
    return "; ".join(parts)


def _turn(reading: Reading, otherwise: Any) -> Any:
    return reading.changes_at[0] if reading.changes_at else otherwise


def _at(value: Any) -> str:
    return value_text(value)


def seconds_text(seconds: float) -> str:
    """A duration in little room.

    Examples
    --------
    >>> seconds_text(0.034), seconds_text(4.2), seconds_text(75)
    ('34 ms', '4.2 s', '1 min 15 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
