"""What is seen first: how well the model fits, of what its predictions consist, and which features matter how.

Everything is said of the rows given. A score is no promise about others; shares of variance say by which rule they
were made, because with features that go together there are several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icefield.core.study import Study
from icefield.counts import counted
from icefield.plots.panels import Panel
from icefield.report import opening
from icefield.report.means import Means
from icefield.report.plain import numbers
from icefield.report.ranked import RankedFeature
from icefield.report.stills import Point, against, plane
from icefield.report.view_model import DataNote, Fit, ModelFacts, NamedColumn, Region, Score, Share, Shares
from icefield.statistics import fit_score
from icefield.statistics.data_notes import DataNotes
from icefield.statistics.decision import Decisions
from icefield.statistics.fit_check import fit_check
from icefield.statistics.variance_shares import variance_shares
from icefield.wording.fit import fit_words
from icefield.wording.names import name_text, page_name
from icefield.wording.values import number_text

CALIBRATED = 4  # classes whose calibration is drawn
NAMED = 8  # columns that a note names
NO_Y = "Not known: no observed targets were given. With y=, the page says how well the predictions fit them."


def model(
    name: str, study: Study, made: Decisions, data_name: str | None, best: int = 0, least: int = 0
) -> ModelFacts:
    """One of the page's models; `best` is the output that is told of where there is no script."""
    top = [page_name(study.naming.name(label), 30) for label in list(made)[:3]]
    texts = opening.model_text(study), opening.data_text(study, data_name)
    return ModelFacts(name, *texts, fit(study, data_name, least), shares(study, made, best), ", ".join(top))


def fit(study: Study, data_name: str | None = None, least: int = 0) -> Fit:
    """Scores on the rows given and observed against predicted; without targets, why there are none.

    With `least`, the picture tells means of at least this many rows, and no quantiles.
    """
    seen, why = fit_score.observed(study)
    if seen is None:
        return Fit(why=f"Not known: {why}." if study.sample.y is not None else NO_Y)
    check = fit_check(study)
    groups = [
        (_class_name(study.model.outputs[o]), replace(bins, low=None, high=None) if least else bins)
        for o in range(min(CALIBRATED if seen.classes else 1, seen.truth.shape[1]))
        if (bins := fit_score.along_predictions(seen, o)) is not None and bins.rows.min() >= least
    ]
    axes = ("predicted probability", "observed share") if seen.classes else ("predicted", "observed")
    return Fit(
        scores=_class_scores(study, seen) if seen.classes else _number_scores(study, seen),
        rows=_rows_scored(seen) + (f", {page_name(data_name, 60)}" if data_name else ""),
        picture=against(groups, axes, seen.classes) if groups else None,
        names=[name for name, _ in groups],
        classes=seen.classes,
        about=_picture_text(seen, groups),
        caution="" if check is None else check.caution,
        carried="" if check is None or check.caution else f"{fit_words(check)}.",
    )


def _rows_scored(seen: fit_score.Observed) -> str:
    rows, every = counted(len(seen.rows)), counted(seen.all_rows)
    sampled = f"on {rows} of the {every} rows given, sampled with the seed"
    return f"on the {rows} rows given" if rows == every else sampled


def _number_scores(study: Study, seen: fit_score.Observed) -> list[Score]:
    unit = f" {name_text(study.naming.target_unit, 20)}" if study.naming.target_unit else ""
    scores = []
    several = len(study.model.outputs) > 1
    for o, output in enumerate(study.model.outputs[:3]):
        of = f", {page_name(output, 30)}" if several else ""
        share, error = fit_score.explained(seen)[o], float(fit_score.root_mean_square(seen)[o])
        if np.isfinite(share):
            scores.append(Score(f"R²{of}", _share_text(float(share)), "share of the variance explained"))
        scores.append(Score(f"RMSE{of}", number_text(error) + unit, "root mean squared error"))
        if not several:
            error = float(fit_score.mean_absolute(seen)[o])
            scores.append(Score("MAE", number_text(error) + unit, "mean absolute error"))
    return scores


def _share_text(share: float) -> str:
    return number_text(share, decimals=3 if share > 0.985 else 2)


def _class_scores(study: Study, seen: fit_score.Observed) -> list[Score]:
    scores = []
    area = fit_score.roc_auc(seen.truth[:, 0], seen.predicted[:, 0], seen.weights)
    if seen.truth.shape[1] == 1 and np.isfinite(area):
        name = _class_name(study.model.outputs[0])
        meaning = f"how often a row of {name} is ranked above another; 0.5 is chance"
        scores.append(Score("AUC", _share_text(area), meaning))
    right, loss = fit_score.accuracy(seen), fit_score.log_loss(seen)
    if right is not None:
        meaning = f"of rows have the likeliest class; the commonest class alone: {100 * right[1]:.0f}\u00a0%"
        scores.append(Score("Accuracy", f"{100 * right[0]:.0f}\u00a0%", meaning))
    if loss is not None:
        size, usual = map(number_text, loss)
        scores.append(Score("Log loss", size, f"the classes’ shares alone: {usual}"))
    return scores


def _class_name(output: Any) -> str:
    """An output by name; a class that is a number as such."""
    return page_name(output, 30) if isinstance(output, str) else f"class {page_name(output, 30)}"


def _picture_text(seen: fit_score.Observed, groups: Sequence[Any]) -> str:
    """A sentence on the picture of observed against predicted: where the two are farthest apart."""
    if not groups:
        return ""
    bins = groups[0][1]
    apart = np.abs(bins.observed - bins.predicted)
    worst = int(apart.argmax())
    predicted, seen_there = float(bins.predicted[worst]), float(bins.observed[worst])
    text = f"{number_text(predicted)} predicted, {number_text(seen_there)} observed on average"
    if seen.classes:
        text = f"{100 * predicted:.0f}\u00a0% predicted, {100 * seen_there:.0f}\u00a0% observed"
    return f"Farthest apart, of {len(bins.at)} groups along the predictions: {text}."


def far_from_curve(study: Study, feature: RankedFeature, means: Means | None) -> str:
    """A sentence where observed means are far from a feature's average curve, with what accounts for it; else nothing."""
    group = None if means is None else means.far_from_curve(feature.output)
    if group is None:
        return ""
    unit = study.naming.target_unit if feature.effect.scale_label == "prediction" else ""
    after = f"\u00a0{name_text(unit, 20)}" if unit else ""

    def text(value: float) -> str:
        share = "probab" in feature.effect.scale_label
        return f"{100 * value:.0f}\u00a0%" if share else number_text(value) + after

    gap, followed = group.observed - group.average, group.predicted - group.average
    sentence = f"Observed means are far from this curve ({group.point}): {text(group.observed)} observed, {text(group.average)} on the curve."
    if followed * gap > 0 and abs(followed) >= 0.5 * abs(gap):
        return f"{sentence} Other features change along with this one: predictions for these rows average {text(group.predicted)}."
    return f"{sentence} The model does not fit these rows: it predicts {text(group.predicted)} on average."


def shares(study: Study, made: Decisions, best: int) -> Shares | None:
    """Shares of the predictions' variance (single features, pairs, the rest), per output; `best` is the output shown where there is no script."""
    variance = variance_shares(study, made)
    if variance is None:
        return None
    parts = []
    for output, *parts_of in zip(study.model.outputs, variance.alone, variance.pairs, variance.rest):
        alone, pairs, rest = _whole_percent([float(share) for share in parts_of])
        parts.append(Share(page_name(output), alone, pairs, rest, numbers(parts_of, 4)))
    left_out = len(made) < len(study.model.columns)
    return Shares(parts, best, _shares_note(variance.n_pairs, variance.rows, variance.pair_rows, left_out))


def _whole_percent(shares: list[float]) -> list[int]:
    """Whole percents that sum to a hundred."""
    exact = [100 * share for share in shares]
    whole = [int(np.floor(share)) for share in exact]
    for i in sorted(range(len(exact)), key=lambda i: whole[i] - exact[i])[: 100 - sum(whole)]:
        whole[i] += 1
    return whole


def _shares_note(n_pairs: int, rows: int, pair_rows: int, left_out: bool) -> str:
    looked = f"{n_pairs} pairs were computed" if n_pairs else "no pair was strong enough to compute"
    pairs = f", pairs at {counted(pair_rows)}" if pair_rows not in (0, rows) else ""
    at = f"at {counted(rows)} rows{pairs}"
    rest = ", and features that are not on this page" if left_out else ""
    return (
        f"Single features: R² of the predictions on the sum of all features’ average curves; pairs: what the sum of the pairs’ "
        f"interactions adds; the rest: three and more features together, other pairs{rest} ({looked}; {at}). Where features are "
        "correlated, variance that either could explain counts as single features’."
    )


def all_features(ranked: Sequence[RankedFeature], cards: int, parts: Sequence[Region] = ()) -> Panel:
    """All features by strength and differences, and where regions lead."""
    removed = {part.feature: part.removed for part in parts}
    points = [
        Point(feature.text(60), _link(feature.number, cards), reading.strength, reading.heterogeneity or 0.0, reading.hidden, removed.get(feature.number))
        for feature in ranked
        for reading in [feature.reading]
    ]  # fmt: skip
    return plane(points)


def _link(number: int, cards: int) -> str:
    """To a feature's card, or to its row in the table where it has none."""
    return f"#{'f' if number < cards else 'r'}{number}"


def notes(study: Study, data: DataNotes, ranked: Sequence[RankedFeature], cards: int) -> list[DataNote]:
    """Notes on odd columns (missing values, constants, copies), a sentence each, with links to those on the page."""
    place = {feature.name: feature.number for feature in ranked}

    def note(title: str, what: str, columns: Sequence[tuple[Any, str]], rest: str) -> DataNote:
        named = [
            NamedColumn(page_name(study.naming.name(column)), text, _link(place[column], cards) if column in place else "")
            for column, text in columns[:NAMED]
        ]  # fmt: skip
        return DataNote(title, what, named, max(0, len(columns) - NAMED), rest)

    lines = []
    if data.perfect:
        columns = [(name, _percent(min(part, 1.0))) for name, part in data.perfect]
        what = "the share of the target’s variance that the column explains alone"
        rest = f"{'Is it' if len(columns) == 1 else 'Are they'} known before what is predicted?"
        lines.append(note("Suspiciously perfect", what, columns, rest))
    for same in data.copies[:NAMED]:
        rest = "The model may use any of them: their curves share one effect."
        lines.append(note("The same in every row", "", [(name, "") for name in same], rest))
    if data.constant:
        rest = f"Nothing can be said about {'it' if len(data.constant) == 1 else 'them'} from this data."
        lines.append(note("One value only", "", [(name, "") for name in data.constant], rest))
    if data.missing:
        columns = [(name, _percent(share)) for name, share in data.missing]
        lines.append(note("Missing values", "share of the rows", columns, ""))
    return lines


def _percent(share: float) -> str:
    return "under 1\u00a0%" if share < 0.01 else f"{100 * share:.0f}\u00a0%"
