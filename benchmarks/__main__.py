"""``python -m benchmarks [name ...]``: run all benchmarks, or the named ones."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    helpers = ("__main__", "against", "processes", "timing", "tried", "tried_data", "unseen", "fresh",
               "fresh_a", "fresh_b", "fresh_c", "fresh_scores", "fresh_truth")  # fmt: skip
    known = sorted(
        m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name not in helpers
    )
    for name in names or known:
        if name not in known:
            raise SystemExit(f"unknown benchmark {name!r}; known: {', '.join(known)}")
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
