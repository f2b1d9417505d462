"""Files that version 0.1 saved: everything in them comes back, and is saved again as it was.

`attributes.json` holds what version 0.1 itself knew of these effects when it saved them.
"""

from __future__ import annotations

import dataclasses
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icefield import Effect

SAVED = Path(__file__).parent / "saved_0_1"
KNOWN = json.loads((SAVED / "attributes.json").read_text(encoding="utf-8"))


def plain(value: Any, like: Any) -> Any:
    """A value with its types as text; an effect by the names that version 0.1 had for its fields."""
    if isinstance(value, Effect):
        return {name: plain(getattr(value, name), like[name]) for name in like}
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name), None) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        values = [repr(v) for v in value.ravel().tolist()]
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": values}
    if isinstance(value, Mapping):
        return [
            [plain(key, None), plain(inner, known)]
            for (key, inner), (_, known) in zip(value.items(), like or [(None, None)] * len(value))
        ]
    if isinstance(value, (tuple, list)):
        return [plain(inner, None) for inner in value]
    if isinstance(value, np.generic):
        return [type(value).__name__, repr(value.item())]
    return repr(value)


@pytest.mark.parametrize("name", KNOWN)
def test_every_attribute_of_a_file_of_version_0_1_comes_back(name: str) -> None:
    effect = Effect.load(SAVED / f"{name}.icefield")
    known = KNOWN[name]
    assert len(known) == 32
    found = plain(effect, known)
    for attribute in known:
        assert found[attribute] == known[attribute], attribute


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_of_version_0_1_is_saved_with_the_same_fields(name: str, tmp_path: Path) -> None:
    effect = Effect.load(SAVED / f"{name}.icefield")
    effect.save(tmp_path / "again")
    assert plain(Effect.load(tmp_path / "again"), KNOWN[name]) == KNOWN[name]
    fields = []
    for path in (SAVED / f"{name}.icefield", tmp_path / "again"):
        with zipfile.ZipFile(path) as archive:
            fields.append(set(json.loads(archive.read("effect.json"))["effect"]["fields"]))
    assert fields[0] == fields[1]
