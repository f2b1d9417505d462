"""Filters: how many rows, the shown curve, all curves, band, plane and summary, each as it is found; cohorts and models side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.explore.answers.shown_feature import ShownFeature
from icefield.explore.asked import Asked
from icefield.explore.messages import AnswerPart, BadMessage
from icefield.explore.rules import condition_words, in_words
from icefield.explore.slots import Parts

WANTED = ("curve", "curves", "band", "plane", "summary")
FOLLOWING = ("curve", "bars", *WANTED[1:])  # the shown curve is what the reader looks at while a brush moves


def filtered(asked: Asked) -> Parts:
    """A filter: its count and the shown curve first, then histograms, all curves, bands, plane and summary."""
    own, view, rule = asked.controller, asked.view, asked.rule()
    feature = asked.feature()
    wanted = asked.message.get("want", list(WANTED))
    if not isinstance(wanted, list) or any(w not in WANTED for w in wanted):
        raise BadMessage(f"want lists some of {', '.join(WANTED)}.", "want")
    kept = asked.kept(rule)
    positions = None if kept is None else np.flatnonzero(kept)
    count = own.study.sample.n_rows if positions is None else len(positions)
    weights = own.study.sample.weights
    named = [part for part in FOLLOWING if part in wanted or part == "bars"] if count else ["bars"]
    head: dict[str, Any] = {
        "part": "count", "of": 1 + len(named), "done": False, "rows": count,
        "words": in_words(rule, own.columns), "conditions": [condition_words(one, own.columns) for one in rule],
        "weight": float(count if weights is None else (weights if kept is None else weights[kept]).sum()),
    }  # fmt: skip
    if not count:
        head["empty"] = _which_to_drop(asked, rule)
    shown = {}
    if own.data.shows_rows:
        sampled = own.data.sampled
        shown["kept"] = ("u1", np.ones(len(sampled), bool) if kept is None else kept[sampled])
    yield AnswerPart(head, shown)
    show = ShownFeature(own, view, feature, positions)
    for place, part in enumerate(named, 2):
        head = {"part": part, "of": 1 + len(named), "rows": count, "done": place == 1 + len(named)}
        if part == "bars":
            yield AnswerPart(head, {"bars": ("f8", own.data.histograms.counts(kept))})
        elif part == "curves":
            yield AnswerPart(head, {"y": ("f8", own.curves(view, positions))})
        else:
            made = {"curve": show.curve, "band": show.band, "plane": show.plane, "summary": show.summary}
            yield made[part](head)


def _which_to_drop(asked: Asked, rule: list[dict[str, Any]]) -> dict[str, Any]:
    """Without which condition a filter that keeps nothing would keep most rows."""
    left = [int(asked.controller.data.mask(rule[:i] + rule[i + 1 :]).sum()) for i in range(len(rule))]
    best = int(np.argmax(left))
    return {
        "condition": best,
        "rows": left[best],
        "say": f"No row is {in_words(rule, asked.controller.columns)}.",
    }


def curve(asked: Asked) -> Parts:
    """Another feature under the same filter: its curve, then its band."""
    view, feature, positions = asked.view, asked.feature(), asked.positions
    if positions is not None and not len(positions):
        raise BadMessage("The filter keeps no row.", "rule")
    show = ShownFeature(asked.controller, view, feature, positions)
    yield show.curve({"part": "curve", "of": 2, "done": False})
    yield show.band({"part": "band", "of": 2, "done": True})


def compared(asked: Asked) -> Parts:
    """The shown feature's curves of several cohorts, or of several models, on one grid."""
    view, feature = asked.view, asked.feature()
    own = asked.controller
    if asked.message.get("rules") is not None:
        rules = asked.message["rules"]
        if not isinstance(rules, list) or len(rules) > 8:
            raise BadMessage("rules lists at most 8 cohorts.", "rules")
        curves, counts = [], []
        for number, rule in enumerate(rules):
            positions = asked.positions_of(asked.checked_rule(rule))
            counts.append(own.study.sample.n_rows if positions is None else len(positions))
            if not counts[-1]:
                raise BadMessage(f"Cohort {number + 1} keeps no row.", f"rules[{number}]")
            curves.append(ShownFeature(own, view, feature, positions).effect().average)
        yield AnswerPart(
            {"part": "compared", "done": True, "feature": feature, "rows": counts},
            {"y": ("f8", np.stack(curves))},
        )
        return
    positions = asked.positions
    curves = []
    for number in range(len(own.models.names)):
        other = asked.about({**asked.message, "model": number}).view
        curves.append(ShownFeature(own, other, feature, positions).effect().average)
    yield AnswerPart(
        {"part": "compared", "done": True, "feature": feature, "names": own.models.names},
        {"y": ("f8", np.stack(curves))},
    )
