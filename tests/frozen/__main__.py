"""The command; see the package."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before anything loads OpenMP: sums of libraries depend on their threads
os.environ["MPLBACKEND"] = "Agg"

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # the tests' own modules, as pytest has them


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.frozen", description="Frozen answers.")
    options.add_argument("what", choices=("write", "compare"))
    options.add_argument("file", type=Path)
    options.add_argument("--only", default="", help="questions whose names begin so")
    options.add_argument("--all", action="store_true", help="print every difference, not the first 200")
    given = options.parse_args()
    import icefield

    from . import bad_inputs, distributed, memory, streams
    from .answers import Answers, differences, read, write

    print(f"icefield of {Path(icefield.__file__).parent}")
    found, began = Answers(given.only), time.perf_counter()
    for part in (memory, streams, distributed, bad_inputs):
        at = time.perf_counter()
        part.ask_all(found)
        print(f"{part.__name__.rsplit('.')[-1]}: {time.perf_counter() - at:.0f} s")
    print(f"{found.questions} questions, {len(found.values)} values, {time.perf_counter() - began:.0f} s")
    if given.what == "write":
        write(given.file, found.values)
        print(*(f"refused: {name}" for name in found.refused), sep="\n")
        return 0
    lines = differences(read(given.file, given.only), found.values)
    shown = lines if given.all else lines[:200]
    print(*shown, sep="\n")
    print(f"{len(lines)} differences" if lines else "identical")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
