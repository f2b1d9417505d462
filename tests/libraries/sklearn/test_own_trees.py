"""scikit-learn's trees, forests and boosting read as trees route and predict as scikit-learn does."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from icefield.data.frame import table_of
from icefield.forest import CannotRead
from icefield.libraries.reading import read
from tree_reading import error, on_the_thresholds, read_and_compare, same_leaves

LARGEST = float(np.finfo(np.float32).max)


@pytest.fixture(scope="module")
def numbers():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 4))
    X[:, 1] = draw.poisson(0.7, 300)
    score = X[:, 0] + X[:, 1] - X[:, 2]
    return X, score


@pytest.fixture(scope="module")
def gaps(numbers):
    X, score = numbers
    X = X.copy()
    X[::9, 0] = np.nan
    X[::7, 2] = np.nan
    return X, score


def target(model, score):
    if "Classifier" in type(model).__name__:
        return np.array(["low", "mid", "top"])[np.digitize(score, [-1, 1])]
    return score


def answer(model):
    return getattr(model, "predict_proba", model.predict)


SINGLE = [DecisionTreeRegressor, DecisionTreeClassifier, ExtraTreeRegressor, ExtraTreeClassifier]
FORESTS = [RandomForestRegressor, RandomForestClassifier, ExtraTreesRegressor, ExtraTreesClassifier]


def small(kind, **settings):
    model = kind(max_depth=5, random_state=0, **settings)
    return model.set_params(n_estimators=5) if kind in FORESTS else model


@pytest.mark.parametrize("kind", SINGLE + FORESTS)
def test_trees_and_forests_with_missing_values(gaps, kind):
    X, score = gaps
    model = small(kind)
    model.fit(X, target(model, score))
    extra = (np.nan, LARGEST, -LARGEST)
    read_model = read_and_compare(model, X, answer(model), model.apply, extra=extra)
    assert read_model.link.additive


@pytest.mark.parametrize("kind", SINGLE + FORESTS)
def test_missing_values_at_prediction_only(numbers, kind):
    X, score = numbers
    model = small(kind)
    model.fit(X, target(model, score))
    read_and_compare(model, X, answer(model), model.apply, extra=(np.nan,))


@pytest.mark.parametrize("kind", SINGLE + FORESTS)
def test_several_targets(numbers, kind):
    X, score = numbers
    model = small(kind)
    if "Classifier" in kind.__name__:
        Y = np.column_stack([np.digitize(score, [-1, 1]), score > 0])
        model.fit(X, Y)

        def predict(rows):
            return np.hstack(model.predict_proba(rows))
    else:
        model.fit(X, np.column_stack([score, -2 * score]))
        predict = model.predict
    read_and_compare(model, X, predict, model.apply)


def test_an_unpruned_forest_and_weights_of_classes(numbers):
    X, score = numbers
    model = RandomForestClassifier(n_estimators=4, class_weight="balanced", random_state=0)
    model.fit(X, target(model, score), sample_weight=np.random.default_rng(1).random(len(X)))
    read_and_compare(model, X, model.predict_proba, model.apply)


def test_constant_targets_and_one_class(numbers):
    X, _ = numbers
    model = DecisionTreeRegressor().fit(X, np.ones(len(X)))
    assert len(read_and_compare(model, X, model.predict).forest.condition_column) == 0
    model = RandomForestClassifier(n_estimators=2).fit(X, np.zeros(len(X)))
    read_and_compare(model, X, model.predict_proba)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestClassifier, GradientBoostingRegressor])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e39])
def test_what_is_too_large_for_float32_raises_as_in_predict(numbers, kind, value):
    X, score = numbers
    model = kind(random_state=0)
    model.fit(X, target(model, score))
    rows = X[:3].copy()
    rows[1, 2] = value
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="too large for dtype"):
        model.predict(rows)
    with pytest.raises(ValueError, match="too large for float32"):
        read(model, table_of(X)).encode(table_of(rows))


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, HistGradientBoostingRegressor])
def test_infinite_thresholds_are_kept(kind):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 2))
    X[::4, 0] = np.nan
    model = kind(max_depth=2).fit(X, np.isnan(X[:, 0]) * 5.0 + X[:, 1])
    read_model = read_and_compare(model, X, model.predict, extra=(LARGEST, -LARGEST, np.nan))
    assert np.isinf(read_model.forest.condition_threshold).any()


def test_subset_of_columns_in_frames_of_mixed_numbers():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "f": draw.normal(size=300).astype(np.float32),
            "i": draw.integers(-9, 9, 300),
            "b": draw.random(300) < 0.5,
            "n": pd.array(draw.integers(0, 5, 300), dtype="Int64"),
            "c": pd.Categorical(draw.choice([1, 5, 7], 300)),
        }
    )
    y = frame["f"] + frame["i"] + frame["b"] * 3 + frame["n"].astype(float) + frame["c"].astype(float)
    model = RandomForestRegressor(n_estimators=5, max_depth=5, random_state=0).fit(frame, y)
    read_and_compare(model, frame, model.predict, model.apply)


def test_texts_and_times_are_refused_by_name(numbers):
    X, score = numbers
    model = DecisionTreeRegressor().fit(X, score)
    frame = pd.DataFrame(X, columns=list("abcd"))
    with pytest.raises(CannotRead, match="'b'"):
        read(model, table_of(frame.assign(b=["x"] * len(X))))
    with pytest.raises(CannotRead, match="datetime"):
        read(model, table_of(frame.assign(c=pd.Timestamp("2020-01-01"))))


def test_the_number_of_columns_must_fit(numbers):
    X, score = numbers
    with pytest.raises(CannotRead, match="4 columns"):
        read(DecisionTreeRegressor().fit(X, score), table_of(X[:, :3]))


# --- gradient boosting ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
@pytest.mark.parametrize("init", [None, "zero", DummyRegressor(strategy="median")])
def test_gradient_boosting_regression(numbers, loss, init):
    X, score = numbers
    model = GradientBoostingRegressor(n_estimators=6, loss=loss, init=init, random_state=0).fit(X, score)
    read_model = read_and_compare(model, X, model.predict, model.apply)
    assert read_model.link.additive


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("init", [None, "zero", DummyClassifier(strategy="prior")])
def test_gradient_boosting_of_two_classes(numbers, loss, init):
    X, score = numbers
    model = GradientBoostingClassifier(n_estimators=6, loss=loss, init=init, random_state=0)
    model.fit(X, score > 0)
    read_and_compare(model, X, model.predict_proba, model.apply, raw=model.decision_function)


def test_gradient_boosting_of_several_classes_stopped_early(numbers):
    X, score = numbers
    model = GradientBoostingClassifier(n_estimators=60, n_iter_no_change=2, random_state=0)
    model.fit(X, target(model, score))
    assert model.n_estimators_ < 60
    read_and_compare(model, X, model.predict_proba, model.apply, raw=model.decision_function)


def test_gradient_boosting_refuses_missing_values_as_predict_does(numbers):
    X, score = numbers
    model = GradientBoostingRegressor(n_estimators=3).fit(X, score)
    rows = X[:3].copy()
    rows[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict(rows)
    with pytest.raises(ValueError, match="NaN"):
        read(model, table_of(X)).encode(table_of(rows))


@pytest.mark.parametrize(
    ("kind", "init"),
    [
        (GradientBoostingRegressor, LinearRegression()),
        (GradientBoostingClassifier, DummyClassifier(strategy="stratified", random_state=0)),
        (GradientBoostingClassifier, DecisionTreeClassifier(max_depth=1)),
    ],
)
def test_a_start_that_is_not_constant_is_refused_by_name(numbers, kind, init):
    X, score = numbers
    model = kind(n_estimators=3, init=init)
    model.fit(X, target(model, score))
    with pytest.raises(CannotRead, match=type(init).__name__):
        read(model, table_of(X))


# --- histogram gradient boosting -----------------------------------------------------------------

INFINITE = (np.inf, -np.inf, np.nan, 1e300, -1e300)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile", "gamma", "poisson"])
def test_hist_regression(gaps, loss):
    X, score = gaps
    model = HistGradientBoostingRegressor(max_iter=8, loss=loss, quantile=0.3)
    model.fit(X, np.exp(score / 4))
    read_and_compare(model, X, model.predict, raw=lambda rows: model._raw_predict(rows), extra=INFINITE)


@pytest.mark.parametrize("classes", [2, 3])
def test_hist_classification(gaps, classes):
    X, score = gaps
    model = HistGradientBoostingClassifier(max_iter=8, early_stopping=True, random_state=0)
    model.fit(X, target(model, score) if classes == 3 else score > 0)
    read_and_compare(model, X, model.predict_proba, raw=model.decision_function, extra=INFINITE)


@pytest.fixture(scope="module")
def mixed():
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x": draw.normal(size=400),
            "text": pd.Categorical(draw.choice(list("fedcba"), 400), list("fedcbaz")),
            "z": draw.normal(size=400),
            "number": pd.Categorical(draw.choice([10, 20, 30, 40], 400)),
            "flag": draw.random(400) < 0.5,
        }
    )
    frame.loc[::11, "text"] = None
    frame.loc[::13, "x"] = np.nan
    y = (
        frame["text"].isin(["a", "c", "f"]) * 3.0
        + (frame["number"] == 20).astype(float) * 2
        + frame["x"].fillna(-2)
        + frame["flag"] * frame["z"]
    )
    return frame, y.to_numpy()


def test_hist_categories_stand_before_the_numbers(mixed):
    X, y = mixed
    model = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(X, y)
    read_model = read_and_compare(model, X, model.predict, extra=INFINITE)
    assert (read_model.forest.condition_set >= 0).any()
    assert read_model.encode.names == ("text", "number", "x", "z", "flag")
    assert read_model.drives == {"text": (0,), "number": (1,), "x": (2,), "z": (3,), "flag": (4,)}

    shuffled = X.copy()
    shuffled["text"] = shuffled["text"].cat.set_categories(list("abcdef"))
    assert error(read_model, table_of(shuffled), model.predict(shuffled)) <= 1e-12
    assert error(read_model, table_of(shuffled), model.predict(X)) <= 1e-12


def test_hist_unknown_categories_go_with_the_missing(mixed):
    X, y = mixed
    model = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(X, y)
    read_model = read(model, table_of(X))
    unknown = X.copy()
    unknown["text"] = pd.Categorical(["never"] * len(X))
    gone = X.copy()
    gone["text"] = pd.Categorical([None] * len(X), list("abc"))
    expected = model.predict(unknown)
    assert np.array_equal(expected, model.predict(gone))
    assert error(read_model, table_of(unknown), expected) <= 1e-12
    assert error(read_model, table_of(gone), expected) <= 1e-12


def test_hist_categories_given_as_numbers():
    draw = np.random.default_rng(2)
    X = np.column_stack([draw.normal(size=400), draw.integers(0, 30, 400), draw.normal(size=400)])
    X[::17, 1] = np.nan
    y = np.isin(X[:, 1], [0, 4, 5, 21]) * 4.0 + X[:, 0]
    model = HistGradientBoostingRegressor(max_iter=10, categorical_features=[1], min_samples_leaf=5).fit(X, y)
    extra = (-1.0, 0.5, 4.0, 29.0, 30.0, 255.0, 256.0, 260.0, 1e9, np.nan)
    read_model = read_and_compare(model, X, model.predict, extra=extra)
    assert (read_model.forest.condition_set >= 0).any()
    rows = X[:3].copy()
    rows[1, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(rows)
    with pytest.raises(ValueError, match="infinity"):
        read_model.encode(table_of(rows))


def test_hist_weights_are_the_counts(gaps):
    X, score = gaps
    forest = read(HistGradientBoostingRegressor(max_iter=3).fit(X, score), table_of(X)).forest
    assert np.all(forest.node_weight[forest.tree_root] == len(X))


# --- isolation forests ---------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"max_features": 2}, {"contamination": 0.1}, {"max_samples": 1}])
def test_isolation_forests(numbers, settings):
    X, _ = numbers
    model = IsolationForest(n_estimators=10, random_state=0, **settings).fit(X)
    read_and_compare(model, X, model.decision_function, extra=(np.nan, np.inf, -np.inf))


# --- others --------------------------------------------------------------------------------------


def test_other_models_and_subclasses_are_refused_by_name(numbers):
    class Doubled(DecisionTreeRegressor):
        def predict(self, X):
            return 2 * super().predict(X)

    X, score = numbers
    for model in (AdaBoostRegressor(n_estimators=2), LinearRegression(), Doubled()):
        with pytest.raises(CannotRead, match=type(model).__name__):
            read(model.fit(X, score), table_of(X))


def test_models_that_are_not_fitted_are_refused(numbers):
    X, _ = numbers
    for model in (DecisionTreeRegressor(), RandomForestRegressor(), HistGradientBoostingRegressor()):
        with pytest.raises(CannotRead, match=type(model).__name__):
            read(model, table_of(X))


def test_trees_carry_their_weighted_training_rows(numbers):
    X, score = numbers
    weights = np.random.default_rng(0).random(len(X))
    forest = read(DecisionTreeRegressor(max_depth=3).fit(X, score, weights), table_of(X)).forest
    split = forest.node_left >= 0
    children = forest.node_weight[forest.node_left[split]] + forest.node_weight[forest.node_right[split]]
    assert np.allclose(forest.node_weight[split], children, rtol=1e-12)
    assert forest.node_weight[0] == pytest.approx(weights.sum(), rel=1e-12)


def test_sparse_rows(numbers):
    import scipy.sparse

    X, score = numbers
    sparse = scipy.sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    model = RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0).fit(sparse, score)
    table = table_of(sparse)
    assert same_leaves(read(model, table), table, model.apply(sparse))


def test_rows_on_the_thresholds_are_rounded_to_float32_first(numbers):
    X, score = numbers
    model = DecisionTreeRegressor(max_depth=4).fit(X, score)
    read_model = read(model, table_of(X))
    rows = on_the_thresholds(read_model, X)
    unrounded = read_model.encode(table_of(rows)) != rows
    assert unrounded.any()
    assert same_leaves(read_model, table_of(rows), model.apply(rows))
