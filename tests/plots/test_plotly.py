"""Plotly figures by structure, and one of them in a real browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import effect_builders as build
import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from icefield.plots import (
    plot_comparison,
    plot_importance,
    plot_interactions,
    plot_many,
    plot_pd_ale,
    plot_regions,
)
from icefield.plots.summaries import around_mean

HOSTILE = [
    "<b>bold</b>",
    "</script><script>window.hit=1</script>",
    r"$\frac$",
    "",
    "x" * 300,
    "%{x}",
    "_a",
    "東京",
]


def plotted(effect, **options):
    figure = effect.plot(backend="plotly", **options)
    assert isinstance(figure, go.Figure)
    json.loads(figure.to_json())
    return figure


def lines(figure):
    return [
        t
        for t in figure.data
        if t.mode in ("lines", "lines+markers") and t.fill is None and t.hoverinfo == "text"
    ]


def shapes(figure, name):
    return [s for s in figure.layout.shapes if s.name == name]


def texts(figure):
    return [a.text for a in figure.layout.annotations]


def test_curve_band_histogram_and_labels():
    effect = build.numeric()
    figure = plotted(effect)
    (line,) = lines(figure)
    np.testing.assert_array_equal(line.x, effect.grid[0])
    np.testing.assert_array_equal(line.y, effect.average[0])
    (band,) = [t for t in figure.data if t.fill == "toself"]
    np.testing.assert_allclose(max(band.y), (effect.average + effect.centered_std).max())
    assert figure.layout.xaxis.title.text == "age"
    assert figure.layout.yaxis.title.text == "probability of survived"
    (strip,) = shapes(figure, "histogram")
    assert (strip.xref, strip.yref) == ("x", "y domain")
    assert strip.path.count("M") > 5
    assert "average over 300 rows" in texts(figure)[0]
    assert line.text[0].startswith("age: ")


def test_both_backends_show_the_same_range():
    effect = build.numeric(missing=True)
    ax = effect.plot()
    layout = plotted(effect).layout
    np.testing.assert_allclose(layout.xaxis.range, ax.get_xlim())
    np.testing.assert_allclose(layout.yaxis.range, ax.get_ylim())


def test_missing_point_has_a_tick():
    effect = build.numeric(missing=True)
    figure = plotted(effect)
    assert figure.layout.xaxis.ticktext[-1] == "missing"
    dot = next(t for t in figure.data if t.mode == "markers")
    assert dot.y[0] == effect.average[0, -1]
    assert dot.x[0] == figure.layout.xaxis.tickvals[-1]


def test_steps_and_faded_stretches():
    stepped = plotted(replace(build.numeric(points=8), steps=True))
    assert lines(stepped)[0].line.shape == "vh"
    low = build.with_low_support(build.numeric(points=10), np.arange(10) >= 7)
    strong, faint = lines(plotted(low))
    assert (strong.opacity, faint.opacity) == (1.0, 0.3)
    np.testing.assert_array_equal(faint.x, low.grid[0][6:])


def test_dates_are_dates():
    effect = build.dated()
    figure = plotted(effect)
    assert figure.layout.xaxis.type == "date"
    got = np.array(lines(figure)[0].x, dtype="datetime64[D]")
    assert got.tolist() == effect.grid[0].tolist()


def test_curves_are_dealt_into_few_traces():
    effect = build.ice(n=60)
    figure = plotted(effect)
    curves = [t for t in figure.data if t.name == "curves"]
    assert 1 < len(curves) <= 24
    heights = np.concatenate([np.asarray(t.y) for t in curves])
    assert np.isnan(heights).sum() == 60
    np.testing.assert_allclose(
        np.sort(heights[np.isfinite(heights)]), np.sort(effect.individual[0].ravel()), rtol=1e-6
    )


def test_thousands_of_curves_are_sampled_for_the_browser():
    figure = plotted(build.ice(n=1500, points=10))
    drawn = sum(np.isnan(np.asarray(t.y)).sum() for t in figure.data if t.name == "curves")
    assert drawn == 300
    assert "300 of 1500 curves, sampled" in texts(figure)[0]


def test_coloured_curves_bring_a_colour_bar_or_a_legend():
    figure = plotted(build.ice(n=60), color_by="fare")
    assert figure.layout.coloraxis.colorbar.title.text == "fare"
    assert len({t.line.color for t in figure.data if t.name == "curves"}) > 5
    figure = plotted(build.ice(n=60), color_by="sex", highlight=3)
    assert [t.name for t in figure.data if t.showlegend] == ["female", "male", "average", "row 3"]
    assert figure.layout.legend.title.text == "sex"


def test_levels_dots_bars_and_counts():
    effect = build.categorical()
    figure = plotted(effect)
    (dots,) = figure.data
    np.testing.assert_array_equal(dots.y, effect.average[0])
    np.testing.assert_allclose(dots.error_y.array, effect.centered_std[0])
    assert list(figure.layout.xaxis.ticktext) == [
        f"{level}<br>{n:.0f}" for level, n in zip(effect.grid[0], effect.weight)
    ]
    (bars,) = plotted(effect, kind="bars", band=None).data
    assert bars.type == "bar"
    many = plotted(build.categorical(levels=[f"level {i}" for i in range(60)]))
    assert many.layout.yaxis.range[0] > many.layout.yaxis.range[1]
    assert "35 others" in many.layout.yaxis.ticktext


def test_surfaces():
    effect = build.surface(points=(6, 5))
    contour = plotted(effect).data[0]
    assert contour.type == "contour"
    assert np.isnan(np.array(contour.z, dtype=float)).any()
    heat = plotted(effect, kind="heatmap", mask=None).data[0]
    np.testing.assert_array_equal(heat.z, effect.average[0].T)
    assert len(heat.x) == 7
    solid = plotted(effect, kind="surface")
    np.testing.assert_array_equal(solid.data[0].z, effect.average[0].T)
    assert solid.layout.scene.xaxis.title.text == "age"
    figure = plotted(effect)
    assert figure.layout.coloraxis.colorbar.title.text == "probability of survived"
    assert {s.name for s in figure.layout.shapes} == {"margin-top", "margin-right"}
    pure = plotted(effect, interaction=True)
    assert pure.layout.coloraxis.cmin == -pure.layout.coloraxis.cmax


def test_groups_outputs_and_models():
    figure = plotted(build.grouped())
    assert [t.name for t in lines(figure)] == ["female", "male"]
    assert figure.layout.legend.title.text == "sex"
    figure = plotted(build.grouped(outputs=("a", "b", "c")))
    assert len({t.xaxis for t in figure.data}) == 3
    assert [t.name for t in figure.data if t.showlegend] == ["female", "male"]
    assert figure.layout.yaxis2.matches is not None
    figure = plot_comparison({"m": build.numeric(), "k": build.numeric(seed=1)}, backend="plotly")
    assert [t.name for t in lines(figure)] == ["m", "k"]


def test_small_multiples_and_summaries():
    figure = plot_many([build.numeric(name="age"), build.categorical()], backend="plotly")
    assert figure.layout.xaxis2.title.text == "class"
    assert figure.layout.yaxis2.showticklabels is False
    bars = plot_importance({"a": 1.0, "b": 2.0}, backend="plotly")
    assert list(bars.layout.yaxis.ticktext) == ["b", "a"]
    matrix = plot_interactions({("a", "b"): 0.5, ("a", "c"): 0.2}, backend="plotly")
    assert matrix.data[0].type == "heatmap"
    pd = build.numeric()
    both = plot_pd_ale(pd, replace(around_mean(pd), kind="ale", view="level"), backend="plotly")
    assert [t.line.dash for t in lines(both)] == [None, "6px,3px"]
    regions = plot_regions(pd, {"a": pd, "b": pd}, backend="plotly")
    assert len([t for t in texts(regions) if "rows" in t]) == 2


def test_the_users_template_rules():
    before = plotly.io.templates.default
    try:
        plotly.io.templates.default = "plotly_dark"
        dark = lines(plotted(build.numeric()))[0].line.color
        plotly.io.templates.default = "ggplot2"
        other = lines(plotted(build.numeric()))[0].line.color
    finally:
        plotly.io.templates.default = before
    light = lines(plotted(build.numeric()))[0].line.color
    assert len({dark, other, light}) == 3
    assert other == plotly.io.templates["ggplot2"].layout.colorway[0]


def all_texts(node):
    """Every string of a figure that plotly would read as text with markup."""
    if isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, str) and key in ("text", "name", "hovertemplate", "texttemplate"):
                yield value
            elif key in ("text", "hovertext", "ticktext") and isinstance(value, (list, tuple)):
                yield from (v for v in value if isinstance(v, str))
            else:
                yield from all_texts(value)
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from all_texts(value)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_text(name):
    effects = [
        build.numeric(name=name, outputs=(name,)).plot(backend="plotly", title=name),
        build.categorical(levels=HOSTILE, name=name, outputs=HOSTILE[:3]).plot(backend="plotly"),
        build.grouped(labels=HOSTILE, by=name).plot(backend="plotly"),
        build.surface(names=(name, name + "2"), points=(4, 4)).plot(backend="plotly"),
    ]
    for figure in effects:
        data = json.loads(figure.to_json())
        found = list(all_texts(data))
        assert found
        for text in found:
            tags = set(re.findall(r"<[^>]*>", text)) - {"<br>", "<extra>", "</extra>"}
            assert not tags, text
            assert "$" not in text


# --- in a browser ----------------------------------------------------------------------------------


def test_a_figure_renders_in_a_browser(browser, tmp_path):
    names = ["<b>bold</b>", "</script><script>document.title='hit'</script>"]
    figure = build.grouped(labels=names, by="$by$", missing=True).plot(backend="plotly", title="Rendered <i>")
    page = tmp_path / "figure.html"
    figure.write_html(page)
    browser.look()
    browser.visit(page.as_uri())
    browser.wait("document.querySelector('.main-svg .legendtext')")
    dom = browser.run("document.documentElement.outerHTML")
    drawing = dom[dom.index('class="main-svg"') :]
    assert drawing.count('class="js-line"') >= 2
    assert "legendtext" in drawing
    legend = re.findall(r'class="legendtext"[^>]*>(.*?)</text>', drawing, re.S)
    shown = " ".join(re.sub(r"<tspan[^>]*>|</tspan>", " ", text) for text in legend)
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown
    assert "<title>hit</title>" not in dom
    assert "Rendered &lt;i&gt;" in drawing
    assert ">missing<" in drawing


def test_labels_of_a_surface_in_space_stay_apart():
    names = ("a feature of a rather long name", "another one with a unit (km)")
    scene = build.surface(names=names).plot(backend="plotly", kind="surface").layout.scene
    for axis in (scene.xaxis, scene.yaxis, scene.zaxis):
        assert 2 <= len(axis.tickvals) <= 6
        assert len(axis.ticktext) == len(axis.tickvals)
    low, high = build.surface().grid[0][[0, -1]]
    assert low + 0.05 * (high - low) < min(scene.xaxis.tickvals)
    assert max(scene.xaxis.tickvals) < high - 0.05 * (high - low)
    assert max(len(line) for line in scene.xaxis.title.text.split("<br>")) <= 24


def test_labels_of_panels_side_by_side_are_broken_to_their_width():
    columns = {
        "feature": np.array(["a", "b"], dtype=object), "importance": np.array([2.0, 1.0]),
        "heterogeneity": np.array([0.5, 0.1]), "permutation": np.array([1.0, 3.0]), "permutation_std": np.array([0.1, 0.2]),
    }  # fmt: skip
    table = SimpleNamespace(columns=columns, measure="movement", effects={})
    figure = plot_importance(table, ["importance", "disagreement", "permutation"], backend="plotly")
    titles = [axis.title.text for axis in figure.select_xaxes()]
    assert len(titles) == 3
    assert all(len(line) <= 24 for title in titles for line in title.split("<br>"))


def test_listed_levels_are_smaller_or_fewer_where_the_figure_is_low():
    levels = [f"Municipality of {i:02d} in the county of somewhere" for i in range(60)]
    effect = build.categorical(levels=levels)
    axis = effect.plot(backend="plotly", top=60, figsize=(6, 4)).layout.yaxis
    named = [text for text in axis.ticktext if text]
    assert len(axis.ticktext) == 60
    assert len(named) < 60
    pixels = (4 - 1.1) * 100 / 60
    assert 1.2 * axis.tickfont.size <= pixels * 60 / len(named) + 1e-9
    few = effect.plot(backend="plotly", figsize=(6, 4)).layout.yaxis  # as many as can be read
    assert len(few.ticktext) < 20
    assert all(few.ticktext)


def test_a_long_heading_has_room_above_the_panels():
    levels = [f"Municipality of {i:02d} in the county of somewhere" for i in range(60)]
    short = plot_many([build.numeric(), build.numeric(seed=1)], band=None, backend="plotly").layout
    long = plot_many([build.numeric(), build.categorical(levels=levels)], backend="plotly").layout
    lines = long.title.text.count("<br>") - short.title.text.count("<br>")
    assert lines >= 1
    assert long.margin.t - short.margin.t == 16 * lines
