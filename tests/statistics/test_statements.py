"""Statements on the edge: what other rows, or half of the points, would overturn is known as such."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from icefield.statistics.statements import (
    OutputCurves,
    near_threshold,
    on_other_grids,
    on_other_rows,
    statements_of,
)


def curves(average, **given):
    size = len(average)
    return OutputCurves(
        np.arange(size, dtype=float), average, np.full(size, 1.0 / size), 1.0, 1000.0, **given
    )


def test_a_clear_line_is_overturned_by_no_grid():
    line = curves(np.linspace(0.0, 3.0, 60))
    said = statements_of(line)
    assert (said.shape, said.direction) == ("linear", "increasing")
    assert on_other_grids(line, said) == {}
    assert near_threshold(line, said) == {}


def test_a_shape_that_hangs_on_every_other_point_is_borderline():
    zigzag = np.linspace(0.0, 1.0, 60)
    zigzag[1::2] += 0.4  # each half of the points rises evenly, all of them go up and down
    said = statements_of(curves(zigzag))
    assert said.shape == "non-monotone"
    assert on_other_grids(curves(zigzag), said)["shape"] == ("linear",)


def test_few_points_are_not_halved():
    few = curves(np.tile([0.0, 1.0], 12))
    assert on_other_grids(few, statements_of(few)) == {}


def test_numbers_near_a_threshold_are_borderline():
    weak = curves(np.linspace(0.0, 0.255, 60))  # its spread is 0.0749, where 0.07 is flat
    assert near_threshold(weak, statements_of(weak)) == {"shape": ("flat",)}
    weaker = curves(np.linspace(0.0, 0.225, 60))
    assert near_threshold(weaker, statements_of(weaker)) == {"shape": ("not flat",)}


def test_differences_near_a_threshold_are_borderline_only_where_that_decides():
    fan = np.linspace(-1.0, 1.0, 200)[:, None] * np.linspace(
        -1, 1, 60
    )  # curves of every slope, about 0.34 apart
    for size, told in ((0.94, {"hidden", "differ"}), (0.6, set())):
        bundle = curves(np.zeros(60), ice=size * fan)
        assert set(near_threshold(bundle, statements_of(bundle))) == told
    explained = curves(np.zeros(60), ice=0.94 * fan, explained=0.9)
    assert (
        near_threshold(explained, statements_of(explained)) == {}
    )  # a reason is known: it is said either way


def test_all_rows_cannot_be_overturned_and_few_can():
    rng = np.random.default_rng(0)
    own = rng.normal(size=(40, 1)) * np.linspace(-1, 1, 30) * 2.0
    bundle = curves(own.mean(axis=0), ice=own)
    bundle = replace(bundle, rows=40.0)
    said = statements_of(bundle)
    assert on_other_rows(bundle, said, 40, 40) == {}
    # A mean slope near its own standard error has no sure direction.
    steep = replace(
        bundle,
        average=own.mean(axis=0) + 0.9 * np.linspace(-1, 1, 30),
        ice=own + 0.9 * np.linspace(-1, 1, 30),
    )
    assert on_other_rows(steep, statements_of(steep), 40, 100_000)
