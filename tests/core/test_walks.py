"""The five walks of `docs/architecture.md`, traced by real calls: their modules are entered in the order that is written there,
and a walk is straight, with few crossings from one room to another."""

from __future__ import annotations

import inspect
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield
from frozen.inside import Parts, small_blocks
from icefield import Explainer
from icefield.cli.commands import main
from icefield.core.averages_at_rows import AveragesSink
from icefield.core.rows import Accumulator, Rows

SOURCE = Path(icefield.__file__).parent
WALKS = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Five walks")[1].split("\n## ")[0]  # fmt: skip
MOST_CROSSINGS = 12
# Everybody uses them: words for errors, counts as text, a progress bar, threads.
COMMON = ("errors", "counts", "typing", "progress", "validate", "threads", "sampling")
# What the core declares for all: values and protocols that pass between rooms, and no step of the walk.
DECLARED = ("core/rows.py", "core/question.py", "core/weight_totals.py")
# What is handed over to be asked from below is asked by these names, which the core declares.
HANDED_OVER = {name for kind in (Accumulator, AveragesSink, Rows) for name in dir(kind) if name[0] != "_"}
# Only a real engine has them: here partitions are in this process.
NOT_IN_PROCESS = ("rows/distributed/spark.py", "rows/distributed/polling.py")


@cache
def place_of(file: str) -> str:
    """The path of a module below the package; empty outside."""
    return Path(file).relative_to(SOURCE).as_posix() if Path(file).is_relative_to(SOURCE) else ""


@cache
def _room(file: str) -> str | None:
    place = place_of(file)
    room = place.partition("/")[0].removesuffix(".py")
    return None if not room or room in COMMON or place in DECLARED else room


def room_of(frame: FrameType) -> str | None:
    """The folder, or the module beside them, that a frame's code lies in; None outside the package."""
    return _room(frame.f_code.co_filename)


@dataclass
class Trace:
    """What a call goes through, in this thread.

    Attributes
    ----------
    entered : modules by their paths, one after another
    crossings : from which room to which calls lead
    """

    entered: list[str] = field(default_factory=list)
    crossings: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, call: Callable[[], Any]) -> Trace:
        found = cls()
        sys.setprofile(found._see)
        try:
            call()
        finally:
            sys.setprofile(None)
        return found

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        place = place_of(code.co_filename)
        if event != "call" or not place or code.co_name == "<module>":
            return
        if not self.entered or self.entered[-1] != place:
            self.entered.append(place)
        # A generator is entered again by whoever takes from it: where it is made says who calls it.
        if (
            (room := room_of(frame)) is None
            or code.co_flags & inspect.CO_GENERATOR
            or code.co_name in HANDED_OVER
        ):
            return
        caller = frame.f_back
        while caller is not None and room_of(caller) is None:
            caller = caller.f_back
        if caller is not None and (before := room_of(caller)) not in (None, room):
            self.crossings.add((str(before), room))


def circles(edges: set[tuple[str, str]]) -> list[str]:
    """Rooms that lead back to themselves."""
    reached = {room: {b for a, b in edges if a == room} for edge in edges for room in edge}
    for _ in reached:
        for room, further in reached.items():
            reached[room] = further | {b for a in further for b in reached[a]}
    return sorted(room for room, further in reached.items() if room in further)


@cache
def written(walk: str) -> tuple[str, ...]:
    """The modules and rooms that the description of a walk names, in order; bare names lie in the folder named last."""
    text = WALKS.split(f"**{walk}**")[1].split("\n**")[0]
    steps = [step.split("\n\n")[0] for step in re.split(r"\n\d\. ", text)[1:]]
    found, folder = [], ""
    for name in re.findall(r"`([\w/<>]+(?:\.py|/))`", " ".join(steps)):
        path = name.replace("<name>", "sklearn")
        if "/" in path:
            folder = path.rpartition("/")[0]
        elif not (SOURCE / path).exists():
            path = f"{folder}/{path}"
        assert (SOURCE / path).exists(), f"{walk}: there is no {path}"
        found.append(path)
    return tuple(path for path in found if path not in NOT_IN_PROCESS)


def astray(walk: str, trace: list[str]) -> str:
    """The first module of a description that a trace does not enter after those before it; empty where it enters all."""
    at = 0
    for path in written(walk):
        place = next((i for i in range(at, len(trace)) if trace[i].startswith(path)), None)
        if place is None:
            return f"{path} is not entered after {trace[at]}"
        at = place
    return ""


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("abc"))


@pytest.fixture(scope="module")
def model(rows: pd.DataFrame) -> Any:
    return HistGradientBoostingRegressor(max_iter=5, random_state=0).fit(rows, rows.a * rows.b)


@pytest.fixture(scope="module")
def calls(
    rows: pd.DataFrame, model: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Callable[[], Any]]:
    """The walks by their titles."""
    home = tmp_path_factory.mktemp("walks")
    (home / "flights").mkdir()
    for number in range(2):
        rows[150 * number :][:150].to_parquet(home / "flights" / f"{number}.parquet")
    (home / "model.pkl").write_bytes(pickle.dumps(model))
    rows.to_csv(home / "flights.csv", index=False)

    def folder() -> Any:
        with small_blocks(100):
            opened = Explainer(model, home / "flights", threads=1, checkpoint=home / "sums")
            return opened.effects()

    line = [
        "report",
        home / "model.pkl",
        home / "flights.csv",
        "-o",
        home / "report.html",
        "--allow-pickle",
        "-q",
    ]
    return {
        "One curve": lambda: Explainer(model, rows, threads=1).partial_dependence("a"),
        "All interactions": lambda: Explainer(model, rows, threads=1).interactions(),
        "All curves of a folder": folder,
        "All curves of a Spark DataFrame": lambda: Explainer(
            model, Parts(pa.Table.from_pandas(rows), [100, 200]), threads=1
        ).effects(),
        "A report": lambda: main([str(word) for word in line], standalone_mode=False),
    }


@pytest.mark.parametrize("walk", re.findall(r"\n\*\*(.+?)\*\*", WALKS))
def test_a_walk_goes_where_it_is_written_to_go(walk: str, calls: dict[str, Callable[[], Any]]) -> None:
    assert len(written(walk)) >= 5
    trace = Trace.of(calls[walk])
    assert astray(walk, trace.entered) == ""
    # Nothing below calls what users call.
    assert {(a, b) for a, b in trace.crossings if b in ("cli", "explainer")} <= {("cli", "explainer")}


def test_a_walk_that_goes_elsewhere_is_seen() -> None:
    straight = list(written("One curve"))
    assert astray("One curve", straight) == ""
    assert "explainer.py is not entered" in astray("One curve", straight[1:])
    assert astray("One curve", [*straight[1:], straight[0]]) != ""
    assert straight[-1] in astray("One curve", straight[:-1])


@pytest.mark.parametrize("engine", ["trees", "brute"])
def test_a_warm_curve_walks_straight(engine: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = HistGradientBoostingRegressor(max_iter=5, random_state=0).fit(X, X[:, 0] * X[:, 1])
    ex = Explainer(model, X, engine=engine, threads=1)
    ex.partial_dependence(1)
    found = Trace.of(lambda: ex.partial_dependence(0)).crossings
    said = sorted(f"{a} -> {b}" for a, b in found)
    assert circles(found) == [], " ".join(said)
    assert len(found) <= MOST_CROSSINGS, said


def test_interactions_and_curves_of_a_folder_walk_straight(
    rows: pd.DataFrame, model: Any, tmp_path: Path
) -> None:
    ex = Explainer(model, rows, threads=1)
    ex.interactions(["a", "b"])
    rows.to_parquet(tmp_path / "rows.parquet")
    stream = Explainer(model, tmp_path, threads=1)
    stream.study.plan  # noqa: B018  (chosen, so that the model is read)
    for call in (lambda: ex.interactions(["a", "c"]), stream.effects):
        found = Trace.of(call).crossings
        assert circles(found) == [], sorted(found)


def test_a_walk_that_turns_back_is_seen() -> None:
    edges = {("a", "b"), ("b", "c"), ("c", "b")}
    assert circles(edges) == ["b", "c"]
    assert circles({("a", "b"), ("b", "c"), ("a", "c")}) == []
