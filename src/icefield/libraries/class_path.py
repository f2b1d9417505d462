"""The full name of a model's class, by which readers of trees know what they can read."""

from __future__ import annotations

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
