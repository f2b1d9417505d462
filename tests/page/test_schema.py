"""A picture as JSON: valid by its schema, whole when read back, and each array once."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import effect_builders as build
import numpy as np
import pytest

from icefield.page import built
from icefield.plots.compose import effect_picture, many_picture
from icefield.plots.options import Options
from icefield.plots.panels import Picture
from icefield.plots.schema import VERSION, document, json_schema
from icefield.report.stills import Point, plane, small_curve
from optional import imported_later

jsonschema = imported_later("jsonschema")
EFFECTS = {
    "number": build.numeric(missing=True),
    "steps": replace(build.numeric(points=14, missing=True), steps=True),
    "ice": build.ice(),
    "levels": build.categorical(),
    "dates": build.dated(),
    "surface": build.surface(),
    "mixed": build.mixed_surface(),
    "cells": build.crossed_levels(),
    "groups": build.grouped(),
    "support": build.with_low_support(build.numeric(points=14), np.arange(14) < 3),
}


def valid(found: dict[str, Any]) -> None:
    json.dumps(found, allow_nan=False)
    jsonschema.Draft202012Validator(json_schema()).validate(found)


def test_the_schema_is_the_one_that_is_committed_and_itself_valid() -> None:
    assert json.loads(built("panel.schema.json")) == json_schema()
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert json_schema()["properties"]["v"] == {"const": VERSION}


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("options", [{}, {"cmap": "plasma"}, {"data": "rug"}])
def test_every_kind_of_picture_is_valid(name: str, options: dict[str, Any]) -> None:
    if options.get("data") == "rug" and name in ("surface", "mixed", "cells"):
        options = {"data": "points"}
    valid(document(effect_picture(EFFECTS[name], Options.of(options))))


def test_the_reports_own_pictures_are_valid() -> None:
    point = Point("<age>", "#f0", 0.3, 0.1, False)
    panels = [
        plane([point, replace(point, hidden=True, removed=0.5)]),
        small_curve(EFFECTS["number"], 0),
        small_curve(EFFECTS["levels"], 0),
    ]
    for panel in panels:
        valid(document(Picture((panel,))))


def test_what_is_not_in_the_schema_is_refused() -> None:
    found = document(effect_picture(EFFECTS["number"], Options.of({})))
    found["picture"]["panels"][0]["marks"][0]["onclick"] = "alert(1)"
    with pytest.raises(jsonschema.ValidationError):
        valid(found)


def test_numbers_come_back_as_they_were_and_shared_arrays_are_sent_once() -> None:
    picture = many_picture([EFFECTS["number"], EFFECTS["number"]], Options.of({}))
    found = document(picture)
    line = next(m for m in found["picture"]["panels"][0]["marks"] if m["kind"] == "line")
    kind, shape, text = found["arrays"][line["x"]["a"]]
    own = next(m for m in picture.panels[0].marks if type(m).__name__ == "Line")
    assert (kind, shape) == ("f8", [len(own.x)])
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(text), dtype="<f8"), own.x)
    kind, _, text = found["arrays"][line["y"]["a"]]
    assert kind == "f4"
    np.testing.assert_allclose(np.frombuffer(base64.b64decode(text), dtype="<f4"), own.y, rtol=1e-6)
    texts = [text for _, _, text in found["arrays"]]
    assert len(texts) == len(set(texts))
