"""Readings: the shapes they must recognise, the numbers they must give, and what they must not claim."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer, Grid
from icefield.statistics.shapes import shape_of


def read(function, values, grid=None):
    X = np.column_stack([values, np.random.default_rng(0).normal(size=len(values))])
    return Explainer(lambda r: function(r[:, 0]) + 0.3 * r[:, 1], X).ice(0, grid=grid).reading


EVEN = np.linspace(-1, 1, 300)


@pytest.mark.parametrize(
    ("function", "shape", "direction"),
    [
        (lambda x: 2 * x, "linear", "increasing"),
        (lambda x: -0.5 * x + 7, "linear", "decreasing"),
        (lambda x: (x > 0.2) * 1.0, "threshold", "increasing"),
        (lambda x: -3.0 * (x > -0.6), "threshold", "decreasing"),
        (lambda x: np.exp(2 * x), "monotone", "increasing"),
        (lambda x: -np.log(x + 1.05), "monotone", "decreasing"),
        (lambda x: np.maximum(0, x - 0.2), "monotone", "increasing"),
        (lambda x: x**2, "U-shaped", "mixed"),
        (lambda x: -np.abs(x - 0.2), "inverted U", "mixed"),
        (lambda x: np.sin(6 * x), "non-monotone", "mixed"),
        (lambda x: 0.01 * x, "flat", "none"),
    ],
)
def test_shapes(function, shape, direction):
    reading = read(function, EVEN)
    assert (reading.shape, reading.direction) == (shape, direction)
    assert reading.heterogeneity == pytest.approx(0.0, abs=1e-9)
    assert not reading.hidden
    assert shape in reading.sentence or "flat" in reading.sentence


def test_strength_is_relative_to_the_spread_of_predictions():
    X = np.column_stack([EVEN, np.zeros(300)])
    reading = (
        Explainer(lambda r: 5 * r[:, 0], X).partial_dependence(0, grid=Grid(trim=(0, 1), points=300)).reading
    )
    assert reading.strength == pytest.approx(1.0, rel=1e-6)
    # Read in the middle nine tenths of the data, which the reading says.
    assert (reading.low, reading.high) == (pytest.approx(-4.5, abs=0.01), pytest.approx(4.5, abs=0.01))
    assert (reading.read_from, reading.read_to) == (
        pytest.approx(-0.9, abs=0.01),
        pytest.approx(0.9, abs=0.01),
    )
    assert (reading.low_at, reading.high_at) == (reading.read_from, reading.read_to)


def test_where_it_changes():
    (at,) = read(lambda x: (x > 0.2) * 1.0, EVEN).changes_at
    assert at == pytest.approx(0.2, abs=0.02)
    (turn,) = read(lambda x: (x - 0.3) ** 2, EVEN).changes_at
    assert turn == pytest.approx(0.3, abs=0.05)
    low, high = read(lambda x: np.exp(3 * x), EVEN).changes_at
    assert low > 0.6
    assert high == pytest.approx(0.9, abs=0.02)
    assert read(lambda x: x, EVEN).changes_at == ()


def test_a_small_reversal_does_not_make_a_turn():
    reading = read(lambda x: x + 0.05 * np.sin(40 * x), EVEN)
    assert reading.shape in ("linear", "monotone")
    assert reading.measures["reversal"] <= reading.thresholds["turn"]


def test_where_there_is_little_data_little_is_said():
    # A dip that only three of a thousand rows see is no turn.
    x = np.concatenate([np.linspace(0, 1, 997), [1.3, 1.4, 1.5]])
    bumpy = lambda v: v - 2.0 * (v > 1.25)  # noqa: E731
    assert read(bumpy, x).shape == "linear"


def test_flat_average_of_crossing_curves_names_the_partner(rng):
    X = np.column_stack([rng.normal(size=(300, 2)), np.tile([-1.0, 1.0], 150), rng.normal(size=300)])
    effect = Explainer(lambda r: 2 * r[:, 0] * r[:, 2] + 0.5 * r[:, 3], X).ice(0)
    reading = effect.reading
    assert reading.shape == "flat"
    assert reading.hidden
    assert reading.heterogeneous
    assert reading.opposing == pytest.approx(0.5, abs=0.01)
    assert reading.partners[0][0] == 2
    assert reading.partners[0][1] > 0.95
    assert len(reading.partners) == 1
    assert "look for an interaction with 2" in reading.sentence


def test_flat_average_is_noticed_from_the_spread_alone(rng):
    X = np.column_stack([rng.normal(size=300), np.tile([-1.0, 1.0], 150)])
    effect = Explainer(lambda r: 2 * r[:, 0] * r[:, 1], X).partial_dependence(0)
    reading = effect.reading
    assert effect.individual is None
    assert not reading.heterogeneity_exact
    assert reading.hidden
    assert "at least" in reading.sentence


def fitted_noise(amount):
    """OutputCurves along column 0 that differ by about `amount` SD of the predictions, for no reason any column knows."""
    return lambda r: r[:, 3] + 1.42 * amount * np.sin(3 * r[:, 0] + 1e4 * r[:, 1] * r[:, 2])


def test_small_differences_are_hidden_only_with_a_reason(rng):
    X = rng.normal(size=(600, 5))
    noise = Explainer(fitted_noise(0.2), X).ice(0).reading
    assert noise.shape == "flat"
    assert 0.15 < noise.heterogeneity < 0.30
    assert not noise.hidden
    assert "crossing" not in noise.sentence
    explained = Explainer(lambda r: r[:, 3] + 0.2 * r[:, 0] * np.sign(r[:, 1]), X).ice(0).reading
    assert 0.15 < explained.heterogeneity < 0.30
    assert explained.hidden
    evident = Explainer(fitted_noise(0.5), X).ice(0).reading
    assert evident.heterogeneity > 0.30
    assert evident.hidden


def test_small_differences_that_only_the_spread_shows_have_no_reason(rng):
    X = rng.normal(size=(600, 5))
    average = Explainer(lambda r: r[:, 3] + 0.2 * r[:, 0] * np.sign(r[:, 1]), X).partial_dependence(0).reading
    assert 0.15 < average.heterogeneity < 0.30
    assert not average.hidden
    assert not average.heterogeneous


def test_large_differences_show_in_the_spread_as_in_the_curves(rng):
    X = rng.normal(size=(600, 5))
    ex = Explainer(lambda r: r[:, 3] + 0.9 * r[:, 0] * np.sign(r[:, 1]), X)
    average, curves = ex.partial_dependence(0).reading, ex.ice(0).reading
    assert average.heterogeneity == pytest.approx(curves.heterogeneity)
    assert average.hidden
    assert "they differ by at least" in average.sentence


def test_partners_are_columns_the_model_looks_at(rng):
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["x", "u", "w"])
    X["copy_of_u"] = X["u"]  # not the model's
    X["p"], X["q"] = (X["w"] > 0).astype(int), (X["w"] <= 0).astype(int)
    columns = ["x", "u", "p", "q"]

    class Model:
        feature_names_in_ = np.array(columns)

        def predict(self, rows):
            rows = rows[columns]
            return (rows["x"] * np.sign(rows["u"]) + 2 * rows["p"] * rows["u"]).to_numpy()

    ex = Explainer(Model(), X)
    assert [name for name, _ in ex.ice("x").reading.partners] == ["u"]
    grouped = ex.ice({"w": ["p", "q"]})
    assert set(grouped.others) == {"x", "u"}
    assert [name for name, _ in grouped.reading.partners] == ["u"]


def test_an_average_within_its_sampling_error_is_flat(rng):
    """The mean of a random sign is never exactly zero; the slope it leaves is chance, not an effect."""
    flat = 0
    for _ in range(20):
        X = rng.normal(size=(100, 2))
        flat += Explainer(lambda r: r[:, 0] * np.sign(r[:, 1]), X).ice(0).reading.hidden
    assert flat >= 18


def test_levels_and_two_values(rng):
    frame = pd.DataFrame(
        {"k": rng.choice(list("abc"), 90), "flag": rng.random(90) < 0.5, "n": rng.integers(0, 2, 90)}
    )
    model = lambda f: (f["k"].map({"a": 0.0, "b": 3.0, "c": 1.0}) + f["flag"] - f["n"]).to_numpy(float)  # noqa: E731
    ex = Explainer(model, frame)
    k = ex.ice("k").reading
    assert (k.shape, k.direction, k.high_at, k.low_at) == ("levels", "none", "b", "a")
    assert ex.ice("flag").reading.direction == "increasing"
    assert ex.ice("n").reading.direction == "decreasing"


def test_missing_values_that_stand_apart(rng):
    X = rng.normal(size=(200, 2))
    X[:40, 0] = np.nan
    reading = Explainer(lambda r: np.where(np.isnan(r[:, 0]), 5.0, 0.0) + r[:, 1], X).ice(0).reading
    assert reading.shape == "flat"
    assert reading.missing_jump > 1
    assert "higher where it is missing" in reading.sentence


def test_dates(rng):
    days = np.arange(200)
    frame = pd.DataFrame(
        {"day": pd.Timestamp("2021-01-01") + pd.to_timedelta(days, "D"), "x": rng.normal(size=200)}
    )
    step = pd.Timestamp("2021-04-11")
    reading = Explainer(lambda f: (f["day"] > step).to_numpy(float), frame).ice("day").reading
    assert reading.shape == "threshold"
    assert abs(reading.changes_at[0] - np.datetime64("2021-04-11")) < np.timedelta64(4, "D")


def test_every_output_is_read(rng):
    X = rng.uniform(-1, 1, size=(100, 2))
    reading = Explainer(lambda r: np.column_stack([r[:, 0], r[:, 0] ** 2]), X).ice(0).reading
    assert [r.shape for r in reading.each] == ["linear", "U-shaped"]
    assert len(repr(reading).splitlines()) == 2


def test_surfaces(rng):
    X = rng.normal(size=(200, 3))
    additive = Explainer(lambda r: r[:, 0] + r[:, 1] ** 2, X).partial_dependence(0, 1).reading
    product = Explainer(lambda r: r[:, 0] * r[:, 1], X).partial_dependence(0, 1).reading
    assert additive.shape == "additive"
    assert additive.interaction == pytest.approx(0.0, abs=1e-3)
    assert product.shape == "interacting"
    assert product.interaction > 0.75
    assert Explainer(lambda r: r[:, 2], X).partial_dependence(0, 1).reading.shape == "flat"


def test_ale_is_read_too(rng):
    X = rng.uniform(-1, 1, size=(300, 2))
    ex = Explainer(lambda r: r[:, 0] ** 2 + r[:, 1], X)
    assert ex.ale(0).reading.shape == "U-shaped"
    assert ex.ale(1).reading.direction == "increasing"
    assert ex.ale(0, 1).reading.shape == "flat"


def test_thresholds_are_part_of_the_reading():
    reading = read(lambda x: x, EVEN)
    assert reading.thresholds["flat"] == 0.07
    assert reading.measures["linear"] == pytest.approx(1.0)


def test_shape_does_not_depend_on_units():
    x = np.linspace(0, 1, 40)
    even = np.full(40, 1 / 40)
    for y in (x, x**3, np.sin(7 * x), (x - 0.5) ** 2):
        first, second = shape_of(x, y, even), shape_of(1e6 * x - 3, 1e-5 * y + 8, even)
        assert (first.name, first.direction) == (second.name, second.direction)


def test_what_follows_from_the_numbers_is_a_property_of_the_reading(rng):
    steep = read(lambda x: 2 * x, EVEN)
    assert steep.one_directional
    assert steep.responds
    never = ("flat", "turns", "opposed", "curves_differ", "missing_apart")
    assert not any(getattr(steep, name) for name in never)
    assert read(lambda x: x**2, EVEN).turns
    silent = read(lambda x: 0.01 * x, EVEN)
    assert silent.flat
    assert silent.flat_limit == pytest.approx(0.07)
    assert not silent.responds
    X = rng.normal(size=(300, 2))
    crossing = Explainer(lambda r: r[:, 0] * np.sign(r[:, 1]), X).ice(0).reading
    assert crossing.hidden
    assert crossing.opposed
    assert crossing.curves_differ
    assert crossing.responds
    assert crossing.movement == pytest.approx(np.hypot(crossing.strength, crossing.heterogeneity))


def test_missing_values_stand_apart_by_the_stated_threshold():
    X = pd.DataFrame({"a": np.append(np.linspace(-1, 1, 99), np.nan)})
    far = Explainer(lambda r: r["a"].fillna(5.0).to_numpy(), X).ice("a").reading
    near = Explainer(lambda r: r["a"].fillna(0.0).to_numpy(), X).ice("a").reading
    assert far.missing_apart
    assert not near.missing_apart


def test_a_dip_of_a_quarter_of_the_range_is_no_threshold():
    x = np.linspace(0, 1, 60)
    step = np.where(x > 0.5, 1.0, 0.0)
    even = np.full(60, 1 / 60)
    assert shape_of(x, step, even).name == "threshold"
    for depth, name in ((0.1, "threshold"), (0.25, "non-monotone")):
        dip = np.where((x > 0.7) & (x < 0.78), 1.0 - depth, step)
        assert shape_of(x, dip, even).step > 0.9
        assert shape_of(x, dip, even).name == name


def test_a_risk_that_rises_many_times_over_is_not_flat(rng):
    """One in a hundred is at risk; a few rows of certain risk make the standard deviation."""
    X = np.column_stack([rng.uniform(size=3_000), rng.normal(size=3_000), rng.normal(size=3_000)])

    def risk(rows):
        ill = rows[:, 1] > 2.3
        return 0.0002 * 60 ** rows[:, 0] + 0.9 * ill

    ex = Explainer(risk, X)
    effect = ex.ice(0)
    # Against all predictions it would be next to nothing.
    assert effect.average.std() / effect.output_std[0] < 0.07
    assert 0 < effect.unit[0] < 0.1 * effect.output_std[0]
    assert effect.reading.shape == "monotone"
    assert ex.summary().readings[0].shape == "monotone"
    assert ex.summary().readings[2].flat
    assert any("most predictions lie apart" in note for note in ex.summary().notes)


@pytest.mark.parametrize("draw", ["normal", "exponential", "uniform"])
def test_the_usual_unit_is_the_standard_deviation(rng, draw):
    X = getattr(rng, draw)(size=(500, 2))
    assert Explainer(lambda r: r[:, 0] + r[:, 1], X).partial_dependence(0).unit is None
