"""Logarithmic axes: asked for or as the grid is spaced, in both libraries, with the caption kept."""

from __future__ import annotations

import warnings
from dataclasses import replace

import effect_builders as build
import numpy as np
import pytest
from artists import drawn, one

from icefield.errors import InputError


def test_the_axis_follows_the_spacing_of_the_grid():
    effect = build.skewed()
    assert effect.plot().get_xscale() == "log"
    assert effect.plot(x_scale="linear").get_xscale() == "linear"
    assert build.numeric().plot().get_xscale() == "linear"
    assert build.numeric().plot(x_scale="log").get_xscale() == "log"
    assert effect.plot(backend="plotly").layout.xaxis.type == "log"
    assert effect.plot(backend="plotly", x_scale="linear").layout.xaxis.type == "linear"


def test_both_libraries_show_all_of_the_curve():
    effect = build.skewed(missing=True)
    ax = effect.plot()
    left, right = ax.get_xlim()
    assert 0 < left < effect.grid[0][0]
    missing = one(ax, "dots").get_offsets()[0, 0]
    assert effect.grid[0][-2] < missing < right
    figure = effect.plot(backend="plotly")
    np.testing.assert_allclose(10.0 ** np.array(figure.layout.xaxis.range), (left, right))
    assert figure.layout.xaxis.ticktext[-1] == "missing"
    ax.get_figure().canvas.draw()
    shown = [tick for tick in ax.get_xticks() if tick >= left]
    np.testing.assert_allclose(figure.layout.xaxis.tickvals[:-1], shown)
    assert max(ax.get_xticks()) < missing


def test_bars_of_the_histogram_are_equally_wide_factors():
    bars = drawn(build.skewed().plot(), "histogram")
    ratios = [(b.get_x() + b.get_width()) / b.get_x() for b in bars]
    np.testing.assert_allclose(ratios, ratios[0])


def test_steps_and_densities_stay_on_the_axis():
    ax = build.skewed(kind="ice", keep=True).plot(curves="density")
    assert ax.get_xlim()[0] > 0
    (mesh,) = [c for c in ax.collections if hasattr(c, "get_coordinates")]
    edges = mesh.get_coordinates()[0, :, 0]
    np.testing.assert_allclose(np.diff(np.log(edges)), np.diff(np.log(edges))[0])
    stepped = replace(build.skewed(), steps=True).plot()
    assert 0 < one(stepped, "line").get_xdata()[0] < build.skewed().grid[0][0]


def test_an_axes_set_to_a_logarithm_afterwards_keeps_its_caption():
    ax = build.skewed().plot(x_scale="linear")
    ax.set_xscale("log")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.get_figure().canvas.draw()
    note = one(ax, "note")
    box = note.get_window_extent()
    assert np.isfinite(box.extents).all()
    assert box.y0 > ax.bbox.y1


def test_what_has_no_logarithm_complains():
    below = build.numeric()
    below.grid[0][0] = -1.0
    for effect in (below, build.surface()):
        with pytest.raises(InputError, match="x_scale"):
            effect.plot(x_scale="log")
    assert build.categorical().plot(x_scale="log").get_xscale() == "linear"  # levels have no scale
