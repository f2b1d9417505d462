"""A worker killed in each phase on each engine: the answer is right or a clear error, never a hang.

Phases are what a worker does: ``scatter`` (it unpickles the model), ``map`` (it is asked about a block), ``merge`` (it joins
outcomes). The worker that is to die is killed (SIGKILL, as if its machine had died) after a seeded random share of a second in that
phase. Every case is a process of its own with 60 seconds after the first question; what it ended with is printed and written as JSON:
``.venv-cluster/bin/python -m benchmarks kills [engine ...]``. ``ICEFIELD_KILLS=20`` is the number of moments a phase (by default 2).
A run goes on where another was stopped: a case that is stored with a good end is not run again. With 0 the table is made of what is stored.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import store

PHASES = ("scatter", "map", "merge")
NEEDS = {"dask": "distributed", "spark": "pyspark", "ray": "ray"}
LIMIT = 60.0  # seconds a question may take once a worker was killed
START = 240.0  # seconds for an engine to start, on a busy machine
ROWS, PARTS, GRID = 20_000, 20, [-1.0, 0.0, 1.0]
GOOD = ("right", "clear error")
STORED = Path(__file__).parent / "kills.json"


class Mortal:
    """A formula whose worker dies once, in a phase, `delay` seconds after that began."""

    def __init__(self, folder: str, phase: str, delay: float) -> None:
        self.folder, self.phase, self.delay, self.driver = folder, phase, delay, os.getpid()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if os.getpid() == self.driver:
            return
        if self.phase == "scatter":
            self._die()
        if self.phase == "merge":
            self._die_merging()

    def __call__(self, rows: Any) -> Any:
        if self.phase == "map" and os.getpid() != self.driver and len(rows) > 64:
            self._die()
        return np.asarray(rows["x0"]) * np.asarray(rows["x1"])

    def _die_merging(self) -> None:
        from icefield.rows.distributed import worker

        united = worker.merge_on_worker

        def dying(*given: Any) -> Any:
            self._die()
            return united(*given)

        worker.merge_on_worker = dying

    def _die(self) -> None:
        try:
            os.close(os.open(os.path.join(self.folder, "killed"), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        pid = os.getpid()
        threading.Timer(self.delay, os.kill, (pid, signal.SIGKILL)).start()


def main() -> None:
    engines = [name for name in sys.argv[2:] if name in NEEDS] or list(NEEDS)
    moments = int(os.environ.get("ICEFIELD_KILLS", "2"))
    for engine in list(engines):
        if importlib.util.find_spec(NEEDS[engine]) is None:
            print(f"{engine} is left out: {NEEDS[engine]} is not installed")
            engines.remove(engine)
    known = {_key(one): one for one in stored()}
    # A moment of every phase on every engine, then the next: a run that is stopped has tried them alike.
    asked = [(engine, phase, moment) for moment in range(moments) for phase in PHASES for engine in engines]
    for case in asked:
        if case not in known or known[case]["ended"] not in GOOD:
            known[case] = one_case(*case)
            print(json.dumps(known[case]), flush=True)
            write(known.values())
    show(list(known.values()))


def show(cases: list[dict[str, Any]]) -> None:
    """The table of the docs: how cases ended, by engine and phase."""
    rows = []
    for engine, phase in itertools.product(NEEDS, PHASES):
        own = [one for one in cases if (one["engine"], one["phase"]) == (engine, phase)]
        if own:
            right, told = (sum(one["ended"] == ended for one in own) for ended in GOOD)
            slowest = max(one.get("seconds", LIMIT) for one in own)
            rows.append([engine, phase, len(own), right, told, len(own) - right - told, f"{slowest:.0f}"])
    store(
        "kills",
        "A worker killed at a random moment",
        ["engine", "killed in", "cases", "right", "a clear error", "neither", "slowest, seconds"],
        rows,
        f"two workers, {PARTS} partitions; 60 seconds are the limit",
        keys=2,
    )


def _key(case: dict[str, Any]) -> tuple[str, str, int]:
    return case["engine"], case["phase"], case["moment"]


def stored() -> list[dict[str, Any]]:
    """The cases that were run, with what each ended with."""
    return list(json.loads(STORED.read_text())["cases"]) if STORED.exists() else []


def write(cases: Iterable[dict[str, Any]]) -> None:
    """Every case on a line of its own."""
    lines = ",\n".join(json.dumps(one) for one in sorted(cases, key=_key))
    STORED.write_text(f'{{"date": "{dt.date.today().isoformat()}", "cases": [\n{lines}\n]}}\n')


def one_case(engine: str, phase: str, moment: int) -> dict[str, Any]:
    """One worker killed at one moment, in a process of its own."""
    delay = round(random.Random(f"{engine} {phase} {moment}").uniform(0.0, 0.5), 3)
    load = round(os.getloadavg()[0], 1)  # of the machine, for who reads seconds
    case = {"engine": engine, "phase": phase, "moment": moment, "delay": delay, "load": load}
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "benchmarks.kills",
            engine,
            phase,
            str(delay),
            folder,
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        ) as process:
            try:
                said, _ = process.communicate(timeout=START + LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return {**case, "ended": "hang"}
        last = (said or "").strip().splitlines()[-1:]
        try:
            ended = json.loads(last[0])
        except (IndexError, ValueError):
            ended = {"ended": "died", "said": f"status {process.returncode}"}
        killed = os.path.exists(os.path.join(folder, "killed"))
    slow = ended.get("seconds", 0.0) > LIMIT
    return {**case, "killed": killed, **ended, **({"ended": "slow"} if slow else {})}


def ask(engine: str, phase: str, delay: float, folder: str) -> None:
    """Start an engine, ask with a worker that dies, print how it ended."""
    import pandas as pd

    from benchmarks.kills import Mortal as Importable
    from icefield import Explainer
    from icefield.errors import IcefieldError

    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(ROWS, 2)), columns=["x0", "x1"])
    model = Importable(folder, phase, delay)
    expected = [float(np.mean(value * rows.x1)) for value in GRID]
    frame = started(engine, rows)
    begun = time.monotonic()
    try:
        found = Explainer(model, frame, row_by_row=True).partial_dependence("x0", grid=GRID)
        right = np.allclose(found.average[0], expected, rtol=1e-9, atol=1e-12)
        ended = {"ended": "right" if right else "WRONG"}
    except IcefieldError as error:
        ended = {"ended": "clear error", "said": str(error)[:200]}
    except Exception as error:
        ended = {"ended": "unclear error", "said": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps({**ended, "seconds": round(time.monotonic() - begun, 1)}), flush=True)
    os.killpg(0, signal.SIGKILL)  # the engine ends with its process


def started(engine: str, rows: Any) -> Any:
    """The rows as a frame of an engine with two workers."""
    from icefield.rows.distributed import backend

    backend.ROWS_A_TASK = 1  # as many tasks as partitions, so that there is a level of merging
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    if engine == "dask":
        import dask.dataframe
        from distributed import Client

        Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
        return dask.dataframe.from_pandas(rows, npartitions=PARTS)
    if engine == "ray":
        import ray

        ray.init(num_cpus=2, object_store_memory=150 * 2**20, include_dashboard=False, log_to_driver=False)
        return ray.data.from_pandas([rows[i::PARTS] for i in range(PARTS)])
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    made = (
        SparkSession.builder.master("local[2,3]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    return made.createDataFrame(rows).repartition(PARTS).cache()


if __name__ == "__main__":
    ask(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4])
