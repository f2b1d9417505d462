"""How soon a report shows its first picture: in the system's Chromium, at full speed and slowed down four times.

``python -m benchmarks opening [report.html ...]``; without files, a report of a year of flights and one of 100 features.
The bound is 0.5 s from the start of the navigation to the first frame with a drawn picture, at the slower speed. Four times the
processor time that the page's main thread takes until then says the same on a machine that has other things to do.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.timing import print_table

OPENINGS = 7
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The frame after the first picture is in the page is the one that shows it.
WATCH = """
new MutationObserver((_, watcher) => {
  if (!document.querySelector("svg.drawn")) return;
  watcher.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.firstPicture = performance.now(); performance.mark("first-picture"); }));
}).observe(document, {childList: true, subtree: true});
"""


def main() -> None:
    files = [Path(name) for name in sys.argv[2:] if name.endswith(".html")]
    with tempfile.TemporaryDirectory() as folder:
        pages = files or [_flights(Path(folder)), _wide(Path(folder))]
        rows = [
            [page.stem, f"{page.stat().st_size / 1e6:.2f} MB", what, statistics.median(times), max(times)]
            for page in pages
            for what, times in (
                ("full speed", _openings(page, 1)),
                ("4x slower", _openings(page, 4)),
                ("processor time x 4", [4 * one for one in _openings(page, 1, traced=True)]),
            )
        ]  # fmt: skip
    print_table("Seconds to the first picture", ["report", "size", "processor", "median", "longest"], rows)


def _openings(page: Path, slower: int, traced: bool = False) -> list[float]:
    """Seconds to the first picture, or, `traced`, processor seconds of the main thread until then."""
    import shutil

    from playwright.sync_api import sync_playwright

    browser = next(path for path in map(shutil.which, BROWSERS) if path)
    times = []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(OPENINGS):
            window = chromium.new_page(viewport={"width": 1400, "height": 900})
            window.add_init_script(WATCH)
            session = window.context.new_cdp_session(window)
            session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            events = _traced(session) if traced else []
            window.goto(page.resolve().as_uri())
            window.wait_for_function("window.firstPicture")
            if traced:
                session.send("Tracing.end")
                while not events or events[-1] is not None:
                    window.wait_for_timeout(50)
                times.append(_processor_seconds(events[:-1]))
            else:
                times.append(window.evaluate("window.firstPicture") / 1000)
            window.close()
        chromium.close()
    return times


def _traced(session: Any) -> list[Any]:
    """Begin to trace; the list fills with events, and ends with None."""
    events: list[Any] = []
    session.on("Tracing.dataCollected", lambda found: events.extend(found["value"]))
    session.on("Tracing.tracingComplete", lambda _: events.append(None))
    wanted = {
        "includedCategories": [
            "devtools.timeline",
            "disabled-by-default-devtools.timeline",
            "blink.user_timing",
        ]
    }
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": wanted})
    return events


def _processor_seconds(events: list[dict[str, Any]]) -> float:
    shown = next(one for one in events if one["name"] == "first-picture")
    own = [
        one
        for one in events
        if (one["pid"], one["tid"]) == (shown["pid"], shown["tid"]) and one["ts"] <= shown["ts"]
    ]
    began = max(one["ts"] for one in own if one["name"] == "navigationStart")
    tasks = [one for one in own if one["name"] == "RunTask" and one["ts"] >= began]
    return float(sum(one.get("tdur", 0) for one in tasks)) / 1e6


def _flights(folder: Path) -> Path:
    from icefield.cli import demo

    demo.main(folder)
    return (folder / "report.html").rename(folder / "flights.html")


def _wide(folder: Path) -> Path:
    import lightgbm
    import numpy as np

    import icefield

    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(20_000, 100))
    y = X @ np.linspace(1, 0, 100) + 2 * X[:, 0] * X[:, 1]
    model = lightgbm.LGBMRegressor(n_estimators=100, verbose=-1).fit(X, y)
    path = folder / "100 features.html"
    icefield.Explainer(model, X, y=y).report(path)
    return path


if __name__ == "__main__":
    main()
