"""Files that are not as they should be: the same answer, or an error that names the file; never a hang."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as dataset
import pyarrow.parquet as pq
import pytest

from icefield import Explainer
from rows.rows import FEATURES, GRID, booster, frame, table

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def files(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "files"))


@pytest.fixture(scope="module")
def model(data):
    return booster(data)


@pytest.fixture(scope="module")
def expected(data, model):
    return Explainer(model, table(data)).effects(grid=GRID)


def check_same(found, expected) -> None:
    for feature in FEATURES:
        assert np.array_equal(found[feature].average, expected[feature].average)


def second(files: Path) -> Path:
    return sorted(files.iterdir())[1]


def rewrite(path: Path, change) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def test_a_file_without_rows_adds_nothing(files, data, model, expected):
    pq.write_table(table(data.iloc[:0]), files / "05.parquet")
    pq.write_table(table(data.iloc[:0]), files / "000.parquet")
    check_same(Explainer(model, files).effects(grid=GRID), expected)


def test_a_file_with_another_order_of_columns_is_read_by_name(files, model, expected):
    rewrite(second(files), lambda rows: rows.select(rows.column_names[::-1]))
    check_same(Explainer(model, files).effects(grid=GRID), expected)


def test_narrower_numbers_in_one_file_are_widened(files, model, expected):
    rewrite(second(files), lambda rows: rows.set_column(3, "k", rows["k"].cast(pa.int8())))
    check_same(Explainer(model, files).effects(grid=GRID), expected)


def test_text_instead_of_categories_in_one_file(files, model, expected):
    rewrite(second(files), lambda rows: rows.set_column(4, "level", rows["level"].cast(pa.string())))
    check_same(Explainer(model, files).effects(grid=GRID), expected)


def test_other_levels_in_one_file_are_levels_like_any(files, tmp_path):
    rows = frame(3_000)
    rows["level"] = rows.level.cat.add_categories(["d"])
    rows.loc[2_500:, "level"] = "d"
    model = booster(rows)
    folder = tmp_path / "levels"
    folder.mkdir()
    first, last = rows[:2_500], rows[2_500:].copy()
    first = first.assign(level=first.level.cat.remove_unused_categories())
    last["level"] = last.level.cat.set_categories(["d", "a"])
    pq.write_table(table(first), folder / "0.parquet")
    pq.write_table(table(last), folder / "1.parquet")
    grid = {"level": ["a", "b", "c", "d"]}
    expected = Explainer(model, table(rows)).partial_dependence("level", grid=grid["level"], spread=False)
    found = Explainer(model, folder).partial_dependence("level", grid=grid["level"], spread=False)
    assert np.array_equal(found.average, expected.average)
    assert np.array_equal(found.weight, expected.weight)


def test_a_file_without_a_column_is_named(files, model, complains):
    rewrite(second(files), lambda rows: rows.drop_columns(["x2"]))
    with complains("X", "x2", str(second(files))):
        Explainer(model, files).effects(grid=GRID)


def test_a_file_of_another_type_is_named(files, model, complains):
    rewrite(second(files), lambda rows: rows.set_column(0, "x0", rows["x0"].cast(pa.string())))
    with complains("X", "x0", str(second(files))):
        Explainer(model, files)


def test_numbers_that_no_common_type_holds_name_the_file(files, model, complains):
    rewrite(second(files), lambda rows: rows.set_column(0, "x0", pa.array([2**62 + 1] * len(rows))))
    with complains("X", str(second(files))):
        Explainer(model, files).effects(grid=GRID)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all" * 100])
def test_an_unreadable_file_is_named(content, files, model, complains):
    second(files).write_bytes(content)
    with complains("X", str(second(files))):
        Explainer(model, files).effects(grid=GRID)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_file_is_named(share, files, model, complains):
    whole = second(files).read_bytes()
    second(files).write_bytes(whole[: int(share * len(whole))])
    with complains("X", str(second(files))):
        Explainer(model, files).effects(grid=GRID)


def test_damaged_pages_are_named(files, model, complains):
    whole = bytearray(second(files).read_bytes())
    whole[200 : len(whole) // 2] = os.urandom(len(whole) // 2 - 200)
    second(files).write_bytes(bytes(whole))
    with complains("X", str(second(files))):
        Explainer(model, files).effects(grid=GRID)


def test_a_file_with_only_missing_values(files, data, model):
    rewrite(second(files), lambda rows: rows.set_column(1, "x1", pa.nulls(len(rows), pa.float64())))
    whole = pa.concat_tables([pq.read_table(f) for f in sorted(files.iterdir())]).unify_dictionaries()
    check_same(Explainer(model, files).effects(grid=GRID), Explainer(model, whole).effects(grid=GRID))


def test_a_file_whose_column_has_no_type_at_all(files, data, model):
    rewrite(second(files), lambda rows: rows.set_column(1, "x1", pa.nulls(len(rows))))
    whole = [pq.read_table(f) for f in sorted(files.iterdir())]
    whole[1] = whole[1].set_column(1, "x1", pa.nulls(len(whole[1]), pa.float64()))
    together = pa.concat_tables(whole).unify_dictionaries()
    check_same(Explainer(model, files).effects(grid=GRID), Explainer(model, together).effects(grid=GRID))


def test_a_file_that_changes_between_passes_is_named(files, data, model, complains):
    explainer = Explainer(model, files)
    explainer.effects(grid=GRID)
    pq.write_table(table(data.iloc[:10]), second(files))
    with complains("X", "changed", str(second(files))):
        explainer.partial_dependence("x0", grid=GRID["x0"])


def test_a_file_that_vanishes_is_named(files, model, complains):
    explainer, gone = Explainer(model, files), second(files)
    gone.unlink()
    with complains("X", str(gone)):
        explainer.effects(grid=GRID)


def test_a_reader_that_gives_other_rows_the_second_time(data, model, complains):
    calls: list[int] = []

    def opened() -> pa.RecordBatchReader:
        calls.append(1)
        rows = table(data.iloc[: 500 if len(calls) > 5 else 1_000])
        return pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=100))

    explainer = Explainer(model, opened)
    with complains("X", "500", "1000"):
        for _ in range(4):
            explainer.effects(grid=GRID, spread=True)  # without spread, counts are known after one pass


def test_a_reader_that_is_spent_is_told_apart(data, model, complains):
    reader = pa.RecordBatchReader.from_batches(table(data).schema, table(data).to_batches())
    with complains("X", "new reader"):
        Explainer(model, lambda: reader)
    with complains("X", "only once", error=TypeError):
        Explainer(model, reader)
    with complains("X", "only once", error=TypeError):
        Explainer(model, iter(table(data).to_batches()))


def test_a_reader_that_fails_half_way(data, model, complains):
    def batches():
        yield table(data).to_batches()[0].slice(0, 100)
        raise OSError("the disk went away")

    with complains("X", "the disk went away"):
        Explainer(model, lambda: pa.RecordBatchReader.from_batches(table(data).schema, batches())).effects()


def test_no_rows_at_all(data, model, tmp_path, complains):
    pq.write_table(table(data.iloc[:0]), tmp_path / "none.parquet")
    with complains("X", "no rows"):
        Explainer(model, tmp_path)
    with complains("X", "folder"):
        Explainer(model, tmp_path.joinpath("empty").mkdir() or tmp_path / "empty")
    with complains("X", "no file"):
        Explainer(model, str(tmp_path / "*.csv"))


@pytest.mark.parametrize("parameter", ["y", "weights", "by"])
def test_what_stands_beside_the_features_is_named(parameter, folder, model, complains):
    with complains(parameter, "column", error=TypeError):
        Explainer(model, folder, **{parameter: [1, 2, 3]})
    with complains(parameter, "nothing"):
        Explainer(model, folder, **{parameter: "nothing"})


def test_weights_are_checked_as_they_come(data, model, complains):
    def reader(rows: pd.DataFrame):
        return lambda: pa.RecordBatchReader.from_batches(table(rows).schema, table(rows).to_batches())

    for value, words in ((-1.0, "negative"), (np.inf, "finite")):
        with complains("weights", words):
            Explainer(
                model, reader(data.assign(w=data.w.where(data.index != 4_000, value))), weights="w"
            ).effects(grid=GRID)
    with complains("weights", "zero"):
        Explainer(model, reader(data.assign(w=0.0)), weights="w").effects(grid=GRID)


def test_rows_of_a_stream_have_no_positions(folder, model, complains):
    explainer = Explainer(model, folder)
    with complains("rows", "number of rows"):
        explainer.partial_dependence("x0", rows=[1, 2, 3])
    assert explainer.partial_dependence("x0", rows=100).n_rows == 100


def test_a_model_that_looks_across_rows_is_not_streamed(folder, complains):
    def centred(rows):
        values = rows.column("x0").to_numpy()
        return values - values.mean()

    with complains("X", "not known to predict row by row", "row_by_row=True"):
        Explainer(centred, folder).partial_dependence("x0")
    with complains("X", "looks across the rows"):
        Explainer(centred, folder, row_by_row=True).partial_dependence("x0")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("dask.dataframe", "dask.dataframe.DataFrame"),
        ("pyspark.sql", "pyspark.sql.DataFrame"),
        ("ray.data", "ray.data.Dataset"),
        ("ibis.expr", "to_pyarrow_batches"),
    ],
)
def test_what_else_is_lazy_is_told_how_to_come(module, words, model, complains):
    lazy = type("Frame", (), {"__module__": module, "columns": ["x0"]})
    with complains("X", "lazy", words, error=TypeError):
        Explainer(model, lazy())


@pytest.mark.parametrize("how", ["file", "dataset", "filtered"])
@pytest.mark.parametrize("has_sums", [True, False])
def test_damage_that_decodes_is_found_by_the_pages_sums(has_sums, how, tmp_path, complains):
    file = tmp_path / "rows.parquet"
    numbers = pa.table({"a": np.random.default_rng(0).normal(size=5_000)})
    pq.write_table(numbers, file, write_page_checksum=has_sums, use_dictionary=False, compression="none")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x40
    file.write_bytes(content)
    given = file if how == "file" else dataset.dataset(file)
    given = given.filter(dataset.field("a") > -100.0) if how == "filtered" else given

    def ask() -> Any:
        return Explainer(lambda rows: rows["a"].to_numpy(), given, row_by_row=True).partial_dependence(
            "a", grid=[0.0]
        )

    if has_sums:
        with complains("X", "could not be read"):
            ask()
    else:
        assert ask().average.shape == (1, 1)


def test_a_filtered_dataset_is_its_rows(folder, data, model):
    chosen = dataset.dataset(folder, partitioning="hive").filter(dataset.field("x0") > 0)
    whole = table(data)
    kept = whole.filter(pc.greater(whole["x0"], 0))
    found, wanted = (Explainer(model, rows).effects(grid=GRID) for rows in (chosen, kept))
    for feature in FEATURES:
        np.testing.assert_allclose(found[feature].average, wanted[feature].average, rtol=1e-12)
        assert found[feature].n_rows == kept.num_rows


def test_what_is_of_a_sample_says_so(folder, data, model, monkeypatch):
    monkeypatch.setattr("icefield.rows.stream_rows.STREAMED_ROWS", 300)
    explainer = Explainer(model, folder)
    curves = explainer.ice("x0", grid=[0.0, 1.0])
    assert curves.individual.shape[1] == 300
    assert "300 individual curves kept" in repr(curves)
    assert "sample of 300" in curves.why
    assert "a seeded sample of 300 of 6000 rows" in explainer.conditional("x0").notes[0].replace(",", "")
