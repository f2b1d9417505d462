"""What `native/abi.hpp` declares, read from that file: structures, constants, and the stamp of all sources.

The header is the only declaration of the kernels' interface. The build asks the compiler to
confirm every offset found here, so what is read wrong does not compile. Nothing but the standard
library is imported: the build runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

NATIVE = Path(__file__).parent / "native"
WORD_BYTES = 8  # of every member of a structure, or a multiple
TYPES = {
    "i8": "int8", "i32": "int32", "i64": "int64", "u8": "uint8", "u64": "uint64", "f32": "float32", "f64": "float64",
}  # fmt: skip
AXES = {"List": 1, "Table": 2, "Cube": 3, "Strided": 2}

Size = tuple[str, int]  # a name and what is added to it; a plain number has no name


@dataclass(frozen=True)
class Number:
    """A member that is a whole number or a floating one."""

    name: str
    is_whole: bool
    words = 1


@dataclass(frozen=True)
class Array:
    """A member that views an array: its data, its shape, and its strides where it may have any."""

    name: str
    dtype: str
    shape: tuple[Size, ...]
    is_written: bool
    has_strides: bool

    @property
    def words(self) -> int:
        return 1 + len(self.shape) * (2 if self.has_strides else 1)


@dataclass(frozen=True)
class Part:
    """A member that is a structure itself, or points to one that the kernel fills."""

    name: str
    structure: Structure
    is_pointer: bool

    @property
    def words(self) -> int:
        return 1 if self.is_pointer else self.structure.words


Member = Number | Array | Part


@dataclass(frozen=True)
class Structure:
    """A structure of the header."""

    name: str
    members: tuple[Member, ...]

    @cached_property
    def words(self) -> int:
        return sum(member.words for member in self.members)

    @property
    def offsets(self) -> dict[str, int]:
        """Where each member begins, in bytes."""
        found, at = {}, 0
        for member in self.members:
            found[member.name] = at * WORD_BYTES
            at += member.words
        return found


@dataclass(frozen=True)
class Declarations:
    """All of a header's structures and constants by name."""

    structures: dict[str, Structure]
    constants: dict[str, int]

    @property
    def kernels(self) -> dict[str, Structure]:
        """The structure each kernel takes."""
        named = {_snake(s.name.removesuffix("Arguments")): s for s in self.structures.values()}
        return {name: s for name, s in named.items() if s.name.endswith("Arguments")}


_STRUCTURE = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_CONSTANT = re.compile(r"^constexpr i64 (\w+) = (-?\d+);", re.MULTILINE)
_MEMBER = re.compile(
    r"(?:(?P<view>List|Table|Cube|Strided)<(?P<const>const )?(?P<element>\w+)>|(?P<type>\w+)(?P<pointer>\*)?)"
    r" (?P<name>\w+);(?:\s*// \[(?P<shape>[^\]]*)\])?"
)


def declared(header: str) -> Declarations:
    """What a header declares."""
    structures: dict[str, Structure] = {}
    for name, body in _STRUCTURE.findall(header):
        lines = (line.strip() for line in body.splitlines())
        members = tuple(_member(line, structures) for line in lines if line and not line.startswith("//"))
        structures[name] = Structure(name, members)
    return Declarations(structures, {name: int(value) for name, value in _CONSTANT.findall(header)})


def _member(line: str, known: dict[str, Structure]) -> Member:
    found = _MEMBER.fullmatch(line)
    if found is None:
        raise ValueError(f"cannot read the member {line!r}")
    name, view, plain = found["name"], found["view"], found["type"]
    if view:
        if found["shape"] is None or found["shape"].count(",") + 1 != AXES[view]:
            raise ValueError(f"the shape of {line!r} must name {AXES[view]} sizes")
        shape = tuple(_size(text) for text in found["shape"].split(","))
        return Array(name, TYPES[found["element"]], shape, found["const"] is None, view == "Strided")
    if plain in ("i64", "f64"):
        return Number(name, plain == "i64")
    return Part(name, known[plain], found["pointer"] is not None)


def _size(text: str) -> Size:
    name, _, added = (part.strip() for part in text.partition("+"))
    return ("", int(name)) if name.isdigit() else (name, int(added or 0))


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def read(native: Path = NATIVE) -> Declarations:
    """What the header in a folder of sources declares."""
    return declared((native / "abi.hpp").read_text(encoding="utf-8"))


@cache
def stamp(native: Path = NATIVE) -> str:
    """A hash of all sources: a library that carries another one was built from others."""
    whole = hashlib.sha256()
    for path in sorted(native.glob("*.[ch]pp")):
        text = path.read_text(encoding="utf-8")  # the same whatever ends its lines
        whole.update(f"{path.name}\n{text}\n".encode())
    return whole.hexdigest()
