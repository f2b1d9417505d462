"""Folders, globs and several files on the command line are streamed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from icefield import Explainer
from icefield.cli.commands import main
from icefield.libraries import native_files
from rows.rows import NUMBERS, booster, frame, table, written


@pytest.fixture(autouse=True)
def _sound_files(monkeypatch):
    """Whether a file is sound is tested elsewhere; asking a child process each time takes most of the time here."""
    monkeypatch.setattr(native_files, "try_in_child", lambda *_: None)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, Path]:
    rows, folder = frame(2_000), tmp_path_factory.mktemp("cli")
    booster(rows, NUMBERS).booster_.save_model(str(folder / "model.txt"))
    return folder / "model.txt", written(folder / "rows", rows)


def asked(*arguments: str) -> str:
    done = CliRunner().invoke(main, list(arguments), catch_exceptions=False, standalone_mode=False)
    return done.stdout


@pytest.mark.parametrize("how", ["folder", "glob", "files"])
def test_curves_of_several_files(how, files):
    model, folder = files
    given = {
        "folder": [str(folder)],
        "glob": [f"{folder}/*.parquet"],
        "files": [str(path) for path in sorted(folder.iterdir())],
    }[how]
    printed = asked("pd", str(model), *given, "k", "--grid", "0,2,4", "--json")
    found = json.loads(printed)
    import lightgbm as lgb

    whole = table(frame(2_000))
    expected = Explainer(lgb.Booster(model_file=str(model)), whole).partial_dependence("k", grid=[0, 2, 4])
    assert np.allclose(_averages(found), expected.average[0], rtol=1e-12)


def _averages(found) -> list[float]:
    rows = found if isinstance(found, list) else found.get("rows")
    if rows is None:
        return list(np.ravel(found["average"]))
    return [row["average"] for row in rows]


def test_commands_without_features_take_what_the_shell_makes_of_a_glob(files, tmp_path):
    model, folder = files
    paths = [str(path) for path in sorted(folder.iterdir())]
    assert "x0" in asked("importance", str(model), *paths)
    asked("report", str(model), *paths, "-o", str(tmp_path / "report.html"))
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_a_folder_without_data_is_refused(files, tmp_path):
    from icefield.errors import InputError

    model, _ = files
    with pytest.raises(InputError, match="folder"):
        asked("importance", str(model), str(tmp_path))
    pq.write_table(table(frame(10).drop(columns="x2")), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="x2"):
        asked("importance", str(model), str(tmp_path))


COMMANDS = {
    "pd": ["k", "--grid", "0,2"],
    "ice": ["k", "--rows", "5"],
    "ale": ["x0"],
    "importance": [],
    "interactions": ["-f", "x0", "-f", "k"],
    "summary": ["-f", "x0", "-f", "k"],
    "report": ["-f", "x0", "-f", "k", "-o", "report.html"],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", ["folder", "glob", "files"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_folders_globs_and_files(command, how, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, folder = files
    given = {"folder": [folder], "glob": [f"{folder}/*.parquet"], "files": sorted(folder.iterdir())}[how]
    asked(command, str(model), *map(str, given), *COMMANDS[command])
    assert (tmp_path / "report.html").exists() == (command == "report")


@pytest.fixture(scope="module")
def levels(tmp_path_factory) -> tuple[Path, Path]:
    """A booster of categories, and files whose levels are plain text."""
    rows, folder = frame(2_000), tmp_path_factory.mktemp("levels")
    booster(rows).booster_.save_model(str(folder / "model.txt"))
    text = rows.assign(level=rows.level.astype(str))
    return folder / "model.txt", written(folder / "rows", text)


def test_text_is_matched_with_the_levels_the_model_knows(levels):
    import lightgbm as lgb

    model, folder = levels
    found = json.loads(asked("pd", str(model), str(folder), "level", "--grid", "a,c", "--json"))
    whole = table(frame(2_000))
    expected = Explainer(lgb.Booster(model_file=str(model)), whole).partial_dependence(
        "level", grid=["a", "c"]
    )
    assert np.allclose(_averages(found), expected.average[0], rtol=1e-12)
    found = json.loads(asked("pd", str(model), str(folder), "x0", "--grid", "0,1", "--by", "level", "--json"))
    expected = Explainer(lgb.Booster(model_file=str(model)), whole, by="level").partial_dependence(
        "x0", grid=[0.0, 1.0]
    )
    assert len(_averages(found)) == 2 * (1 + 3)
    assert np.allclose(_averages(found)[:2], expected.average[0], rtol=1e-12)


def test_texts_that_stand_for_missing_values_in_several_files(files, tmp_path):
    model, _ = files
    rows = frame(2_000)
    for number in range(2):
        part = rows.iloc[number * 1_000 : (number + 1) * 1_000]
        part.to_csv(tmp_path / f"{number}.csv", index=False, na_rep="unknown")
    found = json.loads(
        asked("pd", str(model), str(tmp_path), "k", "--grid", "0,2,4", "--missing", "unknown", "--json")
    )
    import lightgbm as lgb

    expected = Explainer(lgb.Booster(model_file=str(model)), table(rows)).partial_dependence(
        "k", grid=[0, 2, 4]
    )
    assert np.allclose(_averages(found), expected.average[0], rtol=1e-12)


def test_a_checkpoint_is_for_several_files(files, tmp_path):
    import click

    model, folder = files
    place = tmp_path / "sums"
    first = asked("pd", str(model), str(folder), "k", "--grid", "0,2", "--checkpoint", str(place), "--json")
    assert place.exists()
    assert (
        asked("pd", str(model), str(folder), "k", "--grid", "0,2", "--checkpoint", str(place), "--json")
        == first
    )
    one = str(sorted(folder.iterdir())[0])
    with pytest.raises(click.UsageError, match="checkpoint"):
        asked("pd", str(model), one, "k", "--checkpoint", str(place))
