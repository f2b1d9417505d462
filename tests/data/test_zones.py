"""Times with a zone: grids are what its clocks show, the model gets the instants, and what is shown says the zone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from icefield import Effect, Explainer
from icefield.data.frame import table_of
from icefield.data.zones import clock_time, instants, zone_info, zone_name

ZONE = "America/New_York"
MOMENTS = pd.Series(
    pd.date_range("2024-03-01", periods=240, freq="5h", tz=ZONE)
)  # over the change to summer time


def frames(zone: str = ZONE) -> dict[str, Any]:
    times = MOMENTS.dt.tz_convert(zone)
    plain = pd.DataFrame({"when": times, "b": np.arange(240.0)})
    arrow = pa.Table.from_pandas(plain)
    found = {
        "pandas": plain,
        "pandas in seconds": plain.assign(when=times.dt.as_unit("s")),
        "pandas of arrow": plain.assign(when=times.astype(pd.ArrowDtype(pa.timestamp("ns", zone)))),
        "arrow": arrow,
    }
    return found if zone.startswith("+") else found | {"polars": pl.from_arrow(arrow)}


def hour(rows: Any) -> np.ndarray:
    """What clocks show, by each library's own way to say it."""
    when = rows["when"]
    if isinstance(when, pl.Series):
        return when.dt.hour().to_numpy() + when.dt.minute().to_numpy() / 60.0
    if isinstance(when, pa.ChunkedArray):
        return pc.hour(when).to_numpy() + pc.minute(when).to_numpy() / 60.0
    return (when.dt.hour + when.dt.minute / 60.0).to_numpy(float)


@pytest.mark.parametrize("name", frames())
def test_noon_is_noon_where_the_column_is(name: str) -> None:
    frame = frames()[name]
    effect = Explainer(hour, frame).partial_dependence(
        "when",
        grid=["2024-03-05 12:00", "2024-07-05T12:00", dt.datetime(2024, 3, 5, 12, tzinfo=dt.UTC), np.datetime64("2024-03-05T12:00")],
    )  # fmt: skip
    assert effect.average[0].tolist() == [12.0, 12.0, 7.0, 12.0]
    assert effect.grid[0].astype("M8[m]").astype(str).tolist()[2] == "2024-03-05T07:00"


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "+05:30", "UTC", "Europe/Berlin", "Australia/Lord_Howe"])
@pytest.mark.parametrize("name", ["pandas", "pandas of arrow", "arrow", "polars"])
def test_a_grid_placed_by_icefield_is_in_clock_times(zone: str, name: str) -> None:
    if name not in frames(zone):
        pytest.skip("polars knows no such zone")
    frame = frames(zone)[name]
    effect = Explainer(hour, frame).partial_dependence("when", grid=7)
    shown = pd.DatetimeIndex(effect.grid[0])
    np.testing.assert_allclose(effect.average[0], shown.hour + shown.minute / 60.0)


def test_hours_that_occur_twice_or_never() -> None:
    clock = np.array(["2024-11-03T01:30", "2024-03-10T02:30", "NaT", "0001-01-01", "9999-12-31"], "M8[s]")
    found = instants(clock, ZONE)
    assert found[0] == np.datetime64("2024-11-03T05:30")  # the first of the two
    assert found[1] == np.datetime64("2024-03-10T07:30")  # shown as 3:30
    assert np.isnat(found[2])
    assert abs(found[3:] - clock[3:]).max() < np.timedelta64(1, "D")


def test_rows_keep_their_instants_where_clocks_show_a_time_twice() -> None:
    twice = pd.to_datetime(["2024-11-03 05:30", "2024-11-03 06:30"]).tz_localize("UTC").tz_convert(ZONE)
    frame = pd.DataFrame({"when": twice, "b": [0.0, 1.0]})

    def instant(rows: Any) -> np.ndarray:
        return rows["when"].astype("int64").to_numpy(float) / 1e9

    explainer = Explainer(instant, frame)
    wanted = float(np.mean(instant(frame)))
    assert explainer.partial_dependence("b").average[0].tolist() == pytest.approx([wanted, wanted], rel=1e-15)


def test_zones_of_every_kind_have_a_name_that_finds_them() -> None:
    dateutil = pytest.importorskip("dateutil.tz")
    for zone, name in ((dateutil.gettz("Europe/Berlin"), "Europe/Berlin"), (dt.UTC, "UTC"), (zone_info("+02:00"), "UTC+02:00"),
                       (zone_info(ZONE), ZONE), ("-03:30", "-03:30")):  # fmt: skip
        assert zone_name(zone) == name
        moment = dt.datetime(2024, 7, 1, tzinfo=dt.UTC)
        assert clock_time(moment, zone) == clock_time(moment, name)
    assert zone_name("Nowhere/Here") == ""
    assert zone_name(dateutil.tzlocal()) == ""


def test_zones_of_pytz_are_those_of_their_name() -> None:
    pytz = pytest.importorskip("pytz")
    clock = np.array(["2024-07-01T12:00"], "M8[s]")
    assert instants(clock, pytz.timezone(ZONE)) == instants(clock, ZONE)


@pytest.mark.parametrize("name", frames())
def test_tables_views_and_words_say_the_zone(name: str, tmp_path: Path) -> None:
    effect = Explainer(hour, frames()[name]).partial_dependence(
        "when", grid=["2024-03-05 12:00", "2024-03-06"]
    )
    shown = effect.to_frame()["when"]
    listed = shown.to_pylist() if isinstance(shown, pa.ChunkedArray) else shown.to_list()
    assert [moment.astimezone(dt.UTC).hour for moment in listed] == [17, 5]
    assert f"2024-03-05 12:00:00 {ZONE}" in repr(effect)
    centred = effect.center(at=dt.datetime(2024, 3, 5, 17, tzinfo=dt.UTC))
    assert centred.average[0].tolist() == [0.0, -12.0]
    assert centred.average.tolist() == effect.center(at="2024-03-05 12:00").average.tolist()
    effect.save(tmp_path / "e.icefield")
    assert Effect.load(tmp_path / "e.icefield").naming.zones == {"when": ZONE}


def test_pictures_say_the_zone() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    axes = Explainer(hour, frames()["pandas"]).partial_dependence("when", grid=5).plot()
    try:
        assert axes.get_xlabel() == f"when ({ZONE})"
    finally:
        pyplot.close(axes.figure)


def test_a_stream_places_the_same_grid(tmp_path: Path) -> None:
    pq.write_table(frames()["arrow"], tmp_path / "rows.parquet")
    streamed = Explainer(hour, tmp_path / "rows.parquet", row_by_row=True)
    whole = Explainer(hour, frames()["arrow"])
    for grid in (None, ["2024-03-05 12:00"]):
        found, wanted = (one.partial_dependence("when", grid=grid) for one in (streamed, whole))
        assert found.grid[0].tolist() == wanted.grid[0].tolist()
        np.testing.assert_allclose(found.average, wanted.average)
        assert found.naming.zones == {"when": ZONE}


def test_a_table_knows_its_zones_without_reading_a_value() -> None:
    for name, frame in frames().items():
        assert [zone_name(zone) for zone in table_of(frame).zones.values()] == [ZONE], name
        assert list(table_of(frame).zones) == ["when"], name
    assert table_of(np.zeros((3, 2))).zones == {}
