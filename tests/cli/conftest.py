"""What the tests of the command line share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from icefield.cli import commands


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
