"""Readings and support in words, for two readers.

Analysts get terms and the numbers each statement rests on (`reading_sentence`, `shape_words`,
`support_warning`, `summary_warning`); readers of the report get the same findings without the vocabulary
(`plain_words`, `plain_cautions`, `strength_word`). Nothing is judged here: a `Reading` and a `Support` say
themselves whether they are flat, opposed or doubtful.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.naming import HHMM, MONTH, PLAIN, TIME_OF_DAY, Naming
from icefield.wording.names import distinct_texts, name_text, page_name
from icefield.wording.values import (
    LEVEL_LIMIT,
    WRITTEN_CLOSE,
    amount_text,
    few_digits,
    named_range,
    named_value,
    number_text,
    printed_value,
    sd_text,
    shown_value,
)

if TYPE_CHECKING:
    from icefield.statistics.reading import Reading, Tail
    from icefield.statistics.support import Support

WHOLE = 10_000  # whole numbers below it are written in full
RELATED = 2  # columns named that are associated with the moved one
NOT_JUST_FLAT = 0.05  # share of the largest spread from which on a flat average needs an explanation
LEAST_ERROR = 0.005  # in units of strengths: what two decimals show
NAMED = 2  # features named that a feature interacts with
UNKNOWN_DIFFERENCES = "use ice() to see whether rows differ"
PAIR_SUPPORT: Mapping[str | None, str] = {  # whether the data supports an interaction of the model
    "no": " in the model, not supported by held-out rows",
    "unclear": " in the model; too few rows to check it in the data",
}
ALL_ALONG = 0.995  # share of the axis without support that is all of it
TIES_NAMED = 3  # levels named that are as high, or as low, as each other
OTHER_SHAPES = {
    "flat": "no effect on average",
    "not flat": "an effect on average",
    "linear": "a straight line",
    "threshold": "a step",
    "monotone": "a steady trend",
    "U-shaped": "a U",
    "inverted U": "an inverted U",
    "non-monotone": "ups and downs",
    "levels": "levels that differ",
    "curves differ": "rows that respond differently",
    "nothing hidden": "rows that respond alike",
    "rows differ": "rows that respond differently",
    "rows agree": "rows that respond alike",
}
STRENGTHS = ((0.5, "strong"), (0.2, "moderate"), (0.07, "slight"))


# --- for analysts ------------------------------------------------------------------------------------


def reading_sentence(reading: Reading) -> str:
    """One reading as one or two sentences."""
    parts = [_main(reading)]
    if reading.missing_jump is not None and reading.missing_apart:
        parts.append(missing_words(reading))
    parts += [_tail(reading, tail, lambda value: _place(reading, value)) for tail in reading.tails]
    parts += _curves(reading)
    if reading.own_grid:
        parts.append("read on the grid given")
    if reading.error_rows is not None:
        rows = max(1, round(reading.error_rows))
        rest_on = f"about {rows} row{'s' if rows > 1 else ''}"
        parts.append(f"its standard errors rest on {rest_on} and may be too small")
    text = "; ".join(parts) + "."
    doubt = borderline_words(reading)
    return f"{text} {doubt}." if doubt else text


def borderline_words(reading: Reading) -> str:
    """What another sample could show, empty where nothing lies within its sampling error of a threshold."""
    known = [text for name in ("shape", "hidden", "differ") for text in reading.borderline.get(name, ())]
    alternatives = [OTHER_SHAPES.get(seen, seen) for seen in known]
    for seen in reading.borderline.get("interacts", ()):
        other = f"an interaction with {feature_text(reading.naming, seen)}"
        alternatives.append("no interaction" if seen == "nobody" else other)
    several = enumerated(list(dict.fromkeys(alternatives)), "or") if alternatives else ""
    return f"Borderline: another sample might show {several}" if alternatives else ""


def enumerated(texts: Sequence[str], word: str = "and") -> str:
    """Several things as people list them.

    Examples
    --------
    >>> enumerated(["a"]), enumerated(["a", "b"], "or"), enumerated(["a", "b", "c"])
    ('a', 'a or b', 'a, b and c')
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def size_unit(reading: Reading) -> tuple[float, str]:
    """What one unit of strengths is in the unit that sizes are written in, and what that is called.

    That of what is predicted where it is known, percentage points of probabilities, else the unit of strengths itself.
    """
    if reading.naming.target_unit and reading.scale_label == "prediction" and np.isfinite(reading.unit):
        return reading.unit, name_text(reading.naming.target_unit, 20)
    if "probab" in reading.scale_label and np.isfinite(reading.unit):
        return 100 * reading.unit, "percentage points"
    return 1.0, reading.unit_name


def size_text(reading: Reading, size: float) -> str:
    """A size in the unit that sizes are written in."""
    scale, unit = size_unit(reading)
    return amount_text(sd_text(size) if unit == reading.unit_name else few_digits(scale * size), unit)


def missing_words(reading: Reading, name: str = "it", brief: bool = False) -> str:
    """What missing values do: "2.4 SD higher where it is missing (16 % of rows)"; `name` is what the feature is called.

    `brief` leaves the rows out.
    """
    jump = reading.missing_jump or 0.0
    rows = f" ({_percent(reading.missing_share)} of rows)" if reading.missing_share and not brief else ""
    higher = "higher" if jump > 0 else "lower"
    return f"{size_text(reading, abs(jump))} {higher} where {name} is missing{rows}"


def _tail(reading: Reading, tail: Tail, text: Callable[[Any], str]) -> str:
    moves = "rises" if tail.change > 0 else "falls"
    where = f"{_side(tail)} {text(tail.at)} ({_percent(tail.share)} of the data)"
    goes_on = (
        tail.side == "above"
        and reading.one_directional
        and (tail.change > 0) == (reading.direction == "increasing")
    )
    return f"{where} it {moves} by {'another ' if goes_on else ''}{size_text(reading, abs(tail.change))}"


def _side(tail: Tail) -> str:
    """Above or below a number, after or before a date."""
    if isinstance(tail.at, np.datetime64):
        return "after" if tail.side == "above" else "before"
    return tail.side


def _place(reading: Reading, value: Any, unit: bool = True) -> str:
    """A value of the feature: as many digits as the range that was read needs, with what people call it."""
    if isinstance(value, tuple):
        text = [named_value(v, reading.naming, f, _few_digits, unit) for f, v in zip(reading.features, value)]
        return f"({', '.join(text)})"
    return named_value(value, reading.naming, reading.features[0], _few_digits, unit)


def _few_digits(value: Any) -> str:
    """A value with three digits; below 10,000 with its whole part, which may be a year, a code or a pressure in mbar."""
    if isinstance(value, (bool, np.bool_, np.timedelta64)):
        return printed_value(value)
    if isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value):
        number = float(value)
        return number_text(number, 3) if abs(number) < WHOLE else few_digits(number)
    return shown_value(value, 10 * LEVEL_LIMIT) if isinstance(value, np.datetime64) else printed_value(value)


def feature_text(naming: Naming, feature: Any) -> str:
    """What a feature is called in a sentence for analysts."""
    return str(naming.name(feature))


def _percent(share: float) -> str:
    """A share in whole percents, which neither nothing nor all is where it is not."""
    if share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.995 <= share < 1.0 else f"{100 * share:.0f} %"


def shape_words(reading: Reading) -> str:
    """Shape and direction in a few words, for tables."""
    words = _settled_words(reading)
    if reading.missing_moves:
        words += f", {'higher' if (reading.missing_jump or 0.0) > 0 else 'lower'} where missing"
    for tail in reading.tails if not reading.hidden else ():
        words += f", {'rising' if tail.change > 0 else 'falling'} {_side(tail)} {_place(reading, tail.at)}"
    alternatives = [*reading.borderline.get("shape", ()), *reading.borderline.get("hidden", ())]
    return f"{words} (borderline: or {', '.join(alternatives)})" if alternatives else words


def _settled_words(reading: Reading) -> str:
    if reading.hidden:
        return f"{_flat_or_nearly(reading)} average, curves differ"
    if reading.shape == "mostly monotone":
        return f"mostly {reading.direction}"
    if reading.one_directional:
        return f"{reading.shape}, {reading.direction}"
    if reading.shape == "levels":
        if reading.direction != "none":
            return f"two values, {reading.direction}"
        return f"levels, highest {_tied(reading, reading.high_at, reading.high_ties)}"
    if reading.flat and reading.missing_moves:
        return "flat where known"
    return reading.shape


def _tied(reading: Reading, extreme: Any, ties: Sequence[Any], alone: str | None = None) -> str:
    """The level at an extreme, with those that are level with it; without any, `alone` is how it is written."""
    if len(ties) < 2:
        return _place(reading, extreme) if alone is None else alone
    if len(ties) <= TIES_NAMED:
        return enumerated([_place(reading, level) for level in ties])
    return f"{_place(reading, ties[0])} and {len(ties) - 1} others"


def importance_words(reading: Reading, share: float) -> str:
    """The shape beside a measure that counts every grid point alike; `share` is that measure's, of its largest.

    An average can be flat over the data and yet move where few rows are: it is never called just flat beside a
    large number.
    """
    just_flat = reading.flat and not reading.hidden and not reading.missing_moves
    words = "flat where the data is" if just_flat and share >= NOT_JUST_FLAT else "flat"
    return shape_words(reading).replace("flat", words, 1)


def support_warning(support: Support, naming: Naming = PLAIN) -> str:
    """What to keep in mind about an effect, empty when the data supports it."""
    return _doubts(support, lambda name: feature_text(naming, name), "ALE") if support.doubtful else ""


def _doubts(support: Support, called: Callable[[Any], str], ale: str) -> str:
    """What to keep in mind where the data does not support an effect; `ale` is what the reader knows ALE as."""
    if support.one_hot is not None:
        return f"these columns are one feature; pass them as one: {dict(support.one_hot)!r}"
    text = f"{100 * support.outside:.0f} % of this curve rests on combinations that do not occur in the data"
    if support.stretch > 0:  # where, as pictures shade it
        text += ", all along the axis" if support.stretch >= ALL_ALONG else " (shaded)"
    if support.related:
        related = [called(name) for name, _ in support.related[:RELATED]]
        text += f"; the feature is associated with {enumerated(related)}"
    return text + (f"; {ale} disagrees: prefer ALE here" if support.disagrees else f"; compare with {ale}")


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
    name += f" ({name_text(reading.output)})" if reading.several else ""
    low, high = average_range(reading)
    of = f"{reading.unit_name} of the predictions"
    size = f"strength {sd_text(reading.strength)} {of}, {low} to {high}"
    if reading.flat:
        known = reading.missing_moves or reading.strength >= reading.flat_limit
        strength = reading.measures.get("known_strength", reading.strength) if known else reading.strength
        amount, limit = sd_text(strength), sd_text(reading.flat_limit)
        near = "just " if amount == limit else ""
        where = " where known" if known else " on average"
        return f"{name}: flat{where}{_range_read(reading)} (strength {amount} {of}, {near}under {limit})"
    if reading.shape == "levels":
        highest = _tied(reading, reading.high_at, reading.high_ties)
        lowest = _tied(reading, reading.low_at, reading.low_ties)
        at = _preposition(reading, reading.high_at)
        return f"{name}: highest {at} {highest}, lowest {at} {lowest} ({size})"
    if reading.interaction is not None:
        return f"{name}: {reading.shape}, {100 * reading.interaction:.0f} % of the surface is interaction ({size})"
    words = reading.shape
    if reading.shape == "mostly monotone":
        words = f"mostly {reading.direction}"
    elif reading.one_directional:
        words = f"{reading.direction}, {reading.shape}"
    return f"{name}: {words}{_range_read(reading)}{_where(reading)} ({size})"


def average_range(reading: Reading) -> tuple[str, str]:
    """The ends of the average in the range that was read, in the predictions' own numbers and unit."""
    # The target's unit is not that of other scales.
    in_unit = reading.scale_label == "prediction" or not reading.naming.target_unit
    return named_range(reading.low, reading.high, reading.naming if in_unit else PLAIN)


def _range_read(reading: Reading) -> str:
    """Between which values, as part of a clause."""
    ends = reading.read_from, reading.read_to
    if (
        ends[0] is None or ends[0] == ends[1] or ends[0] != ends[0]
    ):  # of a column without values it is no number
        return ""
    return f" from {_between(reading, reading.read_from, reading.read_to, ' to ')}"


def _between(reading: Reading, low: Any, high: Any, word: str) -> str:
    """Two values with their unit once, at the end, or with the sign of a currency each."""
    unit = reading.naming.unit(reading.features[0])
    return f"{_place(reading, low, unit=not unit or unit in WRITTEN_CLOSE)}{word}{_place(reading, high)}"


def _where(reading: Reading) -> str:
    """Where a curve changes, as the end of a clause."""
    places = [_place(reading, v) for v in reading.changes_at]
    if reading.shape == "threshold":
        return f", a step {_preposition(reading, reading.changes_at[0])} {places[0]}"
    if reading.turns and places:
        return f", turning at {places[0]}"
    if len(places) != 2 or not reading.one_directional or places[0] == places[1]:
        return ""
    low, high = reading.changes_at
    return f", half of the change between {_between(reading, low, high, ' and ')}"


def _curves(reading: Reading) -> list[str]:
    if reading.interaction is not None:
        return []
    if not reading.differences_known and not reading.curves_differ:
        return [UNKNOWN_DIFFERENCES] if reading.rows_could_differ else []
    amount = size_text(reading, reading.heterogeneity or 0.0)
    least = "" if reading.heterogeneity_exact else "at least "
    if reading.hidden:
        average = f"{_flat_or_nearly(reading)} average, {'crossing' if reading.opposed else 'moving'} curves"
        return [f"{average} (they differ by {least}{amount}): {_look(reading)}"]
    if reading.heterogeneous:
        return [f"rows differ by {least}{amount}: {_look(reading)}"]
    return [_look(reading)] if reading.interacts else []


def _look(reading: Reading) -> str:
    if reading.interacts:
        errors = [*reading.interaction_errors, *[0.0] * len(reading.interacts)]
        supported = [*reading.interactions_supported, *[None] * len(reading.interacts)]
        named = [
            f"{feature_text(reading.naming, name)} ({_with_error(reading, size, error)}{PAIR_SUPPORT.get(support, '')})"
            for (name, size), error, support in zip(reading.interacts[:NAMED], errors, supported)
        ]
        more = len(reading.interacts) - len(named)
        named += [f"{more} other{'s' if more > 1 else ''}"] if more > 0 else []
        text = f"it interacts with {enumerated(named)}"
        return f"{text}, which accounts for little of that, see regions()" if reading.mostly_open else text
    if reading.interacts is not None:
        return _not_named(reading)
    if reading.told_apart_by is not None:
        name, share = reading.told_apart_by
        return f"look for an interaction with {feature_text(reading.naming, name)} ({100 * share:.0f} % of the differences)"
    where = "summary()" if reading.heterogeneity_exact else "ice()"
    return f"look for an interaction, with Explainer.{where}"


def _not_named(reading: Reading) -> str:
    """What accounts for differences where no interaction is worth naming."""
    name, share = reading.partners[0] if reading.partners else (None, 0.0)
    if share < reading.thresholds["alone"]:
        return "no single feature accounts for it, see regions()"
    beside = "" if reading.told_apart_by is not None else ", or what it is associated with,"
    least = size_text(reading, reading.thresholds["interaction"])
    return f"{feature_text(reading.naming, name)}{beside} accounts for {100 * share:.0f} % of it, by an interaction below the {least} worth naming"


def unsupported_words(readings: Iterable[Reading]) -> str:
    """Pairs of the model that the data does not support, each once; empty where there are none."""
    pairs: dict[frozenset[str], str] = {}
    for reading in readings:
        for other in reading.unsupported:
            names = [feature_text(reading.naming, name) for name in (reading.features[0], other)]
            pairs.setdefault(frozenset(names), " x ".join(names))
    named = enumerated(list(pairs.values())) if pairs else ""
    return f"in the model, not supported by held-out rows: {named}" if pairs else ""


def _with_error(reading: Reading, size: float, error: float) -> str:
    """A size, and its standard error where it has a noticeable one, both to the error's last digit."""
    if error < LEAST_ERROR:
        return size_text(reading, size)
    scale, unit = size_unit(reading)
    value, off = scale * size, scale * error
    first = int(np.floor(np.log10(off)))
    # A second digit where the first is a 1; of standard deviations never a third decimal.
    decimals = (1 if off < 2 * 10.0**first else 0) - first
    decimals = min(decimals, 2) if unit == reading.unit_name else decimals
    texts = [number_text(round(number, decimals), decimals=max(decimals, 0)) for number in (value, off)]
    return amount_text(" ± ".join(texts), unit)


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
    if reading.missing_moves:
        text += f"; {'they are' if is_plural(what) else 'it is'} {missing_words(reading, _name(reading))}"
    for tail in reading.tails:
        text += f"; {_tail(reading, tail, lambda value: _shown(reading, value))}"
    partner = page_name(reading.naming.name(reading.interacts[0][0])) if reading.interacts else None
    depending = f", {'partly ' if reading.mostly_open else ''}depending on {partner}"
    if reading.hidden:
        text += ", but individual rows do respond, in ways that cancel out"
        text += "" if partner is None else depending
    elif reading.heterogeneous:
        text += "; rows differ in how they respond"
        text += "" if partner is None else depending
    elif partner is not None:
        text += f"; {'what it does to a row' if reading.flat else 'how much'} depends on {partner}"
    if reading.interacts and reading.interacts[0][0] in reading.unsupported:
        text += " in the model (held-out rows do not support it)"
    unsure = {"shape", "hidden", *(("differ",) if reading.heterogeneous else ())}
    return text + (". This is a borderline case." if unsure & reading.borderline.keys() else ".")


def _shown(reading: Reading, value: Any) -> str:
    if isinstance(value, (int, float)):
        return _place(reading, value)
    return named_value(value, reading.naming, reading.features[0], shown_value)


def _clock(reading: Reading) -> bool:
    return reading.naming.meaning(reading.features[0]) in (TIME_OF_DAY, HHMM)


def _plain_shape(reading: Reading, what: str) -> str:
    """An average without a direction: flat, of levels, turning or wandering."""
    low, high = average_range(reading)
    low_at, high_at = _shown(reading, reading.low_at), _shown(reading, reading.high_at)
    if low_at == high_at and isinstance(reading.low_at, str) and isinstance(reading.high_at, str):
        whole = [name_text(level, 10 * LEVEL_LIMIT) for level in (reading.low_at, reading.high_at)]
        low_at, high_at = distinct_texts(whole, LEVEL_LIMIT)  # long, and alike at both ends
    else:
        low_at = _tied(reading, reading.low_at, reading.low_ties, low_at)
        high_at = _tied(reading, reading.high_at, reading.high_ties, high_at)
    turn = _shown(reading, reading.changes_at[0]) if reading.changes_at else None
    is_ = "are" if is_plural(what) else "is"
    if reading.flat:
        where = "" if what.startswith("the average ") else " on average"
        where = f" with known values of {_name(reading)}" if reading.missing_moves else where
        return f"{what} hardly {_verb(what, 'change')}{where}"
    if reading.shape == "levels" and reading.direction != "none":
        at = _preposition(reading, reading.high_at)
        return f"{what} {is_} higher {at} {high_at} ({high}) than {at} {low_at} ({low})"
    if reading.shape == "levels":
        at = _preposition(reading, reading.high_at)
        return f"{what} {is_} highest {at} {high_at} ({high}) and lowest {at} {low_at} ({low})"
    if reading.shape == "U-shaped":
        return f"{what} {is_} lowest ({low}) near {turn or low_at} and {_verb(what, 'rise')} on both sides, up to {high}"
    if reading.shape == "inverted U":
        return f"{what} {is_} highest ({high}) near {turn or high_at} and {_verb(what, 'fall')} on both sides, down to {low}"
    return f"{what} {_verb(what, 'move')} up and down between {low} ({_preposition(reading, reading.low_at)} {low_at}) and {high} ({_preposition(reading, reading.high_at)} {high_at})"


def _preposition(reading: Reading, value: Any) -> str:
    """In January, on Monday, for women, for True, at 3 km."""
    meaning = reading.naming.meaning(reading.features[0])
    if meaning == MONTH:
        return "in"
    if (meaning and not _clock(reading)) or isinstance(value, np.datetime64):
        return "on"
    named = isinstance(value, str) or reading.naming.level(reading.features[0], value) is not None
    return "for" if named or (reading.shape == "levels" and not meaning) else "at"


def _name(reading: Reading) -> str:
    return page_name(reading.naming.name(reading.features[0]))


def _plain_trend(reading: Reading, what: str) -> str:
    """An average that runs one way: from what to what, and where."""
    low, high = average_range(reading)
    rises = reading.direction != "decreasing"
    verb = _verb(what, "rise" if rises else "fall")
    (start, begin), (end, finish) = ((low, reading.low_at), (high, reading.high_at))[:: 1 if rises else -1]
    if reading.shape == "threshold" and reading.changes_at:
        at = reading.changes_at[0]
        return f"{what} {verb} in one step, from {start} to {end}, {_preposition(reading, at)} {_shown(reading, at)}"
    clock = _clock(reading)
    at = "around" if clock else _preposition(reading, begin)
    before = f"{at} {_shown(reading, begin)}"
    if reading.level_until is not None:
        before = f"{'before' if clock else 'up to'} {_shown(reading, reading.level_until)}"
    after = f"{at} {_shown(reading, finish)}"
    if reading.level_from is not None:
        after = f"{'after' if clock else 'from'} {_shown(reading, reading.level_from)}"
        after += "" if clock else " on"
    how = {"linear": " evenly", "mostly monotone": ", with some ups and downs,"}.get(reading.shape, "")
    return f"{what} {verb}{how} from {start} ({before}) to {end} ({after})"


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
        naming = reading.naming
        ale = "the dashed curve (ALE)"
        parts.append(_doubts(support, lambda name: page_name(naming.name(name), 40), ale))
    return "; ".join(parts)
