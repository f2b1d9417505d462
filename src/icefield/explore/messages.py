"""Messages between the page and Python: a request is small JSON, an answer a JSON head with arrays behind it.

A frame is the head's length (uint32, little-endian), the head as UTF-8, zeros up to a multiple of 8 bytes, then the arrays
one after another, each from a multiple of 8 bytes on. The head names each with its type, shape and first byte.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.errors import InputError

VERSION = 1
LARGEST = 64 * 1024  # bytes of a request
MOST_CONDITIONS = 64
SLOTS = ("filter", "row", "pinned", "view", "points", "code")
TYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u1": "u1"}


class BadMessage(InputError):
    """A request that cannot be understood; `where` is the field that is wrong."""

    def __init__(self, say: str, where: str = "") -> None:
        super().__init__(say)
        self.where = where


@dataclass(frozen=True, eq=False)
class AnswerPart:
    """One part of an answer: a head of plain values, and arrays by name with their types."""

    head: dict[str, Any]
    arrays: Mapping[str, tuple[str, NDArray[Any]]] = field(default_factory=dict)

    def listed(self) -> tuple[dict[str, Any], list[bytes]]:
        """The head with each array's type, shape and number, and the arrays' bytes: for links that carry buffers."""
        bodies = self._bodies()
        return self._described(range(len(bodies))), bodies

    def _bodies(self) -> list[bytes]:
        return [np.ascontiguousarray(values, TYPES[kind]).tobytes() for kind, values in self.arrays.values()]

    def _described(self, places: Iterable[int]) -> dict[str, Any]:
        arrays = {
            name: [kind, list(values.shape), at]
            for at, (name, (kind, values)) in zip(places, self.arrays.items())
        }
        return _plain({**self.head, "arrays": arrays})

    def frame(self) -> bytes:
        """Everything as one piece of bytes."""
        bodies = [body + bytes(-len(body) % 8) for body in self._bodies()]
        described = self._described(accumulate(map(len, bodies), initial=0))
        head = json.dumps(described, ensure_ascii=False, allow_nan=False)
        written = head.encode("utf-8", "replace")
        start = len(written).to_bytes(4, "little") + written
        return start + bytes(-len(start) % 8) + b"".join(bodies)


def unpacked(frame: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The head and the arrays of a frame, as a page reads them."""
    length = int.from_bytes(frame[:4], "little")
    head = json.loads(frame[4 : 4 + length])
    first = 4 + length + -(4 + length) % 8
    arrays = {}
    for name, (kind, shape, at) in head["arrays"].items():
        count = math.prod(shape)
        arrays[name] = np.frombuffer(frame, TYPES[kind], count, first + at).reshape(shape)
    return head, arrays


def _plain(value: Any) -> Any:
    """What JSON can carry: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


# --- requests ----------------------------------------------------------------------------------------


def parsed(text: str | bytes) -> dict[str, Any]:
    """A request parsed from its text; an error where the text is not a request."""
    if len(text) > LARGEST:
        raise BadMessage(f"A request may have {LARGEST:,} bytes, this one has {len(text):,}.")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadMessage("A request must be JSON.") from error
    if not isinstance(message, dict):
        raise BadMessage("A request must be an object.")
    return message


def number_of(message: Mapping[str, Any]) -> int:
    """The request's own number."""
    return whole(message, "id", 0, 2**53)


def slot_of(message: Mapping[str, Any]) -> str:
    """The slot in which a newer request takes the place of an older one."""
    slot = message.get("slot", "view")
    if slot not in SLOTS:
        raise BadMessage(f"There is no slot {slot!r:.40}.", "slot")
    return str(slot)


def whole(message: Mapping[str, Any], name: str, least: int, most: int, default: int | None = None) -> int:
    """A whole number of a request, within limits."""
    value = message.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < most:
        raise BadMessage(f"{name} must be a whole number from {least} to {most - 1}.", name)
    return value


def flag(message: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """A yes or no of a request."""
    value = message.get(name, default)
    if not isinstance(value, bool):
        raise BadMessage(f"{name} must be true or false.", name)
    return value


def number(value: Any, where: str) -> float:
    """A finite number of a request."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadMessage(f"{where} must be a number.", where)
    return float(value)
