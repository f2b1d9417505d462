"""Passes over rows that never end: interrupted at once, in constant memory, with a bar that says how fast."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from icefield import Explainer, progress
from icefield.rows import stream
from rows.rows import GRID, booster, table

SOURCE = Path(__file__).parent.parent.parent / "src"
CHILD = """
import json, os, resource, signal, sys, threading, time
import numpy as np, pyarrow as pa, lightgbm as lgb
from icefield import Explainer

signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background are born deaf to it
rng = np.random.default_rng(0)
fitted = rng.normal(size=(2000, 6))
model = lgb.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1).fit(fitted, fitted[:, 0] * fitted[:, 1])
names = model.booster_.feature_name()
schema = pa.schema([(name, pa.float64()) for name in names])
kept = [pa.record_batch([pa.array(rng.normal(size=50_000)) for _ in names], schema=schema) for _ in range(4)]

def opened(n_batches, pause=0.0):
    def batches():
        for number in range(n_batches):
            time.sleep(pause)
            yield kept[number % 4]
    return lambda: pa.RecordBatchReader.from_batches(schema, batches())

def asked(ex, kind):
    return {"effects": lambda: ex.effects(), "spread": lambda: ex.partial_dependence(names[0], grid=5),
            "ale": lambda: ex.ale(names[0], bins=[-1.0, 0.0, 1.0])}[kind]()

def interrupted(kind, pause):
    ex = Explainer(model.booster_, opened(100_000, float(pause)), threads=2)
    before, sent = threading.active_count(), []

    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, press)
    timer.start()
    try:
        asked(ex, kind)
        outcome = "finished"
    except KeyboardInterrupt:
        outcome = "interrupted"
    waited = time.monotonic() - sent[0]
    timer.join()
    return {"outcome": outcome, "waited": waited, "threads": threading.active_count() - before}

def used(kind, n_batches):
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    asked(Explainer(model.booster_, opened(10)), kind)
    before = peak()
    asked(Explainer(model.booster_, opened(int(n_batches))), kind)
    return {"used": peak() - before}

print(json.dumps({"interrupted": interrupted, "used": used}[sys.argv[1]](*sys.argv[2:])))
"""


def child(*arguments: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.sampled(3)
@pytest.mark.other_processes
@pytest.mark.parametrize(
    ("kind", "pause"), [("effects", "0"), ("effects", "0.3"), ("spread", "0"), ("ale", "0")]
)
def test_ctrl_c_ends_a_pass_at_once_and_leaves_no_thread(kind, pause):
    """Rows for hours; a block takes well below a second, and the bound leaves room for a busy machine."""
    seen = child("interrupted", kind, pause)
    assert seen["outcome"] == "interrupted"
    assert seen["waited"] < 3.0
    assert seen["threads"] == 0


@pytest.mark.other_processes
def test_memory_does_not_grow_with_the_rows():
    """Five million rows of six columns would be 240 MB."""
    assert child("used", "effects", "100")["used"] < 100


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_says_how_many_rows_a_second_and_how_long_it_will_take(data, monkeypatch):
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(stream, "LEAST_ROWS", 250)
    monkeypatch.setattr(stream, "MOST_ROWS", 500)
    bars = []
    start = progress.Progress._start
    monkeypatch.setattr(progress.Progress, "_start", lambda self: (start(self), bars.append(self))[0])
    whole = table(data)
    import pyarrow.dataset as ds

    Explainer(booster(data), ds.dataset(whole)).effects(grid=GRID)
    passes = [bar for bar in bars if bar.unit == "rows"]
    assert passes
    assert all(bar.total == len(data) and bar.done == len(data) for bar in passes)
    assert "rows/s" in seen.getvalue()
    assert "0:00:0" in seen.getvalue()  # what is left of the time


def test_rows_of_a_query_have_no_total_until_they_were_read(data):
    whole = table(data)
    explainer = Explainer(
        booster(data), lambda: pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches())
    )
    assert explainer.study.rows._stream.n_rows is None
    explainer.effects(grid=GRID)
    assert explainer.study.rows._stream.n_rows == len(data)
    assert repr(explainer).startswith(
        "Explainer(LGBMRegressor, 6000 rows x 5 features streamed from the reader"
    )


def test_an_explainer_of_files_travels(data, folder):
    import pickle

    explainer = Explainer(booster(data), folder, by="side", weights="w")
    expected = explainer.effects(["x0", "k"], grid={"x0": GRID["x0"], "k": GRID["k"]})
    found = pickle.loads(pickle.dumps(explainer)).effects(
        ["x0", "k"], grid={"x0": GRID["x0"], "k": GRID["k"]}
    )
    for feature, effect in expected.items():
        assert (found[feature].average == effect.average).all()


def test_groups_of_one_question_need_rows_in_memory(data, folder, complains):
    explainer = Explainer(booster(data), folder)
    with complains("by", "these are streamed"):
        explainer.partial_dependence("x0", by="side")


def test_rows_near_points_are_counted_anew_after_an_interrupt(folder, data, monkeypatch):
    """Another grid of the same size, asked after a pass that did not end, has weights of its own."""
    monkeypatch.setattr(stream, "LEAST_ROWS", 250)
    monkeypatch.setattr(stream, "MOST_ROWS", 500)
    model = booster(data)
    streamed = Explainer(model, folder, weights="w", by="side")
    streamed.partial_dependence("x0", grid=[0.0, 1.0])  # surveyed
    blocks = stream.Stream.blocks

    def cut_short(self, *given, **named):
        for number, block in enumerate(blocks(self, *given, **named)):
            if number == 3:
                raise KeyboardInterrupt
            yield block

    whole = Explainer(model, data, weights="w", by="side")
    for grid in ([-2.0, -1.0, 2.0], [-0.5, 0.0, 0.5], [1.0, 1.5, 1.6], [0.5, -0.5, 0.0]):
        with monkeypatch.context() as patch:
            patch.setattr(stream.Stream, "blocks", cut_short)
            with pytest.raises(KeyboardInterrupt):
                streamed.partial_dependence("x0", grid=[value + 0.1 for value in grid])
        found, wanted = (ex.partial_dependence("x0", grid=list(grid)) for ex in (streamed, whole))
        assert found.grid[0].tolist() == grid
        np.testing.assert_allclose(found.weight, wanted.weight, rtol=1e-12)
        np.testing.assert_allclose(found.average, wanted.average, rtol=1e-12)
        for side in ("north", "south"):
            np.testing.assert_allclose(found.groups[side].weight, wanted.groups[side].weight, rtol=1e-12)
