"""What a report's script is given, as JSON Schema, read from the classes of `icefield.report.view_model`.

``python -m tests.page.report_schema > src/icefield/page/report.schema.json`` writes it again.
"""

from __future__ import annotations

import json
import typing
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union

from icefield.report.view_model import Drawn, LiveRow


def json_schema() -> dict[str, Any]:
    """What a script is given, as JSON Schema; every field is there, null where there is nothing."""
    kinds: dict[str, Any] = {}
    for kind in (Drawn, LiveRow):
        _describe(kind, kinds)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the script of a report draws; the block of a live row is LiveRow",
        "$ref": "#/$defs/Drawn",
        "$defs": kinds,
    }


def _describe(kind: Any, kinds: dict[str, Any]) -> dict[str, str]:
    if kind.__name__ not in kinds:
        kinds[kind.__name__] = {}
        known = typing.get_type_hints(kind, include_extras=True)
        hints = {one.name: known[one.name] for one in fields(kind)}
        kinds[kind.__name__] = {
            "type": "object",
            "properties": {name: _type(hint, kinds) for name, hint in hints.items()},
            "required": list(hints),
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _type(hint: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint):
        return _describe(hint, kinds)
    if origin is Annotated:
        own = _type(parts[0], kinds)
        whole = {"places": {"type": "integer", "minimum": 0}, "whole": own}
        required = {"required": ["places", "whole"], "additionalProperties": False}
        return {"anyOf": [own, {"type": "object", "properties": whole, **required}]}
    if origin in (Union, UnionType):
        found = [_type(one, kinds) for one in parts]
        simple = all(list(one) == ["type"] for one in found)
        return {"type": [one["type"] for one in found]} if simple else {"anyOf": found}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_type(one, kinds) for one in parts], "items": False}
    if hint == dict[str, Any]:
        return {"$ref": "forest.schema.json"}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(parts[1], kinds)}
    if origin is list:
        return {"type": "array", "items": _type(parts[0], kinds)}
    return {"type": {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}[hint]}


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=1))
