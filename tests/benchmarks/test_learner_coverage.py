"""The coverage benchmark computes curves without an Explainer: its numbers must be those of the public `Refits`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import icefield
from benchmarks import learner_coverage as bench
from benchmarks import learner_tests as hypotheses
from icefield.refits.refits import MEASURED


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("process", "learner"),
    [
        ("additive", "linear"),
        ("classes", "forest"),
        pytest.param("panel", "boosting", marks=pytest.mark.slow),
        pytest.param("heavy tails", "forest", marks=pytest.mark.slow),
        pytest.param("classes", "neural net", marks=pytest.mark.slow),
    ],
)
def test_its_intervals_are_the_public_ones(process, learner):
    X, y, units = bench.draw(process, 120, np.random.default_rng(3))
    seed = 11
    full, parts = bench.full_and_refits(process, learner, X, y, units, seed)
    mine = bench.intervals(process, learner, full, parts, len(X), "level")

    def fit(X, y, seed):
        model = bench.fit(learner, X, y, seed)
        return model.predict if learner == "linear" else model

    ex = icefield.Explainer(fit(X, y, seed), X, seed=seed, row_by_row=True)
    about = "full" if learner == "forest" else "mean"
    refits = ex.refits(fit, y, groups=units, about=about if learner == "linear" else "auto")
    assert refits.about == about
    for k, feature in enumerate(bench.FEATURES.values()):
        effect = refits.partial_dependence(feature, grid=bench.GRID)
        for name in ("low", "high", "band_low", "band_high"):
            np.testing.assert_allclose(
                getattr(effect.interval, name)[0], getattr(mine, name)[k], rtol=1e-5, atol=1e-7
            )
        centred, own = effect.center("mean").interval, bench.intervals(process, learner, full, parts, 120, "centred")  # fmt: skip
        np.testing.assert_allclose(centred.band_high[0], own.band_high[k], rtol=1e-4, atol=1e-6)


def test_what_the_repr_says_is_what_was_stored():
    done = json.loads(bench.STORED.read_text(encoding="utf-8"))["settings"]
    assert len(done) == len(bench.settings())
    for kind, said in MEASURED.items():
        found = bench.pooled(done, learner=kind)
        shares = (round(100 * found[key]) for key in ("pointwise", "simultaneous"))
        assert said == (*shares, round(found["width"], 2), round(found["band_width"], 2)), kind
    assert set(MEASURED) == set(bench.LEARNERS)


def test_goals_that_the_docs_say_are_met():
    done = json.loads(bench.STORED.read_text(encoding="utf-8"))["settings"]
    for only, points, curves in (
        ({}, (88, 94), (88, 95)),
        *(({"learner": name}, (88, 96), (84, 97)) for name in bench.LEARNERS),
    ):
        found = bench.pooled(done, **only)
        assert points[0] <= 100 * found["pointwise"] <= points[1], only
        assert curves[0] <= 100 * found["simultaneous"] <= curves[1], only
        assert found["width"] <= 1.3, only
        assert found["band_width"] <= 1.4, only


def test_a_setting_in_small():
    found = bench.setting("linear", "linear", 100, replicates=12, target_fits=200)
    assert {(r["feature"], r["view"]) for r in found["results"]} == {
        (f, v) for f in ("signal", "null") for v in ("level", "centred")
    }
    pooled = bench.pooled([found])
    assert 0.75 < pooled["pointwise"] <= 1
    assert 0.8 < pooled["width"] < 1.6


def test_true_hypotheses_were_rejected_no_more_often_than_is_said():
    stored = json.loads(hypotheses.STORED.read_text(encoding="utf-8"))
    assert set(stored["learners"]) == set(bench.LEARNERS)
    for learner, done in stored["learners"].items():
        assert len(done) >= 150
        for test in done[0]:
            p = np.concatenate([one[test] for one in done])
            assert np.mean(p < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(done)), (learner, test)
    kept = json.loads(hypotheses.TABLE.read_text(encoding="utf-8"))
    assert kept["rows"] == hypotheses.show(stored)


@pytest.mark.slow
def test_a_draw_of_the_tests_is_what_was_stored():
    stored = json.loads(hypotheses.STORED.read_text(encoding="utf-8"))["learners"]
    found = hypotheses.replicate("linear", 0)
    for test, p in stored["linear"][0].items():
        np.testing.assert_allclose(found[test], p, atol=0.02)
