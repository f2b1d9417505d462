"""Whether statements depend on the seed: ``python -m benchmarks.seeds``.

Every seed draws other rows wherever rows are drawn. For random situations of 4,000 rows (`tests/statistics/situations.py`),
of which each model that is asked gets 1,000 and each pair of features 300, everything is said with ten seeds. A statement
flips when two seeds say different things and both are sure; borderline is what a seed itself is not sure of. The goal: at
most 1 % of the statements flip, at most 10 % are borderline.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks.latest import keep_latest

SEEDS, SITUATIONS, ROWS = 10, 20, 4_000
FLIPS, BORDERLINE = 0.01, 0.10
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "statistics"))


def said(explainer: Any) -> dict[tuple[Any, str], tuple[Any, bool]]:
    """Every statement about every feature, and whether it is called borderline."""
    found = {}
    for feature, reading in explainer.summary().readings.items():
        statements = {
            "shape": reading.shape,
            "direction": reading.direction,
            "hidden": reading.hidden,
            "differ": reading.heterogeneous,
            "interacts": reading.interacts[0][0] if reading.interacts else None,
        }
        for kind, statement in statements.items():
            unsure = kind in reading.borderline or (kind == "direction" and "shape" in reading.borderline)
            found[feature, kind] = (statement, unsure)
    return found


def compared(numbers: range, rows: int = ROWS, verbose: bool = True) -> tuple[int, int, float]:
    """Statements, how many of them flipped, and the share that is borderline."""
    from situations import situation  # type: ignore[import-not-found]  # of the tests

    statements = flips = unsure = asked = 0
    for number in numbers:
        runs = [said(situation(number, rows=rows).explainer(seed)) for seed in range(SEEDS)]
        for key in runs[0]:
            sure = {run[key][0] for run in runs if not run[key][1]}
            statements += 1
            flips += len(sure) > 1
            unsure += sum(run[key][1] for run in runs)
            asked += len(runs)
            if verbose and len(sure) > 1:
                print(f"  situation {number}, {key[0]}, {key[1]}: {sorted(map(str, sure))}", flush=True)
    return statements, flips, unsure / asked


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="seeds", description=__doc__.splitlines()[0])
    parser.add_argument("--situations", type=int, default=SITUATIONS)
    parser.add_argument("--first", type=int, default=0, help="number of the first situation")
    parser.add_argument("--check", action="store_true", help="exit with an error where the goals are missed")
    given = parser.parse_args(arguments or [])
    count, flips, share = compared(range(given.first, given.first + given.situations))
    print(
        f"{count} statements x {SEEDS} seeds: {flips} flip ({flips / count:.1%}, goal: at most {FLIPS:.0%}), "
        f"{share:.1%} borderline (goal: at most {BORDERLINE:.0%})"
    )
    if (given.first, given.situations) == (0, SITUATIONS):
        figures = {"statements": count, "flips": flips, "borderline": round(share, 4)}
        keep_latest("seeds", "python -m benchmarks.seeds", figures)
    if given.check and (flips / count > FLIPS or share > BORDERLINE):
        raise SystemExit("the goals are missed")


if __name__ == "__main__":
    main(sys.argv[1:])
