"""Calling a kernel: arguments by name, checked against their declaration, written as a run of words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from struct import Struct
from typing import Any

import numpy as np

from icefield.kernels.declarations import Array, Member, Number, Part, Structure
from icefield.kernels.loading import interface, library


class Given:
    """The members of one structure, checked; keeps the arrays alive that its words point to."""

    def __init__(self, structure: Structure, values: Mapping[str, Any]) -> None:
        if len(values) != len(structure.members) or any(m.name not in values for m in structure.members):
            raise TypeError(_wrong_names(structure, values))
        self.structure, self.values = structure, values
        self.words: list[Any] = []
        self.sizes: dict[str, int] = {}
        for member in structure.members:
            self._take(member, values[member.name])

    def __reduce__(self) -> tuple[Any, ...]:
        # Where arrays lie is true in this process only: another one takes its own copies.
        return Given, (self.structure, dict(self.values))

    def _take(self, member: Member, value: Any) -> None:
        if isinstance(member, Array):
            self._take_array(member, value)
        elif isinstance(member, Number):
            self.words.append(int(value) if member.is_whole else float(value))
        elif member.is_pointer:
            self._take_filled(member, value)
        else:
            if not isinstance(value, Given) or value.structure.name != member.structure.name:
                raise TypeError(f"{self._called(member)} must be a {member.structure.name}")
            self.words += value.words
            for name, size in value.sizes.items():
                self._agree(member, name, size)

    def _take_array(self, member: Array, value: Any) -> None:
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != member.dtype
            or value.ndim != len(member.shape)
        ):
            raise TypeError(
                f"{self._called(member)} must be an array of {member.dtype} with {len(member.shape)} axes, "
                f"got {_described(value)}"
            )
        flags = value.flags
        if not (member.has_strides or flags.c_contiguous) or (member.is_written and not flags.writeable):
            raise TypeError(
                f"{self._called(member)} must be contiguous{' and writeable' * member.is_written}"
            )
        for (name, added), size in zip(member.shape, value.shape):
            if name:
                self._agree(member, name, size - added)
            elif size != added:
                raise ValueError(f"{self._called(member)} must have {added} along an axis that has {size}")
        self.words.append(value.__array_interface__["data"][0])
        self.words += value.shape
        if member.has_strides:
            self._take_strides(member, value)

    def _take_strides(self, member: Array, value: np.ndarray[Any, Any]) -> None:
        if any(stride % value.itemsize for stride in value.strides):
            raise TypeError(f"{self._called(member)} must have strides of whole elements")
        self.words += [stride // value.itemsize for stride in value.strides]

    def _take_filled(self, member: Part, value: Any) -> None:
        if not isinstance(value, Filled) or value.structure.name != member.structure.name:
            raise TypeError(f"{self._called(member)} must be a {member.structure.name} to fill")
        self.words.append(value.address)

    def _agree(self, member: Member, name: str, size: int) -> None:
        if self.sizes.setdefault(name, size) != size:
            raise ValueError(
                f"{self._called(member)} has {name} = {size}, where others have {self.sizes[name]}"
            )

    def _called(self, member: Member) -> str:
        return f"{self.structure.name}.{member.name}"


class Filled:
    """A structure of whole numbers that a kernel fills; they are attributes afterwards."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self._numbers = np.zeros(structure.words, np.int64)

    @property
    def address(self) -> int:
        return int(self._numbers.ctypes.data)

    def __getattr__(self, name: str) -> int:
        for member, number in zip(self.structure.members, self._numbers):
            if member.name == name:
                return int(number)
        raise AttributeError(f"{self.structure.name} has no {name!r}")


class Kernel:
    """A kernel by name: call it with the members of its structure as keywords.

    Gives True, or False where the stop flag ended it early.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def structure(self) -> Structure:
        return interface().kernels[self.name]

    @cached_property
    def _packed(self) -> Struct:
        return Struct("=" + _formats(self.structure))

    @cached_property
    def _function(self) -> Any:
        return library().function(self.name)

    def __call__(self, **arguments: Any) -> bool:
        given = Given(self.structure, arguments)
        status = self._function(self._packed.pack(*given.words))
        if status == interface().constants["NO_MEMORY"]:
            raise MemoryError(f"the native kernel {self.name!r} got no memory")
        return bool(status == interface().constants["DONE"])


class Grouped:
    """Members that several kernels take together: call it with them as keywords."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def structure(self) -> Structure:
        return interface().structures[self.name]

    def __call__(self, **members: Any) -> Given:
        return Given(self.structure, members)


def _formats(structure: Structure) -> str:
    letters = []
    for member in structure.members:
        if isinstance(member, Number):
            letters.append("q" if member.is_whole else "d")
        elif isinstance(member, Part) and not member.is_pointer:
            letters.append(_formats(member.structure))
        else:
            letters.append("q" * member.words)
    return "".join(letters)


def _wrong_names(structure: Structure, values: Mapping[str, Any]) -> str:
    names = [m.name for m in structure.members]
    missing = [n for n in names if n not in values]
    unknown = [n for n in values if n not in names]
    return f"{structure.name} is given wrong members (missing: {missing}, unknown: {unknown})"


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"one of {value.dtype} with {value.ndim}"
    return type(value).__name__
