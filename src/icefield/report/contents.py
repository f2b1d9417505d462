"""Everything the report says, as one plain dict; `page` only lays it out.

The recipe: one decision per feature gives the ranking and what is said; the strongest get a card, with curves, bands, ALE
and what was observed; the features that move the predictions most are crossed for interactions, the strongest pairs
become surfaces; and where individual curves differ, regions are looked for. Nothing is asked for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.effect import Effect
from icefield.errors import InputError
from icefield.progress import Progress
from icefield.report import glance, opening
from icefield.report.audit_section import audit_section
from icefield.report.card_data import feature_panel
from icefield.report.means import Means
from icefield.report.pair_surfaces import Surfaces
from icefield.report.plain import PRINTED, numbers
from icefield.report.ranked import CARDS, Cards, Ranked, ale_rows, without_cards
from icefield.report.region_cards import region_cards
from icefield.report.release import Release
from icefield.report.stills import small_curve, spark
from icefield.statistics.data_notes import data_notes
from icefield.statistics.decision import decisions
from icefield.statistics.fit_check import fit_check
from icefield.statistics.ice_statistics import output_unit
from icefield.statistics.interactions import Interactions
from icefield.statistics.summary import opening_of
from icefield.typing import Float
from icefield.wording.labels import quantity, subject_text
from icefield.wording.names import page_name, page_sentence
from icefield.wording.sentences import plain_words, strength_word, unsupported_words
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
CARD_PAIRS = 3  # surfaces a card links to


def build(
    study: Study,
    features: Iterable[Any] | None = None,
    *,
    individual: bool = False,
    title: str | None = None,
    rows: Any = None,
    data_name: str | None = None,
    intervals: Callable[[Any, Effect], Effect] | None = None,
    audit: Any = None,
    release: int | None = None,
) -> dict[str, Any]:
    """Request everything and answer with plain data; see `icefield.report.write_report`."""
    if study.background == "training":
        raise InputError(
            "A report shows how rows differ, which training counts do not know. "
            'Hint: use Explainer(..., background="data").'
        )
    began = time.perf_counter()
    asked = listed_features(features, study.model.columns)
    released = None
    if release is not None:
        released = Release(study, release)
        study, asked = released.study, released.features(asked)
    least = 0 if release is None else release
    record = audit_section(study, audit)
    with Progress("report", total=min(CARDS, len(asked)) + 5) as progress:
        # 1. What is said of every feature, and which of them have cards.
        progress.now("every feature's effect")
        made = decisions(study, asked, rows=rows)
        order = list(made.values())
        progress.advance(2)
        # 2. The strongest pairs, and what the cards draw; a feature's many curves go when its card is laid out.
        progress.now("the strongest pairs")
        crossed = made.pairs
        pairs = Surfaces(study, order[:CARDS], crossed)
        progress.now("curves and local effects")
        edges = None if released is None else released.edges
        with_cards = Cards(study, order[:CARDS], rows, pairs.singles, edges)
        surfaces = pairs.panels(with_cards.singles, least)
        ranked, panels, far, small, curves = [], [], [], 0, 0
        for one in with_cards:
            if intervals is not None:
                one = replace(one, effect=intervals(one.asked, one.effect))
            if not individual:
                one, small = _without_small_groups(one, max(LEAST_GROUP, least))
            if released is not None:
                one = released.joined(one, rows)
            curves = 0 if one.effect.individual is None else int(one.effect.individual.shape[1])
            means = Means.of(study, one.asked, one.effect, least > 0)
            panels.append(
                feature_panel(one.effect, one.local, means, curves=CURVES if individual else 0, least=least)
            )
            far.append(glance.far_from_curve(study, one, means))
            ranked.append(replace(one, effect=replace(one.effect, kept=None)))
            progress.advance()
        others = without_cards(order[CARDS:], len(ranked))
        kept = _curves_kept(ranked, panels) if individual else 0
        # Word-sized curves share one scale, so that a weak effect looks weak.
        reach = max(LEAST_REACH, *(one.reach for one in ranked))
        cards = [_card(one, panel, reach, text) for one, panel, text in zip(ranked, panels, far)]
        progress.advance()
        # 3. With whom, and where.
        progress.now("regions")
        parts = region_cards(study, ranked) if released is None else []
        _link(cards, surfaces, parts)
        progress.advance()
        # 4. What is seen first.
        progress.now("the opening")
        first = ranked[0].effect
        fit = glance.fit(study, data_name, least)
        shares = glance.shares(study, made, ranked[0].output)
        progress.advance()
    seconds = time.perf_counter() - began
    return {
        "title": page_name(title, 200)
        if title
        else f"How {opening.model_name(study)} responds to its features",
        "lede": page_sentence(
            opening_of(study, made, fit_check(study), {one.name: one.effect.support for one in ranked})
        ),
        "made": datetime.now().astimezone().strftime("%d %B %Y, %H:%M"),
        "models": [opening.model_name(study)],
        "opening": opening.facts(study, first, seconds, data_name),
        "facts": opening.details(
            study,
            first,
            curves,
            crossed,
            ale_rows(study),
            seconds,
            data_name,
            "" if released is None else released.said,
        ),
        "fit": fit,
        "shares": shares,
        "plane": glance.all_features([*ranked, *others], len(ranked), parts),
        "notes": glance.notes(study, data_notes(study), [*ranked, *others], len(ranked)),
        "plain": _plain(ranked, panels, far),
        "outputs": [page_name(o) for o in study.model.outputs],
        "what": page_name(quantity(first, None)),
        "bounds": numbers(first.value_range),
        "unit": page_name(study.naming.target_unit, 20) if first.scale_label == "prediction" else "",
        "by": None if first.by is None else page_name(first.naming.name(first.by)),
        "groups": [named_value(g, first.naming, first.by, page_name, unit=False) for g in first.groups],
        "small_groups": small if released is None else 0,  # whose number the page knows
        "individual": kept,
        "quantile_rows": curves,
        "features": cards,
        "others": [_listed(one, reach) for one in others],
        "only_cards": _only_cards(len(ranked), len(others)),
        "matrix": _matrix(ranked, crossed),
        "no_pairs": NO_PAIRS if crossed is None and len(study.model.columns) > 1 else "",
        "surfaces": surfaces,
        "regions": parts,
        "audit": record,
    }


def _plain(
    ranked: Sequence[Ranked], panels: Sequence[dict[str, Any]], far: Sequence[str]
) -> list[dict[str, Any]]:
    told = [one for one in ranked if one.reading.responds][:PLAIN_SENTENCES]
    return [
        {
            "feature": one.number,
            "name": one.text(),
            "text": plain_words(one.reading, subject_text(one.effect, one.output)),
            "strength": "hidden" if one.reading.hidden else strength_word(one.reading.strength),
            "caution": _sentence(one.caution),
            "far": far[one.number],
            "picture": small_curve(
                one.effect,
                one.output,
                LEAST_REACH * output_unit(one.effect, one.output),
                _band(panels[one.number], one.output),
            ),
        }
        for one in told
    ]


def _band(panel: dict[str, Any], output: int) -> tuple[Float, Float] | None:
    """What nine in ten rows do around the average, as the card has it."""
    if "bands" not in panel:
        return None
    bands = np.array(panel["bands"][output], dtype=np.float64) + panel["mean"][output]
    return bands[0], bands[-1]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _only_cards(cards: int, others: int) -> str:
    if not others:
        return ""
    return (
        f"Only the {counted(cards)} features that move the predictions most have cards, and pairs are looked for among "
        f"these; the other {counted(others)} are in the table, without what takes a card to tell."
    )


def _without_small_groups(one: Ranked, least: int) -> tuple[Ranked, int]:
    """The curve of a group of a few rows is nearly those rows' own: it is left out unless asked for."""
    groups = {name: own for name, own in one.effect.groups.items() if own.n_rows >= least}
    small = len(one.effect.groups) - len(groups)
    return replace(one, effect=replace(one.effect, groups=groups)) if small else one, small


# --- cards -----------------------------------------------------------------------------------------


def _curves_kept(ranked: Sequence[Ranked], panels: Sequence[dict[str, Any]]) -> int:
    """How many rows' own curves the file has room for; the others leave the panels."""
    values = sum(len(one.effect.grid[0]) * len(one.effect.outputs) for one in ranked)
    # Each subgroup's averages take as much room as a row's own curve.
    others = values * (len(ranked[0].effect.groups) + OTHER_CURVES)
    kept = min(CURVES, max(5, (FILE_VALUES - others) // max(values, 1)))
    kept = min(kept, *(len(panel.get("rows", ())) for panel in panels))
    for panel in panels:
        if "curves" in panel:
            panel["curves"] = [own[:kept] for own in panel["curves"]]
            panel["rows"] = panel["rows"][:kept]
    return kept


def _listed(one: Ranked, reach: float) -> dict[str, Any]:
    """What the table says of a feature."""
    return {
        "number": one.number,
        "name": one.text(),
        "full": one.text(300),
        "shape": page_sentence(
            f"{one.shape} ({page_name(one.reading.output, 30)})" if one.reading.several else one.shape
        ),
        "movement": numbers(one.decision.movement, PRINTED),
        "strength": numbers(one.reading.strength, PRINTED),
        "word": strength_word(one.reading.strength),
        "heterogeneity": numbers(one.reading.heterogeneity or 0.0, PRINTED),
        "partner": one.partner,
        "spark": spark(one.effect, one.output, reach * output_unit(one.effect, one.output)),
    }


def _card(one: Ranked, panel: dict[str, Any], reach: float, far: str) -> dict[str, Any]:
    effect = one.effect
    support = effect.support
    readings = one.decision.readings
    return {
        **_listed(one, reach),
        "strengths": numbers([r.strength for r in readings], PRINTED),
        "strength_words": [strength_word(r.strength) for r in readings],
        "heterogeneities": numbers([r.heterogeneity or 0.0 for r in readings], PRINTED),
        "outside": 0.0 if support is None else numbers(support.outside, PRINTED),
        "correlation": None if support is None else numbers(support.correlation, 2),
        "related": ""
        if support is None
        else ", ".join(page_name(effect.naming.name(name), 40) for name, _ in support.related[:3]),
        "warning": _sentence(one.caution)[:-1] or None,
        "far": far,
        "readings": [page_sentence(r.sentence, effect.naming.name(one.name)) for r in readings],
        "best": one.output,
        "no_ale": one.no_ale,
        "partner_link": "",
        "pairs": [],
        "region": None,
        "panel": panel,
    }


def _link(
    cards: list[dict[str, Any]], surfaces: Sequence[dict[str, Any]], parts: Sequence[dict[str, Any]]
) -> None:
    """Let every card lead to its surfaces and regions."""
    number = {card["name"]: card["number"] for card in cards}
    for card in cards:
        if card["partner"] in number:
            card["partner_link"] = f"#f{number[card['partner']]}"
        for place, pair in enumerate(surfaces):
            if card["number"] in pair["features"] and len(card["pairs"]) < CARD_PAIRS:
                other = pair["names"][1 - pair["features"].index(card["number"])]
                card["pairs"].append({"surface": place, "name": other})
        card["region"] = next((i for i, part in enumerate(parts) if part["feature"] == card["number"]), None)


# --- interactions ----------------------------------------------------------------------------------


def _matrix(ranked: list[Ranked], crossed: Interactions | None) -> dict[str, Any] | None:
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
    notes = (
        opening.rows_used(crossed),
        NOT_LOOKED_AT if gaps else "",
        unsupported_words(one.reading for one in ranked),
    )
    return {
        "features": [number[crossed.features[i]] for i in shown],
        "strength": [numbers(of("strength", o) / units[o], PRINTED) for o in range(len(outputs))],
        "h": [numbers(of("h", o), PRINTED) for o in range(len(outputs))],
        "note": page_sentence("; ".join(note for note in notes if note)),
    }
