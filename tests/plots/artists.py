"""Finding what was drawn: artists by the group id that icefield gives them."""

from __future__ import annotations


def drawn(ax, name):
    """All artists of an Axes called ``icefield:<name>``, in drawing order."""
    return [a for a in ax.findobj() if a.get_gid() == f"icefield:{name}"]


def one(ax, name):
    found = drawn(ax, name)
    assert len(found) == 1, f"{len(found)} artists called {name}"
    return found[0]


def legend_texts(holder):
    legend = holder.get_legend() if hasattr(holder, "get_legend") else holder.legends[0]
    return [t.get_text() for t in legend.get_texts()]


def ticks(axis):
    axis.get_figure().canvas.draw()
    return [t.get_text() for t in axis.get_ticklabels()]
