"""One decision per feature: all that is said of it, anywhere, is said from here.

Summary, importance, regions, the report and the ranking of pictures ask `decisions`, which makes one `Decision`
for each feature from the same curves, rows, weights, grid and thresholds, once per study. Curves are read on a grid of
their own, over the data's quantiles; with whom a feature interacts is looked for among the columns that tell its
curves apart, and among the features that move the predictions most, by Friedman's unnormalised H.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.effect import Effect
from icefield.progress import Progress
from icefield.sampling import READ_CURVES
from icefield.statistics.ice_sample import (
    READ_GRID,
    IceEffects,
    IceRequest,
    with_curves_of_its_rows,
)
from icefield.statistics.ice_statistics import RowGroups, output_unit
from icefield.statistics.interactions import Interactions, pair_interactions
from icefield.statistics.pair_check import UNSUPPORTED
from icefield.statistics.reading import EXPLAINED_FROM, Reading, read_effect, with_all_outputs
from icefield.statistics.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from icefield.core.study import Study

CROSSED = 12  # features all of whose pairs are tried, where that takes one walk over the rows
CROSSED_WHEN_COSTLY = 6  # ... where every pair costs predictions: of those whose curves differ
FEW_COLUMNS = 20  # a question about one feature of so few is answered with all of them
SURE = 2.0  # standard errors from a threshold
KEPT_SHARE = (
    0.25  # of the memory budget that the curves of all decisions may take; beyond, they are asked for again
)
READ = IceRequest(READ_GRID, kept=READ_CURVES, spread=False)


@dataclass(frozen=True, eq=False)
class Decision:
    """All statements about one feature, and the effect they were read from.

    Attributes
    ----------
    feature : its label; `asked` is how a user names it
    effect : its average on the grid that was read, with the curves that were read where there is room for those of all
        features
    readings : one per output
    reading : that of the output it moves most
    """

    feature: Any
    asked: Any
    effect: Effect
    readings: tuple[Reading, ...]
    reading: Reading

    @property
    def movement(self) -> float:
        """The number features are ranked by: how far rows' predictions move with it, in SD of the predictions."""
        return self.reading.movement

    @property
    def output(self) -> int:
        """Place of the output it moves most."""
        return self.effect.outputs.index(self.reading.output)

    @property
    def partner(self) -> tuple[Any, float] | None:
        """The feature it interacts with most, and how strongly; None where there is none worth naming."""
        return self.reading.interacts[0] if self.reading.interacts else None


class Decisions(Mapping[Any, Decision]):
    """Decisions by feature, those that move the predictions most first.

    `pairs` are the interactions that were looked at (None: there were none to look at), `note` says which rows
    were used where not all were.
    """

    def __init__(self, ranked: Sequence[Decision], pairs: Interactions | None, note: str) -> None:
        self._by_feature = {decision.feature: decision for decision in ranked}
        self.pairs, self.note = pairs, note

    def __getitem__(self, feature: Any) -> Decision:
        return self._by_feature[feature]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_feature)

    def __len__(self) -> int:
        return len(self._by_feature)


def decisions(study: Study, features: Iterable[Any] | None = None, *, rows: Any = None) -> Decisions:
    """One Decision for each of these features (all of the model's by default), made once per study.

    Parameters
    ----------
    study : the model and its data
    features : which features
    rows : average over these rows; by default all, or a seeded sample where each row costs predictions. Rows of
        one's own choice make decisions of their own
    """
    return decisions_beside(study, features, rows=rows)[0]


def decisions_beside(
    study: Study,
    features: Iterable[Any] | None,
    *wanted: IceRequest,
    rows: Any = None,
    see: Callable[[Effect], None] | None = None,
) -> tuple[Decisions, list[dict[Any, Effect]]]:
    """Decisions for these features, and their effects as `wanted`, as far as possible in one pass over the rows.

    The effects come by label, in the order of the decisions, and keep their curves where those of all features fit the memory budget;
    `see` is shown each with its curves.
    """
    names = listed_features(features, study.model.columns)
    study.resolve(names)  # partners are looked for among all of them, so none may overlap
    beside: list[list[Effect]] = []

    def decide() -> Decisions:
        effects = IceEffects(study, names, READ, *wanted, rows=rows)
        made = _decide(study, names, effects)
        beside.extend(show(effects, place) for place in range(1, len(wanted) + 1))
        return made

    def show(effects: IceEffects, place: int) -> list[Effect]:
        shown_effects = []
        with Progress("curves to draw", total=len(names)) as progress:
            for effect, as_kept in effects.each_within(place, 1.0):
                if see is not None:
                    see(effect)
                shown_effects.append(as_kept)
                progress.advance()
        return shown_effects

    if rows is not None:
        made = decide()
    else:
        made = study.cache.once(_key(study, names), decide)
    if not beside and wanted:  # they were decided on before
        again = IceEffects(study, names, *wanted, rows=rows)
        beside = [show(again, place) for place in range(len(wanted))]
    by_label = [{effect.features[0]: effect for effect in each} for each in beside]
    return made, [{label: each[label] for label in made} for each in by_label]


def decision_of(study: Study, feature: Any) -> Decision:
    """The Decision for one feature: from those for all of them where these are known or cheap, else by itself."""
    (resolved,) = study.resolve([feature])
    columns = list(study.model.columns)
    everything = _key(study, columns)
    if resolved.label in columns and (
        study.cache.holds(everything) or not _costly(study) or len(columns) <= FEW_COLUMNS
    ):
        return decisions(study)[resolved.label]
    return decisions(study, [feature])[resolved.label]


def _key(study: Study, names: Sequence[Any]) -> tuple[Any, ...]:
    features = [study.feature(name) for name in names]
    return ("decisions", *((f.label, tuple(f.columns)) for f in features))


def _costly(study: Study) -> bool:
    """Whether every pair of features is crossed row by row: with a model that is asked, or on a linked scale."""
    return study.plan.engine.costs_predictions or not study.plan.engine.additive


def read_curves(study: Study, decision: Decision) -> Effect:
    """The effect that a decision was read from, with its ICE curves: those kept, or computed again."""
    if decision.effect.individual is not None:
        return decision.effect
    return with_curves_of_its_rows(study, decision.asked, decision.effect)


def _decide(study: Study, names: list[Any], curves: IceEffects) -> Decisions:
    share = KEPT_SHARE if curves.apart else float("inf")
    groups: RowGroups | None = None
    effects, every = [], []
    with Progress("reading curves", total=len(names)) as progress:
        for effect, as_kept in curves.each_within(0, share):
            effect = replace(effect, groups={}, by=None)
            if groups is None and effect.row_values is not None:  # all keep the same rows
                groups = RowGroups(effect.row_values, effect.row_weights)
            every.append(read_effect(effect, study.sample.n_rows, groups).each)
            effects.append(replace(as_kept, groups={}, by=None))
            progress.advance()
    first = [output_moved_most(effect, each) for effect, each in zip(effects, every)]
    ranked = sorted(range(len(names)), key=lambda i: -every[i][first[i]].movement)
    labels = [effect.features[0] for effect in effects]
    pairs = _pairs(study, [names[i] for i in ranked], [labels[i] for i in ranked], [every[i] for i in ranked])
    crossed = None if not pairs else pair_interactions(study, pairs)
    known = {} if crossed is None else _partners(crossed, effects[0])
    made = []
    for i in ranked:
        full = [_with_partners(reading, known.get((labels[i], reading.output), [])) for reading in every[i]]
        with_all_outputs(full)
        made.append(Decision(labels[i], names[i], effects[i], tuple(full), full[first[i]]))
    notes = curves.note, _rows_behind(study, effects, crossed)
    return Decisions(made, crossed, "; ".join(n for n in notes if n))


def _rows_behind(study: Study, effects: Sequence[Effect], pairs: Interactions | None) -> str:
    """How many rows the differences and the interactions rest on, where not on all."""
    counts = [len(effect.rows) for effect in effects if effect.rows is not None]
    notes = []
    if counts and min(counts) < study.sample.n_rows:
        notes.append(f"differences from the curves of {counted(min(counts))} rows")
    if pairs is not None and not pairs.notes[0].startswith("all "):
        notes.append(f"interactions at {pairs.notes[0].split(';')[0]}")
    return "; ".join(notes)


def output_moved_most(effect: Effect, each: Sequence[Reading]) -> int:
    """Place of the output that a feature moves most."""
    # Probabilities share a unit; other outputs are compared by their own spread.
    shared = effect.scale_label == "probability"
    return max(range(len(each)), key=lambda o: each[o].movement * (output_unit(effect, o) if shared else 1.0))


# --- with whom --------------------------------------------------------------------------------------


def _pairs(
    study: Study, names: Sequence[Any], labels: Sequence[Any], every: Sequence[Sequence[Reading]]
) -> list[tuple[Any, Any]]:
    """Pairs whose interactions are to be computed, by the `names` a user gives features, the strongest of which come first."""
    least = EXPLAINED_FROM * THRESHOLDS["heterogeneous"]
    differing = [max(r.heterogeneity or 0.0 for r in each) >= least for each in every]
    if not any(differing):
        return []
    # A column of an asked group stands for the group.
    owner = {
        column: (label, name) for label, name in zip(labels, names) for column in study.feature(name).columns
    }
    named = dict(zip(labels, names))
    if _costly(study):
        crossed = [label for label, differs in zip(labels, differing) if differs][:CROSSED_WHEN_COSTLY]
    else:
        crossed = list(labels[:CROSSED])
    wanted = {frozenset(pair): None for pair in combinations(crossed, 2)}
    for label, differs, each in zip(labels, differing, every):
        for column, _ in (partner for r in each for partner in r.partners if differs):
            other, name = owner.get(column, (column, column))
            named.setdefault(other, name)
            wanted.setdefault(frozenset((label, other)))
    place = {label: i for i, label in enumerate(named)}
    ordered = [sorted(pair, key=lambda label: place[label]) for pair in wanted if len(pair) == 2]
    return [(named[a], named[b]) for a, b in ordered]


class _Partner(NamedTuple):
    """A feature that another interacts with: the size of that and its error, in SD, and whether the data supports it."""

    name: Any
    size: float
    error: float
    supported: str | None

    @property
    def place(self) -> tuple[bool, float]:
        """Strongest first, those that the data does not support last."""
        return self.supported == UNSUPPORTED, -self.size


def _partners(pairs: Interactions, effect: Effect) -> dict[tuple[Any, Any], list[_Partner]]:
    """Per feature and output: those it interacts with."""
    units = {o: output_unit(effect, n) for n, o in enumerate(effect.outputs)}
    partners: dict[tuple[Any, Any], list[_Partner]] = {}
    tried = pairs.columns.get("supported")
    for names, output, strength, error, supported in zip(
        pairs["features"].tolist(),
        pairs["output"].tolist(),
        pairs["strength"].tolist(),
        pairs["strength_se"].tolist(),
        [None] * len(pairs["output"]) if tried is None else tried.tolist(),
    ):
        for name, other in permutations(names):
            partners.setdefault((name, output), []).append(
                _Partner(other, strength / units[output], error / units[output], supported)
            )
    return partners


def _with_partners(reading: Reading, partners: Sequence[_Partner]) -> Reading:
    least = THRESHOLDS["interaction"]
    named = sorted((other for other in partners if other.size >= least), key=lambda other: other.place)
    first = named[0] if named else None
    # The strongest could be another, or none, for other rows.
    unsure = ["nobody"] if first is not None and first.size - SURE * first.error < least else []
    unsure += [
        str(other.name)
        for other in sorted(partners, key=lambda other: -other.size)
        if other is not first
        and other.size + SURE * other.error >= (least if first is None else first.size - SURE * first.error)
        and (first is None or other.place[0] == first.place[0])
    ]
    borderline = dict(reading.borderline)
    if unsure and any(other.error > 0 for other in partners):
        borderline["interacts"] = tuple(dict.fromkeys(unsure))
    return replace(
        reading,
        interacts=tuple((other.name, other.size) for other in named),
        interaction_errors=tuple(other.error for other in named),
        interactions_supported=tuple(other.supported for other in named),
        borderline=borderline,
    )
