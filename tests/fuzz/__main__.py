"""``python -m tests.fuzz FORMAT N``: FORMAT is one of those in `formats`, or ``all``."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import json
import os
import sys
import tempfile
from pathlib import Path

# Forks must not meet threads.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", ARROW_DEFAULT_MEMORY_POOL="system")

from tests.fuzz.formats import FORMATS
from tests.fuzz.running import fuzz, prepared

RESULTS = Path(__file__).parent / "results.json"
LIBRARIES = (
    "lightgbm",
    "xgboost-cpu",
    "catboost",
    "onnxruntime",
    "skops",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "numpy",
)


def main() -> int:
    reading = argparse.ArgumentParser(prog="python -m tests.fuzz")
    reading.add_argument("format", choices=[*FORMATS, "all"])
    reading.add_argument("count", type=int)
    reading.add_argument("--seed", type=int, default=0)
    reading.add_argument(
        "--store", action="store_true", help="write counts, seeds and the date to results.json"
    )
    reading.add_argument(
        "--minutes", type=float, default=float("inf"), help="go on to the next format after so long"
    )
    asked = reading.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        where = prepared(Path(folder))
        for name in FORMATS if asked.format == "all" else (asked.format,):
            found = fuzz(name, asked.count, asked.seed, where, 60.0 * asked.minutes)
            done = found.counts.total()
            wrong += len(found.wrong)
            print(name, done, dict(found.counts), flush=True)
            for seed, said in found.wrong.items():
                print(f"  seed {seed}: {said}", flush=True)
            if asked.store:
                _store(name, asked.seed, done, dict(found.counts))
    return 1 if wrong else 0


def _store(name: str, seed: int, count: int, counts: dict[str, int]) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    versions = {}
    for library in LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    known[name] = {"date": dt.date.today().isoformat(), "first_seed": seed, "mutations": count, "outcomes": counts,
                   "versions": versions}  # fmt: skip
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
