"""All that a report's script is given is valid by one schema: cards, surfaces, regions, the matrix, pictures, a live row."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from icefield import Explainer, compare
from icefield.page import built as built_file
from icefield.report.page import VERSION

jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")
SCHEMA, PANEL = (json.loads(built_file(f"{name}.schema.json")) for name in ("report", "panel"))


def validator(schema: dict[str, Any]) -> Any:
    known = referencing.Registry().with_resources(
        [
            ("panel.schema.json", referencing.Resource.from_contents(PANEL)),
            ("", referencing.Resource.from_contents(SCHEMA)),
        ]
    )
    return jsonschema.Draft202012Validator(schema, registry=known)


def block(html: str, name: str) -> Any:
    return json.loads(
        re.findall(rf'<script type="application/json" id="{name}">(.*?)</script>', html, re.S)[0]
    )


def frame(rows: int = 150) -> Any:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    found = pd.DataFrame(
        {
            "a": rng.normal(size=rows),
            "k": pd.Categorical(rng.choice(["x", "y"], rows)),
            "n": rng.integers(0, 2, rows),
            "m": rng.normal(size=rows),
        }
    )
    found.loc[:30, "m"] = np.nan
    found["t"] = pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 90, rows), unit="D")
    return found


def moves(rows: Any) -> Any:
    side = np.where(rows["k"] == "x", 1.0, -1.0)
    return (rows["a"] * side + rows["m"].fillna(1) * rows["n"]).to_numpy()


REPORTS = {
    "one model": lambda: Explainer(moves, frame(), y=moves(frame())).report(individual=True),
    "groups": lambda: Explainer(moves, frame(), by="n").report(),
    "classes": lambda: Explainer(lambda r: np.column_stack([moves(r), -moves(r)]), frame()).report(),
    "two models": lambda: compare(
        {"a": Explainer(moves, frame()), "b": Explainer(lambda r: 2 * moves(r), frame())}
    ).report(),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ("groups", "classes") else ()) for n in REPORTS]
)
def test_what_a_report_holds_is_valid(name: str) -> None:
    held = block(REPORTS[name]().html, "data")
    assert held["v"] == VERSION == SCHEMA["properties"]["v"]["const"]
    assert len(held["features"]) >= 3
    validator(SCHEMA).validate(held)
    held["features"][0]["axis"]["onclick"] = "alert(1)"
    with pytest.raises(jsonschema.ValidationError):
        validator(SCHEMA).validate(held)


def test_a_live_row_is_valid() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X = frame().drop(columns="t")
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, moves(X))
    html = Explainer(model, X).report(live=True).html
    validator({"$ref": "#/$defs/live", "$defs": SCHEMA["$defs"]}).validate(block(html, "live-data"))
    validator(SCHEMA).validate(block(html, "data"))


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
