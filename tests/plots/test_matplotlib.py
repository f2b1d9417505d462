"""The matplotlib way: Axes in and out, style sheets, settings, and names nobody expects."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise

import effect_builders as build
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from artists import drawn, legend_texts, one, ticks
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from icefield.data.naming import Naming
from icefield.plots import plot_many
from icefield.plots.fonts import drawable
from icefield.plots.palette import ON_DARK, ON_LIGHT

HOSTILE = [
    r"$\frac$", "$", "_leading", "", "x" * 300, "東京都", "температура", "درجة الحرارة", "line\nbreak", "nul\0",
    "<b>bold</b></script>", "%{x} {y}", "a_b^c\\d~#&%", "\U0001f642", "\ud800",
]  # fmt: skip


def test_drawing_libraries_are_imported_only_when_drawing(modules_after):
    assert modules_after["import icefield.plots, icefield.compare"].isdisjoint(("matplotlib", "plotly"))


def test_one_panel_gives_axes_and_several_a_figure():
    assert isinstance(build.numeric().plot(), Axes)
    assert isinstance(build.grouped().plot(layout="side"), Figure)


def test_drawing_into_given_axes(complains):
    figure, (left, right) = plt.subplots(1, 2)
    assert build.numeric().plot(ax=right) is right
    assert not left.has_data()
    assert not right.spines["top"].get_visible()
    assert left.spines["top"].get_visible()
    assert drawn(right, "note") == []
    assert figure.get_layout_engine() is None
    with complains("ax", "2", "layout='overlay'"):
        build.grouped().plot(layout="side", ax=left)


def test_drawing_over_what_is_there_keeps_it_visible():
    ax = plt.figure().add_subplot()
    ax.plot([0, 200], [-3, 3])
    build.numeric().plot(ax=ax)
    assert ax.get_xlim()[0] <= 0
    assert ax.get_xlim()[1] >= 200
    assert ax.get_ylim()[0] <= -3
    assert ax.get_ylim()[1] >= 3


def test_a_subfigure_is_a_place_too():
    parts = plt.figure().subfigures(1, 2)
    ax = parts[1].add_subplot()
    build.grouped().plot(ax=ax)
    ax.get_figure(root=True).canvas.draw()
    assert legend_texts(ax)[:2] == ["female", "male"]


def test_in_an_axes_of_the_caller_a_line_below_it_says_what_a_band_is():
    ax = plt.subplots()[1]
    build.numeric().plot(ax=ax)
    meaning = "± 1 standard deviation of the rows' curves, each around its own mean"

    def said(of):
        return [" ".join(note.get_text().split("\n")) for note in drawn(of, "band-note")]

    assert said(ax) == [f"band: {meaning}"]
    assert ax.get_legend() is None  # which would cover the curve
    build.numeric(seed=1).plot(ax=ax)  # says nothing new
    assert said(ax) == [f"band: {meaning}"]
    build.numeric(seed=1).plot(ax=ax, band="se")
    assert said(ax) == [
        f"band: {meaning}",
        "band: ± 2 standard errors of this model's curve, over other rows",
    ]
    other = plt.subplots()[1]
    build.numeric().plot(ax=other, band=None)
    assert not said(other)
    build.categorical(levels=tuple("abcdefghijkl")).plot(ax=other, top=8)
    assert said(other) == [f"lines: {meaning}; others: their weighted mean and range"]


MUNICIPALITIES = [f"Municipality of {name}-on-the-water in the county of somewhere" for name in "abcdefghi"]


@pytest.mark.parametrize(
    "effect",
    [
        build.numeric(missing=True),
        build.skewed(missing=True),
        build.categorical(levels=MUNICIPALITIES),
        build.categorical(levels=["a rather long name of a level", "another one that is long", "third"]),
    ],
    ids=["curve", "log", "long levels", "broken levels"],
)
def test_nothing_is_cut_off_in_an_axes_of_the_caller(effect):
    figure, axes = plt.subplots(1, 2, figsize=(8, 3))
    effect.plot(ax=axes[1])
    figure.canvas.draw()
    words, whole = axes[1].get_tightbbox(), figure.bbox
    assert words.x0 >= axes[0].get_window_extent().x1  # nor does it run into what stands beside it
    assert words.y0 >= whole.y0
    assert words.x1 <= whole.x1
    assert words.y1 <= whole.y1


def test_room_is_left_to_a_layout_that_the_caller_chose():
    ax = plt.subplots(figsize=(5, 3), layout="constrained")[1]
    before = ax.get_position().bounds
    build.categorical(levels=MUNICIPALITIES).plot(ax=ax)
    assert ax.get_position().bounds == before
    later, plain = plt.subplots(figsize=(5, 3))
    build.categorical(levels=MUNICIPALITIES).plot(ax=plain)
    shrunk = plain.get_position().bounds
    later.subplots_adjust(left=0.5)
    assert plain.get_position().x0 == pytest.approx(0.5)
    assert shrunk[0] != pytest.approx(0.5)
    assert plain.get_in_layout()


@pytest.mark.look
@pytest.mark.parametrize("count", [20, 60])
@pytest.mark.parametrize("size", [(4, 2.4), (6, 4)])
def test_levels_of_a_small_axes_do_not_touch(count, size):
    levels = [f"Municipality of {i:02d} in the county of somewhere" for i in range(count)]
    for options in ({}, {"top": count}):
        figure, ax = plt.subplots(figsize=size)
        build.categorical(levels=levels, n=900).plot(ax=ax, **options)
        figure.canvas.draw()
        boxes = [label.get_window_extent() for label in ax.get_yticklabels() if label.get_text()]
        assert len(boxes) >= 4
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        counts = [text.get_window_extent() for text in drawn(ax, "count") if text.get_visible()]
        assert not any(a.overlaps(b) for i, a in enumerate(counts) for b in counts[:i])


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "style", ["dark_background", "ggplot", "seaborn-v0_8-whitegrid", "fivethirtyeight", "grayscale", "bmh"]
)
@pytest.mark.parametrize(
    "draw",
    [
        lambda: build.grouped(missing=True).plot(title="Title"),
        lambda: build.ice(n=30).plot(color_by="fare"),
        lambda: build.surface(points=(6, 5)).plot(),
    ],
    ids=["groups", "ice", "surface"],
)  # fmt: skip
def test_any_style_sheet(style, draw):
    with plt.style.context(style):
        ax = draw()
        ax.get_figure().savefig(io.BytesIO())
        assert to_hex(ax.get_facecolor()) == to_hex(mpl.rcParams["axes.facecolor"])
        assert ax.xaxis.label.get_fontsize() == plt.figure().add_subplot().xaxis.label.get_fontsize()


def test_colours_are_safe_by_default_follow_a_chosen_cycle_and_can_be_given():
    def colours(**options):
        return [to_hex(line.get_color()).upper() for line in drawn(build.grouped().plot(**options), "line")]

    assert colours() == list(ON_LIGHT[:2])
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white"}):
        assert colours() == list(ON_DARK[:2])
    with mpl.rc_context({"axes.prop_cycle": mpl.cycler(color=["#111111", "#222222"])}):
        assert colours() == ["#111111", "#222222"]
    assert colours(colors=["red", "#00ff00"]) == ["#FF0000", "#00FF00"]


def test_settings_rule_sizes():
    with mpl.rc_context({"lines.linewidth": 5, "figure.figsize": (3, 2.5), "axes.labelsize": 20}):
        ax = build.numeric().plot()
        assert one(ax, "line").get_linewidth() == 5 * 1.25
        assert ax.get_figure().get_size_inches().tolist() == [3, 2.5]
        assert ax.xaxis.label.get_fontsize() == 20
    assert build.numeric().plot(figsize=(9, 3)).get_figure().get_size_inches().tolist() == [9, 3]


def test_new_figures_are_laid_out_and_nothing_leaves_them():
    ax = build.grouped(labels=("a rather long name of a group", "another one")).plot(title="A title")
    figure = ax.get_figure()
    figure.canvas.draw()
    assert type(figure.get_layout_engine()).__name__ == "ConstrainedLayoutEngine"
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.01
    assert box.y0 >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01


def test_large_numbers_read_well():
    effect = build.numeric(outputs=("price",))
    from dataclasses import replace

    big = replace(effect, average=effect.average * 1e6, std=None, scale_label="prediction")
    assert any(t.endswith("M") or "," in t for t in ticks(big.plot().yaxis))
    assert not any("e" in t for t in ticks(big.plot().yaxis))


# --- hostile names ---------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_feature_and_output_names(name):
    ax = build.numeric(name=name, outputs=(name,)).plot(title=name)
    ax.get_figure().savefig(io.BytesIO())
    assert ax.get_xlabel() != ""


def test_hostile_levels_and_legends():
    ax = build.categorical(levels=HOSTILE, outputs=tuple(HOSTILE[:4])).plot()
    ax.get_figure().savefig(io.BytesIO())
    assert len(legend_texts(ax)) == 4
    ax = build.grouped(labels=HOSTILE[:6], by=HOSTILE[0]).plot()
    ax.get_figure().savefig(io.BytesIO())
    assert len(legend_texts(ax)) == 6
    assert "_leading" in legend_texts(ax)


def test_dollars_are_not_formulas():
    ax = build.numeric(name=r"$\frac$").plot()
    label = ax.xaxis.label
    assert label._preprocess_math(label.get_text()) == (r"$\frac$", False)
    with mpl.rc_context({"text.parse_math": False}):
        assert build.numeric(name=r"$\frac$").plot().get_xlabel() == r"$\frac$"


def test_under_tex_names_are_escaped():
    with mpl.rc_context({"text.usetex": True}):
        assert drawable("a_b $ 5% {x}")[0] == r"a\_b \$ 5\% \{x\}"


def test_characters_without_a_font_are_spelled_out_and_stay_distinguishable():
    texts = [drawable(c)[0] for c in "\U00016fe4\U0001f9ff"]
    assert len(set(texts)) == 2
    for text in texts:
        assert text.startswith("\\u") or not text.isascii()


def test_characters_of_another_installed_font_borrow_it():
    with mpl.rc_context({"font.family": "cmr10"}):
        text, families = drawable("temperatur \N{DEGREE SIGN} \N{CYRILLIC SMALL LETTER ZHE}")
        assert text == "temperatur \N{DEGREE SIGN} \N{CYRILLIC SMALL LETTER ZHE}"
        assert families[0] == "cmr10"
        assert len(families) > 1


def test_not_finite_values_do_not_break_the_limits():
    from dataclasses import replace

    effect = build.numeric(points=6)
    average = effect.average.copy()
    average[0, 2] = np.nan
    average[0, 3] = np.inf
    ax = replace(effect, average=average, std=None).plot()
    assert np.isfinite(ax.get_ylim()).all()
    ax.get_figure().savefig(io.BytesIO())


def test_times_of_day_do_not_touch_in_small_panels():
    effect = build.numeric(name="hour")
    day = replace(effect, grid=(np.linspace(0, 23, 40),), naming=Naming(units={"hour": "time of day"}))
    figure = plot_many([day, day, day])
    figure.canvas.draw()
    for ax in figure.axes:
        labels = [label for label in ax.get_xticklabels() if label.get_text()]
        assert len(labels) >= 3
        boxes = [label.get_window_extent() for label in labels]
        assert all(a.x1 + 2 < b.x0 for a, b in pairwise(boxes))
    assert len(day.plot(backend="plotly").layout.xaxis.tickvals) == 8
    assert len(plot_many([day, day, day], backend="plotly").layout.xaxis.tickvals) <= 4


def test_words_of_levels_are_not_broken_in_small_panels():
    ports = build.categorical(levels=("Cherbourg", "Queenstown", "Southampton", "light rain or snow"))
    figure = plot_many([ports, build.numeric(), build.numeric(seed=1)])
    texts = ticks(figure.axes[0].xaxis)
    assert texts[:3] == ["Cherbourg", "Queenstown", "Southampton"]
    assert set(texts[3].split()) == {"light", "rain", "or", "snow"}
