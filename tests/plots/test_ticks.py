"""Axes carry a few round numbers that lie inside them."""

from __future__ import annotations

from icefield.plots.ticks import nice_ticks


def test_nice_ticks_lie_inside():
    ticks = nice_ticks(-3.7, 12.2)
    assert min(ticks) >= -3.7
    assert max(ticks) <= 12.2
    assert 0.0 in ticks
    assert len(ticks) >= 4
    assert nice_ticks(0, 3, whole=True) == [0.0, 1.0, 2.0, 3.0]
