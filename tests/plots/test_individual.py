"""Individual curves: which are drawn, in which colours, and which are emphasised."""

from __future__ import annotations

from dataclasses import replace

import effect_builders as build
import matplotlib.pyplot as plt
import numpy as np
import pytest
from artists import drawn, legend_texts, one
from matplotlib.colors import to_hex, to_rgba

from icefield.data.columns import object_array


def heights(ax):
    return np.array([s[:, 1] for s in one(ax, "curves").get_segments()])


def test_every_curve_and_the_average_over_them():
    effect = build.ice(n=40)
    ax = effect.plot()
    np.testing.assert_array_equal(heights(ax), effect.individual[0])
    np.testing.assert_array_equal(one(ax, "line").get_ydata(), effect.average[0])
    assert drawn(ax, "band") == []
    assert one(ax, "line").get_linewidth() > one(ax, "curves").get_linewidths()[0]
    assert one(ax, "note").get_text().startswith("40 curves; average over 40 rows")
    assert drawn(effect.plot(curves=None), "curves") == []


def test_more_curves_are_fainter():
    alphas = [one(build.ice(n=n, points=5).plot(max_curves=n), "curves").get_alpha() for n in (10, 100, 2000)]
    assert alphas == sorted(alphas, reverse=True)
    assert alphas[-1] < 0.1


def test_too_many_curves_are_sampled_and_said_so():
    effect = build.ice(n=100)
    ax = effect.plot(max_curves=10)
    assert len(heights(ax)) == 10
    assert "10 of 100 curves, sampled" in one(ax, "note").get_text()
    known = effect.individual[0].tolist()
    assert all(curve in known for curve in heights(ax).tolist())
    np.testing.assert_array_equal(heights(ax), heights(effect.plot(max_curves=10)))


def test_no_more_curves_than_can_be_told_apart():
    effect = build.ice(n=2000, points=5)
    ax = effect.plot()
    assert len(heights(ax)) == 300
    assert "300 of 2000 curves, sampled" in one(ax, "note").get_text()
    # By chance, so that rows in a natural order are not thinned to one weekday.
    picked = [effect.individual[0].tolist().index(curve) for curve in heights(ax).tolist()]
    assert len(set(np.diff(picked))) > 5
    assert "density of 2000 curves" in one(effect.plot(curves="density"), "note").get_text()


def test_a_shade_behind_sampled_curves_shows_all_of_them():
    effect = build.ice(n=2000, points=5)
    ax = effect.plot()
    ax.get_figure().canvas.draw()
    shade = np.asarray(one(ax, "shade").get_array()).reshape(-1, 4)
    assert "shade: where all of them run" in " ".join(one(ax, "note").get_text().split("\n"))
    assert 0 < shade[:, 3].max() <= 0.5
    # The darkest cell of the first column stands where most curves start.
    cells = int(np.sqrt(len(shade)))
    column = shade[:, 3].reshape(cells, cells)[:, 0]
    starts = effect.individual[0][:, 0]
    low, high = effect.individual[0].min(), effect.individual[0].max()
    darkest = low + (column.argmax() + 0.5) / cells * (high - low)
    assert abs(darkest - np.median(starts)) < starts.std()
    assert drawn(build.ice(n=300).plot(), "shade") == []
    assert drawn(effect.plot(color_by="sex"), "shade") == []  # colours are read on a plain ground
    traces = effect.plot(backend="plotly").data
    assert [trace.showscale for trace in traces if trace.name == "shade"] == [False]


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_density_deepens_from_the_ground(style):
    with plt.style.context(style):
        ax = build.ice(n=500).plot(curves="density")
        cells = one(ax, "cells")
        ground = np.array(to_rgba(ax.get_facecolor()))[:3]
        few, many = (np.array(cells.cmap(share))[:3] for share in (0.0, 1.0))
    assert np.abs(few - ground).max() < 0.15
    assert np.abs(many - ground).max() > 0.6


def test_missing_points_of_curves():
    effect = build.ice(n=20, missing=True)
    ax = effect.plot()
    cloud, mean = drawn(ax, "dots")
    np.testing.assert_array_equal(cloud.get_offsets()[:, 1], effect.individual[0][:, -1])
    assert mean.get_offsets()[0, 1] == effect.average[0, -1]
    assert heights(ax).shape == (20, len(effect.grid[0]) - 1)


def test_undefined_values_in_curves_are_drawn_around():
    effect = build.ice(n=20)
    individual = effect.individual.copy()
    individual[0, 3, 5:8] = np.nan
    ax = replace(effect, individual=individual).plot()
    ax.get_figure().canvas.draw()
    assert np.isfinite(ax.get_ylim()).all()


def test_coloured_by_numbers_with_a_colour_bar():
    effect = build.ice(n=50)
    ax = effect.plot(color_by="fare")
    np.testing.assert_array_equal(one(ax, "curves").get_array(), effect.row_values["fare"])
    bar = next(c for c in ax.child_axes if c.get_ylabel() == "fare")
    low, high = np.quantile(effect.row_values["fare"], [0.02, 0.98])
    np.testing.assert_allclose(bar.get_ylim(), (low, high))
    assert to_hex(one(ax, "line").get_color()) == "#000000"


def test_coloured_by_category_with_a_legend():
    effect = build.ice(n=50)
    ax = effect.plot(color_by="sex", colors=["#ff0000", "#0000ff"])
    assert legend_texts(ax) == ["female", "male"]
    assert ax.get_legend().get_title().get_text() == "sex"
    wanted = {"female": "#ff0000", "male": "#0000ff"}
    inks = [to_hex(c) for c in one(ax, "curves").get_colors()]
    assert inks == [wanted[v] for v in effect.row_values["sex"].tolist()]


def test_many_categories_keep_the_frequent_ones():
    effect = build.ice(n=200)
    names = object_array([f"c{int(i**0.5)}" for i in range(200)])
    ax = replace(effect, row_values={"cabin": names}).plot(color_by="cabin")
    assert legend_texts(ax)[-1] == "other"
    assert len(legend_texts(ax)) == 8


def test_missing_colours_are_muted():
    effect = build.ice(n=40)
    fare = effect.row_values["fare"].copy()
    fare[4] = np.nan
    ax = replace(effect, row_values={"fare": fare}).plot(color_by="fare")
    assert one(ax, "curves").get_array().mask.nonzero()[0].tolist() == [4]
    ax.get_figure().canvas.draw()
    assert to_rgba(one(ax, "curves").get_colors()[4])[:3] == to_rgba("#737373")[:3]


def test_numbers_with_few_values_are_categories():
    effect = build.ice(n=40)
    ax = replace(effect, row_values={"class": np.arange(40) % 3 + 1}).plot(color_by="class")
    assert legend_texts(ax) == ["1", "2", "3"]


def test_unknown_colour_columns(complains):
    with complains("color_by", "'fare'"):
        build.ice(n=10).plot(color_by="fair")
    with complains("color_by", "Explainer.ice"):
        replace(build.ice(n=10), row_values=None).plot(color_by="fare")


def test_highlighted_rows():
    effect = replace(build.ice(n=10), rows=np.arange(10) * 100)
    ax = effect.plot(highlight=[300, 700])
    mean, first, second = drawn(ax, "line")
    np.testing.assert_array_equal(first.get_ydata(), effect.individual[0][3])
    np.testing.assert_array_equal(second.get_ydata(), effect.individual[0][7])
    np.testing.assert_array_equal(mean.get_ydata(), effect.average[0])
    assert legend_texts(ax) == ["average", "row 300", "row 700"]
    assert len({str(line._dash_pattern) for line in (mean, first, second)}) == 3  # told apart in grey
    ax = effect.plot(highlight={"Jack": 300})
    assert legend_texts(ax) == ["average", "Jack"]
    ax = effect.plot(highlight="passenger 4")
    np.testing.assert_array_equal(drawn(ax, "line")[1].get_ydata(), effect.individual[0][4])
    assert legend_texts(ax) == ["average", "passenger 4"]


def test_rows_that_cannot_be_highlighted(complains):
    effect = build.ice(n=10)
    with complains("highlight", "not kept", "rows=[99"):
        effect.plot(highlight=99)
    with complains("highlight", "'passenger 1'"):
        effect.plot(highlight="pasenger 1")
    with complains("highlight", "of the kept rows"):
        effect.plot(highlight="male")


def test_highlighted_rows_survive_sampling():
    effect = build.ice(n=100)
    ax = effect.plot(max_curves=2, highlight=57)
    np.testing.assert_array_equal(drawn(ax, "line")[1].get_ydata(), effect.individual[0][57])


def test_density_counts_every_curve_in_every_column():
    effect = build.ice(n=400)
    ax = effect.plot(curves="density")
    z = one(ax, "cells").get_array().filled(0)
    np.testing.assert_allclose(z.sum(axis=0), 100.0)
    low, high = ax.get_ylim()
    assert low < effect.individual.min()
    assert high > effect.individual.max()


def test_curves_over_levels():
    effect = build.categorical(keep=True, n=30)
    ax = effect.plot(sort="value")
    order = np.argsort(-effect.average[0])
    np.testing.assert_allclose(heights(ax), effect.individual[0][:, order])


@pytest.mark.parametrize("options", [{}, {"center": True}, {"derivative": True}])
def test_stepped_curves(options):
    effect = replace(build.ice(n=5, points=6), steps=True)
    ax = effect.plot(**options)
    if not options.get("derivative"):
        values = heights(ax)
        assert values.shape[1] == 2 * 7 - 1
        np.testing.assert_array_equal(
            values[:, ::2][:, 1:], (effect.center() if options else effect).individual[0]
        )
    else:
        assert heights(ax).shape == (5, 6)
