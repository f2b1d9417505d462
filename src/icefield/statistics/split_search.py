"""Two cuts looked at together, where neither alone tells rows apart.

A tree that takes the best cut and then the next best never finds a product: either sign of one factor has both
kinds of rows. So every two columns, cut into a few groups, are laid across each other, and the two cuts are taken whose
four corners differ most.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import ORDERED_KINDS, Column
from icefield.sampling import equal_parts
from icefield.typing import Float

GROUPS = 12  # of a number, and levels at most: the most frequent, and the others together
DIRECTIONS = 8  # along which rows differ most: enough to see that they do
TRIED = 30  # columns whose pairs are laid across each other


def crossing_cuts(
    columns: Mapping[Any, Column], response: Float, weights: Float, least: float
) -> tuple[Any, NDArray[np.bool_], Any, float] | None:
    """The column to cut first, its rows on the left, the column to cut next, and what both remove at least.

    Responses are ``(rows, responses)``; `least` is the weight that a part must have.
    """
    apart = _along_few(response - weights @ response / weights.sum(), weights)
    coded = {
        name: codes
        for name, column in list(columns.items())[:TRIED]
        if (codes := _codes(column, weights)) is not None
    }
    best: tuple[Any, NDArray[np.bool_], Any, float] | None = None
    for first, second in combinations_with_replacement(coded, 2):
        if first == second and columns[first].kind not in ORDERED_KINDS:
            continue
        cuts = _corners(coded[first], coded[second], apart, weights, least)
        if cuts is not None and (best is None or cuts[2] > best[3]):
            cut, swapped, gain = cuts
            column, other = (second, first) if swapped else (first, second)
            best = (column, coded[column] <= cut, other, gain)
    return best


def _along_few(apart: Float, weights: Float) -> Float:
    """Rows along the directions in which they differ most."""
    if apart.shape[1] <= DIRECTIONS:
        return apart
    _, directions = np.linalg.eigh((apart * weights[:, None]).T @ apart)
    return np.asarray(apart @ directions[:, -DIRECTIONS:])


def _codes(column: Column, weights: Float) -> NDArray[np.intp] | None:
    """A column in a few groups in the order in which it is cut; missing values are the last."""
    gone = column.missing
    if column.kind == "other" or gone.all():
        return None
    if column.kind in ORDERED_KINDS:
        known = column.values[~gone]
        cuts = np.unique(known)[1:]
        if len(cuts) >= GROUPS:
            cuts = equal_parts(known, GROUPS, weights[~gone])
        codes = np.searchsorted(cuts, column.values, side="right")
        codes = np.where(gone, len(cuts) + 1, codes)
    else:
        mass = np.bincount(column.codes[~gone], weights[~gone], minlength=len(column.levels))
        frequent = np.argsort(-mass, kind="stable")[: GROUPS - 1]
        place = np.full(len(column.levels), len(frequent), dtype=np.intp)
        place[frequent] = np.arange(len(frequent))
        codes = np.where(gone, GROUPS, place[column.codes])
    dense = np.unique(codes, return_inverse=True)[1].astype(np.intp)
    return dense if dense.max() > 0 else None


def _corners(
    first: NDArray[np.intp], second: NDArray[np.intp], apart: Float, weights: Float, least: float
) -> tuple[int, bool, float] | None:
    """The best two cuts of two columns: the group after which one is cut, whether that is the second, and the gain.

    A side that the other cut does not divide well enough stays whole: three parts are as good as four.
    """
    shape = (int(first.max()) + 1, int(second.max()) + 1)
    cell = first * shape[1] + second
    size = shape[0] * shape[1]
    layers = [np.bincount(cell, weights, minlength=size)]
    layers += [np.bincount(cell, weights * along, minlength=size) for along in apart.T]
    upto = np.stack(layers).reshape(-1, *shape).cumsum(axis=1).cumsum(axis=2)
    whole = upto[:, -1:, -1:]
    low, left = upto[:, :-1, :-1], upto[:, :-1, -1:]
    under = upto[:, -1:, :-1]
    corners = (low, left - low, under - low, whole - left - under + low)
    best: tuple[int, bool, float] | None = None
    for swapped in (False, True):
        # Rows of either side of the one cut, divided by the other or left whole.
        sides = ((corners[0], corners[1]), (corners[2], corners[3]))
        if swapped:
            sides = ((corners[0], corners[2]), (corners[1], corners[3]))
        gain, fits = np.zeros(low.shape[1:]), np.ones(low.shape[1:], dtype=bool)
        for near, far in sides:
            divided = np.where((near[0] >= least) & (far[0] >= least), _square(near) + _square(far), 0.0)
            gain = gain + np.maximum(divided, _square(near + far))
            fits &= (near + far)[0] >= least
        gain = np.where(fits, gain, -1.0)
        at = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[at] > 0 and (best is None or gain[at] > best[2]):
            best = (int(at[1] if swapped else at[0]), swapped, float(gain[at]))
    return best


def _square(part: Float) -> Float:
    """Squared sums over the weight."""
    return np.asarray(np.square(part[1:]).sum(axis=0) / np.where(part[0] > 0, part[0], np.inf))
