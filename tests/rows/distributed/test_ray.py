"""Ray on this machine, with two processors and a small object store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from icefield import Explainer
from icefield.errors import ClusterError
from rows.distributed import models
from rows.distributed.agreement import agree, agree_all, changes_agree, formula_agrees, unpickled
from rows.rows import FEATURES, GRID, NUMBERS, booster, function, table

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def ray(engine_of):
    engine_of("ray")
    os.environ["SLOW_SECONDS"] = "20"
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    import ray

    ray.init(
        num_cpus=2,
        object_store_memory=150 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def blocks(ray, rows, cuts):
    parts = [table(rows[start:stop]) for start, stop in zip([0, *cuts], [*cuts, len(rows)])]
    return ray.data.from_arrow(parts)


def test_ray_gives_what_memory_gives(ray, plain, few_rows):
    agree_all(plain, blocks(ray, plain, [400, 1_900, 2_500]), few_rows)


def test_changes_and_slopes_are_those_of_memory(ray, plain, few_rows):
    with few_rows(300):
        frame = blocks(ray, plain, [400, 1_900, 2_500])
        changes_agree(booster(plain, NUMBERS), plain, frame, weights="w", by="side")


@pytest.mark.parametrize("n_blocks", [1, 9])
def test_counts_do_not_depend_on_blocks_or_order(n_blocks, ray, data, few_rows):
    model = booster(data)
    expected = Explainer(model, table(data)).effects(grid=GRID)
    shuffled = data.sample(frac=1.0, random_state=n_blocks).reset_index(drop=True)
    cuts = np.linspace(0, len(data), n_blocks + 1)[1:-1].astype(int).tolist()
    with few_rows(300):
        found = Explainer(model, blocks(ray, shuffled, cuts)).effects(grid=GRID)
    for feature in FEATURES:
        assert np.array_equal(found[feature].average, expected[feature].average)


@pytest.mark.parametrize("rows_a_task", [1, 20_000])
def test_many_small_blocks(rows_a_task, ray, plain, few_rows, monkeypatch):
    """Each a task of its own, or several together."""
    from icefield.rows.distributed import backend

    monkeypatch.setattr(backend, "ROWS_A_TASK", rows_a_task)
    frame = blocks(ray, plain, list(range(100, len(plain), 100)))
    with few_rows(300):
        there = agree(booster(plain, NUMBERS), plain, frame, ["effects", "one-way, with spread"])
    assert there.study.rows._partitions.backend._task_rows == (None if rows_a_task == 1 else 750)


def test_files(ray, plain, folder, few_rows):
    with few_rows(300):
        agree(
            booster(plain, NUMBERS),
            plain,
            ray.data.read_parquet(str(folder)),
            ["effects", "one-way, with spread"],
        )


def test_empty_and_skewed_blocks_and_another_order_of_columns(ray, plain):
    whole = table(plain)
    other = whole.slice(2_801).select(whole.column_names[::-1])
    parts = [whole.slice(0, 0), whole.slice(0, 2_800), whole.slice(2_800, 1), whole.slice(0, 0), other]
    agree(booster(plain, NUMBERS), plain, ray.data.from_arrow(parts), ["effects", "one-way, with spread"])


def test_the_same_rows_twice_count_twice(ray, plain):
    import pandas as pd

    once = blocks(ray, plain, [1_500])
    twice = pd.concat([plain, plain], ignore_index=True)
    agree(booster(plain, NUMBERS), twice, once.union(once), ["effects"])


def test_blocks_of_two_types_end_in_an_error(ray, plain):
    """Ray itself refuses them, before icefield sees a row."""
    parts = [table(plain[:1_000]), table(plain[1_000:].assign(x0="text"))]
    with pytest.raises(ClusterError, match=r"Ray Dataset.*x0"):
        Explainer(booster(plain, NUMBERS), ray.data.from_arrow(parts)).effects()


def test_a_killed_worker_is_made_up_for(ray, plain, tmp_path):
    formula_agrees(models.KillsOnce(tmp_path), plain, blocks(ray, plain, [700, 1_400, 2_000]))
    assert (tmp_path / "killed").exists()


def test_an_error_of_the_model_names_the_partition(ray, plain, tmp_path):
    with pytest.raises(ClusterError, match=r"partition \d of the Ray Dataset.*no such number"):
        Explainer(models.Fails(tmp_path), blocks(ray, plain, [1_500]), row_by_row=True).partial_dependence(
            "x0", grid=[0.0]
        )


def test_the_model_is_unpickled_once_a_worker(ray, plain, tmp_path):
    explainer = Explainer(
        models.Counted(tmp_path), blocks(ray, plain, [300, 600, 900, 1_200, 1_500, 1_800]), row_by_row=True
    )
    for grid in ([0.0], [1.0]):
        explainer.partial_dependence("x0", grid=grid)
    seen = unpickled(tmp_path)
    assert len(seen) == len(set(seen))


def test_a_model_that_does_not_pickle_is_refused_before_any_job(ray, plain, tmp_path, complains):
    explainer = Explainer(models.Locked(tmp_path), blocks(ray, plain, [1_500]), row_by_row=True)
    with complains("model", "pickled"):
        explainer.partial_dependence("x0", grid=[0.0])


def test_ctrl_c_ends_the_job_there(ray, plain, tmp_path, interrupting):
    interrupting((tmp_path / "began").exists)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Explainer(
            models.Slow(tmp_path), blocks(ray, plain, [500, 1_000, 1_500, 2_000]), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 18
    formula_agrees(function(plain), plain, blocks(ray, plain, [1_500]))
    assert time.monotonic() - begun < 18  # who slept is gone
    time.sleep(1)
    assert len((tmp_path / "began").read_text().split()) < 5  # tasks that were waiting never began
    assert not (tmp_path / "ended").exists()


LOST = """
import os, pathlib, sys
import ray
from rows.distributed import models
from icefield import Explainer
from icefield.errors import ClusterError
from rows.rows import frame, table

ray.init(num_cpus=2, object_store_memory=100 * 2**20, include_dashboard=False, log_to_driver=False)
rows = table(frame(2_000).drop(columns="level"))
try:
    Explainer(models.Slow(pathlib.Path(sys.argv[1])), ray.data.from_arrow([rows]), row_by_row=True).partial_dependence("x0", grid=[0.0])
except ClusterError as error:
    print("told:", error, flush=True)
    os._exit(7)
"""


def test_a_lost_head_ends_the_question_within_a_minute(ray, tmp_path):
    """Ray ends a process whose head is gone by itself; before that, the question ends in an error."""
    asking = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LOST, str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "SLOW_SECONDS": "300"},
    )  # fmt: skip
    try:
        end = time.monotonic() + 60
        while not (tmp_path / "began").exists():
            assert time.monotonic() < end
            time.sleep(0.1)
        heads = _children(asking.pid, "gcs_server")
        assert heads
        for head in heads:
            os.kill(head, signal.SIGKILL)
        begun = time.monotonic()
        said, _ = asking.communicate(timeout=75)
        assert asking.returncode != 0, said
        assert time.monotonic() - begun < 60, said
    finally:
        left = [*_children(asking.pid, ""), asking.pid]
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        asking.wait()


def _children(parent: int, name: str) -> list[int]:
    """Processes that a process started whose command holds a name."""
    import psutil

    try:
        found = psutil.Process(parent).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [one.pid for one in found if name in " ".join(one.cmdline())]
