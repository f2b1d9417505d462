"""What the tests share: a check of error messages, small data, and where the real data lies."""

from __future__ import annotations

import json
import os
import subprocess
import sys

# Two test processes on two cores: OpenMP's own threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import run_order
from browser import Browser
from forked_children import Forks
from icefield.errors import IcefieldError

ROOT = Path(__file__).parent.parent

Complains = Callable[..., AbstractContextManager[None]]


@contextmanager
def _complains(parameter: str, *words: str, error: type[Exception] = IcefieldError) -> Iterator[None]:
    with pytest.raises(IcefieldError) as caught:
        yield
    text = str(caught.value)
    assert isinstance(caught.value, error), f"{type(caught.value).__name__} is no {error.__name__}: {text}"
    assert isinstance(caught.value, (ValueError, TypeError)), type(caught.value)
    assert f"`{parameter}`" in text, text
    for word in words:
        assert word in text, f"{word!r} is not in: {text}"


@pytest.fixture(scope="session")
def complains() -> Complains:
    """``with complains("rows", "at least 1", error=ValueError):`` the block must fail just so.

    The error must be icefield's own, name the parameter and hold all the words.
    """
    return _complains


IMPORTS = (
    "import icefield",
    "import icefield.libraries.registry",
    *(
        f"for library in icefield.libraries.registry.LIBRARIES: library.{r}"
        for r in ("predictions", "trees", "files", "row_by_row")
    ),
    "import icefield.models.model",
    "import icefield.plots, icefield.compare",
)


@pytest.fixture(scope="session")
def modules_after() -> dict[str, set[str]]:
    """The modules that a new Python holds after each line of `IMPORTS`, one after another."""
    code = f"import json, sys\nfound = {{}}\nfor line in {IMPORTS!r}:\n    exec(line)\n    found[line] = [*sys.modules]\nprint(json.dumps(found))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {line: set(names) for line, names in json.loads(printed).items()}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture(autouse=True)
def _no_figure_left() -> Iterator[None]:
    """Which tests share a process differs from run to run: none meets another's open figures."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


FORKS = Forks()
# Where files are tried on the way to something else, and not the child itself is tested.
FORKED = ("test_exactness", "test_recipes", "catboost", "test_commands", "test_command_errors", "test_loading", "test_against_python", "test_refitting", "test_first_answers")  # fmt: skip


@pytest.fixture(autouse=True)
def _children_are_forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children that try files come from a process that has imported their libraries."""
    path = request.path.as_posix()
    if sys.platform != "linux" or not any(name in path for name in FORKED):
        return
    if "real_children" in request.fixturenames:
        return
    for home in ("icefield.libraries.native_files", "icefield.libraries.catboost.format"):
        monkeypatch.setattr(f"{home}.run_in_child", FORKS.run_in_child)


@pytest.fixture
def real_children() -> None:
    """Of a file whose children are forked: those of this test are real ones."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a process; a test that takes it belongs to `make test-look`."""
    one = Browser()
    yield one
    one.close()


# --- what runs, and in which order: run_order.py -------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    run_order.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """As a plugin, for examples in `src` and `docs` too."""
    config.pluginmanager.register(run_order)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded to be seen, also when they ran in another process."""
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == "printed":
                terminalreporter.write_line(text)


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command in this process: exit status, and what it printed, as a process of its own gives them."""

    from icefield.cli import commands

    def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
        line, code = [str(a) for a in arguments], 0
        try:
            commands.run(line)
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capfd.readouterr()
        return subprocess.CompletedProcess(line, code, printed.out, printed.err)

    return run
