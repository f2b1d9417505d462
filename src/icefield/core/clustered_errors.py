"""Standard errors of averages whose rows come in clusters: several rows of one person, one day, one panel.

Rows of a cluster say much the same, so a cluster is one observation. The standard error comes from the clusters'
own sums of weighted deviations, which need every row's curve; as many are held at a time as the budget allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from icefield.core.question import Answer, Question
from icefield.core.rows import Block
from icefield.typing import Float, Positions

SHARE = 0.25  # of the budget for curves that only the standard error needs


Asking = Callable[[Sequence[Question], Block], list[Answer]]


def clustered_answers(
    ask: Asking,
    questions: Sequence[Question],
    sample: Block,
    clusters: Positions,
    memory: int,
    at_once: bool = False,
) -> list[Answer]:
    """The answers, with standard errors of clusters, given by one code per row, where spread is asked for.

    Curves may take a share of the memory; where all fit, a model is asked once only. With `at_once` rows cannot be asked
    about apart from each other, so all their curves must fit.
    """
    size = sum(8 * int(np.prod(q.shape)) * sample.n_rows for q in questions if q.spread)
    fits, every = at_once or size <= SHARE * memory, np.arange(sample.n_rows)
    answers = ask([replace(q, rows=every) if q.spread and fits else q for q in questions], sample)

    def with_errors(question: Question, answer: Answer) -> Answer:
        if not question.spread:
            return answer
        whole = answer.curves if fits else None

        def curves_of(rows: Positions) -> Float:
            if whole is not None:
                return np.asarray(whole[:, rows])
            asked = replace(question, spread=False, quantiles=(), rows=np.arange(len(rows)))
            return np.asarray(ask([asked], Block(sample.table.take(rows)))[0].curves)

        errors = cluster_errors(curves_of, answer, sample, clusters, memory)
        if whole is not None:
            answer = replace(answer, curves=None if question.rows is None else whole[:, question.rows])
        return replace(answer, errors=errors)

    return [with_errors(q, answer) for q, answer in zip(questions, answers)]


def cluster_errors(
    curves_of: Callable[[Positions], Float], answer: Answer, sample: Block, clusters: Positions, memory: int
) -> tuple[Float, ...]:
    """Standard errors of the answer's averages over all rows, then by group.

    `curves_of` gives the curves ``(outputs, rows, *grid)`` of rows of the sample, by position.
    """
    weights = np.ones(sample.n_rows) if sample.weights is None else sample.weights
    members = [np.ones(sample.n_rows, dtype=bool)]
    if sample.codes is not None:
        members += [sample.codes == g for g in range(sample.n_groups)]
    sums = [_ClusterSums(moments.mean) for moments in (answer.total, *answer.groups)]
    order = np.argsort(clusters, kind="stable")
    fitting = max(1, int(SHARE * memory) // (16 * answer.total.mean.size))
    for start in range(0, len(order), fitting):
        rows = order[start : start + fitting]
        curves = curves_of(rows)
        for own, inside in zip(sums, members):
            own.add(clusters[rows], np.where(inside[rows], weights[rows], 0.0), curves)
    return tuple(own.error() for own in sums)


class _ClusterSums:
    """Sums of squares over clusters, of their rows' weighted deviations and of their weights."""

    def __init__(self, mean: Float) -> None:
        self.mean, self.square = mean, np.zeros_like(mean)
        self.weight, self.weight_squared = 0.0, 0.0
        # The last cluster so far, which may go on in the next part.
        self.open: tuple[int, Float, float] | None = None

    def add(self, clusters: Positions, weights: Float, curves: Float) -> None:
        starts = np.flatnonzero(np.concatenate([[True], clusters[1:] != clusters[:-1]]))
        apart = curves - self.mean[:, None]
        apart *= weights.reshape(1, -1, *[1] * (curves.ndim - 2))
        sums = np.add.reduceat(apart, starts, axis=1)
        mass = np.add.reduceat(weights, starts)
        if self.open is not None and self.open[0] == clusters[0]:
            sums[:, 0] += self.open[1]
            mass[0] += self.open[2]
        elif self.open is not None:
            self._close(self.open[1][:, None], np.array([self.open[2]]))
        self._close(sums[:, :-1], mass[:-1])
        self.open = (int(clusters[-1]), sums[:, -1], float(mass[-1]))

    def _close(self, sums: Float, mass: Float) -> None:
        self.square = self.square + np.square(sums).sum(axis=1)
        self.weight += float(mass.sum())
        self.weight_squared += float(np.square(mass).sum())

    def error(self) -> Float:
        """Standard error of the mean; NaN for one cluster."""
        if self.open is not None:
            self._close(self.open[1][:, None], np.array([self.open[2]]))
            self.open = None
        effective = self.weight**2 / self.weight_squared if self.weight_squared > 0 else 0.0
        if effective <= 1.0 + 1e-12:
            return np.full_like(self.mean, np.nan)
        return np.sqrt(self.square / self.weight**2 * effective / (effective - 1.0))
