"""Support: it must see what the data does not show, and stay silent where it does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Effect, Explainer
from icefield.statistics.row_space import Surroundings
from icefield.statistics.support import with_support


def supported(X, feature, model=lambda r: np.asarray(r)[:, 0].astype(float), **options):
    ex = Explainer(model, X)
    return with_support(ex.study, ex.partial_dependence(feature, grid=20), **options).support


def pair(rng, rho, n=500, extra=2):
    X = rng.normal(size=(n, 2 + extra))
    X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
    return X


def test_independent_features_are_supported_everywhere(rng):
    found = supported(pair(rng, 0.0, extra=6), 0)
    assert found.outside < 0.02
    assert not found.low.any()
    assert not found.doubtful
    assert found.warning == ""
    assert found.related == ()


@pytest.mark.parametrize("times", [2, 5, 20])
def test_copies_of_rows_are_not_their_neighbours(rng, times):
    X = rng.normal(size=(200, 4))
    X[:, 1] = 0.3 * X[:, 0] + np.sqrt(1 - 0.3**2) * X[:, 1]
    X = np.repeat(X, times, axis=0)
    months = np.column_stack([X, np.tile(np.arange(times), 200)])  # the same people at several times
    for data in (X, months):
        ex = Explainer(lambda r: r[:, 0] + r[:, 1] + r[:, 2], data)
        for feature in range(data.shape[1]):
            support = ex.partial_dependence(feature, support=True).support
            assert not support.doubtful, (times, feature, support.outside)


@pytest.mark.parametrize("strange", [np.inf, -np.inf, 1e308])
def test_an_infinite_value_does_not_make_all_others_strange(rng, strange):
    X = rng.normal(size=(300, 2))
    X[0, 0], X[1, 0] = strange, -1e308
    ex = Explainer(lambda r: np.nan_to_num(np.clip(r[:, 0], -3, 3)) + r[:, 1], X)
    for feature in (0, 1):
        assert ex.partial_dependence(feature, support=True).support.outside < 0.05


def test_a_column_without_values_still_has_support(rng):
    X = pd.DataFrame({"gone": np.full(50, np.nan), "x": rng.normal(size=50)})
    effect = Explainer(lambda r: r["x"].to_numpy(), X).partial_dependence("gone", support=True)
    assert effect.support.disagreement is None


def test_values_that_follow_from_a_level_are_not_copies(rng):
    place = rng.integers(0, 60, 900)
    X = pd.DataFrame(
        {"place": place.astype(str), "distance": rng.permutation(60)[place] * 1.5, "x": rng.normal(size=900)}
    )
    ex = Explainer(lambda r: r["distance"].to_numpy() + r["x"].to_numpy(), X)
    assert ex.partial_dependence("distance", support=True).support.doubtful
    assert not ex.partial_dependence("x", support=True).support.doubtful


def test_strong_correlation_is_not(rng):
    found = supported(pair(rng, 0.95, extra=6), 0)
    assert found.doubtful
    assert found.correlation == pytest.approx(0.95, abs=0.03)
    assert found.related[0][0] == 1
    assert "associated with 1" in found.warning
    middle = len(found.share) // 2
    assert found.share[0] < found.share[middle] > found.share[-1]
    assert found.low[0]


def test_more_correlation_is_less_support(rng):
    outside = [supported(pair(rng, rho), 0).outside for rho in (0.0, 0.5, 0.8, 0.9, 0.99)]
    assert outside == sorted(outside)


def test_dependence_without_correlation_is_seen(rng):
    angle = rng.uniform(0, 2 * np.pi, 500)
    ring = np.column_stack([np.cos(angle), np.sin(angle), rng.normal(size=500)])
    ring[:, :2] += 0.1 * rng.normal(size=(500, 2))
    found = supported(ring, 0)
    assert found.doubtful
    assert abs(np.corrcoef(ring[:, 0], ring[:, 1])[0, 1]) < 0.1
    assert not supported(ring, 2).doubtful


def test_sum_of_many_features_is_seen_though_no_single_one_tells(rng):
    X = rng.normal(size=(600, 21))
    X[:, 0] = X[:, 1:].sum(axis=1) / np.sqrt(20) + 0.05 * X[:, 0]
    found = supported(X, 0)
    assert found.related == ()
    assert found.correlation > 0.9
    assert found.doubtful


def test_scales_and_outliers_do_not_matter(rng):
    X = pair(rng, 0.9)
    stretched = np.column_stack([np.exp(3 * X[:, 0]), -1e6 * X[:, 1] ** 3, X[:, 2:]])
    one = supported(X, 0)
    ex = Explainer(lambda r: r[:, 0], stretched)
    grid = np.exp(3 * Explainer(lambda r: r[:, 0], X).partial_dependence(0, grid=20).grid[0])
    two = with_support(ex.study, ex.partial_dependence(0, grid=grid)).support
    np.testing.assert_allclose(one.share, two.share, atol=0.03)


def test_levels_that_occur_only_with_certain_values(rng):
    x = rng.normal(size=500)
    tied = pd.DataFrame({"x": x, "k": np.where(x > 0, "high", "low"), "z": rng.normal(size=500)})
    free = tied.assign(k=rng.choice(["high", "low"], 500))
    model = lambda f: (f["k"] == "high").to_numpy(float)  # noqa: E731
    found = supported(tied, "k", model)
    assert found.doubtful
    np.testing.assert_allclose(found.share, 0.5, atol=0.1)
    assert not supported(free, "k", model).doubtful


def test_missing_point_and_dates(rng):
    frame = pd.DataFrame({
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(300), "D"),
        "x": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
    })  # fmt: skip
    model = lambda f: f["x"].fillna(0).to_numpy()  # noqa: E731
    ex = Explainer(model, frame)
    effect = with_support(ex.study, ex.partial_dependence("x", grid=10))
    assert effect.support.share.shape == effect.grid[0].shape
    assert not effect.support.doubtful
    day = with_support(ex.study, ex.partial_dependence("day", grid=10)).support
    assert not day.doubtful


@pytest.mark.parametrize("rows", [60, 200])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_holes_of_each_column_by_itself_leave_the_data(rng, rows, share):
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["x", "y", "z"])
    frame["k"] = rng.choice(["a", "b"], rows)
    frame = frame.mask(rng.random(frame.shape) < share)
    model = lambda f: f["x"].fillna(0).to_numpy()  # noqa: E731
    assert [name for name in frame if supported(frame, name, model).doubtful] == []


@pytest.mark.parametrize("rows", [100, 300])
def test_columns_that_are_missing_together_cannot_be_known_apart(rng, rows):
    """A value beside a hole that it never stands beside is no data: true of as many rows as are without both."""
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["x", "y", "z"])
    frame.loc[rng.permutation(rows)[: round(0.3 * rows)], ["x", "y"]] = np.nan
    model = lambda f: f["z"].to_numpy()  # noqa: E731
    for name, other in (("x", "y"), ("y", "x")):
        found = supported(frame, name, model)
        assert found.doubtful
        assert found.outside == pytest.approx(0.3, abs=0.06)
        assert found.related[0][0] == other
    assert not supported(frame, "z", model).doubtful


def test_a_grid_beyond_the_data_is_unsupported(rng):
    ex = Explainer(lambda r: r[:, 0], pair(rng, 0.0))
    share = with_support(ex.study, ex.partial_dependence(0, grid=[0.0, 50.0])).support.share
    assert share[0] > 0.95
    assert share[1] == 0.0


def test_surfaces_lack_support_off_the_diagonal(rng):
    ex = Explainer(lambda r: r[:, 0], pair(rng, 0.95))
    effect = with_support(ex.study, ex.partial_dependence(0, 1, grid=7))
    assert effect.support.share.shape == (7, 7)
    assert effect.support.share[0, -1] == 0.0
    assert effect.support.share[3, 3] > 0.9
    assert effect.support.disagreement is None


def test_disagreement_of_pd_and_ale(rng):
    X = pair(rng, 0.97)
    wild = lambda r: r[:, 0] + 20 * (np.abs(r[:, 0] - r[:, 1]) > 1.2) * r[:, 0]  # noqa: E731
    found = supported(X, 0, wild)
    assert found.disagreement[0] > 0.5
    assert found.disagrees
    assert "prefer ALE here" in found.warning
    calm = supported(X, 0, lambda r: r[:, 0] + r[:, 1])
    assert calm.disagreement[0] < 0.05
    assert calm.doubtful
    assert not calm.disagrees
    assert "compare with ALE" in calm.warning


def test_one_hot_group_is_named_as_it_was_asked(rng):
    hot = np.eye(3)[rng.integers(0, 3, 200)]
    frame = pd.DataFrame(np.column_stack([hot, rng.normal(size=200)]), columns=["k_a", "k_b", "k_c", "x"])
    ex = Explainer(lambda f: f["k_a"].to_numpy(), frame)
    group = {"k": ["k_a", "k_b", "k_c"]}
    found = with_support(ex.study, ex.partial_dependence(group), features=[group]).support
    assert found.outside < 0.02


def test_travels_with_the_effect(rng, tmp_path):
    ex = Explainer(lambda r: r[:, 0], pair(rng, 0.9))
    effect = with_support(ex.study, ex.partial_dependence(0, grid=12))
    effect.save(tmp_path / "effect.zip")
    again = Effect.load(tmp_path / "effect.zip").support
    np.testing.assert_array_equal(again.share, effect.support.share)
    assert again.related == effect.support.related
    assert again.warning == effect.support.warning


def test_rows_without_weight_do_not_vouch(rng):
    X = np.vstack([pair(rng, 0.97), rng.normal(size=(500, 4))])
    weights = np.repeat([1.0, 0.0], 500)
    ex = Explainer(lambda r: r[:, 0], X, weights=weights)
    assert with_support(ex.study, ex.partial_dependence(0, grid=15)).support.doubtful


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_contingency_estimates_the_squared_correlation_of_normal_data(rho):
    rng = np.random.default_rng(5)
    x = rng.normal(size=20_000)
    y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=20_000)
    study = Explainer(lambda r: r[:, 0], np.column_stack([x, y])).study
    found = dict(Surroundings(study, np.arange(20_000)).related_to(study.feature(0), {0}))
    # Groups lose some of a strong dependence, never add to it; hardly any dependence is none.
    assert rho**2 - 0.16 < found.get(1, 0.0) < rho**2 + 0.01


# --- asked for with the effect ----------------------------------------------------------------------


@pytest.fixture
def tied(rng):
    a = rng.normal(size=400)
    X = np.column_stack([a, a + 0.05 * rng.normal(size=400), rng.normal(size=400)])
    return Explainer(lambda rows: rows[:, 0] + rows[:, 2], X, row_by_row=True)


@pytest.mark.parametrize("question", ["partial_dependence", "ice"])
def test_support_comes_with_the_effect_when_asked(tied, question):
    ask = getattr(tied, question)
    assert ask(0).support is None
    effect = ask(0, support=True)
    expected = with_support(tied.study, ask(0)).support
    np.testing.assert_array_equal(effect.support.share, expected.share)
    np.testing.assert_array_equal(effect.support.disagreement, expected.disagreement)
    assert effect.support.doubtful
    assert "do not occur in the data" in repr(effect)
    assert "little data at" in repr(effect)
    assert "do not occur in the data" in effect._repr_html_()
    assert "little data" not in repr(ask(2, support=True))
    with pytest.raises(TypeError, match="`support`"):
        ask(0, support="yes")


def test_support_of_surfaces_groups_and_precision(tied):
    surface = tied.partial_dependence(0, 1, grid=8, support=True)
    assert surface.support.low.shape == (8, 8)
    assert surface.support.low[0, -1]
    assert not surface.support.low[4, 4]
    assert tied.partial_dependence(0, precision=0.5, support=True).support.doubtful
    hot = pd.DataFrame({"k_a": [1.0, 0.0] * 50, "k_b": [0.0, 1.0] * 50, "x": np.arange(100.0)})
    grouped = Explainer(lambda f: f["k_a"].to_numpy() + f["x"].to_numpy(), hot)
    assert grouped.partial_dependence({"k": ["k_a", "k_b"]}, support=True).support.share.shape == (2,)


def test_training_counts_have_no_support(rng):
    from lightgbm import LGBMRegressor

    X = rng.normal(size=(100, 2))
    model = LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="support"):
        Explainer(model, X, background="training").partial_dependence(0, support=True)


def test_pictures_fade_where_there_is_little_data(tied, rng):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    a = rng.normal(size=400)  # its other column follows it above zero only
    X = np.column_stack([a, np.where(a > 0, a, 3 * rng.uniform(-1, 1, size=400)), rng.normal(size=400)])
    partly = Explainer(lambda rows: rows[:, 0] + rows[:, 2], X, row_by_row=True)
    for ex, differs, said in (
        (partly, True, "faint: little data"),
        (tied, False, "little data behind all of it"),
    ):
        for question in (ex.partial_dependence, ex.ice):
            faint, plain = question(0, support=True), question(0)
            assert faint.support.low.all() != differs
            for backend in ("matplotlib", "plotly"):
                shown = _opacities(faint.plot(backend=backend))
                assert (shown != _opacities(plain.plot(backend=backend))) == differs
            texts = [note.text for note in faint.plot(backend="plotly").layout.annotations]
            assert said in " ".join(texts).replace("<br>", " ")
    plt.close("all")


def _opacities(drawn):
    """Every opacity in a picture, sorted."""
    if hasattr(drawn, "to_plotly_json"):
        lines = [t for t in drawn.data if t.type == "scatter"]
        return sorted((str(t.opacity), str(t.line.color)) for t in lines)
    lines = drawn.get_lines()
    return sorted((str(line.get_alpha()), str(line.get_color()), line.get_linestyle()) for line in lines)


def test_what_surrounds_the_rows_is_worked_out_once_per_study(rng, monkeypatch):
    from icefield.statistics import support

    made = []
    real = support.Surroundings

    def counted(study, rows):
        made.append(len(rows))
        return real(study, rows)

    monkeypatch.setattr(support, "Surroundings", counted)
    X = rng.normal(size=(400, 3))
    ex = Explainer(lambda r: r[:, 0] * np.sign(r[:, 1]) + r[:, 2] * np.sign(r[:, 0]), X)
    ex.summary()
    ex.summary()
    assert len(made) == 1
    assert len(ex.regions(0)) > 1
    assert len(ex.regions(2)) > 1
    assert len(made) == 2  # the rows that everything is said from
    ex.regions(0, rows=200)
    ex.regions(0, rows=200)
    assert len(made) == 4  # rows of one's own are not kept
