"""Marks of the report's own pictures, which the page and matplotlib draw and plotly does not."""

from __future__ import annotations

from dataclasses import dataclass

from icefield.typing import Float


@dataclass(frozen=True, eq=False)
class Named:
    """Points with names that never collide, the most important first; as many as have room are named.

    `told` is what is said of each, `links` where it leads (empty for nowhere), `most` how many are named at most; arrows go
    to `to_x`, `to_y` where these are known.
    """

    x: Float
    y: Float
    texts: tuple[str, ...]
    told: tuple[str, ...]
    links: tuple[str, ...]
    slots: tuple[int | str, ...]
    most: int = 14
    to_x: Float | None = None
    to_y: Float | None = None


@dataclass(frozen=True, eq=False)
class Rings:
    """Equal distances from the corner at 0, 0."""

    radii: Float


@dataclass(frozen=True, eq=False)
class Ends:
    """Numbers beyond the right edge, at their heights."""

    y: Float
    texts: tuple[str, ...]
