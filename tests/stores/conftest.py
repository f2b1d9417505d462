"""Real servers on this machine, for `make test-stores`: elsewhere these tests are skipped, and say why."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SECRETS = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # nobody's


@pytest.fixture(scope="session")
def data() -> pd.DataFrame:
    made = np.random.default_rng(4)
    return pd.DataFrame(
        {"age": made.normal(40, 10, 600), "fare": made.gamma(2, 9, 600), "day": made.integers(0, 3, 600)}
    )


@pytest.fixture(scope="session")
def model(data: pd.DataFrame):
    lgb = pytest.importorskip("lightgbm", reason="make test-stores has it")
    made = lgb.LGBMRegressor(n_estimators=12, num_leaves=8, min_child_samples=5, verbose=-1, n_jobs=1)
    return made.fit(data, data.age * 0.3 + np.where(data.day > 0, data.fare, 0))


@pytest.fixture(scope="session")
def pieces(data: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pieces")
    paths = [folder / f"{number}.parquet" for number in range(4)]
    for number, path in enumerate(paths):
        pq.write_table(
            pa.Table.from_pandas(data[150 * number : 150 * (number + 1)], preserve_index=False), path
        )
    return paths


@pytest.fixture(scope="session")
def s3(pieces: list[Path], data: pd.DataFrame) -> Iterator[SimpleNamespace]:
    """An S3 server that checks credentials, with the pieces in a bucket: its address, and options that open it."""
    pytest.importorskip("moto.server", reason="an S3 server needs moto: run `make test-stores`")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    known = {
        "aws_access_key_id": "setup",
        "aws_secret_access_key": "setup",
        "region_name": "us-east-1",
        "endpoint_url": address,
    }
    client, users = boto3.client("s3", **known), boto3.client("iam", **known)
    client.create_bucket(Bucket="rows")
    for path in pieces:
        client.upload_file(str(path), "rows", f"parquet/{path.name}")
        client.upload_file(str(path), "rows", f"hive/piece={path.stem}/part.parquet")
    client.put_object(Bucket="rows", Key="parquet/_SUCCESS", Body=b"")
    client.put_object(Bucket="rows", Key="text/all.csv", Body=data.to_csv(index=False, sep=";").encode())
    client.put_object(Bucket="rows", Key="broken/a.parquet", Body=b"no parquet at all")
    users.create_user(UserName="reader")
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    users.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=json.dumps(policy))
    key = users.create_access_key(UserName="reader")["AccessKey"]
    reset = urllib.request.Request(
        f"{address}/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}
    )
    with urllib.request.urlopen(reset):  # from here on credentials are looked at
        pass
    options = {"key": key["AccessKeyId"], "secret": key["SecretAccessKey"], "endpoint_url": address}
    yield SimpleNamespace(address=address, options=options, key=options["key"], secret=options["secret"])
    server.stop()


@pytest.fixture
def stalled() -> Iterator[str]:
    """The address of a server that takes calls and never answers."""
    listening, taken = socket.create_server(("127.0.0.1", 0)), []

    def take() -> None:
        while True:
            try:
                taken.append(listening.accept()[0])
            except OSError:
                return

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for connection in taken:
        connection.close()
    thread.join(5)


def table(data: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(data, preserve_index=False)


@pytest.fixture
def delta(data, tmp_path) -> Path:
    """Three versions: half of the rows, all of them, and those above 40."""
    deltalake = pytest.importorskip("deltalake", reason="run `make test-stores`")
    deltalake.write_deltalake(tmp_path / "delta", table(data[:300]), partition_by=["day"])
    deltalake.write_deltalake(tmp_path / "delta", table(data[300:]), mode="append")
    deltalake.DeltaTable(tmp_path / "delta").delete("age <= 40")
    return tmp_path / "delta"


@pytest.fixture
def iceberg(data, tmp_path):
    catalogs = pytest.importorskip("pyiceberg.catalog.sql", reason="run `make test-stores`")
    catalog = catalogs.SqlCatalog(
        "here", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse"
    )
    catalog.create_namespace("rows")
    made = catalog.create_table("rows.people", schema=table(data).schema)
    made.append(table(data[:300]))
    made.append(table(data[300:]))
    made.delete("age <= 40")
    yield made
    catalog.engine.dispose()


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[str]:
    mlflow = pytest.importorskip("mlflow", reason="logging needs MLflow: run `make test-stores`")
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    call = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
            "--backend-store-uri", f"sqlite:///{folder}/runs.db", "--artifacts-destination", str(folder / "artifacts")]  # fmt: skip
    quiet = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (folder / "log").open("wb") as said:
        process = subprocess.Popen(call, stdout=said, stderr=said, env=quiet, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
                if answer.status == 200:
                    break
        except OSError:
            time.sleep(0.2)
        if process.poll() is not None:
            break
    else:
        process.terminate()
    if process.poll() is not None:
        pytest.fail(f"the MLflow server did not start: {(folder / 'log').read_text()[-2000:]}")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(address)
    yield address
    mlflow.set_tracking_uri(before)
    os.killpg(process.pid, signal.SIGKILL)  # it and its workers; nothing it holds outlives the test
    process.wait()
