"""Hulls, points in polygons, occupied cells."""

from __future__ import annotations

import numpy as np

from icefield.plots.geometry import convex_hull, inside_polygon, occupied


def test_every_point_lies_in_the_hull_of_all(rng):
    points = rng.normal(size=(200, 2))
    hull = convex_hull(points)
    held = [inside_polygon(hull, p[:1], p[1:])[0, 0] for p in points]
    assert all(held)
    assert not inside_polygon(hull, np.array([9.0]), np.array([9.0]))[0, 0]
    # Counter-clockwise: the signed area is positive.
    x, y = hull.T
    assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0


def test_points_on_a_line_have_no_hull():
    assert convex_hull(np.array([[0, 0], [1, 1], [2, 2.0]])) is None
    assert convex_hull(np.array([[0, 0], [1, 1.0]])) is None


def test_missing_points_are_left_out():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [np.nan, 5]])
    assert len(convex_hull(square)) == 4


def test_occupied_looks_at_neighbouring_bins_of_numbers_but_not_of_levels():
    counts = np.zeros((4, 3))
    counts[1, 1] = 5
    edges = [np.arange(5.0), np.array([0.0, 1.0, 2.0])]
    found = occupied(counts, edges, (True, False), np.array([0.5, 1.5, 2.5, 3.5, 9.0]), np.array([0.0, 1.0]))
    assert found.tolist() == [[False] * 5, [True, True, True, False, False]]


def test_the_last_edge_belongs_to_the_last_bin():
    counts = np.array([[0.0, 1.0]])
    found = occupied(
        counts, [np.array([0.0]), np.array([0.0, 1.0, 2.0])], (False, True), np.array([0.0]), np.array([2.0])
    )
    assert found.tolist() == [[True]]
