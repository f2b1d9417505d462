"""The walk of a warm curve through the rooms: straight, and with few crossings from one room to another."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield
from icefield import Explainer

SOURCE = Path(icefield.__file__).parent
MOST_CROSSINGS = 12
# Everybody uses them: words for errors, counts as text, a progress bar, threads.
COMMON = ("errors", "counts", "typing", "progress", "validate", "threads", "sampling")
# What the core declares for all: values and protocols that pass between rooms, and no step of the walk.
DECLARED = ("core/rows.py", "core/question.py")


def room_of(frame: FrameType) -> str | None:
    """The folder, or the module beside them, that a frame's code lies in; None outside the package."""
    file = Path(frame.f_code.co_filename)
    if not file.is_relative_to(SOURCE):
        return None
    place = file.relative_to(SOURCE)
    room = place.parts[0].removesuffix(".py")
    return None if room in COMMON or place.as_posix() in DECLARED else room


def crossings(call: Callable[[], Any]) -> set[tuple[str, str]]:
    """From which room to which a call leads, in this thread and in those it starts."""
    found: set[tuple[str, str]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (room := room_of(frame)) is None:
            return
        caller = frame.f_back
        while caller is not None and room_of(caller) is None:
            caller = caller.f_back
        if caller is not None and (before := room_of(caller)) not in (None, room):
            found.add((str(before), room))

    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def circles(edges: set[tuple[str, str]]) -> list[str]:
    """Rooms that lead back to themselves."""
    reached = {room: {b for a, b in edges if a == room} for edge in edges for room in edge}
    for _ in reached:
        for room, further in reached.items():
            reached[room] = further | {b for a in further for b in reached[a]}
    return sorted(room for room, further in reached.items() if room in further)


@pytest.mark.parametrize("engine", ["trees", "brute"])
def test_a_warm_curve_walks_straight(engine: Any) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = HistGradientBoostingRegressor(max_iter=5, random_state=0).fit(X, X[:, 0] * X[:, 1])
    ex = Explainer(model, X, engine=engine, threads=1)
    ex.partial_dependence(1)
    found = crossings(lambda: ex.partial_dependence(0))
    said = sorted(f"{a} -> {b}" for a, b in found)
    assert circles(found) == [], " ".join(said)
    assert len(found) <= MOST_CROSSINGS, said


def test_a_walk_that_turns_back_is_seen() -> None:
    edges = {("a", "b"), ("b", "c"), ("c", "b")}
    assert circles(edges) == ["b", "c"]
    assert circles({("a", "b"), ("b", "c"), ("a", "c")}) == []
