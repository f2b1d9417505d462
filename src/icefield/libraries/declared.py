"""What a model was told to hold to when it was fitted, as its library remembers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icefield.libraries.registry import library_of


@dataclass(frozen=True)
class Declared:
    """Constraints declared at fitting.

    Attributes
    ----------
    monotone : by the position or name of a column, 1 (never falls) or -1 (never rises)
    together : sets of columns, by position or name, that alone may interact; empty where none were declared
    source : where they were read, for people
    """

    monotone: Mapping[Any, int] = field(default_factory=dict)
    together: tuple[tuple[Any, ...], ...] = ()
    source: str = ""


def declared_constraints(model: Any) -> Declared:
    """The constraints a fitted model was given; none where its library does not keep them."""
    library = library_of(model)
    role = None if library is None else library.constraints
    return Declared() if role is None else role.declared(model)


def signs(values: Any) -> dict[Any, int]:
    """Signs by column from what libraries take: a sequence in the columns' order, or a mapping; zeros are left out."""
    pairs: Iterable[tuple[Any, Any]] = values.items() if isinstance(values, Mapping) else enumerate(values)
    found = {(int(key) if isinstance(key, str) and key.isdigit() else key): int(sign) for key, sign in pairs}
    return {key: sign for key, sign in found.items() if sign in (-1, 1)}


def sets(values: Any) -> tuple[tuple[Any, ...], ...]:
    """Sets of columns from a sequence of sequences; nothing for anything else."""
    if isinstance(values, str) or not isinstance(values, Sequence | set | frozenset):
        return ()
    return tuple(tuple(one) for one in values if not isinstance(one, str))
