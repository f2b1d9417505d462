"""Importance bars, the interaction matrix, PD against ALE, regions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import effect_builders as build
import numpy as np
import pytest
from artists import drawn, legend_texts, one, ticks
from matplotlib.colors import to_hex

from icefield.errors import InputError
from icefield.plots import plot_importance, plot_interactions, plot_pd_ale, plot_regions
from icefield.plots.palette import ON_LIGHT
from icefield.plots.summaries import around_mean


@dataclass
class Table:
    """The shape of an importance table."""

    columns: dict[str, Any]
    effects: dict[str, Any]


def table(directions=("decreasing", "mixed", "increasing")):
    names = ["age", "class", "fare"]
    effects = {"age": build.numeric(), "class": build.categorical(), "fare": build.numeric(name="fare")}
    columns = {"feature": np.array(names, dtype=object), "importance": np.array([0.3, 0.1, 0.2]),
               "direction": np.array(directions, dtype=object)}  # fmt: skip
    return Table(columns, effects)


def test_bars_longest_first_in_one_colour_with_their_shape():
    ax = plot_importance(table())
    bars = drawn(ax, "bar")
    np.testing.assert_allclose([b.get_width() for b in bars], [0.3, 0.2, 0.1])
    assert ticks(ax.yaxis) == ["age", "fare", "class"]
    assert ax.yaxis_inverted()
    assert {to_hex(b.get_facecolor()).upper() for b in bars} == {ON_LIGHT[0]}
    assert ax.get_legend() is None
    sparks = drawn(ax, "spark")
    assert len(sparks) == 3
    curve = sparks[0].get_ydata()
    effect = build.numeric()
    # Drawn downwards (the axis is inverted), in a row of its own: the same shape.
    np.testing.assert_allclose(np.corrcoef(curve, effect.average[0])[0, 1], -1)


def heights_of(curve):
    return float(np.ptp(curve.get_ydata()))


def test_small_curves_share_one_scale():
    found = table()
    weak = found.effects["fare"]
    found.effects["fare"] = replace(
        weak, average=weak.average.mean() + 0.1 * (weak.average - weak.average.mean())
    )
    sparks = drawn(plot_importance(found), "spark")  # age, fare, class
    ranges = [float(np.ptp(found.effects[name].average)) for name in ("age", "fare", "class")]
    np.testing.assert_allclose([heights_of(s) for s in sparks], 0.76 * np.array(ranges) / max(ranges))
    for at, spark in enumerate(sparks):
        y = spark.get_ydata()
        np.testing.assert_allclose((y.min() + y.max()) / 2, at, atol=1e-9)
    figure = plot_importance(found, backend="plotly")
    assert len([s for s in figure.layout.shapes if s.name == "spark"]) == 3
    flat = {name: replace(e, average=np.zeros_like(e.average)) for name, e in found.effects.items()}
    assert [heights_of(s) for s in drawn(plot_importance(Table(found.columns, flat)), "spark")] == [0, 0, 0]


def test_importance_of_plain_numbers_and_the_top_of_them():
    ax = plot_importance({f"f{i}": i for i in range(40)}, top=5)
    assert ticks(ax.yaxis) == ["f39", "f38", "f37", "f36", "f35"]
    assert drawn(ax, "spark") == []


def test_importance_per_output_side_by_side():
    columns = {"feature": np.array(["a", "b", "a", "b"], dtype=object), "output": np.array(["x", "x", "y", "y"], dtype=object),
               "importance": np.array([1.0, 2.0, 4.0, 3.0])}  # fmt: skip
    figure = plot_importance(Table(columns, {}))
    assert [a.get_title(loc="left") for a in figure.axes] == ["x", "y"]
    assert [ticks(a.yaxis) for a in figure.axes] == [["b", "a"], ["a", "b"]]
    assert plot_importance(Table(columns, {}), outputs="y").get_figure() is not figure


def test_what_is_no_importance_table(complains):
    with complains("table", "explainer.importance()", error=TypeError):
        plot_importance([1, 2])
    with complains("value", "'importance'"):
        plot_importance(table(), value="importnce")
    with complains("outputs", "names no output"):
        plot_importance(table(), outputs="z")


def test_interaction_matrix_below_the_diagonal():
    ax = plot_interactions({("a", "b"): 0.1, ("a", "c"): 0.5, ("b", "c"): 0.2})
    assert ticks(ax.yaxis) == ["c", "a", "b"]
    values = one(ax, "cells").get_array()
    assert np.argwhere(~np.ma.getmaskarray(values)).tolist() == [[1, 0], [2, 0], [2, 1]]
    np.testing.assert_allclose(values.compressed(), [0.5, 0.2, 0.1])
    assert [t.get_text() for t in drawn(ax, "value")] == ["0.5", "0.2", "0.1"]


def test_interaction_matrix_of_the_strongest(complains):
    pairs = {(f"f{i}", f"f{j}"): i + j for i in range(12) for j in range(i)}
    ax = plot_interactions(pairs, top=4)
    assert ticks(ax.xaxis) == ["f11", "f10", "f9", "f8"]
    with complains("table", "explainer.interactions()", error=TypeError):
        plot_interactions([("a", "b")])


def test_pd_and_ale_around_their_mean(complains):
    pd = build.numeric()
    ale = replace(around_mean(pd), kind="ale", std=None, view="level")
    ax = plot_pd_ale(pd, ale)
    solid, dashed = drawn(ax, "line")
    mean = np.average(pd.average[0], weights=pd.weight)
    np.testing.assert_allclose(solid.get_ydata(), pd.average[0] - mean)
    np.testing.assert_array_equal(dashed.get_ydata(), ale.average[0])
    assert dashed.is_dashed()
    assert [t.replace("\n", " ") for t in legend_texts(ax)] == [
        "partial dependence",
        "accumulated local effects",
    ]
    assert "from its mean" in ax.get_ylabel().replace("\xa0", " ").replace("\n", " ")
    with complains("ale", "kind 'ale'"):
        plot_pd_ale(pd, pd)
    with complains("ale", "explainer.ale('age')"):
        plot_pd_ale(pd, replace(ale, features=("fare",)))


def test_regions_against_all_rows(complains):
    whole = build.numeric()
    regions = {"sex = female": replace(whole, average=whole.average + 0.1, n_rows=120), "sex = male": whole}
    figure = plot_regions(whole, regions)
    titles = [a.get_title(loc="left").replace("\n", " ").replace("\xa0", " ") for a in figure.axes]
    assert titles == ["sex = female (120 rows)", "sex = male (300 rows)"]
    background, region = drawn(figure.axes[0], "line")
    np.testing.assert_array_equal(background.get_ydata(), whole.average[0])
    np.testing.assert_array_equal(region.get_ydata(), whole.average[0] + 0.1)
    assert background.is_dashed()
    assert figure.legends == []
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    with complains("regions", "no region"):
        plot_regions(whole, {})


def measured():
    """An importance table with permutation and disagreement, whose order by these differs."""
    columns = {
        "feature": np.array(["a", "b", "c"], dtype=object), "importance": np.array([3.0, 2.0, 1.0]),
        "heterogeneity": np.array([0.1, 0.9, 0.2]), "permutation": np.array([0.5, 1.5, 0.0]),
        "permutation_std": np.array([0.05, 0.1, 0.0]), "direction": np.array(["increasing", "none", "mixed"], dtype=object),
    }  # fmt: skip
    return SimpleNamespace(columns=columns, measure="movement", effects={})


def test_importance_shows_permutation_with_its_spread():
    ax = plot_importance(measured(), "permutation")
    assert ticks(ax.yaxis) == ["b", "a", "c"]
    assert ax.get_xlabel() == "permutation (added squared error)"
    ends = [segment[:, 0] for segment in one(ax, "interval").get_segments()]
    np.testing.assert_allclose(ends, [[1.4, 1.6], [0.45, 0.55], [0.0, 0.0]])
    assert one(ax, "note").get_text() == "lines: ± 1 standard deviation over shuffles"


def test_importance_beside_disagreement_in_one_order():
    figure = plot_importance(measured(), ["importance", "disagreement", "permutation"])
    panels = figure.axes
    assert [ax.get_xlabel().replace("\n", " ") for ax in panels] == [
        "movement (SD of the predictions)",
        "disagreement (SD of the predictions)",
        "permutation (added squared error)",
    ]
    assert ticks(panels[0].yaxis) == ["a", "b", "c"]
    widths = [[bar.get_width() for bar in drawn(ax, "bar")] for ax in panels]
    assert widths == [[3.0, 2.0, 1.0], [0.1, 0.9, 0.2], [0.5, 1.5, 0.0]]
    assert figure.get_suptitle() == "lines: ± 1 standard deviation over shuffles"


def test_importance_says_what_a_missing_measure_needs():
    table = measured()
    del table.columns["permutation"]
    with pytest.raises(InputError, match=r"Explainer\(model, X, y\)"):
        plot_importance(table, ["importance", "permutation"])
    with pytest.raises(InputError, match="did you mean 'disagreement'"):
        plot_importance(table, "disagreements")
    with pytest.raises(InputError, match="at least one column"):
        plot_importance(table, [])
