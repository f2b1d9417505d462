"""Other views of the shown feature: a surface, ALE, observed means, regions, the audit; and points of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.audit.auditing import audit
from icefield.audit.result import Audit
from icefield.core.effects import Request, compute_effects
from icefield.explore.asked import Asked
from icefield.explore.messages import AnswerPart, BadMessage, number, whole
from icefield.explore.slots import Parts
from icefield.statistics.ale import ale
from icefield.statistics.conditional import conditional
from icefield.statistics.regions import regions as regions_of
from icefield.wording.names import page_name
from icefield.wording.values import number_text

REGION_ROWS = 1_000


def surface(asked: Asked) -> Parts:
    """Two features together."""
    view, first, second = asked.view, asked.feature(), asked.feature("second")
    if first == second:
        raise BadMessage("A surface has two different features.", "second")
    own = asked.controller
    names = own.features[first], own.features[second]
    (effect,) = compute_effects(view.study, Request(sets=[names], spread=False, rows=asked.positions))
    places = [own.columns[i].placed(grid) for i, grid in zip((first, second), effect.grid)]
    texts = [[own.columns[i].text(v) for v in grid] for i, grid in zip((first, second), effect.grid)]
    head = {"part": "surface", "done": True, "feature": first, "second": second, "texts": texts}
    yield AnswerPart(head, {"x": ("f8", places[0]), "z": ("f8", places[1]), "y": ("f8", effect.average)})


def local(asked: Asked) -> Parts:
    """Accumulated local effects of the shown feature, at the level of the average curve."""
    view, feature, positions = asked.view, asked.feature(), asked.positions
    own = asked.controller
    name = own.features[feature]
    effect = ale(view.study, name, rows=positions)
    places = own.columns[feature].placed(effect.grid[0])
    yield AnswerPart(
        {"part": "ale", "done": True, "feature": feature},
        {"x": ("f8", places), "y": ("f8", effect.average)},
    )


def means(asked: Asked) -> Parts:
    """Observed and predicted means of the rows near each value."""
    view, feature, positions = asked.view, asked.feature(), asked.positions
    own = asked.controller
    table = conditional(view.study, own.features[feature], rows=positions)
    outputs, bins = len(view.study.model.outputs), len(table["value"]) // len(view.study.model.outputs)
    places = own.columns[feature].placed(table["value"][:bins])
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


def regions(asked: Asked) -> Parts:
    """Why rows differ: rules within which curves agree, over the whole axis or a brushed stretch of it."""
    view, feature, positions = asked.view, asked.feature(), asked.positions
    own = asked.controller
    rows: Any = positions
    if positions is not None and len(positions) > REGION_ROWS:
        rows = np.sort(np.random.default_rng(own.study.seed).choice(positions, REGION_ROWS, replace=False))
    grid = own.grids[own.features[feature]]
    at = own.columns[feature].grid_places
    if asked.message.get("from") is not None or asked.message.get("to") is not None:
        low = -np.inf if asked.message.get("from") is None else number(asked.message["from"], "from")
        high = np.inf if asked.message.get("to") is None else number(asked.message["to"], "to")
        inside = (at >= low) & (at <= high)
        if inside.sum() < 2:
            raise BadMessage("The stretch holds fewer than two grid points: brush a wider one.", "from")
        grid = grid[inside]
    found = regions_of(view.study, own.features[feature], rows=rows, grid=grid)
    head = {
        "part": "regions", "done": True, "feature": feature, "rules": [page_name(str(r), 200) for r in found["rule"]],
        "share": [float(s) for s in found["share"]] if "share" in found.columns else [], "note": "; ".join(found.notes[:2]),
    }  # fmt: skip
    yield AnswerPart(head)


def audited(asked: Asked) -> Parts:
    """For how many rows predictions rise, fall or do both along a feature, decided at every threshold of trees."""
    view, feature, positions = asked.view, asked.feature(), asked.positions
    found = audit(view.study, [asked.controller.features[feature]], everywhere=False, rows=positions)
    said = _audit_words(found, asked.controller.features[feature], view.output)
    yield AnswerPart({"part": "audit", "done": True, "feature": feature, "say": said})


def _audit_words(found: Audit, feature: Any, output: int) -> list[str]:
    """What an audit found along one feature, of one output, a sentence each."""
    own = np.flatnonzero(found["feature"] == feature)
    outputs = list(dict.fromkeys(found["output"][own]))
    own = own[found["output"][own] == outputs[min(output, len(outputs) - 1)]]
    at = int(own[0])
    shares = [(found[word][at], text) for word, text in (("rises", "only rise"), ("falls", "only fall"), ("both", "do both"), ("flat", "do not change"))]  # fmt: skip
    parts = [f"{text} for {100 * share:.3g} % of rows" for share, text in shares if share > 0]
    how = found["method"][at]
    said = [f"Predictions {', '.join(parts)} ({'decided at ' if how == 'every threshold' else ''}{how})."]
    if np.isfinite(found["jump"][at]) and found["jump"][at] > 0:
        said.append(f"Largest single step: {number_text(float(found['jump'][at]))}.")
    for one in own[found["direction"][own] != ""]:
        against = float(found["against"][one])
        kept = (
            "holds on these rows"
            if found["holds"][one]
            else f"does not hold: a step of {number_text(against)} against it"
        )
        said.append(f"{str(found['direction'][one]).capitalize()} as declared: {kept}.")
    return said


def scatter(asked: Asked) -> Parts:
    """Sampled points of two columns."""
    own = asked.controller
    own.data.check_shown()

    def column(name: str) -> int | str:
        given = asked.message.get(name)
        if isinstance(given, str) and given in own.data.beside:
            return given
        return whole(asked.message, name, 0, len(own.columns))

    places = [own.data.places(column(name))[own.data.sampled] for name in ("x", "y")]
    yield AnswerPart(
        {
            "part": "points",
            "done": True,
            "x": asked.message.get("x"),
            "y": asked.message.get("y"),
            "seed": own.study.seed,
        },
        {"px": ("f4", places[0]), "py": ("f4", places[1]), "row": ("i4", own.data.sampled)},
    )
