"""The features of a report: in the order of their decisions, with what their cards need beyond those.

Only the strongest have cards. For these, curves on a grid for pictures, many rows' own curves, what the data supports
and ALE are asked for, a few features at a time where their curves would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icefield.core.effects import Request
from icefield.core.study import Study
from icefield.effect import Effect
from icefield.report.plain import PRINTED, numbers
from icefield.report.view_model import FeaturePanel, InModel
from icefield.sampling import BAND_CURVES, STEP_ROWS
from icefield.statistics.ale import ales
from icefield.statistics.decision import Decision
from icefield.statistics.ice_sample import IceEffects, IceRequest, curves_come_apart
from icefield.statistics.ice_statistics import output_unit
from icefield.statistics.reading import Reading
from icefield.statistics.row_space import Surroundings
from icefield.statistics.support import expect_disagreements, pd_ale_disagreement, support_of, surroundings
from icefield.wording.names import PAGE_LIMIT, page_name, page_sentence
from icefield.wording.sentences import plain_cautions, shape_words

CARDS = 50  # features with a card of their own; the others are in the table
POINTS = 100  # of a curve's grid at most
CURVES_SHARE = 0.5  # of the memory budget that curves may take at once, where they come with the averages


@dataclass(frozen=True, eq=False)
class RankedFeature:
    """A feature at its place: its decision, the effect that is drawn, its ALE where it has one, and what its card holds.

    A feature without a card has the effect that its decision was read from, and nothing else.
    """

    number: int
    decision: Decision
    effect: Effect
    local: Effect | None = None
    no_ale: str = ""
    panel: FeaturePanel | None = None
    far: str = ""

    def text(self, limit: int = PAGE_LIMIT) -> str:
        """What the feature is called."""
        return page_name(self.effect.naming.name(self.name), limit)

    @property
    def asked(self) -> Any:
        return self.decision.asked

    @property
    def name(self) -> Any:
        return self.decision.feature

    @property
    def reading(self) -> Reading:
        """The reading of the output it moves most."""
        return self.decision.reading

    @property
    def output(self) -> int:
        """The output this feature moves most."""
        return self.effect.outputs.index(self.reading.output)

    @property
    def caution(self) -> str:
        """A caution on how far to trust its curve, in plain words; empty where there is none."""
        return plain_cautions(self.reading, self.effect.support)

    @property
    def partner(self) -> str | None:
        """What the feature it interacts with most is called."""
        partner = self.decision.partner
        return None if partner is None else page_name(self.effect.naming.name(partner[0]))

    @property
    def reach(self) -> float:
        """Range of the average, in standard deviations of the predictions."""
        known = self.effect.average[self.output]
        known = known[np.isfinite(known)]
        return float(np.ptp(known)) / output_unit(self.effect, self.output) if len(known) else 0.0


class Cards:
    """The strongest features with all that their cards show, one after another; each one's curves go when it does.

    Parameters
    ----------
    study : the model and its data
    made : the decisions on these features
    rows : average over these rows; by default all, or a seeded sample where each row costs predictions
    singles : what else is asked of single features, in the same pass where it can be; its answers are `singles`
    edges : where the ALE of a feature is cut, where not by its quantiles
    """

    def __init__(
        self,
        study: Study,
        made: Sequence[Decision],
        rows: Any,
        singles: Request | None = None,
        edges: Callable[[Any], Any] | None = None,
    ) -> None:
        self._study, self._made, self._rows, self._edges = study, made, rows, edges
        size = 8 * POINTS * len(study.model.outputs) * min(BAND_CURVES, study.sample.n_rows)
        at_once = max(1, int(CURVES_SHARE * study.resources.memory / size))
        # Where curves come after the averages, these are of all features at once.
        self._at_once = len(made) if curves_come_apart(study) else at_once
        self._first = self._effects(0, () if singles is None else (singles,))
        self.singles = [effect for effects in self._first.beside for effect in effects]

    def _effects(self, first: int, beside: Sequence[Request] = ()) -> IceEffects:
        names = [decision.asked for decision in self._made[first : first + self._at_once]]
        return IceEffects(self._study, names, IceRequest(kept=BAND_CURVES), rows=self._rows, beside=beside)

    def __iter__(self) -> Iterator[RankedFeature]:
        study, around = self._study, surroundings(self._study)
        asked = [decision.asked for decision in self._made]
        local = _ales(study, asked, self._edges)
        for first in range(0, len(self._made), self._at_once):
            batch = self._effects(first) if first else self._first
            for place, effect in enumerate(batch.each(0), start=first):
                decision = self._made[place]
                effect = _with_support(study, decision.asked, effect, around, asked)
                yield RankedFeature(place, decision, effect, *local[place])


def in_model(decision: Decision, rank: int) -> InModel:
    """A feature's rank, sizes and shape in one model; where outputs differ, of the one that it moves most."""
    reading = decision.reading
    shape = shape_words(reading) + (f" ({page_name(reading.output, 30)})" if reading.several else "")
    sizes = decision.movement, reading.strength, reading.heterogeneity or 0.0
    movement, strength, differ = numbers(sizes, PRINTED)
    return InModel(rank, movement, strength, differ, bool(reading.hidden), page_sentence(shape))


def _with_support(
    study: Study, name: Any, effect: Effect, around: Surroundings, features: Sequence[Any]
) -> Effect:
    """The effect with its support; `features` are all that may be compared with their ALE, which is worked out together."""
    support = support_of(study, study.resolve([name]), effect.grid, effect.weight, around)
    if support.doubtful:
        expect_disagreements(study, features)
        support = replace(support, disagreement=pd_ale_disagreement(study, effect, name))
    return replace(effect, backing=replace(effect.backing, support=support))


def _ales(
    study: Study, names: Sequence[Any], edges: Callable[[Any], Any] | None
) -> list[tuple[Effect | None, str]]:
    """Each feature's ALE, or why there is none: a constant column or a one-hot group has none."""
    if not names:
        return []
    each = [(names, None)] if edges is None else [([name], edges(name)) for name in names]
    results = [ale for some, bins in each for ale in ales(study, some, bins=bins, rows=ale_rows(study))]
    return [(ale, "") if isinstance(ale, Effect) else (None, page_sentence(str(ale))) for ale in results]


def ale_rows(study: Study) -> int | None:
    """How many rows are moved for an ALE, None for all."""
    chosen = study.chosen(None, when_costly=STEP_ROWS).positions
    if chosen is None and study.sample.n_rows < study.rows.n_rows:
        return study.sample.n_rows  # of a stream, a pass for every feature would be one too many
    return None if chosen is None else len(chosen)
