"""Whether what is said is true of data as users have it: ``python -m benchmarks blind``.

Scores a set of 60 processes, three draws of each: true functions by the truths stated there, fitted models by what brute
force finds in them. ``--set a`` is of `blind_processes`, ``--set b``, the later one, of `blind_processes_b`. Prints every
miss, and writes the first score and the latest one with date and commit to ``blind.json`` and ``blind_b.json``. Goals:
98 % right for true functions, 97 % for fitted models, at most 0.3 % false alarms. With ``--only WORD`` it scores processes
whose name or kind has that word, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from benchmarks import blind_processes_b
from benchmarks.blind_processes import SEED, Blind, Truth, blind_set, fitted_case
from benchmarks.fresh import Case
from benchmarks.fresh_scores import (
    OWN,
    TRUE,
    Said,
    Tally,
    cautioned,
    entry,
    explainer_of,
    first_scores,
    fits_shape,
    judge,
    keep_first_score,
    report,
    said_by,
    score_data,
    score_function,
    tallied,
    words_of,
)
from benchmarks.fresh_truth import (
    CLEARLY,
    INTERACTION,
    Numbers,
    deviation,
    fact_of,
    numbers,
    pair_strengths,
    predicted,
    shares,
)

DRAWS = 3
SETS = {"a": blind_set, "b": blind_processes_b.blind_set_b}
SEEDS = {"a": SEED, "b": blind_processes_b.SEED}
SCORES = {
    letter: Path(__file__).with_name(name) for letter, name in (("a", "blind.json"), ("b", "blind_b.json"))
}
GOALS = {TRUE: (0.98, 0.003), OWN: (0.97, 0.003)}
APART = 1.25  # movements and pairs of which one is clearly the stronger
LEAST = 0.1  # units of movement that are ranked
MISSING, NO_JUMP = 0.3, 0.02  # units by which missing values clearly matter, and clearly do not
TOO_FEW, ENOUGH = 25, 40  # events, where 30 are asked for
Outputs = Mapping[str | None, Mapping[str, Truth]]


# --- what is true of a model, by brute force ----------------------------------------------------------


class Output:
    """One output of a model, as a model."""

    def __init__(self, model: Any, place: int) -> None:
        self.model, self.place = model, place

    def predict(self, frame: pd.DataFrame) -> Any:
        many = self.model.predict_proba if hasattr(self.model, "predict_proba") else self.model.predict
        return np.asarray(many(frame), dtype=float)[:, self.place]


def of_output(case: Case, place: int | None) -> Case:
    return case if place is None else replace(case, model=Output(case.model, place))


def units(case: Case) -> tuple[str | None, tuple[float, ...]]:
    """The unit's name, where it is clear, and the sizes that it may have."""
    value = predicted(case.model, case.X)
    spread = deviation(value, shares(case))
    low, high = np.quantile(value, (1 / 6, 5 / 6))
    robust = 1.5 * float(high - low)
    if spread < 1e-12:
        return None, (1.0,)
    if spread <= 0.75 * robust:
        return "SD", (spread,)
    if robust == 0.0:
        return None, (spread,)
    if spread < CLEARLY * robust:
        return None, (spread, robust)
    return "robust SD", (robust, max(robust, spread / 10))


@dataclass(frozen=True, eq=False)
class Found:
    """What brute force finds of one output: truths by feature, movements in each unit it may have, that unit, pairs."""

    truth: dict[str, Truth]
    movements: list[dict[str, float]]
    pairs: dict[frozenset[str], float]
    unit: str | None
    size: float


def found_in(case: Case) -> Found:
    name, sizes = units(case)
    observations = None if case.cluster is None else len(np.unique(case.cluster))
    by_unit, moves = [], []
    for size in sizes:
        found = {feature: numbers(case, feature, size, observations) for feature in case.X}
        pairs = {
            pair: strength * deviation(predicted(case.model, case.X), shares(case)) / size
            for pair, strength in pair_strengths(case, found).items()
        }
        by_unit.append({f: truth_of(f, one, pairs, list(found), case) for f, one in found.items()})
        moves.append({f: one.movement for f, one in found.items()})
    agreed = {f: agreement([one[f] for one in by_unit]) for f in case.X}
    return Found(agreed, moves, pairs, name, sizes[0])


def agreement(truths: list[Truth]) -> Truth:
    """What all of these say; the rest is open."""
    kept = {
        one.name: getattr(truths[0], one.name)
        for one in fields(Truth)
        if len({getattr(t, one.name) for t in truths}) == 1
    }
    return Truth(**kept)


def truth_of(
    name: str, one: Numbers, pairs: dict[frozenset[str], float], names: list[str], case: Case
) -> Truth:
    stated = fact_of(name, one, pairs, names)
    missing: str | None = None
    if one.jump is None or abs(one.jump) < NO_JUMP:
        missing = ""
    elif abs(one.jump) > max(MISSING, 4 * one.differ / np.sqrt(len(case.X))):
        missing = "higher" if one.jump > 0 else "lower"
    if missing:
        stated = replace(stated, matters=True)
    elif missing is None and not stated.matters:
        stated = replace(stated, matters=None, hidden=None)
    levels = stated.shapes == {"levels"} and one.jump is None
    return Truth(
        **vars(stated),
        line=one.line if stated.shapes in ({"increasing"}, {"decreasing"}) else None,
        missing=missing,
        highest=extreme_levels(one.values, one.average) if levels else None,
        lowest=extreme_levels(one.values, -one.average) if levels else None,
        place=turn_of(one.values, one.average, stated.shapes),
    )


def extreme_levels(levels: Any, average: Any) -> frozenset[str] | None:
    """The levels that tie for the highest average, unless it is unclear which do."""
    below = (average.max() - average) / np.ptp(average)
    if ((below > 0.01) & (below < 0.05)).any():
        return None
    return frozenset(str(level) for level, far in zip(levels, below, strict=True) if far <= 0.01)


def turn_of(values: Any, average: Any, shapes: frozenset[str] | None) -> tuple[float, float] | None:
    """Between which values a U or an inverted U turns: where it is within 15 % of its extreme, and a point farther."""
    if shapes not in ({"U"}, {"inverted U"}):
        return None
    height = average if shapes == {"U"} else -average
    near = np.flatnonzero(height <= height.min() + 0.15 * np.ptp(height))
    return float(values[max(near[0] - 1, 0)]), float(values[min(near[-1] + 1, len(values) - 1)])


def ranks_of(movements: list[dict[str, float]]) -> tuple[frozenset[str], ...]:
    """The strongest feature and others, each clearly stronger than the next; none where the first is not clear."""
    order = sorted(movements[0], key=lambda name: -movements[0][name])
    chain = order[:1]
    for name in order[1:]:
        if all(one[chain[-1]] >= max(APART * one[name], LEAST) for one in movements):
            chain.append(name)
        elif len(chain) == 1:
            return ()
    return tuple(frozenset({name}) for name in chain)


def pair_of(pairs: dict[frozenset[str], float]) -> frozenset[str] | None:
    order = sorted(pairs, key=lambda pair: -pairs[pair])
    if not order or pairs[order[0]] < CLEARLY * INTERACTION:
        return None
    clear = len(order) == 1 or pairs[order[0]] >= APART * pairs[order[1]]
    return order[0] if clear else None


def own_process(one: Blind, case: Case) -> Blind:
    """The process with the truth of a fitted model in place of its own."""
    places = places_of(one)
    found = {label: found_in(of_output(case, place)) for label, place in places.items()}
    first = next(iter(found.values()))
    single = len(found) == 1
    matter = {f for own in found.values() for f, truth in own.truth.items() if truth.matters}
    constant = all(max(own.movements[0].values()) < 1e-9 for own in found.values())
    truth = {
        label: {f: replace(t, support=one.truth[label][f].support) for f, t in own.truth.items()}
        for label, own in found.items()
    }
    speaks = (
        {}
        if single
        else {name: output for name in case.X if name in matter and (output := _moved(found, name, case))}
    )
    groups = one.one_hot and tuple(group for group in one.one_hot if group & matter)
    return replace(
        one, truth=truth, ranks=ranks_of(first.movements) if single else (), speaks=speaks,
        pair=pair_of(first.pairs) if single else None, unit=first.unit if single else None,
        opening="constant" if constant else None, one_hot=None if one.one_hot and not groups else groups,
    )  # fmt: skip


def _moved(found: Mapping[str | None, Found], name: str, case: Case) -> str | None:
    """The output that a feature moves most, where that is clear: of classes, in SD and in probability."""
    sizes = [{str(label): own.movements[0][name] for label, own in found.items()}]
    if hasattr(case.model, "predict_proba"):
        sizes.append({str(label): own.movements[0][name] * own.size for label, own in found.items()})
    first = {max(one, key=lambda label: one[label]) for one in sizes}
    clear = all(sorted(one.values())[-1] >= APART * sorted(one.values())[-2] for one in sizes)
    return first.pop() if clear and len(first) == 1 else None


def places_of(one: Blind) -> dict[str | None, int | None]:
    """The outputs by position; classes are sorted, as learners have them, or in the order of a true function."""
    return {label: None if label is None else place for place, label in enumerate(one.truth)}


# --- what is said ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class More:
    """Further statements about one feature."""

    line: bool
    missing: str
    highest: frozenset[str]
    lowest: frozenset[str]
    turn: float | None
    few: bool


def more_by(ex: Any, found: Any, name: str) -> More:
    reading = found.readings[name]
    sentences = reading.sentence + ex.ice(name).reading.sentence
    missing = re.search(r"(higher|lower) where it is missing", reading.sentence)
    place = {"U-shaped": reading.low_at, "inverted U": reading.high_at}.get(reading.shape)
    if reading.shape == "threshold" and reading.changes_at:
        place = float(np.mean([float(x) for x in reading.changes_at]))
    return More(
        line=reading.shape == "linear",
        missing=missing.group(1) if missing else "",
        highest=frozenset(map(str, reading.high_ties or (reading.high_at,))),
        lowest=frozenset(map(str, reading.low_ties or (reading.low_at,))),
        turn=None if place is None else float(place),
        few="standard errors rest on" in sentences,
    )


def most(opening: str) -> tuple[frozenset[str], bool]:
    """The words before "matters most" in an opening, and whether these matter about equally."""
    head = re.split(r"\bmatters? most", opening)[0].rsplit(". ", 1)[-1]
    return frozenset(re.findall(r"\w+", head)), "about equally" in opening


def shapes_in(note: str) -> dict[str, str | None]:
    """Output -> shape, from a note "x: linear, increasing in a and b; flat in c"; None is a borderline shape."""
    found: dict[str, str | None] = {}
    for part in note.split(": ", 1)[1].split("; "):
        words, _, outputs = part.rpartition(" in ")
        for output in re.split(r", | and ", outputs):
            found[output] = None if "borderline" in words else shape_in(words)
    return found


def shape_in(words: str) -> str:
    """A shape of a table in the words of the truths."""
    side = " up" if "increasing" in words else " down" if "decreasing" in words else ""
    for start, shape in (
        ("flat", "flat"),
        ("inverted U", "inverted U"),
        ("U", "U"),
        ("non-monotone", "other"),
    ):
        if words.startswith(start):
            return shape
    if words.startswith(("threshold", "levels", "two values")):
        return ("threshold" if words.startswith("threshold") else "levels") + side
    return "increasing" if side == " up" else "decreasing"


# --- scoring ---------------------------------------------------------------------------------------


def score_case(one: Blind, case: Case) -> Tally:
    """What is said of a case, against the truth of `one`."""
    tally = Tally()
    several = None not in one.truth
    for label, place in places_of(one).items():
        _score_output(tally, one, case, one.truth[label], place)
    ex = explainer_of(case)
    found = ex.summary()
    _score_whole(tally, one, case, found)
    if several:
        _score_several(tally, one, found)
    else:
        _score_ranks(tally, one, ex, found)
    return tally


def _score_output(
    tally: Tally, one: Blind, case: Case, truth: Mapping[str, Truth], place: int | None
) -> None:
    ex = explainer_of(case, **({} if place is None else {"target": _target(case, one, place)}))
    found = ex.summary()
    where = "" if place is None else f" (output {list(one.truth)[place]})"
    for name, stated in truth.items():
        said = said_by(ex, found, name, case, stated)
        score_function(tally, name + where, said, stated, False)
        score_data(tally, name + where, said, stated)
        _score_more(tally, name, where, said, more_by(ex, found, name), stated, case)


def _target(case: Case, one: Blind, place: int) -> Any:
    return list(one.truth)[place] if hasattr(case.model, "predict_proba") else place


def _score_more(
    tally: Tally, name: str, where: str, said: Said, more: More, stated: Truth, case: Case
) -> None:
    near, text = "shape" in said.unsure, name + where
    if stated.line is not None:
        word = "a line" if more.line else "no line"
        judge(tally, "line", True, True, more.line == stated.line, near, f"{text} is said to be {word}")
    if stated.missing is not None and case.X[name].isna().any():
        fits = more.missing == stated.missing
        words = f"{text} is said to be {more.missing or 'no different'} where missing, not {stated.missing or 'no different'}"
        judge(tally, "missing", bool(stated.missing), bool(more.missing), fits, False, words)
    for end in ("highest", "lowest"):
        true, told = getattr(stated, end), getattr(more, end)
        if true is not None:
            words = f"{text} is said to be {end} at {sorted(told)}, not {sorted(true)}"
            judge(tally, "levels", True, True, told == true, False, words)
    if stated.place is not None:
        low, high = stated.place
        fits = more.turn is not None and low <= more.turn <= high
        words = f"{text} is said to turn at {more.turn}, not between {low:g} and {high:g}"
        judge(tally, "place", True, True, fits, near, words)
    if stated.few is not None:
        words = f"{text} is {'' if more.few else 'not '}said to rest on few rows"
        judge(tally, "few rows", stated.few, more.few, more.few, False, words)


def _score_whole(tally: Tally, one: Blind, case: Case, found: Any) -> None:
    """What is said of the model and the data as a whole."""
    texts = [*found.warnings, *found.notes]
    opening = found.opening or ""
    told = (
        "constant" if "same for every row" in opening else "shared" if "share what moves" in opening else None
    )
    judge(
        tally,
        "opening",
        one.opening is not None,
        told is not None,
        told == one.opening,
        False,
        f"the opening is {opening}",
    )
    if one.unit is not None:
        robust = any("robust" in text for text in texts)
        judge(
            tally,
            "unit",
            one.unit != "SD",
            robust,
            robust,
            False,
            f"the unit is {'a robust SD' if robust else 'the SD'}",
        )
    suggestions = [text for text in texts if "one feature" in text]
    if one.one_hot is not None:
        for group in one.one_hot:
            fits = any(all(name in text for name in group) for text in suggestions)
            judge(
                tally, "one-hot", True, True, fits, False, f"{sorted(group)} are not said to be one feature"
            )
        stray = [
            text for text in suggestions if not any(g & set(re.findall(r"\w+", text)) for g in one.one_hot)
        ]
        judge(tally, "one-hot", False, bool(stray), True, False, f"said: {stray}")
    if case.y is not None:
        _score_fit(tally, one, case, texts, cautioned(found))


def _score_fit(tally: Tally, one: Blind, case: Case, texts: list[str], caution: bool) -> None:
    """What is said of a fitted model's fit."""
    few = any("too few events" in text for text in texts)
    events: int | None = None
    if hasattr(case.model, "predict_proba"):
        counts = np.unique(case.y, return_counts=True)[1]
        events = (
            int(counts.min()) if len(counts) == 2 else (TOO_FEW + ENOUGH) // 2
        )  # open with several classes
    if events is None or not TOO_FEW < events < ENOUGH:
        there = events is not None and events <= TOO_FEW
        text = f"{events} events are {'' if few else 'not '}said to be too few"
        judge(tally, "events", there, few, few, False, text)
    if one.holds is not None and not few:
        judge(
            tally,
            "noise",
            not one.holds,
            caution,
            caution,
            False,
            f"the fit is {'' if caution else 'not '}said to be noise",
        )


def _score_several(tally: Tally, one: Blind, found: Any) -> None:
    """What a summary of all outputs says: of which output a line speaks, and what differs between outputs."""
    called = next(iter(found.effects.values())).outputs  # the library's names of outputs, by position
    label_of = dict(zip(map(str, called), map(str, one.truth), strict=True))
    notes: dict[str, dict[str, str | None]] = {}
    for note in found.notes:
        name = note.split(":")[0]
        if name in found.readings and " in " in note:
            notes[name] = {label_of.get(output, output): said for output, said in shapes_in(note).items()}
    for name, reading in found.readings.items():
        told = {label: truth[name].shapes for label, truth in one.truth.items() if name in truth}
        if name in one.speaks:
            said_of = label_of.get(str(reading.output))
            words = f"{name} speaks of output {said_of}, not {one.speaks[name]}"
            judge(tally, "output", True, True, said_of == one.speaks[name], False, words)
        known = {shapes for shapes in told.values() if shapes is not None}
        if len(known) < 2:
            alone = frozenset().union(*known)
            if alone and len(told) == sum(shapes is not None for shapes in told.values()):
                _judge_shape(tally, name, "all", words_of(reading), alone, "shape" in reading.borderline)
            continue
        for label, shapes in told.items():
            if shapes is not None:
                said = notes.get(name, {}).get(str(label), "nothing")
                _judge_shape(tally, name, str(label), said, shapes, said is None)


def _judge_shape(
    tally: Tally, name: str, output: str, said: str | None, shapes: frozenset[str], unsure: bool
) -> None:
    there = shapes != {"flat"}
    fits = any(fits_shape(said or "", shape) for shape in shapes)
    text = f"{name} of output {output} is said to be {said}, not {' or '.join(sorted(shapes))}"
    judge(tally, "outputs", there, said != "flat", fits, unsure, text)


def _score_ranks(tally: Tally, one: Blind, ex: Any, found: Any) -> None:
    order = [str(name) for name in found["feature"].tolist()]
    for group, weaker in pairwise(one.ranks):
        for a, b in product(sorted(group), sorted(weaker)):
            fits = order.index(a) < order.index(b)
            judge(tally, "rank", True, True, fits, False, f"{b} stands before {a}")
    if one.ranks:
        first = one.ranks[0]
        words, equally = most(found.opening or "")
        named = words & set(order)
        if len(first) > 1:
            fits = equally and named == first
            judge(tally, "tie", True, True, fits, False, f"the opening is {found.opening}")
        else:
            judge(tally, "strongest", True, True, first <= named, False, f"the opening is {found.opening}")
            judge(tally, "tie", False, equally, True, False, f"the opening is {found.opening}")
        leads = str(ex.importance()["feature"][0])
        judge(
            tally, "importance", True, True, leads in first, False, f"{leads} is first, not {sorted(first)}"
        )
    if one.pair is not None:
        top = frozenset(map(str, ex.interactions().pairs()["features"].tolist()[0]))
        words_ = f"{sorted(top)} is the first pair, not {sorted(one.pair)}"
        judge(tally, "pair", True, True, top == one.pair, False, words_)


# --- running ---------------------------------------------------------------------------------------


def drawn(one: Blind, number: int, seed: int = SEED) -> tuple[Case, Case | None]:
    """A case of the true function, and of the model fitted to its draws."""
    rng = np.random.default_rng([seed + number, sum(one.name.encode())])
    case = one.draw(rng)
    return case, None if one.learner is None else fitted_case(one, case, rng)


def score_draw(one: Blind, number: int, seed: int = SEED) -> dict[str, Tally]:
    """Both sides' tallies of one draw; every miss names process and draw."""
    case, fit = drawn(one, number, seed)
    sides = {TRUE: (one, case)}
    if fit is not None:
        ordered = one
        if hasattr(fit.model, "classes_") and None not in one.truth:  # learners sort classes
            ordered = replace(one, truth={str(label): one.truth[label] for label in fit.model.classes_})
        sides[OWN] = (own_process(ordered, fit), fit)
    found = {}
    for side, (stated, asked) in sides.items():
        try:
            tally = score_case(stated, asked)
        except Exception as error:
            tally = Tally()
            tally.count("answer", "wrong", f"{type(error).__name__}: {error}")
        tally.texts = [f"{one.name}, draw {number}: {text}" for text in tally.texts]
        found[side] = tally
    return found


def _job(task: tuple[str, int, int]) -> dict[str, Tally]:
    warnings.filterwarnings("ignore")
    letter, place, number = task
    return score_draw(SETS[letter]()[place], number, SEEDS[letter])


def score(letter: str, places: list[int], jobs: int) -> dict[str, Tally]:
    """Score these processes of a set."""
    names = [SETS[letter]()[place].name for place in places]
    return tallied(
        _job, list(product([letter], places, range(DRAWS))), names, jobs, {side: Tally() for side in GOALS}
    )


def keep(total: Mapping[str, Tally], path: Path) -> bool:
    """Write the score down as the latest, and as the first if there is none; whether it is the first."""
    first = keep_first_score("first", total, DRAWS, path)
    known = first_scores(path)
    known["latest"] = entry(total, DRAWS)
    for name in ("first", "latest") if first else ("latest",):
        for side, tally in total.items():
            known[name]["sides"][side]["misses"] = tally.texts
    path.write_text(json.dumps(known, indent=1) + "\n")
    return first


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="blind", description=__doc__.splitlines()[0])
    parser.add_argument("--set", choices=SETS, default="b", help="the set to score (b)")
    parser.add_argument("--only", help="score processes with this in their name or kinds, and write nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--check", action="store_true", help="exit with an error where the goals are missed")
    given = parser.parse_args(arguments or [])
    processes = SETS[given.set]()
    places = [
        i for i, one in enumerate(processes) if not given.only or given.only in (*one.kinds, one.name)
        or given.only in one.name
    ]  # fmt: skip
    print(f"{len(places)} processes x {DRAWS} draws\n")
    total = score(given.set, places, given.jobs)
    met = report(total, GOALS)
    print("\nevery miss:")
    for text in [text for tally in total.values() for text in tally.texts]:
        print(" ", text)
    if not given.only:
        path = SCORES[given.set]
        print(
            f"\n{'the first score' if keep(total, path) else 'scored before; the first score stays'}: {path.name}"
        )
    if given.check and not met:
        raise SystemExit("the goals are missed")


if __name__ == "__main__":
    main(sys.argv[1:])
