"""Everything a release must pass that a change need not: run by `make release-check`; publishes nothing.

Builds the source archive and this platform's wheel, audits and checks both, installs each into clean environments with the lowest
and the newest dependencies that pyproject.toml allows, runs the README's Python from there, and prints sizes and times. The first thing that
is wrong ends it with status 1.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
VERSION_FILE = ROOT / "src" / "icefield" / "__init__.py"  # the one place that has the version
BIN = Path(sys.executable).parent
# What the README's example takes for given, beside icefield itself; frames are the reader's own.
BESIDE = ["scikit-learn>=1.5", "pandas>=2.2", "pyarrow>=17"]
MOST_BYTES = {".whl": 5_000_000, ".gz": 20_000_000}
GIVEN = """
import matplotlib
matplotlib.use("Agg")
from pathlib import Path
from icefield.datasets import bikes
Path("rentals").mkdir()
bikes().to_parquet("rentals/1.parquet")
"""


def step(text: str) -> None:
    print(f"== {text}", flush=True)


def call(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints; its whole output and the end of the check where it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}\nrelease-check: failed with status {done.returncode}"
        )
    return done.stdout


def version() -> str:
    found = re.search(r'^__version__ = "([^"]+)"$', VERSION_FILE.read_text(encoding="utf-8"), re.M)
    if found is None:
        sys.exit(f"{VERSION_FILE} names no version")
    return found[1]


def check_changelog(number: str) -> None:
    """The changelog begins with this version and with what it breaks; a release has one date, in the changelog and where it is cited."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = text.split("\n## ")[1]
    release = re.sub(r"\.?(dev|a|b|rc)\d+$", "", number)
    if not first.startswith(f"{release} ("):
        sys.exit(f"CHANGELOG.md begins with {first.splitlines()[0]!r}, and the version is {number}")
    if not re.match(r"[^\n]*\n\n### What breaks\n\n\S", first):
        sys.exit(
            f"CHANGELOG.md does not begin {release} with what breaks, or with a line that says that nothing does"
        )
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    date = re.search(r"^date-released: (\S+)$", cited, re.M)
    if number == release and (
        date is None
        or first.splitlines()[0] != f"{release} ({date[1]})"
        or f"\nversion: {release}\n" not in cited
    ):
        sys.exit(f"CHANGELOG.md and CITATION.cff do not say that {release} was released on one date")


def built() -> list[Path]:
    shutil.rmtree(DIST, ignore_errors=True)
    call(BIN / "python", "-m", "build", "--outdir", DIST)
    found = sorted(DIST.iterdir(), key=lambda file: file.suffix)  # the archive first
    if [file.suffix for file in found] != [".gz", ".whl"]:
        sys.exit(f"built {[file.name for file in found]} instead of one source archive and one wheel")
    if found[-1].name.endswith("-none-any.whl"):
        sys.exit("the wheel holds no kernels")
    return found


def audited(wheel: Path) -> None:
    """The wheel needs nothing of this machine that others may lack."""
    if sys.platform != "linux":
        print("  audit skipped: auditwheel is for Linux")
        return
    said = " ".join(call(BIN / "auditwheel", "show", wheel).split())
    found = re.search(r'platform tag: "(\w+)"', said)
    print(f"  {wheel.name}: {found[1] if found else said}")
    if found is None or "manylinux" not in found[1]:
        sys.exit("the wheel is not manylinux: it links to something of this machine")


def identifiers() -> None:
    for platform in ("linux", "macos", "windows"):
        names = call(BIN / "cibuildwheel", "--print-build-identifiers", "--platform", platform).split()
        print(f"  {platform}: {', '.join(names)}")


def installed(file: Path, resolution: str, folder: Path) -> None:
    """Install into a clean environment, run the README's Python from another folder, print size and import time."""
    # Named here too: "lowest-direct" lowers what is asked for itself, not what a package asks for.
    own = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    venv = folder / "venv"
    call(BIN / "python", "-m", "uv", "venv", "--quiet", "--python", sys.executable, venv)
    python = venv / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    call(
        BIN / "python",
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        python,
        "--resolution",
        resolution,
        file,
        *BESIDE,
        *own,
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = GIVEN + "\n".join(re.findall(r"^```python\n(.*?)^```$", readme, re.M | re.S))
    code += "\nimport icefield\nassert 'site-packages' in icefield.__file__, icefield.__file__\n"
    code += "assert Path('report.html').stat().st_size > 10_000\nassert 'trees' in ex.plan.why, ex.plan.why\n"
    (folder / "readme.py").write_text(code, encoding="utf-8")
    call(python, "-I", folder / "readme.py", cwd=folder)
    timed = "import time; began = time.perf_counter(); import icefield; print(time.perf_counter() - began)"
    seconds = [float(call(python, "-I", "-c", timed, cwd=folder)) for _ in range(5)]
    (package,) = venv.glob("**/site-packages/icefield")
    size = sum(one.stat().st_size for one in package.rglob("*") if one.is_file() and one.suffix != ".pyc")
    listed = call(BIN / "python", "-m", "uv", "pip", "list", "--python", python)
    numbers = dict(re.findall(r"^(numpy|narwhals|matplotlib|scikit-learn|pandas) +(\S+)", listed, re.M))
    print(
        f"  {file.suffix[1:]} with {resolution}: {size / 1e6:.1f} MB installed, import {statistics.median(seconds):.2f} s; {numbers}"
    )


def main() -> None:
    number = version()
    step(f"icefield {number}: what the changelog says")
    check_changelog(number)
    step("a source archive and a wheel")
    files = built()
    for file in files:
        print(f"  {file.name}: {file.stat().st_size / 1e6:.2f} MB")
        if file.stat().st_size > MOST_BYTES[file.suffix]:
            sys.exit(
                f"{file.name} is larger than {MOST_BYTES[file.suffix] / 1e6:.0f} MB: it holds what it should not"
            )
    step("twine check")
    call(BIN / "twine", "check", "--strict", *files)
    step("what the wheel links to")
    audited(files[-1])
    step("wheels of other platforms, built by .github/workflows/release.yml")
    identifiers()
    step("each in clean environments, the README's Python run from there")
    for file in files:
        for resolution in ("lowest-direct", "highest"):
            with tempfile.TemporaryDirectory() as folder:
                installed(file, resolution, Path(folder))
    step(f"icefield {number} can be released from {DIST.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
