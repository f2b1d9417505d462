"""Exact quantiles of a stream: a sketch says between which values each must lie, another pass looks there.

Of the second pass only values inside these narrow brackets are kept, and how much weight lies below each; from both a
summary is made whose quantiles at the probabilities asked for are those of all rows. Where the values inside do not
fit the memory, brackets are looked into by several passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.rows import Accumulator, Block, State
from icefield.rows.column_sketch import finite_numbers
from icefield.rows.rank_sketch import RankSummary
from icefield.threads import ThreadCrew
from icefield.typing import Float

VALUE_BYTES = 16  # a value and its weight


@dataclass(frozen=True, eq=False)
class Bracket:
    """Above which value and up to which a quantile lies, and the share of the rows there, about."""

    name: str
    low: Any
    high: Any
    share: float


def brackets_of(sketch: RankSummary, probabilities: Float) -> list[Bracket]:
    """Brackets that hold the quantiles of a column at these probabilities and do not overlap."""
    cumulative, total = np.cumsum(sketch.weights), float(sketch.weights.sum())
    error = sketch.rank_error * total * (1.0 + 1e-9)
    spans: list[tuple[int, int]] = []
    for probability in np.unique(probabilities):
        rank = probability * total
        low = int(np.searchsorted(cumulative + error, rank * (1.0 - 1e-9), side="left")) - 1
        high = int(np.searchsorted(cumulative - error, rank * (1.0 + 1e-9), side="left"))
        # At the least value of all, what is up to it is known anyway.
        low, high = max(low, 0), min(high, len(cumulative) - 1)
        if spans and sketch.values[low] <= sketch.values[spans[-1][1]]:
            spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
        else:
            spans.append((low, high))
    ends = [(sketch.values[low], sketch.values[high]) for low, high in spans]
    shares = [float(cumulative[high] - cumulative[low] + 2 * error) / total for low, high in spans]
    return [Bracket(sketch.name, *end, share) for end, share in zip(ends, shares) if end[0] < end[1]]


class QuantileRefinement(Accumulator):
    """The values inside brackets, and the weight below each.

    Parameters
    ----------
    brackets : where quantiles lie
    beside : columns that weights are read from
    """

    title = "finding quantiles"
    needs_frames = False

    def __init__(self, brackets: Sequence[Bracket], beside: Sequence[str]) -> None:
        self._brackets: dict[str, list[Bracket]] = {}
        for bracket in brackets:
            self._brackets.setdefault(bracket.name, []).append(bracket)
        self._edges, self._sums = dict[str, NDArray[Any]](), dict[str, Float]()
        self._inside: dict[str, list[tuple[NDArray[Any], Float, NDArray[np.intp]]]] = {}
        for name, of_column in self._brackets.items():
            self._edges[name] = np.array([edge for b in of_column for edge in (b.low, b.high)])
            self._sums[name], self._inside[name] = np.zeros(2 * len(of_column) + 1), []
        self.columns = list(dict.fromkeys([*self._edges, *beside]))

    @property
    def about(self) -> dict[str, Any]:
        return {"quantiles": [[name, edges.tolist()] for name, edges in self._edges.items()]}

    def add(self, block: Block, threads: ThreadCrew) -> None:
        def refine(name: str) -> None:
            values, masses = finite_numbers(block.arrow.column(name), block.weights)
            place = np.searchsorted(self._edges[name], values, side="left")
            self._sums[name] += np.bincount(place, masses, minlength=len(self._sums[name]))
            inside = place % 2 == 1
            if inside.any():
                inside_weights = np.ones(int(inside.sum())) if masses is None else masses[inside]
                self._inside[name].append((values[inside], inside_weights, place[inside]))

        threads.each(refine, list(self._edges))

    def contents(self) -> Iterator[tuple[Bracket, float, NDArray[Any], Float]]:
        """Each bracket, the weight up to its lower end, and the values inside with theirs."""
        for name, brackets in self._brackets.items():
            below = np.cumsum(self._sums[name])
            parts = [np.concatenate(part) for part in zip(*self._inside[name])] if self._inside[name] else []
            for number, bracket in enumerate(brackets):
                values, weights = self._edges[name][:0], np.zeros(0)
                if parts:
                    is_inside = parts[2] == 2 * number + 1
                    values, weights = parts[0][is_inside], parts[1][is_inside]
                yield bracket, float(below[2 * number]), values, weights

    def state(self) -> State:
        state: State = {}
        for number, name in enumerate(self._edges):
            state[f"{number} sums"] = self._sums[name]
            for key, part in zip(("values", "weights", "place"), zip(*self._inside[name])):
                state[f"{number} {key}"] = np.concatenate(part)
        return state

    def restore(self, state: State) -> None:
        for name in self._edges:
            self._sums[name], self._inside[name] = np.zeros(len(self._edges[name]) + 1), []
        self.merge(state)

    def merge(self, state: State) -> None:
        for number, name in enumerate(self._edges):
            self._sums[name] = self._sums[name] + state[f"{number} sums"]
            if f"{number} values" in state:
                values, weights, place = (state[f"{number} {key}"] for key in ("values", "weights", "place"))
                self._inside[name].append((values, weights, place))


def exact_summaries(
    pairs: Sequence[tuple[RankSummary, Float]],
    beside: Sequence[str],
    n_rows: int,
    memory: int,
    run: Callable[[QuantileRefinement], None],
) -> list[tuple[NDArray[Any], Float]]:
    """For each sketch and its probabilities, values and weights with exactly these quantiles.

    `run` makes a pass over all rows; there are as many as the values inside brackets need to fit half the memory.
    """
    brackets = [brackets_of(sketch, probabilities) for sketch, probabilities in pairs]
    seen: dict[Bracket, tuple[float, NDArray[Any], Float]] = {}
    for part in _parts_that_fit([b for group in brackets for b in group], n_rows, memory // 2):
        refinement = QuantileRefinement(part, beside)
        run(refinement)
        seen |= {bracket: (below, values, mass) for bracket, below, values, mass in refinement.contents()}
    return [_assemble(sketch, [(b, *seen[b]) for b in group]) for (sketch, _), group in zip(pairs, brackets)]


def _parts_that_fit(brackets: Sequence[Bracket], n_rows: int, memory: int) -> Iterator[list[Bracket]]:
    part: list[Bracket] = []
    spent = 0.0
    for bracket in brackets:
        size = bracket.share * n_rows * VALUE_BYTES
        if part and spent + size > memory:
            yield part
            part, spent = [], 0.0
        part.append(bracket)
        spent += size
    if part:
        yield part


def _assemble(
    sketch: RankSummary, contents: Sequence[tuple[Bracket, float, NDArray[Any], Float]]
) -> tuple[NDArray[Any], Float]:
    """Inside brackets the values themselves; between them what is known of the weight, at the sketch's values."""
    parts: list[tuple[NDArray[Any], Float]] = []
    total, covered, last = float(sketch.weights.sum()), 0.0, None
    for bracket, below, inside, masses in contents:
        parts.append(_spread_between(sketch, last, bracket.low, below - covered))
        if len(inside):
            order = np.argsort(inside, kind="stable")
            parts.append((inside[order], masses[order]))
        last, covered = parts[-1][0][-1], below + float(masses.sum())
    parts.append(_spread_between(sketch, last, sketch.values[-1], total - covered))
    values, weights = (np.concatenate(masses) for masses in zip(*parts))
    return values, weights


def _spread_between(sketch: RankSummary, after: Any, up_to: Any, weight: float) -> tuple[NDArray[Any], Float]:
    """A known weight on the sketch's values after one value up to another."""
    inside = sketch.values <= up_to if after is None else (sketch.values > after) & (sketch.values <= up_to)
    values, weights = sketch.values[inside], sketch.weights[inside]
    if not len(values):
        values, weights = np.array([up_to], sketch.values.dtype), np.ones(1)
    return values, weights * (max(weight, 0.0) / max(float(weights.sum()), 1e-300))
