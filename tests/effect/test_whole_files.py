"""Whatever happens while a file is written, the one before stays; and nothing else is left behind."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icefield import Explainer
from icefield.cli import output
from icefield.effect.whole_files import atomic_write


def test_an_error_leaves_the_file_before(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("before")

    def fail() -> None:
        with atomic_write(file) as beside:
            beside.write_text("half")
            assert beside.parent == tmp_path  # a rename works within a disk only
            assert beside.suffix == ".csv"
            assert beside.name.startswith(".")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_links_and_modes_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "a.csv", tmp_path / "link.csv"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file)
    with atomic_write(link) as beside:
        beside.write_text("after")
    assert link.is_symlink()
    assert file.read_text() == "after"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    with atomic_write(tmp_path / "new.csv") as beside:
        beside.write_text("")
    with (tmp_path / "plain.csv").open("w"):
        pass
    assert (tmp_path / "new.csv").stat().st_mode == (tmp_path / "plain.csv").stat().st_mode


def test_devices_are_written_to_as_they_are() -> None:
    with atomic_write(os.devnull) as file:
        assert file == Path(os.path.realpath(os.devnull))


def test_a_kill_leaves_the_file_before(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("before")
    code = (
        "import os, sys; from icefield.effect.whole_files import atomic_write\n"
        "with atomic_write(sys.argv[1]) as beside:\n    beside.write_text('half'); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == 9
    assert file.read_text() == "before"


def effect() -> Any:
    X = np.random.default_rng(0).normal(size=(40, 2))
    return Explainer(lambda rows: rows[:, 0], X).partial_dependence(0, grid=4)


def written(kind: str) -> Callable[[Any, Path], Any]:
    """How a kind of output is written."""
    files = dict.fromkeys(("csv_path", "json_path", "parquet_path"))
    ways: dict[str, Callable[[Any, Path], Any]] = {
        "icefield": lambda effect, file: effect.save(file),
        "to_csv": lambda effect, file: effect.to_csv(file),
        "png": lambda effect, file: output._draw(effect, str(file)),
        "html": lambda effect, file: output._draw(effect, str(file)),
    }
    for name in ("csv", "json", "parquet"):
        ways[name] = lambda effect, file: output._write(effect.to_frame(), None, **files | {f"{file.suffix[1:]}_path": str(file)})  # fmt: skip
    return ways[kind]


@pytest.mark.parametrize("kind", ["icefield", "to_csv", "png", "html", "csv", "json", "parquet"])
def test_a_full_disk_leaves_every_output_as_it_was(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"out.{'csv' if kind == 'to_csv' else kind}"
    file.write_text("before")
    found = effect()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("icefield.effect.whole_files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        written(kind)(found, file)
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == [file.name]
    monkeypatch.undo()
    written(kind)(found, file)
    assert file.stat().st_size > 100
    assert os.listdir(tmp_path) == [file.name]
