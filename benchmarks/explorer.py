"""The explorer: from a gesture in the browser to its picture there, median and 95th percentile.

``python -m benchmarks explorer`` takes a year of flights (336,776 rows, 15 features, 200 trees), ``--large`` a million rows of 50 columns
(100 trees, raw scale). Real Chromium, a real server in this process, every gesture made 15 times, or as often as ``--repeats=N`` says, with other values.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

REPEATS = next((int(one.partition("=")[2]) for one in sys.argv if one.startswith("--repeats=")), 15)
APP = "document.body.explorer"
TARGETS = {
    "flights": {"what-if": 50, "shown curve": 100, "all curves": 150, "band": 400, "plane": 1000, "summary": 3000, "surface": 300, "regions": 1500},
    "large": {"shown curve": 100, "all curves": 400},
}  # fmt: skip
# Starts a clock, makes a gesture, and gives the time at which each part of the answer had been drawn and painted.
SCRIPT = """([gesture, parts, slot]) => new Promise((done) => {
  const app = document.body.explorer, began = performance.now(), found = {}, heard = app.heard.bind(app);
  app.asker.heard = (head) => {
    heard(head);
    if (head.slot !== slot) return;
    const name = head.error ? "error" : head.part;
    requestAnimationFrame(() => setTimeout(() => {
      found[name] = performance.now() - began;
      if (parts.every((part) => part in found) || head.error) { app.asker.heard = heard; done(found); }
    }));
  };
  new Function("app", gesture)(app);
})"""


def main() -> None:
    """Measure, print a table, and the memory the process took."""
    large = "--large" in sys.argv
    explainer = _large() if large else _flights()
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from browser import Browser
    from icefield.explore import Controller
    from icefield.explore.server import ExplorerServer

    with ExplorerServer(Controller(explainer)) as server:
        browser = Browser()
        try:
            browser.look(width=1400, height=1200)
            browser.visit(server.url)
            browser.wait(f"{APP}?.home.dataset.settled && {APP}.asker.quiet('row')", 600)
            times = _gestures(browser, large)
            problems = browser.problems
        finally:
            browser.close()
    targets = TARGETS["large" if large else "flights"]
    print(f"{'gesture to picture':<22}{'median':>10}{'95th':>10}{'target':>10}   ms")
    for name, measured in times.items():
        target = targets.get(name)
        print(
            f"{name:<22}{np.median(measured):>10.0f}{np.quantile(measured, 0.95):>10.0f}{target if target else '':>10}"
        )
    print(
        f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:,.0f} MB; console: {problems or 'nothing'}"
    )


def _gestures(browser: Any, large: bool) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}

    def make(names: dict[str, str], slot: str, gesture: str) -> None:
        browser.wait(
            f"{APP}.asker.quiet('filter') && {APP}.asker.quiet('row') && {APP}.asker.quiet('view')", 120
        )
        time.sleep(0.1)
        times = browser._page.evaluate(SCRIPT, [gesture, list(names), slot])
        for part, name in names.items():
            found.setdefault(name, []).append(times.get(part, float("nan")))

    column = 0 if large else 8
    low, high = (-1.5, 1.5) if large else (30.0, 90.0)
    parts = {"curve": "shown curve", "curves": "all curves"}
    if not large:
        parts |= {"band": "band", "plane": "plane", "summary": "summary"}
    for k in range(REPEATS):
        ge = float(np.round(low + (high - low) * k / REPEATS, 2))
        make(parts, "filter", f"app.filter({column}, {{ge: {ge}}}, true)")
    if large:
        return found
    for k in range(REPEATS):
        make({"whatif": "what-if"}, "row", f"app.whatIf(0, {7 + 0.75 * k})")
    for k in range(REPEATS):
        make(
            {"surface": "surface"},
            "view",
            f"app.asker.ask('surface', 'view', {{...app.request(), second: {6 + k % 5}}})",
        )
    for k in range(REPEATS):
        make(
            {"regions": "regions"},
            "view",
            f"app.asker.ask('regions', 'view', {{...app.request(), feature: {k}}})",
        )
    return found


def _flights() -> Any:
    from lightgbm import LGBMRegressor

    from icefield import Explainer
    from icefield.cli.demo import flights

    X, y = flights()
    known = np.asarray(y.notna())
    model = LGBMRegressor(n_estimators=200, random_state=0, verbose=-1, force_row_wise=True).fit(
        X[known], y[known]
    )
    return Explainer(model, X, units={"departure": "time of day"})


def _large() -> Any:
    from lightgbm import LGBMRegressor

    from icefield import Explainer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 50)).astype(np.float32)
    y = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2] + X[:, 3:10].sum(axis=1) + rng.normal(size=len(X))
    model = LGBMRegressor(n_estimators=100, random_state=0, verbose=-1, force_row_wise=True).fit(
        X[:200_000], y[:200_000]
    )
    return Explainer(model, X, scale="raw")


if __name__ == "__main__":
    main()
