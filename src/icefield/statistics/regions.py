"""Regions: where one curve is enough, because the individual curves agree.

Rows are split by readable rules on the *other* features until their centred curves agree within each
part; the table says how much of the curves' heterogeneity each split removes and how the effect
reads in each part. The other way round, curves are clustered first and each cluster is explained
by the rule that describes it best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.counts import counted
from icefield.data.features import Feature
from icefield.data.frame import Column
from icefield.data.naming import Naming
from icefield.effect import Drawable, Effect, Spread
from icefield.sampling import READ_CURVES
from icefield.statistics.decision import Decision, decision_of, read_curves
from icefield.statistics.ice_sample import IceRequest, effects_with_curves
from icefield.statistics.ice_statistics import (
    all_point_weights,
    centred,
    heterogeneity,
    output_unit,
    shown_points,
)
from icefield.statistics.partition import Limits, RegionRows, Split, part_numbers, partition
from icefield.statistics.reading import read_effect
from icefield.statistics.statements import has_a_reason
from icefield.statistics.support import rows_inside
from icefield.statistics.tables import ResultTable, labels_column
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Float
from icefield.wording.names import name_text
from icefield.wording.sentences import enumerated, shape_words
from icefield.wording.values import sd_text

if TYPE_CHECKING:
    from icefield.core.study import Study

LEAST_REMOVED = 0.10
BY_CHANCE = 12.0  # rows' worth of squared distance that the best of many cuts may remove by chance
SMALL_CURVES, SMALL_REMOVED = (
    4,
    0.10,
)  # of a region of few rows, looked for where a feature is known to interact
EVERYTHING = 0.8  # of the differences
SMALL = 0.05  # share of the rows below which a region is called small
LEAST_CURVES = 10  # of a region, however few rows there are
TOGETHER = (
    0.15  # more that cuts must explain where it takes two of them: four parts follow noise further than two
)
NAMED_ENOUGH = (
    0.5  # of the heterogeneity: where the features named elsewhere remove less, other columns are tried
)
BETTER = 0.2  # more that those must remove
MOVED = 300  # curves looked at as to whether they rest on rows unlike the data
MOSTLY = 0.5
METHODS = ("rules", "clusters")
MOST_CLUSTERS = 4
RESTARTS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Regions(Drawable, ResultTable):
    """One row per region.

    Columns: ``rule``, ``rows`` and ``share`` of the sampled rows, ``heterogeneity`` inside (in standard deviations of
    the predictions), ``effect`` (in words; with several outputs, on the one that the feature moves most). Clusters also have ``precision`` (share of the rule's rows that are in
    the cluster) and ``recall`` (share of the cluster's rows that the rule covers).

    Attributes
    ----------
    effect : the overall effect, with one group per region
    heterogeneity : of all curves together
    removed : share of the curves' squared differences that the regions remove
    splits : the splits made, each with the share it removed
    """

    feature: Any
    effect: Effect
    heterogeneity: float
    removed: float
    splits: tuple[Split, ...]

    def _drawn(self, **options: Any) -> Any:
        """A panel per region, with the curve over all rows behind."""
        from icefield.plots import plot_regions

        return plot_regions(self.effect, self.effect.groups, **options)


def regions(
    study: Study,
    feature: Any,
    *,
    method: str = "rules",
    depth: int = 2,
    clusters: int | None = None,
    least_rows: float = 0.02,
    least_removed: float | None = None,
    grid: Any = None,
    rows: Any = None,
) -> Regions:
    """Split the data into regions within which a feature's individual curves agree.

    Parameters are those of `Explainer.regions`.

    Notes
    -----
    Curves are centred at their own mean, so regions differ in the *shape* of the effect, not its level.
    Where curves differ by less than 0.15 standard deviations of the predictions, no region is looked for; "little"
    is less than 0.30. Where the best cut and then the next leave much, every two cuts are looked at together: a sign
    that depends on a product of two columns is found too. A note says where most of what the rules remove lies at
    values at which the rows are unlike the data.
    """
    validate.choice("method", method, METHODS)
    validate.count("depth", depth)
    validate.count("clusters", clusters, least=2, optional=True)
    validate.share("least_rows", least_rows)
    if least_removed is not None:
        validate.share("least_removed", least_removed)
    (moved,) = study.resolve([feature])
    decision, note = decision_of(study, feature), ""
    if rows is None and grid is None:
        effect = read_curves(study, decision)  # the curves everything else is said from
    else:
        used = min(READ_CURVES, study.sample.n_rows) if rows is None else rows
        wanted = IceRequest(grid, kept=study.sample.n_rows)
        ((effect,),), note = effects_with_curves(study, [feature], wanted, rows=used)
        effect = replace(effect, groups={}, by=None)
    if effect.std is None:
        ice = cast(Float, effect.individual)  # kept with every effect here
        effect = replace(effect, spread=Spread(Spread.of(ice, effect.row_weights, "rows").std))
    curves = RegionCurves.of(effect)
    least = max(LEAST_REMOVED, BY_CHANCE / len(curves.rows)) if least_removed is None else least_removed
    every = other_columns(study, moved.columns, curves.rows)
    columns = _rule_columns(decision, every)
    by_named: float | None = None
    splits: list[Split] = []
    if curves.differ < THRESHOLDS["heterogeneous"]:
        parts = [RegionRows((), np.ones(len(curves.rows), dtype=bool))]
        text = _agree(decision)
        labels = np.zeros(len(curves.rows), dtype=np.intp)
    elif method == "rules":
        parts, splits, by_named = _rules(curves, columns, every, Limits(depth, least_rows, least))
        if splits and least_removed is None and not has_a_reason(curves.differ, _explained(splits)):
            parts, splits = [RegionRows((), np.ones(len(curves.rows), dtype=bool))], []
        if not splits and least_removed is None:
            is_named = len(columns) < len(every)
            parts, splits = _small_rules(
                curves, columns, depth, THRESHOLDS["explained"] if is_named else EVERYTHING
            )
        labels = part_numbers(parts)
        usual = rows is None and grid is None
        text = _outside(study, moved, effect, curves, labels, usual) if splits else _no_rule(decision, depth)
    else:
        labels = _cluster(curves.shapes, curves.weights, clusters, least, study.seed)
        parts, splits = partition(
            columns, np.eye(int(labels.max()) + 1)[labels], curves.weights, Limits(depth, least_rows, 0.05)
        )
        text = ""
    return _table(
        study,
        effect,
        decision.output,
        curves,
        labels,
        parts,
        splits,
        method,
        [note, text, *_unnamed_notes(decision, splits, by_named), *_not_in_the_data(decision, splits)],
    )


@dataclass(frozen=True, eq=False)
class RegionCurves:
    """The sampled curves as centred shapes in standard deviations of the predictions."""

    rows: NDArray[np.intp]
    weights: Float
    shapes: Float
    differ: float

    @classmethod
    def of(cls, effect: Effect) -> RegionCurves:
        rows = cast("NDArray[np.intp]", effect.rows)  # `effects_with_curves` keeps both
        over = all_point_weights(effect)
        units = np.array([output_unit(effect, o) for o in range(len(effect.outputs))])
        if (
            effect.scale_label == "probability"
        ):  # they share a unit: a class that hardly occurs decides no rule
            units = np.full_like(units, units.max())
        curves = cast(Float, effect.individual) / units[:, None, None]
        weights = np.ones(len(rows)) if effect.row_weights is None else effect.row_weights
        shapes = centred(curves, over) * np.sqrt(over)
        differ = float(np.sqrt(np.square(heterogeneity(curves, over, weights)).mean()))
        flat = np.moveaxis(shapes, 1, 0).reshape(len(weights), -1) / np.sqrt(len(units))
        return cls(rows, weights, flat, differ)

    def heterogeneity(self, inside: NDArray[np.bool_]) -> float:
        w = self.weights[inside] / self.weights[inside].sum()
        apart = self.shapes[inside] - w @ self.shapes[inside]
        size = float(np.sqrt(w @ np.square(apart).sum(axis=1)))
        return size if size > 1e-9 * max(self.differ, 1e-3) else 0.0  # what is left is rounding


def _rules(
    curves: RegionCurves, named: Mapping[Any, Column], every: Mapping[Any, Column], limits: Limits
) -> tuple[list[RegionRows], list[Split], float | None]:
    """Rules on the columns named elsewhere; where those leave much and others tell clearly more, on any.

    The first split is on one that is named even then, unless that costs much. With rules on any comes what those on
    the named ones alone remove.
    """
    limits = replace(limits, least_rows=max(limits.least_rows, min(0.5, LEAST_CURVES / len(curves.rows))))
    given = curves.shapes, curves.weights, limits
    parts, splits = partition(named, *given)
    removed = _removed(splits)
    if removed < NAMED_ENOUGH and len(named) < len(every):
        on_any = partition(every, *given)
        if _removed(on_any[1]) >= removed + BETTER:
            begun = partition(every, *given, first=named)
            return *(on_any if _removed(on_any[1]) >= _removed(begun[1]) + BETTER else begun), removed
    return parts, splits, None


def _removed(splits: Sequence[Split]) -> float:
    return sum(split.removed for split in splits)


def _small_rules(
    curves: RegionCurves, named: Mapping[Any, Column], depth: int, least: float
) -> tuple[list[RegionRows], list[Split]]:
    """Rules for a few rows: on the features that are named elsewhere, for what is known to interact is somewhere; or
    on any that tell nearly all differences, which no noise does."""
    limits = Limits(
        depth, min(0.5, SMALL_CURVES / len(curves.rows)), max(SMALL_REMOVED, 3 / len(curves.rows))
    )
    parts, splits = partition(named, curves.shapes, curves.weights, limits)
    if splits and _explained(splits) >= least:
        return parts, splits
    return [RegionRows((), np.ones(len(curves.rows), dtype=bool))], []


def _explained(splits: Sequence[Split]) -> float:
    """What the first cut explains, or the first cuts where it takes several."""
    return max(splits[0].removed, splits[0].together - TOGETHER)


def _outside(
    study: Study,
    feature: Feature,
    effect: Effect,
    curves: RegionCurves,
    labels: NDArray[np.intp],
    usual: bool,
) -> str:
    """A note where most of what the rules remove lies at values at which the rows are unlike the data."""
    shown = shown_points(effect)
    some = np.unique(np.linspace(0, len(curves.rows) - 1, MOVED).round().astype(np.intp))
    inside = rows_inside(study, feature, effect.grid[0][shown], curves.rows, some, usual=usual)
    if inside.shape[1] < len(effect.grid[0]):  # any row may lack a value
        inside = np.column_stack([inside, np.ones(len(inside), dtype=bool)])
    shapes, weights = curves.shapes[some], curves.weights[some]
    counted = np.tile(inside, (1, shapes.shape[1] // inside.shape[1]))

    def removed(mask: NDArray[np.bool_]) -> float:
        def left(rows: NDArray[np.bool_]) -> float:
            mass = weights[rows][:, None] * mask[rows]
            mean = (mass * shapes[rows]).sum(axis=0) / np.maximum(mass.sum(axis=0), 1e-300)
            return float((mass * np.square(shapes[rows] - mean)).sum())

        every = left(np.ones(len(some), dtype=bool))
        return every - sum(left(labels[some] == k) for k in np.unique(labels[some]))

    whole = removed(np.ones_like(counted))
    share = 1.0 - removed(counted) / whole if whole > 0 else 0.0
    if share < MOSTLY:
        return ""
    return f"caution: {100 * share:.0f} % of what these rules explain rests on combinations that do not occur in the data"


def _rule_columns(decision: Decision, columns: Mapping[Any, Column]) -> Mapping[Any, Column]:
    """The columns that rules may use: those the feature interacts with, so that rules speak of what is named elsewhere.

    Where no single feature is, any column may do.
    """
    partners = {name: columns[name] for name in _partners(decision) if name in columns}
    return partners or columns


def _agree(decision: Decision) -> str:
    """The note that no regions are needed: differences are below what counts, whether or not an interaction is above."""
    if not _partners(decision):
        return "the curves agree: no regions are needed"
    least = f"{THRESHOLDS['heterogeneous']} {decision.reading.unit_name}"
    return f"the curves differ by less than {least}: no regions are needed"


def _no_rule(decision: Decision, depth: int) -> str:
    """The note that no rule was found, which does not deny the features it is said to interact with."""
    cuts = "one split" if depth == 1 else "one or two splits"
    text = f"the curves differ, but no rule of {cuts} on other columns tells them apart"
    if not _partners(decision):
        return text
    return f"{text} well: what each feature that it interacts with explains is too little by itself"


def _partners(decision: Decision) -> list[Any]:
    """The features it is said to interact with, in any output."""
    return list(dict.fromkeys(name for reading in decision.readings for name, _ in reading.interacts or ()))


def _unnamed_notes(decision: Decision, splits: Sequence[Split], by_named: float | None) -> Iterator[str]:
    """Notes on columns that rules use although the feature's reading does not say that it interacts with them.

    `by_named` is what rules on those features alone explain, where rules are on others too.
    """
    name = decision.reading.naming.name
    feature, named = name(decision.feature), _partners(decision)
    partners = [partner for partner, _ in decision.reading.interacts or ()]
    used = dict.fromkeys(split.column for split in splits)
    for column in used:
        if column in named and column not in partners:
            outputs = [
                name_text(reading.output, 30)
                for reading in decision.readings
                if any(partner == column for partner, _ in reading.interacts or ())
            ]
            where = f"output{'' if len(outputs) == 1 else 's'} {enumerated(outputs)}"
            yield f"{name(column)}: {feature} interacts with it in {where}, and rules are for all outputs together"
    unnamed = [str(name(column)) for column in used if column not in named]
    those = "that" if len(named) == 1 else "those"
    if unnamed and named and by_named is not None:
        yield (
            f"{enumerated(unnamed)}: not among what {feature} interacts with most ({enumerated([str(name(partner)) for partner in named])}), but "
            + (
                f"rules on {those} alone would explain only {100 * by_named:.0f} % of the differences"
                if by_named > 0
                else f"no rule on {those} alone explains enough"
            )
        )


def _not_in_the_data(decision: Decision, splits: Sequence[Split]) -> list[str]:
    """A note where rules rest on a feature whose interaction held-out rows do not support."""
    refused = [name for name in decision.reading.unsupported if any(split.column == name for split in splits)]
    naming = decision.reading.naming
    return [
        f"{naming.name(name)}: in the model, its interaction with {naming.name(decision.feature)} is not supported by held-out rows"
        for name in refused
    ]


def other_columns(study: Study, moving: Sequence[Any], rows: NDArray[np.intp]) -> Mapping[Any, Column]:
    table = study.sample.table.take(rows)
    columns = {name: table.column(name) for name in study.model.columns if name not in moving}
    # Codes have no order that a bound could cut.
    return {
        name: Column(name, "categorical", each.values, each.missing) if study.naming.coded(name) else each
        for name, each in columns.items()
    }


def _table(
    study: Study,
    effect: Effect,
    output: int,
    curves: RegionCurves,
    labels: NDArray[np.intp],
    parts: Sequence[RegionRows],
    splits: Sequence[Split],
    method: str,
    notes: Sequence[str],
) -> Regions:
    numbers = np.unique(labels)
    if method == "rules" or len(numbers) == 1:
        rules = [part.words(study.naming) for part in parts]
        quality = None
    else:
        explained = [_best_rule(parts, labels == k, curves.weights, study.naming) for k in numbers]
        rules = [rule for rule, _, _ in explained]
        quality = explained
    total = curves.weights.sum()
    groups: dict[Any, Effect] = {}
    columns: dict[str, list[Any]] = {"rule": [], "rows": [], "share": [], "heterogeneity": [], "effect": []}
    left = 0.0
    for number, rule in zip(numbers, rules):
        inside = labels == number
        label = rule if rule not in groups else f"{rule} ({number + 1})"
        groups[label] = _region_effect(effect, inside, curves.weights)
        spread = curves.heterogeneity(inside)
        share = float(curves.weights[inside].sum() / total)
        left += share * spread**2
        columns["rule"].append(label)
        columns["rows"].append(int(inside.sum()))
        columns["share"].append(share)
        columns["heterogeneity"].append(spread)
        read = read_effect(groups[label]).each[output]
        columns["effect"].append(
            f"{shape_words(read)} ({name_text(read.output, 30)})" if read.several else shape_words(read)
        )
    arrays = {
        name: labels_column(values) if name in ("rule", "effect") else np.array(values)
        for name, values in columns.items()
    }
    if quality is not None:
        arrays["precision"] = np.array([p for _, p, _ in quality])
        arrays["recall"] = np.array([r for _, _, r in quality])
    removed = 1.0 - left / curves.differ**2 if curves.differ > 0 and len(numbers) > 1 else 0.0
    lines = [_split_words(split, study.naming) for split in splits] if method == "rules" else []
    lines += [
        f"{rule}: a small region, {100 * share:.1f} % of the rows"
        if share < 0.1 * SMALL
        else f"{rule}: a small region, {100 * share:.0f} % of the rows"
        for rule, share in zip(columns["rule"], columns["share"])
        if share < SMALL
    ]
    every = read_effect(effect.averages_only()).each
    reading = max(every, key=lambda r: r.unit) if effect.scale_label == "probability" else every[0]
    return Regions(
        columns=arrays,
        title=(
            f"{len(numbers)} region{'s' * (len(numbers) > 1)} of {study.naming.name(effect.features[0])}, from the curves of {counted(len(labels))} rows, "
            f"which differ by {sd_text(curves.differ)} {reading.unit_name} of the predictions"
            + (" over all outputs" if reading.several else "")
            + (
                f"; these rules explain {100 * removed:.0f} % of the differences between rows"
                if len(numbers) > 1
                else ""
            )
        ),
        notes=tuple(n for n in (*lines, *notes) if n),
        library=study.sample.table.library,
        naming=study.naming,
        feature=effect.features[0],
        effect=replace(effect, groups=groups, by="region" if method == "rules" else "cluster"),
        heterogeneity=curves.differ,
        removed=removed,
        splits=tuple(splits),
    )


def _split_words(split: Split, naming: Naming) -> str:
    explains = f"{split.words(naming)}: explains {100 * split.removed:.0f} % of the differences"
    return (
        f"{explains}, {100 * split.together:.0f} % with the splits that follow"
        if split.together
        else explains
    )


def _region_effect(effect: Effect, inside: NDArray[np.bool_], weights: Float) -> Effect:
    curves, w = cast(Float, effect.individual)[:, inside], weights[inside] / weights[inside].sum()
    average = np.einsum("r,ork->ok", w, curves)
    std = np.sqrt(np.einsum("r,ork->ok", w, np.square(curves - average[:, None])))
    return replace(
        effect.averages_only(),
        average=average,
        spread=Spread(std=std),
        provenance=replace(effect.provenance, n_rows=int(inside.sum())),
        groups={},
        by=None,
    )


# --- clusters ------------------------------------------------------------------------------------


def _cluster(
    shapes: Float, weights: Float, wanted: int | None, least_removed: float, seed: int
) -> NDArray[np.intp]:
    if wanted is not None:
        return _k_means(shapes, weights, wanted, seed)[0]
    labels, before = np.zeros(len(shapes), dtype=np.intp), None
    total = float(weights @ np.square(shapes - weights @ shapes / weights.sum()).sum(axis=1))
    for count in range(2, MOST_CLUSTERS + 1):
        candidate, distance = _k_means(shapes, weights, count, seed)
        if (total if before is None else before) - distance < least_removed * total:
            break
        labels, before = candidate, distance
    return labels


def _k_means(shapes: Float, weights: Float, count: int, seed: int) -> tuple[NDArray[np.intp], float]:
    """Lloyd's algorithm from several spread-out starts; the best is kept, largest cluster first."""
    rng = np.random.default_rng(seed)
    runs: list[tuple[float, NDArray[np.intp]]] = []
    for _ in range(RESTARTS):
        centres = _spread_out(shapes, weights, count, rng)
        labels = np.full(len(shapes), -1, dtype=np.intp)
        for _ in range(100):
            distance = _squared_distances(shapes, centres)
            now = distance.argmin(axis=1)
            if (now == labels).all():
                break
            labels = now
            for k in range(count):
                inside = labels == k
                if inside.any():
                    centres[k] = np.average(shapes[inside], axis=0, weights=weights[inside])
        runs.append((float(weights @ _squared_distances(shapes, centres).min(axis=1)), labels))
    total, labels = min(runs, key=lambda run: run[0])
    sizes = np.bincount(labels, weights, minlength=count)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(count, dtype=np.intp)
    place[order] = np.arange(count)
    return np.unique(place[labels], return_inverse=True)[1].astype(np.intp), total


def _spread_out(shapes: Float, weights: Float, count: int, rng: np.random.Generator) -> Float:
    """Starting centres far from each other (k-means++)."""
    centres = [shapes[rng.choice(len(shapes), p=weights / weights.sum())]]
    for _ in range(count - 1):
        far = weights * _squared_distances(shapes, np.array(centres)).min(axis=1)
        chance = far / far.sum() if far.sum() > 0 else weights / weights.sum()
        centres.append(shapes[rng.choice(len(shapes), p=chance)])
    return np.array(centres)


def _squared_distances(shapes: Float, centres: Float) -> Float:
    return np.stack([np.square(shapes - centre).sum(axis=1) for centre in centres], axis=1)


def _best_rule(
    parts: Sequence[RegionRows], inside: NDArray[np.bool_], weights: Float, naming: Naming
) -> tuple[str, float, float]:
    """The rule that agrees best with a cluster (harmonic mean of precision and recall)."""
    best = ("all rows", float(weights[inside].sum() / weights.sum()), 1.0)
    score = _harmonic(best[1], best[2])
    for part in parts:
        both = float(weights[part.rows & inside].sum())
        precision = both / float(weights[part.rows].sum())
        recall = both / float(weights[inside].sum())
        if _harmonic(precision, recall) > score:
            best, score = (part.words(naming), precision, recall), _harmonic(precision, recall)
    return best


def _harmonic(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b > 0 else 0.0
