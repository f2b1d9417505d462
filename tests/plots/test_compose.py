"""Groups, outputs and models: what shares a panel and what stands side by side."""

from __future__ import annotations

from dataclasses import replace

import effect_builders as build
import matplotlib.pyplot as plt
import numpy as np
import pytest
from artists import drawn, legend_texts, one, ticks
from matplotlib.colors import to_rgb

from icefield.plots import plot_comparison, plot_many

CLASSES = ("setosa", "versicolor", "virginica")


def test_groups_are_overlaid_with_a_legend():
    effect = build.grouped()
    ax = effect.plot()
    for line, group in zip(drawn(ax, "line"), effect.groups.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), group.average[0])
    assert legend_texts(ax) == ["female", "male"]
    assert ax.get_legend().get_title().get_text() == "sex"
    colours = [line.get_color() for line in drawn(ax, "line")]
    assert len(set(colours)) == 2
    assert len(drawn(ax, "histogram")) > 0


def test_groups_side_by_side_share_their_axis():
    effect = build.grouped()
    figure = effect.plot(layout="side")
    first, second = figure.axes
    assert [first.get_title(loc="left"), second.get_title(loc="left")] == ["sex = female", "sex = male"]
    assert first.get_ylim() == second.get_ylim()
    assert second.get_ylabel() == ""
    apart = effect.plot(layout="side", share_y=False)
    assert apart.axes[0].get_ylim() != apart.axes[1].get_ylim()


def test_outputs_are_overlaid_and_the_axis_names_none_of_them():
    effect = build.numeric(outputs=CLASSES)
    ax = effect.plot()
    assert legend_texts(ax) == list(CLASSES)
    assert ax.get_ylabel() == "probability"
    chosen = effect.plot(outputs="virginica")
    assert chosen.get_ylabel() == "probability of virginica"
    np.testing.assert_array_equal(one(chosen, "line").get_ydata(), effect.average[2])


def test_outputs_with_groups_stand_side_by_side_with_groups_overlaid():
    figure = build.grouped(outputs=CLASSES).plot()
    assert [a.get_title(loc="left") for a in figure.axes] == list(CLASSES)
    assert all(len(drawn(a, "line")) == 2 for a in figure.axes)
    assert legend_texts(figure) == ["female", "male"]


def test_curves_of_several_outputs_are_not_piled_up():
    figure = build.ice(n=20, outputs=CLASSES).plot()
    assert len(figure.axes) == 3
    assert len({a.get_ylim() for a in figure.axes}) == 1


def test_surfaces_side_by_side_share_their_colours():
    effect = build.surface(outputs=("a", "b"), points=(6, 5))
    figure = effect.plot(kind="heatmap", mask=None)
    meshes = [one(a, "cells") for a in figure.axes]
    assert {(m.norm.vmin, m.norm.vmax) for m in meshes} == {(effect.average.min(), effect.average.max())}
    bars = [c for a in figure.axes for c in a.child_axes]
    assert len(bars) == 1
    assert bars[0].get_ylabel() == "probability"


def test_more_than_two_bands_would_hide_each_other():
    assert len(drawn(build.grouped(labels=("a", "b")).plot(), "band")) == 2
    assert drawn(build.grouped(labels=tuple("abcd")).plot(), "band") == []
    assert len(drawn(build.grouped(labels=tuple("abcd")).plot(band="std"), "band")) == 4


def test_more_groups_than_colours_are_told_apart_by_dashes():
    ax = build.grouped(labels=[f"g{i}" for i in range(10)]).plot()
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in drawn(ax, "line")}
    assert len(looks) == 10


def test_groups_with_other_levels_share_one_axis():
    whole = build.categorical(levels=("a", "b", "c"))
    part = build.categorical(levels=("c", "a"))
    ax = replace(whole, groups={"g": part, "h": whole}, by="by").plot()
    first, second = drawn(ax, "dots")
    assert np.round(first.get_offsets()[:, 0]).tolist() == [0, 2]
    np.testing.assert_array_equal(first.get_offsets()[:, 1], part.average[0][[1, 0]])
    assert len(second.get_offsets()) == 3


# --- small multiples -------------------------------------------------------------------------------


def lightness(colour):
    """How light a colour is to the eye, from 0 to 100 (CIE L*)."""
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return 116 * luminance ** (1 / 3) - 16


def test_nine_groups_are_told_apart_in_grey():
    lines = drawn(build.grouped(labels=tuple("abcdefghi")).plot(), "line")
    looks = [(str(line._unscaled_dash_pattern), lightness(line.get_color())) for line in lines]
    assert len(looks) == 9
    alike = [abs(a[1] - b[1]) for i, a in enumerate(looks) for b in looks[:i] if a[0] == b[0]]
    assert len(alike) == 4  # four patterns stand for two colours each
    assert min(alike) > 12
    few = drawn(build.grouped(labels=tuple("abcd")).plot(), "line")
    assert len({str(line._unscaled_dash_pattern) for line in few}) == 4
    assert not any(line.is_dashed() for line in drawn(build.numeric().plot(), "line"))


# Machado, Oliveira and Fernandes (2009): what is left of linear red, green and blue without one kind of cone.
VISION = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "no colours": [[0.2126, 0.7152, 0.0722]] * 3,
}  # fmt: skip


def seen(colour, vision):
    """A colour as seen without one kind of cone, in CIE L*a*b*, where distances are about those of the eye."""
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("ground", ["white", "#14181e"])
def test_nine_groups_are_told_apart_by_readers_with_any_colour_vision(vision, ground):
    with plt.rc_context({"axes.facecolor": ground, "figure.facecolor": ground}):
        lines = drawn(build.grouped(labels=tuple("abcdefghi")).plot(), "line")
    looks = [(str(line._unscaled_dash_pattern), seen(line.get_color(), vision)) for line in lines]
    alike = [np.linalg.norm(a[1] - b[1]) for i, a in enumerate(looks) for b in looks[:i] if a[0] == b[0]]
    assert len(alike) == 4
    assert min(alike) > 9
    page = seen(ground, vision)
    assert min(np.linalg.norm(look[1] - page) for look in looks) > 20


def test_groups_of_names_that_begin_and_end_alike_are_all_drawn():
    labels = tuple(f"Municipality of the {name} part of the county of somewhere" for name in ("old", "new"))
    ax = build.grouped(labels=labels).plot()
    assert len(drawn(ax, "line")) == 2
    texts = [text.replace("\n", " ") for text in legend_texts(ax)]
    assert len(set(texts)) == 2
    assert "old" in texts[0]
    assert "new" in texts[1]


def test_small_multiples_have_few_levels_with_short_names():
    levels = [f"Municipality of {name}kelund in the county of somewhere" for name in "abcdefghijklmnopqrst"]
    figure = plot_many([build.categorical(levels=levels, n=900), build.numeric()])
    texts = ticks(figure.axes[0].xaxis)
    assert len(texts) == 11
    assert texts[-1] == "10 others"
    assert len(set(texts)) == 11
    assert max(map(len, texts)) <= 16
    figure.canvas.draw()
    assert figure.axes[0].bbox.height > 0.4 * figure.bbox.height


def test_small_multiples_share_one_axis_and_keep_the_order():
    effects = {name: build.numeric(name=name, seed=i) for i, name in enumerate(("age", "fare", "parents"))}
    effects["class"] = build.categorical()
    figure = plot_many(effects)
    assert [a.get_xlabel() for a in figure.axes] == ["age", "fare", "parents", "class"]
    assert len({a.get_ylim() for a in figure.axes}) == 1
    assert figure.axes[0].get_ylabel() == "probability of survived"
    assert figure.axes[1].get_ylabel() == ""
    meaning = "± 1 standard deviation of the rows' curves, each around its own mean"
    assert figure.get_suptitle().replace("\n", " ") == f"average over 300 rows; band, lines: {meaning}"
    spans = [(e.average + e.centered_std).max() for e in effects.values()]
    assert figure.axes[0].get_ylim()[1] >= max(spans) - 0.05


def test_under_a_title_small_multiples_still_say_what_a_band_is():
    effects = [build.numeric(name="age"), build.numeric(name="fare", seed=1)]
    figure = plot_many(effects, title="Titanic")
    assert figure.get_suptitle() == "Titanic"
    assert "band: ± 1 standard deviation of the rows' curves" in figure.get_supxlabel().replace("\n", " ")
    drawn_by_plotly = plot_many(effects, title="Titanic", backend="plotly")
    said = " ".join(a.text or "" for a in drawn_by_plotly.layout.annotations)
    assert "band: ± 1 standard deviation of the rows" in said
    alone = plot_many(effects, title="Titanic", band=None)
    assert alone.get_supxlabel() == "average over 300 rows"


def test_panels_side_by_side_say_what_a_band_is():
    figure = build.grouped().plot(layout="side")
    assert "band: ± 1 standard deviation" in figure.get_suptitle()


def test_small_multiples_of_groups_have_one_legend():
    figure = plot_many([build.grouped(name="age"), build.grouped(name="fare")], title="Titanic")
    assert len(figure.legends) == 1
    assert legend_texts(figure) == ["female", "male"]
    assert figure.get_suptitle() == "Titanic"


def test_small_multiples_are_drawn_centred():
    effects = [build.ice(n=10, name="age"), build.ice(n=10, name="fare")]
    figure = plot_many(effects, center=True)
    np.testing.assert_allclose(one(figure.axes[0], "line").get_ydata()[0], 0, atol=1e-12)


def test_nothing_to_draw(complains):
    with complains("features", "nothing to draw"):
        plot_many([])


# --- models ----------------------------------------------------------------------------------------


def test_models_on_their_own_grids_share_one_panel():
    first, second = build.numeric(points=20), build.numeric(points=31, seed=4)
    ax = plot_comparison({"forest": first, "boosting": second})
    one_line, other = drawn(ax, "line")
    np.testing.assert_array_equal(one_line.get_xdata(), first.grid[0])
    np.testing.assert_array_equal(other.get_xdata(), second.grid[0])
    assert legend_texts(ax) == ["forest", "boosting"]
    assert ax.get_xlim()[0] < min(first.grid[0][0], second.grid[0][0])
    assert ax.get_xlim()[1] > max(first.grid[0][-1], second.grid[0][-1])


def test_models_side_by_side_and_their_surfaces():
    figure = plot_comparison({"a": build.numeric(), "b": build.numeric(seed=2)}, layout="side")
    assert [a.get_title(loc="left") for a in figure.axes] == ["a", "b"]
    figure = plot_comparison({"a": build.surface(), "b": build.surface(seed=1)})
    assert [a.get_title(loc="left") for a in figure.axes] == ["a", "b"]
