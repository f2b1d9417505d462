"""The blind sets: complete, drawable, not contradicted by brute force; their scorer, on processes of this file.

Nothing here asks the library about the sets' cases: their first score must be a first look.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.blind import (
    APART,
    DRAWS,
    GOALS,
    OWN,
    SEEDS,
    SETS,
    TRUE,
    Found,
    Output,
    drawn,
    extreme_levels,
    found_in,
    keep,
    most,
    of_output,
    own_process,
    pair_of,
    places_of,
    ranks_of,
    score_case,
    score_draw,
    shape_in,
    shapes_in,
    truth_of,
    turn_of,
    units,
)
from benchmarks.blind_processes import FLAT, KINDS, SEED, Blind, Truth, lacking, process, true
from benchmarks.fresh import Case, Formula, columns, facts, normal, one_of
from benchmarks.fresh_scores import SEEDS as FRESH_SEEDS
from benchmarks.fresh_scores import Tally, cautioned
from benchmarks.fresh_truth import numbers

from benchmarks import blind

BY_SET = {letter: make() for letter, make in SETS.items()}
SET = [one for processes in BY_SET.values() for one in processes]
LETTER_OF = {one.name: letter for letter, processes in BY_SET.items() for one in processes}


def seed_of(one: Blind) -> int:
    return SEEDS[LETTER_OF[one.name]] if one.name in LETTER_OF else SEED


def case_of(one: Blind, number: int = 0) -> Case:
    return one.draw(np.random.default_rng([seed_of(one) + number, sum(one.name.encode())]))


# --- the set ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", SETS)
def test_a_set_is_complete(letter: str) -> None:
    processes = BY_SET[letter]
    assert len(processes) == 60
    assert {kind for one in processes for kind in one.kinds} == set(KINDS)
    assert sum(one.learner is not None for one in processes) >= 25


def test_sets_have_nothing_in_common() -> None:
    assert len(LETTER_OF) == len(SET)
    assert len({*SEEDS.values(), *FRESH_SEEDS.values()}) == len(SEEDS) + len(FRESH_SEEDS)
    first, second = ({name for one in processes for name in case_of(one).X} for processes in BY_SET.values())
    assert not first & second


def test_cases_are_as_small_as_said_and_drawn_alike() -> None:
    for one in SET:
        case, again = case_of(one), case_of(one)
        pd.testing.assert_frame_equal(case.X, again.X)
        assert 50 <= len(case.X) <= 300, one.name
        assert ("small" in one.kinds) <= (len(case.X) <= 150), one.name
        assert ("missing" in one.kinds) == bool(case.X.isna().any().any()), one.name
        assert ("panel" in one.kinds) == (case.cluster is not None), one.name
        assert not case.X.equals(case_of(one, 1).X), one.name


def test_truths_are_of_columns_and_outputs_there_are() -> None:
    for one in SET:
        case = case_of(one)
        named = set().union(*one.ranks, one.pair or (), *(one.one_hot or ()), one.speaks)
        for truth in one.truth.values():
            named |= set(truth).union(*(t.allowed or () for t in truth.values()))
        assert named <= set(case.X), one.name
        for place in places_of(one).values():
            value = np.asarray(of_output(case, place).model.predict(case.X), dtype=float)
            assert np.isfinite(value).all(), one.name
        if hasattr(case.model, "classes_"):
            assert list(case.model.classes_) == list(one.truth), one.name


def contradictions(one: Blind, number: int) -> list[str]:
    """Where a stated truth and brute force both know, and differ."""
    case = case_of(one, number)
    found = {label: found_in(of_output(case, place)) for label, place in places_of(one).items()}
    wrong = []
    for label, truth in one.truth.items():
        for name, stated in truth.items():
            wrong += [f"{label}, {name}: {text}" for text in _differ(stated, found[label].truth[name])]
    if None in found:
        wrong += _whole(one, found[None])
    for name, output in one.speaks.items():
        sizes = {label: own.movements[0][name] for label, own in found.items()}
        if any(sizes[output] < 1.2 * size for label, size in sizes.items() if label != output):
            wrong.append(f"{name} moves {sizes}")
    return wrong


def _differ(stated: Truth, own: Truth) -> list[str]:
    wrong = []
    for name in ("shapes", "matters", "hidden", "partners", "line", "missing", "highest", "lowest"):
        here, there = getattr(stated, name), getattr(own, name)
        if here is None or there is None or here == there or (name == "shapes" and here & there):
            continue
        wrong.append(f"{name} {here}, found {there}")
    if stated.allowed is not None and (own.allowed or frozenset()) - stated.allowed:
        wrong.append(f"others {own.allowed}")
    if stated.place and own.place and (stated.place[0] > own.place[1] or stated.place[1] < own.place[0]):
        wrong.append(f"place {stated.place}, found {own.place}")
    return wrong


def _whole(one: Blind, found: Found) -> list[str]:
    wrong = []
    for moves in found.movements:
        for group, weaker in pairwise(one.ranks):
            wrong += [f"{a} over {b}" for a, b in product(group, weaker) if moves[a] < 1.2 * moves[b]]
        if one.ranks:
            tops = [moves[name] for name in one.ranks[0]]
            others = [size for name, size in moves.items() if name not in one.ranks[0]]
            if max(others) * 1.2 > min(tops) or max(tops) > 1.02 * min(tops):
                wrong.append(f"first are {one.ranks[0]}, found {moves}")
    if one.unit is not None and found.unit != one.unit:
        wrong.append(f"unit {one.unit}, found {found.unit}")
    if one.pair is not None and pair_of(found.pairs) != one.pair:
        wrong.append(f"pair {one.pair}, found {found.pairs}")
    return wrong


@pytest.mark.parametrize("one", [p for p in SET[::12] if p.opening != "shared"], ids=lambda one: one.name)
def test_stated_truths_agree_with_brute_force(one: Blind) -> None:
    assert contradictions(one, 0) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(DRAWS))
def test_stated_truths_agree_with_brute_force_in_every_draw(number: int) -> None:
    for one in SET:
        if (
            one.opening != "shared"
        ):  # its truth is that each of hundreds of flags has about a twentieth of the SD
            assert contradictions(one, number) == [], one.name


@pytest.mark.parametrize("one", [one for one in SET if one.opening == "shared"], ids=lambda one: one.name)
def test_hundreds_of_flags_share_it(one: Blind) -> None:
    for number in range(DRAWS):
        case = case_of(one, number)
        assert 0.03 < numbers(case, case.X.columns[0]).strength < 0.065


@pytest.mark.slow
@pytest.mark.parametrize("number", range(DRAWS))
def test_every_fitted_model_has_a_truth(number: int) -> None:
    for one in SET:
        _, fit = drawn(one, number, seed_of(one))
        assert (fit is None) == (one.learner is None)
        if fit is not None:
            classes = getattr(fit.model, "classes_", None)
            several = classes is not None and None not in one.truth
            ordered = replace(one, truth={str(c): one.truth[c] for c in classes}) if several else one
            own = own_process(ordered, fit)
            told = any(t.matters for truth in own.truth.values() for t in truth.values())
            assert told or own.opening == "constant", one.name


# --- truths by brute force ---------------------------------------------------------------------------


def _case(function: Any, rows: int = 200, lack: float = 0.0, **given: Any) -> Case:
    data = columns(rows, **given)
    X = (lacking(data, lack, next(iter(given))) if lack else data)(np.random.default_rng(4))
    return Case(Formula(function, list(X)), X)


def test_a_missing_point_counts_in_strength_and_not_in_the_shape() -> None:
    case = _case(lambda a, b: np.where(np.isnan(a), 4.0, 0.0) + 0.5 * b, lack=0.25, a=normal(), b=normal())
    one = numbers(case, "a")
    unit = case.model.predict(case.X).std()
    assert one.jump == pytest.approx(4 / unit)
    assert one.strength == pytest.approx(4 * np.sqrt(0.25 * 0.75) / unit)
    assert one.known == pytest.approx(0, abs=1e-12)
    truth = truth_of("a", one, {}, ["a", "b"], case)
    assert (truth.missing, truth.matters, truth.shapes) == ("higher", True, {"flat"})


def test_ranks_pairs_and_units_are_stated_where_they_are_clear() -> None:
    assert ranks_of([{"a": 1.0, "b": 0.9}]) == ()
    assert ranks_of([{"a": 1.0, "b": 0.5, "c": 0.45, "d": 0.1}]) == tuple(frozenset({name}) for name in "abd")
    assert ranks_of([{"a": 1.0, "b": 0.5}, {"a": 1.0, "b": 0.99}]) == ()
    ab, ac = frozenset("ab"), frozenset("ac")
    assert pair_of({ab: 0.5, ac: 0.3}) == ab
    assert pair_of({ab: 0.5, ac: 0.5 / APART + 0.01}) is None
    assert pair_of({ab: 0.2}) is None
    assert units(_case(lambda a: a, a=normal()))[0] == "SD"
    far = _case(lambda a, g: a + 100 * (g < 0.05), a=normal(), g=(0, 1))
    assert units(far)[0] == "robust SD"


def test_levels_and_turns_are_stated_where_they_are_clear() -> None:
    levels = np.array(["a", "b", "c"], dtype=object)
    assert extreme_levels(levels, np.array([0.0, 1.0, 1.0])) == {"b", "c"}
    assert extreme_levels(levels, np.array([0.0, 1.0, 0.97])) is None
    x = np.linspace(-1, 1, 21)
    low, high = turn_of(x, x**2, frozenset({"U"})) or (0.0, 0.0)
    assert -0.55 < low < 0 < high < 0.55
    assert turn_of(x, x, frozenset({"increasing"})) is None


def test_one_output_is_a_model() -> None:
    class Two:
        def predict(self, frame: Any) -> Any:
            return np.column_stack([frame["a"], -frame["a"]])

    frame = pd.DataFrame({"a": [1.0, 2.0]})
    assert Output(Two(), 1).predict(frame).tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("least", [-2.0, -0.01, 0.0])
def test_ratios_count_for_chances_only(least: float) -> None:
    """Averages of 0.02 and 0.04 are far apart as chances, and next to nothing of numbers between -2 and 2."""

    def function(a: Any, g: Any) -> Any:
        return 0.02 + 0.02 * (np.asarray(a) == 1) + least * np.asarray(g, float)

    X = pd.DataFrame(
        {"a": np.tile([0, 1], 100), "g": np.repeat([1, -1, 0, 0], 50) if least else np.zeros(200)}
    )
    one = numbers(Case(Formula(function, list(X)), X), "a")
    chances = least > -0.02
    assert (one.ratio > 1.9) == chances


# --- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("warning", "caution"),
    [
        ("noise: the average is flat, the individual curves are not", False),
        ("R² 0.9 on these rows; its effects may be noise", True),
        ("R² 0.01 on these rows: the predictions say hardly anything about y", True),
        ("held: moving it leaves the data", False),
    ],
)
def test_a_caution_is_of_the_fit_and_not_of_a_feature_of_that_name(warning: str, caution: bool) -> None:
    class Told:
        readings = dict.fromkeys(("noise", "held"))
        warnings = (warning,)

    assert cautioned(Told()) is caution


def test_who_matters_most_is_read_from_the_opening() -> None:
    words, equally = most("Over 9 rows, 2 of 3 features move it (on average 0.1). p (2.8) and q (2.8) matter most, about equally; then z (1).")  # fmt: skip
    assert {"p", "q"} <= words
    assert "z" not in words
    assert equally
    words, equally = most(
        "Over 9 rows, 3 of 4 features move it. p matters most: 2.9; then q (3.1) and k (2)."
    )
    assert ("p" in words, "q" in words, equally) == (True, False, False)


def test_shapes_of_outputs_are_read_from_a_note() -> None:
    note = "p: linear, decreasing in lo and mid; inverted U in top; flat (borderline: or linear) in hi"
    assert shapes_in(note) == {"lo": "decreasing", "mid": "decreasing", "top": "inverted U", "hi": None}
    assert shape_in("two values, increasing") == "levels up"
    assert shape_in("threshold, decreasing") == "threshold down"
    assert shape_in("levels, highest y and z") == "levels"
    assert shape_in("flat where known, higher where missing") == "flat"
    assert shape_in("mostly monotone, increasing") == "increasing"


# --- the scorer, with the library's statements about processes of this file ---------------------------


def toy(**changed: Any) -> Blind:
    truth = facts(
        gap=true("line+", missing="higher"), kind=true("levels", high="y z", low="x"), way=true("line-"), rest=FLAT,
    )  # fmt: skip
    data = lacking(columns(100, gap=normal(), kind=one_of("x y z"), way=normal(), rest=normal()), 0.3, "gap")

    def function(gap: Any, kind: Any, way: Any) -> Any:
        return np.where(np.isnan(gap), 4.0, gap) + 2.0 * (np.asarray(kind) != "x") - 0.5 * way

    return process("toy", "missing", function, data, truth | changed.pop("truth", {}),
                   **{"ranks": "gap > kind > way > rest", "learner": "histogram", **changed})  # fmt: skip


def pair_of_outputs(**changed: Any) -> Blind:
    truth = {
        "0": facts(way=true("line+"), turn=true("U", place=(-0.5, 0.5))),
        "1": facts(way=true("line-"), turn=FLAT),
    }
    data = columns(100, way=normal(), turn=(-2, 2))
    return process("outputs", "outputs", lambda way, turn: (0.5 * way + turn**2, -way), data, truth,
                   speaks={"way": "1", "turn": "0"}, **changed)  # fmt: skip


@pytest.mark.parametrize(
    ("one", "kinds"),
    [
        (toy(learner=None), {"missing", "levels", "rank", "strongest", "importance", "line"}),
        (pair_of_outputs(), {"output", "outputs", "place"}),
    ],
)
def test_right_truths_score_right(one: Blind, kinds: set[str]) -> None:
    tally = score_draw(one, 0)[TRUE]
    assert tally.texts == []
    assert tally.of("right") >= 15
    assert kinds <= set(tally.right)


def test_wrong_truths_score_wrong_and_false_alarms_apart() -> None:
    wrong = {
        "gap": true("line+", missing="lower"), "kind": true("levels", high="y", low="x"), "way": true("curve-"),
        "rest": true("up"),
    }  # fmt: skip
    one = toy(truth=wrong, ranks="kind > gap", one_hot="way rest", unit="robust SD", pair="gap kind")
    tally = score_case(one, case_of(one))
    kinds = ("missing", "levels", "line", "rank", "strongest", "importance", "one-hot", "unit")
    assert [tally.wrong.get(kind) for kind in kinds] == [1] * len(kinds)
    assert tally.wrong["shape"] == tally.wrong["matters"] == 1
    quiet = toy(truth={"gap": true("flat"), "way": FLAT, "kind": FLAT}, ranks="")
    tally = score_case(quiet, case_of(quiet))
    assert (tally.alarms["missing"], tally.alarms["shape"], tally.alarms["matters"]) == (1, 3, 3)
    swapped = replace(pair_of_outputs(), speaks={"way": "0"})
    swapped = replace(swapped, truth={"0": swapped.truth["1"], "1": swapped.truth["0"]})
    tally = score_case(swapped, case_of(swapped))
    assert tally.wrong["output"] == 1
    assert tally.wrong["outputs"] == 3
    assert tally.alarms["outputs"] == 1


def test_fitted_models_are_scored_by_their_own_truth() -> None:
    tally = score_draw(toy(), 1)[OWN]
    assert tally.of("right") >= 10
    assert tally.silent["noise"] == tally.silent["events"] == 1
    assert "answer" not in tally.wrong


def test_a_call_that_fails_is_wrong() -> None:
    def broken(way: Any) -> Any:
        raise ValueError("cannot predict")

    tally = score_draw(process("broken", "", broken, columns(60, way=normal()), facts(way=FLAT)), 0)[TRUE]
    assert tally.wrong == {"answer": 1}
    assert tally.texts[0].startswith("broken, draw 0: wrong, answer: ")


def test_the_set_is_run_reported_and_written_down(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = [pair_of_outputs(), replace(toy(learner=None), unit="robust SD")]
    monkeypatch.setitem(blind.SETS, "b", lambda: here)
    monkeypatch.setitem(blind.SCORES, "b", tmp_path / "blind.json")
    monkeypatch.setattr(blind, "DRAWS", 1)
    blind.main(["--jobs", "1"])
    said = capsys.readouterr().out
    assert "toy, draw 0: wrong, unit: the unit is the SD" in said
    assert "goal: at most 0.3%" in said
    kept = json.loads((tmp_path / "blind.json").read_text())
    assert kept["first"]["sides"][TRUE]["misses"] == ["toy, draw 0: wrong, unit: the unit is the SD"]
    assert kept["first"]["date"].endswith("UTC")
    blind.main(["--jobs", "1", "--only", "outputs"])
    assert json.loads((tmp_path / "blind.json").read_text()) == kept


def test_the_first_score_stays(tmp_path: Any) -> None:
    path = tmp_path / "blind.json"
    bad, good = Tally(wrong={"shape": 1}, texts=["a miss"]), Tally(right={"shape": 1})
    assert keep(dict.fromkeys(GOALS, bad), path)
    assert not keep(dict.fromkeys(GOALS, good), path)
    kept = json.loads(path.read_text())
    assert (kept["first"]["sides"][TRUE]["right"], kept["latest"]["sides"][TRUE]["right"]) == (0.0, 1.0)
    assert kept["first"]["sides"][TRUE]["misses"] == ["a miss"]
