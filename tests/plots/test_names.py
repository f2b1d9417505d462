"""Names and units that were given to the Explainer stand on every axis of every picture."""

from __future__ import annotations

import effect_builders as build
import numpy as np
import pandas as pd
import pytest
from artists import drawn, legend_texts

import icefield
from icefield.plots import plot_comparison


def model(rows):
    return (
        rows["t"].to_numpy() * (1 + rows["w"].to_numpy()) + rows["h"].to_numpy() * rows["t"].to_numpy() / 50
    )


@pytest.fixture(scope="module")
def explainer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"t": rng.uniform(0, 40, 200), "h": rng.uniform(20, 90, 200), "w": rng.integers(0, 2, 200)}
    )
    return icefield.Explainer(
        model, X, model(X), target_name="rentals", names={"t": "temperature", "h": "humidity", "w": ("kind of day", {0: "weekend", 1: "working day"})},
        units={"t": "°C", "h": "%", "rentals": "per hour"},
    )  # fmt: skip


ONE_WAY = {
    "average": lambda ex: ex.partial_dependence("t").plot(),
    "ale": lambda ex: ex.ale("t").plot(),
    "bins": lambda ex: ex.conditional("t").plot(),
    "curves": lambda ex: ex.ice("t", rows=20).plot(center=True, color_by="h"),
    "slope": lambda ex: ex.partial_dependence("t").plot(derivative=True),
    "groups": lambda ex: ex.partial_dependence("t", by="w").plot(),
    "by level": lambda ex: ex.partial_dependence("t", "w").plot(),
    "difference": lambda ex: icefield.compare([ex, ex]).partial_dependence("t").difference().plot(),
}


@pytest.mark.parametrize("name", ONE_WAY)
def test_axes_of_one_feature(explainer, name):
    ax = ONE_WAY[name](explainer)
    assert ax.get_xlabel() == "temperature (°C)"
    label = " ".join(ax.get_ylabel().split())
    assert "predicted rentals" in label
    assert "per hour" in label
    assert "prediction" not in label
    legend = ax.get_legend()
    if name in ("groups", "by level"):
        assert legend.get_title().get_text() == "kind of day"
        assert [text.get_text() for text in legend.get_texts()] == ["weekend", "working day"]


@pytest.mark.parametrize("kind", ["contour", "heatmap", "surface"])
@pytest.mark.parametrize("interaction", [False, True])
def test_axes_of_two_features(explainer, kind, interaction):
    ax = explainer.partial_dependence("t", "h", grid=4).plot(kind=kind, interaction=interaction)
    assert ax.get_xlabel() == "temperature (°C)"
    assert ax.get_ylabel() == "humidity (%)"
    bars = [*ax.child_axes, *ax.get_figure().axes]
    assert any("predicted rentals (per hour)" in " ".join(bar.get_ylabel().split()) for bar in bars)


def test_axes_of_summaries(explainer):
    ranked = explainer.importance()
    assert ranked.plot().get_xlabel() == "movement (SD of the predictions)"
    pairs = explainer.interactions(rows=40).plot()
    assert {label.get_text() for label in pairs.get_yticklabels()} == {
        "temperature",
        "humidity",
        "kind of day",
    }
    assert [text.get_text() for text in drawn(pairs, "note")] == ["strength (per hour)"]
    panels = explainer.plot().axes
    assert sorted(ax.get_xlabel() for ax in panels) == ["humidity (%)", "kind of day", "temperature (°C)"]


def test_kinds_of_curves_are_spelled_out():
    pd, ale = build.numeric(), build.numeric(kind="ale")
    ax = plot_comparison({"predicted": pd, "pd": pd, "ale": ale})
    assert legend_texts(ax) == ["predicted", "partial dependence", "accumulated local\neffects"]
    assert "pd" in legend_texts(plot_comparison({"pd": ale, "other": ale}))  # a name of the user's
