"""What results are known again by, and the tables that carry it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from icefield import Explainer
from icefield.cli.commands import main
from icefield.errors import InputTypeError

NAMES = ["run_id", "model_hash", "data_version"]


def model(rows):
    return np.asarray(rows["a"]) * np.asarray(rows["b"]) + np.asarray(rows["a"])


def other(rows):
    return model(rows) + 1e-3


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    made = np.random.default_rng(0)
    return pd.DataFrame(
        {"a": made.normal(size=200), "b": made.integers(0, 4, 200).astype(float), "beside": 1.0}
    )


def test_the_same_model_and_rows_have_the_same_hashes_whatever_library_they_are_in(data):
    columns = data[["a", "b"]]
    first, again = Explainer(model, columns).record(), Explainer(model, pl.from_pandas(columns)).record()
    assert (first.model_hash, first.data_version) == (again.model_hash, again.data_version)
    assert first.run_id != again.run_id
    assert Explainer(other, columns).record().model_hash != first.model_hash
    changed = columns.assign(a=columns.a.where(columns.index != 150, 0.5))
    assert Explainer(model, changed).record().data_version != first.data_version


def test_files_are_versioned_by_what_they_are(data, tmp_path):
    data.to_parquet(tmp_path / "a.parquet")
    first = Explainer(model, tmp_path, row_by_row=True).record()
    assert Explainer(model, tmp_path, row_by_row=True).record().data_version == first.data_version
    assert "streamed from" in first.data
    data.to_parquet(tmp_path / "b.parquet")
    second = Explainer(model, tmp_path, row_by_row=True).record()
    assert second.data_version != first.data_version


def test_a_run_has_one_id_or_yours(data):
    explainer = Explainer(model, data)
    assert explainer.record() == explainer.record()
    assert explainer.record("job 7").run_id == "job 7"
    with pytest.raises(InputTypeError, match="must be a text"):
        explainer.record(7)
    assert json.loads(json.dumps(explainer.record().as_dict()))["n_features"] == 3


@pytest.mark.parametrize("library", [pd, pl])
def test_every_result_is_a_table_with_its_record(library, data, tmp_path):
    rows = data if library is pd else pl.from_pandas(data)
    explainer = Explainer(model, rows)
    record = explainer.record()
    results = {
        "effect": explainer.partial_dependence("a", grid=5), "groups": explainer.partial_dependence("a", by="b", grid=4),
        "surface": explainer.partial_dependence("a", "b", grid=3), "importance": explainer.importance(),
        "interactions": explainer.interactions(), "regions": explainer.regions("a"), "summary": explainer.summary(),
    }  # fmt: skip
    for name, found in results.items():
        found.to_parquet(tmp_path / f"{name}.parquet", record=record)
        read = library.read_parquet(tmp_path / f"{name}.parquet")
        plain = found.to_frame()
        assert list(read.columns) == [*plain.columns, *NAMES], name
        assert len(read) == len(plain)
        for column, value in record.columns.items():
            assert list(read[column]) == [value] * len(read)
        found.to_parquet(tmp_path / "plain.parquet")
        assert list(library.read_parquet(tmp_path / "plain.parquet").columns) == list(plain.columns)
    curves = explainer.ice("a", grid=3, rows=2)
    curves.to_parquet(tmp_path / "ice.parquet", individual=True, record=record)
    assert len(library.read_parquet(tmp_path / "ice.parquet")) == 6
    with pytest.raises(InputTypeError, match=r"write record=explainer\.record\(\)"):
        curves.to_frame(record={"run_id": "x"})


def test_a_feature_that_is_called_like_a_column_of_the_record_keeps_its_name(data):
    explainer = Explainer(lambda rows: np.asarray(rows["run_id"]), data.rename(columns={"a": "run_id"}))
    frame = explainer.partial_dependence("run_id", grid=2).to_frame(record=explainer.record("mine"))
    assert frame["run_id"].dtype == float
    assert list(frame["run_id_"]) == ["mine", "mine"]


def test_parquet_from_the_shell_carries_the_record(data, tmp_path, monkeypatch):
    (tmp_path / "shell_model.py").write_text("def predict(rows):\n    return rows['a'] * 2.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    data[["a", "b"]].to_parquet(tmp_path / "rows.parquet")
    given = [
        "importance",
        "shell_model:predict",
        str(tmp_path / "rows.parquet"),
        "--parquet",
        str(tmp_path / "out.parquet"),
        "-q",
    ]
    done = CliRunner().invoke(main, given, catch_exceptions=False)
    assert (done.exit_code, done.output) == (0, "")
    read = pd.read_parquet(tmp_path / "out.parquet")
    assert set(NAMES) <= set(read.columns)
    assert read["data_version"].nunique() == 1
