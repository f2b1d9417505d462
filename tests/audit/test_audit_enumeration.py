"""Audits against the model's own predictions at every cell of the product of thresholds, and at random inputs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_forests import KINDS, Small, cells, every_cell, small

import icefield

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
    predicted = every_cell(ex, values)[..., 0]
    answers = {(e.feature, e.direction): e for e in found.everywhere}
    for axis, name in enumerate(values):
        if ex.table.column(name).kind == "categorical":
            continue
        numbers = [v for v in values[name] if v is not None]
        steps = np.diff(np.take(predicted, range(len(numbers)), axis=axis), axis=axis)
        for direction, against in (("increasing", -steps), ("decreasing", steps)):
            worst = float(against.max(initial=0.0))
            answer = answers[name, direction]
            if worst > one.slack:
                assert answer.answer == "refuted", (name, direction, worst, answer)
                example = answer.example
                assert example is not None
                sign = 1.0 if direction == "increasing" else -1.0
                assert sign * example.step < 0, example
                assert -sign * example.step <= worst + one.slack
            elif worst == 0.0:
                assert answer.answer == "proven", (name, direction, answer)
    _compare_rows(ex, one, found, values)


def _compare_rows(ex: icefield.Explainer, one: Small, found: icefield.Audit, values: dict) -> None:
    """Shares, largest and mean steps, and the rows behind them, from the model's own predictions of every row at every cell."""
    n = len(one.X)
    for i, name in enumerate(found["feature"].tolist()):
        points = values[name]
        moved = pd.concat([one.X] * len(points), ignore_index=True)
        column = np.repeat(np.array(points, object), n)
        if ex.table.column(name).kind == "categorical":
            moved[name] = pd.Categorical(column, categories=one.X[name].cat.categories)
        else:
            moved[name] = column.astype(float)
        curves = ex.model.predict(icefield.data.frame.table_of(moved, "X"))[:, 0].reshape(len(points), n)
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
            own = [e for e in found.examples if e.feature == name]
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
    proven = [e for e in found.everywhere if e.answer == "proven"]
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
        )[:, 0]
        against = -step if answer.direction == "increasing" else step
        assert against.max() <= one.slack, (kind, seed, answer)
    return len(proven)


@pytest.mark.parametrize("kind", ["lightgbm classifier", "hist regressor"])
def test_certificates_are_not_contradicted_by_random_inputs(kind: str) -> None:
    assert _never_contradicted(kind, 6, 100_000) > 0


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
