"""Builds the native kernels: one library per instruction level, beside the sources, and their Python interface.

``python build_kernels.py`` writes `_abi.py` where the header says otherwise, and builds what is missing or older than the sources; the build hook
(`hatch_build.py`), ``make kernels`` and the tests use the same. Only the standard library is needed, and a
C++20 compiler: ``$CXX``, c++, g++ or clang++, else the one in the ``ziglang`` wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
KERNELS = ROOT / "src" / "icefield" / "kernels"
NO_COMPILER = 3  # the exit status that says so
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

# No contraction: a fused multiply-add rounds once where two operations round twice, and counts turned to averages
# must be the same at every level. No exceptions and no run-time types: no C++ runtime to carry.
FLAGS = [
    "-std=c++20", "-O3", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
    "-fvisibility=hidden", "-Wall", "-Wextra", "-shared",
]  # fmt: skip
# Sanitizers see what lies outside of an array's memory; the checks of ICEFIELD_CHECKED what lies outside of a view.
SANITIZED = [
    "-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
    "-DICEFIELD_CHECKED",
]  # fmt: skip
X86_LEVELS = {
    "v2": ["-march=x86-64-v2"],
    "v3": ["-march=x86-64-v3"],
    "v4": ["-march=x86-64-v4", "-mavx512vpopcntdq"],
}
X86_LEVELS_OF_ZIG = {
    "v2": ["-mcpu=x86_64_v2"],
    "v3": ["-mcpu=x86_64_v3"],
    "v4": ["-mcpu=x86_64_v4+avx512vpopcntdq"],
}


def compiler() -> list[str] | None:
    """The command of a C++ compiler of this system, or None."""
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"], posix=os.name == "posix")
    # On Windows only clang takes these flags.
    names = ("clang++",) if sys.platform == "win32" else ("c++", "g++", "clang++")
    found = next((path for path in map(shutil.which, names) if path), None)
    return [found] if found else None


def zig() -> list[str] | None:
    """The command of the ``ziglang`` wheel's compiler, or None where it is not installed."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    # As a C compiler that is given C++: else it would first build a C++ runtime, which no kernel uses.
    return [sys.executable, "-m", "ziglang", "cc", "-x", "c++", "-s"]


def levels(is_zig: bool) -> dict[str, list[str]]:
    """The instruction levels to build for, and what they add to the flags."""
    machine = platform.machine().lower()
    machine = (
        os.environ.get("ARCHFLAGS", "").removeprefix("-arch ") or machine
    )  # as set when building for macOS
    if machine in ("x86_64", "amd64"):
        return X86_LEVELS_OF_ZIG if is_zig else X86_LEVELS
    return {"arm64" if machine in ("arm64", "aarch64") else "generic": []}


def build(kernels: Path = KERNELS, *, sanitize: bool = False, only: str | None = None) -> list[Path]:
    """Build the libraries of a folder of kernels that are not those of its sources; gives all of them.

    With `sanitize` it is the one that ``make sanitize`` runs; `only` names the one level wanted.
    """
    command, is_zig = compiler(), False
    if command is None:
        command, is_zig = zig(), True
    wanted = {"sanitized": SANITIZED} if sanitize else levels(is_zig)
    if only is not None:
        wanted = {only: wanted[only]}
    folder = kernels / "built"
    paths = {name: folder / f"kernels-{name}{SUFFIX}" for name in wanted}
    generation = _generation(kernels)
    _write_if_changed(kernels / "_abi.py", generation.python_interface(kernels / "native"))
    entry_points = generation.entry_points(kernels / "native")
    made_from = _made_from(generation.source_stamp(kernels / "native"), entry_points)
    stale = [name for name, path in paths.items() if not path.exists() or _note(path) != made_from]
    if not stale:
        return list(paths.values())
    if command is None:
        print(
            "The native kernels need a C++20 compiler. Install g++ or clang++, or run `pip install ziglang`, "
            "which brings one, and try again.",
            file=sys.stderr,
        )
        raise SystemExit(NO_COMPILER)
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / "entry_points.cpp"
        written.write_text(entry_points, encoding="utf-8")

        def one(name: str) -> None:
            made, path = Path(scratch) / paths[name].name, paths[name]
            _compile([*command, *_flags(is_zig), *wanted[name]], [*_sources(kernels), written], made)
            # A process may have the old library loaded: it keeps the file it opened.
            staged = path.with_suffix(".new")
            shutil.copyfile(made, staged)
            staged.replace(path)
            path.with_suffix(".txt").write_text(made_from)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(one, stale))
    return list(paths.values())


def _note(library: Path) -> str:
    """What a library was made from, as noted beside it."""
    note = library.with_suffix(".txt")
    return note.read_text() if note.exists() else ""


def _sources(kernels: Path) -> list[Path]:
    return sorted((kernels / "native").glob("*.cpp"))


def _flags(is_zig: bool) -> list[str]:
    flags = list(FLAGS)
    if sys.platform != "win32":
        flags.append("-fPIC")
    if sys.platform.startswith("linux") and not is_zig:
        flags += ["-static-libgcc", "-static-libstdc++", "-Wl,--as-needed"]
    if os.environ.get("ARCHFLAGS"):
        flags += shlex.split(os.environ["ARCHFLAGS"])
    return flags


def _compile(command: list[str], sources: list[Path], made: Path) -> None:
    whole = [*command, f"-I{sources[0].parent}", *map(str, sources), "-o", str(made)]
    done = subprocess.run(whole, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(whole)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="\n")


def _generation(kernels: Path) -> Any:
    """The module that reads the header, from its file: the package is not installed yet."""
    spec = importlib.util.spec_from_file_location("icefield_generation", kernels / "generation.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"{kernels} holds no kernels")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _made_from(stamp: str, entry_points: str) -> str:
    """What a build depends on: the sources, the entry points written for them, and this script."""
    more = Path(__file__).read_bytes() + entry_points.encode()
    return f"{stamp} {hashlib.sha256(more).hexdigest()}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build icefield's native kernels.")
    parser.add_argument("--kernels", type=Path, default=KERNELS, help="the folder that holds native/")
    parser.add_argument("--sanitize", action="store_true", help="build the library `make sanitize` runs")
    parser.add_argument("--only", metavar="LEVEL", help="build for this instruction level alone")
    asked = parser.parse_args()
    for built in build(asked.kernels, sanitize=asked.sanitize, only=asked.only):
        print(built)
