"""A library that hangs or crashes on a file does so in a child process, and the error says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from icefield.libraries import native_files
from icefield.libraries.native_files import LoadError, load_native
from model_files import write_models


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("lightgbm")
    return write_models(tmp_path_factory.mktemp("models"))["lightgbm.txt"]


def test_a_hang_in_the_library_is_an_error(text_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "LOAD_SECONDS", 0.5)
    monkeypatch.setattr(native_files, "_CHILD", "import time; time.sleep(60)")
    with pytest.raises(LoadError, match=r"0\.5 s"):
        load_native(text_model)


def test_a_crash_in_the_library_is_an_error(text_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "_CHILD", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(LoadError, match="signal 11"):
        load_native(text_model)
