"""The opening: what the model predicts, the three things that drive it, in units, and the one caution that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefield.counts import counted
from icefield.wording.names import page_name
from icefield.wording.sentences import enumerated, is_plural, missing_words, size_text
from icefield.wording.values import few_digits

if TYPE_CHECKING:
    from icefield.statistics.decision import Decision
    from icefield.statistics.findings import Findings
    from icefield.statistics.reading import Reading

CONSTANT = "The model predicts the same for every row."


def opening_text(found: Findings, what: str, unit: str = "") -> str:
    """Two to four sentences.

    `what` is the name of what is predicted ("predicted delay", "the model’s prediction"), `unit` its unit where that is known.
    """
    if found.constant:
        return CONSTANT
    parts = [_counted(found, what, unit), *_drivers(found)]
    if found.caution:
        parts.append(f"Caution: {found.caution}.")
    return " ".join(parts)


def _counted(found: Findings, what: str, unit: str) -> str:
    """How many features matter, and what is predicted on average."""
    n, most = found.n_features, len(found.responding)
    some = {0: "no single feature moves", 1: f"1 of {counted(n)} features moves"}.get(
        most, f"{counted(most)} of {counted(n)} features move"
    )
    text = f"Over {counted(found.n_rows)} rows, {some} {what} noticeably"
    if found.sharing and not most:
        text += f": {counted(found.sharing)} share it"
    elif found.sharing:
        text += f"; {counted(found.sharing)} others together move {'them' if is_plural(what) else 'it'} more"
    if found.baseline is not None and most:
        text += f" (on average {few_digits(found.baseline)}{f' {unit}' if unit else ''})"
    return text + "."


def _drivers(found: Findings) -> list[str]:
    """What matters most, and by how much."""
    if not found.responding:
        return []
    first = found.drivers
    told = [f"{_name(one)} ({driver_size(one, brief=place > 0)})" for place, one in enumerate(first)]
    if found.tied > len(first):
        return [f"{counted(found.tied)} features matter about equally: {enumerated(told)} among them."]
    if found.tied > 1:
        text = f"{enumerated(told[: found.tied])} matter most, about equally"
        return [text + (f"; then {enumerated(told[found.tied :])}." if len(told) > found.tied else ".")]
    text = f"{_name(first[0])} matters most: {driver_size(first[0])}"
    return [text + (f"; then {enumerated(told[1:])}." if len(told) > 1 else ".")]


def _name(one: Decision) -> str:
    name = page_name(one.reading.naming.name(one.feature))
    return f"{name} ({page_name(one.reading.output, 30)})" if one.reading.several else name


def driver_size(one: Decision, brief: bool = False) -> str:
    """How much a feature moves the predictions: between the ends of its average, where it is missing, or row by row.

    `brief` where it was just said between what.
    """
    reading = one.reading
    if reading.hidden:
        return f"rows move by {size_text(reading, one.movement)}, though not on average"
    if reading.flat:
        return missing_words(reading)
    return _apart(reading) if brief else f"{_apart(reading)} between its lowest and highest average"


def _apart(reading: Reading) -> str:
    """How far the ends of an average lie apart, in the predictions' own numbers."""
    apart = reading.high - reading.low
    if "probab" in reading.scale_label:
        return f"{few_digits(100 * apart)} percentage points"
    if reading.naming.target_unit and reading.scale_label == "prediction":
        return size_text(reading, apart / reading.unit)
    return few_digits(apart)
