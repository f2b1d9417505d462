"""The summary: which features matter, how, with whom, how far to trust it, and what to look at next.

One pass over all features gives the curves; readings, importance and heterogeneity follow from those.
Only features whose curves differ can interact, so partners are looked for among them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Drawable, Effect
from icefield.progress import Progress
from icefield.sampling import PARTNER_ROWS
from icefield.statistics.bundles import effects_with_curves
from icefield.statistics.interactions import interactions
from icefield.statistics.reading import THRESHOLDS, Reading, output_unit
from icefield.statistics.row_space import Surroundings
from icefield.statistics.support import pd_ale_disagreement, support_of, surroundings
from icefield.statistics.tables import ResultTable, labels_column
from icefield.wording.sentences import shape_words, summary_warning

if TYPE_CHECKING:
    from icefield.study import Study

INTERACTING = (
    8  # features among which all pairs are tried; others only with the column that explains them best
)
PARTNER = THRESHOLDS["heterogeneous"]  # an interaction worth naming, in SD of the predictions


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Drawable, ResultTable):
    """Features by how much they move the predictions.

    Columns: ``feature``, ``strength`` (of the average) and ``heterogeneity`` (of individual curves), both in
    standard deviations of the predictions, ``shape``, ``partner`` and ``interaction`` (strongest pair, same unit),
    ``outside`` (share of moved rows outside the data), ``warning`` and ``next`` (what to look at).

    Attributes
    ----------
    effects : mapping of feature -> Effect with curves and support
    readings : mapping of feature -> Reading of the output it moves most
    warnings : what to keep in mind before anything else
    """

    effects: Mapping[Any, Effect]
    readings: Mapping[Any, Reading]
    warnings: tuple[str, ...]

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        return {
            name: values for name, values in self.columns.items() if name not in ("interaction", "warning")
        }

    def _drawn(self, **options: Any) -> Any:
        """Small multiples of the features' effects, most important first."""
        from icefield.plots import plot_many

        return plot_many({name: effect.averages_only() for name, effect in self.effects.items()}, **options)


def summary(
    study: Study, features: Iterable[Any] | None = None, *, grid: Any = None, rows: Any = None
) -> Summary:
    """Rank features and say what each does, with whom, and how far the data supports it.

    Parameters
    ----------
    study : the model and its data
    features : which features; all of the model's by default
    grid : grid of the curves
    rows : average over these rows; by default all, or a seeded sample where each row costs predictions
    """
    asked = study.listed(features)
    study.resolve(asked)  # partners are looked for among all of them, so none may overlap
    effects, note = effects_with_curves(study, asked, grid=grid, rows=rows)
    readings = [_of_the_output_moved_most(e) for e in effects]
    order = sorted(range(len(asked)), key=lambda i: -readings[i].movement)
    partners = _partners(study, asked, effects, readings)
    supported, around = [], surroundings(study)
    with Progress("what the data supports", total=len(asked)) as progress:
        for name, effect in zip(asked, effects):
            supported.append(_with_support(study, name, effect, around))
            progress.advance()
    labels = [e.features[0] for e in effects]
    found = {labels[i]: (readings[i], supported[i], partners.get(labels[i])) for i in order}
    written = dict(zip(labels, map(repr, asked)))
    warned = {name: summary_warning(reading, effect.support) for name, (reading, effect, _) in found.items()}
    columns = {
        "feature": labels_column(list(found)),
        "strength": np.array([r.strength for r, _, _ in found.values()]),
        "heterogeneity": np.array([r.heterogeneity or 0.0 for r, _, _ in found.values()]),
        "shape": labels_column([shape_words(r) for r, _, _ in found.values()]),
        "partner": labels_column([None if p is None else str(p[0]) for _, _, p in found.values()]),
        "interaction": np.array([np.nan if p is None else p[1] for _, _, p in found.values()]),
        "outside": np.array([e.support.outside if e.support else np.nan for _, e, _ in found.values()]),
        "warning": labels_column([warned[name] or None for name in found]),
        "next": labels_column([_next(written, name, r, e, p) for name, (r, e, p) in found.items()]),
    }
    warnings = tuple(f"{name}: {text}" for name, text in warned.items() if text)
    return Summary(
        columns=columns,
        title=f"{study!r}",
        notes=tuple(n for n in (*(f"! {w}" for w in warnings), note, study.how) if n),
        library=study.table.library,
        effects={name: effect for name, (_, effect, _) in found.items()},
        readings={name: reading for name, (reading, _, _) in found.items()},
        warnings=warnings,
    )


def _of_the_output_moved_most(effect: Effect) -> Reading:
    # Probabilities share a unit; other outputs are compared by their own spread.
    together = effect.scale_label == "probability"
    return max(
        effect.reading.each,
        key=lambda r: r.movement * (output_unit(effect, effect.outputs.index(r.output)) if together else 1.0),
    )


def _partners(
    study: Study, asked: list[Any], effects: list[Effect], readings: list[Reading]
) -> dict[Any, tuple[Any, float]]:
    """Each feature's strongest partner by unnormalised H, among features whose curves differ."""
    able = [i for i, r in enumerate(readings) if (r.heterogeneity or 0.0) >= PARTNER]
    able = sorted(able, key=lambda i: -(readings[i].heterogeneity or 0.0))
    if len(able) < 2:
        return {}
    rows = min(PARTNER_ROWS, study.n_rows)
    units = {o: output_unit(effects[0], n) for n, o in enumerate(effects[0].outputs)}
    found: dict[Any, tuple[Any, float]] = {}
    for pair, output, strength in _tried(study, able, asked, readings, rows):
        size = float(strength) / units[output]
        if size < PARTNER:
            continue
        for name, other in permutations(pair):
            if name not in found or found[name][1] < size:
                found[name] = (other, size)
    return found


def _tried(
    study: Study, able: list[int], asked: list[Any], readings: list[Reading], rows: int
) -> Iterator[tuple[tuple[Any, Any], Any, float]]:
    """Pairs with their output and interaction: all among the first features, for the others the likeliest."""
    groups = [able[:INTERACTING]]
    place = {readings[i].features[0]: i for i in range(len(readings))}
    tried = {frozenset(pair) for pair in combinations(groups[0], 2)}
    for i in able[INTERACTING:]:
        partner = next((place[name] for name, _ in readings[i].partners if name in place), None)
        if partner is not None and frozenset((i, partner)) not in tried:
            tried.add(frozenset((i, partner)))
            groups.append([i, partner])
    for group in groups:
        table = interactions(study, [asked[i] for i in group], overall=False, rows=rows)
        yield from zip(table["features"].tolist(), table["output"].tolist(), table["strength"].tolist())


def _with_support(study: Study, name: Any, effect: Effect, around: Surroundings) -> Effect:
    support = support_of(study, study.resolve([name]), effect.grid, effect.weight, around)
    if support.doubtful and study.background == "data":
        support = replace(support, disagreement=pd_ale_disagreement(study, effect, name))
    return replace(effect, backing=replace(effect.backing, support=support))


def _next(
    written: Mapping[Any, str], name: Any, reading: Reading, effect: Effect, partner: tuple[Any, float] | None
) -> str | None:
    """Calls to make next; `written` is how each feature is asked for."""
    if effect.support is not None and effect.support.doubtful and not reading.flat:
        return f"ale({written[name]})"
    steps = [] if partner is None else [f"partial_dependence({written[name]}, {written[partner[0]]})"]
    if reading.heterogeneous:
        steps.append(f"regions({written[name]})")
    return ", ".join(steps) or None
