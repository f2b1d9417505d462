"""The Explainer's own part: what is read once, what every Effect says about itself, which rows count."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import icefield
from icefield import Explainer, Grid
from icefield.errors import InputError

RNG = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, 80),
        "rooms": RNG.integers(1, 6, 80),
        "sex": pd.Categorical(np.array(["f", "m"])[RNG.integers(0, 2, 80)]),
        "weight": RNG.random(80),
    }
)


def price(rows):
    return rows["age"].to_numpy() * rows["rooms"].to_numpy() + (rows["sex"] == "m").to_numpy() * 5.0


@pytest.fixture
def ex() -> Explainer:
    return Explainer(price, FRAME)


def test_an_effect_says_how_it_came_about(ex):
    effect = ex.partial_dependence("age")
    assert (effect.kind, effect.features, effect.kinds) == ("pd", ("age",), ("float",))
    assert (effect.scale, effect.background, effect.engine) == ("response", "data", "brute")
    assert effect.n_rows == 80
    assert effect.library == "pandas"
    assert effect.why
    assert effect.average.shape == (1, len(effect.grid[0]))
    assert effect.weight.sum() == 80


def test_spread_by_default_for_one_feature_only(ex):
    assert ex.partial_dependence("age", grid=3).std is not None
    assert ex.partial_dependence("age", "rooms", grid=3).std is None
    assert ex.partial_dependence("age", grid=3, spread=False).std is None
    assert ex.partial_dependence("age", "rooms", grid=3, spread=True).se.shape == (1, 3, 3)


def test_the_default_grids_shrink_with_the_number_of_features(ex):
    assert ex.partial_dependence("age", grid=Grid()).average.shape == (1, 80)
    assert 51 <= len(ex.partial_dependence("age").grid[0]) <= 120
    assert ex.partial_dependence("age", "weight").average.shape == (1, 25, 25)
    assert ex.partial_dependence("age", "weight", "rooms").average.shape == (1, 10, 10, 5)


def test_integers_stay_integers_and_categories_categories(ex):
    assert ex.partial_dependence("rooms").grid[0].dtype.kind == "i"
    assert ex.partial_dependence("sex").grid[0].tolist() == ["f", "m"]


def test_the_baseline_is_the_mean_prediction(ex):
    effect = ex.partial_dependence("age", grid=3)
    assert effect.baseline[0] == pytest.approx(price(FRAME).mean(), rel=1e-12)
    assert effect.output_std[0] == pytest.approx(price(FRAME).std(), rel=1e-12)


def test_the_baseline_is_weighted_like_the_curves():
    effect = Explainer(price, FRAME, weights="weight").partial_dependence("age", grid=3)
    expected = np.average(price(FRAME), weights=FRAME["weight"])
    assert effect.baseline[0] == pytest.approx(expected, rel=1e-12)


def test_curves_keep_the_values_of_their_rows(ex):
    effect = ex.ice("age", grid=3, rows=[7, 3])
    assert effect.kind == "ice"
    assert effect.rows.tolist() == [7, 3]
    assert effect.row_values["rooms"].tolist() == FRAME["rooms"].iloc[[7, 3]].tolist()
    replaced = FRAME.iloc[[7, 3]].assign(age=effect.grid[0][0])
    np.testing.assert_array_equal(effect.individual[0, :, 0], price(replaced))


def test_curves_of_chosen_rows_are_named_by_their_place_in_X(ex):
    effect = ex.partial_dependence("age", grid=3, rows=[50, 60], individual=True)
    assert effect.rows.tolist() == [50, 60]
    assert effect.individual.shape == (1, 2, 3)
    np.testing.assert_allclose(effect.individual.mean(axis=1), effect.average, rtol=1e-14)


def test_every_feature_at_once(ex):
    found = ex.effects()
    assert list(found) == list(FRAME.columns)
    assert all(effect.std is None for effect in found.values())


def test_every_pair_at_once(ex):
    found = ex.effects(["age", "rooms", "sex"], order=2, grid=2)
    assert list(found) == [("age", "rooms"), ("age", "sex"), ("rooms", "sex")]


@pytest.mark.parametrize("one", ["age", 0, {"kind": ["a", "b"]}])
def test_a_single_feature_needs_no_list(one):
    hot = FRAME.assign(a=(FRAME["rooms"] > 2).astype(int), b=(FRAME["rooms"] <= 2).astype(int))
    assert len(Explainer(price, hot).effects(one)) == 1


def test_an_array_takes_the_names_the_model_was_fitted_with():
    numbers = FRAME[["age", "rooms"]]
    model = LinearRegression().fit(numbers, price(FRAME))
    effect = Explainer(model, numbers.to_numpy(), engine="brute").partial_dependence("rooms", grid=[1.0, 2.0])
    assert effect.features == ("rooms",)
    assert np.diff(effect.average[0])[0] == pytest.approx(model.coef_[1], rel=1e-9)


def test_columns_for_weights_and_groups_need_not_be_the_models():
    model = LogisticRegression().fit(FRAME[["age", "rooms"]], FRAME["sex"])
    effect = Explainer(model, FRAME, weights="weight", by="sex").partial_dependence("age", grid=3)
    assert effect.outputs == ("m",)
    assert list(effect.groups) == ["f", "m"]
    assert effect.by == "sex"


def test_a_seed_is_a_whole_answer():
    big = pd.concat([FRAME] * 60, ignore_index=True)
    one, same = (Explainer(price, big, seed=5).ice("age", grid=3, rows=4) for _ in range(2))
    assert one.rows.tolist() == same.rows.tolist()
    assert one.baseline.tolist() == same.baseline.tolist()
    assert Explainer(price, big, seed=6).ice("age", grid=3, rows=4).rows.tolist() != one.rows.tolist()


def test_what_is_asked_twice_is_answered_the_same(ex):
    one, two = ex.partial_dependence("age"), ex.partial_dependence("age")
    np.testing.assert_array_equal(one.average, two.average)
    assert one.distribution.marginals[0] is two.distribution.marginals[0]


def test_the_frame_may_change_after_the_answer():
    mine = FRAME.copy()
    effect = Explainer(price, mine).ice("age", grid=3)
    kept = effect.row_values["age"].copy()
    mine["age"] = 0.0
    np.testing.assert_array_equal(effect.row_values["age"], kept)


def test_effects_travel(ex):
    effect = ex.ice("age", grid=3, rows=3, quantiles=[0.5])
    back = pickle.loads(pickle.dumps(effect))
    np.testing.assert_array_equal(back.individual, effect.individual)


def test_the_repr_says_what_is_explained(ex):
    text = repr(ex)
    assert "80 rows" in text
    assert "4 features" in text
    assert repr(icefield.Explainer(LinearRegression().fit(FRAME[["age"]], FRAME["age"]), FRAME[["age"]]))


def test_a_mapping_of_grids_serves_every_feature_it_names() -> None:
    X = np.arange(12.0).reshape(6, 2)
    found = Explainer(lambda rows: rows[:, 0] + rows[:, 1], X).effects(grid={0: [1.0], 1: 3})
    assert found[0].grid[0].tolist() == [1.0]
    assert len(found[1].grid[0]) == 3


@pytest.mark.parametrize(
    "question",
    [
        lambda explainer, **by: explainer.partial_dependence("age", grid=4, **by),
        lambda explainer, **by: explainer.partial_dependence("age", "fare", grid=3, **by),
        lambda explainer, **by: explainer.ice("age", grid=4, rows=3, **by),
        lambda explainer, **by: explainer.ale("age", bins=3, **by),
        lambda explainer, **by: explainer.effects(["age", "fare"], **by)["fare"],
    ],
    ids=["pd", "two-way", "ice", "ale", "effects"],
)
def test_groups_for_one_question_are_those_of_an_explainer(question):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"age": rng.normal(30, 9, 80), "fare": rng.normal(9, 2, 80), "sex": rng.choice(["f", "m"], 80)}
    )

    def model(rows):
        return rows["age"].to_numpy() * rows["fare"].to_numpy()

    plain, grouped = Explainer(model, data), Explainer(model, data, by="sex")
    answer, expected = question(plain, by="sex"), question(grouped)
    assert answer.by == expected.by == "sex"
    assert list(answer.groups) == list(expected.groups) == ["f", "m"]
    for label, group in answer.groups.items():
        np.testing.assert_array_equal(group.average, expected.groups[label].average)
        np.testing.assert_array_equal(group.weight, expected.groups[label].weight)
    np.testing.assert_array_equal(answer.average, expected.average)
    assert not question(plain).groups  # only in that answer
    over = question(grouped, by=np.arange(80) % 3)
    assert list(over.groups) == [0, 1, 2]


def test_groups_for_one_question_are_checked(complains):
    explainer = Explainer(lambda rows: rows[:, 0], np.arange(12.0).reshape(6, 2))
    with complains("by", "one entry for each of the 6 rows"):
        explainer.partial_dependence(0, by=[1, 2])
    with complains("by", "names a column"):
        explainer.ice(0, by="sex")


def test_an_explainer_says_once_what_is_predicted():
    explainer = Explainer(lambda rows: rows[:, 0], np.arange(12.0).reshape(6, 2))
    assert repr(explainer).endswith("6 rows x 2 features, prediction)")


def test_observed_targets_by_the_name_of_their_column():
    frame = pd.DataFrame({"a": np.arange(40.0), "b": np.tile([0.0, 1.0], 20)})
    frame["seen"] = 2 * frame["a"] + frame["b"]
    model = LinearRegression().fit(frame[["a", "b"]], frame["seen"])
    named, given = Explainer(model, frame, y="seen"), Explainer(model, frame, y=frame["seen"])
    np.testing.assert_array_equal(named.study.sample.y, given.study.sample.y)
    with pytest.raises(InputError, match="did you mean 'seen'"):
        Explainer(model, frame, y="sen")


@pytest.mark.parametrize("engine", ["trees", "brute"])
def test_a_grid_comes_back_in_the_order_given(engine):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.integers(0, 9, 60)})
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(frame, frame["a"] * frame["b"])
    explainer = Explainer(model, frame, engine=engine)
    found = explainer.partial_dependence("b", grid=[7, 1, 3, 1])
    assert found.grid[0].tolist() == [7, 1, 3, 1]
    assert found.to_frame()["b"].tolist() == [7, 1, 3, 1]
    np.testing.assert_allclose(
        found.average[0], [model.predict(frame.assign(b=v)).mean() for v in (7, 1, 3, 1)]
    )
    pair = explainer.partial_dependence("b", "a", grid=[[7, 1], [0.5, -1.0]])
    assert [values.tolist() for values in pair.grid] == [[7, 1], [0.5, -1.0]]
