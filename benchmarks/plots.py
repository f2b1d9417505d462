"""How long it takes to draw many individual curves: 5,000 of 100 points, in both backends.

    python benchmarks/plots.py

Matplotlib is timed to the finished PNG; plotly to the HTML, and, where Chromium is installed, to the rendered page.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from icefield import Effect

CURVES, POINTS = 5_000, 100
LIMIT = 2.0  # seconds, for matplotlib


def many_curves(curves: int = CURVES, points: int = POINTS) -> Effect:
    """An ICE effect of random walks."""
    rng = np.random.default_rng(0)
    individual = rng.normal(0, 1, (1, curves, points)).cumsum(axis=2)
    return Effect(
        kind="ice", features=("x",), grid=(np.linspace(0, 10, points),), average=individual.mean(axis=1),
        outputs=("prediction",), kinds=("float",), n_rows=curves, individual=individual, rows=np.arange(curves),
        row_values={"colour": rng.normal(size=curves)},
    )  # fmt: skip


def matplotlib_seconds(effect: Effect, **options: object) -> float:
    start = time.perf_counter()
    figure = effect.plot(**options).get_figure()
    figure.savefig(io.BytesIO(), format="png")
    seconds = time.perf_counter() - start
    plt.close(figure)
    return seconds


def browser_seconds(page: Path) -> float | None:
    """From the start of a headless browser to its screenshot of the page, less an empty page's."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    empty = page.with_name("empty.html")
    empty.write_text("<html></html>")

    def shown(target: Path) -> float:
        start = time.perf_counter()
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--screenshot={page.with_suffix('.png')}", target.as_uri()],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return time.perf_counter() - start

    return shown(page) - shown(empty)


def main() -> None:
    effect = many_curves()
    matplotlib_seconds(many_curves(10, 10))  # imports and font cache are paid once, not per picture
    print(f"{CURVES:,} curves x {POINTS} points")
    for name, options in (
        ("lines", {}),
        ("coloured", {"color_by": "colour"}),
        ("density", {"curves": "density"}),
    ):
        seconds = min(matplotlib_seconds(effect, **options) for _ in range(3))
        verdict = "ok" if seconds < LIMIT else f"over {LIMIT:g} s"
        print(f"matplotlib {name:9s} {seconds:6.2f} s to PNG   {verdict}")
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (
            ("default", {}),
            ("all", {"max_curves": CURVES}),
            ("density", {"curves": "density"}),
        ):
            page = Path(folder) / f"{name}.html"
            start = time.perf_counter()
            effect.plot(backend="plotly", **options).write_html(page, include_plotlyjs="directory")
            seconds = time.perf_counter() - start
            rendered = browser_seconds(page)
            shown = "no browser" if rendered is None else f"{rendered:6.2f} s in Chromium, no graphics card"
            print(
                f"plotly {name:9s} {seconds:6.2f} s to HTML of {page.stat().st_size / 1e6:5.1f} MB, {shown}"
            )


if __name__ == "__main__":
    main()
