"""What changing one column alone does to every row's prediction, and to decisions made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.audit.result import CounterExample, Flips
from icefield.audit.row_steps import model_column, tolerance_of
from icefield.core.question import Question
from icefield.core.rows import Block
from icefield.data.columns import ORDERED_KINDS, is_missing_value
from icefield.data.features import feature_column, nearest_points
from icefield.data.grid import Grid
from icefield.errors import InputError
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.study import Study

FEW = 12  # distinct numbers that count as levels


def flips_of(study: Study, column: Any, threshold: float | None, worst: int, rows: Any) -> list[Flips]:
    """How changing one column alone changes rows' predictions: a Flips per output.

    Parameters
    ----------
    study : the model and its rows
    column : the column; a number needs few distinct values
    threshold : a row's decision is whether its prediction is at least this; None for no decisions
    worst : how many rows to name
    rows : which rows of the sample; None for all
    """
    feature = study.feature(model_column(study, column, "flips"))
    block = study.sample if rows is None else study.sample.take(rows)
    positions = np.arange(block.n_rows) if rows is None else np.asarray(rows)
    (values,), _ = study.rows.statistics.grids((feature,), Grid("distinct"), lambda f: np.empty(0))
    if feature.kind in ORDERED_KINDS and len(values) > FEW:
        raise InputError.about("flips", f"must name a column of categories or of at most {FEW} distinct numbers; this has {len(values)}", column,
                            "group its values first, or draw its curve with partial_dependence")  # fmt: skip
    axis = feature.axis(values, block.table)
    every = np.arange(block.n_rows)
    own_question = Question((), spread=False, rows=every, averaged=False)
    moved = Question((axis,), spread=False, rows=every, averaged=False)
    own_answer, answer = study.answers([own_question, moved], Block(block.table))
    predicted = np.asarray(own_answer.curves).reshape(len(study.model.outputs), -1)
    curves = np.asarray(answer.curves)
    at, has = nearest_points(values, feature_column(feature, block.table))
    at, levels = np.where(has, at, -1), [None if is_missing_value(v) else v for v in values.tolist()]
    weights = block.row_weights()
    total = float(weights.sum())

    def share(chosen: Any, among: Float) -> float:
        weight = float(among.sum())
        return float(among @ chosen) / weight if weight else 0.0

    flips = []
    for name, before, after in zip(study.model.outputs, predicted, curves):
        size = np.abs(after - before[:, None])
        size[size <= tolerance_of(study) * np.maximum(1.0, np.abs(before))[:, None]] = 0.0
        most, other, by_level = size.max(axis=1, initial=0.0), None, {}
        if threshold is not None:
            other = ((after >= threshold) != (before >= threshold)[:, None]).any(axis=1)
        for place, level in enumerate(levels):
            inside = weights * (at == place)
            if inside.any():
                by_level[level] = {
                    "rows": float(inside.sum()) / total,
                    "changed": share(most > 0, inside),
                    "mean": share(most, inside),
                    "largest": float(most[inside > 0].max(initial=0.0)),
                    **({} if other is None else {"decided_otherwise": share(other, inside)}),
                }
        examples = []
        for row in np.argsort(-most, kind="stable")[:worst].tolist():
            if most[row] > 0:
                to = int(size[row].argmax())
                start, ends = (
                    levels[at[row]] if at[row] >= 0 else None,
                    (float(before[row]), float(after[row, to])),
                )
                examples.append(
                    CounterExample(feature.label, name, "", int(positions[row]), start, levels[to], *ends)
                )
        decided = None if other is None else share(other, weights)
        largest = float(most[weights > 0].max(initial=0.0))
        flips.append(
            Flips(
                feature.label, name, tuple(levels), share(most > 0, weights), decided, threshold, share(most, weights), largest,
                by_level, tuple(examples),
            )
        )  # fmt: skip
    return flips
