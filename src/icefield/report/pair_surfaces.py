"""The surfaces of a report: the strongest pairs of features, and what is left of them without both single effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from icefield.core.effects import Request, compute_effects
from icefield.core.study import Study
from icefield.effect import Effect
from icefield.report.card_data import surface_panel
from icefield.report.view_model import SurfacePanel
from icefield.sampling import CROSSED_ROWS
from icefield.statistics.decision import Decision
from icefield.statistics.ice_statistics import output_unit
from icefield.statistics.interactions import Interactions

SURFACES = 6
SURFACE = 0.05  # a pair's interaction, in standard deviations of the predictions, worth a surface


class Surfaces:
    """The strongest pairs among the features with cards, which come in the order of these; `crossed` is what was looked at."""

    def __init__(self, study: Study, cards: Sequence[Decision], crossed: Interactions | None) -> None:
        self._place = {card.feature: place for place, card in enumerate(cards)}
        named = {card.feature: card.asked for card in cards}
        effect = cards[0].effect
        outputs = list(effect.outputs)
        units = {o: output_unit(effect, i) for i, o in enumerate(outputs)}
        best: dict[tuple[Any, ...], tuple[float, float]] = {}
        self._every: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        fields = ("features", "output", "strength", "h")
        pairs = [] if crossed is None else [crossed.pairs()[name].tolist() for name in fields]
        for names, output, strength, h in zip(*pairs):
            size = strength / units[output]
            every = self._every.setdefault(names, [(0.0, 0.0)] * len(outputs))
            every[outputs.index(output)] = (size, h)
            if all(name in named for name in names) and size >= max(SURFACE, best.get(names, (0.0, 0.0))[0]):
                best[names] = (size, h)
        refused = set() if crossed is None else crossed.unsupported
        self._strongest = sorted(best.items(), key=lambda item: (item[0] in refused, -item[1][0]))[:SURFACES]
        self._effects: list[Effect] = []
        self.singles: Request | None = None  # every feature's own curve on the grid that it has in its pairs
        if self._strongest:
            rows = study.chosen(None, when_costly=CROSSED_ROWS).positions
            sets = [tuple(named[name] for name in names) for names, _ in self._strongest]
            self._effects = compute_effects(study, Request(sets=sets, rows=rows))
            # A feature has the same grid in all its pairs, and its own curve there is asked for once.
            grids = {name: grid for pair in self._effects for name, grid in zip(pair.features, pair.grid)}
            alone = [(named[name],) for name in grids]
            self.singles = Request(sets=alone, grid=grids, rows=rows, spread=False)

    def panels(self, alone: Sequence[Effect], least: int = 0) -> list[SurfacePanel]:
        """The surfaces as the page draws them; `alone` are the answers to `singles`, cells of fewer than `least` rows count as empty."""
        single = {effect.features[0]: effect for effect in alone}
        panels = []
        for (names, _), effect in zip(self._strongest, self._effects):
            singles = single[effect.features[0]], single[effect.features[1]]
            places = [self._place[name] for name in names]
            panels.append(surface_panel(effect, singles, self._every[names], places, least))
        return panels
