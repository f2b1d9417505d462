"""Effects with a sample of individual curves, within the memory budget.

Averages need every row and no curve, curves few rows and much room. So one pass gives the averages of all features on
all the grids that are wanted; the curves of the rows that are kept come afterwards, a few features at a time. A
model that is asked for predictions gives both at once: each would cost them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icefield.core.effects import Request, compute, compute_effects
from icefield.core.prediction_level import prediction_level
from icefield.core.question import Question
from icefield.core.rows import Block
from icefield.core.study import Study
from icefield.data.grid import AUTO
from icefield.data.row_values import RowValues
from icefield.effect import Effect, KeptCurves
from icefield.effect.parts import centered_deviation
from icefield.sampling import CENTERED_CURVES, CURVE_ROWS, KEPT_CURVES, in_proportion
from icefield.typing import Float, Positions

READ_GRID = AUTO  # what is said is read there, and shown there where nobody asks for another grid
AT_ONCE = 0.125  # of the memory budget that curves asked for at a time take; an engine holds them twice
AT_MOST = 0.3  # ... where fewer features would be asked about than share a walk
SHARE_A_WALK = 20
MOST_AT_ONCE = 2_000  # features, however small their curves
NO_ROWS = np.zeros(0, np.intp)


@dataclass(frozen=True)
class IceRequest:
    """Effects with a sample of individual curves: on which grid, how many curves, and whether with their spread.

    The spread is most of the work for many rows; without it only the kept curves say how rows differ.
    """

    grid: Any = None
    kept: int = KEPT_CURVES
    spread: bool = True


def effects_with_curves(
    study: Study, features: Sequence[Any], *wanted: IceRequest, rows: Any = None
) -> tuple[list[list[Effect]], str]:
    """One-way effects of several features, all with their ICE curves: a list of them for each request.

    Returns the effects and a note on the rows, empty when all were used. Without `rows`, an engine that pays for
    each row and point (brute force) averages over a seeded sample.
    """
    effects = IceEffects(study, features, *wanted, rows=rows)
    return [list(effects.each(number)) for number in range(len(wanted))], effects.note


def with_curves_of_its_rows(study: Study, feature: Any, effect: Effect) -> Effect:
    """An effect with the curves of its kept rows, which are computed separately."""
    kept = effect.kept
    if kept is None or kept.rows is None:
        return effect
    axis = study.feature(feature).axis(effect.grid[0], study.sample.table)
    question = Question((axis,), spread=False, rows=np.arange(len(kept.rows)), averaged=False)
    (answer,) = study.answers([question], Block(study.sample.table.take(kept.rows)))
    return replace(effect, kept=replace(kept, individual=answer.curves))


class IceEffects:
    """One-way effects of several features, for each request: averages at once, ICE curves as they are iterated over.

    `apart` says whether curves come after the averages, `note` which rows were used where not all were: by default all, or
    a seeded sample where each row costs predictions. What else is asked `beside` is answered in the same pass where it is
    of the same rows.
    """

    def __init__(
        self,
        study: Study,
        features: Sequence[Any],
        *wanted: IceRequest,
        rows: Any = None,
        beside: Sequence[Request] = (),
    ) -> None:
        self._study, self._features = study, [study.feature(name) for name in features]
        chosen = study.chosen(rows, when_costly=CURVE_ROWS)
        self._used = study.sample.n_rows if chosen.positions is None else len(chosen.positions)
        weights = None if study.sample.weights is None else study.sample.row_weights(chosen.positions)
        # What rows count for that are uneven or come in clusters, only their standard error knows.
        uneven = study.sample.clusters is not None or not study.sample.copies
        self.apart = curves_come_apart(study)
        self._kept = [_kept_rows(study, chosen.positions, request, self._used, weights) for request in wanted]
        asks = [
            Request(
                sets=[(feature,) for feature in features],
                kind="ice",
                grid=request.grid,
                spread=request.spread or uneven,
                rows=chosen.positions,
                sampled_from=chosen.sampled_from,
                kept=NO_ROWS if self.apart else place,
                kept_weights=kept.row_weights,
            )
            for request, (place, kept) in zip(wanted, self._kept)
        ]
        shared = self.apart and chosen.positions is None and all(request.rows is None for request in beside)
        results = compute(study, [*asks, *beside] if shared else asks)
        self._effects = results[: len(asks)]
        self.beside = results[len(asks) :] if shared else [compute_effects(study, more) for more in beside]
        if rows is None:
            # A sample of our own choice is measured against the same predictions as everything else.
            level = prediction_level(study)

            known: dict[str, Any] = {"baseline": level.baseline, "output_std": level.std, "unit": level.unit}
            self._effects = [
                [replace(effect, predictions=replace(effect.predictions, **known)) for effect in effects]
                for effects in self._effects
            ]
        self.note = f"{chosen.note}; rows={study.sample.n_rows} uses all" if chosen.note else ""

    def curve_bytes(self, number: int) -> int:
        """How much room the curves of all features take, for one of what is wanted."""
        return sum(self._bytes(number, effect) for effect in self._effects[number])

    def each_within(self, number: int, share: float) -> Iterator[tuple[Effect, Effect]]:
        """The features' effects with their curves, and as they may be kept: without, where all would take more of the budget."""
        room = self.curve_bytes(number) <= share * self._study.resources.memory
        for effect in self.each(number):
            without = effect.kept and replace(effect.kept, individual=None)
            yield effect, effect if room else replace(effect, kept=without)

    def _bytes(self, number: int, effect: Effect) -> int:
        rows = self._kept[number][1].rows
        return 8 * effect.average.size * (0 if rows is None else len(rows))

    def each(self, number: int) -> Iterator[Effect]:
        """The features' effects with their curves, for one of what is wanted."""
        effects = self._effects[number]
        if not self.apart:
            yield from effects
            return
        places = list(range(len(effects)))
        kept = self._kept[number][1]
        table = self._study.sample.table.take(NO_ROWS if kept.rows is None else kept.rows)
        # One array for all questions: an engine then keeps the same rows' curves at once.
        every = np.arange(table.n_rows)
        while places:
            at_once = self._fitting([self._bytes(number, effects[place]) for place in places[:MOST_AT_ONCE]])
            block, places = places[:at_once], places[at_once:]
            whole = self._study.sample.table
            axes = [self._features[place].axis(effects[place].grid[0], whole) for place in block]
            questions = [Question((axis,), spread=False, rows=every, averaged=False) for axis in axes]
            answers = self._study.answers(questions, Block(table))
            for at, place in enumerate(block):
                curves, answers[at].curves = answers[at].curves, None
                yield self._with(effects[place], replace(kept, individual=curves))

    def _fitting(self, sizes: Sequence[int]) -> int:
        """How many curves of this size are computed at a time."""
        share = np.cumsum(sizes) / self._study.resources.memory
        usual, most = int((share <= AT_ONCE).sum()), int((share <= AT_MOST).sum())
        return max(1, usual, min(most, SHARE_A_WALK))

    def _with(self, effect: Effect, kept: KeptCurves) -> Effect:
        """An effect with curves of its own, and their spread once centred where they are those of all rows."""
        curves, rows = kept.individual, kept.rows
        if curves is None or rows is None:
            return effect
        if effect.std is not None and 0 < len(rows) == self._used <= CENTERED_CURVES:
            weights = None if self._study.sample.weights is None else self._study.sample.weights[rows]
            centered = centered_deviation(curves, weights, np.asarray(effect.weight))
            effect = replace(effect, spread=replace(effect.spread, centered_std=centered))
        return replace(effect, kept=kept)


def curves_come_apart(study: Study) -> bool:
    """Whether curves can be computed separately: rows are in memory, and the engine needs no predictions."""
    return study.background == "data" and study.rows.resident and not study.plan.engine.costs_predictions


def _kept_rows(
    study: Study, positions: Positions | None, request: IceRequest, used: int, weights: Float | None
) -> tuple[Positions, KeptCurves]:
    """Places among the rows used whose curves are kept, and what is known of them."""
    place, counts = in_proportion(request.kept, used, weights, study.seed)
    rows = place if positions is None else positions[place]
    clusters = None if study.sample.clusters is None else study.sample.clusters[rows]
    values = RowValues(study.sample.table, rows) if curves_come_apart(study) else None
    return place, KeptCurves(None, rows, values, counts, clusters)
