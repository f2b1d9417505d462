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


def opening_text(facts: Findings, what: str, unit: str = "") -> str:
    """Two to four sentences.

    `what` is the name of what is predicted ("predicted delay", "the model’s prediction"), `unit` its unit where that is known.
    """
    if facts.constant:
        return CONSTANT
    parts = [_responses(facts, what, unit), *_drivers(facts)]
    if facts.caution:
        parts.append(f"Caution: {facts.caution}.")
    return " ".join(parts)


def _responses(facts: Findings, what: str, unit: str) -> str:
    """How many features matter, and what is predicted on average."""
    n, most = facts.n_features, len(facts.responding)
    if facts.even:
        return f"Over {counted(facts.n_rows)} rows, no single feature stands out: {counted(facts.sharing)} share what moves {what}."
    some = {0: "no single feature moves", 1: f"1 of {counted(n)} features moves"}.get(
        most, f"{counted(most)} of {counted(n)} features move"
    )
    some = f"all {counted(n)} features move" if most == n > 1 else some
    mean = ""
    if facts.baseline is not None and most:
        mean = f" (on average {amount_text(few_digits(facts.baseline), unit)})"
    text = f"Over {counted(facts.n_rows)} rows, {some} {what}{mean} noticeably"
    if facts.sharing and not most:
        text += f": {counted(facts.sharing)} share it"
    elif facts.sharing:
        text += f"; {counted(facts.sharing)} others together move {'them' if is_plural(what) else 'it'} more"
    return text + "."


def _drivers(facts: Findings) -> list[str]:
    """What matters most, and by how much."""
    if not facts.responding or facts.even:
        return []
    first = facts.drivers
    sized = [_name(decision, driver_size(decision, brief=True)) for decision in first]
    if facts.tied > len(first):
        return [f"{counted(facts.tied)} features matter about equally: {enumerated(sized)} among them."]
    if facts.tied > 1:
        text = f"{enumerated(sized[: facts.tied])} matter most, about equally"
        return [text + (f"; then {enumerated(sized[facts.tied :])}." if len(sized) > facts.tied else ".")]
    text = f"{_name(first[0])} matters most: it moves predictions by {driver_size(first[0])}"
    return [text + (f"; then {enumerated(sized[1:])}." if len(sized) > 1 else ".")]


def _name(decision: Decision, size: str = "") -> str:
    """What a feature is called, in brackets the output that is meant where there are several, and a size."""
    name = page_name(decision.reading.naming.name(decision.feature))
    output = page_name(decision.reading.output, 30) if decision.reading.several else ""
    output = f"output {output}" if output.isdigit() else output
    aside = ", ".join(part for part in (output, size) if part)
    return f"{name} ({aside})" if aside else name


def driver_size(decision: Decision, brief: bool = False) -> str:
    """How far predictions move with a feature, the number features are ranked by, and how; `brief` after the first."""
    reading = decision.reading
    # Outputs have units of their own: what ranks features across them is in SD of each.
    in_sd = f"{sd_text(decision.movement)} {reading.unit_name}"
    size = in_sd if reading.several else size_text(reading, decision.movement)
    if reading.hidden:
        return f"{size}, though not on average"
    if reading.flat:
        return f"{size}, {missing_words(reading, brief=brief)}"
    if brief:
        return size
    low, high = average_range(reading)
    of = "" if size.endswith(f" {reading.unit_name}") else " (SD)"
    return f"{size}{of}, on average from {low} to {high}"
