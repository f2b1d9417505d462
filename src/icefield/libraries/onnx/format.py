"""ONNX files, as far as it takes to know what a graph does: its nodes, their settings, and the shapes of its constants.

Files are Protocol Buffers. Fields that are not asked for are stepped over, so that large constants cost nothing; what is not
well formed is `NotOnnx`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

Bytes = memoryview
INT64, RAW = 7, 9  # fields of a tensor that hold its numbers


class NotOnnx(ValueError):
    """Bytes that are no ONNX model."""


@dataclass(frozen=True)
class Constant:
    """A constant's shape, and its values where they are a few integers."""

    shape: tuple[int, ...]
    integers: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Node:
    """One operation.

    Attributes
    ----------
    kind : its name, with its domain where that is not ONNX's own: ``"ai.onnx.ml.Scaler"``
    inputs, outputs : names of tensors
    integers : its settings that are one integer
    sizes : of its settings that are lists, how many values each has
    """

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    integers: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """A graph: its nodes in order, its constants, its inputs with their shapes (None: any number), its outputs."""

    nodes: tuple[Node, ...]
    constants: dict[str, Constant]
    inputs: dict[str, tuple[int | None, ...]]
    outputs: tuple[str, ...]


def graph_of(model: bytes) -> Graph:
    """The graph of a model that is stored as bytes; `NotOnnx` where they are none."""
    try:
        model_fields = _fields(memoryview(model), (7, 25))
        if len(model_fields[7]) != 1 or model_fields[25]:  # functions of a model's own are not followed
            raise NotOnnx("it has no graph, or functions of its own")
        parts = _fields(model_fields[7][0], (1, 5, 11, 12, 15))
        if parts[15]:
            raise NotOnnx("it has sparse constants")
        constants = dict(map(_constant, parts[5]))
        nodes = tuple(map(_node, parts[1]))
        inputs = {name: shape for name, shape in map(_input, parts[11]) if name not in constants}
        return Graph(nodes, constants, inputs, tuple(_text(_fields(raw, (1,))[1][0]) for raw in parts[12]))
    except (IndexError, UnicodeDecodeError, OverflowError, TypeError) as error:
        raise NotOnnx("it is not well formed") from error


def _node(data: Bytes) -> Node:
    parts = _fields(data, (1, 2, 4, 5, 7))
    domain = _text(parts[7][0]) if parts[7] else ""
    integers, sizes = {}, {}
    for attribute in parts[5]:
        part = _fields(attribute, (1, 3, 6, 7, 8, 9, 11))
        if part[6] or part[11]:
            raise NotOnnx("a node has a graph of its own")
        name = _text(part[1][0])
        if part[3]:
            integers[name] = _signed(part[3][0])
        for tag in (7, 8, 9):
            if part[tag]:
                sizes[name] = len(part[tag]) if tag == 9 else sum(_count(v, tag) for v in part[tag])
    kind = _text(parts[4][0])
    return Node(
        kind if domain in ("", "ai.onnx") else f"{domain}.{kind}",
        tuple(map(_text, parts[1])), tuple(map(_text, parts[2])), integers, sizes,
    )  # fmt: skip


def _count(value: Bytes | int, tag: int) -> int:
    """How many numbers a field of a list holds: one, or several packed together."""
    if isinstance(value, int):
        return 1
    return len(value) // 4 if tag == 7 else len(list(_numbers(value)))


def _constant(data: Bytes) -> tuple[str, Constant]:
    parts = _fields(data, (1, 2, INT64, 8, RAW))
    shape = tuple(_integers(parts[1]))
    values = None
    if parts[2] == [7] and np.prod(shape) <= 16:  # 64-bit integers
        raw = parts[RAW]
        values = tuple(np.frombuffer(raw[0], "<i8").tolist() if raw else _integers(parts[INT64]))
    return _text(parts[8][0]), Constant(shape, values)


def _input(data: Bytes) -> tuple[str, tuple[int | None, ...]]:
    parts = _fields(data, (1, 2))
    tensor = _fields(_fields(parts[2][0], (1,))[1][0], (2,))
    dims = _fields(tensor[2][0], (1,))[1] if tensor[2] else []
    sizes = [_fields(dim, (1,))[1] for dim in dims]
    return _text(parts[1][0]), tuple(int(size[0]) if size else None for size in sizes)


# --- Protocol Buffers --------------------------------------------------------------------------------


def _fields(data: Bytes, numbers: tuple[int, ...]) -> dict[int, list]:
    """The values of the wanted fields of a message: integers, and the bytes of everything else."""
    values: dict[int, list] = {number: [] for number in numbers}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        value: int | Bytes
        if wire == 0:
            value, at = _varint(data, at)
        else:
            size, at = _varint(data, at) if wire == 2 else ({1: 8, 5: 4}.get(wire, -1), at)
            if size < 0 or at + size > len(data):
                raise NotOnnx("it is not well formed")
            value, at = data[at : at + size], at + size
        if number in values:
            values[number].append(value)
    return values


def _varint(data: Bytes, at: int) -> tuple[int, int]:
    value = 0
    for i in range(10):
        byte = data[at + i]
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, at + i + 1
    raise NotOnnx("it is not well formed")


def _numbers(data: Bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield _signed(value)


def _integers(values: list) -> Iterator[int]:
    """The integers of a repeated field, packed or not."""
    for value in values:
        yield from [_signed(value)] if isinstance(value, int) else _numbers(value)


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _text(value: Bytes) -> str:
    return bytes(value).decode()
