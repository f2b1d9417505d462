"""A `Picture` as JSON, for every page that draws it: report, notebook and explorer.

The head is plain JSON; numbers lie beside it in a list of arrays, each as its kind, its shape and its bytes in base64: places
on a feature's axis as 64-bit floats, what is drawn there as 32-bit ones. An array that several marks share is sent once.
`json_schema` says what may be in it, read from the dataclasses themselves; `src/icefield/page/panel.schema.json` is its text.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from icefield.plots import panels
from icefield.plots.palette import DIVERGING, SEQUENTIAL
from icefield.plots.panels import Axis, ColourScale, Mark, Panel, Picture
from icefield.plots.ticks import named_ticks

VERSION = 1
PLACES = ("x", "to_x", "lefts", "rights", "at", "radii", "hull")  # positions on a feature's axis
STOPS = 9  # colours sampled from a map of the user's
KINDS = {kind: kind.__name__.lower() for kind in get_args(Mark)}


def document(picture: Picture) -> dict[str, Any]:
    """The picture as JSON can carry it.

    Examples
    --------
    >>> from icefield.plots.panels import Line
    >>> line = Line(np.array([0.0, 1.0]), np.array([2.0, 3.0]), label="average")
    >>> found = document(Picture((Panel(Axis("age"), Axis("risk"), (line,)),)))
    >>> found["arrays"]
    [['f8', [2], 'AAAAAAAAAAAAAAAAAADwPw=='], ['f4', [2], 'AAAAQAAAQEA=']]
    >>> found["picture"]["panels"][0]["marks"]
    [{'kind': 'line', 'x': {'a': 0}, 'y': {'a': 1}, 'colour': 0, 'label': 'average', 'width': 1.0, 'dashed': 0, 'alpha': 1.0}]
    """
    arrays = _Arrays()
    head = _plain(picture, arrays)
    return {"v": VERSION, "arrays": arrays.listed, "picture": head}


class _Arrays:
    """The arrays of a document, each once."""

    def __init__(self) -> None:
        self.listed: list[list[Any]] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def place(self, values: NDArray[Any], kind: str) -> dict[str, int]:
        array = np.ascontiguousarray(values, dtype={"f8": "<f8", "f4": "<f4", "b1": "u1"}[kind])
        key = (kind, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = len(self.listed)
            self.listed.append([kind, list(array.shape), base64.b64encode(key[2]).decode()])
        return {"a": self._known[key]}


def _plain(value: Any, arrays: _Arrays, name: str = "") -> Any:
    if isinstance(value, np.ndarray):
        kind = "b1" if value.dtype == bool else "f8" if name in PLACES else "f4"
        return arrays.place(value, kind)
    if isinstance(value, ColourScale):
        return _scale(value)
    if is_dataclass(value):
        record = {"kind": KINDS[type(value)]} if type(value) in KINDS else {}
        for field in fields(value):
            content = getattr(value, field.name)
            # What is nothing is not sent: a page knows it as nothing too.
            if (
                content is None
                or content is False
                or (isinstance(content, (str, tuple)) and not content and field.name != "marks")
            ):
                continue
            record[field.name] = _plain(content, arrays, field.name)
        return record | (_named(value) if isinstance(value, Axis) else {})
    if isinstance(value, (tuple, list)):
        return [_plain(item, arrays, name if name != "curves" else "") for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def _named(axis: Axis) -> dict[str, Any]:
    """An axis' ticks and, where they have names of their own, these with their places."""
    record: dict[str, Any] = {"ticks": list(axis.ticks)}
    if axis.meaning:
        last = float(axis.high or 0.0) if axis.missing is None else axis.missing - 0.5
        record["named"] = [[at, text] for at, text in named_ticks(axis.meaning, axis.low or 0.0, last)]
    return record


def _scale(scale: ColourScale) -> dict[str, Any]:
    record: dict[str, Any] = {"low": scale.low, "high": scale.high, "label": scale.label}
    record |= {"diverging": scale.diverging, "time": scale.time}
    if scale.ink is not None:
        record["ink"] = scale.ink
    if scale.cmap is not None and scale.cmap not in (SEQUENTIAL, DIVERGING):
        import matplotlib as mpl
        from matplotlib.colors import to_hex

        cmap = mpl.colormaps[scale.cmap] if isinstance(scale.cmap, str) else scale.cmap
        record["stops"] = [to_hex(cmap(share)) for share in np.linspace(0, 1, STOPS)]
    return record


# --- what may be in a document ---------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """What `document` gives, as JSON Schema."""
    parts = {kind.__name__: _described(kind) for kind in (*KINDS, Axis, Panel, Picture)}
    parts["Axis"]["properties"]["named"] = {
        "type": "array",
        "items": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
    }
    colours = {"type": "array", "items": {"type": "string", "pattern": "^#[0-9a-f]{6}$"}, "minItems": 2}
    names = {"low": "number", "high": "number", "label": "string", "diverging": "boolean", "time": "boolean"}
    scale: dict[str, Any] = {name: {"type": kind} for name, kind in names.items()}
    scale |= {"ink": {"type": ["integer", "string"]}, "stops": colours}
    parts["ColourScale"] = _object(scale, ["low", "high"])
    parts["Mark"] = {"oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS]}
    parts["Array"] = _object({"a": {"type": "integer", "minimum": 0}}, ["a"])
    bytes_of = [{"enum": ["f8", "f4", "b1"]}, {"type": "array", "items": {"type": "integer", "minimum": 0}}]
    text = {"type": "string", "contentEncoding": "base64"}
    array = {"type": "array", "prefixItems": [*bytes_of, text], "items": False, "minItems": 3}
    properties = {
        "v": {"const": VERSION},
        "arrays": {"type": "array", "items": array},
        "picture": {"$ref": "#/$defs/Picture"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A picture as icefield's pages draw it",
        **_object(properties, ["v", "arrays", "picture"]),
        "$defs": parts,
    }


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """An object of these properties and no others."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _described(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, vars(panels))
    properties = {field.name: _type(hints[field.name]) for field in fields(kind)}
    required = [name for name in properties if name in ("panels", "marks", "x", "y") and _always(kind, name)]
    if kind in KINDS:
        properties = {"kind": {"const": KINDS[kind]}, **properties}
        required = ["kind", *required]
    return _object(properties, required)


def _always(kind: type, name: str) -> bool:
    """Whether a field is in every document: arrays and axes are, unless they may be None; lists may be empty."""
    hints = get_type_hints(kind, vars(panels))
    return NoneType not in get_args(hints[name]) and get_origin(hints[name]) is not tuple


def _type(hint: Any) -> dict[str, Any]:
    if hint == Mark or is_dataclass(hint):
        return {"$ref": f"#/$defs/{'Mark' if hint == Mark else hint.__name__}"}
    if get_origin(hint) in (Union, UnionType):
        options = [_type(member) for member in get_args(hint) if member is not NoneType]
        return options[0] if len(options) == 1 else {"anyOf": options}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _type(get_args(hint)[0])}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if get_origin(hint) is np.ndarray:
        return {"$ref": "#/$defs/Array"}
    names = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return {"type": names[hint]}
