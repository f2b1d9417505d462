"""How a missing value is written in a file."""

from __future__ import annotations

from dataclasses import dataclass

NO_NUMBER = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none")
"""How a missing number is written, beside an empty cell, if nothing else is said."""


@dataclass(frozen=True)
class MissingCells:
    """Which texts stand for a missing value: an empty cell always, and what the user named.

    Where the user named none, a missing number may also be written in the usual ways; a text never, since each of
    them may be somebody's level.
    """

    user_texts: tuple[str, ...] = ()

    @property
    def texts(self) -> frozenset[str]:
        return frozenset(("", *self.user_texts))

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(("", *(self.user_texts or NO_NUMBER)))
