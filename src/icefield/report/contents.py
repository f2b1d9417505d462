"""Everything the report says, as one plain dict; `page` only lays it out.

The recipe: the summary gives every feature's curve, reading and support; ALE is added per feature;
the features that move the predictions most are crossed for interactions, the strongest pairs become surfaces;
and where individual curves differ, regions are looked for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from icefield.effect import Effect
from icefield.errors import IcefieldError, InputError
from icefield.progress import Progress
from icefield.report import opening
from icefield.report.drawings import feature_panel, regions_panel, spark, surface_panel
from icefield.report.plain import numbers
from icefield.sampling import CROSSED_ROWS, STEP_ROWS
from icefield.statistics.ale import ale
from icefield.statistics.bundles import output_unit
from icefield.statistics.decision import Decision
from icefield.statistics.interactions import Interactions
from icefield.statistics.reading import Reading
from icefield.statistics.regions import regions
from icefield.statistics.summary import Summary, summary
from icefield.study import Ask, Study
from icefield.typing import Float
from icefield.wording.labels import quantity, subject_text
from icefield.wording.names import PAGE_LIMIT, page_name, page_sentence
from icefield.wording.sentences import plain_cautions, plain_words, strength_word
from icefield.wording.values import named_value

PLAIN_SENTENCES = 6
CURVES = 100  # rows whose own curves are shown when asked for
FILE_VALUES = 350_000  # ... fewer where more numbers than this would make the file too large
OTHER_CURVES = 14  # numbers beside curves for each grid point: averages, bands, ALE and their like
LEAST_GROUP = 5  # rows a subgroup needs to be shown: fewer would tell of single rows
LEAST_REACH = 0.2  # standard deviations of the predictions that fill a word-sized curve at least
MATRIX = 12  # features in the matrix of interactions
NO_PAIRS = "No two features interact: all rows respond to each feature in the same way."
NOT_LOOKED_AT = (
    "an empty cell was not looked at: of one of its features, rows’ own curves do not differ enough"
)
SURFACES = 6
SURFACE = 0.05  # a pair's interaction, in standard deviations of the predictions, worth a surface
REGIONS = 6
PRINTED = 12  # digits of a number that the page prints with fewer: it is rounded once, where it is written


def build(
    study: Study,
    features: Iterable[Any] | None = None,
    *,
    individual: bool = False,
    title: str | None = None,
    rows: Any = None,
) -> dict[str, Any]:
    """Ask everything and answer with plain data; see `icefield.report.write_report`."""
    if study.background == "training":
        raise InputError(
            "A report shows how rows differ, which training counts do not know. "
            'Hint: use Explainer(..., background="data").'
        )
    began = time.perf_counter()
    asked = study.listed(features)
    with Progress("report", total=len(asked) + 4) as progress:
        table = summary(study, asked, rows=rows)
        progress.advance(2)
        ranked = [_Ranked.of(table, i) for i in range(len(table.effects))]
        small = 0
        if not individual:
            ranked, small = _without_small_groups(ranked)
        kept = _curves_kept(ranked) if individual else 0
        # Word-sized curves share one scale, so that a weak effect looks weak.
        reach = max(LEAST_REACH, *(one.reach for one in ranked))
        cards = []
        for one in ranked:
            cards.append(_card(study, one, kept, reach))
            progress.advance()
        crossed = table.decisions.pairs
        progress.advance()
        surfaces = _surfaces(study, ranked, crossed)
        regions = _regions(study, ranked)
        progress.advance()
    seconds = time.perf_counter() - began
    first = ranked[0].effect
    return {
        "title": page_name(title, 200)
        if title
        else f"How {opening.model_name(study)} responds to its features",
        "lede": opening.lede(study, table.decisions),
        "made": datetime.now().astimezone().strftime("%d %B %Y, %H:%M"),
        "opening": opening.facts(study, first, seconds),
        "facts": opening.details(study, first, crossed, _ale_rows(study), seconds),
        "warnings": [
            {"feature": one.number, "name": one.text(), "text": one.caution} for one in ranked if one.caution
        ],
        "plain": _plain(ranked),
        "outputs": [page_name(o) for o in study.model.outputs],
        "what": page_name(quantity(first, None)),
        "by": None if first.by is None else page_name(first.naming.name(first.by)),
        "groups": [named_value(g, first.naming, first.by, page_name, unit=False) for g in first.groups],
        "small_groups": small,
        "individual": kept,
        "quantile_rows": 0 if first.individual is None else int(first.individual.shape[1]),
        "features": cards,
        "matrix": _matrix(ranked, crossed),
        "no_pairs": NO_PAIRS if crossed is None and len(study.model.columns) > 1 else "",
        "surfaces": surfaces,
        "regions": regions,
    }


@dataclass(frozen=True, eq=False)
class _Ranked:
    """One row of the summary: a feature as asked, its effect, reading and what was noticed."""

    number: int
    asked: Any
    name: Any
    effect: Effect
    decision: Decision
    warning: str | None
    shape: str

    @classmethod
    def of(cls, summary: Summary, row: int) -> _Ranked:
        name = list(summary.effects)[row]
        decision = summary.decisions[name]
        return cls(
            row,
            decision.asked,
            name,
            summary.effects[name],
            decision,
            summary["warning"][row],
            str(summary["shape"][row]),
        )

    def text(self, limit: int = PAGE_LIMIT) -> str:
        """What the feature is called."""
        return page_name(self.effect.naming.name(self.name), limit)

    @property
    def reading(self) -> Reading:
        """Of the output it moves most."""
        return self.decision.reading

    @property
    def output(self) -> int:
        """The output this feature moves most."""
        return self.effect.outputs.index(self.reading.output)

    @property
    def caution(self) -> str:
        """What to keep in mind, for a reader who does not know the terms."""
        return plain_cautions(self.reading, self.effect.support) if self.warning else ""

    @property
    def reach(self) -> float:
        """Range of the average, in standard deviations of the predictions."""
        known = self.effect.average[self.output]
        known = known[np.isfinite(known)]
        return float(np.ptp(known)) / output_unit(self.effect, self.output) if len(known) else 0.0


def _plain(ranked: list[_Ranked]) -> list[dict[str, Any]]:
    told = [one for one in ranked if one.reading.responds][:PLAIN_SENTENCES]
    out = []
    for one in told:
        out.append(
            {
                "feature": one.number,
                "name": one.text(),
                "text": plain_words(one.reading, subject_text(one.effect, one.output)),
                "strength": "hidden" if one.reading.hidden else strength_word(one.reading.strength),
            }
        )
    return out


def _without_small_groups(ranked: list[_Ranked]) -> tuple[list[_Ranked], int]:
    """The curve of a group of a few rows is nearly those rows' own: it is left out unless asked for."""
    small = {name for name, own in ranked[0].effect.groups.items() if own.n_rows < LEAST_GROUP}
    if not small:
        return ranked, 0

    def without(one: _Ranked) -> _Ranked:
        groups = {name: own for name, own in one.effect.groups.items() if name not in small}
        return replace(one, effect=replace(one.effect, groups=groups))

    return [without(one) for one in ranked], len(small)


# --- cards -----------------------------------------------------------------------------------------


def _curves_kept(ranked: list[_Ranked]) -> int:
    values = sum(len(one.effect.grid[0]) * len(one.effect.outputs) for one in ranked)
    # Each subgroup's averages take as much room as a row's own curve.
    others = values * (len(ranked[0].effect.groups) + OTHER_CURVES)
    kept = min(CURVES, max(5, (FILE_VALUES - others) // max(values, 1)))
    return min(kept, *(0 if e.effect.individual is None else e.effect.individual.shape[1] for e in ranked))


def _card(study: Study, one: _Ranked, curves: int, reach: float) -> dict[str, Any]:
    effect = one.effect
    weights = None
    if study.weights is not None and effect.rows is not None:
        weights = study.weights[effect.rows]
    local, no_ale = _ale(study, one.asked)
    support = effect.support
    readings = one.decision.readings
    partner = one.decision.partner
    return {
        "number": one.number,
        "name": one.text(),
        "full": one.text(300),
        "shape": page_sentence(one.shape),
        "movement": numbers(one.decision.movement, PRINTED),
        "strength": numbers(one.reading.strength, PRINTED),
        "strengths": numbers([r.strength for r in readings], PRINTED),
        "word": strength_word(one.reading.strength),
        "strength_words": [strength_word(r.strength) for r in readings],
        "heterogeneity": numbers(one.reading.heterogeneity or 0.0, PRINTED),
        "heterogeneities": numbers([r.heterogeneity or 0.0 for r in readings], PRINTED),
        "partner": None if partner is None else page_name(effect.naming.name(partner[0])),
        "outside": 0.0 if support is None else numbers(support.outside, PRINTED),
        "correlation": None if support is None else numbers(support.correlation, 2),
        "related": ""
        if support is None
        else ", ".join(page_name(effect.naming.name(name), 40) for name, _ in support.related[:3]),
        "warning": one.caution[:1].upper() + one.caution[1:] or None,
        "readings": [page_sentence(r.sentence, effect.naming.name(one.name)) for r in readings],
        "best": one.output,
        "no_ale": no_ale,
        "spark": spark(effect, one.output, reach * output_unit(effect, one.output)),
        "panel": feature_panel(effect, local, weights, curves=curves),
    }


def _ale(study: Study, asked: Any) -> tuple[Effect | None, str]:
    try:
        return ale(study, asked, rows=_ale_rows(study)), ""
    except IcefieldError as error:  # a constant column or a one-hot group has none
        return None, page_sentence(str(error))


def _ale_rows(study: Study) -> int | None:
    chosen = study.chosen(None, when_costly=STEP_ROWS).positions
    return None if chosen is None else len(chosen)


# --- interactions ----------------------------------------------------------------------------------


def _matrix(ranked: list[_Ranked], crossed: Interactions | None) -> dict[str, Any] | None:
    if crossed is None:
        return None
    number = {one.name: one.number for one in ranked}
    outputs = ranked[0].effect.outputs
    units = [output_unit(ranked[0].effect, o) for o in range(len(outputs))]

    shown = [i for i, name in enumerate(crossed.features) if name in number]
    shown = sorted(shown, key=lambda i: number[crossed.features[i]])[:MATRIX]

    def of(value: str, o: int) -> Float:
        found = crossed.matrix(value, outputs[o])
        np.fill_diagonal(found, np.nan)
        return found[np.ix_(shown, shown)]

    gaps = int(np.isnan(of("strength", 0)).sum()) > len(shown)
    return {
        "features": [number[crossed.features[i]] for i in shown],
        "strength": [numbers(of("strength", o) / units[o], PRINTED) for o in range(len(outputs))],
        "h": [numbers(of("h", o), PRINTED) for o in range(len(outputs))],
        "note": page_sentence(opening.rows_used(crossed)) + ("; " + NOT_LOOKED_AT if gaps else ""),
    }


def _surfaces(study: Study, ranked: list[_Ranked], crossed: Interactions | None) -> list[dict[str, Any]]:
    if crossed is None:
        return []
    by_name = {one.name: one for one in ranked}
    outputs = list(ranked[0].effect.outputs)
    units = {o: output_unit(ranked[0].effect, i) for i, o in enumerate(outputs)}
    pairs = crossed.pairs()
    best: dict[tuple[Any, ...], tuple[float, float]] = {}
    every: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for names, output, strength, h in zip(
        pairs["features"].tolist(), pairs["output"].tolist(), pairs["strength"], pairs["h"]
    ):
        size = float(strength) / units[output]
        every.setdefault(names, [(0.0, 0.0)] * len(outputs))[outputs.index(output)] = (size, float(h))
        if all(name in by_name for name in names) and size >= max(SURFACE, best.get(names, (0.0, 0.0))[0]):
            best[names] = (size, float(h))
    rows = study.chosen(None, when_costly=CROSSED_ROWS).positions
    out = []
    for names, (size, h) in sorted(best.items(), key=lambda item: -item[1][0])[:SURFACES]:
        asked = [by_name[name].asked for name in names]
        (effect,) = study.effects(Ask(sets=[tuple(asked)], rows=rows))
        one, two = (
            study.effects(Ask(sets=[(a,)], grid=g, rows=rows, spread=False))[0]
            for a, g in zip(asked, effect.grid)
        )
        out.append(
            surface_panel(
                effect,
                (one, two),
                {
                    "strength": numbers(size, PRINTED),
                    "h": numbers(h, PRINTED),
                    "strengths": numbers([size for size, _ in every[names]], PRINTED),
                    "hs": numbers([h for _, h in every[names]], PRINTED),
                    "features": [by_name[name].number for name in names],
                    "rows": effect.n_rows,
                },
            )
        )
    return out


# --- regions ---------------------------------------------------------------------------------------


def _regions(study: Study, ranked: list[_Ranked]) -> list[dict[str, Any]]:
    differing = [one for one in ranked if one.reading.curves_differ]
    differing = sorted(differing, key=lambda one: -(one.reading.heterogeneity or 0.0))[:REGIONS]
    out = []
    for one in differing:
        found = regions(study, one.asked)
        if len(found) < 2:
            continue
        rules = [
            {
                "rule": page_name(rule, 200),
                "share": numbers(share, PRINTED),
                "heterogeneity": numbers(left, PRINTED),
                "effect": page_sentence(str(effect)),
            }
            for rule, share, left, effect in zip(
                found["rule"].tolist(), found["share"], found["heterogeneity"], found["effect"].tolist()
            )
        ]
        out.append(
            {
                "feature": one.number,
                "name": one.text(),
                "removed": numbers(found.removed, PRINTED),
                "rules": rules,
                "panel": regions_panel(found.effect),
            }
        )
    return out
