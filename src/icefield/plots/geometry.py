"""The little geometry that masks need: hulls, points in polygons, occupied cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield.typing import Float


def convex_hull(points: Float) -> Float | None:
    """The corners of the convex hull, counter-clockwise; None when the points span no area.

    Examples
    --------
    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
    """
    points = np.unique(points[np.isfinite(points).all(axis=1)], axis=0)
    if len(points) < 3:
        return None

    def half(ordered: Float) -> list[Float]:
        chain: list[Float] = []
        for point in ordered:
            while len(chain) >= 2 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    corners = half(points) + half(points[::-1])
    return np.array(corners) if len(corners) >= 3 else None


def _turn(a: Float, b: Float, c: Float) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def inside_polygon(corners: Float, x: Float, y: Float) -> NDArray[np.bool_]:
    """For a convex counter-clockwise polygon, which points of the mesh ``(len(y), len(x))`` it holds."""
    held = np.ones((len(y), len(x)), dtype=bool)
    scale = np.ptp(corners, axis=0)
    slack = 1e-9 * float(scale[0] * scale[1])
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        held &= (b[0] - a[0]) * (y[:, None] - a[1]) - (b[1] - a[1]) * (x[None, :] - a[0]) >= -slack
    return held


def occupied(
    counts: Float, edges: list[Float], ordered: tuple[bool, bool], x: Float, y: Float
) -> NDArray[np.bool_]:
    """Which mesh points ``(len(y), len(x))`` have data in their bin or a neighbouring one.

    Bins of numbers are neighbours of the next bins; a level has no neighbour. Points without a bin
    (a missing value, an unseen level) are not occupied.
    """
    full = counts > 0
    grown = full.copy()
    if ordered[0]:
        grown[1:] |= full[:-1]
        grown[:-1] |= full[1:]
    if ordered[1]:
        wide = grown.copy()
        grown[:, 1:] |= wide[:, :-1]
        grown[:, :-1] |= wide[:, 1:]
    index = [_bins(e, o, at) for e, o, at in zip(edges, ordered, (x, y))]
    known = (index[0] >= 0)[None, :] & (index[1] >= 0)[:, None]
    return np.asarray(grown[np.clip(index[0], 0, None)[None, :], np.clip(index[1], 0, None)[:, None]] & known)


def _bins(edges: Float, ordered: bool, at: Float) -> NDArray[np.intp]:
    if ordered:
        bins = np.searchsorted(edges, at, side="right") - 1
        bins = np.where(at == edges[-1], len(edges) - 2, bins)
        return np.where(np.isfinite(at) & (bins < len(edges) - 1), bins, -1)
    lookup = {float(place): i for i, place in enumerate(edges) if np.isfinite(place)}
    return np.array([lookup.get(float(place), -1) for place in at], dtype=np.intp)


def unit(values: Float) -> Float:
    """Values moved to run from 0 to 1; a constant runs along the middle."""
    low, high = np.nanmin(values), np.nanmax(values)
    return (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
