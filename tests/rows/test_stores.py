"""Stores without a server: masks, globs, fsspec's memory, and many small files read several at a time."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icefield import Explainer
from icefield.errors import InputError, InputTypeError
from icefield.rows import stores
from icefield.rows.files import TOGETHER, files_of
from icefield.rows.secrets import Secrets
from icefield.rows.stores import Store, canonical_options, in_time, is_url, object_store_options, open_store

pytestmark = pytest.mark.timeout(60)
SECRET = "wJalr/XUtn+FEMI"


@pytest.mark.parametrize(
    "options",
    [
        {"secret": SECRET},
        {"AWS_SECRET_ACCESS_KEY": SECRET},
        {"token": {"private_key": SECRET}},
        {"s3": {"client_kwargs": {"password": SECRET}}},
    ],
)
@pytest.mark.parametrize(
    "text", [f"wrong {SECRET}", "https://a/b?x=wJalr%2FXUtn%2BFEMI", "wJalr/XUtn%2BFEMI"]
)
def test_what_options_hold_is_masked_however_it_is_written(options, text):
    masked = Secrets(options).masked(text)
    assert "XUtn" not in masked
    assert "***" in masked


def test_urls_are_masked_and_addresses_are_not():
    masked = Secrets({"region": "eu-west-1", "anon": "false"}).masked
    assert (
        masked("s3://me:pw@bucket/a and https://u@h/x?sig=1&b=2")
        == "s3://***@bucket/a and https://***@h/x?***"
    )
    plain = "abfs://container@account.dfs.core.windows.net/a/part-?.parquet in eu-west-1, false"
    assert masked(plain) == plain


def test_what_the_environment_holds_is_masked(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert Secrets().masked(f"got {SECRET}") == "got ***"


def test_a_wrong_type_of_options_shows_nothing_of_them():
    with pytest.raises(InputTypeError, match="must be a mapping of names to values, not list") as caught:
        open_store(["s3://b/a.parquet"], [SECRET])
    assert SECRET not in str(caught.value)
    with pytest.raises(InputError, match="are for a path or a URL, and X is a ndarray"):
        Explainer(lambda rows: rows[:, 0], np.ones((3, 1)), storage_options={"secret": SECRET})
    with pytest.raises(InputError, match="this machine"):
        open_store(["file:///a.parquet"], {"secret": SECRET})


def test_both_spellings_mean_the_same():
    pandas = canonical_options(
        "s3", {"key": "a", "secret": "b", "client_kwargs": {"endpoint_url": "http://h:1", "region_name": "r"}}
    )
    polars = canonical_options(
        "s3",
        {"AWS_ACCESS_KEY_ID": "a", "aws_secret_access_key": "b", "endpoint": "http://h:1", "aws_region": "r"},
    )
    assert pandas == polars == {"access_key": "a", "secret_key": "b", "endpoint": "http://h:1", "region": "r"}
    assert canonical_options("s3", {"profile": "mine"}) is None
    spelled = object_store_options("s3://b", {"key": "a", "endpoint_url": "http://h:1"})
    assert spelled["AWS_ACCESS_KEY_ID"] == "a"
    assert spelled["AWS_ALLOW_HTTP"] == "true"


def test_files_of_several_stores_are_refused():
    with pytest.raises(InputError, match="several stores"):
        open_store(["s3://b/a.parquet", "gs://b/a.parquet"], None)
    assert not is_url("C:\\rows\\a.parquet")


def test_a_call_that_does_not_end_is_given_up():
    waiting = threading.Event()
    with pytest.raises(InputError, match="did not answer within 0 seconds, got 's3://b'"):
        in_time(0.05, "s3://b", waiting.wait)
    waiting.set()
    assert in_time(30.0, "s3://b", lambda: 7) == 7


def test_an_error_of_a_store_is_masked_and_comes_without_its_cause():
    def refused() -> None:
        raise RuntimeError(f"403 for {SECRET}")

    store = Store(None, "s3", Secrets({"secret": SECRET}))
    with pytest.raises(InputError, match=r"403 for \*\*\*.*check the credentials") as caught:
        store.answer("s3://b", refused)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


# --- files ---------------------------------------------------------------------------------------


def rows(start: int, count: int) -> pa.Table:
    return pa.table({"a": np.arange(start, start + count, dtype=float), "b": np.arange(count) % 3})


@pytest.fixture
def memory():
    """A folder in fsspec's memory."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    for number in range(3):
        with system.open(f"/stored/x/{number}.parquet", "wb") as file:
            pq.write_table(rows(10 * number, 10), file)
    with system.open("/stored/_hidden/0.parquet", "wb") as file:
        pq.write_table(rows(0, 99), file)
    yield system
    system.rm("/stored", recursive=True)


@pytest.mark.parametrize("named", [["memory://stored"], ["memory://stored/x/*.parquet"], ["memory://stored/**/[0-2].parquet"],
                                   [f"memory://stored/x/{n}.parquet" for n in range(3)]])  # fmt: skip
def test_whatever_fsspec_reaches(named, memory):
    read = pa.Table.from_batches(files_of(*named).batches(["a"], 7))
    expected = 30 if "**" not in named[0] else 129
    assert read.num_rows == expected
    if expected == 30:
        assert read["a"].to_pylist() == list(np.arange(30.0))


def test_nothing_at_a_url(memory):
    with pytest.raises(InputError, match=r"names no file that exists, got 'memory:/+stored/none'"):
        files_of("memory://stored/none")


def test_hidden_folders_hold_no_rows(tmp_path):
    for folder in ("_delta", ".tmp", "_day=1", "plain"):
        (tmp_path / folder).mkdir()
        pq.write_table(rows(0, 5), tmp_path / folder / "a.parquet")
    assert files_of(str(tmp_path)).n_rows == 10


@pytest.mark.parametrize("skip", [0, 1, 40, 333, 1500])
@pytest.mark.parametrize("batch", [50, 1_000])
def test_small_files_read_together_are_the_same_rows(batch, skip, tmp_path):
    sizes = [3 * (number % 9) for number in range(2 * TOGETHER + 5)]  # some without rows
    starts = np.cumsum([0, *sizes])
    for number, size in enumerate(sizes):
        part = rows(starts[number], size)
        pq.write_table(part if number % 50 else part.select(["b", "a"]), tmp_path / f"{number:04}.parquet")
    source = files_of(str(tmp_path))
    found = list(source.batches(["a"], batch, skip))
    assert np.array_equal(
        np.concatenate([b.column(0).to_numpy() for b in found]), np.arange(skip, starts[-1])
    )


def test_the_broken_one_of_small_files_is_named(tmp_path):
    for number in range(5):
        pq.write_table(rows(0, 2000), tmp_path / f"{number}.parquet", compression="zstd")
    source = files_of(str(tmp_path))
    path = tmp_path / "3.parquet"
    changed, content = path.stat(), bytearray(path.read_bytes())
    content[4:900] = bytes(896)
    path.write_bytes(content)
    import os

    os.utime(path, ns=(changed.st_atime_ns, changed.st_mtime_ns))
    with pytest.raises(InputError, match=r"could not be read.*3\.parquet"):
        list(source.batches(["a"], 100_000))


def test_a_table_without_its_library_is_not_read_as_files(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "deltalake", None)
    (tmp_path / "_delta_log").mkdir()
    pq.write_table(rows(0, 5), tmp_path / "removed.parquet")
    with pytest.raises(ImportError, match=r"is a Delta table.*pip install 'icefield\[delta\]'"):
        Explainer(lambda frame: frame["a"], tmp_path)
    assert stores.ANSWER_SECONDS < 30
