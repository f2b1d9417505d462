"""Several models side by side: what changed first, then every feature in all of them.

Each model is decided on by itself, with its own rows; curves are asked for on the first model's grid, so that they can be
subtracted. A change is how far two curves are apart beyond a constant, in standard deviations of the first model's
predictions: a model that predicts more everywhere has another level, and the same effects.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from icefield.core.effects import Request, compute_effects
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.effect import Effect
from icefield.errors import IcefieldError, InputError
from icefield.progress import Progress
from icefield.report import glance, opening
from icefield.report.card_data import models_panel
from icefield.report.plain import PRINTED, numbers
from icefield.report.ranked import CARDS, in_model
from icefield.report.region_cards import size_texts
from icefield.report.stills import against, small_curve
from icefield.report.view_model import Card, Fact, FeaturePanel, Finding, ReportPage, Row, SameRows, Side
from icefield.sampling import CURVE_ROWS, PREDICTION_ROWS, choose_rows
from icefield.statistics.decision import Decision, decisions
from icefield.statistics.fit_score import Observed, along_predictions
from icefield.statistics.ice_statistics import deviation, output_unit, point_weights, shown_points
from icefield.typing import Float
from icefield.wording.labels import quantity, subject_text
from icefield.wording.names import page_name, page_sentence
from icefield.wording.sentences import plain_words
from icefield.wording.values import number_text, sd_text

NOTICEABLE = 0.07  # standard deviations: below, a change is none, as a strength is
SENTENCES = 6
MOST_MODELS = 8  # that colours tell apart


@dataclass(frozen=True, eq=False)
class InModels:
    """One feature in all models: its decisions, its curves on one grid, and how far these are apart.

    Effects and decisions are one per model.
    """

    name: Any
    effects: tuple[Effect, ...]
    decisions: tuple[Decision, ...]

    @cached_property
    def change(self) -> Float:
        """Largest distance of any model's curve from the first's, per output, in its standard deviations."""
        first, apart = self.effects[0], []
        shown, weights = shown_points(first), point_weights(first)
        for other in self.effects[1:]:
            difference = other.average[:, shown] - first.average[:, shown]
            apart.append(deviation(np.where(np.isfinite(difference), difference, 0.0), weights))
        return np.max(apart, axis=0) / [output_unit(first, o) for o in range(len(first.outputs))]

    @property
    def output(self) -> int:
        """The output that changed most."""
        return int(np.argmax(self.change))

    @property
    def most(self) -> float:
        return float(self.change.max())

    def text(self, limit: int = 80) -> str:
        return page_name(self.effects[0].naming.name(self.name), limit)


def build_comparison(
    studies: Mapping[Any, Study],
    features: Iterable[Any] | None = None,
    *,
    title: str | None = None,
    rows: Any = None,
    data_name: str | None = None,
) -> ReportPage:
    """The ReportPage that compares several models; see `icefield.report.build`."""
    began = time.perf_counter()
    names, each = [page_name(name, 40) for name in studies], list(studies.values())
    _check(studies)
    shared, left_out = _common_features(studies, features)
    with Progress("comparison", total=2 * len(studies) + 1) as progress:
        made = []
        for study in each:
            made.append(decisions(study, shared, rows=rows))
            progress.advance()
        effects, refused = _on_one_grid(each, shared, rows, progress)
        changed = [InModels(label, sides, tuple(d[label] for d in made)) for label, sides in effects.items()]
        changed.sort(key=lambda feature: (-feature.most, -max(d.movement for d in feature.decisions)))
        models = [glance.model(*given, data_name) for given in zip(names, each, made)]
        progress.advance()
    if not changed:
        raise InputError(f"No feature could be compared: {'; '.join(refused.values())}")
    seconds = time.perf_counter() - began
    ranks = [{label: place + 1 for place, label in enumerate(ranked)} for ranked in made]
    lead = changed[0].effects[0]
    together = _predictions(each[0], each[1], names)
    listed = [_table_row(number, feature, ranks) for number, feature in enumerate(changed)]
    cards = [Card(**row, panel=_panel(feature, names)) for row, feature in zip(listed, changed[:CARDS])]
    return ReportPage(
        title=page_name(title, 200) if title else f"How {_all_of(names)} differ",
        lede=_lede(changed, names, together),
        made=opening.today(),
        models=models,
        together=together,
        plain=[_finding(number, feature, names) for number, feature in enumerate(changed[:SENTENCES]) if feature.most >= NOTICEABLE],
        left_out=_left_out(left_out, refused, names),
        outputs=[page_name(o) for o in lead.outputs],
        what=page_name(quantity(lead, None)),
        bounds=numbers(lead.value_range),
        by="model",
        groups=names,
        rows=[*cards, *(Row(**row) for row in listed[CARDS:])],
        only_cards=f"Only the {CARDS} that changed most have curves below." if len(changed) > CARDS else "",
        features=cards,
        facts=_facts(studies, names, seconds),
    )  # fmt: skip


# --- what can be compared ----------------------------------------------------------------------------


def _check(studies: Mapping[Any, Study]) -> None:
    if len(studies) > MOST_MODELS:
        raise InputError.about("members", f"must be at most {MOST_MODELS} to be reported on", len(studies))
    name, first = next(iter(studies.items()))
    for other, study in studies.items():
        for what, value_of in (
            ("number of outputs", lambda model: len(model.outputs)),
            ("scale", lambda model: model.scale_label),
        ):
            if value_of(study.model) != value_of(first.model):
                problem = f"must agree in their {what}: {name!r} has {value_of(first.model)!r}, {other!r} has another"
                raise InputError.about("members", problem, value_of(study.model))


def _common_features(
    studies: Mapping[Any, Study], features: Iterable[Any] | None
) -> tuple[list[Any], dict[Any, list[int]]]:
    """Features of all models, and those that only some have, with the places of these models."""
    if features is not None:
        return listed_features(features, next(iter(studies.values())).model.columns), {}
    columns = [list(study.model.columns) for study in studies.values()]
    shared = [name for name in columns[0] if all(name in names for names in columns)]
    if not shared:
        raise InputError.about("members", "have no feature in common", [names[:3] for names in columns])
    partial = dict.fromkeys(name for names in columns for name in names if name not in shared)
    return shared, {name: [i for i, names in enumerate(columns) if name in names] for name in partial}


def _on_one_grid(
    studies: Sequence[Study], names: Sequence[Any], rows: Any, progress: Progress
) -> tuple[dict[Any, tuple[Effect, ...]], dict[Any, str]]:
    """Every feature's curves on the first model's grid; those that a model refuses there, with the reason."""
    effects = {e.features[0]: [e] for e in _curves(studies[0], names, None, rows)}
    progress.advance()
    refused: dict[Any, str] = {}
    for study in studies[1:]:
        grids = {label: curves[0].grid[0] for label, curves in effects.items()}
        try:
            for effect in _curves(study, names, grids, rows):
                effects[effect.features[0]].append(effect)
        except IcefieldError:  # one of them: each by itself says which
            for name in names:
                label = study.feature(name).label
                try:
                    effects[label] += _curves(study, [name], {label: grids[label]}, rows)
                except IcefieldError as error:
                    refused[label] = str(error)
        progress.advance()
    return {label: tuple(curves) for label, curves in effects.items() if len(curves) == len(studies)}, refused


def _curves(study: Study, names: Sequence[Any], grid: Any, rows: Any) -> list[Effect]:
    chosen, sets = study.chosen(rows, when_costly=CURVE_ROWS), [(name,) for name in names]
    ask = Request(sets=sets, grid=grid, spread=False, rows=chosen.positions, sampled_from=chosen.sampled_from)
    return compute_effects(study, ask)


# --- what is said ------------------------------------------------------------------------------------


def _all_of(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _lede(changed: Sequence[InModels], names: Sequence[str], together: SameRows | None) -> str:
    noticed = [feature for feature in changed if feature.most >= NOTICEABLE]
    text = f"Of {counted(len(changed))} features, {counted(len(noticed)) if noticed else 'none'} "
    text += "behaves differently" if len(noticed) < 2 else "behave differently"
    text += f" from {names[0]}"
    if noticed:
        text += f"; {noticed[0].text()} changes most, by {sd_text(noticed[0].most)} standard deviations of the predictions"
    if together is not None:
        both = f" of {_all_of(together.names)}" if len(names) > 2 else ""
        text += f". On the same rows, predictions{both} correlate by {number_text(together.correlation, decimals=2)}"
    return text + "."


def _finding(number: int, feature: InModels, names: Sequence[str]) -> Finding:
    o, first = feature.output, feature.effects[0]
    readings = [decision.readings[o] for decision in feature.decisions]
    sides = [
        Side(name, page_sentence(plain_words(reading, subject_text(effect, o))), size)
        for name, size, reading, effect in zip(names, size_texts(readings), readings, feature.effects)
    ]
    curves = [_at_first_level(first, effect, o) for effect in feature.effects[1:]]
    of = f", {page_name(first.outputs[o])}" if len(first.outputs) > 1 else ""
    picture = small_curve(first, o, NOTICEABLE * output_unit(first, o), behind=curves)
    return Finding(number, feature.text(), sides, picture, f"differs by {feature.most:.2f} SD{of}")


def _at_first_level(first: Effect, effect: Effect, output: int) -> Float:
    """Another model's average, moved to the first one's mean: effects are compared, not levels."""
    weights, shown = point_weights(first), shown_points(first)
    return effect.average[output] + weights @ (first.average[output][shown] - effect.average[output][shown])


def _table_row(number: int, feature: InModels, ranks: Sequence[Mapping[Any, int]]) -> dict[str, Any]:
    """A feature's row of the table, by the fields of `Row`: names, largest change, and each model's decision."""
    return {
        "number": number,
        "name": feature.text(),
        "full": feature.text(300),
        "change": numbers(feature.most, PRINTED),
        "models": [in_model(d, rank[feature.name]) for d, rank in zip(feature.decisions, ranks)],
    }


def _panel(feature: InModels, names: Sequence[str]) -> FeaturePanel:
    each = [
        [page_sentence(r.sentence, effect.naming.name(feature.name)) for r in decision.readings]
        for effect, decision in zip(feature.effects, feature.decisions)
    ]
    readings = ["\n".join(map(": ".join, zip(names, of_output))) for of_output in zip(*each)]
    return replace(models_panel(feature.effects, each), readings=readings)


def _left_out(
    some: Mapping[Any, Sequence[int]], refused: Mapping[Any, str], names: Sequence[str]
) -> list[str]:
    lines = []
    for place, name in enumerate(names):
        extra = [page_name(column, 40) for column, models in some.items() if place in models]
        if extra:
            more = f" and {len(extra) - 8} more" if len(extra) > 8 else ""
            lines.append(f"Not in every model, so not compared; {name} has {', '.join(extra[:8])}{more}.")
    if refused:
        columns = ", ".join(page_name(label, 40) for label in list(refused)[:8])
        lines.append(f"Not compared, because a model does not know all values of another’s data: {columns}.")
    return lines


def _facts(studies: Mapping[Any, Study], names: Sequence[str], seconds: float) -> list[Fact]:
    texts = (opening.model_text, opening.data_text, opening.how, opening.hashes_text)
    facts = [Fact(name, "; ".join(text(s) for text in texts)) for name, s in zip(names, studies.values())]
    change = "standard deviation, over the data, of the difference of two average curves, in standard deviations of the predictions of"
    grid = Fact("Grid", f"all curves on that of {names[0]}")
    return [*facts, grid, Fact("Change", f"{change} {names[0]}"), Fact("Made", opening.made_text(seconds))]


def _predictions(study: Study, other: Study, names: Sequence[str]) -> SameRows | None:
    """Agreement of the first two models' predictions on the same rows; None where they were given other rows."""
    if study.sample.n_rows != other.sample.n_rows or not _same_rows(study, other):
        return None
    chosen = choose_rows(None, study.sample.n_rows, study.seed, PREDICTION_ROWS).positions
    rows = np.arange(study.sample.n_rows) if chosen is None else np.sort(chosen)
    first, second, weights = study.predictions(rows), other.predictions(rows), study.sample.row_weights(rows)
    seen = Observed(rows, study.sample.n_rows, second, first, weights, False)
    share = weights / weights.sum()
    a, b = first[:, 0] - share @ first[:, 0], second[:, 0] - share @ second[:, 0]
    size = np.sqrt((share @ a**2) * (share @ b**2))
    if not size > 0:
        return None
    bins = along_predictions(seen, 0)
    return SameRows(
        [names[0], names[1]],
        page_name(study.model.outputs[0]),
        counted(len(rows)),
        numbers(share @ (a * b) / size, 6),
        number_text(float(share @ np.abs(first[:, 0] - second[:, 0]))),
        None if bins is None else against([("", bins)], (names[0], names[1]), False),
    )


def _same_rows(study: Study, other: Study) -> bool:
    """Whether what both models use is the same in the same order, as far as a look at some rows tells."""
    shared = [name for name in study.model.columns if name in other.model.columns]
    if study.sample.table is other.sample.table:
        return True
    if not shared:
        return False
    rows = np.unique(np.linspace(0, study.sample.n_rows - 1, 200).round().astype(np.intp))
    a, b = study.sample.table.take(rows), other.sample.table.take(rows)
    return all([*map(str, a.column(name).shown())] == [*map(str, b.column(name).shown())] for name in shared)
