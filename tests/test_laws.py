"""Laws that partial dependence and its relatives obey, whatever the model: nothing here is a recorded number.

Each test is one law: a closed form, or two questions whose answers must agree.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from icefield import Explainer, Grid

RNG = np.random.default_rng(11)
N = 60
X = np.column_stack([RNG.normal(size=(N, 3)), RNG.integers(0, 4, N)])
GRID = np.linspace(-1.5, 1.5, 7)
EXACT = {"rtol": 1e-12, "atol": 1e-12}


def wiggly(rows):
    """Nothing about it is additive, monotone or smooth."""
    a, b, c, d = (rows[:, i].astype(float) for i in range(4))
    return np.sin(2 * a) * b + np.abs(c) * (a > 0.3) + d * c


def two(rows):
    return np.column_stack([wiggly(rows), rows[:, 0] ** 2 + rows[:, 1]])


def pd_of(model, rows=X, *features, grid=GRID, **choices):
    asked = {name: choices.pop(name) for name in ("quantiles", "spread") if name in choices}
    return Explainer(model, rows, **choices).partial_dependence(*(features or (0,)), grid=grid, **asked)


# --- means of curves -----------------------------------------------------------------------------


def test_dependence_is_the_mean_of_the_individual_curves():
    effect = Explainer(two, X).ice(0, grid=GRID)
    np.testing.assert_allclose(effect.individual.mean(axis=1), effect.average, **EXACT)


def test_a_surface_is_the_mean_of_the_individual_surfaces():
    effect = Explainer(two, X).ice(0, 1, grid=[GRID, GRID])
    np.testing.assert_allclose(effect.individual.mean(axis=1), effect.average, **EXACT)


def test_a_curve_passes_through_the_rows_own_prediction():
    ex = Explainer(two, X)
    for row in (0, 17, 59):
        curve = ex.ice(0, grid=[X[row, 0]], rows=[row])
        np.testing.assert_allclose(curve.individual[:, 0, 0], two(X[row : row + 1])[0], **EXACT)


def test_moving_every_column_leaves_nothing_to_average():
    point = [[0.5], [-0.2], [1.0], [2.0]]
    effect = Explainer(wiggly, X).partial_dependence(0, 1, 2, 3, grid=point, spread=True)
    assert effect.average.ravel()[0] == pytest.approx(wiggly(np.array(point).T)[0], rel=1e-14)
    assert effect.std.ravel()[0] == pytest.approx(0.0, abs=1e-14)


def test_one_row_is_its_own_dependence():
    one = X[:1]
    effect = Explainer(wiggly, one).ice(0, grid=GRID)
    np.testing.assert_array_equal(effect.average[0], effect.individual[0, 0])
    assert not effect.std.any()


def test_the_mean_over_halves_is_the_mean_of_the_halves_means():
    left, right = pd_of(wiggly, X[:20]), pd_of(wiggly, X[20:])
    whole = (20 * left.average + 40 * right.average) / 60
    np.testing.assert_allclose(pd_of(wiggly).average, whole, **EXACT)


def test_groups_average_to_the_whole():
    by = X[:, 3].astype(int)
    effect = pd_of(wiggly, X, 0, by=by)
    parts = sum(g.average * g.n_rows for g in effect.groups.values()) / N
    np.testing.assert_allclose(effect.average, parts, **EXACT)


def test_the_total_variance_is_that_within_and_between_groups():
    by = X[:, 3].astype(int)
    effect = pd_of(wiggly, X, 0, by=by)
    within = sum(np.square(g.std) * g.n_rows for g in effect.groups.values()) / N
    between = sum(np.square(g.average - effect.average) * g.n_rows for g in effect.groups.values()) / N
    np.testing.assert_allclose(np.square(effect.std), within + between, rtol=1e-10)


# --- closed forms --------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(arrays(np.float64, 4, elements=st.floats(-10, 10)), st.floats(-10, 10))
def test_a_linear_model_has_its_closed_form(slopes, intercept):
    effect = pd_of(lambda rows: rows @ slopes + intercept)
    others = intercept + X[:, 1:].mean(axis=0) @ slopes[1:]
    np.testing.assert_allclose(effect.average[0], others + slopes[0] * GRID, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(effect.std[0], np.std(X[:, 1:] @ slopes[1:]), rtol=1e-6, atol=1e-9)


def test_a_product_has_its_closed_form():
    effect = pd_of(lambda rows: rows[:, 0] * rows[:, 1])
    np.testing.assert_allclose(effect.average[0], GRID * X[:, 1].mean(), **EXACT)
    np.testing.assert_allclose(effect.std[0], np.abs(GRID) * X[:, 1].std(), **EXACT)


def test_a_product_of_two_moving_features_is_their_outer_product():
    effect = pd_of(lambda rows: rows[:, 0] * rows[:, 1], X, 0, 1, grid=[GRID, GRID])
    np.testing.assert_allclose(effect.average[0], np.outer(GRID, GRID), **EXACT)


def test_an_additive_model_has_parallel_curves():
    effect = Explainer(lambda rows: np.exp(rows[:, 0]) + rows[:, 1] ** 3, X).ice(0, grid=GRID)
    assert np.ptp(effect.individual - effect.average[:, None], axis=-1).max() < 1e-12
    assert np.ptp(effect.std, axis=-1).max() < 1e-12


def test_an_additive_model_has_an_additive_surface():
    def model(rows):
        return np.exp(rows[:, 0]) + rows[:, 1] ** 3

    ex = Explainer(model, X)
    surface = ex.partial_dependence(0, 1, grid=[GRID, GRID]).average[0]
    one, other = (ex.partial_dependence(f, grid=GRID).average[0] for f in (0, 1))
    np.testing.assert_allclose(surface, one[:, None] + other[None] - model(X).mean(), **EXACT)


def test_a_feature_the_model_ignores_is_flat_at_the_mean_prediction():
    effect = pd_of(lambda rows: rows[:, 1] * rows[:, 2])
    np.testing.assert_allclose(effect.average, (X[:, 1] * X[:, 2]).mean(), **EXACT)


def test_a_constant_model_has_no_spread():
    effect = pd_of(lambda rows: np.full(len(rows), 7.25), quantiles=[0.0, 0.5, 1.0])
    assert np.unique(effect.average).tolist() == [7.25]
    assert not effect.std.any()
    assert all((q == 7.25).all() for q in effect.quantiles.values())


def test_a_monotone_model_has_monotone_curves_and_quantiles():
    effect = Explainer(lambda rows: np.exp(rows[:, 0] + rows[:, 1]), X).ice(
        0, grid=GRID, quantiles=[0.1, 0.9]
    )
    for array in (effect.average, effect.individual, effect.quantiles[0.1], effect.quantiles[0.9]):
        assert (np.diff(array, axis=-1) > 0).all()


# --- changes of the model ------------------------------------------------------------------------


def test_an_affine_change_of_the_output_is_that_change_of_the_curves():
    plain, changed = pd_of(wiggly), pd_of(lambda rows: 3.5 - 2 * wiggly(rows))
    np.testing.assert_allclose(changed.average, 3.5 - 2 * plain.average, **EXACT)
    np.testing.assert_allclose(changed.std, 2 * plain.std, **EXACT)
    np.testing.assert_allclose(changed.se, 2 * plain.se, **EXACT)


def test_the_curve_of_a_sum_is_the_sum_of_the_curves():
    both = pd_of(lambda rows: wiggly(rows) + rows[:, 0] ** 2)
    np.testing.assert_allclose(both.average, pd_of(wiggly).average + GRID**2, **EXACT)


def test_an_increasing_change_of_the_output_carries_the_quantiles_along():
    """Quantiles of the kind that are values of the data commute with every increasing function."""
    plain = pd_of(wiggly, quantiles=[0.1, 0.5, 0.9])
    changed = pd_of(lambda rows: np.exp(wiggly(rows)), quantiles=[0.1, 0.5, 0.9])
    for q in (0.1, 0.5, 0.9):
        np.testing.assert_allclose(changed.quantiles[q], np.exp(plain.quantiles[q]), rtol=1e-12)


def test_outputs_are_answered_as_if_asked_alone():
    together = pd_of(two)
    np.testing.assert_allclose(together.average[:1], pd_of(wiggly).average, **EXACT)
    np.testing.assert_allclose(pd_of(two, target=1).average[0], together.average[1], **EXACT)


def test_probabilities_of_all_classes_sum_to_one():
    from sklearn.linear_model import LogisticRegression

    classes = np.digitize(wiggly(X), [-0.5, 0.5])
    effect = pd_of(LogisticRegression().fit(X, classes))
    assert effect.average.shape[0] == 3
    np.testing.assert_allclose(effect.average.sum(axis=0), 1.0, **EXACT)


def test_the_two_sides_of_a_binary_classifier_mirror_each_other():
    from sklearn.linear_model import LogisticRegression

    effect = pd_of(LogisticRegression().fit(X, wiggly(X) > 0), target="all")
    np.testing.assert_allclose(effect.average[0], 1 - effect.average[1], **EXACT)
    np.testing.assert_allclose(effect.std[0], effect.std[1], **EXACT)


def test_renaming_the_units_of_a_feature_renames_the_axis_only():
    """A model that takes kilometres, asked in metres."""
    metres = X * np.array([1000.0, 1, 1, 1])
    effect = pd_of(lambda rows: wiggly(rows / np.array([1000.0, 1, 1, 1])), metres, grid=GRID * 1000)
    np.testing.assert_allclose(effect.average, pd_of(wiggly).average, rtol=1e-9)


# --- changes of the rows -------------------------------------------------------------------------


def test_the_order_of_rows_does_not_matter():
    order = RNG.permutation(N)
    plain, mixed = pd_of(wiggly, quantiles=[0.3]), pd_of(wiggly, X[order], quantiles=[0.3])
    np.testing.assert_allclose(plain.average, mixed.average, **EXACT)
    np.testing.assert_allclose(plain.std, mixed.std, **EXACT)
    np.testing.assert_array_equal(plain.quantiles[0.3], mixed.quantiles[0.3])


def test_the_order_of_columns_does_not_matter():
    order = [2, 0, 3, 1]
    effect = pd_of(lambda rows: wiggly(rows[:, np.argsort(order)]), X[:, order], order.index(0))
    np.testing.assert_array_equal(effect.average, pd_of(wiggly).average)


def test_the_moving_columns_own_values_do_not_matter():
    changed = X.copy()
    changed[:, 0] = RNG.normal(size=N) * 1e6
    np.testing.assert_array_equal(pd_of(wiggly, changed).average, pd_of(wiggly).average)


def test_repeating_all_rows_changes_nothing():
    plain, twice = pd_of(wiggly, quantiles=[0.25]), pd_of(wiggly, np.vstack([X, X]), quantiles=[0.25])
    np.testing.assert_allclose(twice.average, plain.average, **EXACT)
    np.testing.assert_allclose(twice.std, plain.std, **EXACT)
    np.testing.assert_array_equal(twice.quantiles[0.25], plain.quantiles[0.25])


def test_a_weight_of_two_is_a_duplicated_row():
    counts = RNG.integers(0, 4, N)
    weighted = pd_of(wiggly, weights=counts, quantiles=[0.1, 0.5])
    repeated = pd_of(wiggly, np.repeat(X, counts, axis=0), quantiles=[0.1, 0.5])
    np.testing.assert_allclose(weighted.average, repeated.average, **EXACT)
    np.testing.assert_allclose(weighted.std, repeated.std, **EXACT)
    for q in (0.1, 0.5):
        np.testing.assert_array_equal(weighted.quantiles[q], repeated.quantiles[q])


@pytest.mark.parametrize("grid", [None, 5, Grid("quantile", points=9), Grid("distinct")], ids=str)
def test_a_weight_of_two_is_a_duplicated_row_for_the_grid_too(grid):
    counts = RNG.integers(0, 4, N)
    weighted = pd_of(wiggly, weights=counts, grid=grid)
    repeated = pd_of(wiggly, np.repeat(X, counts, axis=0), grid=grid)
    np.testing.assert_array_equal(weighted.grid[0], repeated.grid[0])
    np.testing.assert_allclose(weighted.weight, repeated.weight, **EXACT)


@pytest.mark.parametrize("factor", [1e-12, 0.1, 3.0, 1e9])
def test_only_ratios_of_weights_matter(factor):
    weights = RNG.random(N)
    one, other = (
        pd_of(wiggly, weights=w, grid=None, quantiles=[0.1, 0.5, 0.9]) for w in (weights, weights * factor)
    )
    np.testing.assert_array_equal(one.grid[0], other.grid[0])
    np.testing.assert_allclose(one.average, other.average, **EXACT)
    np.testing.assert_allclose(one.std, other.std, **EXACT)
    np.testing.assert_allclose(one.se, other.se, **EXACT)
    for q in (0.1, 0.5, 0.9):
        np.testing.assert_array_equal(one.quantiles[q], other.quantiles[q])


def test_equal_weights_are_no_weights():
    plain, weighted = pd_of(wiggly, quantiles=[0.5]), pd_of(wiggly, weights=np.full(N, 0.7), quantiles=[0.5])
    np.testing.assert_allclose(plain.average, weighted.average, **EXACT)
    np.testing.assert_allclose(plain.se, weighted.se, **EXACT)
    np.testing.assert_array_equal(plain.quantiles[0.5], weighted.quantiles[0.5])


def test_a_weight_of_zero_removes_the_row():
    weights = np.where(np.arange(N) < 45, 1.0, 0.0)
    removed, kept = pd_of(wiggly, weights=weights), pd_of(wiggly, X[:45])
    np.testing.assert_allclose(removed.average, kept.average, **EXACT)
    np.testing.assert_allclose(removed.se, kept.se, **EXACT)


def test_columns_the_model_does_not_take_change_nothing():
    from sklearn.linear_model import LinearRegression

    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LinearRegression().fit(frame, wiggly(X))
    more = frame.assign(note="text", when=pd.Timestamp("2024-01-01"))[["note", "d", "c", "b", "a", "when"]]
    np.testing.assert_array_equal(
        Explainer(model, more, engine="brute").partial_dependence("a", grid=GRID).average,
        Explainer(model, frame, engine="brute").partial_dependence("a", grid=GRID).average,
    )


# --- changes of the question ---------------------------------------------------------------------


def test_each_grid_point_is_answered_as_if_asked_alone():
    whole = pd_of(wiggly, quantiles=[0.5])
    for i, value in enumerate(GRID):
        alone = pd_of(wiggly, grid=[value], quantiles=[0.5])
        assert alone.average[0, 0] == whole.average[0, i]
        assert alone.std[0, 0] == whole.std[0, i]
        assert alone.quantiles[0.5][0, 0] == whole.quantiles[0.5][0, i]


def test_the_order_of_grid_values_is_kept():
    order = RNG.permutation(len(GRID))
    np.testing.assert_array_equal(pd_of(wiggly, grid=GRID[order]).average, pd_of(wiggly).average[:, order])


def test_swapping_features_transposes_the_surface():
    ex = Explainer(wiggly, X)
    one = ex.partial_dependence(0, 1, grid=[GRID, GRID[:4]], spread=True)
    other = ex.partial_dependence(1, 0, grid=[GRID[:4], GRID], spread=True)
    np.testing.assert_allclose(one.average[0], other.average[0].T, **EXACT)
    np.testing.assert_allclose(one.std[0], other.std[0].T, **EXACT)


def test_a_surface_at_one_value_is_the_curve_of_the_other_feature_there():
    ex = Explainer(wiggly, X)
    fixed = X.copy()
    fixed[:, 1] = 0.4
    slice_of_surface = ex.partial_dependence(0, 1, grid=[GRID, [0.4]]).average[0, :, 0]
    np.testing.assert_allclose(slice_of_surface, pd_of(wiggly, fixed).average[0], **EXACT)


def test_averaging_a_surface_over_the_rows_values_gives_the_curve_under_independence():
    """On a full factorial design the columns are independent, so averaging out is exact."""
    design = np.array([[a, b, 0.0, 0.0] for a in (-1.0, 0.0, 2.0) for b in (-1.0, 0.5)])
    ex = Explainer(wiggly, design)
    surface = ex.partial_dependence(0, 1, grid=[[-1.0, 0.0, 2.0], [-1.0, 0.5]]).average[0]
    curve = ex.partial_dependence(0, grid=[-1.0, 0.0, 2.0]).average[0]
    np.testing.assert_allclose(surface.mean(axis=1), curve, **EXACT)


def test_names_and_positions_mean_the_same():
    frame = pd.DataFrame(X, columns=list("abcd"))
    ex = Explainer(lambda rows: wiggly(rows.to_numpy()), frame)
    np.testing.assert_array_equal(
        ex.partial_dependence("c", grid=GRID).average, ex.partial_dependence(2, grid=GRID).average
    )


def test_asking_for_everything_at_once_is_asking_one_by_one():
    ex = Explainer(two, X)
    for feature, effect in ex.effects(spread=True).items():
        alone = ex.partial_dependence(feature)
        np.testing.assert_array_equal(effect.average, alone.average)
        np.testing.assert_array_equal(effect.std, alone.std)
    for pair, effect in ex.effects(order=2, grid=3).items():
        np.testing.assert_array_equal(effect.average, ex.partial_dependence(*pair, grid=3).average)


def test_choosing_all_rows_is_choosing_none():
    ex = Explainer(wiggly, X)
    for rows in (N, np.arange(N), np.ones(N, dtype=bool)):
        np.testing.assert_array_equal(
            ex.partial_dependence(0, grid=GRID, rows=rows).average,
            ex.partial_dependence(0, grid=GRID).average,
        )


def test_kept_curves_do_not_change_the_average():
    ex = Explainer(wiggly, X)
    few, plain = ex.ice(0, grid=GRID, rows=[3, 5]), ex.partial_dependence(0, grid=GRID)
    np.testing.assert_array_equal(few.average, plain.average)
    np.testing.assert_array_equal(few.std, plain.std)


def test_a_one_hot_group_is_the_category_it_encodes():
    levels = np.array(["C", "Q", "S"])[RNG.integers(0, 3, N)]
    hot = pd.get_dummies(pd.Series(levels), prefix="port", dtype=float).assign(x=X[:, 0])
    plain = pd.DataFrame({"port": levels, "x": X[:, 0]})

    def by_level(frame):
        return frame["x"].to_numpy() * frame["port"].map({"C": 1.0, "Q": -2.0, "S": 0.5}).to_numpy()

    def by_column(frame):
        return (
            frame["x"].to_numpy() * (frame["port_C"] - 2 * frame["port_Q"] + 0.5 * frame["port_S"]).to_numpy()
        )

    group = Explainer(by_column, hot).partial_dependence({"port": ["port_C", "port_Q", "port_S"]})
    category = Explainer(by_level, plain).partial_dependence("port")
    assert group.grid[0].tolist() == category.grid[0].tolist()
    np.testing.assert_allclose(group.average, category.average, **EXACT)
    np.testing.assert_array_equal(group.weight, category.weight)


# --- views of an effect --------------------------------------------------------------------------


def test_centring_is_idempotent_and_forgets_constants():
    ex = Explainer(wiggly, X)
    once = ex.ice(0, grid=GRID).center()
    np.testing.assert_allclose(once.center().average, once.average, **EXACT)
    shifted = Explainer(lambda rows: wiggly(rows) + rows[:, 1] * 100, X).ice(0, grid=GRID).center()
    np.testing.assert_allclose(shifted.individual, once.individual, atol=1e-10)
    assert not once.individual[:, :, 0].any()


def test_the_centred_average_is_the_average_of_the_centred_curves():
    centred = Explainer(wiggly, X).ice(0, grid=GRID).center(at=0.5)
    np.testing.assert_allclose(centred.individual.mean(axis=1), centred.average, **EXACT)


def test_the_slope_of_the_average_is_the_average_of_the_slopes():
    slope = Explainer(wiggly, X).ice(0, grid=GRID).derivative()
    np.testing.assert_allclose(slope.individual.mean(axis=1), slope.average, **EXACT)


def test_the_slope_of_a_parabola_inside_an_even_grid_is_exact():
    slope = pd_of(lambda rows: rows[:, 0] ** 2 + rows[:, 1]).derivative()
    np.testing.assert_allclose(slope.average[0, 1:-1], 2 * GRID[1:-1], **EXACT)


def test_the_weights_of_grid_points_sum_to_the_data():
    weights = RNG.random(N)
    assert pd_of(wiggly, weights=weights, grid=None).weight.sum() == pytest.approx(weights.sum(), rel=1e-12)
    assert pd_of(wiggly, X, 0, 3, grid=5).weight.sum() == N


# --- libraries -----------------------------------------------------------------------------------


def as_matrix(rows):
    if isinstance(rows, pa.Table):
        return np.column_stack([column.to_numpy() for column in rows.columns])
    return np.asarray(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_give_the_numbers_of_arrays(library):
    frame = pd.DataFrame(X, columns=list("abcd"))
    given_as = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.Table.from_pandas(frame)}
    ex = Explainer(lambda rows: two(as_matrix(rows)), given_as[library], by=X[:, 3].astype(int))
    reference = Explainer(two, X, by=X[:, 3].astype(int))
    for names, positions in ((("a",), (0,)), (("d",), (3,)), (("a", "b"), (0, 1))):
        effect = ex.partial_dependence(*names, individual=True, quantiles=[0.2])
        expected = reference.partial_dependence(*positions, individual=True, quantiles=[0.2])
        for mine, theirs in zip(effect.grid, expected.grid):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(effect.average, expected.average)
        np.testing.assert_array_equal(effect.individual, expected.individual)
        np.testing.assert_array_equal(effect.quantiles[0.2], expected.quantiles[0.2])
        for label, group in effect.groups.items():
            np.testing.assert_array_equal(group.average, expected.groups[label].average)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_the_callers_rows_are_never_changed(library):
    frame = pd.DataFrame(X, columns=list("abcd"))
    data = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame),
        "numpy": X.copy(),
    }[library]
    ex = Explainer(lambda rows: two(as_matrix(rows)), data, by=3)
    ex.ice(0, 1, grid=3)
    ex.effects(order=2, grid=2)
    np.testing.assert_array_equal(as_matrix(data), X)


def test_the_law_book_is_long_enough():
    laws = [name for name in globals() if name.startswith("test_")]
    assert len(laws) - 1 >= 25
