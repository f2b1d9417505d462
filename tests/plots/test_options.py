"""Options that cannot be used are refused with a hint."""

from __future__ import annotations

import effect_builders as build
import matplotlib.pyplot as plt
import pytest

from icefield.errors import InputError, InputTypeError
from icefield.plots.options import Options


def test_unknown_options_name_the_closest():
    with pytest.raises(InputTypeError, match=r"no plot option `colour_by`.*'color_by'"):
        build.numeric().plot(colour_by="sex")


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("backend", "plotty", "'plotly'"),
        ("kind", "countour", "'contour'"),
        ("band", "sd", "'std'"),
        ("data", "histgram", "'histogram'"),
        ("curves", 3, "'lines'"),
        ("mask", "hul", "'hull'"),
        ("sort", "values", "'value'"),
        ("layout", "sides", "'side'"),
    ],
)
def test_wrong_choices(complains, name, value, hint):
    with complains(name, repr(value), hint, error=ValueError):
        Options.of({name: value})


@pytest.mark.parametrize("name", ["max_curves", "top"])
def test_counts_must_be_counts(complains, name):
    with complains(name, "at least 1", error=ValueError):
        Options.of({name: 0})
    with complains(name, "whole number", error=TypeError):
        Options.of({name: 2.5})


def test_sizes(complains):
    with complains("figsize", "(7, 4.5)"):
        Options.of({"figsize": (3,)})
    with complains("figsize", "inches"):
        Options.of({"figsize": (3, -1)})


def test_none_means_none_where_it_may():
    assert Options.of({"band": None}).band == "none"
    assert Options.of({"data": False}).data == "none"
    assert Options.of({"kind": None}).kind == "auto"


def test_axes_and_plotly_exclude_each_other(complains):
    with complains("ax", "plotly"):
        build.numeric().plot(ax=plt.figure().add_subplot(), backend="plotly")
    with complains("ax", "matplotlib Axes", error=TypeError):
        build.numeric().plot(ax=3)


def test_kinds_of_the_other_dimension_are_refused(complains):
    with complains("kind", "for one feature", "'contour'"):
        build.numeric().plot(kind="contour")
    with complains("kind", "for two features", "'bars'"):
        build.surface().plot(kind="bars")
    with complains("data", "for two features"):
        build.surface().plot(data="rug")
    with complains("kind", "heatmap", error=TypeError):
        build.mixed_surface().plot(kind="contour")


def test_colours_and_maps_are_checked(complains):
    with complains("colors", "not a colour"):
        build.numeric().plot(colors=["ultragreen"])
    with complains("cmap", "'viridis'"):
        build.surface().plot(cmap="viridiss")
    with complains("cmap", "plotly"):
        build.surface().plot(cmap="viridiss", backend="plotly")


def test_outputs_are_checked(complains):
    effect = build.numeric(outputs=("setosa", "versicolor"))
    with complains("outputs", "'setosa'"):
        effect.plot(outputs="setossa")
    with pytest.raises(InputError, match="at least one"):
        effect.plot(outputs=[])


def test_three_features_have_no_picture():
    from dataclasses import replace

    effect = build.surface()
    cube = replace(
        effect, features=("a", "b", "c"), grid=(*effect.grid, effect.grid[0][:2]), kinds=("float",) * 3
    )
    with pytest.raises(InputError, match=r"3 features.*to_frame"):
        cube.plot()


def test_without_plotly_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import icefield.plots as plots
    from icefield.errors import MissingDependencyError

    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r'pip install "icefield\[plotly\]"'):
        build.numeric().plot(backend="plotly")
