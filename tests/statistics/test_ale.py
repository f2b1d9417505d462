"""ALE against closed forms and against a plain transcription of Apley & Zhu's definitions."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield import Effect, Explainer, validate
from icefield.data.distribution import weighted_quantiles
from icefield.errors import EngineError

EXACT = {"rtol": 1e-11, "atol": 1e-11}


def wiggly(rows):
    a, b, c = (np.asarray(rows)[:, i].astype(float) for i in range(3))
    return np.sin(2 * a) * b + np.abs(c) * (a > 0.3) + a**2


@pytest.fixture
def data(rng):
    X = rng.normal(size=(120, 3))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    X[:, 0] = np.round(X[:, 0], 1)  # ties
    return X


def plain_first_order(f, X, j, bins, weights):
    """Equation by equation: one bin after the other."""
    edges = np.unique(weighted_quantiles(X[:, j], np.linspace(0, 1, bins + 1), weights))
    mean_change, mass = [], []
    for k in range(1, len(edges)):
        inside = (X[:, j] > edges[k - 1]) & (X[:, j] <= edges[k])
        if k == 1:
            inside |= X[:, j] == edges[0]
        low, high = X[inside].copy(), X[inside].copy()
        low[:, j], high[:, j] = edges[k - 1], edges[k]
        mean_change.append(np.average(f(high) - f(low), weights=weights[inside]))
        mass.append(weights[inside].sum())
    curve = np.concatenate([[0.0], np.cumsum(mean_change)])
    middle = (curve[1:] + curve[:-1]) / 2
    return edges, curve - np.average(middle, weights=mass), np.array([0.0, *mass])


@pytest.mark.parametrize("bins", [1, 4, 17, 40])
def test_first_order_follows_the_definition(data, bins):
    edges, curve, mass = plain_first_order(wiggly, data, 0, bins, np.ones(len(data)))
    effect = Explainer(wiggly, data).ale(0, bins=bins)
    assert effect.kind == "ale"
    np.testing.assert_array_equal(effect.grid[0], edges)
    np.testing.assert_allclose(effect.average[0], curve, **EXACT)
    np.testing.assert_array_equal(effect.weight, mass)


def test_linear_model_gives_its_own_line(data):
    effect = Explainer(lambda rows: 3 * rows[:, 0] - 2 * rows[:, 1], data).ale(0)
    slope = np.diff(effect.average[0]) / np.diff(effect.grid[0])
    np.testing.assert_allclose(slope, 3.0, **EXACT)


def test_an_additive_model_errs_by_its_centring_alone(rng):
    """Every change is the same for all rows; what is subtracted is a mean over rows all the same."""
    x = rng.normal(size=500)
    edges = np.linspace(-5, 5, 1001)  # narrow: a bin's middle is its rows' own value
    effect = Explainer(lambda rows: 3 * rows[:, 0] - 2 * rows[:, 1], np.column_stack([x, x**2])).ale(
        0, bins=edges
    )
    np.testing.assert_allclose(
        effect.se[0][np.isfinite(effect.se[0])], 3 * x.std(ddof=1) / np.sqrt(500), rtol=0.01
    )


def test_additive_model_gives_the_function_up_to_a_constant(data):
    effect = Explainer(lambda rows: np.exp(rows[:, 0]) + rows[:, 1] ** 2, data).ale(0)
    expected = np.exp(effect.grid[0])
    np.testing.assert_allclose(effect.average[0] - effect.average[0, 0], expected - expected[0], **EXACT)


def test_does_not_extrapolate_where_partial_dependence_does(rng):
    x = rng.uniform(0, 1, 400)
    X = np.column_stack([x, x + rng.normal(0, 0.01, 400)])

    def wild_off_the_data(rows):
        return rows[:, 0] + rows[:, 1] + 50.0 * (np.abs(rows[:, 0] - rows[:, 1]) > 0.3) * rows[:, 0]

    ex = Explainer(wild_off_the_data, X)
    ale, pd_effect = ex.ale(0, bins=20), ex.partial_dependence(0)
    slope = np.diff(ale.average[0]) / np.diff(ale.grid[0])
    np.testing.assert_allclose(slope, 1.0, atol=1e-9)
    assert np.ptp(pd_effect.average) > 10


def test_a_weight_of_two_is_a_duplicated_row(data):
    weights = np.arange(len(data)) % 3
    one = Explainer(wiggly, data, weights=weights).ale(0, bins=9)
    two = Explainer(wiggly, np.repeat(data, weights, axis=0)).ale(0, bins=9)
    np.testing.assert_array_equal(one.grid[0], two.grid[0])
    np.testing.assert_allclose(one.average, two.average, **EXACT)
    np.testing.assert_allclose(one.weight, two.weight, **EXACT)
    np.testing.assert_allclose(one.se, two.se, rtol=1e-12)


def centred_curve(f, X, j, edges, weights):
    """The curve alone, of rows inside the edges: what the standard error is a standard error of."""
    weights = weights * ((X[:, j] >= edges[0]) & (X[:, j] <= edges[-1]))
    at = np.clip(np.searchsorted(edges, X[:, j], side="left") - 1, 0, len(edges) - 2)
    low, high = X.copy(), X.copy()
    low[:, j], high[:, j] = edges[at], edges[at + 1]
    total = np.bincount(at, weights, minlength=len(edges) - 1)
    change = np.bincount(at, weights * (f(high) - f(low)), minlength=len(edges) - 1) / total
    curve = np.concatenate([[0.0], np.cumsum(change)])
    return curve - (total @ (curve[1:] + curve[:-1])) / 2 / total.sum()


@pytest.mark.parametrize("how", ["plain", "weights", "clusters", "both"])
def test_standard_error_is_the_jackknifes(how):
    """Leaving out one observation after another (Quenouille, Tukey) knows nothing of the formula."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    people = np.repeat(np.arange(80), 5)
    X[:, 1] += rng.normal(size=80)[people]
    weights = rng.uniform(0.5, 3.0, 400) if how in ("weights", "both") else np.ones(400)
    clusters = people if how in ("clusters", "both") else np.arange(400)
    edges = np.array([-1.5, -0.5, 0.5, 1.5])
    given = {"weights": weights} if how in ("weights", "both") else {}
    effect = Explainer(wiggly, X, cluster=people if how in ("clusters", "both") else None, **given).ale(
        0, bins=edges
    )
    inside = np.unique(clusters[np.abs(X[:, 0]) <= 1.5])
    left_out = np.stack([centred_curve(wiggly, X, 0, edges, weights * (clusters != c)) for c in inside])
    expected = np.sqrt(
        (len(inside) - 1) / len(inside) * np.square(left_out - left_out.mean(axis=0)).sum(axis=0)
    )
    np.testing.assert_allclose(effect.se[0], expected, rtol=0.03)


def test_rows_drawn_from_known_ones_err_against_those(data):
    ex = Explainer(wiggly, data)
    drawn = ex.ale(0, bins=[-3.0, 0.0, 3.0], rows=100)
    given = ex.ale(0, bins=[-3.0, 0.0, 3.0], rows=validate.row_positions(100, len(data), 0))
    np.testing.assert_allclose(drawn.se, np.sqrt(1 - 100 / len(data)) * given.se, rtol=1e-12)
    assert (drawn.sampled_from, given.sampled_from) == (len(data), 0)


def test_standard_error_is_that_of_the_mean_changes_and_of_the_centring(rng):
    X = rng.normal(size=(600, 2))
    effect = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X).ale(0, bins=[-1.0, 0.0, 1.0])
    inside = np.abs(X[:, 0]) <= 1
    left, right = X[inside & (X[:, 0] <= 0), 1], X[inside & (X[:, 0] > 0), 1]
    variances = [part.var(ddof=1) / len(part) for part in (left, right)]
    total = len(left) + len(right)
    # The curve is (0, d1, d1 + d2) less its mean d1 (n1 / 2 + n2) / n + d2 (n2 / 2) / n.
    share = [(len(left) / 2 + len(right)) / total, len(right) / 2 / total]
    # Which half a row lies in decides by how much it is below or above that mean.
    halves = (left.mean() / 2, left.mean() + right.mean() / 2)
    centring = np.repeat(halves, (len(left), len(right))).var(ddof=1) / total
    expected = [
        np.sqrt(sum((a - c) ** 2 * v for a, c, v in zip(steps, share, variances)) + centring)
        for steps in ((0, 0), (1, 0), (1, 1))
    ]
    np.testing.assert_allclose(effect.se[0], expected, rtol=1e-10)


def test_several_outputs_and_groups(data):
    group = np.where(data[:, 2] > 0, "up", "down")
    ex = Explainer(lambda rows: np.column_stack([wiggly(rows), rows[:, 0]]), data, by=group)
    effect = ex.ale(0, bins=6)
    assert effect.average.shape == (2, len(effect.grid[0]))
    assert set(effect.groups) == {"up", "down"}
    for label, own in effect.groups.items():
        alone = Explainer(wiggly, data[group == label]).ale(0, bins=effect.grid[0])
        known = np.isfinite(own.average[0])
        np.testing.assert_allclose(own.average[0][known], alone.average[0][known], **EXACT)
        assert own.n_rows == (group == label).sum()


def test_group_says_nothing_outside_its_range(rng):
    X = rng.uniform(0, 1, size=(200, 2))
    effect = Explainer(lambda r: r[:, 0], X, by=np.where(X[:, 0] > 0.5, "high", "low")).ale(0, bins=10)
    high = effect.groups["high"].average[0]
    assert np.isnan(high[effect.grid[0] < 0.4]).all()
    assert np.isfinite(high[effect.grid[0] > 0.55]).all()


def plain_levels(f, frame, order, weights):
    """Mean change between neighbouring levels over the rows of both, accumulated and centred."""
    codes = np.array([order.index(v) for v in frame["level"]])
    curve = [0.0]
    for k in range(len(order) - 1):
        inside = (codes == k) | (codes == k + 1)
        part = frame[inside]
        change = f(part.assign(level=order[k + 1])) - f(part.assign(level=order[k]))
        curve.append(curve[-1] + np.average(change, weights=weights[inside]))
    return np.array(curve) - np.average(np.array(curve)[codes], weights=weights)


def level_model(frame):
    frame = pd.DataFrame(frame) if not isinstance(frame, pd.DataFrame) else frame
    value = frame["level"].astype(object).map({"a": 0.0, "b": 1.0, "c": 3.0, "d": -2.0}).to_numpy(float)
    return value * (1 + frame["x"].to_numpy(float)) + frame["x"].to_numpy(float)


@pytest.fixture
def frame(rng):
    x = rng.normal(size=200)
    # Levels that follow x in the order c, a, d, b.
    level = np.array(["c", "a", "d", "b"], dtype=object)[
        np.digitize(x + rng.normal(0, 0.3, 200), [-0.7, 0, 0.7])
    ]
    return pd.DataFrame({"level": level, "x": x})


def test_levels_in_given_order_follow_the_definition(frame):
    weights = np.arange(len(frame)) % 3 + 0.5
    effect = Explainer(level_model, frame, weights=weights).ale("level", level_order="given")
    assert effect.grid[0].tolist() == ["a", "b", "c", "d"]
    expected = plain_levels(level_model, frame, ["a", "b", "c", "d"], weights)
    np.testing.assert_allclose(effect.average[0], expected, **EXACT)


def test_levels_are_ordered_by_similarity(frame):
    effect = Explainer(level_model, frame).ale("level")
    order = effect.grid[0].tolist()
    assert order in (["c", "a", "d", "b"], ["b", "d", "a", "c"])
    expected = plain_levels(level_model, frame, order, np.ones(len(frame)))
    np.testing.assert_allclose(effect.average[0], expected, **EXACT)
    assert "similarity" in effect.why


def test_levels_similar_in_another_category(rng):
    level = rng.choice(["p", "q", "r"], 400)
    other = np.where(level == "q", rng.choice(["s", "t"], 400, p=[0.1, 0.9]),
                     np.where(level == "p", rng.choice(["s", "t"], 400, p=[0.9, 0.1]), rng.choice(["s", "t"], 400)))  # fmt: skip
    frame = pd.DataFrame({"level": level, "other": other})
    effect = Explainer(lambda f: (f["level"] == "p").to_numpy(float), frame).ale("level")
    assert effect.grid[0].tolist()[1] == "r"


def test_levels_in_the_users_order(frame):
    effect = Explainer(level_model, frame).ale("level", level_order=["d", "c", "b", "a"])
    assert effect.grid[0].tolist() == ["d", "c", "b", "a"]


def test_standard_error_of_levels_counts_shared_rows(rng):
    """Against the spread over many samples: neighbouring steps share the rows of the level between them."""
    curves, errors = [], []
    for _ in range(100):
        level = rng.choice(["a", "b", "c"], 80)
        frame = pd.DataFrame({"level": level, "x": rng.normal(size=80)})
        effect = Explainer(level_model, frame).ale("level", level_order="given")
        curves.append(effect.average[0])
        errors.append(effect.se[0])
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(curves, axis=0), rtol=0.25)


def plain_second_order(f, X, bins):
    """A transcription for two numbers, with the cell means, accumulation and both corrections."""
    z1, z2 = (np.unique(weighted_quantiles(X[:, j], np.linspace(0, 1, bins + 1), None)) for j in (0, 1))
    a = np.clip(np.searchsorted(z1, X[:, 0]) - 1, 0, len(z1) - 2)
    b = np.clip(np.searchsorted(z2, X[:, 1]) - 1, 0, len(z2) - 2)

    def at(i, j):
        moved = X.copy()
        moved[:, 0], moved[:, 1] = z1[a + i], z2[b + j]
        return f(moved)

    change = at(1, 1) - at(0, 1) - at(1, 0) + at(0, 0)
    shape = (len(z1) - 1, len(z2) - 1)
    count, total = np.zeros(shape), np.zeros(shape)
    np.add.at(count, (a, b), 1)
    np.add.at(total, (a, b), change)
    assert (count > 0).all()
    g = np.zeros((shape[0] + 1, shape[1] + 1))
    g[1:, 1:] = (total / count).cumsum(0).cumsum(1)
    d1 = np.diff(g, axis=0)
    f1 = np.concatenate([[0], np.cumsum((count * (d1[:, 1:] + d1[:, :-1]) / 2).sum(1) / count.sum(1))])
    d2 = np.diff(g, axis=1)
    f2 = np.concatenate([[0], np.cumsum((count * (d2[1:] + d2[:-1]) / 2).sum(0) / count.sum(0))])
    g = g - f1[:, None] - f2[None]
    corners = (g[1:, 1:] + g[:-1, 1:] + g[1:, :-1] + g[:-1, :-1]) / 4
    return g - (count * corners).sum() / count.sum()


def test_second_order_follows_the_definition(data):
    effect = Explainer(wiggly, data).ale(0, 1, bins=3)
    np.testing.assert_allclose(effect.average[0], plain_second_order(wiggly, data, 3), **EXACT)
    assert effect.weight.shape == effect.average.shape[1:]
    assert effect.weight.sum() == len(data)


def test_second_order_of_an_additive_model_is_zero(data):
    effect = Explainer(lambda rows: np.exp(rows[:, 0]) + rows[:, 1] ** 2, data).ale(0, 1)
    np.testing.assert_allclose(effect.average, 0.0, atol=1e-9)


def test_second_order_of_a_product_bends_as_the_product_even_in_empty_cells(data):
    effect = Explainer(lambda rows: rows[:, 0] * rows[:, 1], data).ale(0, 1, bins=12)
    surface, expected = effect.average[0], np.outer(*effect.grid)
    np.testing.assert_allclose(
        np.diff(np.diff(surface, axis=0), axis=1), np.diff(np.diff(expected, axis=0), axis=1), atol=1e-10
    )


def test_second_order_with_a_category(frame):
    effect = Explainer(level_model, frame).ale("level", "x", bins=4)
    assert effect.average.shape == (1, 4, 5)
    slope = dict(zip(effect.grid[0].tolist(), (effect.average[0, :, -1] - effect.average[0, :, 0])))
    # Slopes along x differ between levels as the levels' values do.
    span = effect.grid[1][-1] - effect.grid[1][0]
    values = {"a": 0.0, "b": 1.0, "c": 3.0, "d": -2.0}
    for left, right in zip(effect.grid[0].tolist(), effect.grid[0].tolist()[1:]):
        assert slope[right] - slope[left] == pytest.approx((values[right] - values[left]) * span)


def test_second_order_weights_and_outputs(data):
    weights = np.arange(len(data)) % 3
    model = lambda rows: np.column_stack([wiggly(rows), 2 * wiggly(rows)])  # noqa: E731
    one = Explainer(model, data, weights=weights).ale(0, 1, bins=3)
    two = Explainer(model, np.repeat(data, weights, axis=0)).ale(0, 1, bins=3)
    np.testing.assert_allclose(one.average, two.average, **EXACT)
    np.testing.assert_allclose(one.average[1], 2 * one.average[0], **EXACT)


def test_missing_and_infinite_rows_take_no_part(data):
    dirty = np.vstack([data, [[np.nan, 1.0, 1.0], [np.inf, 0.0, 0.0], [-np.inf, 0.0, 0.0]]])
    model = lambda rows: wiggly(np.where(np.isfinite(rows), rows, 0.0))  # noqa: E731
    one, two = Explainer(model, dirty).ale(0, bins=7), Explainer(model, data).ale(0, bins=7)
    np.testing.assert_allclose(one.average, two.average, **EXACT)
    assert one.n_rows == len(data)
    assert "3 rows" in one.why


def test_every_library_gives_the_same(data):
    names = ["a", "b", "c"]
    frame = pd.DataFrame(data, columns=names)
    model = lambda rows: wiggly(np.asarray(rows if not isinstance(rows, pa.Table) else rows.to_pandas()))  # noqa: E731
    base = Explainer(wiggly, data).ale(0, bins=8).average
    for table in (frame, pl.DataFrame(frame), pa.Table.from_pandas(frame)):
        np.testing.assert_array_equal(Explainer(model, table).ale("a", bins=8).average, base)


def test_integers_dates_and_booleans_keep_their_dtype(rng):
    frame = pd.DataFrame({
        "whole": rng.integers(0, 30, 100),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, 100), "D"),
        "flag": rng.random(100) < 0.4,
    })  # fmt: skip

    def model(f):
        assert f["whole"].dtype.kind == "i"
        days = (f["day"] - pd.Timestamp("2020-01-01")).dt.days
        return (f["whole"] + days + f["flag"]).to_numpy(float)

    ex = Explainer(model, frame)
    assert ex.ale("whole").grid[0].dtype.kind == "i"
    day = ex.ale("day", bins=5)
    assert day.grid[0].dtype.kind == "M"
    np.testing.assert_allclose(np.diff(day.average[0]), np.diff(day.grid[0]) / np.timedelta64(1, "D"))
    flag = ex.ale("flag")
    assert flag.grid[0].tolist() == [False, True]
    assert flag.average[0, 1] - flag.average[0, 0] == pytest.approx(1.0)


def test_one_hot_group(rng):
    hot = np.eye(3)[rng.integers(0, 3, 90)]
    frame = pd.DataFrame(np.column_stack([hot, rng.normal(size=90)]), columns=["k_a", "k_b", "k_c", "x"])
    model = lambda f: (2 * f["k_b"] + 5 * f["k_c"] + f["x"]).to_numpy()  # noqa: E731
    effect = Explainer(model, frame).ale({"k": ["k_a", "k_b", "k_c"]}, level_order="given")
    np.testing.assert_allclose(np.diff(effect.average[0]), [2.0, 3.0], **EXACT)


def test_constant_column_has_no_effect(rng):
    X = np.column_stack([np.ones(20), rng.normal(size=20)])
    effect = Explainer(lambda rows: rows.sum(axis=1), X).ale(0)
    assert effect.average.tolist() == [[0.0]]
    assert Explainer(lambda rows: rows.sum(axis=1), X).ale(0, 1).average.shape[1] == 1


def test_rows_and_saving(data, tmp_path):
    effect = Explainer(wiggly, data).ale(0, rows=50)
    assert effect.n_rows == 50
    effect.save(tmp_path / "ale.zip")
    np.testing.assert_array_equal(Effect.load(tmp_path / "ale.zip").average, effect.average)


def test_wrong_arguments(data, complains):
    ex = Explainer(wiggly, data)
    with complains("features", "one or two", error=ValueError):
        ex.ale(0, 1, 2)
    with complains("bins", "at least 1"):
        ex.ale(0, bins=0)
    with complains("bins", "two edges"):
        ex.ale(0, bins=[1.0])
    with complains("bins", "2 entries"):
        ex.ale(0, 1, bins=[1, 2, 3])
    with complains("level_order", "similarity", error=TypeError):
        ex = Explainer(lambda f: f["b"].to_numpy(float), pd.DataFrame({"a": list("xyzx"), "b": range(4)}))
        ex.ale("a", level_order="alphabet")
    with complains("level_order", "levels of"):
        ex.ale("a", level_order=["x", "nowhere"])


# --- by the model's trees ---------------------------------------------------------------------------


def tree_models(rng):
    """Fitted tree models with categories, missing values, links and several outputs."""
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier

    numbers = rng.normal(size=(300, 3))
    y = numbers[:, 0] * numbers[:, 1] + numbers[:, 2]
    numbers[rng.random(300) < 0.1, 2] = np.nan
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    frame["k"] = pd.Categorical(rng.choice(["u", "v", "w"], 300))
    y = y + (frame["k"] == "v")
    three = np.digitize(y, [-0.5, 1.0])
    quiet = {"n_estimators": 12, "num_leaves": 6, "verbose": -1, "n_jobs": 1}
    yield LGBMRegressor(**quiet).fit(frame, y), frame, {}
    yield LGBMClassifier(**quiet).fit(frame, three), frame, {"by": "k"}
    yield LGBMClassifier(**quiet).fit(frame, three), frame, {"scale": "raw", "target": 2}
    hist = HistGradientBoostingRegressor(max_iter=8, categorical_features="from_dtype")
    yield hist.fit(frame, y), frame, {"weights": rng.uniform(size=300)}
    forest = RandomForestClassifier(n_estimators=8, max_depth=4, random_state=0)
    known = frame[["a", "b"]].assign(c=frame["c"].fillna(0.0))
    yield forest.fit(known, three), known, {"target": "all"}


def test_trees_and_the_model_itself_agree(rng):
    for model, X, options in tree_models(rng):
        trees = Explainer(model, X, engine="trees", **options)
        brute = Explainer(model, X, engine="brute", **options)
        for features in (("a",), ("c",), ("a", "b"), *((("k",), ("k", "c")) if "k" in X else ())):
            mine, other = trees.ale(*features, bins=7), brute.ale(*features, bins=7)
            assert (mine.engine, other.engine) == ("trees", "brute")
            np.testing.assert_allclose(mine.average, other.average, rtol=0, atol=1e-12)
            if mine.se is not None:
                np.testing.assert_allclose(mine.se, other.se, rtol=0, atol=1e-12)
            assert list(mine.groups) == list(other.groups)
            for label in mine.groups:
                np.testing.assert_allclose(
                    mine.groups[label].average, other.groups[label].average, rtol=0, atol=1e-12
                )


def test_values_the_trees_do_not_know_are_left_to_the_model(rng):
    from lightgbm import LGBMRegressor

    X = pd.DataFrame({"a": rng.integers(0, 50, 400), "b": rng.normal(size=400)})
    model = LGBMRegressor(n_estimators=4, verbose=-1, n_jobs=1).fit(X, X["a"] * X["b"])
    X.loc[380, "a"] = 2**60 + 1  # some libraries round such a number twice
    explainer = Explainer(model, X)
    assert explainer.plan.engine.name == "trees"
    found = explainer.ale("b", bins=5)
    assert found.engine == "brute"
    assert "brute force here, because column 'a'" in found.why
    with pytest.raises(EngineError, match="engine='trees' cannot be used"):
        Explainer(model, X, engine="trees").ale("b")
    np.testing.assert_array_equal(found.average, Explainer(model, X, engine="brute").ale("b", bins=5).average)


def test_many_rows_are_moved_in_parts(data, monkeypatch):
    from lightgbm import LGBMRegressor

    from icefield.engines.brute import moved_rows as placing

    model = LGBMRegressor(n_estimators=5, num_leaves=5, verbose=-1, n_jobs=1).fit(data, data[:, 0])
    whole = Explainer(model, data, engine="brute").ale(0, bins=6)
    monkeypatch.setattr(placing, "ROWS_PER_CALL", 17)
    parts = Explainer(model, data, engine="brute").ale(0, bins=6)
    np.testing.assert_array_equal(parts.average, whole.average)


def test_many_empty_cells_take_bounded_memory(rng):
    X = rng.normal(size=(3000, 2))
    ex = Explainer(lambda r: r[:, 0] * r[:, 1], X)
    tracemalloc.start()
    found = ex.ale(0, 1, bins=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert np.isfinite(found.average).all()
