"""A child imports nothing from the working folder, ends with its parent, and keeps to its limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import child_tasks
from icefield.libraries import child_process
from icefield.libraries.child_process import error_line, run_in_child

SHADOWS = ("json", "subprocess", "pathlib", "threading", "numpy", "icefield", "pickle", "struct", "lightgbm")


@pytest.fixture(autouse=True)
def _tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))


def shadows(folder: Path, names: tuple[str, ...] = SHADOWS) -> Path:
    """Files that are called like modules, and leave a mark where they are imported."""
    for name in names:
        (folder / f"{name}.py").write_text("open('imported', 'w').close()\nraise SystemExit(7)\n")
    return folder / "imported"


def test_a_child_imports_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = shadows(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = run_in_child(child_tasks.say_modules, tmp_path / "json.py")
    assert done is not None
    assert done.returncode == 0, error_line(done)
    assert not [path for path in json.loads(done.stdout) if path.startswith(str(tmp_path))]
    assert not mark.exists()


@pytest.mark.slow
def test_processes_for_a_model_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    mark = shadows(tmp_path, ("multiprocessing", "pickle", "struct", "socket", "runpy"))
    script = tmp_path / "inside" / "script.py"
    script.parent.mkdir()
    script.write_text(
        "import numpy as np, icefield\n"
        "def summed(X): return X.sum(axis=1)\n"
        "if __name__ == '__main__':\n"
        "    X = np.arange(20.0).reshape(10, 2)\n"
        "    icefield.Explainer(summed, X, processes=2).partial_dependence(0)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not mark.exists()


def test_a_crash_is_a_signal(tmp_path: Path) -> None:
    done = run_in_child(child_tasks.crash, tmp_path)
    assert done is not None
    assert done.returncode == -signal.SIGSEGV


def test_a_child_that_waits_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "SECONDS", 0.5)
    assert run_in_child(child_tasks.sleep, _file(tmp_path)) is None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of processor time")
def test_a_child_that_loops_is_ended_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "PROCESSOR_SECONDS", 0.0)
    assert run_in_child(child_tasks.spin, _file(tmp_path)) is None


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_child_cannot_take_the_machine_s_memory(tmp_path: Path) -> None:
    done = run_in_child(child_tasks.claim, _file(tmp_path), str(3 * 2**30))
    assert done is not None
    assert done.returncode == 1
    assert error_line(done) == "MemoryError"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_hard_limits_of_the_caller_hold_and_do_not_fail(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path\n"
        "import child_tasks\nfrom icefield.libraries.child_process import run_in_child, error_line\n"
        "for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU): resource.setrlimit(kind, (2**30, 2**30))\n"
        "done = run_in_child(child_tasks.claim, Path(sys.argv[1]), sys.argv[2])\n"
        "print(done.returncode, done.stderr.decode()[-200:])\n"
    )
    for size, wanted in ((2**20, "0"), (2**30, "1")):
        done = subprocess.run(
            [sys.executable, "-c", code, str(_file(tmp_path)), str(size)], capture_output=True, text=True, check=False
        )  # fmt: skip
        assert done.stdout.startswith(wanted), done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="processes are asked about by signals")
@pytest.mark.parametrize("task", ["spin", pytest.param("sleep", marks=pytest.mark.slow)])
def test_a_child_ends_with_its_parent(tmp_path: Path, task: str) -> None:
    file = _file(tmp_path)
    code = (
        "import sys; from pathlib import Path; import child_tasks\n"
        "from icefield.libraries.child_process import run_in_child\n"
        f"run_in_child(child_tasks.{task}, Path(sys.argv[1]))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(file)])
    try:
        assert _until(lambda: file.read_text().isdigit())
        child = int(file.read_text())
    finally:
        parent.kill()
        parent.wait()
    assert _until(lambda: not _runs(child)), "the child lives on"


def _file(folder: Path) -> Path:
    file = folder / "file"
    file.touch()
    return file


def _until(holds: object, seconds: float = 30.0) -> bool:
    assert callable(holds)
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:  # ended, and waited for by nobody
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return not Path("/proc/self").exists()
