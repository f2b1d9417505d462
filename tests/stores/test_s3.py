"""Rows in an S3-compatible server: whatever names them, the curves are those of the same rows in memory."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

from icefield import Explainer
from icefield.errors import InputError
from icefield.rows import stores
from stores.conftest import SECRETS

pytestmark = [pytest.mark.timeout(120), pytest.mark.filterwarnings("default")]
GRID = {"age": [20.0, 40.0, 60.0], "fare": [5.0, 30.0], "day": [0, 1, 2]}


def curves(explainer: Explainer) -> dict[str, np.ndarray]:
    return {name: explainer.partial_dependence(name, grid=grid).average for name, grid in GRID.items()}


@pytest.fixture(scope="module")
def expected(model, data):
    return curves(Explainer(model, data))


def check(explainer: Explainer, expected) -> None:
    for name, average in curves(explainer).items():
        assert np.allclose(average, expected[name], rtol=1e-12)


FILES = [f"s3://rows/parquet/{number}.parquet" for number in range(4)]


@pytest.mark.parametrize(
    "named",
    [
        "s3://rows/parquet",
        "s3://rows/parquet/",
        "s3://rows/parquet/*.parquet",
        "s3://rows/**/[0-3].parquet",
        FILES,
        "s3://rows/text/all.csv",
    ],
)
def test_files_folders_lists_and_globs(named, s3, model, expected):
    explainer = Explainer(model, named, storage_options=s3.options)
    check(explainer, expected)
    assert explainer.study.rows.n_rows == 600


def test_options_may_be_spelled_as_in_pandas_and_as_in_polars(s3, model, expected):
    spelled = {
        "aws_access_key_id": s3.key,
        "aws_secret_access_key": s3.secret,
        "aws_endpoint_url": s3.address,
        "aws_region": "us-east-1",
    }
    check(Explainer(model, "s3://rows/parquet", storage_options=spelled), expected)
    nested = {"key": s3.key, "secret": s3.secret, "client_kwargs": {"endpoint_url": s3.address}}
    check(Explainer(model, "s3://rows/parquet", storage_options=nested), expected)


def test_options_that_only_s3fs_knows_go_by_fsspec(s3, model, expected):
    pytest.importorskip("s3fs")
    options = {**s3.options, "config_kwargs": {"retries": {"max_attempts": 1}}}
    check(Explainer(model, "s3://rows/parquet/*.parquet", storage_options=options), expected)
    check(
        Explainer(model, "simplecache::s3://rows/text/all.csv", storage_options={"s3": s3.options}), expected
    )


def test_the_environment_is_enough(s3, model, expected, monkeypatch):
    for name, value in {
        "AWS_ACCESS_KEY_ID": s3.key,
        "AWS_SECRET_ACCESS_KEY": s3.secret,
        "AWS_ENDPOINT_URL": s3.address,
    }.items():
        monkeypatch.setenv(name, value)
    check(Explainer(model, "s3://rows/parquet"), expected)


def test_names_of_folders_are_columns(s3, model, data):
    explainer = Explainer(
        lambda rows: np.asarray(rows["piece"], dtype=float),
        "s3://rows/hive",
        row_by_row=True,
        storage_options=s3.options,
    )
    assert explainer.partial_dependence("piece", grid=[3]).average[0, 0] == 3
    assert explainer.study.rows.n_rows == len(data)


def test_nothing_there_and_a_broken_file_are_named(s3, model):
    for named in ("s3://rows/nowhere/*.parquet", "s3://rows/nowhere", "s3://rows/parquet/9.parquet"):
        with pytest.raises(InputError, match="names no file that exists, got 's3://rows/"):
            Explainer(model, named, storage_options=s3.options)
    with pytest.raises(InputError, match=r"could not be read.*s3://rows/broken/a\.parquet"):
        Explainer(model, "s3://rows/broken", storage_options=s3.options)


def test_a_file_that_changes_is_noticed(s3, model, pieces):
    import boto3

    client = boto3.client(
        "s3",
        aws_access_key_id=s3.key,
        aws_secret_access_key=s3.secret,
        endpoint_url=s3.address,
        region_name="us-east-1",
    )
    client.upload_file(str(pieces[0]), "rows", "changing/a.parquet")
    explainer = Explainer(model, "s3://rows/changing", storage_options=s3.options)
    client.put_object(Bucket="rows", Key="changing/a.parquet", Body=pieces[0].read_bytes() + b"more")
    with pytest.raises(InputError, match=r"changed while its rows were read.*s3://rows/changing/a\.parquet"):
        explainer.partial_dependence("age")


# --- who may not read, and who is not there ------------------------------------------------------


@pytest.mark.parametrize("extra", [{}, {"config_kwargs": {}}], ids=["pyarrow", "s3fs"])
def test_wrong_credentials_are_an_error_that_does_not_show_them(extra, s3, model):
    wrong = {"key": SECRETS[0], "secret": SECRETS[1], "endpoint_url": s3.address, **extra}
    with pytest.raises(InputError) as caught:
        Explainer(model, "s3://rows/parquet", storage_options=wrong)
    shown = "".join(traceback.format_exception(caught.value))
    assert "credentials" in str(caught.value)
    assert not any(secret in shown for secret in SECRETS)


@pytest.mark.parametrize("url", ["s3://rows/parquet", "gs://rows/a.parquet", "abfs://rows/a.parquet", "http"])
def test_a_server_that_never_answers_is_an_error_in_time(url, stalled, model, monkeypatch):
    monkeypatch.setattr(stores, "ANSWER_SECONDS", 1.0)
    options = {
        "s3": {"key": SECRETS[0], "secret": SECRETS[1], "endpoint_url": stalled},
        "gs": {"endpoint_url": stalled, "anon": True},
        "abfs": {
            "account_name": "rows",
            "account_key": base64.b64encode(SECRETS[1].encode()).decode(),
            **{f"{kind}_storage_authority": stalled.removeprefix("http://") for kind in ("blob", "dfs")},
            **{f"{kind}_storage_scheme": "http" for kind in ("blob", "dfs")},
        },
    }
    if url == "http":
        pytest.importorskip("aiohttp", reason="make test-stores has it")
        url = f"{stalled}/a.parquet"
    began = time.monotonic()
    with pytest.raises(InputError) as caught:
        Explainer(model, url, storage_options=options.get(url.split(":")[0]))
    assert "did not answer within 1 seconds" in str(caught.value) or "could not be read" in str(caught.value)
    assert time.monotonic() - began < 30  # what is promised, with a patience of 25 times this one
    assert not any(secret in "".join(traceback.format_exception(caught.value)) for secret in SECRETS)


def test_rows_that_stop_coming_are_an_error(stalled, s3, model, monkeypatch):
    explainer = Explainer(model, "s3://rows/parquet", storage_options={**s3.options, "config_kwargs": {}})
    source = explainer.study.rows._stream.source
    monkeypatch.setattr(type(source), "_scan", lambda *_: iter(lambda: time.sleep(60), 1))
    object.__setattr__(source._store, "patience", 0.5)
    with pytest.raises(InputError, match="did not answer within"):
        explainer.partial_dependence("age")


# --- nothing shows credentials -------------------------------------------------------------------


def test_no_text_shows_credentials(s3, model, tmp_path):
    url = s3.address.replace("http://", "")
    named = f"s3://{s3.key}:{s3.secret.replace('/', '%2F')}@rows/parquet"
    explainer = Explainer(
        model, named, storage_options={"endpoint_url": f"http://{url}"}, checkpoint=tmp_path / "sums.npz"
    )
    effect = explainer.partial_dependence("age")
    explainer.report(tmp_path / "report.html")
    effect.save(tmp_path / "age.effect")
    shown = {
        "repr": repr(explainer) + str(explainer.study),
        "why": effect.why + explainer.plan.why + repr(effect) + repr(explainer.importance()),
        "record": json.dumps(explainer.record().as_dict()),
        "report": (tmp_path / "report.html").read_text("utf-8"),
        "checkpoint": str(dict(np.load(tmp_path / "sums.npz")))
        + (tmp_path / "sums.npz").read_bytes().decode("latin-1"),
        "effect": (tmp_path / "age.effect").read_bytes().decode("latin-1"),
        "identity": str(explainer.study.rows._stream.source.identity()),
    }
    assert "rows/parquet" in shown["why"]
    for what, text in shown.items():
        assert s3.key not in text, what
        assert s3.secret not in text, what


def test_the_shell_reads_a_store_and_shows_no_credentials(s3, model, tmp_path):
    model.booster_.save_model(str(tmp_path / "model.txt"))
    options = [f"--storage-option={name}={value}" for name, value in s3.options.items()]
    call = [
        str(Path(sys.executable).parent / "icefield"),
        "pd",
        str(tmp_path / "model.txt"),
        "s3://rows/parquet",
        "age",
        "--grid",
        "20,40",
    ]
    done = subprocess.run(
        [*call, "--json", "-v", *options],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 2
    assert s3.secret not in done.stdout + done.stderr
    wrong = [
        f"--storage-option={name}={value}"
        for name, value in {**s3.options, "key": SECRETS[0], "secret": SECRETS[1]}.items()
    ]
    done = subprocess.run([*call, *wrong], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Error: DATA could not be read" in done.stderr
    assert not any(secret in done.stdout + done.stderr for secret in SECRETS)
