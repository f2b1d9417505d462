"""The library for this machine: chosen, forced, refused when it is not of these sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import icefield
from icefield import kernels
from icefield.kernels import loading

pytestmark = pytest.mark.other_processes
PACKAGE = Path(icefield.__file__).parent
TESTS = Path(__file__).parents[1]

# What a level answers to a few random forests, to the last bit: counts, averages, curves, predictions.
DIGEST = """
import hashlib, sys
import numpy as np
from icefield.core.question import Axis, Question, Resources
from icefield.core.rows import Block
from icefield.engines.trees import TreesEngine, program
from icefield.data.frame import table_of
from strategies import IDENTITY, random_forest

whole = hashlib.sha256()
for seed in range(12):
    rng = np.random.default_rng(seed)
    program.FEW_LEAVES = float(rng.choice([0.0, 0.4, 2.0]))
    drawn = random_forest(rng, n_columns=4, leaves=20)
    sample = Block(table_of(drawn.matrix(rng, 300)), rng.random(300) if seed % 2 else None)
    axes = [Axis((j,), {j: drawn.columns[j].values(rng, 70)}) for j in range(4)]
    asked = [(a,) for a in axes] + [(a, b) for i, a in enumerate(axes) for b in axes[:i]]
    for spread in (False, True):
        questions = [Question(axes, spread, (), None) for axes in asked[: 4 if spread else None]]
        engine = TreesEngine(drawn.model(IDENTITY), "raw", list(range(drawn.forest.n_outputs)))
        for answer in engine.answer(questions, sample, Resources(threads=1)):
            whole.update(answer.total.mean.tobytes())
    for kept in (np.arange(300), np.arange(200)):
        (answer,) = engine.answer([Question((), True, (), kept)], sample, Resources(threads=1))
        whole.update(answer.curves.tobytes())
import icefield.kernels
print(icefield.kernels.level(), whole.hexdigest())
"""


def run(code: str, *folders: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, folders or (PACKAGE.parent, TESTS)))
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package in another folder, with its libraries."""
    shutil.copytree(PACKAGE, tmp_path / "src" / "icefield", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src" / "icefield" / "kernels"


def complaint(copy: Path, **environment: str) -> str:
    done = run("import icefield.kernels as k; print(k.level())", copy.parents[1], **environment)
    assert done.returncode == 1, done.stdout
    assert "KernelsError" in done.stderr
    return done.stderr.splitlines()[-1]


def test_the_best_level_of_this_machine_is_used():
    done = run("import icefield.kernels as k; print(k.level(), k.levels())", ICEFIELD_KERNELS="")
    assert done.stdout.split(maxsplit=1) == [kernels.levels()[-1], f"{kernels.levels()}\n"]


@pytest.mark.parametrize("name", kernels.levels())
def test_every_level_gives_the_same_numbers(name):
    lowest = run(DIGEST, ICEFIELD_KERNELS=kernels.levels()[0]).stdout.split()
    found = run(DIGEST, ICEFIELD_KERNELS=name)
    assert found.stdout.split() == [name, lowest[1]], found.stderr


def test_importing_loads_no_library():
    code = """
import ctypes
def refused(*args, **kwargs):
    raise AssertionError("loaded")
ctypes.CDLL.__init__ = refused
import icefield.kernels, icefield.engines.trees.averages, icefield.engines.trees.curves
print("fine")
"""
    assert run(code).stdout.strip() == "fine"


def test_a_source_tree_that_was_not_built_names_the_command(copy):
    shutil.rmtree(copy / "built")
    said = complaint(copy)
    assert "have not been built" in said
    assert "pip install --force-reinstall icefield" in said  # there is no script beside this copy


def test_the_command_is_that_of_the_source_tree():
    if (loading.SOURCE_TREE / "build_kernels.py").exists():
        assert f"{loading.SOURCE_TREE / 'build_kernels.py'}` (or `make kernels`)" in loading._remedy()


def test_libraries_of_other_sources_are_refused(copy):
    (copy.parents[2] / "build_kernels.py").write_text("")  # what makes it a source tree
    assert run("import icefield.kernels as k; k.level()", copy.parents[1]).returncode == 0
    changed = copy / "native" / "bits.hpp"
    changed.write_text(changed.read_text() + "\n// changed\n")
    assert "were built from other sources" in complaint(copy)


def test_libraries_of_another_interface_are_refused(copy):
    changed = copy / "_abi.py"
    changed.write_text(changed.read_text().replace('STAMP = "', 'STAMP = "0'))
    assert "have another interface" in complaint(copy)


def test_what_is_no_library_is_refused(copy):
    for library in (copy / "built").glob("kernels-*"):
        library.write_bytes(b"nothing")
    assert "could not be loaded" in complaint(copy)


def test_an_unknown_level_is_refused(copy):
    said = complaint(copy, ICEFIELD_KERNELS="v9")
    assert "ICEFIELD_KERNELS=v9 names no library" in said
    assert kernels.levels()[0] in said


def test_a_level_this_machine_cannot_run_is_refused(monkeypatch):
    best = kernels.levels()[-1]
    monkeypatch.setattr(loading.NativeLibrary, "runnable", lambda self: set())
    with pytest.raises(kernels.KernelsError, match="instructions this machine does not have"):
        loading._asked_for(best)


def test_a_machine_below_the_lowest_level_is_told(monkeypatch):
    monkeypatch.setattr(loading.NativeLibrary, "runnable", lambda self: set())
    monkeypatch.delenv(loading.VARIABLE, raising=False)
    with pytest.raises(kernels.KernelsError, match="lacks instructions"):
        loading.library.__wrapped__()


@pytest.mark.skipif(sys.platform != "linux", reason="asks the tools of Linux")
@pytest.mark.skipif(shutil.which("ldd") is None, reason="no ldd here")
def test_libraries_need_nothing_but_the_c_library():
    for library in loading._found():
        needed = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
        assert "stdc++" not in needed
        assert "libgcc" not in needed
