"""One row: chosen, and what the model says of it, and of the same row with other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from icefield.core.changed_rows import changed_table, ice_curves, predictions_of
from icefield.data.given_values import given_values
from icefield.explore.explored_models import View
from icefield.explore.messages import AnswerPart, BadMessage, whole
from icefield.explore.query import Query
from icefield.explore.slots import Parts
from icefield.statistics.support import row_inside
from icefield.typing import Float, Positions


def pick(query: Query) -> Parts:
    """Choose a row: typical, random, the worst error, or by its number, then with values changed; among the filtered ones."""
    shared = query.controller
    shared.data.check_shown()
    view, positions = query.view, query.positions
    how = query.message.get("how", "typical")
    among = np.arange(shared.study.sample.n_rows) if positions is None else positions
    values: dict[int, Any] = {}
    if not len(among):
        raise BadMessage("The filter keeps no row to choose from.", "rule")
    if isinstance(how, int) and not isinstance(how, bool):
        row = whole(query.message, "how", 0, shared.study.sample.n_rows)
        values = query.values
    elif how == "typical":
        predicted = shared.data.predictions[among, min(view.output, shared.data.predictions.shape[1] - 1)]
        row = int(among[np.argsort(predicted, kind="stable")[len(among) // 2]])
    elif how == "random":
        query.memory.picks += 1
        row = int(np.random.default_rng((shared.study.seed, query.memory.picks)).choice(among))
    elif how == "worst":
        if shared.data.observed is None:
            raise BadMessage("The worst error needs what was observed: give y to the Explainer.", "how")
        error = np.abs(shared.data.predictions[among] - shared.data.observed[among])[
            :, min(view.output, shared.data.observed.shape[1] - 1)
        ]
        row = int(among[int(np.nanargmax(error))])
    elif isinstance(how, dict) and how.get("near"):
        row = _nearest(query, among, how["near"])
    else:
        raise BadMessage("how must be typical, random, worst, a row's number or values to be near.", "how")
    observed = (
        None
        if shared.data.observed is None
        else float(shared.data.observed[row, min(view.output, shared.data.observed.shape[1] - 1)])
    )
    head = {
        "part": "row", "done": False, "of": 2, "row": row, "observed": observed,
        "places": [c.place_of(row) for c in shared.columns], "values": query.message.get("values", {}) if values else {},
    }  # fmt: skip
    yield AnswerPart(head)
    yield from _answers(query, view, row, values, {"of": 2})


def _nearest(query: Query, among: Positions, near: Any) -> int:
    """The row of some that is nearest to given values: numbers in standard deviations, another level or missing counts 3."""
    far = np.zeros(len(among))
    columns = query.controller.columns
    query.about({"values": near}).values  # noqa: B018  (checked as values are)
    for key, place in near.items():
        column = columns[int(key)]
        every, at = column.places, column.places[among]
        if place is None:
            far += np.where(np.isnan(at), 0.0, 9.0)
        else:
            width = (float(np.nanstd(every)) or 1.0) if column.ordered else 0.0
            apart = ((at - place) / width) ** 2 if width else 9.0 * (at != place)
            far += np.where(np.isnan(at), 9.0, apart)
    return int(among[int(np.argmin(far))])


def what_if(query: Query) -> Parts:
    """The chosen row with changed values: its prediction and all its curves, then whether it still looks like data."""
    view, row, values = query.view, query.row, query.values
    yield from _answers(query, view, row, values, {"of": 2})


def _answers(query: Query, view: View, row: int, values: dict[int, Any], shown: dict[str, Any]) -> Parts:
    shared, study = query.controller, view.study
    changed = {shared.features[i]: value for i, value in values.items()}
    table = changed_table(study, np.array([row]), changed)
    predicted = predictions_of(study, table)[0]
    before = predicted if not changed else _before(query, view, row)
    sets = shared.once("resolved", lambda: [study.resolve([name]) for name in shared.features])
    grids, plan = [(grid,) for grid in shared.grids.values()], shared.models.plan(study)
    curves = ice_curves(study, table, sets, grids, plan)
    head = {
        **shown, "part": "whatif", "done": not changed, "row": row, "predicted": predicted.tolist(), "before": before.tolist(),
        "texts": [c.text(table.column(c.name).shown()[0]) for c in shared.columns],
    }  # fmt: skip
    yield AnswerPart(head, {"y": ("f8", np.concatenate([curve[:, 0] for curve in curves], axis=1))})
    if changed:
        given = [given_values([value], study.column(study.feature(name))) for name, value in changed.items()]
        inside = _inside(query, row, tuple(changed))(given)
        text = "" if inside else "No row of the data is like this one: the prediction here is extrapolation."
        yield AnswerPart({**shown, "part": "inside", "done": True, "row": row, "inside": inside, "say": text})


def _inside(query: Query, row: int, names: tuple[Any, ...]) -> Callable[[Sequence[Any]], bool]:
    """Tells whether a row is like the data with other values of some features; the last one is remembered, for drags."""
    study = query.controller.study
    if query.memory.around is None or query.memory.around[0] != (row, names):
        query.memory.around = (row, names), row_inside(study, row, [study.feature(name) for name in names])
    return query.memory.around[1]


def _before(query: Query, view: View, row: int) -> Float:
    """What the model predicts of a row as it is; the last one is remembered."""
    key = (view.model, view.scale, row)
    if query.memory.unchanged is None or query.memory.unchanged[0] != key:
        query.memory.unchanged = (
            key,
            predictions_of(view.study, changed_table(view.study, np.array([row]), {}))[0],
        )
    return query.memory.unchanged[1]
