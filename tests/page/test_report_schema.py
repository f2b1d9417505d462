"""All that a report's script is given is valid by one schema, which is read from the classes it is made of."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from tests.page.report_schema import json_schema

from icefield import Explainer, compare
from icefield.page import built as built_file
from icefield.report import ReportPage, build, view_model
from optional import imported_later

jsonschema = imported_later("jsonschema")
referencing = imported_later("referencing")
SCHEMA, PANEL, FOREST = (
    json.loads(built_file(f"{name}.schema.json")) for name in ("report", "panel", "forest")
)


def validator(schema: dict[str, Any]) -> Any:
    known = referencing.Registry().with_resources(
        [
            ("panel.schema.json", referencing.Resource.from_contents(PANEL)),
            ("forest.schema.json", referencing.Resource.from_contents(FOREST)),
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


def two_models() -> Any:
    models = {"a": moves, "b": lambda r: 2 * moves(r)}
    return compare({name: Explainer(model, frame(), row_by_row=True) for name, model in models.items()})


REPORTS = {
    "one model": lambda: Explainer(moves, frame(), y=moves(frame()), row_by_row=True).report(individual=True),
    "groups": lambda: Explainer(moves, frame(), by="n").report(),
    "classes": lambda: Explainer(lambda r: np.column_stack([moves(r), -moves(r)]), frame()).report(),
    "two models": lambda: two_models().report(),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ("groups", "classes") else ()) for n in REPORTS]
)
def test_what_a_report_holds_is_valid(name: str) -> None:
    held = block(REPORTS[name]().html, "data")
    assert held["v"] == view_model.Drawn.v
    assert len(held["features"]) >= 3
    validator(SCHEMA).validate(held)
    for spoilt in ({"onclick": "alert(1)"}, {"ticks": None}):
        own = held["features"][0]
        broken = {**held, "features": [{**own, "axis": {**own["axis"], **spoilt}}]}
        with pytest.raises(jsonschema.ValidationError):
            validator(SCHEMA).validate(broken)


def test_a_live_row_is_valid() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X = frame().drop(columns="t")
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, moves(X))
    html = Explainer(model, X).report(live=True).html
    validator({"$ref": "#/$defs/LiveRow", "$defs": SCHEMA["$defs"]}).validate(block(html, "live-data"))
    validator(SCHEMA).validate(block(html, "data"))


def test_the_schema_is_that_of_the_classes_and_itself_valid() -> None:
    assert json_schema() == SCHEMA
    for schema in (SCHEMA, FOREST):
        jsonschema.Draft202012Validator.check_schema(schema)


def kinds(value: Any) -> set[type]:
    """The classes of what a page holds, however deep; pictures are of `plots`."""
    if is_dataclass(value) and type(value).__module__ == view_model.__name__:
        inner = [kinds(getattr(value, own.name)) for own in fields(value)]
        return {type(value)}.union(*inner)
    if isinstance(value, (list, tuple)):
        return set().union(*map(kinds, value))
    return {dict} if isinstance(value, dict) else set()


def test_one_model_and_several_are_told_in_the_same_classes() -> None:
    one, two = (
        build(given)
        for given in (
            Explainer(moves, frame(), row_by_row=True).study,
            {n: e.study for n, e in two_models().items()},
        )
    )
    assert type(one) is type(two) is ReportPage
    assert (len(one.models), len(two.models)) == (1, 2)
    assert {len(row.models) for row in one.rows} == {len(line.sides) for line in one.plain} == {1}
    assert {len(row.models) for row in two.rows} == {len(line.sides) for line in two.plain} == {2}
    assert kinds(two) - {view_model.SameRows} <= kinds(one)
    assert dict not in kinds(one) | kinds(two)
