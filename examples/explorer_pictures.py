"""The pictures of the explorer on the README's first screen and in its tutorial, taken from a real page in the system's Chromium.

``python examples/explorer_pictures.py [flights] [bikes]`` writes into ``docs/images``; needs icefield[serve], playwright and, for the
flights, icefield[demo].
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd

import icefield
from icefield.explore import Controller
from icefield.explore.server import ExplorerServer

INTO = Path(__file__).parent.parent / "docs" / "images"
READY = "() => { const app = document.body.explorer; return app?.home.dataset.settled && app.data.whatif && ['filter', 'row', 'view', 'points'].every((s) => app.asker.quiet(s)) && !app.queue?.length; }"


def bikes() -> icefield.Explainer:
    """The model of the tutorial: rentals by the hour."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    data = icefield.datasets.bikes()
    sky = {1: "clear", 2: "mist", 3: "rain or snow", 4: "rain or snow"}
    X = pd.DataFrame(
        {"hour": data["hr"], "working day": pd.Categorical(data["workingday"].map({0: "no", 1: "yes"})), "temperature": data["temp"] * 41,
         "humidity": data["hum"] * 100, "wind": data["windspeed"] * 67,
         "weather": pd.Categorical(data["weathersit"].map(sky), ["clear", "mist", "rain or snow"]), "year": data["yr"] + 2011, "month": data["mnth"]}
    )  # fmt: skip
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0).fit(
        X, data["cnt"]
    )
    return icefield.Explainer(
        model,
        X,
        data["cnt"],
        target_name="rentals",
        units={"temperature": "°C", "humidity": "%", "wind": "km/h"},
    )


def flights() -> icefield.Explainer:
    """The model of the demo: arrival delays of a year."""
    from icefield.cli import demo

    X, y = demo.flights(None)
    known = y.notna()
    return demo._explainer(demo._fit_model(X[known], y[known], False), X, y, by=None)  # noqa: SLF001


def take(page: Any, name: str, *steps: str) -> None:
    """Make some gestures, wait for their answers, and write the picture."""
    for step in steps:
        page.evaluate(f"(() => {{ const app = document.body.explorer; {step} }})()")
        page.wait_for_timeout(250)
        _settle(page)
    page.wait_for_timeout(800)
    page.screenshot(path=INTO / f"{name}.png")
    print(INTO / f"{name}.png")


def _settle(page: Any) -> None:
    for _ in range(3000):
        if page.evaluate(READY):
            return
        page.wait_for_timeout(100)
    raise RuntimeError("the explorer does not come to rest")


def main(wanted: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    browser = next(path for path in map(shutil.which, ("chromium", "google-chrome")) if path)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name in wanted:
            explainer = {"bikes": bikes, "flights": flights}[name]()
            title = (
                "Bike rentals in Washington, 2011 and 2012"
                if name == "bikes"
                else "Arrival delay of New York flights, 2013"
            )
            with ExplorerServer(Controller(explainer, title=title, seconds=600)) as server:
                page = chromium.new_page(viewport={"width": 1400, "height": 960})
                page.goto(server.url)
                _settle(page)
                if name == "flights":
                    at = "app.about.features.findIndex((f) => f.name === 'humid')"
                    take(
                        page,
                        "explorer",
                        f"app.filter({at}, {{ge: 70}}, true);",
                        "app.pick('typical');",
                        "app.change(0, 8.25);",
                    )
                else:
                    take(page, "explorer_bikes", "app.choose(0);")
                    take(page, "explorer_filter", "app.filter(1, {in: [0]}, true);")
                    take(page, "explorer_why", "app.filter(1, null, true);", "app.commit({regions: []});")
                    take(
                        page,
                        "explorer_what_if",
                        "app.commit({regions: null});",
                        "app.choose(2);",
                        "app.pick(4000);",
                        "app.pin();",
                        "app.change(1, 0);",
                        "app.change(2, 8);",
                    )
                page.close()
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1:] or ["flights", "bikes"])
