"""What the tests of the command line share."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icefield.cli import commands
from icefield.libraries import native_files

TRIED: dict[Any, subprocess.CompletedProcess[bytes]] = {}
in_child = native_files.in_child


def in_child_once(task: Callable[..., None], file: Path, *arguments: str) -> Any:
    """As `in_child`, but a file that came out sound is not tried again: each child imports a library for seconds."""
    key = (task.__name__, file.suffix, hashlib.sha256(file.read_bytes()).digest(), arguments)
    if key not in TRIED:
        done = in_child(task, file, *arguments)
        if done is None or done.returncode != 0:
            return done
        TRIED[key] = done
    return TRIED[key]


@pytest.fixture(autouse=True)
def _sound_files_are_tried_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except where the child itself is tested."""
    if request.path.name != "test_loading.py":
        monkeypatch.setattr(native_files, "in_child", in_child_once)


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command in this process: exit status, and what it printed, as a process of its own gives them."""

    def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
        line, code = [str(a) for a in arguments], 0
        try:
            commands.run(line)
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capfd.readouterr()
        return subprocess.CompletedProcess(line, code, printed.out, printed.err)

    return run
