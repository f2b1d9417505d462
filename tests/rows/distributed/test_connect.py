"""Spark Connect: a server in a process of its own, and artifacts in place of broadcasts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from icefield import Explainer
from icefield.errors import ClusterError
from rows.distributed import models
from rows.distributed.agreement import agree_all, formula_agrees, unpickled
from rows.rows import function

pytestmark = pytest.mark.timeout(180)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(ready, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def server(engine_of, tmp_path_factory):
    engine_of("connect")
    os.environ["SLOW_SECONDS"] = "20"
    import pyspark

    port, home = free_port(), Path(pyspark.__file__).parent
    options = {
        "spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": 4,
    }  # fmt: skip
    given = [part for name, value in options.items() for part in ("--conf", f"{name}={value}")]
    log = (tmp_path_factory.mktemp("connect") / "log").open("w")
    started = subprocess.Popen(
        [home / "bin" / "spark-submit", "--master", "local[2,3]", *given, "--class",
         "org.apache.spark.sql.connect.service.SparkConnectServer"],
        stdout=log, stderr=log, env={**os.environ, "SPARK_HOME": str(home)}, start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(lambda: listens(port))
        yield started, port
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        log.close()


@pytest.fixture(scope="module")
def spark(server):
    from pyspark.sql.connect.session import SparkSession

    made = SparkSession.builder.remote(f"sc://127.0.0.1:{server[1]}").create()
    yield made
    # PySpark's own threads would go on trying to reach the server, and keep this process alive.
    made._client._channel.close()


def test_connect_gives_what_memory_gives(spark, plain, folder, few_rows):
    agree_all(plain, spark.read.parquet(str(folder)).repartition(4), few_rows)


def test_a_model_of_spark_ml_is_asked_there(spark, plain, monkeypatch):
    """Trees are not shown over Connect: the model is asked by transforms, one for each pass."""
    monkeypatch.setenv(
        "SPARK_CONNECT_MODE_ENABLED", "1"
    )  # as a session of SparkSession.builder.remote sets it
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import DecisionTreeRegressor

    frame = spark.createDataFrame(plain[["x0", "x2", "k"]].assign(y=plain.x0 * 2 + plain.k)).repartition(3)
    stages = [
        VectorAssembler(inputCols=["x0", "k"], outputCol="features"),
        DecisionTreeRegressor(labelCol="y", maxDepth=3),
    ]
    model = Pipeline(stages=stages).fit(frame)
    found = Explainer(model, frame).partial_dependence("x0", grid=[0.0, 1.0])
    for place, value in enumerate([0.0, 1.0]):
        moved = frame.withColumn("x0", frame["x0"] * 0 + value)
        expected = model.transform(moved).toPandas()["prediction"].mean()
        assert found.average[0, place] == pytest.approx(expected, rel=1e-9)
    assert "predicted by transforms in Spark" in found.why


def test_a_killed_worker_is_made_up_for(spark, plain, tmp_path):
    formula_agrees(models.KillsOnce(tmp_path), plain, spark.createDataFrame(plain).repartition(4))
    assert (tmp_path / "killed").exists()


def test_a_task_that_is_tried_again_counts_once(spark, plain, tmp_path):
    formula_agrees(models.FailsOnce(tmp_path), plain, spark.createDataFrame(plain).repartition(4))
    assert (tmp_path / "failed").exists()


def test_workers_that_die_again_and_again_end_in_an_error(spark, plain, tmp_path):
    begun = time.monotonic()
    with pytest.raises(ClusterError, match=r"partition \d of the Spark Connect DataFrame \(tried 3 times\)"):
        Explainer(
            models.KillsAlways(tmp_path), spark.createDataFrame(plain).repartition(2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 60


def test_an_error_of_the_model_names_the_partition(spark, plain, tmp_path):
    with pytest.raises(ClusterError, match=r"partition \d of the Spark Connect DataFrame.*no such number"):
        Explainer(
            models.Fails(tmp_path), spark.createDataFrame(plain).repartition(2), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])


def test_the_model_is_unpickled_once_a_worker(spark, plain, tmp_path):
    explainer = Explainer(
        models.Counted(tmp_path), spark.createDataFrame(plain).repartition(8), row_by_row=True
    )
    for grid in ([0.0], [1.0]):
        explainer.partial_dependence("x0", grid=grid)
    seen = unpickled(tmp_path)
    assert len(seen) == len(set(seen)) < 8


def test_ctrl_c_ends_the_job_there(spark, plain, tmp_path, interrupting):
    interrupting((tmp_path / "began").exists)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Explainer(
            models.Slow(tmp_path), spark.createDataFrame(plain).repartition(8), row_by_row=True
        ).partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - begun < 18
    formula_agrees(function(plain), plain, spark.createDataFrame(plain).repartition(3))
    assert len((tmp_path / "began").read_text().split()) < 8  # tasks that were waiting never began


def test_a_lost_server_is_an_error_within_a_minute(spark, server, plain, tmp_path):
    """The last test: there is no server any more."""
    explainer = Explainer(models.Slow(tmp_path), spark.createDataFrame(plain).repartition(2), row_by_row=True)
    killed: list[float] = []

    def kill() -> None:
        wait_for((tmp_path / "began").exists)
        os.killpg(server[0].pid, signal.SIGKILL)
        killed.append(time.monotonic())

    threading.Thread(target=kill, daemon=True).start()
    with pytest.raises(ClusterError, match="Spark"):
        explainer.partial_dependence("x0", grid=[0.0])
    assert time.monotonic() - killed[0] < 60
