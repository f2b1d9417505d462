"""The fresh sets of the honesty benchmark: complete, drawable, true by brute force; scoring by hand-made statements.

Nothing here asks the library about the sets' cases: their first score must be a first look.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.fresh import KINDS, Case, Fact, Formula, Process, columns, exact, fact, facts, fitted, normal
from benchmarks.fresh_scores import (
    OWN,
    SEEDS,
    SEEDS_PER_PROCESS,
    SETS,
    TRUE,
    WORLD,
    Said,
    Tally,
    first_scores,
    keep_first_score,
    said_of,
    scored,
    shares,
    words_of,
)
from benchmarks.fresh_truth import numbers, own_facts, pair_strengths

from benchmarks import fresh_a, fresh_b, fresh_c, fresh_scores

LETTERS = tuple(SETS)


def drawn(letter: str, process: Process, number: int = 0) -> Case:
    return process.draw(np.random.default_rng([SEEDS[letter] + number, sum(process.name.encode())]))


# --- the sets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", LETTERS)
def test_sets_are_complete(letter: str) -> None:
    processes = SETS[letter]()
    assert len(processes) >= 40
    assert set(KINDS) == {kind for process in processes for kind in process.kinds}
    assert max(Counter(process.name for process in processes).values()) == 1
    assert all(any(letter.isdigit() for letter in process.reference) for process in processes)  # a year
    assert sum(process.fitted for process in processes) >= 15


def test_sets_have_functions_of_their_own() -> None:
    surfaces = [
        {process.name for process in SETS[letter]() if "surface" in process.kinds} for letter in LETTERS
    ]
    assert sum(map(len, surfaces)) == len(set.union(*surfaces))
    assert len({fresh_a.SEED, fresh_b.SEED, fresh_c.SEED}) == 3


@pytest.mark.parametrize("letter", LETTERS)
def test_true_functions_can_be_drawn(letter: str) -> None:
    for process in SETS[letter]():
        if process.fitted:
            continue
        case, again = drawn(letter, process), drawn(letter, process)
        pd.testing.assert_frame_equal(case.X, again.X)
        value = case.model.predict(case.X)
        assert np.isfinite(value).all(), process.name
        assert value.std() > 0, process.name
        named = {n for one in process.truth.values() for n in (one.allowed or set()) | (one.splits or set())}
        assert (named | set(process.truth)) <= set(case.X), process.name


@pytest.mark.parametrize("letter", LETTERS)
def test_rare_classes_and_small_groups_are_as_small_as_said(letter: str) -> None:
    for process in SETS[letter]():
        if "skewed" in process.kinds:
            case = drawn(letter, process)
            share = float(np.mean(case.model.predict(case.X) if case.y is None else case.y))
            assert 0.01 <= share <= 0.03, (process.name, share)
        if "panel" in process.kinds:
            case = drawn(letter, process)
            assert np.bincount(case.cluster).min() >= 5, process.name


def contradictions(stated: Fact, found: Fact) -> list[str]:
    """Where a stated truth and brute force both know, and differ."""
    wrong = []
    if stated.shapes and found.shapes and not stated.shapes & found.shapes:
        wrong.append(f"shape {set(stated.shapes)}, found {set(found.shapes)}")
    for name in ("matters", "hidden"):
        here, there = getattr(stated, name), getattr(found, name)
        if here is not None and there is not None and here != there:
            wrong.append(f"{name} {here}, found {there}")
    if stated.partners is not None and found.partners is not None and not found.partners <= stated.partners:
        wrong.append(f"partners {set(stated.partners)}, found {set(found.partners)}")
    if stated.allowed is not None and found.allowed is not None and found.allowed - stated.allowed:
        wrong.append(f"others {set(found.allowed - stated.allowed)}")
    if stated.partners and found.partners == frozenset():
        wrong.append(f"partners {set(stated.partners)}, found none")
    return wrong


def check_truths(letter: str, number: int, pairs: bool) -> None:
    for process in SETS[letter]():
        if process.fitted:
            continue
        found = own_facts(drawn(letter, process, number), pairs=pairs)
        for name, stated in process.truth.items():
            assert contradictions(stated, found[name]) == [], f"{process.name}, {name}"


@pytest.mark.parametrize("letter", LETTERS)
def test_stated_truths_agree_with_brute_force(letter: str) -> None:
    check_truths(letter, 0, pairs=False)


@pytest.mark.slow
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("number", range(SEEDS_PER_PROCESS))
def test_stated_truths_agree_with_brute_force_in_every_draw(letter: str, number: int) -> None:
    check_truths(letter, number, pairs=True)


@pytest.mark.slow
@pytest.mark.parametrize("letter", LETTERS)
def test_moved_rows_leave_the_data_where_support_is_said_to_lack(letter: str) -> None:
    """Among forty times the rows, far more moved rows than the fifth that calls for a warning have no like."""
    from scipy.spatial import cKDTree

    for process in SETS[letter]():
        joint = [name for name, one in process.truth.items() if one.support is not False]
        if process.fitted or not any(one.support for one in process.truth.values()):
            continue
        many = pd.concat([drawn(letter, process, 100 + i).X[joint] for i in range(40)], ignore_index=True)
        coded = many.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else pd.factorize(c)[0])
        place = ((coded - coded.mean()) / coded.std()).to_numpy(float)
        tree, rows = cKDTree(place[600:]), place[:600]
        usual = np.quantile(tree.query(rows)[0], 0.99)
        for i, name in enumerate(joint):
            if not process.truth[name].support:
                continue
            moved = rows.copy()
            moved[:, i] = np.random.default_rng(i).permutation(moved[:, i])
            outside = float(np.mean(tree.query(moved)[0] > usual + 1e-9))
            assert outside > 0.3, (process.name, name, outside)


@pytest.mark.slow
@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # a net that is cut short is a model too
def test_fitted_models_have_finite_truths(letter: str) -> None:
    for process in SETS[letter]():
        if process.fitted:
            case = drawn(letter, process)
            found = {name: numbers(case, name) for name in case.X}
            assert all(np.isfinite([one.strength, one.differ, one.ratio]).all() for one in found.values())
            assert any(one.strength > 0.07 for one in found.values()), process.name


@pytest.mark.parametrize("letter", LETTERS)
def test_weights_change_the_truth(letter: str) -> None:
    weighted = [p for p in SETS[letter]() if "weights" in p.kinds and not p.fitted]
    for process in weighted:
        case = drawn(letter, process)
        heavy, plain = own_facts(case, pairs=False), own_facts(replace(case, weights=None), pairs=False)
        told = "x"
        assert contradictions(process.truth[told], heavy[told]) == []
        assert plain[told].shapes is None or plain[told].shapes != heavy[told].shapes, process.name


# --- brute force -----------------------------------------------------------------------------------


def _case(function: Any, **given: Any) -> Case:
    X = columns(400, **given)(np.random.default_rng(3))
    return Case(Formula(function, list(X)), X)


def test_strength_of_a_line_is_its_share_of_the_spread() -> None:
    case = _case(lambda a, b: 3 * a + 4 * b, a=normal(), b=normal(), c=normal())
    unit = case.model.predict(case.X).std()
    one = numbers(case, "a")
    assert one.strength == pytest.approx(3 * case.X["a"].std(ddof=0) / unit, rel=0.02)
    assert one.differ == pytest.approx(0.0, abs=1e-12)
    assert own_facts(case)["a"].shapes == {"increasing"}
    assert own_facts(case)["c"] == Fact(
        frozenset({"flat"}), False, False, frozenset(), frozenset(), None, frozenset()
    )


def test_strength_of_a_pair_is_that_of_the_product() -> None:
    case = _case(lambda a, b: a * b, a=normal(), b=normal())
    found = {name: numbers(case, name) for name in case.X}
    assert pair_strengths(case, found)[frozenset("ab")] == pytest.approx(1.0, abs=0.15)
    assert own_facts(case)["a"].partners == {"b"}


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda a: a, "increasing"),
        (lambda a: -np.exp(a), "decreasing"),
        (lambda a: a**2, "U"),
        (lambda a: -np.abs(a - 0.2), "inverted U"),
        (lambda a: 1.0 * (a > 0.3), "threshold up"),
        (lambda a: -1.0 * (a > -0.3), "threshold down"),
        (lambda a: np.sin(9 * a), "other"),
        (lambda a: 0 * a, "flat"),
    ],
)
def test_shapes_by_brute_force(function: Any, shape: str) -> None:
    case = _case(lambda a, b: function(a) + 0.5 * b, a=(-1, 1), b=(-1, 1))
    assert numbers(case, "a").shapes == {shape}


def test_weights_count_as_copies() -> None:
    case = _case(lambda a, b: a * (b > 0.2), a=normal(), b=normal())
    weights = np.random.default_rng(0).integers(1, 4, len(case.X))
    copies = replace(case, X=case.X.loc[np.repeat(case.X.index, weights)].reset_index(drop=True))
    one, other = numbers(replace(case, weights=weights), "b"), numbers(copies, "b")
    assert one.strength == pytest.approx(other.strength, rel=0.05)
    assert one.differ == pytest.approx(other.differ, rel=0.05)


# --- scoring, by hand-made statements --------------------------------------------------------------

TRUTH = facts(
    a=fact("up"),
    b=fact("flat", "c", hidden=True, split="c"),
    c=fact(None, "b", hidden=None),
    d=fact("flat", thin=True, gap=(0.0, 1.0)),
)
RIGHT = {
    "a": Said("increasing", True, False, (), False, "increasing", False, ()),
    "b": Said("flat", True, True, ("c",), False, "flat", True, ("c",)),
    "c": Said("U", True, False, ("b",), False, "U", False),
    "d": Said("flat", False, False, (), True, "flat", False, (), (True, False)),
}


def process(truth: Any = None, *, is_fitted: bool = False, noise: bool = False) -> Process:
    return Process("by hand", "1900", (), lambda rng: None, truth or TRUTH, is_fitted, noise)  # type: ignore[arg-type,return-value]


def score_of(**changed: Said) -> Tally:
    return scored(process(), RIGHT | changed, False)[TRUE]


def test_right_statements_are_right() -> None:
    tally = score_of()
    assert shares(tally) == {"right": 1.0, "false alarms": 0.0, "apart": 0.0}
    # a: matters, shape, reading; b: matters, hidden twice, partner, regions; c: partner; d: support, gap.
    assert tally.of("right") == 3 + 5 + 1 + 2
    # a: hidden twice, partner, regions, support; b: flat twice, others, support; c: others, support;
    # d: matters, flat twice, hidden twice, partner, regions, gap.
    assert tally.of("silent") == 5 + 4 + 2 + 8
    assert tally.texts == []


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        ({"a": replace(RIGHT["a"], shape="decreasing")}, {"shape": 1}),
        ({"a": replace(RIGHT["a"], plain_shape="flat")}, {"reading": 1}),
        ({"a": replace(RIGHT["a"], matters=False, shape="flat")}, {"shape": 1, "matters": 1}),
        ({"b": replace(RIGHT["b"], hidden=False)}, {"hidden": 1}),
        ({"b": replace(RIGHT["b"], plain_hidden=False)}, {"reading hidden": 1}),
        ({"b": replace(RIGHT["b"], partners=())}, {"partner": 1}),
        ({"b": replace(RIGHT["b"], splits=())}, {"regions": 1}),
        ({"b": replace(RIGHT["b"], splits=("c", "a"))}, {"regions": 1}),
        ({"d": replace(RIGHT["d"], doubtful=False)}, {"support": 1}),
        ({"d": replace(RIGHT["d"], gap=(False, False))}, {"gap": 1}),
    ],
)
def test_wrong_statements_are_wrong(changed: dict[str, Said], kinds: dict[str, int]) -> None:
    tally = score_of(**changed)
    assert tally.wrong == kinds
    assert tally.alarms == {}


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        ({"d": replace(RIGHT["d"], shape="U")}, {"shape": 1}),
        ({"d": replace(RIGHT["d"], plain_shape="other")}, {"reading": 1}),
        ({"d": replace(RIGHT["d"], matters=True)}, {"matters": 1}),
        ({"a": replace(RIGHT["a"], hidden=True)}, {"hidden": 1}),
        ({"a": replace(RIGHT["a"], partners=("d",))}, {"partner": 1}),
        ({"b": replace(RIGHT["b"], partners=("c", "d"))}, {"partner": 1}),
        ({"a": replace(RIGHT["a"], splits=("c",))}, {"regions": 1}),
        ({"a": replace(RIGHT["a"], doubtful=True)}, {"support": 1}),
        ({"d": replace(RIGHT["d"], gap=(True, True))}, {"gap": 1}),
    ],
)
def test_false_alarms_are_counted_apart_from_wrong_ones(
    changed: dict[str, Said], kinds: dict[str, int]
) -> None:
    tally = score_of(**changed)
    assert tally.alarms == kinds
    assert tally.wrong == {}


def test_a_wrong_partner_is_wrong_and_a_false_alarm() -> None:
    tally = score_of(b=replace(RIGHT["b"], partners=("d",)))
    assert (tally.wrong, tally.alarms) == ({"partner": 1}, {"partner": 1})


def test_borderline_statements_are_neither_right_nor_wrong() -> None:
    unsure = frozenset({"shape", "hidden", "partner"})
    tally = score_of(b=replace(RIGHT["b"], shape="U", hidden=False, partners=(), unsure=unsure))
    assert tally.apart == {"shape": 1, "hidden": 1, "partner": 2}
    assert (tally.of("wrong"), tally.of("alarms")) == (0, 0)
    assert tally.of("right") + tally.of("silent") + tally.of("apart") == 11 + 19


def test_what_is_unknown_is_counted_with_the_borderline() -> None:
    tally = score_of(a=replace(RIGHT["a"], partners=None, plain_hidden=None))
    assert tally.apart == {"partner": 1, "reading hidden": 1}


def test_open_truths_are_not_asked() -> None:
    tally = scored(process({"a": Fact()}), {"a": RIGHT["a"]}, False)[TRUE]
    assert [tally.of(name) for name in ("right", "wrong", "silent", "alarms", "apart")] == [0] * 5


def test_fitted_models_are_scored_against_two_truths() -> None:
    own = {"a": fact("down")}
    sides = scored(process({"a": fact("up")}, is_fitted=True), {"a": RIGHT["a"]}, False, own)
    assert sides[OWN].wrong == {"shape": 1, "reading": 1}
    assert sides[WORLD].wrong == {}
    assert sides[WORLD].silent["noise"] == 1
    assert "support" in sides[OWN].silent
    assert "support" not in sides[WORLD].silent


def test_a_caution_takes_back_what_is_said_of_the_world() -> None:
    noisy = process({"a": fact("flat")}, is_fitted=True, noise=True)
    silent = scored(noisy, {"a": RIGHT["a"]}, False, {})[WORLD]
    assert silent.wrong == {"noise": 1}
    assert silent.alarms == {"matters": 1, "shape": 1, "reading": 1}
    warned = scored(noisy, {"a": RIGHT["a"]}, True, {})[WORLD]
    assert (warned.right, warned.of("alarms")) == ({"noise": 1}, 0)
    needless = scored(process({"a": fact("up")}, is_fitted=True), {"a": RIGHT["a"]}, True, {})[WORLD]
    assert needless.alarms == {"noise": 1}


@pytest.mark.parametrize(
    ("said", "true", "fits"),
    [
        ("levels", "levels", True),
        ("levels up", "levels", True),
        ("flat", "levels", False),
        ("levels up", "two+", True),
        ("threshold up", "two+", True),
        ("levels down", "two+", False),
        ("decreasing", "two-", True),
        ("threshold up", "step+", True),
        ("threshold down", "step+", False),
        ("threshold up", "up", False),
        ("threshold up", "up|step+", True),
        ("U", "cap", False),
        ("inverted U", "cap", True),
    ],
)
def test_which_words_fit_which_truth(said: str, true: str, fits: bool) -> None:
    tally = scored(process({"a": fact(true)}), {"a": replace(RIGHT["a"], shape=said)}, False)[TRUE]
    assert tally.right.get("shape", 0) == int(fits)


# --- statements of the library, about cases of this file only ---------------------------------------


def test_statements_are_taken_from_the_public_calls() -> None:
    def gapped(rng: Any, rows: int) -> Any:
        return np.where(rng.random(rows) < 0.5, rng.uniform(-3, -2, rows), rng.uniform(2, 3, rows))

    truth = facts(u=fact("up"), g=fact(None, gap=(0.0, 2.5)), z=fact("flat"))
    one = exact(
        "toy", "none", "", lambda u, g: 2 * u + 0.1 * g, columns(300, u=(0, 1), g=gapped, z=(0, 1)), truth
    )
    case = one.draw(np.random.default_rng(0))
    said, caution = said_of(case, truth)
    assert (said["u"].shape, said["u"].plain_shape, said["z"].shape) == ("increasing", "increasing", "flat")
    assert said["u"].splits == ()
    assert said["g"].gap is not None
    assert not caution
    assert scored(one, said, caution)[TRUE].of("right") > 0


def test_a_reading_in_the_words_of_the_truths() -> None:
    def said(shape: str, direction: str) -> str:
        return words_of(type("Reading", (), {"shape": shape, "direction": direction})())

    assert said("linear", "increasing") == "increasing"
    assert said("monotone", "decreasing") == "decreasing"
    assert said("threshold", "decreasing") == "threshold down"
    assert said("levels", "none") == "levels"
    assert said("U-shaped", "mixed") == "U"
    assert said("non-monotone", "mixed") == "other"
    assert said("flat", "none") == "flat"


def test_first_scores_stay(tmp_path: Any) -> None:
    path = tmp_path / "scores.json"
    right, wrong = score_of(), score_of(a=replace(RIGHT["a"], shape="flat"))
    assert keep_first_score("a", {TRUE: right}, 3, path)
    assert not keep_first_score("a", {TRUE: wrong}, 3, path)
    assert keep_first_score("b", {TRUE: wrong}, 3, path)
    kept = first_scores(path)
    assert kept["a"]["sides"][TRUE]["right"] == 1.0
    assert kept["b"]["sides"][TRUE]["right"] == pytest.approx(10 / 11, abs=1e-4)
    assert kept["a"]["date"].endswith("UTC")


def test_a_set_is_run_reported_and_written_down(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = columns(200, u=(0, 1), z=(0, 1))
    truth = facts(u=fact("up", None, split=None), z=fact("flat", None, hidden=None, split=None))

    def broken(u: Any) -> Any:
        raise ValueError("cannot predict")

    def toys() -> list[Process]:
        return [
            exact("toy", "none 2000", "", lambda u: 2 * u, data, truth),
            fitted("toy", "none 2000", "", lambda u: 2 * u, data, truth, "linear", noise=0.05),
            exact("broken", "none 2000", "", broken, data, truth),
        ]

    monkeypatch.setattr(fresh_scores, "SETS", {"t": toys})
    monkeypatch.setattr(fresh_scores, "SEEDS", {"t": 5})
    monkeypatch.setattr(fresh_scores, "SCORES", tmp_path / "scores.json")
    total = fresh_scores.run("t", 2, jobs=1)
    assert total[TRUE].right["shape"] == 2
    assert total[TRUE].wrong == {"answer": 2}
    assert total[OWN].right["shape"] == total[WORLD].right["shape"] == 2
    assert not fresh_scores.report(total)
    assert fresh_scores.report({WORLD: total[WORLD]})
    said = capsys.readouterr().out
    assert "wrong, answer: " in said
    assert "cannot predict" in said
    assert "goal: at least 98%" in said
    assert not fresh_scores.score_sets(["t"], 1, 1)
    assert first_scores()["t"]["sides"][TRUE]["kinds"]["wrong"] == {"answer": 1}
    assert "this is its first score" in capsys.readouterr().out
    fresh_scores.score_sets(["t"], 2, 1)
    assert first_scores()["t"]["seeds"] == 1
    capsys.readouterr()
    fresh_scores.print_first_scores()
    again = capsys.readouterr().out
    assert f"first score of set t, {first_scores()['t']['date']}" in again
    assert "shape                 1      1  100.0%" in again


def test_fitted_cases_have_targets_weights_and_units() -> None:
    one = fitted(
        "toy", "none", "", lambda u: 2 * u, columns(200, u=(0, 1), z=(0, 1)), facts(u=fact("up")), "boosting",
        weigh=lambda X: 1.0 + (X["z"] > 0.5),
    )  # fmt: skip
    case = one.draw(np.random.default_rng(0))
    assert len(case.y) == len(case.weights) == 200
    assert own_facts(case)["u"].matters is True
    assert one.fitted
