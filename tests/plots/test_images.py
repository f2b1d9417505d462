"""A few whole pictures against stored ones.

Both are averaged over small blocks first, so that another version of the font renderer passes and a
moved, missing or recoloured part does not. After a wanted change of looks, write the stored pictures anew:

    python tests/plots/test_images.py
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

from icefield.plots import plot_importance

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


PICTURES = {
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


def picture(name):
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


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_look_as_stored(name):
    stored = plt.imread(REFERENCE / f"{name}.png")
    got = plt.imread(picture(name))
    assert difference(got, stored) < TOLERANCE


def test_the_comparison_can_fail():
    stored = plt.imread(REFERENCE / "curve.png")
    for other in (
        build.numeric(missing=True).plot(title="Survival by age", spread=None),
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
    for name in PICTURES:
        (REFERENCE / f"{name}.png").write_bytes(picture(name).getvalue())
