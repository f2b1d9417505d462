"""Regions as the page tells them: how large the effect is in each, in the target's own unit, and then its shape."""

from __future__ import annotations

from collections.abc import Sequence

from icefield.core.study import Study
from icefield.report.card_data import regions_panel
from icefield.report.plain import PRINTED, numbers
from icefield.report.ranked import RankedFeature
from icefield.report.view_model import LedgerLine, Region, Rule
from icefield.statistics.reading import Reading, read_effect
from icefield.statistics.region_ledger import explained, ledger
from icefield.statistics.regions import Regions, regions
from icefield.wording.labels import subject_text
from icefield.wording.names import name_text, page_name, page_sentence
from icefield.wording.sentences import plain_words
from icefield.wording.values import number_text, range_decimals

REGIONS = 6


def region_cards(study: Study, ranked: Sequence[RankedFeature]) -> list[Region]:
    """For the features about which rows disagree most, the rules that split them into parts that agree."""
    differing = [feature for feature in ranked if feature.reading.curves_differ]
    differing = sorted(differing, key=lambda feature: -(feature.reading.heterogeneity or 0.0))[:REGIONS]
    split = [(feature, regions(study, feature.asked)) for feature in differing]
    return [_card(study, feature, parts) for feature, parts in split if len(parts) > 1]


def _card(study: Study, feature: RankedFeature, parts: Regions) -> Region:
    output = feature.output
    readings = {rule: read_effect(effect).each[output] for rule, effect in parts.effect.groups.items()}
    signed = runs_one_way([*readings.values()])
    sizes = size_texts([*readings.values()], signed)
    what = subject_text(parts.effect, output)
    rules = [
        Rule(page_name(rule, 200), numbers(share, PRINTED), size,
             page_sentence(plain_words(reading, what).removesuffix(".")))
        for (rule, reading), size, share in zip(readings.items(), sizes, parts["share"])
    ]  # fmt: skip
    cuts, moved = ledger(study, parts), (feature.reading.strength, feature.reading.heterogeneity or 0.0)
    unit = feature.effect.naming.target_unit if feature.effect.scale_label == "prediction" else ""
    return Region(
        feature=feature.number,
        name=feature.text(),
        output=output,
        removed=numbers(parts.removed, PRINTED),
        sizes=", ".join(sizes) + (f" {name_text(unit, 20)}" if unit else ""),  # "+6, +24, +41 min"
        signed=signed,
        rules=rules,
        ledger=[
            LedgerLine(page_name(cut.words, 200), numbers(cut.removed, PRINTED), cut.why_not) for cut in cuts
        ],
        explained=numbers([explained(*moved, removed) for removed in (0.0, parts.removed)], PRINTED),
        panel=regions_panel(parts.effect),
    )


def runs_one_way(readings: Sequence[Reading]) -> bool:
    """Whether every average that moves at all runs one way, so that all sizes have a sign."""
    moving = [reading for reading in readings if not reading.flat]
    return bool(moving) and all(_sign(reading) for reading in moving)


def size_texts(readings: Sequence[Reading], signed: bool = True) -> list[str]:
    """How far averages move, one beside the other: with a sign where they run one way, if those are wanted.

    The same number of decimals for all, so that sizes can be compared at a glance.
    """
    sizes = [reading.high - reading.low for reading in readings]
    large = max(sizes, default=0.0)
    decimals = range_decimals(0.0, large) if 1e-3 <= large < 1e6 else None
    signs = map(_sign, readings) if signed else [""] * len(sizes)
    return [sign + number_text(size, decimals=decimals) for sign, size in zip(signs, sizes)]


def _sign(reading: Reading) -> str:
    if reading.one_directional or (reading.shape == "levels" and reading.direction != "none"):
        return "−" if reading.direction == "decreasing" else "+"
    return ""
