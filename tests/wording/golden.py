"""Situations that users have, and every sentence that is generated of them; `python tests/wording/golden.py` writes the file again.

Each line of `golden.txt` is read by a person whenever it changes: is it true, is it English, would a busy reader use it?
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import real

from icefield import Explainer
from icefield.statistics.fit_check import FitCheck
from icefield.wording.labels import subject_text
from icefield.wording.sentences import plain_words, shape_words, support_warning

FILE = Path(__file__).with_name("golden.txt")
ROWS = 360


def flights(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    X = pd.DataFrame({
        "hour": rng.integers(5, 23, ROWS), "distance": rng.gamma(2, 500, ROWS), "month": rng.integers(1, 13, ROWS),
        "carrier": rng.choice(["AA", "DL", "UA", "WN"], ROWS), "wind": rng.gamma(2, 8, ROWS).round(1),
        "wind_known": rng.random(ROWS),
    })  # fmt: skip
    X.loc[rng.random(ROWS) < 0.16, "wind"] = np.nan

    def delay(d: pd.DataFrame) -> Any:
        wind = d["wind"].fillna(0).to_numpy()
        late = -4 + 22 * np.clip((d["hour"].to_numpy() - 8) / 10, 0, 1)
        slow = d["carrier"].map({"AA": 0.0, "DL": -3.0, "UA": 4.0, "WN": 3.95}).to_numpy(float)
        return (
            late
            + slow
            + 9 * np.isin(d["month"], (6, 7, 12))
            + 6 * d["wind"].isna()
            + 0.1 * np.maximum(0, wind - 15)
        )

    said = {
        "target_name": "delay", "units": {"delay": "min", "hour": "time of day", "distance": "miles", "month": "month", "wind": "km/h"},
        "names": {"carrier": ("airline", {"DL": "Delta", "UA": "United"})},
    }  # fmt: skip
    return delay, X, said


def bikes(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    X = pd.DataFrame({
        "temp": rng.normal(15, 9, ROWS), "hr": rng.integers(0, 24, ROWS), "humidity": rng.uniform(20, 100, ROWS),
        "workingday": rng.random(ROWS) < 0.68, "weather": rng.choice(["clear", "mist", "rain"], ROWS, p=[0.6, 0.3, 0.1]),
        "year": rng.choice([2011, 2012], ROWS),
    })  # fmt: skip

    def rentals(d: pd.DataFrame) -> Any:
        hour, work = d["hr"].to_numpy(), d["workingday"].to_numpy(bool)
        rush = np.where(work, 300 * np.isin(hour, (8, 17, 18)), 160 * np.exp(-((hour - 14) ** 2) / 18))
        warm = 150 * np.exp(-((d["temp"].to_numpy() - 26) ** 2) / 160)
        return (
            60 + rush + warm - 80 * (d["weather"] == "rain") - 0.3 * d["humidity"] + 70 * (d["year"] == 2012)
        )

    return (
        rentals,
        X,
        {"target_name": "rentals", "units": {"temp": "°C", "humidity": "%", "hr": "time of day"}},
    )


def housing(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    lat = rng.uniform(33, 41, ROWS)
    X = pd.DataFrame({
        "income": rng.gamma(4, 1, ROWS), "rooms": rng.normal(5.4, 1, ROWS), "latitude": lat,
        "longitude": -86 - 0.95 * lat + rng.normal(0, 0.3, ROWS), "age": rng.integers(1, 53, ROWS),
        "population": np.exp(rng.normal(7, 0.8, ROWS)).round(),
    })  # fmt: skip

    def price(d: pd.DataFrame) -> Any:
        coast = np.exp(-((d["latitude"] - 34) ** 2) / 4) + np.exp(-((d["latitude"] - 37.8) ** 2) / 2)
        return (
            90_000
            + 45_000 * np.minimum(d["income"], 8)
            + 60_000 * coast
            - 8_000 * (d["longitude"] + 120)
            + 500 * d["age"]
        )

    return price, X, {"target_name": "price", "units": {"price": "USD", "age": "years"}}


def survival(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    X = pd.DataFrame({
        "age": rng.uniform(1, 75, ROWS).round(), "fare": np.exp(rng.normal(3, 1, ROWS)),
        "sex": rng.choice(["female", "male"], ROWS), "pclass": rng.choice([1, 2, 3], ROWS, p=[0.2, 0.2, 0.6]),
    })  # fmt: skip
    X.loc[rng.random(ROWS) < 0.2, "age"] = np.nan

    class Model:
        classes_ = np.array(["died", "survived"])
        feature_names_in_ = np.array(list(X), dtype=object)

        def predict_proba(self, d: pd.DataFrame) -> Any:
            age = d["age"].fillna(30).to_numpy()
            score = (
                2.4 * (d["sex"] == "female")
                - 0.8 * (d["pclass"] - 2)
                + 1.5 * (age < 11)
                - 0.4 * d["age"].isna()
                - 0.8
            )
            p = 1 / (1 + np.exp(-score.to_numpy(float)))
            return np.column_stack([1 - p, p])

        def predict(self, d: pd.DataFrame) -> Any:
            return self.classes_[(self.predict_proba(d)[:, 1] > 0.5).astype(int)]

    return Model(), X, {"names": {"pclass": ("class", {1: "first", 2: "second", 3: "third"})}}


def shops(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    names = np.array([f"s{i:02d}" for i in range(8)])
    X = pd.DataFrame({
        "shop": rng.choice(names, ROWS), "dose": np.exp(rng.normal(0, 3, ROWS)), "day": rng.integers(1, 366, ROWS),
        "promo": (rng.random(ROWS) < 0.5).astype(int), "price": rng.normal(10, 2, ROWS), "noise": rng.normal(size=ROWS),
    })  # fmt: skip
    size = dict(zip(names, [1.0, 20.0, 30.0, 47.2, 12.0, 47.1, 47.15, 5.0]))

    def sales(d: pd.DataFrame) -> Any:
        opposite = np.where(d["promo"] == 1, -4.0, 4.0) * (d["price"] - 10)
        return d["shop"].map(size).to_numpy(float) + 3 * np.log(d["dose"]) + 6 * (d["day"] > 185) + opposite

    return sales, X, {"target_name": "sales"}


def towns(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    X = pd.DataFrame({"size": rng.normal(80, 20, ROWS), "rent": rng.normal(900, 200, ROWS)})
    town = rng.choice(["bonn", "mainz", "trier"], ROWS)
    for name in ("bonn", "mainz", "trier"):
        X[f"town_{name}"] = (town == name).astype(int)

    def two(d: pd.DataFrame) -> Any:
        return np.column_stack([d["size"] + 30 * d["town_bonn"], -2 * d["size"] + 0.1 * d["rent"]])

    return two, X, {}


def wiggles(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    X = pd.DataFrame(
        rng.uniform(0, 3, (ROWS, 7)), columns=["bump", "wave", "valley", "hill", "late", "weak", "none"]
    )

    def model(d: pd.DataFrame) -> Any:
        bump = np.interp(d["bump"], [0, 1, 2, 3], [0.0, 0.6, 0.5, 1.0])
        late = 3 * np.maximum(0, d["late"] - 2.8)
        return (
            bump
            + 0.5 * np.sin(4 * d["wave"])
            + (d["valley"] - 1.5) ** 2
            - (d["hill"] - 1) ** 2 / 2
            + late
            + 0.1 * d["weak"]
        )

    return model, X, {}


def timeline(rng: np.random.Generator) -> tuple[Any, pd.DataFrame, dict[str, Any]]:
    start = np.datetime64("2019-01-01T00:00:00")
    X = pd.DataFrame({
        "when": start + rng.integers(0, 1400, ROWS).astype("timedelta64[D]"), "load": rng.integers(0, 200_000, ROWS),
        "flag": rng.random(ROWS) < 0.3, "weekday": rng.integers(0, 7, ROWS),
    })  # fmt: skip

    def cost(d: pd.DataFrame) -> Any:
        days = (d["when"].to_numpy() - start) / np.timedelta64(1, "D")
        return 3e6 + 900 * days + 4 * d["load"] + 2e5 * d["flag"] + 3e5 * (d["weekday"] >= 5)

    return cost, X, {"target_name": "cost", "units": {"cost": "EUR", "weekday": "weekday"}}


SITUATIONS = (flights, bikes, housing, survival, shops, towns, wiggles, timeline)

CHECKS = (
    FitCheck(0.97, 0.68, 0.02, 1500), FitCheck(0.82, 0.80, 0.02, 1500), FitCheck(0.91, -0.03, 0.02, 300, 0.05),
    FitCheck(0.03, -0.01, 0.02, 300, 0.06), FitCheck(0.01, 0.0, 0.02, 900), FitCheck(-0.4, 0.2, 0.02, 900),
    FitCheck(0.72, 0.70, 0.05, 1500, 0.0, True, 320), FitCheck(0.99, 0.01, 0.05, 1500, 0.0, True, 200),
    FitCheck(0.9, 0.1, 0.3, 800, 0.0, True, 9), FitCheck(0.27, 0.08, 0.02, 1500, given=327_346),
)  # fmt: skip


def sentences() -> Iterator[str]:
    """Every generated sentence of the situations, each with where it stands."""
    for place, make in enumerate(SITUATIONS):
        model, X, said = make(np.random.default_rng([11, place]))
        yield from told(make.__name__, Explainer(model, X, row_by_row=True, **said))
    for name, read in real.DATA.items():
        X, y = read()
        for kind in real.KINDS:
            model = kind(name, X, y)
            yield from told(
                f"{name}, {kind.__name__}", Explainer(model, X, y, row_by_row=True, **real.SAID[name])
            )
    yield from (f"fit | {check}" for check in CHECKS)


def told(title: str, explainer: Any) -> Iterator[str]:
    """What is said of one model: the opening, each feature for three readers, cautions, notes and regions."""
    summary = explainer.summary()
    yield f"{title} | opening | {summary.opening}"
    for name, decision in summary.decisions.items():
        effect = summary.effects[name]
        for reading in decision.readings:
            yield f"{title} | {name} | reading | {reading.sentence}"
        reading = decision.reading
        yield f"{title} | {name} | table | {shape_words(reading)}"
        yield f"{title} | {name} | report | {plain_words(reading, subject_text(effect, decision.output))}"
        if effect.support is not None and effect.support.doubtful:
            yield f"{title} | {name} | support | {support_warning(effect.support, reading.naming)}"
    yield from (f"{title} | caution | {text}" for text in summary.warnings)
    first = next((name for name, one in summary.readings.items() if one.curves_differ), None)
    if first is not None:
        table = explainer.regions(first)
        yield f"{title} | {first} | regions | {table.title}"
        yield from (f"{title} | {first} | regions | {note}" for note in table.notes)


if __name__ == "__main__":
    FILE.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
