"""Wrappers are looked through exactly where their predictions are known functions of their members'."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost as xgb
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from icefield.data.frame import table_of
from icefield.forest import CannotRead
from icefield.libraries.reading import read
from tree_reading import error, read_and_compare


@pytest.fixture(scope="module")
def numbers():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(240, 4))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def classes(score):
    return np.array(["low", "mid", "top"])[np.digitize(score, [-0.7, 0.7])]


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV])
def test_searches_predict_with_their_best_estimator(numbers, search):
    X, score = numbers
    settings = {"n_iter": 2, "random_state": 0} if search is RandomizedSearchCV else {}
    model = search(DecisionTreeRegressor(random_state=0), {"max_depth": [2, 4]}, cv=2, **settings)
    model.fit(X, score)
    read_and_compare(model, X, model.predict)


def test_a_search_without_refit_is_refused(numbers):
    X, score = numbers
    model = GridSearchCV(DecisionTreeRegressor(), {"max_depth": [2]}, cv=2, refit=False).fit(X, score)
    with pytest.raises(CannotRead, match="refit"):
        read(model, table_of(X))


def test_frozen_estimators(numbers):
    X, score = numbers
    model = FrozenEstimator(RandomForestClassifier(n_estimators=3, random_state=0).fit(X, score > 0))
    read_and_compare(model, X, model.predict_proba)


# --- transformed targets -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "transformer", [StandardScaler(copy=False), PowerTransformer(), QuantileTransformer(n_quantiles=50)]
)
def test_targets_transformed_by_scalers(numbers, transformer):
    X, score = numbers
    inner = GradientBoostingRegressor(n_estimators=5, random_state=0)
    model = TransformedTargetRegressor(inner, transformer=transformer).fit(X, score)
    read_model = read_and_compare(model, X, model.predict, raw=model.regressor_.predict)
    assert not read_model.link.additive


def test_targets_transformed_by_functions(numbers):
    X, score = numbers
    inner = HistGradientBoostingRegressor(max_iter=5)
    model = TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1).fit(X, np.exp(score))
    read_and_compare(model, X, model.predict)
    model = TransformedTargetRegressor(inner).fit(X, score)
    assert read_and_compare(model, X, model.predict).link.additive


def test_several_transformed_targets(numbers):
    X, score = numbers
    inner = RandomForestRegressor(n_estimators=3, random_state=0)
    model = TransformedTargetRegressor(inner, transformer=StandardScaler())
    model.fit(X, np.column_stack([score, 100 + 5 * score]))
    read_and_compare(model, X, model.predict)


def double(y):
    return 2 * y


def half_of_largest(y):
    return y / np.abs(y).max()


@pytest.mark.parametrize("inverse", [half_of_largest, double])
def test_functions_that_may_look_at_all_rows_are_refused_by_name(numbers, inverse):
    X, score = numbers
    model = TransformedTargetRegressor(
        DecisionTreeRegressor(max_depth=2), func=np.sinh, inverse_func=inverse, check_inverse=False
    ).fit(X, score)
    with pytest.raises(CannotRead, match=inverse.__name__):
        read(model, table_of(X))


# --- votes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, [1, 2.5, 0.5]])
def test_votes_of_regressors(numbers, weights):
    X, score = numbers
    members = [
        ("forest", RandomForestRegressor(n_estimators=3, max_depth=4, random_state=0)),
        ("boosting", GradientBoostingRegressor(n_estimators=4, random_state=0)),
        ("hist", HistGradientBoostingRegressor(max_iter=4)),
    ]
    model = VotingRegressor(members, weights=weights).fit(X, score)
    read_model = read_and_compare(model, X, model.predict)
    assert read_model.link.additive
    # float32 and float64 comparisons need a matrix column each
    assert read_model.forest.n_columns == 3 * X.shape[1]
    assert all(len(columns) == 3 for columns in read_model.drives.values())


def test_votes_of_regressors_with_links(numbers):
    X, score = numbers
    members = [
        ("forest", RandomForestRegressor(n_estimators=3, max_depth=4, random_state=0)),
        ("hist", HistGradientBoostingRegressor(max_iter=4, loss="poisson")),
    ]
    model = VotingRegressor(members).fit(X, np.exp(score))
    read_model = read_and_compare(model, X, model.predict)
    assert not read_model.link.additive
    assert read_model.forest.n_outputs == 2


@pytest.mark.parametrize("weights", [None, [1, 2]])
def test_votes_of_forests_stay_sums(numbers, weights):
    X, score = numbers
    members = [
        ("random", RandomForestClassifier(n_estimators=3, max_depth=4, random_state=0)),
        ("extra", ExtraTreesClassifier(n_estimators=4, max_depth=4, random_state=0)),
    ]
    model = VotingClassifier(members, voting="soft", weights=weights).fit(X, classes(score))
    read_model = read_and_compare(model, X, model.predict_proba, extra=(np.nan,))
    assert read_model.link.additive
    assert read_model.forest.n_columns == X.shape[1]


@pytest.mark.parametrize("several", [True, False])
def test_votes_of_boosted_classifiers_average_probabilities(numbers, several):
    X, score = numbers
    members = [
        ("forest", RandomForestClassifier(n_estimators=3, max_depth=4, random_state=0)),
        ("boosting", GradientBoostingClassifier(n_estimators=3, random_state=0)),
        ("hist", HistGradientBoostingClassifier(max_iter=3)),
        ("dropped", "drop"),
    ]
    model = VotingClassifier(members, voting="soft", weights=[3, 1, 2, 9])
    model.fit(X, classes(score) if several else score > 0)
    assert not read_and_compare(model, X, model.predict_proba).link.additive


def test_votes_with_categories_and_other_libraries():
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"x": draw.normal(size=300), "c": pd.Categorical(draw.choice(list("abcd"), 300))})
    y = frame["x"] + frame["c"].isin(["a", "d"]) * 2
    members = [
        ("hist", HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=5)),
        ("lgb", lgb.LGBMRegressor(n_estimators=4, min_data_per_group=5, cat_smooth=1, verbose=-1)),
    ]
    model = VotingRegressor(members).fit(frame, y)
    read_model = read_and_compare(model, frame, model.predict, extra=(np.nan, np.inf))
    assert (read_model.forest.condition_set >= 0).any()
    # the two libraries treat the columns differently, so each has its own of the matrix
    assert sorted(map(len, read_model.drives.values())) == [2, 2]


def test_votes_of_members_that_read_sparse_rows_differently(numbers):
    X, score = numbers
    members = [
        ("forest", RandomForestRegressor(n_estimators=3, max_depth=4, random_state=0)),
        ("xgb", xgb.XGBRegressor(n_estimators=3, max_depth=3, nthread=1)),
    ]
    model = VotingRegressor(members).fit(X, score)
    read_and_compare(model, X, model.predict)
    sparse = scipy.sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    with pytest.raises(CannotRead, match="cannot be shared"):
        read(VotingRegressor(members).fit(sparse, score), table_of(sparse))


def test_hard_votes_and_members_that_are_no_trees_are_refused(numbers):
    X, score = numbers
    tree = DecisionTreeClassifier(max_depth=2)
    hard = VotingClassifier([("a", tree), ("b", tree)], voting="hard").fit(X, score > 0)
    with pytest.raises(CannotRead, match="voting='hard'"):
        read(hard, table_of(X))
    mixed = VotingClassifier([("a", tree), ("b", LogisticRegression())], voting="soft").fit(X, score > 0)
    with pytest.raises(CannotRead, match="LogisticRegression"):
        read(mixed, table_of(X))


# --- bags ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{}, {"max_features": 2}, {"max_features": 3, "bootstrap_features": True}]
)
def test_bags_of_regressors(numbers, settings):
    X, score = numbers
    model = BaggingRegressor(n_estimators=5, random_state=0, **settings).fit(X, score)
    read_model = read_and_compare(model, X, model.predict, extra=(np.nan,))
    assert read_model.link.additive
    assert read_model.forest.n_columns == X.shape[1]


def test_bags_in_frames(numbers):
    X, score = numbers
    frame = pd.DataFrame(X, columns=list("abcd")).assign(d=np.arange(len(X)) % 7)
    model = BaggingRegressor(
        DecisionTreeRegressor(max_depth=4), n_estimators=5, max_features=3, random_state=0
    )
    model.fit(frame, score)
    read_and_compare(model, frame, model.predict)


def test_bags_of_classifiers_that_did_not_see_every_class(numbers):
    X, score = numbers
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=4, random_state=0)
    model.fit(X, classes(score))
    codes = np.digitize(score, [-0.7, 0.7])
    model.estimators_[1] = DecisionTreeClassifier(max_depth=3).fit(X[codes != 1], codes[codes != 1])
    assert model.estimators_[1].classes_.tolist() == [0, 2]
    read_and_compare(model, X, model.predict_proba)


def test_bags_of_boosted_classifiers(numbers):
    X, score = numbers
    inner = GradientBoostingClassifier(n_estimators=3, random_state=0)
    model = BaggingClassifier(inner, n_estimators=3, max_features=3, random_state=0).fit(X, classes(score))
    assert not read_and_compare(model, X, model.predict_proba).link.additive


def test_bags_of_other_members_are_refused_by_name(numbers):
    X, score = numbers
    with pytest.raises(CannotRead, match="LinearRegression"):
        read(BaggingRegressor(LinearRegression(), n_estimators=2).fit(X, score), table_of(X))
    boosted = BaggingRegressor(lgb.LGBMRegressor(n_estimators=2, verbose=-1), n_estimators=2).fit(X, score)
    with pytest.raises(CannotRead, match="LGBMRegressor"):
        read(boosted, table_of(X))


def test_wrappers_nest(numbers):
    X, score = numbers
    vote = VotingRegressor(
        [
            ("bag", BaggingRegressor(n_estimators=3, random_state=0)),
            ("forest", RandomForestRegressor(n_estimators=3, random_state=0)),
        ]
    )
    model = TransformedTargetRegressor(vote, transformer=StandardScaler()).fit(X, score)
    table = table_of(X)
    assert error(read(model, table), table, model.predict(X)) <= 1e-12
