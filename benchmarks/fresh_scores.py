"""What is said of the fresh sets' cases, and how it scores; rules are in `fresh`.

`said_of` makes the public calls with default settings and keeps plain fields; `scored` compares those with the truth and
knows nothing of the library. Fitted models are scored twice: against what the fitted function does on its rows (by brute
force, `fresh_truth`), and against the world it was fitted to.
"""

from __future__ import annotations

import inspect
import json
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import fresh_a, fresh_b, fresh_c
from benchmarks.fresh import Case, Fact, Process
from benchmarks.fresh_truth import own_facts
from benchmarks.latest import when

SETS = {"a": fresh_a.set_a, "b": fresh_b.set_b, "c": fresh_c.set_c}
SEEDS = {"a": fresh_a.SEED, "b": fresh_b.SEED, "c": fresh_c.SEED}
SEEDS_PER_PROCESS = 4
SCORES = Path(__file__).with_name("honesty_scores.json")
TRUE, OWN, WORLD = "true functions", "fitted models: their own truth", "fitted models: the world's truth"
GOALS = {TRUE: (0.98, 0.005), OWN: (0.97, 0.01), WORLD: (0.97, 0.01)}  # at least right, at most false alarms
OUTCOMES = ("right", "wrong", "silent", "alarms", "apart")
MOST_APART = 0.10  # borderline or unknown statements
HEADING = (
    f"{'statement':<16}{'right':>7}{'of':>7}{'share':>8}{'false alarms':>15}{'of':>7}{'share':>8}{'apart':>7}"
)
# Words of a warning that a fit does not hold.
CAUTIONS = ("noise", "held-out", "held out", "shuffled", "hardly anything")


# --- what is said ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """The public statements about one feature, in the words of `Fact`; `unsure` names those that call themselves so.

    `partners` is None where that is unknown, `splits` and `gap` where nothing was asked, `plain_hidden` where a
    plain curve says that it cannot tell. `gap` is whether the data is said not to support the value inside
    the gap and the value outside.
    """

    shape: str
    matters: bool
    hidden: bool
    partners: tuple[str, ...] | None
    doubtful: bool
    plain_shape: str
    plain_hidden: bool | None
    splits: tuple[str, ...] | None = None
    gap: tuple[bool, bool] | None = None
    unsure: frozenset[str] = frozenset()


def said_of(case: Case, asked: Mapping[str, Fact]) -> tuple[dict[str, Said], bool]:
    """All features' statements, and whether there is a caution that the fit does not hold."""
    ex = explainer_of(case)
    found = ex.summary()
    said = {name: said_by(ex, found, name, case, asked.get(name, Fact())) for name in case.X}
    return said, cautioned(found)


def explainer_of(case: Case, **given: Any) -> Any:
    """An Explainer as a user makes it; `given` are further arguments."""
    import icefield

    given |= {"y": case.y, "weights": case.weights}
    if case.cluster is not None and "cluster" in inspect.signature(icefield.Explainer).parameters:
        given["cluster"] = case.cluster
    return icefield.Explainer(case.model, case.X, **given)


def said_by(ex: Any, found: Any, name: str, case: Case, truth: Fact) -> Said:
    """One feature's statements, by its summary `found` and further questions that `truth` has an answer to."""
    reading, plain = found.readings[name], ex.ice(name).reading
    splits: tuple[str, ...] | None = None
    gap: tuple[bool, bool] | None = None
    if truth.splits is not None:
        splits = tuple(str(split.column) for split in ex.regions(name).splits)
    if truth.gap is not None:
        inside, outside = truth.gap
        ends = sorted((float(case.X[name].min()), inside, outside, float(case.X[name].max())))
        low = supported(ex.partial_dependence(name, grid=ends, support=True)).low
        gap = bool(low[ends.index(inside)]), bool(low[ends.index(outside)])
    return Said(
        shape=words_of(reading),
        matters=reading.responds,
        hidden=reading.hidden,
        partners=None if reading.interacts is None else tuple(str(n) for n, _ in reading.interacts),
        doubtful=supported(found.effects[name]).doubtful,
        plain_shape=words_of(plain),
        plain_hidden=plain.hidden if plain.differences_known else None,
        splits=splits,
        gap=gap,
        unsure=unsure_of(reading, plain),
    )


def cautioned(found: Any) -> bool:
    """Whether a summary warns that the fit does not hold."""
    named = tuple(f"{name}:" for name in found.readings)  # what is said of a feature, whatever it is called
    whole = [text.lower() for text in found.warnings if not text.startswith(named)]
    return any(word in text for text in whole for word in CAUTIONS)


def supported(effect: Any) -> Any:
    """An effect's support, which is there where it was asked for."""
    assert effect.support is not None
    return effect.support


def words_of(reading: Any) -> str:
    """A reading's shape in the words of the truths."""
    side = {"increasing": " up", "decreasing": " down"}.get(reading.direction, "")
    if reading.shape in ("linear", "monotone", "mostly monotone"):
        return str(reading.direction)
    if reading.shape in ("threshold", "levels"):
        return str(reading.shape) + side
    return {"U-shaped": "U", "non-monotone": "other"}.get(reading.shape, str(reading.shape))


def unsure_of(reading: Any, plain: Any) -> frozenset[str]:
    """The statements, by the names of `scored`, that say of themselves that they are borderline."""
    near, curve = reading.borderline, plain.borderline
    unsure = set()
    if "shape" in near or "direction" in near:
        unsure.add("shape")
    if {"flat", "not flat"} & set(near.get("shape", ())) and ("hidden" in near or not reading.hidden):
        unsure.add("matters")
    if "hidden" in near:
        unsure |= {"hidden", "matters"} if reading.shape == "flat" else {"hidden"}
    if "interacts" in near:
        unsure.add("partner")
    if "differ" in near or "hidden" in near:
        unsure.add("regions")
    if "shape" in curve or "direction" in curve:
        unsure.add("reading")
    if "hidden" in curve:
        unsure.add("reading hidden")
    return frozenset(unsure)


# --- scoring ---------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Statements of one side by kind: right and wrong ones of those asked, silent ones and alarms of the quiet."""

    right: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)
    silent: dict[str, int] = field(default_factory=dict)
    alarms: dict[str, int] = field(default_factory=dict)
    apart: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def count(self, kind: str, outcome: str, text: str) -> None:
        counts = getattr(self, outcome)
        counts[kind] = counts.get(kind, 0) + 1
        if outcome in ("wrong", "alarms"):
            self.texts.append(f"{'false alarm' if outcome == 'alarms' else 'wrong'}, {kind}: {text}")

    def add(self, other: Tally) -> None:
        for name in OUTCOMES:
            mine = getattr(self, name)
            for kind, number in getattr(other, name).items():
                mine[kind] = mine.get(kind, 0) + number
        self.texts += other.texts

    def of(self, name: str, kind: str | None = None) -> int:
        """How many of an outcome there are, of one kind or of all."""
        counts = getattr(self, name)
        return int(sum(counts.values()) if kind is None else counts.get(kind, 0))


def scored(
    process: Process, said: Mapping[str, Said], caution: bool, own: Mapping[str, Fact] | None = None
) -> dict[str, Tally]:
    """Tallies by side; `own` is the fitted model's truth."""
    if not process.fitted:
        tally = Tally()
        for name, one in said.items():
            score_function(tally, name, one, process.truth.get(name, Fact()), name in process.in_tail)
            score_data(tally, name, one, process.truth.get(name, Fact()))
        return {TRUE: tally}
    mine, world = Tally(), Tally()
    for name, one in said.items():
        score_function(mine, name, one, (own or {}).get(name, Fact()), name in process.in_tail)
        score_data(mine, name, one, process.truth.get(name, Fact()))
        if not (process.noise_only and caution):  # the caution takes back what is said of the world
            score_function(world, name, one, process.truth.get(name, Fact()), name in process.in_tail)
    judge(world, "noise", process.noise_only, caution, caution == process.noise_only, False, "the fit")
    return {OWN: mine, WORLD: world}


def judge(tally: Tally, kind: str, there: bool, says: bool, fits: bool, unsure: bool, text: str) -> None:
    """One statement: `there` is whether there is something to say, `says` whether it is said, `fits` whether rightly."""
    if unsure:
        tally.count(kind, "apart", text)
    elif there:
        tally.count(kind, "right" if fits else "wrong", text)
    else:
        tally.count(kind, "alarms" if says else "silent", text)


def score_function(tally: Tally, name: str, said: Said, truth: Fact, in_tail: bool) -> None:
    """What is said of the function."""
    if truth.matters is not None:
        unsure = "matters" in said.unsure
        text = f"{name} is said {'to matter' if said.matters else 'to do nothing'}"
        judge(tally, "matters", truth.matters, said.matters, said.matters, unsure, text)
    if truth.shapes is not None:
        there = truth.shapes != {"flat"}
        for kind, shape in (("shape", said.shape), ("reading", said.plain_shape)):
            if kind == "reading" and in_tail:
                continue
            text = f"{name} is said to be {shape}, not {' or '.join(sorted(truth.shapes))}"
            fits = any(fits_shape(shape, one) for one in truth.shapes)
            judge(tally, kind, there, shape != "flat", fits, kind in said.unsure, text)
    if truth.hidden is not None:
        for kind, hidden in (("hidden", said.hidden), ("reading hidden", said.plain_hidden)):
            unsure = kind in said.unsure or hidden is None
            text = f"{name} is said to hide {'movement' if hidden else 'nothing'}"
            judge(tally, kind, truth.hidden, bool(hidden), bool(hidden), unsure, text)
    _score_partners(tally, name, said, truth)
    if truth.splits is not None and said.splits is not None:
        fits = bool(said.splits) and set(said.splits) <= truth.splits
        text = f"{name} is cut by {list(said.splits)}, not {sorted(truth.splits)}"
        judge(tally, "regions", bool(truth.splits), bool(said.splits), fits, "regions" in said.unsure, text)


def _score_partners(tally: Tally, name: str, said: Said, truth: Fact) -> None:
    unsure = "partner" in said.unsure or said.partners is None
    named = said.partners or ()
    text = f"{name} is said to interact with {list(named)}"
    if truth.partners:
        fits = bool(named) and named[0] in truth.partners
        judge(tally, "partner", True, bool(named), fits, unsure, f"{text}, not {sorted(truth.partners)}")
    if truth.allowed is not None:
        stray = set(named) - truth.allowed
        judge(tally, "partner", False, bool(stray), True, unsure, f"{text}, of which not {sorted(stray)}")


def score_data(tally: Tally, name: str, said: Said, truth: Fact) -> None:
    """What is said of the data."""
    if truth.support is not None:
        text = f"{name} is said to be {'doubtful' if said.doubtful else 'supported'}"
        judge(tally, "support", truth.support, said.doubtful, said.doubtful, False, text)
    if truth.gap is not None and said.gap is not None:
        inside, outside = said.gap
        judge(
            tally, "gap", True, inside, inside, False, f"{name} is said to be supported at {truth.gap[0]:g}"
        )
        judge(
            tally, "gap", False, outside, True, False, f"{name} is said to lack support at {truth.gap[1]:g}"
        )


def fits_shape(said: str, true: str) -> bool:
    if true == "levels":
        return said.startswith("levels")
    if true in ("two up", "two down"):
        way, run = ("up", "increasing") if true == "two up" else ("down", "decreasing")
        return said in (f"levels {way}", f"threshold {way}", run, "levels")
    return said == true


# --- running ---------------------------------------------------------------------------------------


def _job(task: tuple[str, tuple[int, int]]) -> dict[str, Tally]:
    letter, (place, number) = task
    process = SETS[letter]()[place]
    warnings.filterwarnings("ignore")
    case = process.draw(np.random.default_rng([SEEDS[letter] + number, sum(process.name.encode())]))
    own = own_facts(case) if process.fitted else None
    # Regions are asked for where either truth has something to say of them.
    asked = dict(process.truth)
    for name, one in (own or {}).items():
        stated = asked.get(name, Fact())
        if stated.splits is None and one.splits is not None:
            asked[name] = Fact(splits=one.splits, gap=stated.gap)
    try:
        said, caution = said_of(case, asked)
    except Exception as error:
        tally = Tally()
        tally.count("answer", "wrong", f"{type(error).__name__}: {error}")
        return {OWN if process.fitted else TRUE: tally}
    return scored(process, said, caution, own)


def run(letter: str, seeds: int, jobs: int, verbose: bool = True) -> dict[str, Tally]:
    """Score a set with so many draws of each process."""
    processes = SETS[letter]()
    tasks = list(product([letter], product(range(len(processes)), range(seeds))))
    names = [process.name for process in processes]
    return tallied(_job, tasks, names, jobs, {side: Tally() for side in GOALS}, verbose)


def tallied(
    job: Callable[[Any], dict[str, Tally]],
    tasks: Sequence[Any],
    names: Sequence[str],
    jobs: int,
    total: dict[str, Tally],
    verbose: bool = True,
) -> dict[str, Tally]:
    """The sides' tallies, added to `total`, of tasks that come in as many draws of each of these names."""
    with (
        nullcontext() if jobs == 1 else ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers
    ):
        found: Iterable[dict[str, Tally]] = map(job, tasks) if workers is None else workers.map(job, tasks)
        found = iter(found)
        for name in names:
            own: dict[str, Tally] = {}
            for _ in range(len(tasks) // len(names)):
                for side, tally in next(found).items():
                    own.setdefault(side, Tally()).add(tally)
            for side, tally in own.items():
                total[side].add(tally)
                if verbose:
                    _print_process(name, side, tally)
    return total


def _print_process(name: str, side: str, tally: Tally) -> None:
    asked = tally.of("right") + tally.of("wrong")
    quiet = tally.of("silent") + tally.of("alarms")
    print(
        f"{name[:52]:<53}{side[:24]:<25} right {tally.of('right'):>4} of {asked:<4} "
        f"false alarms {tally.of('alarms'):>3} of {quiet:<4} apart {tally.of('apart')}",
        flush=True,
    )
    for text in dict.fromkeys(tally.texts):
        print("      ", text[:220])


def shares(tally: Tally) -> dict[str, float]:
    """The three shares that count."""
    asked, quiet = tally.of("right") + tally.of("wrong"), tally.of("silent") + tally.of("alarms")
    apart = tally.of("apart")
    return {
        "right": tally.of("right") / max(asked, 1),
        "false alarms": tally.of("alarms") / max(quiet, 1),
        "apart": apart / max(asked + quiet + apart, 1),
    }


def report(total: Mapping[str, Tally], goals: Mapping[str, tuple[float, float]] | None = None) -> bool:
    """Print what was scored, kind by kind; whether the goals are met."""
    met, goals = True, goals or GOALS
    for side, tally in total.items():
        _print_kinds(side, tally)
        found, (least, most) = shares(tally), goals[side]
        print(
            f"right {found['right']:.2%} (goal: at least {least:.0%}), false alarms {found['false alarms']:.2%} "
            f"(goal: at most {most:.1%}), borderline or unknown {found['apart']:.1%} (at most {MOST_APART:.0%})"
        )
        met &= found["right"] >= least and found["false alarms"] <= most and found["apart"] <= MOST_APART
    return met


def _print_kinds(side: str, tally: Tally) -> None:
    print(f"\n{side}\n{HEADING}")
    for kind in dict.fromkeys(kind for name in OUTCOMES for kind in getattr(tally, name)):
        right, alarms = tally.of("right", kind), tally.of("alarms", kind)
        asked, quiet = right + tally.of("wrong", kind), alarms + tally.of("silent", kind)
        line = f"{right:>7}{asked:>7}{right / asked:>8.1%}" if asked else " " * 22
        line += f"{alarms:>15}{quiet:>7}{alarms / quiet:>8.1%}" if quiet else " " * 30
        print(f"{kind:<16}{line}{tally.of('apart', kind):>7}")


# --- first scores ----------------------------------------------------------------------------------


def first_scores(path: Path | None = None) -> dict[str, Any]:
    """The first score of every set that has one."""
    path = path or SCORES
    return dict(json.loads(path.read_text())) if path.exists() else {}


def keep_first_score(letter: str, total: Mapping[str, Tally], seeds: int, path: Path | None = None) -> bool:
    """Write a set's score down with date and commit, unless it has one already: first scores stay."""
    known = first_scores(path)
    if letter in known:
        return False
    known[letter] = entry(total, seeds)
    (path or SCORES).write_text(json.dumps(known, indent=1) + "\n")
    return True


def entry(total: Mapping[str, Tally], seeds: int) -> dict[str, Any]:
    """A score as it is written down, with date and commit."""
    return {
        **when(),
        "seeds": seeds,
        "sides": {
            side: {
                **{name: round(share, 5) for name, share in shares(tally).items()},
                "kinds": {name: getattr(tally, name) for name in OUTCOMES},
            }
            for side, tally in total.items()
        },
    }


def print_first_scores() -> None:
    """Every set's first score, kind by kind, with its date."""
    for letter, kept in first_scores().items():
        where = f"{kept['date']}, commit {kept['commit']}, {kept['seeds']} draws of each process"
        print(f"\nfirst score of set {letter}, {where}:")
        report({side: Tally(**found["kinds"]) for side, found in kept["sides"].items()})


def score_sets(letters: Sequence[str], seeds: int | None, jobs: int) -> bool:
    """Score these sets, keep first scores, and print all of them; whether the goals are met."""
    met, count = True, seeds or SEEDS_PER_PROCESS
    for letter in letters:
        began, used = time.perf_counter(), time.process_time()
        print(f"\nfresh set {letter}: {len(SETS[letter]())} processes x {count} draws\n")
        total = run(letter, count, jobs)
        met &= report(total)
        kept = keep_first_score(letter, total, count)
        print(f"\nset {letter}: {'this is its first score' if kept else 'scored before'}; {time.perf_counter() - began:.0f} s "
              f"({time.process_time() - used:.0f} s of this process)")  # fmt: skip
    print_first_scores()
    return met
