"""Filters: how many rows, the shown curve, all curves, band, plane and summary, each as it is found; cohorts and models side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.explore.answers.shown_feature import ShownFeature
from icefield.explore.messages import AnswerPart, BadMessage
from icefield.explore.query import Query
from icefield.explore.rules import condition_words, in_words
from icefield.explore.slots import Parts

WANTED = ("curve", "curves", "band", "plane", "summary")
FOLLOWING = ("curve", "bars", *WANTED[1:])  # the shown curve is what the reader looks at while a brush moves


def filter_rows(query: Query) -> Parts:
    """A filter: its count and the shown curve first, then histograms, all curves, bands, plane and summary."""
    shared, view, rule = query.controller, query.view, query.rule()
    feature = query.feature()
    wanted = query.message.get("want", list(WANTED))
    if not isinstance(wanted, list) or any(w not in WANTED for w in wanted):
        raise BadMessage(f"want lists some of {', '.join(WANTED)}.", "want")
    mask = query.mask(rule)
    positions = None if mask is None else np.flatnonzero(mask)
    count = shared.study.sample.n_rows if positions is None else len(positions)
    weights = shared.study.sample.weights
    named = [part for part in FOLLOWING if part in wanted or part == "bars"] if count else ["bars"]
    head: dict[str, Any] = {
        "part": "count", "of": 1 + len(named), "done": False, "rows": count,
        "words": in_words(rule, shared.columns), "conditions": [condition_words(condition, shared.columns) for condition in rule],
        "weight": float(count if weights is None else (weights if mask is None else weights[mask]).sum()),
    }  # fmt: skip
    if not count:
        head["empty"] = _which_to_drop(query, rule)
    shown = {}
    if shared.data.shows_rows:
        sampled = shared.data.sampled
        shown["kept"] = ("u1", np.ones(len(sampled), bool) if mask is None else mask[sampled])
    yield AnswerPart(head, shown)
    show = ShownFeature(shared, view, feature, positions)
    for place, part in enumerate(named, 2):
        head = {"part": part, "of": 1 + len(named), "rows": count, "done": place == 1 + len(named)}
        if part == "bars":
            yield AnswerPart(head, {"bars": ("f8", shared.data.histograms.counts(mask))})
        elif part == "curves":
            yield AnswerPart(head, {"y": ("f8", shared.curves(view, positions))})
        else:
            made = {"curve": show.curve, "band": show.band, "plane": show.plane, "summary": show.summary}
            yield made[part](head)


def _which_to_drop(query: Query, rule: list[dict[str, Any]]) -> dict[str, Any]:
    """The condition whose removal helps a filter that keeps nothing most, and how many rows it then keeps."""
    left = [int(query.controller.data.mask(rule[:i] + rule[i + 1 :]).sum()) for i in range(len(rule))]
    best = int(np.argmax(left))
    return {
        "condition": best,
        "rows": left[best],
        "say": f"No row is {in_words(rule, query.controller.columns)}.",
    }


def curve(query: Query) -> Parts:
    """Another feature under the same filter: its curve, then its band."""
    view, feature, positions = query.view, query.feature(), query.positions
    if positions is not None and not len(positions):
        raise BadMessage("The filter keeps no row.", "rule")
    show = ShownFeature(query.controller, view, feature, positions)
    yield show.curve({"part": "curve", "of": 2, "done": False})
    yield show.band({"part": "band", "of": 2, "done": True})


def compare(query: Query) -> Parts:
    """The shown feature's curves of several cohorts, or of several models, on one grid."""
    view, feature = query.view, query.feature()
    shared = query.controller
    if query.message.get("rules") is not None:
        rules = query.message["rules"]
        if not isinstance(rules, list) or len(rules) > 8:
            raise BadMessage("rules lists at most 8 cohorts.", "rules")
        curves, counts = [], []
        for number, rule in enumerate(rules):
            positions = query.positions_of(query.checked_rule(rule))
            counts.append(shared.study.sample.n_rows if positions is None else len(positions))
            if not counts[-1]:
                raise BadMessage(f"Cohort {number + 1} keeps no row.", f"rules[{number}]")
            curves.append(ShownFeature(shared, view, feature, positions).effect().average)
        yield AnswerPart(
            {"part": "compared", "done": True, "feature": feature, "rows": counts},
            {"y": ("f8", np.stack(curves))},
        )
        return
    positions = query.positions
    curves = []
    for number in range(len(shared.models.names)):
        other = query.about({**query.message, "model": number}).view
        curves.append(ShownFeature(shared, other, feature, positions).effect().average)
    yield AnswerPart(
        {"part": "compared", "done": True, "feature": feature, "names": shared.models.names},
        {"y": ("f8", np.stack(curves))},
    )
