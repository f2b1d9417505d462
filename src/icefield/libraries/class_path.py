"""A model's exact class, by which it is known what can be read of it and what holds for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any


def class_path(model: Any) -> str:
    """Module and name of the exact class: a subclass may predict in another way.

    Examples
    --------
    >>> from fractions import Fraction
    >>> class_path(Fraction(1, 2))
    'fractions.Fraction'
    """
    return f"{type(model).__module__}.{type(model).__qualname__}"


def is_own_class(model: Any, package: str, names: Collection[str]) -> bool:
    """Whether a model's exact class is one of these names, defined in a package, and none of its methods was replaced.

    Examples
    --------
    >>> from fractions import Fraction
    >>> is_own_class(Fraction(1, 2), "fractions", ("Fraction",))
    True
    """
    kind = type(model)
    if not f"{kind.__module__}.".startswith(f"{package}.") or kind.__qualname__ not in names:
        return False
    state = getattr(model, "__dict__", {})
    return not any(callable(value) and callable(getattr(kind, name, None)) for name, value in state.items())


@dataclass(frozen=True, eq=False)
class OwnClasses:
    """The role ``row_by_row`` of a library all of whose own classes, as they are, predict each row by itself."""

    package: str
    names: tuple[str, ...]

    def is_row_by_row(self, model: Any, is_known: Callable[[Any], bool]) -> bool:
        """Whether this is one of these classes: what derives from them may predict in another way."""
        return is_own_class(model, self.package, self.names)
