"""Everything the report of one model says, as a `ReportPage`; `page` only lays it out.

The recipe: one decision per feature gives the ranking and what is said; the strongest get a card, with curves, bands, ALE
and what was observed; the features that move the predictions most are crossed for interactions, the strongest pairs
become surfaces; and where individual curves differ, regions are looked for. Nothing is asked for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icefield import validate
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.effect import Effect
from icefield.errors import InputError, InputTypeError
from icefield.progress import Progress
from icefield.report import glance, opening
from icefield.report.audit_section import audit_section
from icefield.report.card_data import feature_panel
from icefield.report.comparison import build_comparison
from icefield.report.live import live_row
from icefield.report.means import Means
from icefield.report.pair_surfaces import Surfaces
from icefield.report.plain import PRINTED, numbers
from icefield.report.ranked import CARDS, Cards, Ranked, ale_rows, in_model
from icefield.report.region_cards import region_cards
from icefield.report.release import Release
from icefield.report.stills import small_curve, spark
from icefield.report.view_model import (
    Card,
    FeaturePanel,
    Finding,
    Matrix,
    Region,
    ReportPage,
    Row,
    Side,
    SurfacePanel,
)
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
    "an empty cell was not computed: for one of its features, the rows’ curves do not differ enough"
)
ONLY_CARDS = (
    "Only the {} features that move the predictions most have cards, and pairs are searched among "
    "these; the other {} are in the table only."
)
CARD_PAIRS = 3  # surfaces a card links to


def build(
    studies: Study | Mapping[Any, Study],
    features: Iterable[Any] | None = None,
    *,
    individual: bool = False,
    title: str | None = None,
    rows: Any = None,
    data_name: str | None = None,
    intervals: Callable[[Any, Effect], Effect] | None = None,
    audit: Any = None,
    release: int | None = None,
    live: bool = False,
) -> ReportPage:
    """What a page tells of one model or of several.

    Parameters
    ----------
    studies : the model and its data; several by name
    intervals : a feature and its effect to that effect with intervals of its learner

    The others are those of `icefield.Explainer.report`; of several models only those of `icefield.Comparison.report`.
    """
    _check(title, data_name, release, individual=individual, live=live, audit=audit)
    each = {"": studies} if isinstance(studies, Study) else studies
    if any(study.background == "training" for study in each.values()):
        told = "A report shows how rows differ, which training counts cannot tell."
        raise InputError.saying(told, 'use Explainer(..., background="data")')
    if len(each) > 1:
        return build_comparison(each, features, title=title, rows=rows, data_name=data_name)
    (study,) = each.values()
    began = time.perf_counter()
    row = live_row(study) if live else None  # before minutes of work: it may be refused
    asked = listed_features(features, study.model.columns)
    released = None if release is None else Release(study, release)
    if released is not None:
        study, asked = released.study, released.features(asked)
    least = release or 0
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
        ranked: list[Ranked] = []
        small = curves = 0
        for one in with_cards:
            if intervals is not None:
                one = replace(one, effect=intervals(one.asked, one.effect))
            if not individual:  # the curve of a group of a few rows is nearly those rows' own
                every = one.effect.groups
                groups = {name: own for name, own in every.items() if own.n_rows >= max(LEAST_GROUP, least)}
                one, small = replace(one, effect=replace(one.effect, groups=groups)), len(every) - len(groups)
            if released is not None:
                one = released.joined(one, rows)
            curves = 0 if one.effect.individual is None else int(one.effect.individual.shape[1])
            means = Means.of(study, one.asked, one.effect, least > 0)
            panel = feature_panel(
                one.effect, one.local, means, curves=CURVES if individual else 0, least=least
            )
            far = glance.far_from_curve(study, one, means)
            ranked.append(replace(one, effect=replace(one.effect, kept=None), panel=panel, far=far))
            progress.advance()
        others = [Ranked(place, own, own.effect) for place, own in enumerate(order[CARDS:], len(ranked))]
        kept = _curves_kept(ranked) if individual else 0
        # Word-sized curves share one scale, so that a weak effect looks weak.
        reach = max(LEAST_REACH, *(one.reach for one in ranked))
        progress.advance()
        # 3. With whom, and where.
        progress.now("regions")
        parts = region_cards(study, ranked) if released is None else []
        number = {one.text(): one.number for one in ranked}
        cards = [_card(one, kept, reach, number, surfaces, parts) for one in ranked]
        progress.advance()
        # 4. What is seen first.
        progress.now("the opening")
        first = ranked[0].effect
        name = opening.model_name(study)
        model = glance.model(name, study, made, data_name, ranked[0].output, least)
        progress.advance()
    seconds = time.perf_counter() - began
    said = "" if released is None else released.said
    lede = opening_of(study, made, fit_check(study), {one.name: one.effect.support for one in ranked})
    return ReportPage(
        title=page_name(title, 200) if title else f"How {name} responds to its features",
        lede=page_sentence(lede),
        made=opening.today(),
        models=[model],
        opening=opening.facts(study, first, seconds, data_name),
        facts=opening.details(study, first, curves, crossed, ale_rows(study), seconds, data_name, said),
        plane=glance.all_features([*ranked, *others], len(ranked), parts),
        notes=glance.notes(study, data_notes(study), [*ranked, *others], len(ranked)),
        plain=_plain(ranked),
        outputs=[page_name(o) for o in study.model.outputs],
        what=page_name(quantity(first, None)),
        bounds=numbers(first.value_range),
        unit=page_name(study.naming.target_unit, 20) if first.scale_label == "prediction" else "",
        by=None if first.by is None else page_name(first.naming.name(first.by)),
        groups=[named_value(g, first.naming, first.by, page_name, unit=False) for g in first.groups],
        small_groups=small if released is None else 0,  # whose number the page knows
        individual=kept,
        quantile_rows=curves,
        features=cards,
        rows=[*cards, *(Row(**_listed(one, reach)) for one in others)],
        only_cards=ONLY_CARDS.format(counted(len(ranked)), counted(len(others))) if others else "",
        matrix=_matrix(ranked, crossed),
        no_pairs=NO_PAIRS if crossed is None and len(study.model.columns) > 1 else "",
        surfaces=surfaces,
        regions=parts,
        audit=record,
        live=row,
    )


def _check(title: Any, data_name: Any, release: Any, **others: Any) -> None:
    """Of everything asked for: minutes of work should not be lost to a typing error."""
    validate.flag("individual", others["individual"])
    validate.flag("live", others["live"])
    for name, value, example in (("title", title, "Arrival delay"), ("data_name", data_name, "test 2024")):
        if value is not None and not isinstance(value, str):
            raise InputTypeError.about(name, "must be text", value, f'write {name}="{example}"')
    validate.count("release", release, least=2, optional=True)
    for name, value in others.items():
        if release is not None and value is not None and value is not False:
            told = f"is for files that reveal no single row, and {name} reveals some"
            raise InputError.about("release", told, release, f"leave out {name}=...")


def _plain(ranked: Sequence[Ranked]) -> list[Finding]:
    found = []
    for one in [one for one in ranked if one.reading.responds][:PLAIN_SENTENCES]:
        text = plain_words(one.reading, subject_text(one.effect, one.output))
        least = LEAST_REACH * output_unit(one.effect, one.output)
        picture = small_curve(one.effect, one.output, least, _band(one.panel, one.output))
        grade = "hidden" if one.reading.hidden else strength_word(one.reading.strength)
        cautions = [said for said in (_sentence(one.caution), one.far) if said]
        found.append(Finding(one.number, one.text(), [Side("", text)], picture, grade, cautions))
    return found


def _band(panel: FeaturePanel | None, output: int) -> tuple[Float, Float] | None:
    """What nine in ten rows do around the average, as the card has it."""
    if panel is None or panel.bands is None:
        return None
    bands = np.array(panel.bands[output], dtype=np.float64) + (panel.mean[output] or 0.0)
    return bands[0], bands[-1]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _curves_kept(ranked: Sequence[Ranked]) -> int:
    """How many rows' own curves the file has room for."""
    values = sum(len(one.effect.grid[0]) * len(one.effect.outputs) for one in ranked)
    # Each subgroup's averages take as much room as a row's own curve.
    others = values * (len(ranked[0].effect.groups) + OTHER_CURVES)
    kept = min(CURVES, max(5, (FILE_VALUES - others) // max(values, 1)))
    return min(kept, *(len(one.panel.rows or ()) if one.panel else 0 for one in ranked))


def _listed(one: Ranked, reach: float) -> dict[str, Any]:
    """What the table says of a feature."""
    return {
        "number": one.number,
        "name": one.text(),
        "full": one.text(300),
        "models": [in_model(one.decision, one.number + 1)],
        "partner": one.partner,
        "spark": spark(one.effect, one.output, reach * output_unit(one.effect, one.output)),
    }


def _card(
    one: Ranked, kept: int, reach: float, number: Mapping[str, int],
    surfaces: Sequence[SurfacePanel], parts: Sequence[Region],
) -> Card:  # fmt: skip
    """A feature with its picture; every card leads to its partner, its surfaces and its regions."""
    effect, support, readings, panel = one.effect, one.effect.support, one.decision.readings, one.panel
    assert panel is not None
    pairs = [place for place, pair in enumerate(surfaces) if one.number in pair.features]
    related = () if support is None else support.related[:3]
    return Card(
        **_listed(one, reach),
        outside=0.0 if support is None else numbers(support.outside, PRINTED),
        related=", ".join(page_name(effect.naming.name(name), 40) for name, _ in related),
        warning=_sentence(one.caution)[:-1],
        far=one.far,
        best=one.output,
        no_ale=one.no_ale,
        partner_link=f"#f{number[one.partner]}" if one.partner is not None and one.partner in number else "",
        pairs=pairs[:CARD_PAIRS],
        region=next((i for i, part in enumerate(parts) if part.feature == one.number), None),
        panel=replace(
            panel,
            curves=panel.curves and [own[:kept] for own in panel.curves],
            rows=panel.rows and panel.rows[:kept],
            strengths=numbers([r.strength for r in readings], PRINTED),
            strength_words=[strength_word(r.strength) for r in readings],
            heterogeneities=numbers([r.heterogeneity or 0.0 for r in readings], PRINTED),
            readings=[page_sentence(r.sentence, effect.naming.name(one.name)) for r in readings],
        ),
    )


def _matrix(ranked: list[Ranked], crossed: Interactions | None) -> Matrix | None:
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
    unsupported = unsupported_words(one.reading for one in ranked)
    notes = opening.rows_used(crossed), gaps and NOT_LOOKED_AT, unsupported
    strength = [numbers(of("strength", o) / unit, PRINTED) for o, unit in enumerate(units)]
    h = [numbers(of("h", o), PRINTED) for o in range(len(outputs))]
    said = page_sentence("; ".join(note for note in notes if note))
    return Matrix([number[crossed.features[i]] for i in shown], strength, h, said)
