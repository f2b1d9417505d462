"""``icefield ... --on spark|dask|ray``: the numbers of the plain command, from an engine that lives as long as the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from icefield import MissingDependencyError
from icefield.cli import on_engine
from rows.rows import NUMBERS, booster, written

pytestmark = pytest.mark.timeout(150)


@pytest.fixture(scope="module")
def files(plain, tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("on")
    booster(plain, NUMBERS).booster_.save_model(str(folder / "model.txt"))
    return folder / "model.txt", written(folder / "rows", plain)


def asked(*arguments: object) -> list[float]:
    run = [sys.executable, "-W", "ignore", "-c", "import sys; from icefield.cli import run; sys.exit(run())"]
    done = subprocess.run(
        [*run, "pd", *map(str, arguments), "k", "--grid", "0,2,4", "--json"],
        capture_output=True, text=True, env=dict(os.environ), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout)
    rows = found if isinstance(found, list) else found["rows"]
    return [row["average"] for row in rows]


@pytest.mark.parametrize("engine", list(on_engine.NEEDS))
def test_an_engine_that_was_asked_for_gives_the_same_numbers(engine, files, engine_of):
    engine_of(engine)
    model, folder = files
    assert np.allclose(asked(model, folder, "--on", engine, "--threads", 2), asked(model, folder), rtol=1e-12)


@pytest.mark.parametrize("engine", list(on_engine.NEEDS))
def test_an_engine_that_is_missing_is_named_with_its_extra(engine, files, monkeypatch):
    monkeypatch.setitem(on_engine.NEEDS, engine, ("no_such_engine",))
    with pytest.raises(
        MissingDependencyError, match=rf"--on {engine} needs no_such_engine.*icefield\[{engine}\]"
    ):
        on_engine.data_on(engine, None, [str(files[1])], None)


def test_only_parquet_is_read(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(click.UsageError, match=r"Parquet files only.*rows\.csv"):
        on_engine.data_on("dask", None, [str(tmp_path / "rows.csv")], None)
