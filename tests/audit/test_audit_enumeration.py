"""Audits against the model's own predictions at every cell of the product of thresholds, and at random inputs."""

from __future__ import annotations

import time

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor
from small_forests import KINDS, Small, cells, every_cell, small

import icefield
from icefield.audit.domain import Domain
from icefield.audit.input_boxes import space_of
from icefield.audit.result import Everywhere

SEEDS = range(31)


def _explained(one: Small) -> icefield.Explainer:
    return icefield.Explainer(one.model, one.X, scale=one.scale, threads=1)


@pytest.mark.sampled(23)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_audit_says_what_every_cell_says(kind: str, seed: int) -> None:
    one = small(kind, seed)
    ex = _explained(one)
    found = ex.audit(seconds=60, worst=2)
    values = cells(ex)
    mixed = len(ex.model.all_outputs) > 2 and one.scale == "response"
    for output, label in enumerate(ex.model.outputs):
        predicted = every_cell(ex, values)[..., output]
        answers = {
            (e.feature, e.direction): e
            for e in found.everywhere
            if e.output == label and e.scale == one.scale
        }
        for axis, name in enumerate(values):
            if ex.table.column(name).kind != "categorical":
                numbers = [v for v in values[name] if v is not None]
                steps = np.diff(np.take(predicted, range(len(numbers)), axis=axis), axis=axis)
                for direction, against in (("increasing", -steps), ("decreasing", steps)):
                    worst = float(against.max(initial=0.0))
                    _compare_answer(answers[name, direction], worst, one.slack, mixed)
    for output in range(len(ex.model.outputs)):
        _compare_rows(ex, one, found, values, output)


def _compare_answer(answer: Everywhere, worst: float, slack: float, mixed: bool) -> None:
    """An answer against the largest step against its direction at any cell; probabilities of several classes may be left undecided."""
    if worst > slack:
        assert answer.answer == "refuted" or (mixed and answer.answer == "not decided"), (worst, answer)
        if answer.answer == "refuted":
            example = answer.example
            assert example is not None
            sign = 1.0 if answer.direction == "increasing" else -1.0
            assert sign * example.step < 0, example
            assert -sign * example.step <= worst + slack
    elif worst == 0.0 and not mixed:
        assert answer.answer == "proven", answer
    else:
        assert answer.answer != "refuted" or answer.bound <= slack, answer


def _compare_rows(
    ex: icefield.Explainer, one: Small, found: icefield.Audit, values: dict, output: int
) -> None:
    """Shares, largest and mean steps, and the rows behind them, from the model's own predictions of every row at every cell."""
    n, label = len(one.X), ex.model.outputs[output]
    for i, name in enumerate(found["feature"].tolist()):
        if found["output"][i] != label or found["scale"][i] != one.scale:
            continue
        points = values[name]
        moved = pd.concat([one.X] * len(points), ignore_index=True)
        column = np.repeat(np.array(points, object), n)
        if ex.table.column(name).kind == "categorical":
            moved[name] = pd.Categorical(column, categories=one.X[name].cat.categories)
        else:
            moved[name] = column.astype(float)
        curves = ex.model.predict(icefield.data.frame.table_of(moved, "X"))[:, output].reshape(len(points), n)
        if ex.table.column(name).kind == "categorical":
            spread = curves.max(axis=0) - curves.min(axis=0)
            assert found["jump"][i] == pytest.approx(spread.max(), abs=one.slack)
            pairs = found.levels[name, found["output"][i]]
            for a, first in enumerate(points):
                for b, second in enumerate(points):
                    if a != b:
                        share, gap = pairs[first, second]
                        assert share == pytest.approx(np.mean(curves[b] - curves[a] > one.slack), abs=1e-9)
                        assert gap == pytest.approx((curves[b] - curves[a]).max().clip(0), abs=one.slack)
            continue
        at_numbers = curves[: sum(p is not None for p in points)]
        steps = np.diff(at_numbers, axis=0)
        steps[np.abs(steps) <= one.slack] = 0.0
        rises, falls = (steps > 0).any(axis=0), (steps < 0).any(axis=0)
        for column, expected in (
            ("rises", rises & ~falls),
            ("falls", falls & ~rises),
            ("both", rises & falls),
        ):
            assert found[column][i] == pytest.approx(expected.mean(), abs=1e-12), (name, column)
        assert found["jump"][i] == pytest.approx(np.abs(steps).max(initial=0.0), abs=one.slack)
        direction = found["direction"][i]
        if direction:
            against = np.maximum(-steps if direction == "increasing" else steps, 0.0).max(axis=0, initial=0.0)
            assert found["holds"][i] == (against.max() == 0.0)
            assert found["against"][i] == pytest.approx(against.max(), abs=one.slack)
            assert found["mean_against"][i] == pytest.approx(against.mean(), abs=one.slack)
            own = [e for e in found.examples if (e.feature, e.output, e.scale) == (name, label, one.scale)]
            assert bool(own) == bool(against.max() > 0)
            for example in own:
                assert abs(example.step) == pytest.approx(against[example.row], abs=one.slack)
        if len(points) > len(at_numbers):
            above = (curves[-1] > at_numbers.max(axis=0) + one.slack).mean()
            below = (curves[-1] < at_numbers.min(axis=0) - one.slack).mean()
            assert found["missing_above"][i] == pytest.approx(above, abs=1e-12)
            assert found["missing_below"][i] == pytest.approx(below, abs=1e-12)


def _never_contradicted(kind: str, seed: int, number: int) -> int:
    """Random pairs of inputs that differ in one feature only, for every certificate; returns how many certificates there were."""
    one = small(kind, seed)
    ex = _explained(one)
    found = ex.audit(seconds=60)
    rng = np.random.default_rng(seed)
    proven = [e for e in found.everywhere if e.answer == "proven" and e.scale == one.scale]
    for answer in proven:
        low = pd.DataFrame({
            name: one.X[name].to_numpy()[rng.integers(0, len(one.X), number)] if ex.table.column(name).kind == "categorical"
            else np.where(rng.random(number) < 0.5, rng.normal(scale=3.0, size=number), rng.choice(one.X[name].to_numpy(float), number))
            for name in one.X
        })  # fmt: skip
        for name in one.X:
            low[name] = low[name].astype(one.X[name].dtype)
        first, second = rng.normal(scale=2.0, size=(2, number))
        high = low.copy()
        low[answer.feature], high[answer.feature] = np.minimum(first, second), np.maximum(first, second)
        step = (
            ex.model.predict(icefield.data.frame.table_of(high, "X"))
            - ex.model.predict(icefield.data.frame.table_of(low, "X"))
        )[:, ex.model.outputs.index(answer.output)]
        against = -step if answer.direction == "increasing" else step
        assert against.max() <= one.slack, (kind, seed, answer)
    return len(proven)


@pytest.mark.parametrize("kind", ["lightgbm classifier", "hist regressor"])
def test_certificates_are_not_contradicted_by_random_inputs(kind: str) -> None:
    assert _never_contradicted(kind, 6, 100_000) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_certificate_of_any_forest_is_contradicted(kind: str) -> None:
    count = sum(_never_contradicted(kind, seed, 100_000) for seed in SEEDS)
    print(f"{kind}: {count} certificates")
    assert count > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_not_contradicted_by_many_random_inputs(kind: str) -> None:
    assert sum(_never_contradicted(kind, seed, 1_000_000) for seed in (3, 6)) > 0


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", range(20))
def test_bounds_are_those_of_every_cell(seed: int) -> None:
    one = small("lightgbm regressor", seed)
    ex = _explained(one)
    (bounds,) = ex.audit(bounds=True, seconds=60).bounds
    predicted = every_cell(ex, cells(ex))
    assert bounds.is_attained == (True, True)
    assert bounds.lowest == pytest.approx(predicted.min(), abs=1e-9)
    assert bounds.highest == pytest.approx(predicted.max(), abs=1e-9)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("kind", ["lightgbm classifier", "hist classifier", "xgboost regressor"])
def test_bounds_over_a_box_are_those_of_its_cells(kind: str, seed: int) -> None:
    one = small(kind, seed)
    ex = _explained(one)
    values = cells(ex)
    box: dict = {"a": (-0.4, 0.7)}
    if "g" in one.X:
        box["g"] = ["p", "r"]
    (bounds,) = ex.audit(bounds=box, everywhere=False, seconds=60).bounds
    inside = dict(values)
    cuts = [v for v in values["a"] if v is not None]
    # A box holds the cells of its ends: those in between, and the one that each end lies in.
    inside["a"] = [-0.4, *(v for v in cuts if -0.4 < v < 0.7), 0.7]
    if "g" in one.X:
        inside["g"] = ["p", "r"]
    predicted = every_cell(ex, inside)
    assert bounds.is_attained == (True, True)
    assert bounds.lowest == pytest.approx(predicted.min(), abs=max(one.slack, 1e-9))
    assert bounds.highest == pytest.approx(predicted.max(), abs=max(one.slack, 1e-9))
    if one.scale == "response" and "classifier" in kind:
        assert bounds.lowest >= 0
        assert bounds.highest <= 1


@pytest.mark.parametrize("case", ["single tree", "additive", "read once"])
def test_what_shares_no_input_is_decided_without_time(case: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    y = 10.0 * ((X["a"] > 0) & (X["b"] > 0)) + X["c"] * (X["d"] > 0)
    settings = {"n_estimators": 30, "verbose": -1, "n_jobs": 1}
    model = {
        "single tree": lambda: DecisionTreeRegressor(max_leaf_nodes=60),
        "additive": lambda: lgb.LGBMRegressor(**settings, num_leaves=6, interaction_constraints=[[0], [1], [2], [3]]),
        "read once": lambda: lgb.LGBMRegressor(**{**settings, "n_estimators": 2}, num_leaves=4, learning_rate=1.0, interaction_constraints=[[0, 1], [2, 3]]),
    }[case]().fit(X, y)  # fmt: skip
    found = icefield.Explainer(model, X, threads=1).audit(seconds=0)
    assert found.structure is not None
    assert case != "read once" or set(found.structure.together) == {frozenset("ab"), frozenset("cd")}
    assert {e.answer for e in found.everywhere} <= {"proven", "refuted"}
    # The same from boxes alone, where no row helps.
    ex = icefield.Explainer(model, X.iloc[:1], threads=1)
    assert {e.answer for e in ex.audit(seconds=0).everywhere} <= {"proven", "refuted"}


@pytest.mark.parametrize("kind", ["lightgbm regressor", "hist regressor", "forest"])
def test_a_bound_holds_where_time_is_up(kind: str) -> None:
    for seed in range(8):
        one = small(kind, seed)
        ex = _explained(one)
        assert ex.plan.trees is not None
        values = cells(ex)
        predicted = every_cell(ex, values)[..., 0]
        space = space_of(ex.study, ex.plan.trees)
        for variable, about in enumerate(space.variables):
            if not about.is_interval:
                continue
            axis = list(values).index(about.name)
            numbers = sum(v is not None for v in values[about.name])
            steps = np.diff(np.take(predicted, range(numbers), axis=axis), axis=axis)
            for sign in (1, -1):
                domain = Domain(space, 0)
                verdict = domain.monotone(variable, sign, time.monotonic() - 1.0)
                worst = max(0.0, float((-sign * steps).max(initial=0.0)))
                if verdict.answer == "not decided":
                    assert verdict.bound >= worst - one.slack
                    assert not domain._trees
                else:
                    assert (verdict.answer == "refuted") == (worst > one.slack)
