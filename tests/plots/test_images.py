"""A few whole pictures against stored ones.

Both are averaged over small blocks first, so that another version of the font renderer passes and a
moved, missing or recoloured part does not. After a wanted change of looks, write the stored pictures anew:

    PYTHONPATH=tests:tests/plots python tests/plots/test_images.py
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import effect_builders as build
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from icefield.plots import plot_comparison, plot_importance, plot_many

pytestmark = pytest.mark.look
REFERENCE = Path(__file__).parent / "reference"
BLOCK = 6
TOLERANCE = 0.02  # root mean square over blocks, of colours from 0 to 1


def stepped_with_support():
    effect = replace(build.numeric(points=14, missing=True), steps=True)
    return build.with_low_support(effect, np.arange(15) < 3).plot()


def ranking():
    """Importance with directions and small curves on one scale."""
    names = ("age", "fare", "class", "noise")
    effects = {
        "age": build.numeric(),
        "fare": build.numeric(name="fare", seed=2),
        "class": build.categorical(),
    }
    effects["noise"] = replace(build.numeric(name="noise"), average=np.full((1, 40), 0.4))
    effects["fare"] = replace(effects["fare"], average=0.3 * effects["fare"].average)
    columns = {
        "feature": np.array(names, dtype=object), "importance": np.array([0.4, 0.15, 0.3, 0.001]),
        "direction": np.array(["increasing", "decreasing", "mixed", "none"], dtype=object),
    }  # fmt: skip
    return plot_importance(SimpleNamespace(columns=columns, effects=effects))


def measures():
    """Importance beside disagreement and permutation, with its spread over shuffles."""
    columns = {
        "feature": np.array(["age", "fare", "class", "noise"], dtype=object), "importance": np.array([0.8, 0.5, 0.4, 0.02]),
        "heterogeneity": np.array([0.2, 0.5, 0.1, 0.01]), "permutation": np.array([2.5, 1.4, 0.7, 0.0]),
        "permutation_std": np.array([0.12, 0.08, 0.05, 0.01]),
        "direction": np.array(["increasing", "none", "decreasing", "none"], dtype=object),
    }  # fmt: skip
    effects = {"age": build.numeric(), "class": build.categorical()}
    table = SimpleNamespace(columns=columns, effects=effects, measure="movement")
    return plot_importance(table, ["importance", "disagreement", "permutation"])


def own_axes():
    """Four kinds of panels in Axes of the caller's, whose figure has no layout."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 6))
    build.numeric(missing=True).plot(ax=axes[0, 0])
    build.categorical(levels=alike(9)).plot(ax=axes[0, 1])
    build.surface().plot(ax=axes[1, 0])
    build.grouped().plot(ax=axes[1, 1])
    return figure


def alike(count):
    """Long levels that begin and end alike."""
    names = [f"{first}{second}" for first in ("Al", "Ber", "Dal", "Es", "Fal", "Got") for second in
             ("by", "ga", "holm", "köping", "lund", "mora", "näs", "ryd", "sund", "torp")]  # fmt: skip
    return [f"Municipality of {name} in the county of somewhere" for name in names[:count]]


def solid():
    names = ("a feature of a rather long name", "another one of some length (km)")
    effect = build.surface(names=names)
    return replace(effect, average=1e6 * effect.average).plot(kind="surface")


def two_models():
    first, second = build.numeric(), build.numeric(seed=4)
    return plot_comparison({"forest": first, "boosting": replace(second, grid=first.grid)})


PICTURES = {
    "learner_band": lambda: build.with_refits(build.numeric()).plot(),
    "rows_band": lambda: build.numeric().plot(band="se"),
    "changes": lambda: build.changes().plot(),
    "learner_changes": lambda: build.changes(learner=True).plot(),
    "multiples": lambda: plot_many(
        [build.numeric(missing=True), build.numeric(name="fare", seed=2), build.categorical(), build.dated()],
        title="Four features",
    ),
    "axes": own_axes,
    "many_curves": lambda: build.ice(n=1500).plot(),
    "density": lambda: build.ice(n=1500).plot(curves="density"),
    "log_curves": lambda: build.skewed(kind="ice", keep=True).plot(),
    "sixty": lambda: build.categorical(levels=alike(60), n=900).plot(sort="value"),
    "sixty_small": lambda: build.categorical(levels=alike(60), n=900).plot(
        ax=plt.subplots(figsize=(5, 3.6))[1]
    ),
    "nine_levels": lambda: build.grouped(build=build.categorical, labels=tuple("abcdefghi")).plot(),
    "nine_bars": lambda: build.grouped(build=build.categorical, labels=tuple("abcdefghi")).plot(kind="bars"),
    "long_groups": lambda: build.grouped(labels=tuple(alike(6))).plot(),
    "solid": solid,
    "measures": measures,
    "two_models": two_models,
    "curve": lambda: build.numeric(missing=True).plot(title="Survival by age"),
    "log": lambda: build.skewed(missing=True).plot(),
    "steps": stepped_with_support,
    "ice": lambda: build.ice(n=150).plot(color_by="sex", center=True),
    "levels": lambda: build.categorical(levels=[f"level {i}" for i in range(12)]).plot(sort="value", top=8),
    "contour": lambda: build.surface().plot(),
    "crossed": lambda: build.crossed_levels().plot(),
    "groups": lambda: build.grouped(outputs=("died", "survived")).plot(),
    "nine": lambda: build.grouped(labels=tuple("abcdefghi")).plot(),
    "ranking": ranking,
    "importance": lambda: plot_importance({"age": 0.4, "a feature of a long name": 0.2, "fare": 0.1}),
}


BANDS = ("learner_band", "rows_band", "learner_changes")  # of this learner, and of this model
DARK = "#14181e"
LOOKS = {
    "light": {},
    "dark": {
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), DARK),
        **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), "#d9e0e8"),
    },
    "print": {"font.family": "serif", "font.size": 8, "lines.linewidth": 1.0, "figure.figsize": (4.2, 3.2)},
}  # fmt: skip
# Every picture in the light, and those whose colours or sizes were worked out in the other looks too.
STORED = [
    *((name, "light") for name in PICTURES),
    *(
        (name, "dark")
        for name in ("curve", "nine", "many_curves", "density", "ranking", "contour", "measures", *BANDS)
    ),
    *((name, "print") for name in ("curve", "nine", "sixty", "axes", *BANDS)),
]


def stored_at(name, look):
    return REFERENCE / (f"{name}.png" if look == "light" else f"{name}_{look}.png")


def picture(name, look="light"):
    with plt.rc_context(LOOKS[look]):
        drawn = PICTURES[name]()
        figure = drawn if hasattr(drawn, "savefig") else drawn.get_figure()
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=60)
    plt.close(figure)
    file.seek(0)
    return file


def blocks(image):
    """Colours averaged over blocks."""
    height, width = (n - n % BLOCK for n in image.shape[:2])
    parts = image[:height, :width, :3].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, 3)
    return parts.mean(axis=(1, 3))


def difference(a, b):
    if a.shape != b.shape:
        return np.inf
    return float(np.sqrt(np.mean((blocks(a) - blocks(b)) ** 2)))


@pytest.mark.parametrize(("name", "look"), STORED)
def test_pictures_look_as_stored(name, look):
    stored = plt.imread(stored_at(name, look))
    got = plt.imread(picture(name, look))
    assert difference(got, stored) < TOLERANCE


def test_the_comparison_can_fail():
    stored = plt.imread(REFERENCE / "curve.png")
    for other in (
        build.numeric(missing=True).plot(title="Survival by age", band=None),
        build.numeric(missing=True).plot(title="Survival by age", colors=["#D55E00"]),
        build.numeric(missing=True, seed=3).plot(title="Survival by age"),
        build.numeric(missing=True).plot(title="Survival by age", data=None),
    ):
        file = io.BytesIO()
        other.get_figure().savefig(file, format="png", dpi=60)
        file.seek(0)
        assert difference(plt.imread(file), stored) > TOLERANCE


if __name__ == "__main__":
    matplotlib.use("Agg")
    REFERENCE.mkdir(exist_ok=True)
    for name, look in STORED:
        stored_at(name, look).write_bytes(picture(name, look).getvalue())
