"""Readings and support in words, for two readers.

Analysts get terms and the numbers each statement rests on (`reading_sentence`, `shape_words`,
`support_warning`, `summary_warning`); readers of the report get the same findings without the vocabulary
(`plain_words`, `plain_cautions`, `strength_word`). Nothing is judged here: a `Reading` and a `Support` say
themselves whether they are flat, opposed or doubtful.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from icefield.data.naming import HHMM, PLAIN, TIME_OF_DAY, Naming
from icefield.wording.names import name_text, page_name, told_apart
from icefield.wording.values import (
    LEVEL_LIMIT,
    named_range,
    named_value,
    place_text,
    printed_value,
    sd_text,
    shown_value,
)

if TYPE_CHECKING:
    from icefield.statistics.reading import Reading, Tail
    from icefield.statistics.support import Support

DIGITS = 4  # of a place on the axis: curves are known at grid points only
RELATED = 2  # columns named that go with the moved one
NOT_JUST_FLAT = 0.05  # share of the largest spread from which on a flat average needs an explanation
NAMED = 2  # features named that a feature interacts with
UNKNOWN_DIFFERENCES = "whether rows differ: cannot tell without individual curves"
STRENGTHS = ((0.5, "strong"), (0.2, "moderate"), (0.07, "slight"))


# --- for analysts ------------------------------------------------------------------------------------


def reading_sentence(reading: Reading) -> str:
    """One reading as one or two sentences."""
    parts = [_main(reading)]
    if reading.missing_jump is not None and reading.missing_apart:
        side = "above" if reading.missing_jump > 0 else "below"
        parts.append(f"missing values stand {sd_text(abs(reading.missing_jump))} SD {side} the rest")
    parts += [_tail(tail, lambda value: _place(reading, value)) for tail in reading.tails]
    parts += _curves(reading)
    doubt = borderline_words(reading)
    return "; ".join([*parts, doubt] if doubt else parts) + "."


def borderline_words(reading: Reading) -> str:
    """What other rows could have it say, empty where nothing lies within its sampling error of a threshold."""
    others = []
    for statement in ("shape", "hidden", "differ", "interacts"):
        seen = reading.borderline.get(statement, ())
        if seen and statement == "interacts":
            others.append(
                "interacts with " + " or ".join(feature_text(reading.naming, name) for name in seen)
            )
        elif seen:
            others.append(" or ".join(seen))
    return (
        f"borderline, other rows or points might give: {', '.join(dict.fromkeys(others))}" if others else ""
    )


def _tail(tail: Tail, text: Callable[[Any], str]) -> str:
    moves = "rises" if tail.change > 0 else "falls"
    return f"{tail.side} {text(tail.at)} ({_percent(tail.share)} of the data) it {moves} by {sd_text(abs(tail.change))} SD"


def _place(reading: Reading, value: Any, unit: bool = True) -> str:
    """A value of the feature: as many digits as the range that was read needs, with what people call it."""
    if isinstance(value, tuple):
        own = [named_value(v, reading.naming, f, _few_digits, unit) for f, v in zip(reading.features, value)]
        return f"({', '.join(own)})"
    ends = reading.read_from, reading.read_to
    if isinstance(value, float) and all(isinstance(end, (int, float)) for end in ends) and ends[0] != ends[1]:
        return named_value(value, reading.naming, reading.features[0], lambda v: place_text(v, *ends), unit)
    return named_value(value, reading.naming, reading.features[0], _few_digits, unit)


def _few_digits(value: Any) -> str:
    return printed_value(value, DIGITS)


def feature_text(naming: Naming, feature: Any) -> str:
    """What a feature is called in a sentence for analysts."""
    return str(naming.name(feature))


def _percent(share: float) -> str:
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def shape_words(reading: Reading) -> str:
    """Shape and direction in a few words, for tables."""
    words = _settled_words(reading)
    for tail in reading.tails if not reading.hidden else ():
        words += f", {'rising' if tail.change > 0 else 'falling'} {tail.side} {_place(reading, tail.at)}"
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
        return f"levels, highest {_place(reading, reading.high_at)}"
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


def support_warning(support: Support, naming: Naming = PLAIN) -> str:
    """What to keep in mind about an effect, empty when the data supports it."""
    if not support.doubtful:
        return ""
    text = f"{100 * support.outside:.0f} % of the moved rows lie outside the data{_stretch(support)}"
    if support.related:
        text += f" (it goes with {', '.join(feature_text(naming, name) for name, _ in support.related[:RELATED])})"
    return text + ("; PD and ALE disagree: trust ALE" if support.disagrees else "; compare with ALE")


def _stretch(support: Support) -> str:
    """Where rows lie outside, as pictures shade it."""
    if support.stretch <= 0:
        return ""
    share = f"{100 * support.stretch:.0f} %"
    return ", all along the axis" if share == "100 %" else f", mostly in the faint {share} of the axis"


def summary_warning(reading: Reading, support: Support | None) -> str:
    """What to keep in mind about a feature before anything else, empty when there is nothing."""
    parts = []
    if reading.hidden:
        parts.append(f"the average is {_flat_or_nearly(reading)}, the individual curves are not")
    if support is not None and support.doubtful and reading.responds:
        parts.append(support_warning(support, reading.naming))
    return "; ".join(parts)


def _flat_or_nearly(reading: Reading) -> str:
    return "flat" if reading.flat else "nearly flat"


def _main(reading: Reading) -> str:
    name = " x ".join(feature_text(reading.naming, f) for f in reading.features)
    low, high = named_range(reading.low, reading.high, reading.naming)
    size = f"strength {sd_text(reading.strength)} SD of the predictions, {low} to {high}"
    if reading.flat:
        own, limit = sd_text(reading.strength), sd_text(reading.flat_limit)
        near = "just " if own == limit else ""
        return (
            f"{name}: flat on average{_range_read(reading)} "
            f"(strength {own} SD of the predictions, {near}under {limit})"
        )
    if reading.shape == "levels":
        highest, lowest = (_place(reading, v) for v in (reading.high_at, reading.low_at))
        return f"{name}: highest at {highest}, lowest at {lowest} ({size})"
    if reading.interaction is not None:
        return f"{name}: {reading.shape}, {100 * reading.interaction:.0f} % of the surface is interaction ({size})"
    words = f"{reading.direction}, {reading.shape}" if reading.one_directional else reading.shape
    return f"{name}: {words}{_range_read(reading)}{_where(reading)} ({size})"


def _range_read(reading: Reading) -> str:
    """Between which values, as part of a clause."""
    if reading.read_from is None or reading.read_from == reading.read_to:
        return ""
    return f" from {_place(reading, reading.read_from, unit=False)} to {_place(reading, reading.read_to)}"


def _where(reading: Reading) -> str:
    """Where a curve changes, as the end of a clause."""
    places = [_place(reading, v) for v in reading.changes_at]
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
    amount = f"{sd_text(reading.heterogeneity or 0.0)} SD"
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
        named = [
            f"{feature_text(reading.naming, name)} ({sd_text(size)} SD)"
            for name, size in reading.interacts[:NAMED]
        ]
        return f"it interacts with {' and '.join(named)}"
    if reading.interacts is not None:
        return "no single feature accounts for it, look at regions(...)"
    if reading.told_apart_by is not None:
        name, share = reading.told_apart_by
        return f"look for an interaction with {feature_text(reading.naming, name)} ({100 * share:.0f} % of the differences)"
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
    """One feature's effect as a sentence: "predicted delay rises from −4 min before 8:00 to 18 min at 18:30".

    `what` is the name of the predicted quantity.
    """
    text = _plain_trend(reading, what) if reading.one_directional else _plain_shape(reading, what)
    for tail in reading.tails:
        text += f"; {_tail(tail, lambda value: _shown(reading, value))}"
    partner = page_name(reading.naming.name(reading.interacts[0][0])) if reading.interacts else None
    if reading.hidden:
        text += ", but individual rows do respond, in ways that cancel out"
        text += "" if partner is None else f", depending on {partner}"
    elif reading.heterogeneous:
        text += "; rows differ in how they respond"
        text += "" if partner is None else f", depending on {partner}"
    elif partner is not None:
        text += f"; how much depends on {partner}"
    unsure = {"shape", "hidden", *(("differ",) if reading.heterogeneous else ())}
    return text + (" (a borderline case)." if unsure & reading.borderline.keys() else ".")


def _shown(reading: Reading, value: Any) -> str:
    if isinstance(value, (int, float)):
        return _place(reading, value)
    return named_value(value, reading.naming, reading.features[0], shown_value)


def _clock(reading: Reading) -> bool:
    return reading.naming.meaning(reading.features[0]) in (TIME_OF_DAY, HHMM)


def _plain_shape(reading: Reading, what: str) -> str:
    """An average without a direction: flat, of levels, turning or wandering."""
    low, high = named_range(reading.low, reading.high, reading.naming)
    low_at, high_at = _shown(reading, reading.low_at), _shown(reading, reading.high_at)
    if low_at == high_at and isinstance(reading.low_at, str) and isinstance(reading.high_at, str):
        whole = [name_text(level, 10 * LEVEL_LIMIT) for level in (reading.low_at, reading.high_at)]
        low_at, high_at = told_apart(whole, LEVEL_LIMIT)  # long, and alike at both ends
    turn = _shown(reading, reading.changes_at[0]) if reading.changes_at else None
    is_ = "are" if is_plural(what) else "is"
    if reading.flat:
        return f"{what} hardly {_verb(what, 'change')} on average"
    if reading.shape == "levels" and reading.direction != "none":
        return f"{what} {is_} higher at {high_at} ({high}) than at {low_at} ({low})"
    if reading.shape == "levels":
        return f"{what} {is_} highest at {high_at} ({high}) and lowest at {low_at} ({low})"
    if reading.shape == "U-shaped":
        return f"{what} {is_} lowest ({low}) near {turn or low_at} and {_verb(what, 'rise')} on both sides, up to {high}"
    if reading.shape == "inverted U":
        return f"{what} {is_} highest ({high}) near {turn or high_at} and {_verb(what, 'fall')} on both sides, down to {low}"
    return f"{what} {_verb(what, 'move')} up and down between {low} (at {low_at}) and {high} (at {high_at})"


def _plain_trend(reading: Reading, what: str) -> str:
    """An average that runs one way: from what to what, and where."""
    low, high = named_range(reading.low, reading.high, reading.naming)
    rises = reading.direction != "decreasing"
    verb = _verb(what, "rise" if rises else "fall")
    (start, begin), (end, finish) = ((low, reading.low_at), (high, reading.high_at))[:: 1 if rises else -1]
    if reading.shape == "threshold" and reading.changes_at:
        return f"{what} {verb} in one step, from {start} to {end} at {_shown(reading, reading.changes_at[0])}"
    before, after = ("before", "after") if _clock(reading) else ("up to", "from")
    where = f"at {_shown(reading, begin)}"
    if reading.level_until is not None:
        where = f"{before} {_shown(reading, reading.level_until)}"
    to = f"at {_shown(reading, finish)}"
    if reading.level_from is not None:
        to = f"{after} {_shown(reading, reading.level_from)}" + ("" if _clock(reading) else " on")
    how = " evenly" if reading.shape == "linear" else ""
    return f"{what} {verb}{how} from {start} {where} to {end} {to}"


def is_plural(what: str) -> bool:
    """Whether what is predicted is called by a plural: "predicted rentals", not "predicted loss"."""
    return what.startswith("predicted ") and what.endswith("s") and not what.endswith(("ss", "us", "is"))


def _verb(what: str, verb: str) -> str:
    return verb if is_plural(what) else f"{verb}s"


def plain_cautions(reading: Reading, support: Support | None) -> str:
    """What to keep in mind about a feature, without terms; a sentence's middle, without its end."""
    parts = []
    if reading.hidden:
        moves = "does not move" if reading.flat else "hardly moves"
        parts.append(f"the average {moves}, but individual rows do")
    if support is not None and support.doubtful and reading.responds:
        text = f"{100 * support.outside:.0f} % of the curve is asked of rows unlike any in the data{_stretch(support)}"
        if support.related:
            related = [page_name(reading.naming.name(name), 40) for name, _ in support.related[:RELATED]]
            text += f" (it goes with {', '.join(related)})"
        if support.disagrees:
            text += "; the dashed curve (ALE), which stays near the data, tells another story: trust that one"
        else:
            text += "; compare it with the dashed curve (ALE), which stays near the data"
        parts.append(text)
    return "; ".join(parts)
