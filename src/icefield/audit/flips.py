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


def flips_of(study: Study, asked: Any, threshold: float | None, worst: int, rows: Any) -> list[Flips]:
    """What changing a column alone does, by output.

    Parameters
    ----------
    study : the model and its rows
    asked : the column; a number needs few distinct values
    threshold : a row's decision is whether its prediction is at least this; None for no decisions
    worst : how many rows to name
    rows : which rows of the sample; None for all
    """
    feature = study.feature(model_column(study, asked, "flips"))
    block = study.sample if rows is None else study.sample.take(rows)
    positions = np.arange(block.n_rows) if rows is None else np.asarray(rows)
    (values,), _ = study.rows.statistics.grids((feature,), Grid("distinct"), lambda one: np.empty(0))
    if feature.kind in ORDERED_KINDS and len(values) > FEW:
        raise InputError.of("flips", f"must name a column of categories or of at most {FEW} distinct numbers; this has {len(values)}", asked,
                            "cut it into groups first, or ask for its curve with partial_dependence")  # fmt: skip
    axis = feature.axis(values, block.table)
    every = np.arange(block.n_rows)
    own_question = Question((), spread=False, rows=every, averaged=False)
    moved = Question((axis,), spread=False, rows=every, averaged=False)
    own_answer, answer = study.answers([own_question, moved], Block(block.table))
    own = np.asarray(own_answer.curves).reshape(len(study.model.outputs), -1)
    curves = np.asarray(answer.curves)
    at, has = nearest_points(values, feature_column(feature, block.table))
    labels = [None if is_missing_value(v) else v for v in values.tolist()]
    return [
        _of_output(study, feature.label, labels, own[o], curves[o], np.where(has, at, -1), block, positions, threshold, worst, o)
        for o in range(len(study.model.outputs))
    ]  # fmt: skip


def _of_output(
    study: Study,
    label: Any,
    levels: list[Any],
    own: Float,
    curves: Float,
    at: Any,
    block: Block,
    positions: Any,
    threshold: float | None,
    worst: int,
    output: int,
) -> Flips:
    name, weights = study.model.outputs[output], block.row_weights()
    change = curves - own[:, None]
    size = np.abs(change)
    size[size <= tolerance_of(study) * np.maximum(1.0, np.abs(own))[:, None]] = 0.0
    most = size.max(axis=1, initial=0.0)
    other = (
        None if threshold is None
        else ((curves >= threshold) != (own >= threshold)[:, None]).any(axis=1)
    )  # fmt: skip
    total = float(weights.sum())

    def share(chosen: Any, among: Float) -> float:
        weight = float(among.sum())
        return float(among @ chosen) / weight if weight else 0.0

    by_level = {}
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
            before = levels[at[row]] if at[row] >= 0 else None
            examples.append(
                CounterExample(label, name, "", int(positions[row]), before, levels[to], float(own[row]), float(curves[row, to]))
            )  # fmt: skip
    return Flips(
        label, name, tuple(levels), share(most > 0, weights), None if other is None else share(other, weights), threshold,
        share(most, weights), float(most[weights > 0].max(initial=0.0)), by_level, tuple(examples),
    )  # fmt: skip
