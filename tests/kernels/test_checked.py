"""The checked build: an index outside of a view ends the process, and says which."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from icefield.kernels import generation

ROOT = Path(__file__).parents[2]
PROGRAM = """
#include "memory.hpp"
using namespace icefield;
int main(int, char** arguments) {
    static i64 numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};  // more than the views have
    const i64 i = atoll(arguments[2]);
    const List<i64> list{numbers, 4};
    const Table<i64> table{numbers, 2, 2};
    const Cube<i64> cube{numbers, 1, 2, 2};
    const Strided<i64> strided{numbers, 2, 2, 2, 1};
    const Zeros<i64> zeros(4);
    const Growing<i64> growing(4);
    growing.data()[0] = 0;
    switch (arguments[1][0]) {
        case 'l': return list[i] < 0;
        case 't': return table(0, i) < 0;
        case 'r': return table.row(i) == nullptr;
        case 'c': return cube(0, 0, i) < 0;
        case 's': return strided(i, 0) < 0;
        case 'z': return zeros[i] < 0;
        default: return growing[i] < 0;
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    script = ROOT / "build_kernels.py"
    if not script.exists():
        pytest.skip("needs the source tree")
    spec = importlib.util.spec_from_file_location("build_kernels", script)
    build_kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_kernels)
    compiler = build_kernels.compiler()
    if compiler is None or sys.platform == "win32":
        pytest.skip("no compiler of the system")
    folder = tmp_path_factory.mktemp("checked")
    source, made = folder / "views.cpp", folder / "views"
    source.write_text(PROGRAM)
    flags = ["-std=c++20", "-DICEFIELD_CHECKED", f"-I{generation.NATIVE}", "-o", str(made)]
    subprocess.run([*compiler, str(source), *flags], check=True, capture_output=True, timeout=120)
    return made


@pytest.mark.other_processes
@pytest.mark.parametrize(
    ("view", "last"),
    [("list", 3), ("table", 1), ("row", 2), ("cube", 1), ("strided", 1), ("zeros", 3), ("growing", 0)],
)
def test_an_index_outside_of_a_view_ends_the_process(program, view, last):
    def ended(index: int) -> tuple[int, str]:
        done = subprocess.run([program, view, str(index)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    assert ended(last) == (0, "")
    for index in (last + 1 if view != "growing" else 4, -1):
        status, said = ended(index)
        assert status < 0
        assert f"index {index} is outside of a view" in said


def test_the_sanitized_build_is_the_checked_one():
    if not (ROOT / "build_kernels.py").exists():
        pytest.skip("needs the source tree")
    assert '"-DICEFIELD_CHECKED"' in (ROOT / "build_kernels.py").read_text()
