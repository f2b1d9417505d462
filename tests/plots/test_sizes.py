"""Pictures at the width of a column, and what small rooms ask for; a layout that collapses is a warning, and so an error here."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import effect_builders as build
import matplotlib.pyplot as plt
import numpy as np
import pytest
from artists import drawn, ticks
from matplotlib.colors import to_hex

import icefield
from icefield.plots import plot_importance, plot_interactions, plot_many, plot_pd_ale
from icefield.plots.palette import ON_LIGHT

COLUMN = (3.3, 2.5)
LONG = tuple(
    f"municipality of {place}" for place in ("Alby", "Bernholm", "Dalmora", "Esnäs", "Falryd", "Gottorp")
)


def figure_of(picture):
    return picture if hasattr(picture, "savefig") else picture.get_figure()


DRAWN = {
    "curve": lambda: build.numeric().plot(figsize=COLUMN, title="Who survived"),
    "levels": lambda: build.categorical(levels=LONG).plot(figsize=COLUMN),
    "sixty levels": lambda: build.categorical(levels=tuple(f"place {i}" for i in range(60))).plot(figsize=COLUMN),
    "groups": lambda: build.grouped().plot(figsize=COLUMN),
    "groups, side": lambda: build.grouped(labels=tuple("abcdef")).plot(layout="side", figsize=COLUMN),
    "surface": lambda: build.surface().plot(figsize=COLUMN),
    "classes": lambda: build.ice(outputs=("a", "b", "c")).plot(figsize=COLUMN),
    "many": lambda: plot_many([build.numeric(), build.categorical(), build.numeric(name="fare")], figsize=COLUMN),
    "importance": lambda: plot_importance({f"feature {i}": i / 10 for i in range(8)}, figsize=COLUMN),
    "interactions": lambda: plot_interactions({("age", "fare"): 0.2, ("age", "sex"): 0.1, ("fare", "sex"): 0.3}, figsize=COLUMN),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_a_column_leaves_room_for_the_data(name):
    figure = figure_of(DRAWN[name]())
    figure.canvas.draw()
    boxes = [ax.get_window_extent() for ax in figure.axes]
    wide, high = figure.bbox.width, figure.bbox.height
    assert sum(box.width * box.height for box in boxes) > 0.2 * wide * high
    assert min(box.width for box in boxes) > 0.2 * wide
    words = [text for ax in figure.axes for text in (*ax.get_xticklabels(), ax.xaxis.label, ax.yaxis.label)]
    assert all(text.get_fontsize() <= 8.5 for text in words)


@pytest.mark.parametrize("name", ["curve", "levels", "groups"])
def test_numbers_below_a_narrow_axes_do_not_touch(name):
    figure = figure_of(DRAWN[name]())
    figure.canvas.draw()
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
