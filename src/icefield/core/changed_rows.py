"""Rows with some values in place of their own: what a model predicts of them, and their ICE curves.

A what-if question is about a row that is not in the data. It is asked as any other, of a block that holds just these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icefield.core.engine import Plan, with_fallback
from icefield.core.question import Question
from icefield.core.rows import Block
from icefield.core.study import Study, answers_by
from icefield.data.features import Feature
from icefield.data.frame import Table
from icefield.data.given_values import given_values
from icefield.data.row_values import RowValues
from icefield.effect import Effect, KeptCurves
from icefield.errors import IcefieldError, InputTypeError
from icefield.typing import Array, Float, Positions


def changed_table(study: Study, rows: Positions, changed: Mapping[Any, Any]) -> Table:
    """These rows of the sample with each named column set to one value; None is a missing one."""
    if not isinstance(changed, Mapping):
        raise InputTypeError.about(
            "changed", "must map columns to values", changed, 'write changed={"temp": 30.0}'
        )
    table, points = study.sample.table, {}
    for name, value in changed.items():
        if not table.has(name):
            table.check(name, "changed")
        try:
            points[name] = given_values([value], table.column(name))
        except IcefieldError as error:
            raise error.about("changed", error.problem, {name: value}, error.hint) from None
    part = table.take(rows)
    return part.crossed(points) if points else part


def ice_curves(
    study: Study,
    table: Table,
    features: Sequence[Sequence[Feature]],
    grids: Sequence[Sequence[Array]],
    plan: Plan | None = None,
) -> list[Float]:
    """ICE curves of the rows of a table, for each set of features over its grid: ``(outputs, rows, *grid)`` each.

    `plan` is the study's, where the model was just found to be the one it was made for.
    """
    every = np.arange(table.n_rows)
    axes = [
        tuple(f.axis(values, study.rows.head) for f, values in zip(*moving))
        for moving in zip(features, grids)
    ]
    questions = [Question(own, spread=False, rows=every, averaged=False) for own in axes]
    found = with_fallback(
        plan or study.plans.checked(), lambda plan: answers_by(plan, questions, Block(table), study.resources)
    )
    return [np.asarray(answer.curves) for answer in found]


def predictions_of(study: Study, table: Table) -> Float:
    """What the model itself predicts of the rows of a table, ``(rows, outputs)``."""
    return study.model.predict(table.select(study.model.columns))


def with_changed_rows(
    study: Study, effect: Effect, features: Sequence[Feature], rows: Positions, changed: Mapping[Any, Any]
) -> Effect:
    """The effect with the curves of these rows as they are when some of their values are changed."""
    table = changed_table(study, rows, changed)
    (curves,) = ice_curves(study, table, [features], [effect.grid])
    values = RowValues(table, np.arange(table.n_rows))
    kept = KeptCurves(curves, rows, values, effect.row_weights, effect.row_clusters)
    return replace(effect, kept=kept)
