"""Ctrl-C: a real signal, in a process of its own, while the model is at work."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

CHILD = """
import json, os, signal, sys, threading, time, multiprocessing
import numpy as np
import icefield

def slow(rows):
    time.sleep(0.002 * len(rows))
    return rows[:, 0]

def main():
    place = sys.argv[1]
    X = np.random.default_rng(0).normal(size=(4000, 3))
    if place == "sklearn":
        from sklearn.svm import SVR
        ex = icefield.Explainer(SVR(epsilon=0.0).fit(X[:1500], X[:1500, 0] * X[:1500, 1]), X)
    else:
        choices = {"here": {}, "threads": {"threads": 3}, "processes": {"processes": 2}}[place]
        ex = icefield.Explainer(slow, X, **choices)
    before = threading.active_count()
    sent = []

    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(8.0 if place == "processes" else 2.0, press)
    timer.start()
    try:
        ex.partial_dependence(0)
        outcome = "finished"
    except KeyboardInterrupt:
        outcome = "interrupted"
    waited = time.monotonic() - (sent[0] if sent else 0.0)
    timer.join()
    left = threading.active_count() - before
    children = len(multiprocessing.active_children())
    again = ex.partial_dependence(0, grid=[0.5], rows=20).n_rows
    print(json.dumps({"outcome": outcome, "waited": waited, "threads": left, "children": children,
                      "again": again}))

if __name__ == "__main__":
    main()
"""


def interrupted(place: str, tmp_path) -> dict:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    done = subprocess.run(
        [sys.executable, str(script), place],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("place", ["here", "threads", "sklearn"])
def test_ctrl_c_returns_at_once_and_the_next_call_works(place, tmp_path):
    """A call lasts about half a second; the bound leaves room for a busy machine."""
    seen = interrupted(place, tmp_path)
    assert seen["outcome"] == "interrupted"
    assert seen["waited"] < 3.0
    assert seen["threads"] == 0
    assert seen["again"] == 20


@pytest.mark.slow
def test_ctrl_c_leaves_no_process(tmp_path):
    seen = interrupted("processes", tmp_path)
    assert seen["outcome"] == "interrupted"
    assert seen["waited"] < 6.0
    assert seen["children"] == 0
    assert seen["again"] == 20
