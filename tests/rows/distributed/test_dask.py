"""Dask: a cluster of two worker processes, and Dask's own threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import ClusterError, InputError
from icefield.rows.distributed import backend
from rows.distributed import models
from rows.distributed.agreement import agree, agree_all, changes_agree, formula_agrees, unpickled
from rows.rows import FEATURES, GRID, NUMBERS, booster, function, table

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def dd(engine_of):
    engine_of("dask")
    os.environ["SLOW_SECONDS"] = "4"
    import dask.dataframe

    return dask.dataframe


@pytest.fixture(scope="module")
def client(dd):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_two_workers_give_what_memory_gives(client, dd, plain, few_rows):
    agree_all(plain, dd.from_pandas(plain, npartitions=5, sort=False), few_rows)


def test_changes_and_slopes_are_those_of_memory(client, dd, plain, few_rows):
    with few_rows(300):
        frame = dd.from_pandas(plain, npartitions=5, sort=False)
        changes_agree(booster(plain, NUMBERS), plain, frame, weights="w", by="side")


def test_threads_give_what_memory_gives(dd, plain, few_rows):
    import dask

    with dask.config.set(scheduler="threads"):
        agree_all(plain, dd.from_pandas(plain, npartitions=5, sort=False), few_rows)


@pytest.mark.parametrize("npartitions", [1, 7, 40])
def test_counts_do_not_depend_on_partitions_or_order(npartitions, client, dd, data, few_rows):
    model = booster(data)
    expected = Explainer(model, table(data)).effects(grid=GRID)
    shuffled = data.sample(frac=1.0, random_state=npartitions).reset_index(drop=True)
    with few_rows(300):
        there = Explainer(model, dd.from_pandas(shuffled, npartitions=npartitions))
        found = there.effects(grid=GRID)
    for feature in FEATURES:
        assert np.array_equal(found[feature].average, expected[feature].average)


@pytest.mark.parametrize("rows_a_task", [1, 20_000])
def test_many_small_partitions_of_which_the_first_are_empty(
    rows_a_task, client, dd, plain, few_rows, monkeypatch
):
    """Each a task of its own, merged in levels, or several together."""
    from dask import delayed

    monkeypatch.setattr(backend, "ROWS_A_TASK", rows_a_task)
    parts = [*[plain[:0]] * 10, *(plain[at : at + 100] for at in range(0, len(plain), 100))]
    frame = dd.from_delayed([delayed(part) for part in parts], meta=plain[:0], verify_meta=False)
    with few_rows(300):
        there = agree(booster(plain, NUMBERS), plain, frame, ["effects", "one-way, with spread"])
    origin = there.study.rows._partitions.backend
    assert len(origin._tasks) == (40 if rows_a_task == 1 else 4)
    assert (
        origin.where(0) == f"{'partition 0' if rows_a_task == 1 else 'partitions 0 to 17'} of {origin.label}"
    )


def test_the_sample_is_that_of_the_stream(client, dd, plain, folder, few_rows):
    model = booster(plain, NUMBERS)
    with few_rows(300):
        streamed = Explainer(model, folder)
        there = Explainer(model, dd.read_parquet(folder))
        assert there.table.column("x0").values.tolist() == streamed.table.column("x0").values.tolist()
        one, other = (ex.ice("x2", grid=GRID["x2"], rows=20).individual for ex in (streamed, there))
    assert np.allclose(one, other, rtol=1e-12)


def test_levels_that_dask_does_not_know(client, dd, data):
    frame = dd.from_pandas(data, npartitions=3)
    frame["level"] = frame["level"].cat.as_unknown()
    agree(booster(data), data, frame, ["effects"])


def test_empty_and_skewed_partitions_and_another_order_of_columns(client, dd, plain):
    from dask import delayed

    parts = [plain[:0], plain[:2_800], plain[2_800:2_801], plain[:0], plain[2_801:][plain.columns[::-1]]]
    frame = dd.from_delayed([delayed(part) for part in parts], meta=plain[:0], verify_meta=False)
    agree(booster(plain, NUMBERS), plain, frame, ["effects", "one-way, with spread"])


def test_a_partition_without_a_column_is_named(client, dd, plain):
    from dask import delayed

    parts = [plain[:1_000], plain[1_000:].drop(columns="x2")]
    frame = dd.from_delayed([delayed(part) for part in parts], meta=plain[:0], verify_meta=False)
    with pytest.raises((ClusterError, InputError), match=r"partition 1 of the Dask DataFrame.*x2"):
        Explainer(booster(plain, NUMBERS), frame).effects(grid={name: GRID[name] for name in NUMBERS})


def test_a_partition_of_another_type_is_named(client, dd, plain, complains):
    from dask import delayed

    parts = [plain[:1_000], plain[1_000:].assign(x0="text")]
    frame = dd.from_delayed([delayed(part) for part in parts], meta=plain[:0], verify_meta=False)
    with complains("X", "partition 1 of the Dask DataFrame", "x0"):
        Explainer(booster(plain, NUMBERS), frame).effects()


def test_a_killed_worker_is_made_up_for(client, dd, plain, tmp_path):
    frame = dd.from_pandas(plain, npartitions=6)
    formula_agrees(models.KillsOnce(tmp_path), plain, frame)
    assert (tmp_path / "killed").exists()


def test_workers_that_die_again_and_again_end_in_an_error(client, dd, plain, tmp_path):
    begun = time.monotonic()
    with pytest.raises(ClusterError, match=r"partition [\d, ]+ of the Dask DataFrame"):
        Explainer(
            models.KillsAlways(tmp_path), dd.from_pandas(plain, npartitions=2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 60
    client.wait_for_workers(2, timeout=30)


@pytest.mark.parametrize("times", [1, 3])
def test_a_worker_lost_while_the_model_is_sent_to_it(client, dd, plain, monkeypatch, times):
    scatter, tried = client.scatter, []

    def breaking(*given, **options):
        tried.append(1)
        if len(tried) <= times:
            raise OSError("Stream is closed")
        return scatter(*given, **options)

    monkeypatch.setattr(client, "scatter", breaking)
    frame = dd.from_pandas(plain, npartitions=2)
    explainer = Explainer(booster(plain, NUMBERS), frame)
    if times == 1:
        explainer.partial_dependence("x0", grid=[0.0])
        assert len(tried) > 1
        return
    with pytest.raises(ClusterError, match="partition 0, 1 of the Dask DataFrame"):
        explainer.partial_dependence("x0", grid=[0.0])


def test_a_task_that_is_tried_again_counts_once(client, dd, plain, tmp_path):
    formula_agrees(models.FailsOnce(tmp_path), plain, dd.from_pandas(plain, npartitions=4))
    assert (tmp_path / "failed").exists()


def test_an_error_of_the_model_names_the_partition(client, dd, plain, tmp_path):
    with pytest.raises(ClusterError, match=r"partition 0 of the Dask DataFrame.*no such number"):
        Explainer(
            models.Fails(tmp_path), dd.from_pandas(plain, npartitions=2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])


def test_the_model_is_unpickled_once_a_worker(client, dd, plain, tmp_path):
    model = models.Counted(tmp_path)
    explainer = Explainer(model, dd.from_pandas(plain, npartitions=12), row_by_row=True)
    for grid in ([0.0], [1.0], [2.0]):
        explainer.partial_dependence("x0", grid=grid)
    seen = unpickled(tmp_path)
    assert len(seen) == len(set(seen)) <= 2


def test_a_model_that_does_not_pickle_is_refused_before_any_job(client, dd, plain, tmp_path, complains):
    explainer = Explainer(models.Locked(tmp_path), dd.from_pandas(plain, npartitions=2), row_by_row=True)
    with complains("model", "pickled"):
        explainer.partial_dependence("x0", grid=[0.0])


def test_a_model_that_answers_otherwise_there_is_refused(client, dd, plain, tmp_path):
    with pytest.raises(ClusterError, match="predicts differently"):
        Explainer(
            models.Elsewhere(tmp_path), dd.from_pandas(plain, npartitions=2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])


def set_version(module: str, version: str) -> str:
    import importlib

    found = importlib.import_module(module)
    before, found.__version__ = found.__version__, version
    return before


def test_versions_are_compared(client, dd, plain):
    from icefield.errors import VersionWarning
    from icefield.rows.distributed import broadcast

    frame, model = dd.from_pandas(plain, npartitions=4), booster(plain, NUMBERS)
    here = broadcast.__version__
    client.run(set_version, "icefield.rows.distributed.broadcast", "0.0.1")
    try:
        with pytest.raises(ClusterError, match=rf"icefield {here} where the question is asked, 0\.0\.1 on"):
            Explainer(model, frame).effects(["x0"], grid={"x0": [0.0]})
    finally:
        client.run(set_version, "icefield.rows.distributed.broadcast", here)
    import lightgbm

    client.run(set_version, "lightgbm", "4.0.0")
    try:
        with pytest.warns(VersionWarning, match=rf"lightgbm {lightgbm.__version__} where .*4\.0\.0 on"):
            agree(model, plain, frame, ["effects"])
    finally:
        client.run(set_version, "lightgbm", lightgbm.__version__)


def test_progress_comes_from_dask(client, dd, plain, monkeypatch):
    from icefield.rows.distributed import dask as dask_frame

    seen: list[tuple[float, float]] = []
    monkeypatch.setattr(dask_frame, "show", lambda _, done, tasks: seen.append((done, tasks)))
    frame = dd.from_pandas(plain, npartitions=6)
    Explainer(function(plain), frame, row_by_row=True).partial_dependence("x0", grid=[0.0])
    assert seen
    assert all(0 <= done <= tasks for done, tasks in seen)


def test_ctrl_c_ends_the_job_there(client, dd, plain, tmp_path, interrupting, monkeypatch):
    monkeypatch.setattr(
        backend, "ROWS_A_TASK", 1
    )  # a block is one call of the model, and what runs ends with it
    interrupting((tmp_path / "began").exists)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Explainer(
            models.Slow(tmp_path), dd.from_pandas(plain, npartitions=8), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 20
    wait_for(lambda: not any(client.processing().values()), 15)
    began = len((tmp_path / "began").read_text().split())
    time.sleep(6)
    assert len((tmp_path / "began").read_text().split()) == began <= 4
    formula_agrees(function(plain), plain, dd.from_pandas(plain, npartitions=3))


def test_rows_that_change_between_passes_are_refused(client, dd, plain, tmp_path):
    path = tmp_path / "limit"
    path.write_text("3000")

    def cut(part: pd.DataFrame) -> pd.DataFrame:
        return part[: int(path.read_text())]

    frame = dd.from_pandas(plain, npartitions=2).map_partitions(cut, meta=plain[:0])
    explainer = Explainer(booster(plain, NUMBERS), frame)
    explainer.effects(["x0"], grid={"x0": [0.0]})
    path.write_text("1000")
    with pytest.raises(
        ClusterError, match=r"2000 rows in this pass and 3000 before, partition 0 1000 instead of 1500"
    ):
        explainer.effects(["x2"], grid={"x2": [0.0]})


LOST = """
import sys, time
from rows.distributed import models
from icefield import Explainer
from icefield.errors import ClusterError
import dask.dataframe as dd, distributed, pathlib
from rows.rows import frame

client = distributed.Client(sys.argv[1])
client.wait_for_workers(1, timeout=60)
rows = dd.from_pandas(frame(3_000).drop(columns="level"), npartitions=4)
try:
    Explainer(models.Slow(pathlib.Path(sys.argv[2])), rows, row_by_row=True).partial_dependence("x0", grid=[0.0])
except ClusterError as error:
    print("told:", error, flush=True)
    import os
    os._exit(7)
"""


def test_a_lost_scheduler_is_an_error_within_a_minute(dd, tmp_path):
    address = tmp_path / "scheduler.json"
    run = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen([*run, "--port", "0", "--no-dashboard", "--scheduler-file", str(address)])
    nobody = subprocess.DEVNULL
    worker = asking = None
    try:
        wait_for(address.exists)
        time.sleep(0.5)
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(address), "--no-dashboard", "--nthreads", "1"],
            stdout=nobody, stderr=nobody, env={**os.environ, "SLOW_SECONDS": "100"},
        )  # fmt: skip
        import json

        asking = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", LOST, json.loads(address.read_text())["address"], str(tmp_path)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "SLOW_SECONDS": "100"},
        )  # fmt: skip
        wait_for((tmp_path / "began").exists)
        scheduler.send_signal(signal.SIGKILL)
        begun = time.monotonic()
        said, _ = asking.communicate(timeout=75)
        assert asking.returncode == 7, said
        assert "told:" in said
        assert time.monotonic() - begun < 60
    finally:
        for process in (asking, worker, scheduler):
            if process is not None and process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()


def wait_for(ready, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
