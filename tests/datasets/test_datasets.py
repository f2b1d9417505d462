"""The data sets that come with the package: the same rows in every frame library, and the ones that were published."""

from __future__ import annotations

import gzip
import hashlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import icefield
from icefield import datasets

SHAPES = {"bikes": (17379, 17), "titanic": (891, 11), "housing": (20640, 10)}
CHECKSUMS = {  # of the text, without blank lines
    "bikes": "e2041d15e576593a53a605868995ff6c97a7f1b83ceb318483be3f090480e48f",
    "titanic": "6d90b6732006c799e8c7829825489401475ecdf406f4177396da76beb7117ea4",
    "housing": "8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e",
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_text_is_what_was_published(name):
    path = Path(datasets.__file__).with_name(f"{name}.csv.gz")
    assert hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest() == CHECKSUMS[name]
    assert path.stat().st_size < 400_000


@pytest.mark.parametrize("name", SHAPES)
def test_every_library_has_the_same_rows(name):
    read = getattr(datasets, name)
    plain = read("numpy")
    frames = {"pandas": read("pandas"), "polars": read("polars"), "pyarrow": read("pyarrow")}
    assert isinstance(frames["pandas"], pd.DataFrame)
    assert isinstance(frames["polars"], pl.DataFrame)
    assert isinstance(frames["pyarrow"], pa.Table)
    assert (len(next(iter(plain.values()))), len(plain)) == SHAPES[name]
    for library, frame in frames.items():
        assert frame.shape == SHAPES[name]
        for column, values in plain.items():
            same = pd.Series(np.asarray(frame[column])) if library != "pandas" else frame[column]
            if values.dtype == object:
                assert [None if pd.isna(cell) else cell for cell in same] == values.tolist()
            elif values.dtype.kind == "M":
                assert (pd.to_datetime(same).to_numpy().astype("datetime64[D]") == values).all()
            else:
                np.testing.assert_array_equal(same.to_numpy(dtype=float), values.astype(float))


def test_missing_values_are_where_the_docstrings_say():
    assert datasets.titanic("pandas")["age"].isna().sum() == 177
    assert np.isnan(datasets.housing("numpy")["total_bedrooms"]).sum() == 207
    assert (
        datasets.bikes("numpy")["casual"] + datasets.bikes("numpy")["registered"]
        == datasets.bikes("numpy")["cnt"]
    ).all()


def test_the_first_library_that_is_installed_is_taken(monkeypatch):
    assert isinstance(datasets.titanic(), pd.DataFrame)
    for gone, expected in (
        (("pandas",), pl.DataFrame),
        (("pandas", "polars"), pa.Table),
        (("pandas", "polars", "pyarrow"), dict),
    ):
        monkeypatch.setattr(
            datasets, "find_spec", lambda name, gone=gone: None if name in gone else find_spec(name)
        )
        assert isinstance(datasets.titanic(), expected)


def test_an_unknown_or_absent_library_is_answered(monkeypatch):
    with pytest.raises(icefield.InputError, match="pandas"):
        datasets.bikes("panda")
    monkeypatch.setattr(datasets, "find_spec", lambda name: None if name == "polars" else find_spec(name))
    with pytest.raises(icefield.MissingDependencyError, match="polars, which is not installed"):
        datasets.bikes("polars")


def test_they_are_reached_from_the_package_and_completed():
    assert icefield.datasets.bikes is datasets.bikes
    assert "datasets" in dir(icefield)
