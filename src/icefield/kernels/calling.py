"""Calling a kernel: arguments by name, checked against their declaration, written as a run of words.

`_abi.py`, which the build writes, says with these classes what each kernel takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from struct import Struct
from typing import Any

import numpy as np

from icefield.kernels.loading import library

Size = tuple[str, int]  # a name and what is added to it; a plain number has no name


@dataclass(slots=True, eq=False)  # there are hundreds, made at import
class Number:
    """A member that is a whole number or a floating one."""

    name: str
    is_whole: bool

    @property
    def format(self) -> str:
        return "q" if self.is_whole else "d"


@dataclass(slots=True, eq=False)  # there are hundreds, made at import
class Array:
    """A member that views an array: its data, its shape, and its strides where it may have any."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[Size, ...]
    is_written: bool = False
    has_strides: bool = False

    @property
    def format(self) -> str:
        return "q" * (1 + len(self.shape) * (1 + self.has_strides))


@dataclass(slots=True, eq=False)  # there are hundreds, made at import
class Part:
    """A member that is a structure itself, or points to one that the kernel fills."""

    name: str
    structure: Structure
    is_filled: bool = False

    @property
    def format(self) -> str:
        return "q" if self.is_filled else self.structure.format


Member = Number | Array | Part


@dataclass(eq=False)
class Structure:
    """A structure of the header `native/abi.hpp`."""

    name: str
    members: tuple[Member, ...]

    @cached_property
    def format(self) -> str:
        """Its words as `struct` writes them."""
        return "".join(member.format for member in self.members)

    def retyped(self, name: str, dtype: np.dtype[Any]) -> Structure:
        """The same with another type of the elements of one array."""
        members = (
            replace(m, dtype=dtype) if isinstance(m, Array) and m.name == name else m for m in self.members
        )
        return Structure(self.name, tuple(members))


class Given:
    """The members of one structure, checked; keeps the arrays alive that its words point to."""

    def __init__(self, structure: Structure, values: Mapping[str, Any]) -> None:
        self.structure, self.values = structure, values
        self.words: list[Any] = []
        self.sizes: dict[str, int] = {}
        for member in structure.members:
            self._take(member, values[member.name])

    # Where arrays lie is true in this process only: another one takes its own copies.
    def __getstate__(self) -> tuple[Any, ...]:
        return self.structure, self.values

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        Given.__init__(self, *state)

    def _take(self, member: Member, value: Any) -> None:
        if isinstance(member, Array):
            self._take_array(member, value)
        elif isinstance(member, Number):
            self.words.append(int(value) if member.is_whole else float(value))
        else:
            kind: type[Given | Filled] = Filled if member.is_filled else Given
            if not isinstance(value, kind) or value.structure.name != member.structure.name:
                raise TypeError(
                    f"{self._called(member)} must be a {member.structure.name}{' to fill' * member.is_filled}"
                )
            self.words += value.words
            for name, size in value.sizes.items():
                self._agree(member, name, size)

    def _take_array(self, member: Array, value: Any) -> None:
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != member.dtype
            or value.ndim != len(member.shape)
        ):
            is_array = isinstance(value, np.ndarray)
            got = f"one of {value.dtype} with {value.ndim}" if is_array else type(value).__name__
            wanted = f"an array of {member.dtype} with {len(member.shape)} axes"
            raise TypeError(f"{self._called(member)} must be {wanted}, got {got}")
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
            if any(stride % value.itemsize for stride in value.strides):
                raise TypeError(f"{self._called(member)} must have strides of whole elements")
            self.words += [stride // value.itemsize for stride in value.strides]

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
        self._numbers = np.zeros(len(structure.format), np.int64)
        self.words: list[Any] = [int(self._numbers.ctypes.data)]  # as `Given` has them
        self.sizes: dict[str, int] = {}

    def __getattr__(self, name: str) -> int:
        for member, number in zip(self.structure.members, self._numbers):
            if member.name == name:
                return int(number)
        raise AttributeError(f"{self.structure.name} has no {name!r}")


class Kernel:
    """A function of the library: call it with the members of its structure by name.

    Gives True, or False where the stop flag ended it early.
    """

    def __init__(self, name: str, structure: Structure) -> None:
        self.name, self.structure = name, structure

    @cached_property
    def _packed(self) -> Struct:
        return Struct("=" + self.structure.format)

    @cached_property
    def _function(self) -> Any:
        return library().function(self.name)

    def __call__(self, values: Mapping[str, Any]) -> bool:
        given = Given(self.structure, values)
        status = self._function(self._packed.pack(*given.words))
        return status == 0 or self._explain(status)

    def _explain(self, status: int) -> bool:
        """What a status other than done means: False, or an error."""
        from icefield.kernels import _abi  # which is made of this module's classes

        if status == _abi.NO_MEMORY:
            raise MemoryError(f"the native kernel {self.name!r} got no memory")
        if status == _abi.TOO_LARGE:
            raise OverflowError(
                f"the native kernel {self.name!r} met a number that does not fit 32 bits: "
                "ask for fewer trees, rows or grid points at a time"
            )
        return False
