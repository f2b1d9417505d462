"""Readings and support in words, for two readers.

Analysts get terms and the numbers each statement rests on (`reading_sentence`, `shape_words`,
`support_warning`, `summary_warning`); readers of the report get the same findings without the vocabulary
(`plain_words`, `plain_cautions`, `strength_word`). Nothing is judged here: a `Reading` and a `Support` say
themselves whether they are flat, opposed or doubtful.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from icefield.wording.names import page_name
from icefield.wording.values import printed_value, range_texts, shown_value

if TYPE_CHECKING:
    from icefield.statistics.reading import Reading, Tail
    from icefield.statistics.support import Support

DIGITS = 4  # of a place on the axis: curves are known at grid points only
RELATED = 2  # columns named that go with the moved one
NOT_JUST_FLAT = 0.05  # share of the largest spread from which on a flat average needs an explanation
NAMED = 2  # features named that a feature interacts with
UNKNOWN_DIFFERENCES = "whether rows differ, nobody can tell without individual curves"
STRENGTHS = ((0.5, "strong"), (0.2, "moderate"), (0.07, "slight"))


# --- for analysts ------------------------------------------------------------------------------------


def reading_sentence(reading: Reading) -> str:
    """One reading as one or two sentences."""
    parts = [_main(reading)]
    if reading.missing_jump is not None and reading.missing_apart:
        side = "above" if reading.missing_jump > 0 else "below"
        parts.append(f"missing values stand {abs(reading.missing_jump):.2g} SD {side} the rest")
    parts += [_tail(tail, lambda value: printed_value(value, DIGITS)) for tail in reading.tails]
    parts += _curves(reading)
    doubt = borderline_words(reading)
    return "; ".join([*parts, doubt] if doubt else parts) + "."


def borderline_words(reading: Reading) -> str:
    """What other rows could have it say, empty where nothing lies within its sampling error of a threshold."""
    others = []
    for statement in ("shape", "hidden", "differ", "interacts"):
        seen = reading.borderline.get(statement, ())
        if seen:
            others.append(("interacts with " if statement == "interacts" else "") + " or ".join(seen))
    return f"borderline, other rows might give: {', '.join(dict.fromkeys(others))}" if others else ""


def _tail(tail: Tail, text: Callable[[Any], str]) -> str:
    moves = "rises" if tail.change > 0 else "falls"
    return f"{tail.side} {text(tail.at)} ({_percent(tail.share)} of the data) it {moves} by {abs(tail.change):.2g} SD"


def _percent(share: float) -> str:
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def shape_words(reading: Reading) -> str:
    """Shape and direction in a few words, for tables."""
    words = _settled_words(reading)
    for tail in reading.tails if not reading.hidden else ():
        words += f", {'rising' if tail.change > 0 else 'falling'} {tail.side} {printed_value(tail.at, DIGITS)}"
    others = [*reading.borderline.get("shape", ()), *reading.borderline.get("hidden", ())]
    return f"{words} (borderline: or {', '.join(others)})" if others else words


def _settled_words(reading: Reading) -> str:
    if reading.hidden:
        return f"{_flat_or_nearly(reading)} average, curves differ"
    if reading.one_directional:
        return f"{reading.shape}, {reading.direction}"
    if reading.shape == "levels":
        if reading.direction != "none":
            return f"two values, {reading.direction}"
        return f"levels, highest {printed_value(reading.high_at, DIGITS)}"
    return reading.shape


def importance_words(reading: Reading, share: float) -> str:
    """The shape beside a measure that counts every grid point alike; `share` is that measure's, of its largest.

    An average can be flat over the data and yet move where few rows are: it is never called just flat beside a
    large number.
    """
    words = shape_words(reading)
    if reading.flat and share >= NOT_JUST_FLAT:
        return words.replace("flat", "flat where the data is", 1)
    return words


def support_warning(support: Support) -> str:
    """What to keep in mind about an effect, empty when the data supports it."""
    if not support.doubtful:
        return ""
    text = f"{100 * support.outside:.0f} % of the moved rows lie outside the data"
    if support.related:
        text += f" (it goes with {', '.join(str(name) for name, _ in support.related[:RELATED])})"
    return text + ("; PD and ALE disagree: trust ALE" if support.disagrees else "; compare with ALE")


def summary_warning(reading: Reading, support: Support | None) -> str:
    """What to keep in mind about a feature before anything else, empty when there is nothing."""
    parts = []
    if reading.hidden:
        parts.append(f"the average is {_flat_or_nearly(reading)}, the individual curves are not")
    if support is not None and support.doubtful and reading.responds:
        parts.append(support_warning(support))
    return "; ".join(parts)


def _flat_or_nearly(reading: Reading) -> str:
    return "flat" if reading.flat else "nearly flat"


def _main(reading: Reading) -> str:
    name = " x ".join(str(f) for f in reading.features)
    low, high = range_texts(reading.low, reading.high)
    size = f"strength {reading.strength:.2g} SD of the predictions, {low} to {high}"
    if reading.flat:
        return (
            f"{name}: flat on average{_range_read(reading)} "
            f"(strength {reading.strength:.2g} SD of the predictions, under {reading.flat_limit:.2g})"
        )
    if reading.shape == "levels":
        highest, lowest = (printed_value(v, DIGITS) for v in (reading.high_at, reading.low_at))
        return f"{name}: highest at {highest}, lowest at {lowest} ({size})"
    if reading.interaction is not None:
        return f"{name}: {reading.shape}, {100 * reading.interaction:.0f} % of the surface is interaction ({size})"
    words = f"{reading.direction}, {reading.shape}" if reading.one_directional else reading.shape
    return f"{name}: {words}{_range_read(reading)}{_where(reading)} ({size})"


def _range_read(reading: Reading) -> str:
    """Between which values, as part of a clause."""
    if reading.read_from is None or reading.read_from == reading.read_to:
        return ""
    ends = (printed_value(v, DIGITS) for v in (reading.read_from, reading.read_to))
    return f" from {' to '.join(ends)}"


def _where(reading: Reading) -> str:
    """Where a curve changes, as the end of a clause."""
    places = [printed_value(v, DIGITS) for v in reading.changes_at]
    if reading.shape == "threshold":
        return f", a step at {places[0]}"
    if reading.turns and places:
        return f", turning at {places[0]}"
    return f", half of the change between {places[0]} and {places[1]}" if len(places) == 2 else ""


def _curves(reading: Reading) -> list[str]:
    if reading.interaction is not None:
        return []
    if not reading.differences_known and not reading.curves_differ:
        return [UNKNOWN_DIFFERENCES] if reading.rows_could_differ else []
    amount = f"{reading.heterogeneity or 0.0:.2g} SD"
    least = "" if reading.heterogeneity_exact else "at least "
    if reading.hidden:
        crossing = "crossing curves" if reading.opposed else "moving curves"
        return [
            f"{_flat_or_nearly(reading)} average, {crossing} (they differ by {least}{amount}): {_look(reading)}"
        ]
    if reading.heterogeneous:
        return [f"individual curves differ by {least}{amount}: {_look(reading)}"]
    return [_look(reading)] if reading.interacts else []


def _look(reading: Reading) -> str:
    if reading.interacts:
        named = [f"{name} ({size:.2g} SD)" for name, size in reading.interacts[:NAMED]]
        return f"it interacts with {' and '.join(named)}"
    if reading.interacts is not None:
        return "no single feature accounts for it, look at regions(...)"
    if reading.told_apart_by is not None:
        name, share = reading.told_apart_by
        return f"look for an interaction with {name} ({100 * share:.0f} % of the differences)"
    where = "summary()" if reading.heterogeneity_exact else "ice(...)"
    return f"look for an interaction, with Explainer.{where}"


# --- for plain readers -------------------------------------------------------------------------------


def strength_word(strength: float) -> str:
    """How strong an effect is, from its standard deviation relative to the predictions'.

    Examples
    --------
    >>> [strength_word(s) for s in (0.9, 0.3, 0.1, 0.01)]
    ['strong', 'moderate', 'slight', 'hardly any']
    """
    return next((word for least, word in STRENGTHS if strength >= least), "hardly any")


def plain_words(reading: Reading, what: str) -> str:
    """One feature's effect as a sentence that starts after its name: "raises the prediction from ...".

    `what` is the name of the predicted quantity.
    """
    text = _plain_trend(reading, what) if reading.one_directional else _plain_shape(reading, what)
    for tail in reading.tails:
        text += f"; {_tail(tail, shown_value)}"
    partner = page_name(reading.interacts[0][0]) if reading.interacts else None
    if reading.hidden:
        text += ", but individual rows do respond, in ways that cancel out"
        text += "" if partner is None else f", depending on {partner}"
    elif reading.heterogeneous:
        text += "; rows differ in how they respond"
        text += "" if partner is None else f", depending on {partner}"
    elif partner is not None:
        text += f"; how much depends on {partner}"
    doubt = reading.borderline.get("shape") or reading.borderline.get("hidden")
    return text + (" (a borderline case)." if doubt else ".")


def _plain_shape(reading: Reading, what: str) -> str:
    """An average without a direction: flat, of levels, turning or wandering."""
    low, high = range_texts(reading.low, reading.high)
    low_at, high_at = shown_value(reading.low_at), shown_value(reading.high_at)
    turn = shown_value(reading.changes_at[0]) if reading.changes_at else None
    if reading.flat:
        return f"hardly changes the average {what}"
    if reading.shape == "levels" and reading.direction != "none":
        return f"gives a higher average {what} at {high_at} ({high}) than at {low_at} ({low})"
    if reading.shape == "levels":
        return f"gives the highest average {what} at {high_at} ({high}), the lowest at {low_at} ({low})"
    if reading.shape == "U-shaped":
        return f"gives the lowest average {what} ({low}) near {turn or low_at} and more on both sides, up to {high}"
    if reading.shape == "inverted U":
        return f"gives the highest average {what} ({high}) near {turn or high_at} and less on both sides, down to {low}"
    return f"moves the average {what} up and down between {low} (at {low_at}) and {high} (at {high_at})"


def _plain_trend(reading: Reading, what: str) -> str:
    """An average that runs one way, and where it does."""
    low, high = range_texts(reading.low, reading.high)
    places = [shown_value(v) for v in reading.changes_at]
    rises = reading.direction != "decreasing"
    start, end = (low, high) if rises else (high, low)
    verb = "raises" if rises else "lowers"
    how = {"linear": "evenly, ", "threshold": "in one step, "}.get(reading.shape, "")
    text = f"{verb} the average {what} as it grows, {how}from {start} to {end}"
    if reading.shape == "threshold" and places:
        text += f" at {places[0]}"
    elif reading.shape == "monotone" and len(places) == 2:
        text += f", mostly between {places[0]} and {places[1]}"
    return text


def plain_cautions(reading: Reading, support: Support | None) -> str:
    """What to keep in mind about a feature, without terms; a sentence's middle, without its end."""
    parts = []
    if reading.hidden:
        moves = "does not move" if reading.flat else "hardly moves"
        parts.append(f"the average {moves}, but individual rows do")
    if support is not None and support.doubtful and reading.responds:
        text = f"{100 * support.outside:.0f} % of the curve is asked of rows unlike any in the data"
        if support.related:
            text += (
                f" (it goes with {', '.join(page_name(name, 40) for name, _ in support.related[:RELATED])})"
            )
        if support.disagrees:
            text += "; the dashed curve (ALE), which stays near the data, tells another story: trust that one"
        else:
            text += "; compare it with the dashed curve (ALE), which stays near the data"
        parts.append(text)
    return "; ".join(parts)
