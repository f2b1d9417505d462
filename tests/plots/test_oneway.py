"""One feature: what is drawn is what the effect holds."""

from __future__ import annotations

from dataclasses import replace

import effect_builders as build
import numpy as np
import pytest
from artists import drawn, legend_texts, one, ticks

import icefield
from icefield.data.columns import object_array
from icefield.data.naming import Naming


def test_curve_band_and_labels():
    effect = build.numeric()
    ax = effect.plot()
    line = one(ax, "line")
    np.testing.assert_array_equal(line.get_xdata(), effect.grid[0])
    np.testing.assert_array_equal(line.get_ydata(), effect.average[0])
    corners = one(ax, "band").get_paths()[0].vertices
    np.testing.assert_allclose(corners[:, 1].max(), (effect.average + effect.centered_std).max())
    np.testing.assert_allclose(corners[:, 1].min(), (effect.average - effect.centered_std).min())
    assert ax.get_xlabel() == "age"
    assert ax.get_ylabel() == "probability of survived"
    said = one(ax, "note").get_text().replace("\n", " ")
    assert said == (
        "average over 300 rows; band: ± 1 standard deviation of the rows' curves, each around its own mean"
    )
    low, high = ax.get_ylim()
    assert low < (effect.average - effect.centered_std).min()
    assert high > (effect.average + effect.centered_std).max()


def test_by_default_no_band_hides_the_effect():
    effect = replace(build.numeric(), centered_std=None)
    ax = effect.plot()
    assert not drawn(ax, "band")
    assert one(ax, "note").get_text() == "average over 300 rows"
    assert np.ptp(effect.average) > 0.7 * np.ptp(ax.get_ylim())
    ax = effect.plot(band="std")
    top = one(ax, "band").get_paths()[0].vertices[:, 1].max()
    np.testing.assert_allclose(top, (effect.average + effect.std).max())
    assert "band: ± 1 standard deviation of the rows" in one(ax, "note").get_text()


def test_the_band_between_refits_is_drawn():
    ax = replace(build.numeric(), centered_std=None, over="refits", n_rows=5).plot()
    assert one(ax, "note").get_text() == "average over 5 refits; band: ± 1 standard deviation of the refits"


def test_a_band_over_a_sample_says_so():
    ax = replace(build.numeric(), n_rows=24_000).plot()
    assert "of 1,000 sampled rows' curves" in one(ax, "note").get_text().replace("\n", " ").replace(
        "1000", "1,000"
    )


def test_spread_on_request():
    effect = build.numeric()
    ax = effect.plot(band="se")
    top = one(ax, "band").get_paths()[0].vertices[:, 1].max()
    np.testing.assert_allclose(top, (effect.average + 2 * effect.se).max())
    assert "± 2 standard errors" in one(ax, "note").get_text()
    assert drawn(effect.plot(band=None), "band") == []
    both = replace(
        effect, quantiles={0.1: effect.average - 0.2, 0.5: effect.average, 0.9: effect.average + 0.1}
    )
    ax = both.plot()
    corners = one(ax, "band").get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(
        [corners.min(), corners.max()], [(effect.average - 0.2).min(), (effect.average + 0.1).max()]
    )
    assert "10 % to 90 %" in one(ax, "note").get_text()


def test_spread_of_probabilities_stays_between_zero_and_one():
    effect = build.numeric()
    wide = replace(effect, std=np.full_like(effect.std, 2.0), centered_std=np.full_like(effect.std, 2.0))
    corners = one(wide.plot(), "band").get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == (0.0, 1.0)
    corners = one(replace(wide, scale_label="log-odds").plot(), "band").get_paths()[0].vertices[:, 1]
    assert corners.max() > 2


def test_where_the_data_is():
    effect = build.numeric()
    marginal = effect.distribution.marginals[0]
    bars = drawn(effect.plot(), "histogram")
    inside = (marginal.edges[1:] > effect.grid[0][0]) & (marginal.edges[:-1] < effect.grid[0][-1])
    assert len(bars) == inside.sum()
    heights = np.array([b.get_height() for b in bars])
    np.testing.assert_allclose(
        heights / heights.max(), marginal.counts[inside] / marginal.counts[inside].max()
    )
    rug = one(effect.plot(data="rug"), "rug").get_segments()
    kept = marginal.rug[(marginal.rug >= effect.grid[0][0]) & (marginal.rug <= effect.grid[0][-1])]
    np.testing.assert_allclose([s[0][0] for s in rug], kept)
    deciles = one(effect.plot(data="deciles"), "deciles").get_segments()
    assert len(deciles) == 9
    bare = effect.plot(data=None)
    assert drawn(bare, "histogram") + drawn(bare, "rug") == []


def test_no_tick_stands_beside_the_histogram():
    effect = build.numeric()
    ax = effect.plot(band=None)
    ax.get_figure().canvas.draw()
    span = np.ptp(effect.average)
    assert min(ax.get_yticks()) >= effect.average.min() - 0.05 * span


def test_missing_is_a_separate_point():
    effect = build.numeric(missing=True)
    ax = effect.plot()
    line, dot = one(ax, "line"), one(ax, "dots")
    assert len(line.get_xdata()) == len(effect.grid[0]) - 1
    (x, y) = dot.get_offsets()[0]
    assert x > effect.grid[0][-2]
    assert y == effect.average[0, -1]
    assert one(ax, "missing").get_text() == "missing"
    interval = one(ax, "interval").get_segments()[0][:, 1]
    np.testing.assert_allclose(
        interval, effect.average[0, -1] + effect.centered_std[0, -1] * np.array([-1, 1])
    )
    ax.get_figure().canvas.draw()
    assert max(ax.get_xticks()) < x
    assert ax.get_xlim()[1] > x


def test_steps_are_true_steps():
    effect = replace(build.numeric(points=10), steps=True)
    line = one(effect.plot(), "line")
    assert line.get_drawstyle() == "steps-pre"
    np.testing.assert_array_equal(line.get_ydata()[1:], effect.average[0])
    assert line.get_ydata()[0] == effect.average[0, 0]
    assert line.get_xdata()[0] < effect.grid[0][0]


def test_low_support_is_faded():
    effect = build.with_low_support(build.numeric(points=10), np.arange(10) >= 7)
    ax = effect.plot()
    strong, faint = one(ax, "line"), one(ax, "faded")
    np.testing.assert_array_equal(strong.get_xdata(), effect.grid[0][:7])
    np.testing.assert_array_equal(faint.get_xdata(), effect.grid[0][6:])
    assert faint.get_alpha() < 0.5 < strong.get_alpha()
    assert "little data" in one(ax, "note").get_text()


def test_unsorted_grids_are_drawn_from_left_to_right():
    effect = build.numeric(points=5)
    order = np.array([3, 0, 4, 1, 2])
    mixed = replace(effect, grid=(effect.grid[0][order],), average=effect.average[:, order], std=None)
    line = one(mixed.plot(), "line")
    np.testing.assert_array_equal(line.get_xdata(), effect.grid[0])
    np.testing.assert_array_equal(line.get_ydata(), effect.average[0])


def test_centred_and_slope_name_their_view():
    effect = build.ice(n=30)
    assert (
        effect.plot(center=True)
        .get_ylabel()
        .replace("\n", " ")
        .replace("\xa0", " ")
        .startswith("change in probability of survived from age = ")
    )
    centred = effect.plot(center="mean")
    assert "from its mean" in centred.get_ylabel().replace("\n", " ").replace("\xa0", " ")
    assert len(drawn(centred, "rule")) == 1
    slope = effect.plot(derivative=True)
    assert "per unit of age" in slope.get_ylabel().replace("\n", " ")
    np.testing.assert_allclose(one(slope, "line").get_ydata(), effect.derivative().average[0])


def test_slopes_have_units():
    table = build.numeric(outputs=("delay",))
    plain = replace(table, predictions=replace(table.predictions, scale_label="prediction"))
    named = Naming(units={"age": "years"}, target="delay", target_unit="min")
    label = replace(plain, naming=named).derivative().plot().get_ylabel()
    assert label.replace("\n", " ") == "slope of predicted delay (min per\u00a0years)"
    only = replace(plain, naming=Naming(units={"age": "years"})).derivative().plot().get_ylabel()
    assert only.replace("\n", " ") == "slope of prediction per years"


def test_scales_are_named():
    effect = build.numeric(outputs=("cnt",))
    assert replace(effect, scale_label="prediction").plot().get_ylabel() == "prediction"
    assert replace(effect, scale_label="log-odds").plot().get_ylabel() == "log-odds of cnt"
    assert replace(effect, outputs=(1,)).plot().get_ylabel() == "probability of class 1"
    assert "accumulated effect" in replace(effect, kind="ale").plot().get_ylabel()


def test_dates_and_durations():
    ax = build.dated().plot()
    labels = ticks(ax.xaxis)
    assert any("2011" in text or "2012" in text for text in labels)
    effect = build.numeric(points=5)
    hours = (np.arange(5) * 1800).astype("timedelta64[s]")
    ax = replace(effect, grid=(hours,), kinds=("duration",), distribution=None).plot()
    assert ax.get_xlabel() == "age (hours)"
    np.testing.assert_allclose(one(ax, "line").get_xdata(), np.arange(5) / 2)


def test_integers_get_whole_ticks():
    effect = build.numeric(points=4)
    ax = replace(effect, grid=(np.arange(4),), kinds=("integer",), distribution=None).plot()
    ax.get_figure().canvas.draw()
    assert all(t == round(t) for t in ax.get_xticks())
    assert one(ax, "line").get_marker() == "o"


def test_integers_with_a_missing_point_in_an_object_grid():
    effect = build.numeric(points=4, missing=True)
    grid = object_array([1, 2, 3, 4, None])
    ax = replace(effect, grid=(grid,), kinds=("integer",), distribution=None).plot()
    assert one(ax, "line").get_xdata().tolist() == [1, 2, 3, 4]
    assert one(ax, "missing").get_text() == "missing"


def test_a_constant_and_a_single_point():
    effect = build.numeric(points=5)
    flat = replace(effect, average=np.full((1, 5), 0.25), std=None)
    low, high = flat.plot().get_ylim()
    assert low < 0.25 < high
    single = replace(
        effect, grid=(effect.grid[0][:1],), average=effect.average[:, :1], std=None, se=None, weight=None
    )
    assert one(single.plot(), "line").get_xdata().tolist() == [effect.grid[0][0]]


# --- levels ----------------------------------------------------------------------------------------


def test_levels_as_dots_with_counts():
    effect = build.categorical()
    ax = effect.plot()
    offsets = one(ax, "dots").get_offsets()
    assert offsets[:, 0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(offsets[:, 1], effect.average[0])
    names = [f"{level}\n{count:.0f}" for level, count in zip(("first", "second", "third"), effect.weight)]
    assert ticks(ax.xaxis) == names
    segments = one(ax, "interval").get_segments()
    half = effect.centered_std[0, 1]
    np.testing.assert_allclose(segments[1][:, 1], effect.average[0, 1] + half * np.array([-1, 1]))


def test_levels_as_bars_start_at_zero():
    effect = build.categorical()
    ax = effect.plot(kind="bars", band=None)
    bars = drawn(ax, "bar")
    np.testing.assert_allclose([b.get_height() for b in bars], effect.average[0])
    assert ax.get_ylim()[0] == 0


def test_levels_that_begin_and_end_alike_keep_what_tells_them_apart():
    levels = [
        f"Municipality of the honourable {name} in the county of somewhere else" for name in "abcdefghij"
    ]
    ax = build.categorical(levels=levels, n=900).plot()
    texts = ticks(ax.yaxis)
    assert len(set(texts)) == 10
    assert texts == [f"…{name}…" for name in "abcdefghij"]
    note = " ".join(one(ax, "note").get_text().split("\n"))
    assert "levels: Municipality of the honourable … in the county of somewhere else" in note
    figure = ax.get_figure()
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_levels_that_words_name_are_drawn_however_rare():
    levels = tuple(f"level {i}" for i in range(60))
    effect = build.categorical(levels=levels)
    highest, lowest = effect.average[0].argmax(), effect.average[0].argmin()
    weight = np.full(60, 100.0)
    weight[[highest, lowest, 17]] = 1.0
    effect = replace(effect, weight=weight)
    assert effect.reading.high_at == levels[highest]
    for drawn_effect, named in ((effect, ()), (effect.center(levels[17]), (17,))):
        texts = ticks(drawn_effect.plot().yaxis)
        assert len(texts) == 26
        for level in (highest, lowest, *named):
            assert levels[level] in texts
    assert ticks(effect.plot(top=3, sort="level").xaxis)[0].startswith(
        "level 0"
    )  # so few are only the most frequent


def test_groups_of_levels_differ_in_their_markers_too():
    labels = tuple("abcdefghi")
    ax = build.grouped(build=build.categorical, labels=labels).plot()
    looks = [
        (tuple(dots.get_facecolors()[0]), dots.get_paths()[0].vertices.tobytes())
        for dots in drawn(ax, "dots")
    ]
    assert len(set(looks)) == 9
    bars = build.grouped(build=build.categorical, labels=labels).plot(kind="bars")
    looks = [(bar.get_facecolor(), bar.get_hatch()) for bar in drawn(bars, "bar")[::3]]
    assert len(set(looks)) == 9
    figure = build.grouped(build=build.categorical, labels=labels).plot(backend="plotly")
    assert len({(t.marker.color, t.marker.symbol) for t in figure.data if t.mode == "markers"}) == 9


def test_levels_sorted_by_name():
    effect = build.categorical(levels=("level 10", "level 9", "Alpha", "beta"))
    texts = [text.split("\n")[0] for text in ticks(effect.plot(sort="name").xaxis)]
    assert texts == ["Alpha", "beta", "level 9", "level 10"]


def test_levels_sorted_by_value_and_by_count():
    effect = build.categorical(levels=tuple("abcde"))
    values = one(effect.plot(sort="value"), "dots").get_offsets()[:, 1]
    assert (np.diff(values) <= 0).all()
    labels = ticks(effect.plot(sort="count").xaxis)
    counts = [float(text.split("\n")[1]) for text in labels]
    assert counts == sorted(effect.weight, reverse=True)


def test_rare_levels_are_drawn_as_one():
    effect = build.categorical(levels=tuple("abcdefgh"))
    ax = effect.plot(top=3, band=None)
    offsets = one(ax, "dots").get_offsets()
    assert len(offsets) == 4
    frequent = np.sort(np.argsort(-effect.weight, kind="stable")[:3])
    rest = np.setdiff1d(np.arange(8), frequent)
    np.testing.assert_array_equal(offsets[:3, 1], effect.average[0, frequent])
    np.testing.assert_allclose(
        offsets[3, 1], np.average(effect.average[0, rest], weights=effect.weight[rest])
    )
    assert ticks(ax.xaxis)[-1] == f"5 others\n{effect.weight[rest].sum():.0f}"
    ends = one(ax, "interval").get_segments()[-1][:, 1]
    np.testing.assert_allclose(ends, [effect.average[0, rest].min(), effect.average[0, rest].max()])


def test_many_levels_are_listed_down_the_side_and_collapsed():
    effect = build.categorical(levels=[f"level {i}" for i in range(60)])
    ax = effect.plot()
    offsets = one(ax, "dots").get_offsets()
    assert len(offsets) == 26
    assert offsets[:, 1].tolist() == list(range(26))
    assert ax.yaxis_inverted()
    assert ticks(ax.yaxis)[-1] == "35 others"
    assert ax.get_ylabel() == "class"
    assert ax.get_xlabel() == "probability of survived"
    assert len(drawn(ax, "count")) == 26


def test_missing_level_comes_last_and_is_told_from_a_level_of_that_name():
    effect = build.categorical(levels=("missing", "here"), missing=True)
    labels = [t.split("\n")[0] for t in ticks(effect.plot().xaxis)]
    assert labels == ["missing", "here", "missing"]
    np.testing.assert_array_equal(one(effect.plot(), "dots").get_offsets()[:, 1], effect.average[0])


def test_booleans_are_levels():
    effect = replace(
        build.categorical(levels=("x", "y")), grid=(np.array([False, True]),), kinds=("boolean",)
    )
    assert [t.split("\n")[0] for t in ticks(effect.plot().xaxis)] == ["False", "True"]


def test_numbers_as_bars_are_levels_in_order():
    effect = build.numeric(points=4, missing=True)
    ax = replace(effect, grid=(np.array([3.0, 1.0, 2.0, 4.0, np.nan]),)).plot(
        kind="bars", data=None, band=None
    )
    assert ticks(ax.xaxis) == ["1", "2", "3", "4", "missing"]
    heights = [b.get_height() for b in drawn(ax, "bar")]
    np.testing.assert_allclose(heights, effect.average[0][[1, 2, 0, 3, 4]])


def test_low_support_levels_are_faded():
    effect = build.with_low_support(build.categorical(), [False, True, False])
    assert one(effect.plot(), "dots").get_alpha().tolist() == [1.0, 0.3, 1.0]


def test_several_series_stand_beside_each_other():
    effect = build.categorical(outputs=("a", "b"))
    ax = effect.plot(kind="bars", band=None)
    bars = drawn(ax, "bar")
    first, second = bars[:3], bars[3:]
    assert all(b.get_x() + b.get_width() <= c.get_x() + 1e-9 for b, c in zip(first, second))
    assert legend_texts(ax) == ["a", "b"]


def test_where_rows_respond_alike_the_picture_says_that_there_is_no_band():
    for effect, what in ((build.numeric(), "band"), (build.categorical(), "lines")):
        alike = replace(
            effect, spread=replace(effect.spread, centered_std=np.full_like(effect.average, 1e-4))
        )
        said = " ".join(one(alike.plot(), "note").get_text().split("\n"))
        assert f"no {what}: the rows' curves run parallel" in said
        assert "standard deviation" not in said
        assert "run parallel" not in one(effect.plot(), "note").get_text()
        flat = replace(effect, average=np.full_like(effect.average, 0.5))
        assert "run parallel" not in one(flat.plot(), "note").get_text()


def skewed(curve, **options):
    """A positive feature with a long tail, the curve a function of it, drawn."""
    values = np.random.default_rng(0).lognormal(6, 1.2, 4000)
    ex = icefield.Explainer(lambda rows: curve(rows[:, 0]), values[:, None])
    return values, ex.partial_dependence(0).plot(**options)


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_an_axis_begins_at_the_smallest_value_and_ends_where_most_rows_are(backend):
    values, drawn_in = skewed(lambda v: np.exp(-v / 200), backend=backend)
    if backend == "plotly":
        (low, high), label = drawn_in.layout.xaxis.range, drawn_in.layout.xaxis.title.text
    else:
        (low, high), label = drawn_in.get_xlim(), drawn_in.get_xlabel()
    assert low == values.min()
    assert np.quantile(values, 0.98) < high < values.max() / 2
    assert "% of rows beyond, flat up to" in " ".join(label.replace("<br>", " ").split())


def test_a_tail_along_which_the_curve_moves_is_drawn():
    values, ax = skewed(np.log)
    assert ax.get_xlim()[1] > values.max()
    assert "beyond" not in ax.get_xlabel()
    values, ax = skewed(lambda v: np.exp(-v / 200), x_scale="linear")
    assert ax.get_xlim()[1] > values.max()
