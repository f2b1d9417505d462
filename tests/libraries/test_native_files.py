"""A library that hangs or crashes on a file does so in a child process, and the error says so."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from icefield.libraries import native_files
from icefield.libraries.native_files import LoadError, load_native
from model_files import write_models


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("lightgbm")
    return write_models(tmp_path_factory.mktemp("models"))["lightgbm.txt"]


def test_a_hang_in_the_library_is_an_error(text_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "run_in_child", lambda *_: None)
    with pytest.raises(LoadError, match="in time"):
        load_native(text_model)


def test_a_crash_in_the_library_is_an_error(text_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "run_in_child", lambda *_: CompletedProcess([], -11))
    with pytest.raises(LoadError, match="signal 11"):
        load_native(text_model)
