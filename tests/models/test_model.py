"""Reading a model: columns, forms of rows, outputs and targets, and the errors on the way."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from icefield.data.frame import table_of
from icefield.errors import InputError, InputTypeError, ModelError
from icefield.models.model import read_model

RNG = np.random.default_rng(7)
N = 80
X = RNG.normal(size=(N, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
Y = X @ np.array([1.0, -2.0, 0.5]) + 3.0
LABELS = np.where(Y > 3, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(Y, [2.0, 4.0])]
LIBRARIES = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME, preserve_index=False),
}


def read(model, data, **options):
    return read_model(model, table_of(data), **options)


# --- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", list(LIBRARIES))
def test_the_model_gets_its_own_columns_in_its_order(library):
    fitted = LinearRegression().fit(FRAME[["c", "a"]], Y)
    table = table_of(LIBRARIES[library])
    model = read_model(fitted, table)
    assert model.columns == ("c", "a")
    expected = fitted.predict(FRAME[["c", "a"]])
    np.testing.assert_allclose(model.predict(table)[:, 0], expected, rtol=0, atol=1e-13)


def test_missing_columns_are_named_with_the_closest_ones():
    fitted = LinearRegression().fit(FRAME.rename(columns={"a": "fare"}), Y)
    with pytest.raises(ModelError, match=r"lacks 1 of the 3 columns.*\['fare'\].*did you mean 'fares'"):
        read(fitted, FRAME.rename(columns={"a": "fares"}))


def test_a_model_without_names_needs_exactly_its_columns():
    fitted = LinearRegression().fit(X[:, :2], Y)
    with pytest.raises(ModelError, match=r"has 3 columns, but the model was fitted on 2"):
        read(fitted, FRAME)


@pytest.mark.parametrize("fitted_on", ["names", "no names"])
@pytest.mark.parametrize("asked_with", ["names", "no names"])
@pytest.mark.parametrize("kind", [LinearRegression, DecisionTreeClassifier])
def test_names_on_one_side_only_give_the_same_numbers_and_no_warning(kind, fitted_on, asked_with):
    y = Y if kind is LinearRegression else LABELS
    fitted = kind().fit(FRAME if fitted_on == "names" else X, y)
    table = table_of(FRAME if asked_with == "names" else X)
    model = read_model(fitted, table, target="all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fitted.predict(X) if kind is LinearRegression else fitted.predict_proba(X)
    np.testing.assert_allclose(model.predict(table), expected.reshape(N, -1), rtol=0, atol=1e-13)
    assert bool(model.notes) == (fitted_on != asked_with)


def test_names_that_no_library_can_satisfy_still_do_not_warn():
    class Grumbler(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            warnings.warn("X does not have valid feature names, but Grumbler wants them", stacklevel=1)
            return np.asarray(X)[:, 0]

    table = table_of(FRAME)
    model = read_model(Grumbler(), table)
    np.testing.assert_array_equal(model.predict(table)[:, 0], FRAME["a"])
    assert not model.parallel


# --- forms of rows -------------------------------------------------------------------------------


def test_a_model_that_takes_only_float32_gets_it():
    def picky(rows):
        if not isinstance(rows, np.ndarray) or rows.dtype != np.float32:
            raise TypeError("expected float32")
        return rows[:, 0]

    table = table_of(FRAME)
    model = read_model(picky, table)
    assert model.predict(table).dtype == np.float64
    np.testing.assert_array_equal(model.predict(table)[:, 0], FRAME["a"].astype(np.float32).astype(float))
    assert "numpy float32: the model refuses pandas (TypeError: expected float32)" in model.notes[0]


def test_a_model_that_takes_only_numbers_gets_booleans_and_integers_as_numbers():
    frame = pd.DataFrame({"flag": [True, False, True], "count": [1, 2, 3]})

    def picky(rows):
        if not isinstance(rows, np.ndarray) or rows.dtype != np.float64:
            raise TypeError("numbers only")
        return rows.sum(axis=1)

    table = table_of(frame)
    np.testing.assert_array_equal(read_model(picky, table).predict(table)[:, 0], [2.0, 2.0, 4.0])


def test_missing_categories_in_arrow_are_not_misread_by_scikit_learn():
    frame = FRAME.assign(level=pd.Categorical(RNG.choice(["u", "v", "w"], N)))
    frame.loc[: N // 2, "level"] = None
    fitted = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3, categorical_features="from_dtype")
    fitted.fit(frame, frame["level"].isna())
    table = table_of(pa.Table.from_pandas(frame, preserve_index=False))
    model = read_model(fitted, table, target="all")
    np.testing.assert_array_equal(model.predict(table), fitted.predict_proba(frame))
    assert "takes a missing category of an Arrow table for a level" in model.notes[0]


def test_a_sparse_matrix_stays_sparse():
    matrix = sparse.random(60, 4, density=0.4, random_state=0, format="csr")
    fitted = LinearRegression().fit(matrix, np.asarray(matrix.sum(axis=1)).ravel())
    table = table_of(matrix)
    model = read_model(fitted, table)
    np.testing.assert_allclose(model.predict(table)[:, 0], fitted.predict(matrix), rtol=0, atol=1e-14)
    assert model.notes == ()


def test_a_model_that_refuses_sparse_rows_gets_them_dense():
    matrix = sparse.random(60, 4, density=0.4, random_state=0, format="csr")
    target = (np.asarray(matrix.sum(axis=1)).ravel() > 0.5).astype(int)
    fitted = HistGradientBoostingClassifier(max_iter=2).fit(matrix.toarray(), target)
    table = table_of(matrix)
    model = read_model(fitted, table, target="all")
    np.testing.assert_array_equal(model.predict(table), fitted.predict_proba(matrix.toarray()))
    assert "converted from sparse to numpy" in model.notes[0]


def test_pipelines_of_named_columns_work_on_an_array_with_the_models_names():
    frame = pd.DataFrame({"x": X[:, 0], "city": RNG.choice(["A", "B"], N)})
    steps = make_column_transformer((StandardScaler(), ["x"]), (OneHotEncoder(), ["city"]))
    fitted = make_pipeline(steps, LinearRegression()).fit(frame, Y)
    table = table_of(frame.to_numpy(dtype=object))
    np.testing.assert_allclose(
        read_model(fitted, table).predict(table)[:, 0], fitted.predict(frame), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("data", [FRAME.copy(), X.copy()], ids=["pandas", "numpy"])
def test_the_callers_rows_are_not_changed_even_by_a_function_that_writes_into_them(data):
    before = data.copy()

    def vandal(rows):
        rows[:] = 0.0
        return np.asarray(rows).sum(axis=1)

    table = table_of(data)
    model = read_model(vandal, table)
    model.predict(table)
    model.crossing(table, [table.names[0]]).predict({table.names[0]: np.array([1.0, 2.0])})
    np.testing.assert_array_equal(np.asarray(data), np.asarray(before))


# --- outputs and targets -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def binary():
    return LogisticRegression().fit(FRAME, LABELS)


@pytest.fixture(scope="module")
def three():
    return LogisticRegression().fit(FRAME, THREE)


@pytest.mark.parametrize(
    ("target", "positions"),
    [
        (None, [1]), ("all", [0, 1]), ("no", [0]), ("yes", [1]), (0, [0]), (1, [1]),
        (["yes", "no"], [1, 0]), (("yes",), [1]), (np.array(["no"]), [0]),
    ],
)  # fmt: skip
def test_targets_of_a_binary_classifier(binary, target, positions):
    table = table_of(FRAME)
    model = read_model(binary, table, target=target)
    assert model.all_outputs == ("no", "yes")
    assert model.selected == tuple(positions)
    assert model.outputs == tuple(np.array(["no", "yes"])[positions])
    np.testing.assert_array_equal(model.predict(table), binary.predict_proba(FRAME)[:, positions])


def test_no_target_means_every_class_of_several(three):
    table = table_of(FRAME)
    model = read_model(three, table)
    assert model.outputs == ("low", "mid", "top")
    np.testing.assert_array_equal(model.predict(table), three.predict_proba(FRAME))


def test_an_integer_label_beats_a_position():
    fitted = LogisticRegression().fit(FRAME, np.digitize(Y, [2.0, 4.0]) + 1)
    table = table_of(FRAME)
    assert read_model(fitted, table, target=1).selected == (0,)
    assert read_model(fitted, table, target=3).selected == (2,)
    assert read_model(fitted, table, target=0).selected == (0,)


def test_boolean_and_float_labels_are_found_by_value():
    fitted = LogisticRegression().fit(FRAME, Y > 3)
    assert read(fitted, FRAME, target=True).outputs == (True,)
    fitted = LogisticRegression().fit(FRAME, (Y > 3).astype(float) + 1)
    assert read(fitted, FRAME, target=2).outputs == (2.0,)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("yess", r"target.*does not have, got 'yess'.*did you mean 'yes'"),
        (7, r"positions go from 0 to 1, got 7.*choose from"),
        (-1, r"positions go from 0 to 1, got -1"),
        ([], r"names no output"),
        (["yes", 1], r"names an output twice"),
        (0.5, r"does not have, got 0.5"),
        ({"yes"}, r"does not have"),
    ],
)
def test_a_wrong_target_says_what_there_is(binary, target, message):
    with pytest.raises(InputError, match=message):
        read(binary, FRAME, target=target)


def test_the_margin_of_a_binary_classifier_is_named_for_its_positive_class(binary):
    table = table_of(FRAME)
    model = read_model(binary, table, scale="raw")
    assert (model.all_outputs, model.scale_label) == (("yes",), "log-odds")
    np.testing.assert_array_equal(model.predict(table)[:, 0], binary.decision_function(FRAME))
    with pytest.raises(InputError, match=r"one output, for class 'yes'; that of 'no' is its negative"):
        read_model(binary, table, target="no", scale="raw")


def test_a_margin_of_integer_classes_does_not_mistake_the_other_class_for_a_position():
    fitted = LogisticRegression().fit(FRAME, (Y > 3).astype(int))
    with pytest.raises(InputError, match=r"one output, for class 1"):
        read(fitted, FRAME, target=0, scale="raw")


def test_objects_that_are_numbers_are_numbers():
    table = table_of(FRAME)
    model = read_model(lambda rows: np.array([1, 2.5, *[True] * (len(rows) - 2)], dtype=object), table)
    np.testing.assert_array_equal(model.predict(table)[:3, 0], [1.0, 2.5, 1.0])


def test_no_rows_need_no_prediction(three):
    table = table_of(FRAME)
    assert read_model(three, table).predict(table.slice(0, 0)).shape == (0, 3)


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: np.zeros(len(rows) + 1), r"6 rows of numbers for 5 rows of X"),
        (lambda rows: np.zeros((1, len(rows))), r"1 rows of numbers for 5 rows of X"),
        (lambda rows: np.zeros((len(rows), 2, 2)), r"an array of shape \(5, 2, 2\)"),
        (lambda rows: np.zeros((len(rows), 0)), r"an array without columns"),
        (lambda rows: 3.0, r"an array of shape \(\)"),
        (lambda rows: None, r"None; expected an array of numbers"),
        (lambda rows: ["low"] * len(rows), r"'low' \(dtype <U3\); expected numbers"),
        (lambda rows: np.array(["low"] * len(rows), dtype=object), r"'low' \(dtype object\)"),
        (lambda rows: np.array([{}] * len(rows), dtype=object), r"\{\} \(dtype object\)"),
        (lambda rows: np.zeros(len(rows), dtype="M8[D]"), r"dtype datetime64"),
        (lambda rows: np.zeros(len(rows), dtype=complex), r"complex numbers; expected real"),
    ],
)
def test_an_answer_that_is_no_prediction_is_described(answer, message):
    with pytest.raises(ModelError, match=message):
        read(answer, FRAME)


def test_a_model_that_changes_its_number_of_outputs_is_caught():
    table = table_of(FRAME)
    model = read_model(lambda rows: np.zeros((len(rows), 2 if len(rows) > 5 else 1)), table)
    with pytest.raises(ModelError, match="returned 2 outputs, but 1 at first"):
        model.predict(table)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LinearRegression, InputTypeError, r"is the class LinearRegression.*LinearRegression\(\.\.\.\)\.fit"),
        (None, InputTypeError, r"must be a fitted model or a function.*got None"),
        (3.5, InputTypeError, r"must be a fitted model or a function.*got 3.5"),
        ("model.pkl", InputTypeError, r"is a path, but not to an .onnx file, got 'model.pkl'"),
        (LinearRegression(), ModelError, r"is not fitted \(LinearRegression\).*fit it first"),
        (RandomForestClassifier(), ModelError, r"is not fitted"),
        (make_pipeline(StandardScaler(), LogisticRegression()), ModelError, r"is not fitted"),
        (GridSearchCV(LogisticRegression(), {"C": [1.0]}), ModelError, r"is not fitted"),
        (StandardScaler().fit(X), ModelError, r"only transforms: StandardScaler"),
        (StandardScaler(), ModelError, r"only transforms: StandardScaler"),
        (KMeans(2, n_init=1).fit(X), ModelError, r"clusterer \(KMeans\): cluster numbers are names"),
        (DBSCAN().fit(X), ModelError, r"clusterer \(DBSCAN\)"),
    ],
)  # fmt: skip
def test_what_is_no_fitted_model_says_so(model, error, message):
    with pytest.raises(error, match=message):
        read(model, FRAME)


def test_a_refusal_keeps_the_models_own_words_and_says_what_was_tried():
    def refuses(rows):
        raise RuntimeError("no rows today")

    with pytest.raises(
        ModelError, match=r"RuntimeError: no rows today; tried pandas, .*numpy float32"
    ) as caught:
        read(refuses, FRAME)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_missing_values_a_model_refuses_are_reported_in_its_words(binary):
    with pytest.raises(ModelError, match=r"Input X contains NaN"):
        read(binary, FRAME.assign(a=np.nan))


@pytest.mark.parametrize("scale", ["probability", None, "RAW", 1])
def test_an_unknown_scale_is_an_error(binary, scale):
    with pytest.raises(InputError, match=r"scale.*must be 'response' or 'raw', got"):
        read(binary, FRAME, scale=scale)


def test_a_table_without_rows_is_an_error(binary):
    with pytest.raises(InputError, match=r"X.*has no rows"):
        read(binary, FRAME.iloc[:0])


# --- sharing -------------------------------------------------------------------------------------


def test_threads_share_a_model(three):
    table = table_of(FRAME)
    model = read_model(three, table)
    expected = model.predict(table)
    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(model.predict, [table] * 32):
            np.testing.assert_array_equal(answer, expected)


def test_a_model_travels_to_another_process_when_its_native_one_does(three):
    table = table_of(FRAME)
    model = read_model(three, table, target="mid")
    copy = pickle.loads(pickle.dumps(model))
    assert copy.outputs == ("mid",)
    np.testing.assert_array_equal(copy.predict(table), model.predict(table))


def test_reading_models_imports_none_of_their_libraries(modules_after):
    assert modules_after["import icefield.models.model"].isdisjoint(
        ("sklearn", "pandas", "polars", "scipy", "lightgbm", "xgboost", "catboost", "torch", "onnxruntime")
    )


@pytest.mark.parametrize(
    ("estimator", "positive"),
    [
        (PoissonRegressor(), True),
        (TweedieRegressor(power=1.5), True),
        (TweedieRegressor(power=0), False),
        (make_pipeline(StandardScaler(), HistGradientBoostingRegressor(loss="gamma", max_iter=3)), True),
        (HistGradientBoostingRegressor(max_iter=3), False),
    ],
)
def test_a_log_link_is_known_to_give_nothing_below_zero(estimator, positive):
    rows = np.random.default_rng(0).normal(size=(80, 2))
    fitted = estimator.fit(rows, np.exp(rows[:, 0]))
    assert read_model(fitted, table_of(rows)).positive == positive
    assert not read_model(fitted, table_of(rows), scale="raw").positive
