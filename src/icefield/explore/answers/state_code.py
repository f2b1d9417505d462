"""The Python lines of a state."""

from __future__ import annotations

from typing import Any

from icefield.explore import code as python_code
from icefield.explore.answers.other_views import REGION_ROWS
from icefield.explore.asked import Asked
from icefield.explore.messages import AnswerPart, BadMessage, number
from icefield.explore.slots import Parts


def written(asked: Asked) -> Parts:
    """The Python lines of a state."""
    state = asked.message.get("state")
    if not isinstance(state, dict):
        raise BadMessage("state must be an object.", "state")
    yield AnswerPart({"part": "code", "done": True, "lines": lines(asked.about(state))})


def lines(asked: Asked) -> list[str]:
    """The Python lines that give what a state shows."""
    state = asked.message
    known: dict[str, Any] = {
        "feature": asked.feature(), "rule": asked.rule(), "shown": state.get("shown", {})
    }  # fmt: skip
    if not isinstance(known["shown"], dict):
        raise BadMessage("shown must be an object.", "shown")
    if state.get("second") is not None:
        known["second"] = asked.feature("second")
    if state.get("row") is not None:
        known |= _changed_row(asked)
    if isinstance(state.get("pinned"), dict):
        known["pinned"] = _changed_row(asked.about(state["pinned"]))
    if state.get("cohort") is not None:
        known["cohort"] = asked.rule("cohort")
    if state.get("regions") is not None:
        known["regions"] = _stretch(state["regions"])
        kept = asked.kept(known["rule"])
        known["kept"] = 0 if kept is None else int(kept.sum())
    return python_code.lines(known, _context(asked))


def _changed_row(asked: Asked) -> dict[str, Any]:
    asked.values  # noqa: B018  (checked)
    return {"row": asked.row, "values": asked.message.get("values", {})}


def _stretch(given: Any) -> list[float]:
    """The ends of a stretch, or none for the whole axis."""
    if not isinstance(given, list) or len(given) not in (0, 2):
        raise BadMessage("regions lists the two ends of a stretch, or nothing.", "regions")
    return [number(end, "regions") for end in given]


def _context(asked: Asked) -> python_code.CodeContext:
    """Names for the view's Explainers, and the line that makes the one of another scale."""
    own, view = asked.controller, asked.view
    several = len(own.models.names) > 1
    names = [f"explainers[{name!r}]" if several else "ex" for name in own.models.names]
    shown, made, every = names[view.model], "", names
    if view.scale != own.models.own_scale(view.model):
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
        own.columns, own.study.sample.table.library, names[0], shown, made, every if several else [], REGION_ROWS, own.study.seed
    )  # fmt: skip
