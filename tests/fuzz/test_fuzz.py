"""The fuzzer's parts, and a short run of every format."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.fuzz.__main__ import RESULTS
from tests.fuzz.damage import damaged
from tests.fuzz.formats import FORMATS
from tests.fuzz.running import FINE, fuzz, outcome, prepared

forks = pytest.importorskip("tests.fuzz.forks")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it forks, and reads limits from /proc")
SHORT = 50


@pytest.mark.parametrize("content", [b"a=1\nb=2.5e3\n" * 20, bytes(range(256)) * 3, b""])
def test_damage_is_the_same_for_the_same_seed_and_is_some(content: bytes) -> None:
    copies = [damaged(content, seed) for seed in range(60)]
    assert copies == [damaged(content, seed) for seed in range(60)]
    assert len(set(copies)) > 40 or not content
    assert sum(copy != content for copy in copies) > 50


def test_forks_tell_what_became_of_them() -> None:
    def crash() -> str:
        os.kill(os.getpid(), signal.SIGSEGV)
        return "never"

    def wait() -> str:
        signal.pause()
        return "never"

    assert forks.forked(lambda: "fine") == "fine"
    assert forks.forked(crash) == "crash 11"
    assert forks.forked(wait, 0.2) == "hang"
    assert forks.forked(lambda: str(len(bytearray(3 * 2**30)))) == "memory"
    assert forks.forked(lambda: str({}["no"])) == "raw KeyError: 'no'"


def test_every_format_was_run() -> None:
    stored = json.loads(RESULTS.read_text())
    assert set(stored) == set(FORMATS)
    for name, run in stored.items():
        assert sum(run["outcomes"].values()) == run["mutations"], name
        assert run["mutations"] >= 2000, name
        assert set(run["outcomes"]) <= {*FINE, "caught"}, name  # runs of before it was told what was caught


@pytest.fixture(scope="module")
def apart() -> Iterator[Executor]:
    """A process of its own to fork: this one may have threads of other tests, which a fork would wait for."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, apart: Executor) -> Path:
    return apart.submit(prepared, tmp_path_factory.mktemp("originals")).result()


@pytest.mark.slow
def test_sound_files_are_taken(folder: Path, apart: Executor) -> None:
    for name, kind in FORMATS.items():
        for file in kind.files:
            if (folder / file).exists():
                assert apart.submit(outcome, name, folder / file, folder).result() == "agreed", file


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_short_run(name: str, folder: Path, apart: Executor) -> None:
    if not (folder / FORMATS[name].files[0]).exists():
        pytest.skip("the library that writes it is not installed")
    assert apart.submit(fuzz, name, SHORT, 10_000, folder).result().wrong == {}
