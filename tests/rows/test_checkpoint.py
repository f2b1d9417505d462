"""Long passes that are cut short go on where they were: nothing counted twice, nothing lost."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from icefield import Explainer, Grid
from icefield.rows import checkpoint as module
from icefield.rows import stream, stream_rows
from icefield.statistics.ale import ales
from rows.rows import FEATURES, GRID, booster, table

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks, each of which is written down."""
    monkeypatch.setattr(stream, "LEAST_ROWS", 250)
    monkeypatch.setattr(stream, "MOST_ROWS", 500)
    monkeypatch.setattr(module, "EVERY", 0.0)


@pytest.fixture(scope="module")
def model(data):
    return booster(data)


class Killed(BaseException):
    pass


def cut_short(monkeypatch, after: int) -> None:
    """The pass ends, as by a kill, after so many writings."""
    write, left = module.Checkpoint.write, [after]

    def counted(self, *given, **named):
        write(self, *given, **named)
        left[0] -= 1
        if left[0] <= 0:
            raise Killed

    monkeypatch.setattr(module.Checkpoint, "write", counted)


def blocks_read(monkeypatch) -> list[int]:
    """The first row of every block that is read."""
    read: list[int] = []
    blocks = stream.Stream.blocks

    def noted(self, columns=None, skip=0):
        read.append(skip)
        return blocks(self, columns, skip)

    monkeypatch.setattr(stream.Stream, "blocks", noted)
    return read


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("after", "options"),
    [
        *((after, {}) for after in (1, 5, 12)),  # one pass sketches and counts
        *((after, {"weights": "w", "by": "side"}) for after in (1, 5, 14, 19)),
        *((after, {"engine": "brute"}) for after in (1, 5, 14, 19)),
    ],
    ids=str,
)
def test_a_run_goes_on_where_it_was(after, options, data, folder, model, tmp_path, monkeypatch, small_blocks):
    place = tmp_path / "sums"
    asked = {"features": ["x0", "k"], "grid": {"x0": GRID["x0"], "k": GRID["k"]}}
    expected = Explainer(model, folder, **options).effects(**asked)
    with monkeypatch.context() as patched:
        cut_short(patched, after)
        with pytest.raises(Killed):
            Explainer(model, folder, checkpoint=place, **options).effects(**asked)
    read = blocks_read(monkeypatch)
    found = Explainer(model, folder, checkpoint=place, **options).effects(**asked)
    assert max(read) > 0
    for feature in ("x0", "k"):
        assert found[feature].n_rows == len(data)
        assert np.array_equal(found[feature].average, expected[feature].average)
        assert np.array_equal(found[feature].weight, expected[feature].weight)


def test_what_is_finished_is_not_read_again(data, folder, model, tmp_path, monkeypatch, small_blocks):
    place = tmp_path / "sums"
    first = Explainer(model, folder, checkpoint=place).effects(grid=GRID)
    read = blocks_read(monkeypatch)
    again = Explainer(model, folder, checkpoint=place).effects(grid=GRID)
    assert read == []
    for feature in FEATURES:
        assert np.array_equal(first[feature].average, again[feature].average)


def test_other_data_another_model_and_another_question_are_refused(
    data, folder, model, tmp_path, monkeypatch, complains, small_blocks
):
    place = tmp_path / "sums"
    with monkeypatch.context() as patched:
        cut_short(patched, 6)
        with pytest.raises(Killed):
            Explainer(model, folder, checkpoint=place).effects(grid=GRID)
    with complains("checkpoint", "another request", str(place)):
        Explainer(model, folder, checkpoint=place).partial_dependence("x0", grid=[0.0, 1.0])
    with complains("checkpoint", "another model"):
        Explainer(booster(data, max_depth=2), folder, checkpoint=place).effects(grid=GRID)
    pq.write_table(table(data), tmp_path / "other.parquet")
    with complains("checkpoint", "data"):
        Explainer(model, tmp_path / "other.parquet", checkpoint=place).effects(grid=GRID)
    Explainer(model, folder, checkpoint=place).effects(grid=GRID)  # the question it is about


def test_a_file_that_is_no_checkpoint_is_refused_and_left_alone(folder, model, tmp_path, complains):
    place = tmp_path / "notes.txt"
    place.write_text("do not lose this")
    with complains("checkpoint", "notes.txt"):
        Explainer(model, folder, checkpoint=place).effects(grid=GRID)
    assert place.read_text() == "do not lose this"


def test_a_checkpoint_with_other_sums_is_refused(folder, model, tmp_path, complains):
    """Whole as a file, with one number changed: zip, JSON and numpy have nothing to say about that."""
    path = tmp_path / "sums"
    Explainer(model, folder, checkpoint=path).partial_dependence("x0", grid=GRID["x0"])
    with np.load(path) as file:
        held = {key: file[key] for key in file.files}
    changed = [key for key in held if key != "about" and held[key].dtype.kind == "f" and held[key].size]
    assert changed
    for key in (changed[0], changed[-1]):
        other = held[key].copy()
        other.flat[0] = 1.0 + 2.0 * np.nan_to_num(other.flat[0])
        with path.open("wb") as file:
            np.savez(file, **{**held, key: other})
        with complains("checkpoint", "is not a readable checkpoint"):
            Explainer(model, folder, checkpoint=path).partial_dependence("x0", grid=GRID["x0"])


def test_rows_in_memory_need_none(data, model, complains):
    with complains("checkpoint", "in memory"):
        Explainer(model, data[FEATURES], checkpoint="sums")


SCRIPT = """
import sys, pickle, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background are born deaf to it
from icefield import Explainer, Grid
from icefield.rows import checkpoint, stream
stream.LEAST_ROWS, stream.MOST_ROWS, checkpoint.EVERY = 250, 500, 0.0
folder, place, model, pause = sys.argv[1:]
with open(model, "rb") as file:
    model = pickle.load(file)
ex = Explainer(model, folder, checkpoint=place, threads=2)
from icefield.rows.survey import Survey
slow = Survey.add
Survey.add = lambda self, *given: (time.sleep(float(pause)), slow(self, *given))[1]
print("ready", flush=True)
ex.effects(["x0", "k"], grid={"x0": [-1.0, 0.0, 1.0], "k": [0, 1, 2]})
print("done", flush=True)
"""


@pytest.mark.sampled(3)
@pytest.mark.other_processes
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_process_is_followed_by_one_that_finishes(how, folder, data, model, tmp_path, small_blocks):
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    place = tmp_path / "sums"
    command = [sys.executable, "-c", SCRIPT, str(folder), str(place), str(tmp_path / "model")]
    # The first is slow, so that it is killed at work.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [*command, "0.15"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        for _ in range(600):
            if place.exists():
                break
            time.sleep(0.05)
        running.send_signal(how)
        assert running.wait(timeout=30) != 0
    assert place.exists()
    done = subprocess.run([*command, "0"], env=environment, capture_output=True, text=True, timeout=120)
    assert "done" in done.stdout, done.stderr
    asked = {"x0": [-1.0, 0.0, 1.0], "k": [0, 1, 2]}
    found = Explainer(model, folder, checkpoint=place).effects(["x0", "k"], grid=asked)
    expected = Explainer(model, table(data)).effects(["x0", "k"], grid=asked)
    for feature in asked:
        assert found[feature].n_rows == len(data)
        assert np.array_equal(found[feature].average, expected[feature].average)
    assert not list(tmp_path.glob("*.part"))


ASKED = {
    "ale": lambda ex: ex.ale("x0", bins=[-1.0, 0.0, 1.0]),
    "ale of several": lambda ex: ales(ex.study, ["k", "x0"], bins=[-1.0, 0.0, 1.0])[1],
    "ale of two": lambda ex: ex.ale("x0", "k", bins=[[-1.0, 0.0, 1.0], [0, 2, 4]]),
    "exact quantiles": lambda ex: ex.partial_dependence(
        "x0", grid=Grid("quantile", 5, exact=True), spread=False
    ),
    "spread": lambda ex: ex.partial_dependence("x0", grid=[0.0, 1.0]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("after", [3, 17, 25])
@pytest.mark.parametrize("asked", ASKED)
def test_every_kind_of_pass_goes_on(asked, after, data, folder, model, tmp_path, monkeypatch, small_blocks):
    monkeypatch.setattr(stream_rows, "STREAMED_ROWS", 400)
    place = tmp_path / "sums"
    options = {"weights": "w", "by": "side"}
    expected = ASKED[asked](Explainer(model, folder, **options))
    with monkeypatch.context() as patched:
        cut_short(patched, after)
        with pytest.raises(Killed):
            ASKED[asked](Explainer(model, folder, checkpoint=place, **options))
    found = ASKED[asked](Explainer(model, folder, checkpoint=place, **options))
    assert found.n_rows == expected.n_rows
    assert np.array_equal(found.average, expected.average)
    assert np.array_equal(found.weight, expected.weight)
    assert np.array_equal(found.grid[0], expected.grid[0])
    if expected.se is not None:
        assert np.array_equal(found.se, expected.se)


def test_sums_that_a_survey_left_are_taken_up_by_another_question(
    data, folder, model, tmp_path, monkeypatch, small_blocks
):
    """A first pass that is complete is not made again for a question that could have shared it."""
    place = tmp_path / "sums"
    Explainer(model, folder, checkpoint=place).partial_dependence("x0", grid=[0.0, 1.0])
    read = blocks_read(monkeypatch)
    found = Explainer(model, folder, checkpoint=place).effects(grid=GRID)
    assert len(read) == 1  # only the counting
    expected = Explainer(model, table(data)).effects(grid=GRID)
    for feature in FEATURES:
        assert np.array_equal(found[feature].average, expected[feature].average)
