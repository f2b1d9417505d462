"""How honest are the readings? Simulated processes with known truth, scored.

What `ex.summary()`, `interactions()` and `regions()` say of the processes in `processes` is compared with what is true of
them: the shape of each effect, flat averages that hide moving curves, features the data does not support moving, the
interacting pairs and the columns that tell curves apart.

Processes and seeds come in four sets. Thresholds were chosen on the first half of `processes` (``--choose`` scores it,
and shows what other thresholds would do there); the other half is reported, with processes that were written later.
The thresholds `evident` and `explained` were chosen on the processes of `tried` (``--tried`` scores them).
The processes of `unseen` were written by their truth alone and scored after everything was frozen: theirs is the held-out
score. Run ``python -m benchmarks.honesty``; with ``--check`` it fails where the goals are missed.

The fresh sets a, b and c are processes from the literature with truths stated first (`fresh`). ``--set a`` scores one with
the default settings of the public calls, and writes its first score to ``honesty_scores.json``, where it stays.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import get_context
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import icefield
from benchmarks.fresh_scores import SETS as FRESH
from benchmarks.fresh_scores import print_first_scores, score_sets
from benchmarks.latest import keep_latest
from benchmarks.processes import Process, Truth, later_processes, processes
from benchmarks.tried import tried_processes
from benchmarks.unseen import unseen_processes
from icefield.statistics import reading, shapes, support

SEEDS = 40  # 20 in each half
RIGHT, ALARMS = 0.95, 0.05  # the goals
Change = tuple[int, float] | None  # a line of SWEEPS, and the value to try there


@dataclass
class Score:
    """Right and wrong statements by kind; `must_not` counts alarms where there was nothing to say."""

    right: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    alarms: dict[str, int] = field(default_factory=dict)
    quiet: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def must(self, kind: str, ok: bool, what: str) -> None:
        self.asked[kind] = self.asked.get(kind, 0) + 1
        self.right[kind] = self.right.get(kind, 0) + bool(ok)
        if not ok:
            self.wrong.append(f"{kind}: {what}")

    def must_not(self, kind: str, alarm: bool, what: str) -> None:
        self.quiet[kind] = self.quiet.get(kind, 0) + 1
        self.alarms[kind] = self.alarms.get(kind, 0) + bool(alarm)
        if alarm:
            self.wrong.append(f"false {kind}: {what}")

    def add(self, other: Score) -> None:
        for mine, theirs in (
            (self.right, other.right), (self.asked, other.asked), (self.alarms, other.alarms), (self.quiet, other.quiet)
        ):  # fmt: skip
            for kind, number in theirs.items():
                mine[kind] = mine.get(kind, 0) + number
        self.wrong += other.wrong


def scored(process: Process, seed: int) -> Score:
    """Draw once, explain, and compare with the truth."""
    truth, score = process.truth, Score()
    model, X = process.draw(np.random.default_rng([seed, sum(process.name.encode())]))
    ex = icefield.Explainer(model, X, engine="brute", seed=seed)
    found = ex.summary(grid=30)
    for feature, said in found.readings.items():
        if feature in truth.shapes:
            score.must("shape", said.shape in truth.shapes[feature], f"{feature} {said.sentence}")
        if feature in truth.directions:
            score.must("direction", said.direction == truth.directions[feature], f"{feature} {said.sentence}")
        if feature in truth.hidden:
            score.must("hidden", said.hidden, f"{feature} {said.sentence}")
        else:
            score.must_not("hidden", said.hidden, f"{feature} {said.sentence}")
        if feature in truth.missing:
            apart = said.missing_jump is not None and abs(said.missing_jump) > 0.2
            score.must("missing", apart, f"{feature} {said.sentence}")
        support_found = found.effects[feature].support
        text = f"{feature} outside {support_found.outside:.2f}"
        if feature in truth.doubtful:
            score.must("support", support_found.doubtful, text)
        elif feature not in truth.unsure:
            score.must_not("support", support_found.doubtful, text)
    _score_pairs(score, ex, found, truth)
    for feature, columns in truth.regions.items():
        table = ex.regions(feature)
        split = {s.column for s in table.splits}
        if columns:
            first = table.splits[0].column if table.splits else None
            score.must(
                "regions", first in columns and split <= columns, f"{feature} {sorted(map(str, split))}"
            )
        else:
            score.must_not("regions", bool(split), f"{feature} {sorted(map(str, split))}")
    return score


def _score_pairs(score: Score, ex: Any, found: Any, truth: Truth) -> None:
    table = ex.interactions(rows=100, overall=False)
    ranked = [frozenset(pair) for pair in table["features"].tolist()]
    if truth.pairs:
        wanted = [frozenset(p) for p in truth.pairs]
        score.must(
            "interaction", ranked[: len(wanted)] == wanted, f"{[sorted(map(str, r)) for r in ranked[:2]]}"
        )
        best = dict(zip(found["feature"].tolist(), found["partner"].tolist()))
        for a, b in truth.pairs:
            score.must("partner", best[a] == str(b) and best[b] == str(a), f"{a}: {best[a]}, {b}: {best[b]}")
    elif truth.partners and not any(truth.regions.values()):
        named = [p for p in found["partner"].tolist() if p is not None]
        score.must_not("interaction", bool(named), f"partners {named}")


SETS = ("choosing half", "reporting half", "unseen processes", "tried processes")


def chosen(number: int) -> list[Process]:
    """The processes thresholds were chosen on (0, 3), those reported (1), or those written unseen (2)."""
    if number == 2:
        return unseen_processes()
    if number == 3:
        return tried_processes()
    return processes()[number::2] + (later_processes() if number else [])


def _job(task: tuple[tuple[int, Change], int, int]) -> Score:
    (number, change), place, seed = task
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    if change is None:
        return scored(chosen(number)[place], seed)
    thresholds, name, _ = SWEEPS[change[0]]
    kept, thresholds[name] = thresholds[name], change[1]
    try:
        return scored(chosen(number)[place], seed)
    finally:
        thresholds[name] = kept


def run(number: int, seeds: list[int], verbose: bool, change: Change = None) -> Score:
    """Score one set's processes with these seeds, on all processors."""
    own_processes = chosen(number)
    total = Score()
    # Processes hold functions that cannot be sent, so a worker finds them by their place. It is a fresh
    # process: libraries that use threads do not survive a fork.
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as workers:
        found = workers.map(_job, product([(number, change)], range(len(own_processes)), seeds))
        for process in own_processes:
            own = Score()
            for _ in seeds:
                own.add(next(found))
            if verbose:
                print(
                    f"{process.name:<58} right {sum(own.right.values()):>4} of {sum(own.asked.values()):<4} "
                    f"false alarms {sum(own.alarms.values()):>3} of {sum(own.quiet.values())}",
                    flush=True,
                )
                for text in own.wrong[:4]:
                    print("      ", text[:170])
            total.add(own)
    return total


def report(score: Score) -> bool:
    """Print the table; whether the goals are met."""
    print(
        f"\n{'statement':<14}{'right':>8}{'of':>7}{'share':>8}    {'false alarms':>12}{'of':>7}{'share':>8}"
    )
    for kind in [*score.asked, *(k for k in score.quiet if k not in score.asked)]:
        asked, quiet = score.asked.get(kind, 0), score.quiet.get(kind, 0)
        line = f"{kind:<14}"
        line += f"{score.right[kind]:>8}{asked:>7}{score.right[kind] / asked:>8.1%}" if asked else " " * 23
        line += f"    {score.alarms[kind]:>12}{quiet:>7}{score.alarms[kind] / quiet:>8.1%}" if quiet else ""
        print(line)
    right, asked = sum(score.right.values()), sum(score.asked.values())
    alarms, quiet = sum(score.alarms.values()), sum(score.quiet.values())
    print(
        f"\nright {right / asked:.1%} (goal: at least {RIGHT:.0%}), "
        f"false alarms {alarms / quiet:.1%} (goal: under {ALARMS:.0%})"
    )
    return right / asked >= RIGHT and alarms / quiet < ALARMS


SWEEPS: tuple[tuple[dict[str, float], str, tuple[float, ...]], ...] = (
    (reading.THRESHOLDS, "flat", (0.03, 0.05, 0.07, 0.1, 0.15)),
    (reading.THRESHOLDS, "heterogeneous", (0.05, 0.1, 0.15, 0.25)),
    (reading.THRESHOLDS, "interaction", (0.1, 0.15, 0.2)),
    (shapes.THRESHOLDS, "turn", (0.08, 0.15, 0.25)),
    (shapes.THRESHOLDS, "curvature", (0.01, 0.025, 0.05)),
    (shapes.THRESHOLDS, "threshold", (0.8, 0.9, 0.95)),
    (support.THRESHOLDS, "warning", (0.1, 0.2, 0.3)),
)


def sweep(seeds: list[int]) -> None:
    """What other thresholds would score on the choosing half, one at a time."""
    for place, (thresholds, name, values) in enumerate(SWEEPS):
        for value in values:
            score = run(0, seeds, verbose=False, change=(place, value))
            right = sum(score.right.values()) / sum(score.asked.values())
            alarms = sum(score.alarms.values()) / sum(score.quiet.values())
            mark = "  <- chosen" if value == thresholds[name] else ""
            print(f"{name:<14} {value:<6g} right {right:.2%}  false alarms {alarms:.2%}{mark}")


def _seeds(number: int, count: int) -> list[int]:
    """The seeds of a set; those that are reported were never drawn while the statistics were written."""
    if number == 3:
        return [6000 + i for i in range(count)]
    return [2 * i + number + 1000 * number for i in range(count)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="honesty", description=__doc__.splitlines()[0])
    parser.add_argument("--choose", action="store_true", help="score the half the thresholds were chosen on")
    parser.add_argument("--tried", action="store_true", help="score the processes the readings were tried on")
    parser.add_argument("--sweep", action="store_true", help="with --choose: try other thresholds (slow)")
    parser.add_argument("--set", choices=[*FRESH, "all"], help="score a fresh set; its first score is kept")
    parser.add_argument("--seeds", type=int, help=f"seeds per process ({SEEDS // 2}, or 4 of fresh sets)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes that score a fresh set"
    )
    parser.add_argument("--check", action="store_true", help="exit with an error where the goals are missed")
    given = parser.parse_args(arguments or [])
    began = time.perf_counter()
    if given.set:
        met = score_sets(list(FRESH) if given.set == "all" else [given.set], given.seeds, given.jobs)
        if given.check and not met:
            raise SystemExit("the goals are missed")
        return
    met = True
    per_process = given.seeds or SEEDS // 2
    figures: dict[str, Any] = {}
    asked = [number for number, flag in ((0, given.choose), (3, given.tried)) if flag]
    for number in asked or (1, 2):
        seeds = _seeds(number, per_process)
        print(f"\n{SETS[number]}: {len(chosen(number))} processes x {len(seeds)} seeds\n")
        score = run(number, seeds, verbose=True)
        met &= report(score)
        figures[SETS[number]] = {k: v for k, v in vars(score).items() if k != "wrong"} | {
            "misses": score.wrong
        }
    if not asked and per_process == SEEDS // 2:
        keep_latest("honesty", "python -m benchmarks honesty", figures)
    if given.choose and given.sweep:
        print("\none threshold changed at a time:")
        sweep(_seeds(0, min(per_process, 2)))
    print_first_scores()
    print(f"\n{time.perf_counter() - began:.0f} s")
    if given.check and not met:
        raise SystemExit("the goals are missed")


if __name__ == "__main__":
    main(sys.argv[1:])
