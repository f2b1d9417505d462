"""The opening: what the model predicts, the three things that drive it, in units, and the one caution that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefield.counts import counted
from icefield.wording.names import page_name
from icefield.wording.sentences import average_range, enumerated, is_plural, missing_words, size_text
from icefield.wording.values import amount_text, few_digits, sd_text

if TYPE_CHECKING:
    from icefield.statistics.decision import Decision
    from icefield.statistics.findings import Findings

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
    if found.even:
        return f"Over {counted(found.n_rows)} rows, no single feature stands out: {counted(found.sharing)} share what moves {what}."
    some = {0: "no single feature moves", 1: f"1 of {counted(n)} features moves"}.get(
        most, f"{counted(most)} of {counted(n)} features move"
    )
    some = f"all {counted(n)} features move" if most == n > 1 else some
    mean = ""
    if found.baseline is not None and most:
        mean = f" (on average {amount_text(few_digits(found.baseline), unit)})"
    text = f"Over {counted(found.n_rows)} rows, {some} {what}{mean} noticeably"
    if found.sharing and not most:
        text += f": {counted(found.sharing)} share it"
    elif found.sharing:
        text += f"; {counted(found.sharing)} others together move {'them' if is_plural(what) else 'it'} more"
    return text + "."


def _drivers(found: Findings) -> list[str]:
    """What matters most, and by how much."""
    if not found.responding or found.even:
        return []
    first = found.drivers
    sized = [_name(one, driver_size(one, brief=True)) for one in first]
    if found.tied > len(first):
        return [f"{counted(found.tied)} features matter about equally: {enumerated(sized)} among them."]
    if found.tied > 1:
        text = f"{enumerated(sized[: found.tied])} matter most, about equally"
        return [text + (f"; then {enumerated(sized[found.tied :])}." if len(sized) > found.tied else ".")]
    text = f"{_name(first[0])} matters most: it moves predictions by {driver_size(first[0])}"
    return [text + (f"; then {enumerated(sized[1:])}." if len(sized) > 1 else ".")]


def _name(one: Decision, size: str = "") -> str:
    """What a feature is called, in brackets the output that is meant where there are several, and a size."""
    name = page_name(one.reading.naming.name(one.feature))
    output = page_name(one.reading.output, 30) if one.reading.several else ""
    output = f"output {output}" if output.isdigit() else output
    aside = ", ".join(part for part in (output, size) if part)
    return f"{name} ({aside})" if aside else name


def driver_size(one: Decision, brief: bool = False) -> str:
    """How far predictions move with a feature, the number features are ranked by, and how; `brief` after the first."""
    reading = one.reading
    # Outputs have units of their own: what ranks features across them is in SD of each.
    in_sd = f"{sd_text(one.movement)} {reading.unit_name}"
    size = in_sd if reading.several else size_text(reading, one.movement)
    if reading.hidden:
        return f"{size}, though not on average"
    if reading.flat:
        return f"{size}, {missing_words(reading, brief=brief)}"
    if brief:
        return size
    low, high = average_range(reading)
    of = "" if size.endswith(f" {reading.unit_name}") else " (SD)"
    return f"{size}{of}, on average from {low} to {high}"
