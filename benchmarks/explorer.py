"""The explorer: from a gesture in the browser to its picture there, median and 95th percentile.

``python -m benchmarks explorer`` takes a year of flights (336,776 rows, 15 features, 200 trees), ``--large`` a million rows of 50 columns
(100 trees, raw scale). Real Chromium, a real server in this process, every gesture made 15 times, or as often as ``--repeats=N`` says, with other values.
``--processor`` leaves the browser out and counts the server's processor time, which a busy machine tells as well. ``--store`` writes the table that
``docs/explorer.md`` shows.
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learner_coverage import current_commit

MEASURED = Path(__file__).parent.parent / "docs" / "measured"
REPEATS = next((int(one.partition("=")[2]) for one in sys.argv if one.startswith("--repeats=")), 15)
ALONE = "--processor" in sys.argv
FILTERED = {
    "curve": "the shown curve",
    "curves": "all curves",
    "band": "its band",
    "plane": "the plane",
    "summary": "the summary",
}
APP = "document.body.explorer"
TARGETS = {
    "flights": {"all curves": 150, "its band": 400, "the plane": 1000, "the summary": 3000, "what if": 50, "a surface": 300, "regions": 1500},
    "large": {"the shown curve": 100, "all curves": 400},
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
    large, began = "--large" in sys.argv, os.getloadavg()[0]
    explainer = _large() if large else _flights()
    times, problems = _processor(explainer, large) if ALONE else _in_browser(explainer, large)
    targets, rows = TARGETS["large" if large else "flights"], []
    for name, measured in times.items():
        found = [f"{number:.0f} ms" for number in (np.median(measured), np.quantile(measured, 0.95))]
        rows.append([name, *found, f"{targets[name]} ms" if name in targets else ""])
    what = "processor time from the request to" if ALONE else "from the gesture to the picture of"
    columns = [what, "median", "95th percentile", "bound"]
    for row in [columns, *rows]:
        print(f"{row[0]:<36}" + "".join(f"{cell:>17}" for cell in row[1:]))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    state = (
        f"load {began:.1f} at the beginning and {os.getloadavg()[0]:.1f} at the end, which includes this run"
    )
    print(f"peak memory {memory:,.0f} MB; console: {problems or 'nothing'}; {state}")
    if "--store" in sys.argv:
        _store(large, columns, rows, f"{memory:,.0f} MB", state)


def _in_browser(explainer: Any, large: bool) -> tuple[dict[str, list[float]], Any]:
    """Milliseconds from gestures to pictures, and what the console said."""
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
            return _gestures(browser, large), browser.problems
        finally:
            browser.close()


def _processor(explainer: Any, large: bool) -> tuple[dict[str, list[float]], Any]:
    """Processor milliseconds of the controller from a request to each part of its answer."""
    from icefield.explore import Controller
    from icefield.explore.query import Memory, Query
    from icefield.explore.session import HANDLERS

    controller, memory = Controller(explainer), Memory()
    found: dict[str, list[float]] = {}

    def ask(kind: str, names: dict[str, str], **rest: Any) -> None:
        began = time.process_time()
        for part in HANDLERS[kind](Query({"feature": 0, **rest}, controller, memory)):
            taken = 1000 * (time.process_time() - began)
            if part.head["part"] in names:
                found.setdefault(names[part.head["part"]], []).append(taken)

    wanted = ["curve", "curves"] if large else ["curve", "curves", "band", "plane", "summary"]
    ask("open", {})
    ask("rows", {}, rule=[], want=wanted)
    for k in range(REPEATS):
        column, ge = _filter(large, k)
        ask("rows", FILTERED, rule=[{"column": column, "ge": ge}], want=wanted)
    if not large:
        ask("whatif", {}, row=5, values={"0": 6.5})
        for k in range(REPEATS):
            ask("whatif", {"whatif": "what if"}, row=5, values={"0": 7 + 0.75 * k})
            ask("surface", {"surface": "a surface"}, second=6 + k % 5)
            ask("regions", {"regions": "regions"}, feature=k)
    return found, "not opened"


def _filter(large: bool, k: int) -> tuple[int, float]:
    """The k-th filter: a column, and from which value on rows are kept."""
    column, low, high = (0, -1.5, 1.5) if large else (8, 30.0, 90.0)
    return column, float(np.round(low + (high - low) * k / REPEATS, 2))


def _store(large: bool, columns: list[str], rows: list[list[str]], memory: str, state: str) -> None:
    """Write the table that the docs show."""
    data = (
        "1,000,000 rows x 50 columns, 100 trees, raw scale"
        if large
        else "336,776 flights x 15 features, 200 trees"
    )
    table = {
        "title": "The explorer, from a gesture to its picture",
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "commit": current_commit(),
        "command": f"python -m benchmarks explorer{' --large' if large else ''}{' --processor' if ALONE else ''} --repeats={REPEATS} --store",
        "note": f"{data}; LightGBM; {REPEATS} gestures of each kind {f'in Chromium, {os.cpu_count()} cores for browser and server' if not ALONE else 'without a browser, of all threads'}; a filter's parts come one "
        f"after another, and each time is from the beginning on; {memory} at most in the server's process, data and model included; {state}",
        "columns": columns,
        "rows": rows,
    }
    path = MEASURED / ("explorer_large.json" if large else "explorer.json")
    path.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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

    parts = {part: name for part, name in FILTERED.items() if not large or part in ("curve", "curves")}
    for k in range(REPEATS):
        column, ge = _filter(large, k)
        make(parts, "filter", f"app.filter({column}, {{ge: {ge}}}, true)")
    if large:
        return found
    for k in range(REPEATS):
        make({"whatif": "what if"}, "row", f"app.whatIf(0, {7 + 0.75 * k})")
    for k in range(REPEATS):
        make(
            {"surface": "a surface"},
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
