"""Other views of the shown feature: a surface, ALE, observed means, regions, the audit; and points of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.audit.auditing import audit
from icefield.audit.result import Audit
from icefield.core.effects import Request, compute_effects
from icefield.explore.messages import AnswerPart, BadMessage, number, whole
from icefield.explore.query import Query
from icefield.explore.slots import Parts
from icefield.statistics.ale import ale
from icefield.statistics.conditional import conditional
from icefield.statistics.regions import regions as regions_of
from icefield.wording.names import page_name
from icefield.wording.values import number_text

REGION_ROWS = 1_000


def surface(query: Query) -> Parts:
    """The partial dependence surface of two features."""
    view, first, second = query.view, query.feature(), query.feature("second")
    if first == second:
        raise BadMessage("A surface has two different features.", "second")
    shared = query.controller
    names = shared.features[first], shared.features[second]
    (effect,) = compute_effects(view.study, Request(sets=[names], spread=False, rows=query.positions))
    places = [shared.columns[i].places_of(grid) for i, grid in zip((first, second), effect.grid)]
    texts = [[shared.columns[i].text(v) for v in grid] for i, grid in zip((first, second), effect.grid)]
    head = {"part": "surface", "done": True, "feature": first, "second": second, "texts": texts}
    yield AnswerPart(head, {"x": ("f8", places[0]), "z": ("f8", places[1]), "y": ("f8", effect.average)})


def local(query: Query) -> Parts:
    """Accumulated local effects of the shown feature, at the level of the average curve."""
    view, feature, positions = query.view, query.feature(), query.positions
    shared = query.controller
    name = shared.features[feature]
    effect = ale(view.study, name, rows=positions)
    places = shared.columns[feature].places_of(effect.grid[0])
    yield AnswerPart(
        {"part": "ale", "done": True, "feature": feature},
        {"x": ("f8", places), "y": ("f8", effect.average)},
    )


def means(query: Query) -> Parts:
    """Observed and predicted means of the rows near each value."""
    view, feature, positions = query.view, query.feature(), query.positions
    shared = query.controller
    table = conditional(view.study, shared.features[feature], rows=positions)
    outputs, bins = len(view.study.model.outputs), len(table["value"]) // len(view.study.model.outputs)
    places = shared.columns[feature].places_of(table["value"][:bins])
    arrays = {"x": ("f8", places), "weight": ("f8", table["weight"][:bins])}
    for measure in ("observed", "predicted"):
        if measure in table.columns:
            arrays[measure] = ("f8", np.asarray(table[measure], np.float64).reshape(outputs, bins))
    yield AnswerPart(
        {
            "part": "observed",
            "done": True,
            "feature": feature,
            "bins": [str(b) for b in table["bin"][:bins]],
        },
        arrays,
    )


def regions(query: Query) -> Parts:
    """Why rows differ: rules within which curves agree, over the whole axis or a brushed stretch of it."""
    view, feature, positions = query.view, query.feature(), query.positions
    shared = query.controller
    rows: Any = positions
    if positions is not None and len(positions) > REGION_ROWS:
        rows = np.sort(np.random.default_rng(shared.study.seed).choice(positions, REGION_ROWS, replace=False))
    grid = shared.grids[shared.features[feature]]
    at = shared.columns[feature].grid_places
    if query.message.get("from") is not None or query.message.get("to") is not None:
        low = -np.inf if query.message.get("from") is None else number(query.message["from"], "from")
        high = np.inf if query.message.get("to") is None else number(query.message["to"], "to")
        inside = (at >= low) & (at <= high)
        if inside.sum() < 2:
            raise BadMessage("The stretch holds fewer than two grid points: brush a wider one.", "from")
        grid = grid[inside]
    table = regions_of(view.study, shared.features[feature], rows=rows, grid=grid)
    head = {
        "part": "regions", "done": True, "feature": feature, "rules": [page_name(str(r), 200) for r in table["rule"]],
        "share": [float(s) for s in table["share"]] if "share" in table.columns else [], "note": "; ".join(table.notes[:2]),
    }  # fmt: skip
    yield AnswerPart(head)


def audit_feature(query: Query) -> Parts:
    """For how many rows predictions rise, fall or do both along a feature, decided at every threshold of trees."""
    view, feature, positions = query.view, query.feature(), query.positions
    table = audit(view.study, [query.controller.features[feature]], everywhere=False, rows=positions)
    lines = _audit_words(table, query.controller.features[feature], view.output)
    yield AnswerPart({"part": "audit", "done": True, "feature": feature, "say": lines})


def _audit_words(table: Audit, feature: Any, output: int) -> list[str]:
    """What an audit found along one feature, of one output, a sentence each."""
    rows = np.flatnonzero(table["feature"] == feature)
    outputs = list(dict.fromkeys(table["output"][rows]))
    rows = rows[table["output"][rows] == outputs[min(output, len(outputs) - 1)]]
    at = int(rows[0])
    shares = [(table[word][at], text) for word, text in (("rises", "only rise"), ("falls", "only fall"), ("both", "do both"), ("flat", "do not change"))]  # fmt: skip
    parts = [f"{text} for {100 * share:.3g} % of rows" for share, text in shares if share > 0]
    how = table["method"][at]
    lines = [f"Predictions {', '.join(parts)} ({'decided at ' if how == 'every threshold' else ''}{how})."]
    if np.isfinite(table["jump"][at]) and table["jump"][at] > 0:
        lines.append(f"Largest single step: {number_text(float(table['jump'][at]))}.")
    for row in rows[table["direction"][rows] != ""]:
        against = float(table["against"][row])
        verdict = (
            "holds on these rows"
            if table["holds"][row]
            else f"does not hold: a step of {number_text(against)} against it"
        )
        lines.append(f"{str(table['direction'][row]).capitalize()} as declared: {verdict}.")
    return lines


def scatter(query: Query) -> Parts:
    """Sampled points of two columns."""
    shared = query.controller
    shared.data.check_shown()

    def column(name: str) -> int | str:
        given = query.message.get(name)
        if isinstance(given, str) and given in shared.data.beside:
            return given
        return whole(query.message, name, 0, len(shared.columns))

    places = [shared.data.places(column(name))[shared.data.sampled] for name in ("x", "y")]
    yield AnswerPart(
        {
            "part": "points",
            "done": True,
            "x": query.message.get("x"),
            "y": query.message.get("y"),
            "seed": shared.study.seed,
        },
        {"px": ("f4", places[0]), "py": ("f4", places[1]), "row": ("i4", shared.data.sampled)},
    )
