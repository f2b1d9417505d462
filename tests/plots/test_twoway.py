"""Two features: surfaces, masks, margins and the pure interaction."""

from __future__ import annotations

from dataclasses import replace

import effect_builders as build
import matplotlib.pyplot as plt
import numpy as np
import pytest
from artists import drawn, legend_texts, one, ticks

from icefield.plots.geometry import convex_hull
from icefield.plots.options import Options
from icefield.plots.series import Series
from icefield.plots.surfaces import pure_interaction, surface_scale
from icefield.plots.twoway import two_way_panel


def panel(effect, **options):
    chosen = Options.of(options)
    series = Series(effect, 0)
    return two_way_panel(series, effect, chosen, surface_scale([series], chosen, True), True)


def test_contours_of_two_numbers():
    effect = build.surface()
    ax = effect.plot()
    filled = one(ax, "contour")
    assert filled.get_clip_path() is not None
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "fare")
    np.testing.assert_allclose(ax.get_xlim(), effect.grid[0][[0, -1]])
    np.testing.assert_allclose(ax.get_ylim(), effect.grid[1][[0, -1]])
    bar = next(c for c in ax.child_axes if c.get_ylabel())
    assert bar.get_ylabel() == "probability of survived"
    np.testing.assert_allclose(bar.get_ylim(), [effect.average.min(), effect.average.max()])
    assert "hull" in one(ax, "note").get_text()


def test_the_interpolated_surface_passes_through_the_grid():
    effect = build.surface(points=(5, 4))
    field = panel(effect).marks[0]
    at_x = [int(np.argmin(abs(field.x - v))) for v in effect.grid[0]]
    at_y = [int(np.argmin(abs(field.y - v))) for v in effect.grid[1]]
    np.testing.assert_allclose(field.z[np.ix_(at_y, at_x)], effect.average[0].T)


def test_hull_is_that_of_the_data():
    effect = build.surface()
    field = panel(effect).marks[0]
    sample = np.column_stack(effect.distribution.joint.sample)
    np.testing.assert_array_equal(field.hull, convex_hull(sample))
    assert panel(effect, mask=None).marks[0].hull is None
    blank = np.isnan(field.shown())
    assert blank.any()
    assert not blank.all()


def test_cells_hold_the_averages():
    effect = build.surface(points=(6, 5))
    ax = effect.plot(kind="heatmap", mask=None)
    mesh = one(ax, "cells")
    np.testing.assert_array_equal(np.ma.getdata(mesh.get_array()), effect.average[0].T)
    x, y = effect.grid
    np.testing.assert_allclose(mesh.get_coordinates()[0, 1:-1, 0], (x[1:] + x[:-1]) / 2)
    np.testing.assert_allclose(mesh.get_coordinates()[1:-1, 0, 1], (y[1:] + y[:-1]) / 2)


def test_density_masks_cells_without_rows_nearby():
    effect = build.surface()
    joint = effect.distribution.joint
    ax = effect.plot(kind="heatmap", mask="density")
    blank = one(ax, "cells").get_array().mask
    assert blank.any()
    x, y = effect.grid
    for i, j in np.argwhere(~blank)[:50]:
        near_x = abs(joint.sample[0] - x[j]) <= 2 * np.diff(joint.edges[0])[0]
        near_y = abs(joint.sample[1] - y[i]) <= 2 * np.diff(joint.edges[1])[0]
        assert (near_x & near_y).any()


def test_low_support_masks_and_can_be_asked_for(complains):
    effect = build.surface(points=(6, 5))
    low = np.zeros((6, 5), dtype=bool)
    low[0, 4] = True
    masked = build.with_low_support(effect, low)
    for options in ({}, {"mask": "support"}):
        ax = masked.plot(kind="heatmap", **options)
        assert np.argwhere(one(ax, "cells").get_array().mask).tolist() == [[4, 0]]
    with complains("mask", "support"):
        effect.plot(mask="support")
    with complains("mask", "'density'"):
        build.mixed_surface().plot(kind="heatmap", mask="hull")


def test_margins_are_the_distributions():
    effect = build.surface()
    ax = effect.plot()
    for side, which in (("top", 0), ("right", 1)):
        inset = one(ax, f"margin-{side}")
        marginal = effect.distribution.marginals[which]
        inside = (marginal.edges[1:] > effect.grid[which][0]) & (marginal.edges[:-1] < effect.grid[which][-1])
        lengths = [p.get_height() if side == "top" else p.get_width() for p in inset.patches]
        np.testing.assert_array_equal(lengths, marginal.counts[inside])
    assert drawn(effect.plot(data=None), "margin-top") == []
    cloud = one(effect.plot(data="points"), "dots").get_offsets()
    pairs = {tuple(p) for p in np.column_stack(effect.distribution.joint.sample)}
    assert all(tuple(p) in pairs for p in np.asarray(cloud))


def test_missing_values_stand_apart():
    effect = build.surface(points=(6, 5), missing=True)
    for kind in ("heatmap", "contour"):
        ax = effect.plot(kind=kind, mask=None)
        strip = drawn(ax, "cells")[-1]
        np.testing.assert_array_equal(np.ma.getdata(strip.get_array())[0], effect.average[0][:, -1])
        assert strip.get_coordinates()[0, 0, 1] > effect.grid[1][-2]
        assert one(ax, "missing").get_text() == "missing"


def test_numbers_run_along_x_whichever_was_named_first():
    effect = build.mixed_surface()
    ax = effect.plot(kind="heatmap", mask=None)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "who")
    np.testing.assert_array_equal(np.ma.getdata(one(ax, "cells").get_array()), effect.average[0])
    assert ticks(ax.yaxis) == ["child", "female", "male"]
    assert ax.yaxis_inverted()


def test_a_number_by_few_levels_is_drawn_as_lines():
    effect = build.mixed_surface()
    ax = effect.plot()
    lines = drawn(ax, "line")
    assert legend_texts(ax) == ["child", "female", "male"]
    assert ax.get_legend().get_title().get_text() == "who"
    for line, values in zip(lines, effect.average[0]):
        np.testing.assert_array_equal(line.get_ydata(), values)


def test_lines_by_the_second_number():
    effect = build.surface()
    ax = effect.plot(kind="lines")
    lines = drawn(ax, "line")
    assert len(lines) == 5
    np.testing.assert_array_equal(lines[0].get_ydata(), effect.average[0][:, 0])
    np.testing.assert_array_equal(lines[-1].get_ydata(), effect.average[0][:, -1])
    assert ax.get_ylabel() == "probability of survived"


def test_crossed_levels_write_their_numbers_and_leave_empty_combinations_blank():
    effect = build.crossed_levels()
    ax = effect.plot()
    cells = one(ax, "cells").get_array()
    assert np.argwhere(cells.mask).tolist() == [[1, 0]]
    texts = [t.get_text() for t in drawn(ax, "value")]
    assert texts == [f"{v:,.0f}" for v in effect.average[0].T.ravel()[[0, 1, 2, 4, 5]]]
    assert drawn(effect.plot(mask=None), "cells")[0].get_array().count() == 6


def test_surface_needs_and_gets_three_dimensions(complains):
    effect = build.surface(points=(6, 5))
    ax = effect.plot(kind="surface")
    assert ax.name == "3d"
    one(ax, "surface")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "fare")
    with complains("ax", "3-D", error=TypeError):
        effect.plot(kind="surface", ax=plt.figure().add_subplot())
    solid = plt.figure().add_subplot(projection="3d")
    assert effect.plot(kind="surface", ax=solid) is solid
    with complains("ax", "plain", error=TypeError):
        effect.plot(ax=plt.figure().add_subplot(projection="3d"))


# --- pure interaction ------------------------------------------------------------------------------


def test_an_additive_surface_has_no_interaction():
    effect = build.surface(points=(6, 5))
    x, y = np.meshgrid(*effect.grid, indexing="ij")
    additive = replace(effect, average=(np.sin(x) + 0.3 * y)[None])
    np.testing.assert_allclose(pure_interaction(Series(additive)), 0, atol=1e-12)


def test_interaction_has_no_weighted_margins_left():
    effect = build.surface(points=(6, 5))
    left = pure_interaction(Series(effect))
    weight = effect.weight / effect.weight.sum()
    np.testing.assert_allclose(left @ weight.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(weight.sum(axis=1) @ left, 0, atol=1e-12)
    assert abs(left).max() > 0.01


def test_interaction_from_given_curves(complains):
    effect = build.surface(points=(6, 5))
    curves = []
    for which, grid in enumerate(effect.grid):
        margin = effect.average.mean(axis=2 - which) + 7.0
        curves.append(
            replace(
                effect, features=(effect.features[which],), grid=(grid,), kinds=("float",), average=margin, weight=None,
                distribution=None,
            )
        )  # fmt: skip
    even = replace(effect, weight=None)
    np.testing.assert_allclose(
        pure_interaction(Series(even), curves[::-1]), pure_interaction(Series(even)), atol=1e-12
    )
    with complains("interaction", "two one-way Effects"):
        effect.plot(interaction=curves[:1])
    with complains("interaction", "write interaction=True"):
        effect.plot(interaction="yes")


def test_interaction_is_coloured_around_zero():
    effect = build.surface()
    ax = effect.plot(interaction=True)
    norm = one(ax, "contour").norm
    assert norm.vmin == -norm.vmax
    assert "interaction" in next(c for c in ax.child_axes if c.get_ylabel()).get_ylabel()
    assert "margins" in one(ax, "note").get_text()


@pytest.mark.parametrize("kind", ["contour", "heatmap", "surface", "lines"])
def test_kinds_agree_on_the_interaction(kind):
    chosen = Options.of({"kind": kind, "interaction": True, "mask": None, "data": None})
    effect = build.surface(points=(6, 5))
    series = Series(effect)
    described = two_way_panel(series, effect, chosen, surface_scale([series], chosen, True), True)
    wanted = pure_interaction(series)
    shown = described.marks[1].y[0] if kind == "lines" else described.marks[0].z[0, 0]
    np.testing.assert_allclose(shown, wanted[0, 0], atol=1e-12)
