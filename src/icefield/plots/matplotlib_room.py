"""Room for words around an Axes of the caller's, in a figure that has no layout of its own.

Plain matplotlib cuts off what reaches beyond the edge of the figure. An Axes whose labels would do that, or would run
into what stands beside it, gives up some of its own room. Later calls lay the figure out anew as ever: `tight_layout`, a layout engine or
`subplots_adjust`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

CLEAR = 3.0  # points between words and what is beside them
LEAST = 0.4  # of the width or height that an Axes keeps in any case
ROUNDS = 2  # what is placed by shares of the Axes moves with it


def make_room(ax: Axes) -> None:
    """Shrink the Axes until its words are inside the figure, where no layout engine does that later."""
    figure: Any = ax.get_figure()
    if figure is None or figure.get_layout_engine() is not None or ax.get_aspect() != "auto":
        return
    original = ax.get_window_extent()
    for _ in range(ROUNDS):
        words, place = ax.get_tightbbox(), ax.get_window_extent()
        if words is None:
            return
        left, low, right, high = _bounds(ax, place, CLEAR * figure.dpi / 72)
        moved = Bbox.from_extents(
            min(place.x0 + max(0.0, left - words.x0), original.x1 - LEAST * original.width),
            min(place.y0 + max(0.0, low - words.y0), original.y1 - LEAST * original.height),
            max(place.x1 - max(0.0, words.x1 - right), original.x0 + LEAST * original.width),
            max(place.y1 - max(0.0, words.y1 - high), original.y0 + LEAST * original.height),
        )
        if not (moved.width > 0 and moved.height > 0) or np.array_equal(moved.extents, place.extents):
            return
        in_layout = ax.get_in_layout()
        ax.set_position(moved.transformed(figure.transSubfigure.inverted()))
        ax.set_in_layout(in_layout)  # which setting a place by hand ends


def _bounds(ax: Axes, place: Bbox, clear: float) -> tuple[float, float, float, float]:
    """How far words may reach: to the figure's edges, or to what stands beside the Axes."""
    figure: Any = ax.get_figure()
    left, low, right, high = figure.bbox.extents
    for other in figure.axes:
        box = other.get_window_extent()
        if other is ax or not other.get_visible() or box.overlaps(place):
            continue
        full = other.get_tightbbox() or box
        if box.y0 < place.y1 and box.y1 > place.y0:
            left = max(left, full.x1) if box.x1 <= place.x0 else left
            right = min(right, full.x0) if box.x0 >= place.x1 else right
        elif box.x0 < place.x1 and box.x1 > place.x0:
            low = max(low, full.y1) if box.y1 <= place.y0 else low
            high = min(high, full.y0) if box.y0 >= place.y1 else high
    # What already stands inside its neighbour's words is not moved out of its own place for that.
    return (
        min(left, place.x0) + clear,
        min(low, place.y0) + clear,
        max(right, place.x1) - clear,
        max(high, place.y1) - clear,
    )
