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
from icefield.core.study import Study, for_one_call
from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.effect import Effect
from icefield.errors import InputError, InputTypeError
from icefield.progress import Progress
from icefield.report import glance, opening
from icefield.report.card_data import feature_panel
from icefield.report.comparison import build_comparison
from icefield.report.live import live_row
from icefield.report.means import Means
from icefield.report.pair_surfaces import Surfaces
from icefield.report.plain import PRINTED, numbers
from icefield.report.ranked import CARDS, Cards, RankedFeature, ale_rows, in_model
from icefield.report.region_cards import region_cards
from icefield.report.release import Release
from icefield.report.stills import small_curve, spark
from icefield.report.view_model import (
    AuditRecord,
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
    """The ReportPage of one model, or of several side by side.

    Parameters
    ----------
    studies : the model and its data; several by name
    intervals : a feature and its effect to that effect with intervals of its learner

    The others are those of `icefield.Explainer.report`; of several models only those of `icefield.Comparison.report`.
    """
    _check(title, data_name, release, individual=individual, live=live, audit=audit)
    each = {"": studies} if isinstance(studies, Study) else studies
    if any(study.background == "training" for study in each.values()):
        problem = "A report shows how rows differ, which training counts cannot tell."
        raise InputError.saying(problem, 'use Explainer(..., background="data")')
    if len(each) > 1:
        return build_comparison(each, features, title=title, rows=rows, data_name=data_name)
    began = time.perf_counter()
    study = for_one_call(*each.values())
    row = live_row(study) if live else None  # before minutes of work: it may be refused
    names = listed_features(features, study.model.columns)
    released = None if release is None else Release(study, release)
    if released is not None:
        study, names = released.study, released.features(names)
    least = release or 0
    record = _audit_record(study, audit)
    with Progress("report", total=min(CARDS, len(names)) + 5) as progress:
        # 1. What is said of every feature, and which of them have cards.
        progress.now("every feature's effect")
        made = decisions(study, names, rows=rows)
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
        ranked: list[RankedFeature] = []
        small = curves = 0
        for feature in with_cards:
            if intervals is not None:
                feature = replace(feature, effect=intervals(feature.asked, feature.effect))
            if not individual:  # the curve of a group of a few rows is nearly those rows' own
                every = feature.effect.groups
                groups = {name: g for name, g in every.items() if g.n_rows >= max(LEAST_GROUP, least)}
                small = len(every) - len(groups)
                feature = replace(feature, effect=replace(feature.effect, groups=groups))
            if released is not None:
                feature = released.with_rare_levels(feature, rows)
            curves = 0 if feature.effect.individual is None else int(feature.effect.individual.shape[1])
            means = Means.of(study, feature.asked, feature.effect, least > 0)
            panel = feature_panel(
                feature.effect, feature.local, means, curves=CURVES if individual else 0, least=least
            )
            far = glance.far_from_curve(study, feature, means)
            ranked.append(replace(feature, effect=replace(feature.effect, kept=None), panel=panel, far=far))
            progress.advance()
        rest = [RankedFeature(place, d, d.effect) for place, d in enumerate(order[CARDS:], len(ranked))]
        n_curves = _curves_kept(ranked) if individual else 0
        # Word-sized curves share one scale, so that a weak effect looks weak.
        reach = max(LEAST_REACH, *(feature.reach for feature in ranked))
        progress.advance()
        # 3. With whom, and where.
        progress.now("regions")
        parts = region_cards(study, ranked) if released is None else []
        number = {feature.text(): feature.number for feature in ranked}
        cards = [_card(feature, n_curves, reach, number, surfaces, parts) for feature in ranked]
        progress.advance()
        # 4. What is seen first.
        progress.now("the opening")
        first, name = ranked[0].effect, opening.model_name(study)
        model = glance.model(name, study, made, data_name, ranked[0].output, least)
        progress.advance()
    seconds = time.perf_counter() - began
    note = "" if released is None else released.note
    lede = opening_of(study, made, fit_check(study), {card.name: card.effect.support for card in ranked})
    return ReportPage(
        title=page_name(title, 200) if title else f"How {name} responds to its features",
        lede=page_sentence(lede),
        made=opening.today(),
        models=[model],
        opening=opening.facts(study, first, seconds, data_name),
        facts=opening.details(study, first, curves, crossed, ale_rows(study), seconds, data_name, note),
        plane=glance.all_features([*ranked, *rest], len(ranked), parts),
        notes=glance.notes(study, data_notes(study), [*ranked, *rest], len(ranked)),
        plain=_findings(ranked),
        outputs=[page_name(o) for o in study.model.outputs],
        what=page_name(quantity(first, None)),
        bounds=numbers(first.value_range),
        unit=page_name(study.naming.target_unit, 20) if first.scale_label == "prediction" else "",
        by=None if first.by is None else page_name(first.naming.name(first.by)),
        groups=[named_value(g, first.naming, first.by, page_name, unit=False) for g in first.groups],
        small_groups=small if released is None else 0,  # whose number the page knows
        individual=n_curves,
        quantile_rows=curves,
        features=cards,
        rows=[*cards, *(Row(**_table_row(feature, reach)) for feature in rest)],
        only_cards=ONLY_CARDS.format(counted(len(ranked)), counted(len(rest))) if rest else "",
        matrix=_matrix(ranked, crossed),
        no_pairs=NO_PAIRS if crossed is None and len(study.model.columns) > 1 else "",
        surfaces=surfaces,
        regions=parts,
        audit=record,
        live=row,
    )


def _check(title: Any, data_name: Any, release: Any, **options: Any) -> None:
    """Check the arguments before any work: minutes of it should not be lost to a typing error."""
    validate.flag("individual", options["individual"])
    validate.flag("live", options["live"])
    for name, value, example in (("title", title, "Arrival delay"), ("data_name", data_name, "test 2024")):
        if value is not None and not isinstance(value, str):
            raise InputTypeError.about(name, "must be text", value, f'write {name}="{example}"')
    validate.count("release", release, least=2, optional=True)
    for name, value in options.items():
        if release is not None and value is not None and value is not False:
            problem = f"is for files that reveal no single row, and {name} reveals some"
            raise InputError.about("release", problem, release, f"leave out {name}=...")


def _audit_record(study: Study, given: Any) -> AuditRecord | None:
    """The section on an audit or checks; None where neither was asked for."""
    if given is None or given is False:
        return None
    from icefield.report.audit_section import audit_section  # audits have many modules of their own

    return audit_section(study, given)


def _findings(ranked: Sequence[RankedFeature]) -> list[Finding]:
    findings = []
    for feature in [feature for feature in ranked if feature.reading.responds][:PLAIN_SENTENCES]:
        text = plain_words(feature.reading, subject_text(feature.effect, feature.output))
        least = LEAST_REACH * output_unit(feature.effect, feature.output)
        picture = small_curve(feature.effect, feature.output, least, _band(feature.panel, feature.output))
        grade = "hidden" if feature.reading.hidden else strength_word(feature.reading.strength)
        cautions = [caution for caution in (_sentence(feature.caution), feature.far) if caution]
        findings.append(Finding(feature.number, feature.text(), [Side("", text)], picture, grade, cautions))
    return findings


def _band(panel: FeaturePanel | None, output: int) -> tuple[Float, Float] | None:
    """The card's band around the average, low and high: what nine in ten rows do; None where it has none."""
    if panel is None or panel.bands is None:
        return None
    bands = np.array(panel.bands[output], dtype=np.float64) + (panel.mean[output] or 0.0)
    return bands[0], bands[-1]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _curves_kept(ranked: Sequence[RankedFeature]) -> int:
    """How many rows' own curves the file has room for."""
    values = sum(len(feature.effect.grid[0]) * len(feature.effect.outputs) for feature in ranked)
    # Each subgroup's averages take as much room as a row's own curve.
    other_values = values * (len(ranked[0].effect.groups) + OTHER_CURVES)
    n_curves = min(CURVES, max(5, (FILE_VALUES - other_values) // max(values, 1)))
    return min(n_curves, *(len(feature.panel.rows or ()) if feature.panel else 0 for feature in ranked))


def _table_row(feature: RankedFeature, reach: float) -> dict[str, Any]:
    """A feature's row of the table, by the fields of `Row`: names, decision, partner and word-sized curve."""
    return {
        "number": feature.number,
        "name": feature.text(),
        "full": feature.text(300),
        "models": [in_model(feature.decision, feature.number + 1)],
        "partner": feature.partner,
        "spark": spark(feature.effect, feature.output, reach * output_unit(feature.effect, feature.output)),
    }


def _card(
    card: RankedFeature, n_curves: int, reach: float, number: Mapping[str, int],
    surfaces: Sequence[SurfacePanel], parts: Sequence[Region],
) -> Card:  # fmt: skip
    """A feature with its picture; every card leads to its partner, its surfaces and its regions."""
    effect, support, readings, panel = card.effect, card.effect.support, card.decision.readings, card.panel
    assert panel is not None
    pairs = [place for place, pair in enumerate(surfaces) if card.number in pair.features]
    related = () if support is None else support.related[:3]
    return Card(
        **_table_row(card, reach),
        outside=0.0 if support is None else numbers(support.outside, PRINTED),
        related=", ".join(page_name(effect.naming.name(name), 40) for name, _ in related),
        warning=_sentence(card.caution)[:-1],
        far=card.far,
        best=card.output,
        no_ale=card.no_ale,
        partner_link=f"#f{number[p]}" if (p := card.partner) is not None and p in number else "",
        pairs=pairs[:CARD_PAIRS],
        region=next((i for i, part in enumerate(parts) if part.feature == card.number), None),
        panel=replace(
            panel,
            curves=panel.curves and [curves[:n_curves] for curves in panel.curves],
            rows=panel.rows and panel.rows[:n_curves],
            strengths=numbers([r.strength for r in readings], PRINTED),
            strength_words=[strength_word(r.strength) for r in readings],
            heterogeneities=numbers([r.heterogeneity or 0.0 for r in readings], PRINTED),
            readings=[page_sentence(r.sentence, effect.naming.name(card.name)) for r in readings],
        ),
    )


def _matrix(ranked: list[RankedFeature], crossed: Interactions | None) -> Matrix | None:
    if crossed is None:
        return None
    number = {feature.name: feature.number for feature in ranked}
    outputs = ranked[0].effect.outputs
    units = [output_unit(ranked[0].effect, o) for o in range(len(outputs))]

    shown = [i for i, name in enumerate(crossed.features) if name in number]
    shown = sorted(shown, key=lambda i: number[crossed.features[i]])[:MATRIX]

    def of(value: str, o: int) -> Float:
        matrix = crossed.matrix(value, outputs[o])
        np.fill_diagonal(matrix, np.nan)
        return matrix[np.ix_(shown, shown)]

    gaps = int(np.isnan(of("strength", 0)).sum()) > len(shown)
    unsupported = unsupported_words(feature.reading for feature in ranked)
    notes = opening.rows_used(crossed), gaps and NOT_LOOKED_AT, unsupported
    strength = [numbers(of("strength", o) / unit, PRINTED) for o, unit in enumerate(units)]
    h = [numbers(of("h", o), PRINTED) for o in range(len(outputs))]
    footnote = page_sentence("; ".join(note for note in notes if note))
    return Matrix([number[crossed.features[i]] for i in shown], strength, h, footnote)
