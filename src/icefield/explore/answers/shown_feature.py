"""What is shown of the filtered rows: the curve of the chosen feature, its band, the plane of all features, what is said of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.effects import Request, compute_effects
from icefield.effect import Effect
from icefield.explore.code import QUANTILES
from icefield.explore.explored_models import View
from icefield.explore.messages import AnswerPart
from icefield.statistics.importance import importance
from icefield.statistics.summary import summary
from icefield.statistics.support import support_of
from icefield.typing import Float, Positions
from icefield.wording.labels import predicted_text
from icefield.wording.names import page_name
from icefield.wording.sentences import plain_words
from icefield.wording.values import number_text

if TYPE_CHECKING:
    from icefield.explore.controller import Controller


@dataclass(frozen=True, eq=False)
class ShownFeature:
    """One feature of some rows, seen by one view."""

    controller: Controller
    view: View
    feature: int
    positions: Positions | None

    def effect(self, *, spread: bool = False, quantiles: tuple[float, ...] | None = None) -> Effect:
        """The feature's effect over the rows, on the grid that all its curves share."""
        name = self.controller.features[self.feature]
        request = Request(
            sets=[(name,)],
            grid=self.controller.grids[name],
            rows=self.positions,
            spread=spread,
            quantiles=quantiles,
        )
        return compute_effects(self.view.study, request)[0]

    def curve(self, head: dict[str, Any]) -> AnswerPart:
        """The average curve of the rows beside that of all, in words."""
        shared, view, feature = self.controller, self.view, self.feature
        effect = self.effect()
        start = sum(len(c.grid) for c in shared.columns[:feature])
        every = shared.curves(view, None)[:, start : start + len(effect.grid[0])]
        words = self._sentence(effect)
        compared = (
            "" if self.positions is None else self._compared(effect.average[view.output], every[view.output])
        )
        return AnswerPart(
            {**head, "feature": feature, "sentence": words, "compared": compared},
            {"y": ("f8", effect.average), "ghost": ("f8", every)},
        )

    def _sentence(self, effect: Effect) -> str:
        view, study = self.view, self.view.study
        several = len(study.model.outputs) > 1
        what = predicted_text(
            study.naming, study.model.scale_label, study.model.outputs, view.output if several else None
        )
        text = plain_words(effect.reading.each[view.output], what)
        return text[:1].upper() + text[1:]

    def _compared(self, shown: Float, all_rows: Float) -> str:
        """How the curve of the filtered rows differs from that of all: how far each moves, and which lies higher."""
        known = np.isfinite(shown) & np.isfinite(all_rows)
        if not known.any():
            return ""
        columns, view, feature = self.controller.columns, self.view, self.feature
        column, start = columns[feature], sum(c.n_bars for c in columns[:feature])
        weight = None if column.ordered else self.controller.data.all_bars[start : start + column.n_bars]
        if weight is not None and len(weight) - 1 == len(shown):
            weight = weight[:-1][known] + 1e-9
        else:
            weight = None
        move = float(np.ptp(shown[known]) - np.ptp(all_rows[known]))
        level = float(np.average((shown - all_rows)[known], weights=weight))
        unit = f" {view.study.naming.target_unit}" if view.study.naming.target_unit else ""
        size = max(float(np.ptp(all_rows[known])), 1e-300)
        moves = (
            "as far as"
            if abs(move) < 0.02 * size
            else f"{number_text(abs(move))}{unit} {'more' if move > 0 else 'less'} than"
        )
        lies = (
            "at the same level"
            if abs(level) < 0.02 * size
            else f"{number_text(abs(level))}{unit} {'higher' if level > 0 else 'lower'}"
        )
        return f"For these rows it moves {moves} for all rows, and lies {lies}."

    def band(self, head: dict[str, Any]) -> AnswerPart:
        """Quantiles of the individual curves, where few rows are like this, and the spread."""
        shared, feature = self.controller, self.feature
        effect = self.effect(spread=True, quantiles=QUANTILES)
        name = shared.features[feature]
        support = support_of(shared.study, shared.study.resolve([name]), effect.grid, effect.weight)
        low = support.low | self._outside()
        quantiles = np.stack([effect.quantiles[q] for q in QUANTILES]) if effect.quantiles else np.zeros((0,))
        return AnswerPart(
            {**head, "feature": feature},
            {"q": ("f8", quantiles), "low": ("u1", low), "std": ("f8", np.asarray(effect.std))},
        )

    def _outside(self) -> NDArray[np.bool_]:
        """Grid points beyond all values of the filtered rows, and levels that none of them has."""
        column = self.controller.columns[self.feature]
        at = column.grid_places
        if self.positions is None:
            return np.zeros(len(at), bool)
        places = column.places[self.positions]
        known = places[np.isfinite(places)]
        if not column.ordered:
            return ~np.isin(at, known)
        gone = np.isnan(at) & bool(np.isfinite(places).all())
        if not len(known):
            return np.isfinite(at) | gone
        return (at < known.min()) | (at > known.max()) | gone

    def plane(self, head: dict[str, Any]) -> AnswerPart:
        """Strength, disagreement and movement of every feature."""
        shared, view, positions = self.controller, self.view, self.positions

        def make() -> dict[str, Float]:
            table = importance(view.study, permutation=False, rows=positions)
            names, outputs = list(table["feature"]), [str(o) for o in table["output"]]
            wanted = str(view.study.model.outputs[view.output])
            by_measure = {}
            for measure in ("strength", "heterogeneity", "movement"):
                of = {n: v for n, o, v in zip(names, outputs, table[measure]) if o == wanted}
                by_measure[measure] = np.array([of[name] for name in shared.features], np.float64)
            return by_measure

        key = ("plane", view.model, view.scale, view.output)
        measures = shared.once(key, make) if positions is None else make()
        return AnswerPart(head, {name: ("f8", values) for name, values in measures.items()})

    def summary(self, head: dict[str, Any]) -> AnswerPart:
        """What is said of every feature."""
        view, positions = self.view, self.positions

        def make() -> dict[str, Any]:
            table = summary(view.study, rows=positions)
            names = list(table["feature"])
            by_feature = {
                name: {
                    "shape": str(s),
                    "partner": None if p is None else page_name(view.study.naming.name(p)),
                    "warning": w,
                }
                for name, s, p, w in zip(names, table["shape"], table["partner"], table["warning"])
            }
            return {
                "features": [by_feature[name] for name in self.controller.features],
                "warnings": list(table.warnings),
            }

        statements = (
            self.controller.once(("summary", view.model, view.scale), make) if positions is None else make()
        )
        return AnswerPart({**head, **statements})
