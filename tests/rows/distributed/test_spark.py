"""Spark in this process: two threads of tasks, each tried up to three times, and executors in processes of their own."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import numpy as np
import pytest

from icefield import Explainer
from icefield.errors import ClusterError
from rows.distributed import models
from rows.distributed.agreement import agree, agree_all, changes_agree, formula_agrees, unpickled
from rows.rows import GRID, NUMBERS, booster, function, table

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def spark(engine_of):
    engine_of("spark")
    os.environ["SLOW_SECONDS"] = "20"
    from pyspark.sql import SparkSession

    made = (
        SparkSession.builder.master("local[2,3]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    with suppress(Exception):  # the last test ends Spark by force
        made.stop()


def test_spark_gives_what_memory_gives(spark, plain, folder, few_rows):
    agree_all(plain, spark.read.parquet(str(folder)).repartition(4), few_rows)


def test_changes_and_slopes_are_those_of_memory(spark, plain, folder, few_rows):
    with few_rows(300):
        frame = spark.read.parquet(str(folder)).repartition(4)
        changes_agree(booster(plain, NUMBERS), plain, frame, weights="w", by="side")


@pytest.mark.parametrize("partitions", [1, 9])
def test_counts_do_not_depend_on_partitions_or_order(partitions, spark, plain, folder, few_rows):
    model = booster(plain, NUMBERS)
    expected = Explainer(model, table(plain)).effects(grid={n: GRID[n] for n in NUMBERS})
    with few_rows(300):
        frame = spark.read.parquet(str(folder)).repartition(partitions)
        found = Explainer(model, frame).effects(grid={n: GRID[n] for n in NUMBERS})
    for feature in NUMBERS:
        assert np.array_equal(found[feature].average, expected[feature].average)
        assert found[feature].n_rows == len(plain)


def test_many_partitions_merge_on_the_cluster(spark, plain, monkeypatch, few_rows):
    from icefield.rows.distributed import backend

    monkeypatch.setattr(backend, "ROWS_A_TASK", 1)
    frame = spark.createDataFrame(plain).repartition(18)
    with few_rows(300):
        agree(booster(plain, NUMBERS), plain, frame, ["effects"])


def test_small_and_empty_partitions_are_taken_together(spark, plain, few_rows, caplog):
    whole = spark.createDataFrame(plain).repartition(20, "k")  # fewer values than partitions: many are empty
    with few_rows(300):
        there = agree(booster(plain, NUMBERS), plain, whole, ["effects", "one-way, with spread"])
    origin = there.study.rows._partitions.backend
    assert origin._partitions == 4  # twice the tasks that run at once
    assert "cache() it" in caplog.text
    kept = whole.cache()
    assert not type(origin)(kept).costly()
    kept.unpersist()


def test_empty_and_skewed_partitions(spark, plain):
    frame = spark.createDataFrame(plain)
    skewed = frame.repartitionByRange(5, "k").filter("k <> 3 OR x0 < 0")
    rows = plain[(plain.k != 3) | (plain.x0 < 0)]
    with_empty = skewed.unionByName(frame.filter("x0 > 1e9").repartition(3))
    agree(booster(plain, NUMBERS), rows, with_empty, ["effects", "one-way, with spread"])


def test_a_file_with_another_order_of_columns(spark, plain, tmp_path):
    plain[:1_500].to_parquet(tmp_path / "0.parquet", index=False)
    plain[1_500:][plain.columns[::-1]].to_parquet(tmp_path / "1.parquet", index=False)
    agree(booster(plain, NUMBERS), plain, spark.read.parquet(str(tmp_path)), ["effects"])


def test_no_rows_at_all(spark, plain, complains):
    with complains("X", "no rows"):
        Explainer(booster(plain, NUMBERS), spark.createDataFrame(plain).filter("x0 > 1e9"))


def test_a_killed_worker_is_made_up_for(spark, plain, tmp_path):
    formula_agrees(models.KillsOnce(tmp_path), plain, spark.createDataFrame(plain).repartition(4))
    assert (tmp_path / "killed").exists()


def test_workers_that_die_again_and_again_end_in_an_error(spark, plain, tmp_path):
    begun = time.monotonic()
    with pytest.raises(ClusterError, match=r"partition \d of the Spark DataFrame \(tried 3 times\)"):
        Explainer(
            models.KillsAlways(tmp_path), spark.createDataFrame(plain).repartition(2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 60


def test_a_task_that_is_tried_again_counts_once(spark, plain, tmp_path):
    formula_agrees(models.FailsOnce(tmp_path), plain, spark.createDataFrame(plain).repartition(4))
    assert (tmp_path / "failed").exists()


def test_an_error_of_the_model_names_the_partition(spark, plain, tmp_path):
    with pytest.raises(ClusterError, match=r"partition \d of the Spark DataFrame.*no such number"):
        Explainer(
            models.Fails(tmp_path), spark.createDataFrame(plain).repartition(2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])


def test_the_model_is_unpickled_once_a_worker(spark, plain, tmp_path):
    explainer = Explainer(
        models.Counted(tmp_path), spark.createDataFrame(plain).repartition(8), row_by_row=True
    )
    for grid in ([0.0], [1.0], [2.0]):
        explainer.partial_dependence("x0", grid=grid)
    seen = unpickled(tmp_path)
    assert len(seen) == len(set(seen)) < 8


def test_a_model_that_does_not_pickle_is_refused_before_any_job(spark, plain, tmp_path, complains):
    explainer = Explainer(models.Locked(tmp_path), spark.createDataFrame(plain), row_by_row=True)
    with complains("model", "pickled"):
        explainer.partial_dependence("x0", grid=[0.0])


def test_brute_force_gives_what_memory_gives(spark, plain):
    agree(
        booster(plain, NUMBERS), plain, spark.createDataFrame(plain), ["one-way, with spread"], engine="brute"
    )


def test_ctrl_c_ends_the_job_there(spark, plain, tmp_path, interrupting):
    interrupting((tmp_path / "began").exists)
    begun = time.monotonic()
    frame = spark.createDataFrame(plain).repartition(8)
    with pytest.raises(KeyboardInterrupt):
        Explainer(models.Slow(tmp_path), frame, row_by_row=True).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 18
    tracker, end = spark.sparkContext.statusTracker(), time.monotonic() + 20
    while tracker.getActiveJobsIds() and time.monotonic() < end:
        time.sleep(0.2)
    assert tracker.getActiveJobsIds() == []
    formula_agrees(function(plain), plain, spark.createDataFrame(plain).repartition(3))


def test_progress_comes_from_spark(spark, plain, tmp_path, monkeypatch):
    from icefield.progress import Progress
    from icefield.rows.distributed import spark as spark_frame

    seen: list[tuple[float, float]] = []
    monkeypatch.setattr(spark_frame, "LOOK_EVERY", 0.0)

    def heard(progress: Progress, done: int, tasks: int) -> None:
        seen.append((done, tasks))

    monkeypatch.setattr(spark_frame, "show", heard)
    Explainer(
        function(plain), spark.createDataFrame(plain).repartition(6), row_by_row=True
    ).partial_dependence("x0", grid=[0.0])
    assert any(0 < done < tasks for done, tasks in seen)


def test_a_lost_jvm_is_an_error(spark, plain, tmp_path):
    """The last test: nothing of this session is left."""
    import signal
    import threading

    frame = spark.createDataFrame(plain).repartition(2)
    explainer = Explainer(models.Slow(tmp_path), frame, row_by_row=True)
    java = spark.sparkContext._gateway.proc.pid

    def kill() -> None:
        while not (tmp_path / "began").exists():
            time.sleep(0.1)
        os.kill(java, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    begun = time.monotonic()
    with pytest.raises(ClusterError, match="Spark"):
        explainer.partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 60
