"""The Python lines of a state."""

from __future__ import annotations

from typing import Any

from icefield.explore import code as python_code
from icefield.explore.answers.other_views import REGION_ROWS
from icefield.explore.messages import AnswerPart, BadMessage, number
from icefield.explore.query import Query
from icefield.explore.slots import Parts


def code(query: Query) -> Parts:
    """The Python lines of a state."""
    state = query.message.get("state")
    if not isinstance(state, dict):
        raise BadMessage("state must be an object.", "state")
    yield AnswerPart({"part": "code", "done": True, "lines": lines(query.about(state))})


def lines(query: Query) -> list[str]:
    """The Python lines that give what a state shows."""
    state = query.message
    known: dict[str, Any] = {
        "feature": query.feature(), "rule": query.rule(), "shown": state.get("shown", {})
    }  # fmt: skip
    if not isinstance(known["shown"], dict):
        raise BadMessage("shown must be an object.", "shown")
    if state.get("second") is not None:
        known["second"] = query.feature("second")
    if state.get("row") is not None:
        known |= _changed_row(query)
    if isinstance(state.get("pinned"), dict):
        known["pinned"] = _changed_row(query.about(state["pinned"]))
    if state.get("cohort") is not None:
        known["cohort"] = query.rule("cohort")
    if state.get("regions") is not None:
        known["regions"] = _stretch(state["regions"])
        mask = query.mask(known["rule"])
        known["kept"] = 0 if mask is None else int(mask.sum())
    return python_code.lines(known, _context(query))


def _changed_row(query: Query) -> dict[str, Any]:
    query.values  # noqa: B018  (checked)
    return {"row": query.row, "values": query.message.get("values", {})}


def _stretch(given: Any) -> list[float]:
    """The two ends of a stretch of the axis as numbers; an empty list for the whole axis."""
    if not isinstance(given, list) or len(given) not in (0, 2):
        raise BadMessage("regions lists the two ends of a stretch, or nothing.", "regions")
    return [number(end, "regions") for end in given]


def _context(query: Query) -> python_code.CodeContext:
    """Names for the view's Explainers, and the line that makes the one of another scale."""
    shared, view = query.controller, query.view
    several = len(shared.models.names) > 1
    names = [f"explainers[{name!r}]" if several else "ex" for name in shared.models.names]
    shown, made, every = names[view.model], "", names
    if view.scale != shared.models.own_scale(view.model):
        every = []
        model = view.study.model
        target = "all" if len(model.outputs) == len(model.all_outputs) else model.outputs[0]
        output = f", target={python_code.literal(target)}" if len(model.all_outputs) > 1 else ""
        weighted = f", weights={shown}.weights" if view.study.sample.weights is not None else ""
        made = (
            f"other = Explainer({shown}.model.native, X, {shown}.y{output}, scale={view.scale!r}{weighted})"
        )
        shown = "other"
    return python_code.CodeContext(
        shared.columns, shared.study.sample.table.library, names[0], shown, made, every if several else [], REGION_ROWS, shared.study.seed
    )  # fmt: skip
