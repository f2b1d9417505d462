"""Pictures at the width of a column, and what small rooms ask for; a layout that collapses is a warning, and so an error here."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations, pairwise

import effect_builders as build
import matplotlib.pyplot as plt
import numpy as np
import pytest
from artists import drawn, ticks
from matplotlib.colors import to_hex
from matplotlib.text import Text

import icefield
from icefield.plots import (
    plot_comparison,
    plot_importance,
    plot_interactions,
    plot_many,
    plot_pd_ale,
    plot_regions,
)
from icefield.plots.palette import ON_LIGHT

COLUMN = (3.3, 2.5)
LONG = tuple(
    f"municipality of {place}" for place in ("Alby", "Bernholm", "Dalmora", "Esnäs", "Falryd", "Gottorp")
)


def figure_of(picture):
    return picture if hasattr(picture, "savefig") else picture.get_figure()


SIZES = {"3.3": COLUMN, "5": (5.0, 3.6), "7": (7.0, 4.4), "slide": (11.0, 6.2)}
SLIDE = {"font.size": 18}
SIX = tuple("abcdef")
THREE = ("setosa", "versicolor", "virginica")
PAIRS = {("age", "fare"): 0.2, ("age", "sex"): 0.1, ("fare", "sex"): 0.3}


def models():
    return {"boosting": build.numeric(), "forest": build.numeric(seed=1)}


ROWS = np.random.default_rng(0).normal(size=(100, 3))
TABLE = icefield.Explainer(
    lambda rows: 2e5 * rows[:, 0] + 3e4 * rows[:, 1], ROWS, 1e5 * ROWS[:, 0]
).importance()

HOURS = icefield.Explainer(
    lambda rows: 100 * np.sin(rows[:, 0] / 4),
    np.tile(np.arange(24.0), 5)[:, None],
    units={0: "time of day", "rentals": "per hour"},
    target_name="rentals",
    row_by_row=True,
)

DRAWN = {
    "curve": lambda **o: build.numeric().plot(title="Who survived", **o),
    "curve, quantiles": lambda **o: replace(build.numeric(), quantiles={q: build.numeric().average + q - 0.5 for q in (0.1, 0.9)}).plot(**o),
    "curve, rug": lambda **o: build.numeric().plot(band="std", data="rug", **o),
    "curve, deciles": lambda **o: build.numeric().plot(band="se", data="deciles", **o),
    "missing": lambda **o: build.numeric(missing=True).plot(**o),
    "dates": lambda **o: build.dated().plot(**o),
    "skewed": lambda **o: build.skewed().plot(**o),
    "levels": lambda **o: build.categorical(levels=LONG).plot(**o),
    "levels, bars": lambda **o: build.categorical(levels=LONG).plot(kind="bars", **o),
    "sixty levels": lambda **o: build.categorical(levels=tuple(f"place {i}" for i in range(60))).plot(**o),
    "ice": lambda **o: build.ice().plot(highlight=[0, 1], **o),
    "ice, centred": lambda **o: build.ice().plot(center=True, color_by="fare", **o),
    "ice, density": lambda **o: build.ice().plot(curves="density", **o),
    "ice, slopes": lambda **o: build.ice().plot(derivative=True, **o),
    "groups": lambda **o: build.grouped().plot(**o),
    "groups, side": lambda **o: build.grouped(labels=SIX).plot(layout="side", **o),
    "surface": lambda **o: build.surface().plot(**o),
    "heat map": lambda **o: build.surface().plot(kind="heatmap", **o),
    "lines": lambda **o: build.surface().plot(kind="lines", **o),
    "interaction": lambda **o: build.surface().plot(interaction=True, **o),
    "number by category": lambda **o: build.mixed_surface().plot(**o),
    "levels by levels": lambda **o: build.crossed_levels().plot(**o),
    "classes": lambda **o: build.numeric(outputs=THREE).plot(band=None, **o),
    "classes, side": lambda **o: build.ice(outputs=("a", "b", "c")).plot(**o),
    "models": lambda **o: plot_comparison(models(), **o),
    "many": lambda **o: plot_many([build.numeric(), build.categorical(), build.dated(), build.numeric(name="fare")], **o),
    "importance": lambda **o: plot_importance({f"feature {i}": i / 10 for i in range(8)}, **o),
    "importance, measures": lambda **o: TABLE.plot(["importance", "disagreement", "permutation"], **o),
    "interactions": lambda **o: plot_interactions(PAIRS, **o),
    "pd and ale": lambda **o: plot_pd_ale(build.numeric(), build.numeric(kind="ale"), **o),
    "times of day, a long label and a long legend": lambda **o: plot_pd_ale(HOURS.partial_dependence(0), HOURS.ale(0), **o),
    "regions": lambda **o: plot_regions(build.numeric(), {f"fare <= {i}0": build.numeric(seed=i) for i in (1, 2, 3)}, **o),
}  # fmt: skip
EVERY_SIZE = [
    pytest.param(name, size, marks=() if size == "3.3" else pytest.mark.look)
    for name in DRAWN
    for size in SIZES
]


@lru_cache(len(DRAWN))
def drawn_at(name, size):
    """The picture's figure with everything in its place; those of one size are drawn once."""
    with plt.rc_context(SLIDE if size == "slide" else {}):
        figure = figure_of(DRAWN[name](figsize=SIZES[size]))
        figure.canvas.draw()
    return figure


def words_of(figure):
    """Every text that is seen, with its box in pixels."""
    axes = figure.findobj(lambda artist: hasattr(artist, "get_xticklabels"), include_self=False)
    sides = [axis for ax in axes for axis in (ax.xaxis, ax.yaxis)]
    shown = [axis for axis in sides if axis.axes.axison]
    of_ticks = {id(text) for axis in sides for text in axis.findobj(Text)} - {
        id(axis.label) for axis in sides
    }
    texts = [text for text in figure.findobj(Text) if id(text) not in of_ticks]
    for axis in shown:  # of which matplotlib keeps some beyond the ends
        texts += [text for tick in axis._update_ticks() for text in (tick.label1, tick.label2)]
    seen = [text for text in texts if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent()) for text in seen]


@pytest.mark.parametrize(("name", "size"), EVERY_SIZE)
def test_every_kind_fits_every_size(name, size):
    figure = drawn_at(name, size)
    words = words_of(figure)
    for (a, first), (b, second) in combinations(words, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        up = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert min(across, up) <= 1.5, (a, b)  # pixels: boxes of letters have some air
    outside = [text for text, box in words if not figure.bbox.padded(2).fully_containsx(box.x0)
               or not figure.bbox.padded(2).fully_containsx(box.x1) or not figure.bbox.padded(2).fully_containsy(box.y0)
               or not figure.bbox.padded(2).fully_containsy(box.y1)]  # fmt: skip
    assert outside == []


@pytest.mark.parametrize("name", DRAWN)
def test_a_column_leaves_room_for_the_data(name):
    figure = drawn_at(name, "3.3")
    boxes = [ax.get_window_extent() for ax in figure.axes]
    wide, high = figure.bbox.width, figure.bbox.height
    assert sum(box.width * box.height for box in boxes) > 0.2 * wide * high
    assert min(box.width for box in boxes) > 0.2 * wide
    words = [text for ax in figure.axes for text in (*ax.get_xticklabels(), ax.xaxis.label, ax.yaxis.label)]
    assert all(text.get_fontsize() <= 8.5 for text in words)


def test_a_column_says_what_its_band_is():
    (note,) = drawn(build.numeric().plot(figsize=COLUMN), "note")
    assert note.get_text() == "band: ± 1 SD of centred ICE curves"
    assert "each around its own mean" in " ".join(drawn(build.numeric().plot(), "note")[0].get_text().split())


@pytest.mark.parametrize("name", ["curve", "levels", "groups"])
def test_numbers_below_a_narrow_axes_do_not_touch(name):
    figure = drawn_at(name, "3.3")
    for ax in figure.axes:
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        low, high = ax.get_window_extent().extents[[0, 2]]
        seen = sorted((b for b in boxes if low - 1 <= (b.x0 + b.x1) / 2 <= high + 1), key=lambda b: b.x0)
        assert all(a.x1 < b.x0 for a, b in pairwise(seen))


def test_a_narrow_legend_stands_below_the_curves():
    ax = build.grouped().plot(figsize=COLUMN)
    figure = ax.get_figure()
    figure.canvas.draw()
    (legend,) = figure.legends
    assert legend.get_window_extent().y1 <= ax.get_window_extent().y0
    assert ax.get_window_extent().width > 0.7 * figure.bbox.width
    wide = build.grouped().plot()
    assert wide.get_figure().legends == []
    assert wide.get_legend() is not None


def test_long_levels_are_listed_beside_a_narrow_curve():
    ax = build.categorical(levels=LONG[:3]).plot(figsize=COLUMN)
    assert len(ticks(ax.yaxis)) == 3
    assert any("Alby" in text for text in ticks(ax.yaxis))


def test_a_given_size_is_kept_and_panels_are_arranged_for_it():
    figure = build.ice(outputs=("a", "b", "c")).plot(figsize=COLUMN)
    assert tuple(figure.get_size_inches()) == COLUMN
    lefts = {round(ax.get_position().x0, 2) for ax in figure.axes}
    assert len(lefts) == 2  # two to a row, not three
    named = [ax.get_xlabel() for ax in figure.axes]
    assert named.count("") == len(named) - len(lefts)  # once a column


def test_large_print_that_the_user_chose_for_wide_figures_stays():
    with plt.rc_context({"font.size": 16}):
        wide = build.numeric().plot(figsize=(7, 4))
        assert wide.xaxis.label.get_fontsize() == 16
    with plt.rc_context({"font.size": 6}):
        assert build.numeric().plot(figsize=COLUMN).xaxis.label.get_fontsize() == 6


def test_two_valued_numbers_are_dots_and_other_grids_of_two_are_not():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 100).astype(float), rng.normal(size=100)])
    ex = icefield.Explainer(lambda rows: rows[:, 0] + rows[:, 1], X)
    ax = ex.partial_dependence(0).plot()
    assert len(drawn(ax, "dots")) == 1
    assert drawn(ax, "line") == []
    assert drawn(ex.partial_dependence(0).plot(kind="line"), "dots") == []
    assert drawn(ex.partial_dependence(1, grid=[-1.0, 1.0]).plot(), "line") != []
    figure = ex.partial_dependence(0).plot(backend="plotly")
    assert any(trace.mode == "markers" for trace in figure.data)


def test_many_levels_without_an_order_are_sorted_by_their_effect():
    few, many = build.categorical(levels=tuple("abcdef")), build.categorical(levels=tuple("abcdefghijklmnop"))
    assert [text[0] for text in ticks(few.plot().xaxis)] == list("abcdef")
    order = np.argsort(-many.average[0], kind="stable")
    assert ticks(many.plot().yaxis) == ["abcdefghijklmnop"[i] for i in order]
    assert ticks(many.plot(sort="level").yaxis) == list("abcdefghijklmnop")


def test_only_a_stretch_without_data_is_faint_and_all_of_a_curve_is_said():
    effect = build.numeric()
    low = np.zeros(effect.average.shape[1:], dtype=bool)
    low[-10:] = True
    some = build.with_low_support(effect, low).plot()
    assert len(drawn(some, "line")) == len(drawn(some, "faded")) == 1
    everything = build.with_low_support(effect, np.ones_like(low)).plot()
    assert len(drawn(everything, "line")) == 1
    assert drawn(everything, "faded") == []
    assert any("little data behind all of it" in text.get_text() for text in drawn(everything, "note"))


def band_values(effect, band, backend):
    shown = effect.plot(band=band, backend=backend)
    if backend == "plotly":
        return np.concatenate([np.asarray(t.y, dtype=float) for t in shown.data if t.fill])
    return np.concatenate([path.vertices[:, 1] for b in drawn(shown, "band") for path in b.get_paths()])


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
@pytest.mark.parametrize("band", ["centered", "std", "se"])
def test_bands_stay_inside_the_range_of_what_is_predicted(backend, band):
    effect = build.numeric()
    wide = replace(effect, std=np.full_like(effect.std, 2.0), se=np.full_like(effect.std, 2.0),
                   centered_std=np.full_like(effect.std, 2.0))  # fmt: skip
    values = band_values(wide, band, backend)
    assert values.min() >= 0
    assert values.max() <= 1
    rate = replace(wide, scale_label="prediction", positive=True)
    values = band_values(rate, band, backend)
    assert values.min() >= 0
    assert values.max() > 1
    assert band_values(replace(rate, positive=False), band, backend).min() < 0  # where no range is known


def test_ale_has_a_colour_that_no_second_group_has():
    pd, ale = build.numeric(), build.numeric(kind="ale")
    ale_line = drawn(plot_pd_ale(pd, ale), "line")[-1]
    assert to_hex(ale_line.get_color()).upper() not in ON_LIGHT[:2]


def test_the_matrix_has_numbers_and_its_diagonal_stands_apart():
    ax = (
        icefield.Explainer(
            lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], np.random.default_rng(0).normal(size=(60, 3))
        )
        .interactions()
        .plot()
    )
    assert len(drawn(ax, "value")) == 3  # pairs only
    assert len(drawn(ax, "count")) == 3  # a feature with all others
    assert ax.child_axes == []  # no colour bar beside numbers
