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
from sources.rows import NUMBERS, booster, frame, table, written


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
