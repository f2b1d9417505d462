"""Which tests run, in which order, and what each file costs: a plugin that conftest.py registers.

``durations.json`` holds processor seconds per file, by make's target. ``--dist loadfile`` hands out files in the order
of the tests: the longest first, so that none is left for the end, and each to one process, so that its tests share
what they fitted.
"""

from __future__ import annotations

import gc
import json
import os
from collections import Counter, defaultdict
from collections.abc import Container, Generator
from itertools import chain
from pathlib import Path
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule

ROOT = Path(__file__).parent.parent
DURATIONS = ROOT / "tests" / "durations.json"


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("icefield")
    group.addoption(
        "--part",
        metavar="K/N",
        help="run the K-th of N parts of every test's cases, and all tests without cases",
    )
    group.addoption("--unsampled", action="store_true", help="no case of a sampled test counts as slow")
    group.addoption(
        "--store-durations", action="store_true", help=f"write processor seconds per file to {DURATIONS.name}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays: no search for garbage goes through it, neither here nor in the tests."""
    global _since
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    _since = _processor_seconds()  # collecting is no test's
    return found


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """A module without an example is not imported, and all its docstrings searched, to look for one."""
    found = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return found
    return [collector for collector in found if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a browser and what sweeps leave out, keep the part that is asked for, the longest files first."""
    seen: Counter[str] = Counter()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("look")
        if (sampled := item.get_closest_marker("sampled")) and not config.getoption("--unsampled"):
            name = item.nodeid.partition("[")[0]
            if seen[name] % sampled.args[0]:
                item.add_marker("slow")
            seen[name] += 1
    if part := config.getoption("--part"):
        which, of = map(int, part.split("/"))
        kept = [
            item for item in items if "[" not in item.nodeid or crc32(item.nodeid.encode()) % of == which % of
        ]
        config.hook.pytest_deselected(items=[*set(items).difference(kept)])
        items[:] = kept
    if hasattr(config, "workerinput"):
        seconds = _stored()
        items.sort(key=lambda item: -seconds[_target(item.keywords)].get(_file(item), 0.0))


def _target(keywords: Container[str]) -> str:
    """Which of make's targets a test belongs to."""
    return "test-sweeps" if "slow" in keywords else "test-look" if "look" in keywords else "test"


def _file(test: pytest.Item | pytest.TestReport) -> str:
    return test.nodeid.split("::")[0]


def _stored() -> dict[str, dict[str, float]]:
    found = json.loads(DURATIONS.read_text(encoding="utf-8")) if DURATIONS.exists() else {}
    return {target: found.get(target, {}) for target in ("test", "test-look", "test-sweeps")}


def _processor_seconds() -> float:
    """What this process and its ended children have used."""
    return sum(os.times()[:4])


_since = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Every report says what the test cost in processor time, which is the same on a busy machine."""
    global _since
    report = yield
    now = _processor_seconds()
    report.processor_seconds, _since = now - _since, now
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Store what every file cost that was run, in place of what was stored; files that are gone are dropped."""
    if not config.getoption("--store-durations"):
        return
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            found[_target(report.keywords), _file(report)] += report.processor_seconds
    stored = _stored()
    for (target, file), spent in found.items():
        stored[target][file] = round(spent, 1)
    kept = {
        target: {file: spent for file, spent in sorted(files.items()) if spent and (ROOT / file).exists()}
        for target, files in stored.items()
    }
    DURATIONS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
