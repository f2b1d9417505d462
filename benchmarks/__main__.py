"""``python -m benchmarks [name ...]``: run all benchmarks, or the named ones.

What follows the first name and is no benchmark is for it to read.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    helpers = ("__main__", "against", "blind_processes", "blind_processes_b", "latest", "learner_coverage", "learner_tests", "processes", "timing", "tried", "tried_data", "unseen", "fresh",
               "fresh_a", "fresh_b", "fresh_c", "fresh_scores", "fresh_truth")  # fmt: skip
    known = sorted(
        m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name not in helpers
    )
    if names and names[0] not in known:
        raise SystemExit(f"unknown benchmark {names[0]!r}; known: {', '.join(known)}")
    for name in [name for name in names if name in known] or known:
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
