"""What the build writes from `native/abi.hpp`: the typed Python interface `_abi.py`, and the C++ entry points.

The header is the only declaration of the kernels. The entry points make the compiler confirm every offset that Python
relies on, so what is read wrong does not compile. Only the standard library is imported, as the build runs before
anything is installed; nothing imports this at run time.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).parent / "native"
WORD_BYTES = 8  # of every member of a structure, or a multiple
FIELD_BYTES = 4  # of a member of a record
TYPES = {
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u64": "uint64", "f32": "float32",
    "f64": "float64",
}  # fmt: skip
AXES = {"List": 1, "Table": 2, "Cube": 3, "Strided": 2}
# What templates are compiled for, by the name of their parameter: values, and values or their codes.
PARAMETERS = {"T": ("f64", "f32"), "V": ("f64", "f32", "u8")}
WIDTH = 118  # of the lines that are written

Size = tuple[str, int]  # a name and what is added to it; a plain number has no name


def _snake(name: str) -> str:
    """The name of a kernel, or of what goes with it, for that of its structure."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Arguments")).lower()


@dataclass(frozen=True)
class Member:
    """A member of a structure: a view of an array, a number, another structure or a pointer to one."""

    name: str
    type: str  # of the element, the number or the structure
    view: str = ""  # the kind of array, if it is one
    shape: tuple[Size, ...] = ()
    is_const: bool = False
    is_pointer: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is the value itself."""
        return not self.view and not self.is_pointer


@dataclass(frozen=True)
class Structure:
    """A structure of the header, with the structures it is made of."""

    name: str
    members: tuple[Member, ...]
    parameter: str  # of a template, else empty
    known: dict[str, Structure]

    @property
    def instances(self) -> dict[str, str]:
        """What a template is compiled for, and the end of the symbol's name."""
        types = PARAMETERS.get(self.parameter, ())
        return {type_name: f"_{type_name}" * (number > 0) for number, type_name in enumerate(types)}

    @property
    def is_record(self) -> bool:
        """Whether it is the element of arrays: 32-bit members alone."""
        return all(m.is_plain and (m.type == "i32" or self._is_record(m.type)) for m in self.members)

    @property
    def is_kernel(self) -> bool:
        return self.name.endswith("Arguments")

    @property
    def is_filled(self) -> bool:
        """Whether it holds whole numbers alone, for a kernel to fill."""
        return all(m.type == "i64" and not m.view for m in self.members)

    @property
    def kernel(self) -> str:
        """The name of the kernel that takes it."""
        return _snake(self.name)

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(map(self.size_of, self.members))

    @property
    def offsets(self) -> dict[str, int]:
        """Where each member begins, in bytes."""
        found, at = {}, 0
        for member in self.members:
            found[member.name] = at
            at += self.size_of(member)
        return found

    def size_of(self, member: Member) -> int:
        if member.view:
            return WORD_BYTES * (1 + AXES[member.view] * (2 if member.view == "Strided" else 1))
        if member.is_pointer or member.type in ("i64", "f64"):
            return WORD_BYTES
        return FIELD_BYTES if member.type == "i32" else self.known[member.type].size

    def _is_record(self, type_name: str) -> bool:
        return type_name in self.known and self.known[type_name].is_record


@dataclass(frozen=True)
class Declarations:
    """All of a header's structures and constants by name."""

    structures: dict[str, Structure]
    constants: dict[str, int]

    @property
    def kernels(self) -> dict[str, Structure]:
        """The structure each kernel takes."""
        return {s.kernel: s for s in self.structures.values() if s.is_kernel}


_STRUCTURE = r"(?ms)^(?:template <class (\w)>\n)?struct (\w+) \{\n(.*?)^\};"
_CONSTANT = r"(?m)^constexpr i64 (\w+) = (-?\d+);"
_MEMBER = (
    r"(?:(?P<view>List|Table|Cube|Strided)<(?P<const>const )?(?P<element>\w+)>|(?P<type>\w+)(?P<pointer>\*)?)"
    r" (?P<name>\w+);(?:\s*// \[(?P<shape>[^\]]*)\])?(?:\s*// .*)?"
)


def declared(header: str) -> Declarations:
    """What a header declares."""
    structures: dict[str, Structure] = {}
    for parameter, name, body in re.findall(_STRUCTURE, header):
        lines = (line.strip() for line in body.splitlines())
        members = tuple(_member(line, structures) for line in lines if line and not line.startswith("//"))
        structures[name] = Structure(name, members, parameter, structures)
    return Declarations(structures, {name: int(value) for name, value in re.findall(_CONSTANT, header)})


def _member(line: str, known: dict[str, Structure]) -> Member:
    found = re.fullmatch(_MEMBER, line)
    if found is None:
        raise ValueError(f"cannot read the member {line!r}")
    view, type_name = found["view"] or "", found["element"] or found["type"]
    allowed = {*TYPES, *PARAMETERS, *known} if view else {"i32", "i64", "f64", *known}
    if type_name not in allowed:
        raise ValueError(f"the type of {line!r} must be one of {sorted(allowed)}")
    if view and (found["shape"] is None or found["shape"].count(",") + 1 != AXES[view]):
        raise ValueError(f"the shape of {line!r} must name {AXES[view]} sizes")
    shape = tuple(map(_size, found["shape"].split(","))) if view else ()
    is_const, is_pointer = found["const"] is not None, found["pointer"] is not None
    return Member(found["name"], type_name, view, shape, is_const, is_pointer)


def _size(text: str) -> Size:
    name, _, added = (part.strip() for part in text.partition("+"))
    return ("", int(name)) if name.isdigit() else (name, int(added or 0))


def read(native: Path = NATIVE) -> Declarations:
    """What the header in a folder of sources declares."""
    return declared(_text(native / "abi.hpp"))


def interface_stamp(native: Path = NATIVE) -> str:
    """A hash of the header: `_abi.py` and a library that carry another one do not belong together."""
    return hashlib.sha256(_text(native / "abi.hpp").encode()).hexdigest()


def source_stamp(native: Path = NATIVE) -> str:
    """A hash of all sources: a library that carries another one was built from others."""
    whole = hashlib.sha256()
    for path in sorted(native.glob("*.[ch]pp")):
        whole.update(f"{path.name}\n{_text(path)}\n".encode())
    return whole.hexdigest()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")  # the same whatever ends its lines


# --- C++: entry points --------------------------------------------------------------------------------------


def entry_points(native: Path = NATIVE) -> str:
    """A source with the symbols that Python calls and both stamps; it compiles if offsets are as Python has them."""
    declarations = read(native)
    lines = ['#include "abi.hpp"', "#include <stddef.h>", "namespace icefield {", "static_assert(DONE == 0);"]
    for structure in declarations.structures.values():
        name = structure.name + "".join(f"<{one}>" for one in list(structure.instances)[:1])
        lines.append(f"static_assert(sizeof({name}) == {structure.size});")
        lines += [f"static_assert(offsetof({name}, {m}) == {at});" for m, at in structure.offsets.items()]
    lines.append("#pragma GCC visibility push(hidden)")  # a kernel that is not defined does not link
    for structure in declarations.kernels.values():
        generic = structure.parameter
        template, argument = (f"template <class {generic}> ", f"<{generic}>") if generic else ("", "")
        lines.append(f"{template}i64 run(const {structure.name}{argument}&);")
    lines.append("#pragma GCC visibility pop")
    for kernel, structure in declarations.kernels.items():
        for type_name, end in (structure.instances or {"": ""}).items():
            name = structure.name + f"<{type_name}>" * bool(type_name)
            lines.append(
                f"ICEFIELD_EXPORT i64 icefield_{kernel}{end}(const {name}* arguments) {{ return run(*arguments); }}"
            )
    lines += [
        f'ICEFIELD_EXPORT const char* const icefield_interface = "{interface_stamp(native)}";',
        f'ICEFIELD_EXPORT const char* const icefield_sources = "{source_stamp(native)}";',
    ]
    return "\n".join([*lines, "}", ""])


# --- Python: the typed interface ----------------------------------------------------------------------------

_HEAD = '''"""The kernels' interface: written by `build_kernels.py` from `native/abi.hpp`, which is the file to change."""
# ruff: noqa
# fmt: off

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield.kernels.calling import Array, Filled, Given, Kernel, Number, Part, Structure
'''


def python_interface(native: Path = NATIVE) -> str:
    """The source of `_abi.py`."""
    declarations = read(native)
    structures = declarations.structures.values()
    lines = [_HEAD, f'STAMP = "{interface_stamp(native)}"  # of the header', ""]
    lines += [f"{name} = {value}" for name, value in declarations.constants.items()]
    lines.append("")
    lines += [f"{_alias(t)} = NDArray[np.{name}]" for t, name in TYPES.items()]
    lines += [f"{_dtype(t)} = np.dtype(np.{name})" for t, name in TYPES.items()]
    for structure in structures:
        write = _record if structure.is_record else _kernel if structure.is_kernel else _grouped
        lines += write(structure)
    public = (s.kernel.upper() if s.is_record else s.kernel if s.is_kernel else s.name for s in structures)
    names = [*declarations.constants, *public]
    lines += ["", "", *_wrapped("__all__ = [", [f'"{name}"' for name in sorted(names)], "]"), ""]
    return "\n".join(lines)


def _record(structure: Structure) -> list[str]:
    fields = [f'("{m.name}", {"np.int32" if m.type == "i32" else _dtype(m.type)})' for m in structure.members]
    return ["", *_wrapped(f"{structure.kernel.upper()} = np.dtype([", fields, "])")]


def _grouped(structure: Structure) -> list[str]:
    """A class for the members that several kernels take together, or for what a kernel fills."""
    base = "Filled" if structure.is_filled else "Given"
    name = f"_{structure.kernel}"
    lines = ["", "", *_described(name, structure), "", "", f"class {structure.name}({base}):"]
    if structure.is_filled:
        lines += [f"    {m.name}: int" for m in structure.members]
        return [*lines, "", "    def __init__(self) -> None:", f"        super().__init__({name})"]
    values = [f"{m.name}={m.name}" for m in structure.members]
    lines += _wrapped("    def __init__(self, *, ", _parameters(structure), ") -> None:")
    return [*lines, *_wrapped(f"        super().__init__({name}, dict(", values, "))")]


def _kernel(structure: Structure) -> list[str]:
    name = structure.kernel
    lines = ["", "", *_described(f"_{name}", structure)]
    kernel = f"_run_{name}"
    lines.append(f'{kernel} = Kernel("{name}", _{name})')
    if structure.parameter:
        by = next(m.name for m in structure.members if m.type == structure.parameter)
        chosen = kernel
        for type_name, end in list(structure.instances.items())[1:]:
            other = f'Kernel("{name}{end}", _{name}.retyped("{by}", {_dtype(type_name)}))'
            lines.append(f"{kernel}{end} = {other}")
            chosen = f"{kernel}{end} if {by}.dtype == {_dtype(type_name)} else {chosen}"
        kernel = f"({chosen})"
    lines += ["", "", *_wrapped(f"def {name}(*, ", _parameters(structure), ") -> bool:")]
    return [*lines, f"    return {kernel}(locals())"]


def _described(name: str, structure: Structure) -> list[str]:
    members = [_member_source(m) for m in structure.members]
    return _wrapped(f'{name} = Structure("{structure.name}", (', members, ",))")


def _member_source(member: Member) -> str:
    if member.view:
        dtype = "f64" if member.type in PARAMETERS else member.type
        flags = ", is_written=True" * (not member.is_const)
        flags += ", has_strides=True" * (member.view == "Strided")
        return f'Array("{member.name}", {_dtype(dtype)}, {member.shape!r}{flags})'
    if member.type in ("i64", "f64"):
        return f'Number("{member.name}", is_whole={member.type == "i64"})'
    return f'Part("{member.name}", _{_snake(member.type)}' + ", is_filled=True" * member.is_pointer + ")"


def _parameters(structure: Structure) -> list[str]:
    def annotated(member: Member) -> str:
        if not member.view:
            return {"i64": "int", "f64": "float"}.get(member.type, member.type)
        if member.type in PARAMETERS:
            return " | ".join(map(_alias, PARAMETERS[member.type]))
        return _alias(member.type) if member.type in TYPES else "NDArray[np.void]"

    return [f"{member.name}: {annotated(member)}" for member in structure.members]


def _alias(type_name: str) -> str:
    return {"i": "Int", "u": "UInt", "f": "Float"}[type_name[0]] + type_name[1:]


def _dtype(type_name: str) -> str:
    return f"_{type_name.upper()}" if type_name in TYPES else _snake(type_name).upper()


def _wrapped(begin: str, items: list[str], end: str) -> list[str]:
    """Items between two brackets, on as few lines as they fit."""
    one = begin + ", ".join(items) + end
    if len(one) <= WIDTH:
        return [one]
    indent = " " * (len(begin) - len(begin.lstrip()) + 4)
    glued = [item.replace(" ", "\0") for item in items]  # breaks come between items only
    filled = textwrap.wrap(
        ", ".join(glued), WIDTH - len(indent), break_long_words=False, break_on_hyphens=False
    )
    body = [indent + line.replace("\0", " ") for line in filled]
    if end.startswith(","):
        body[-1] += ","
        end = end[1:]
    return [begin.rstrip(), *body, " " * (len(indent) - 4) + end]
