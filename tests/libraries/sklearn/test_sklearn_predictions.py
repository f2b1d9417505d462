"""Every kind of estimator against its own predict, predict_proba or decision_function."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import (
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    PoissonRegressor,
    RANSACRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, LocalOutlierFactor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from icefield.data.frame import table_of
from icefield.errors import InputError, ModelError
from icefield.models.model import read_model

RNG = np.random.default_rng(11)
N = 90
X = np.abs(RNG.normal(size=(N, 3)))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
TABLE = table_of(FRAME)
Y = X @ np.array([1.0, 2.0, 0.5]) + 0.1
TWO_TARGETS = np.column_stack([Y, -2 * Y])
BINARY = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.array(["low", "mid", "top"])[np.digitize(Y, np.quantile(Y, [0.3, 0.6]))]
LABEL_SETS = np.column_stack([X[:, 0] > 0.7, X[:, 1] > 0.7]).astype(int)
PAIRS = np.column_stack([BINARY, THREE])


def fitted(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is not what is tested
        return model.fit(FRAME, y)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)


# --- response ------------------------------------------------------------------------------------

WITH_PROBABILITIES = [
    LogisticRegression(),
    RandomForestClassifier(5, random_state=0),
    DecisionTreeClassifier(max_depth=3),
    GradientBoostingClassifier(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=2),
    KNeighborsClassifier(),
    MLPClassifier((4,), max_iter=20, random_state=0),
    AdaBoostClassifier(n_estimators=5, random_state=0),
    BaggingClassifier(n_estimators=3, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    RandomizedSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, n_iter=2, cv=2, random_state=0),
    CalibratedClassifierCV(LinearSVC(), cv=2),
    StackingClassifier([("tree", DecisionTreeClassifier(max_depth=2)), ("svc", LinearSVC())], cv=2),
    VotingClassifier(
        [("a", DecisionTreeClassifier(max_depth=2)), ("b", LogisticRegression())], voting="soft"
    ),
    OneVsRestClassifier(LogisticRegression()),
    OneVsRestClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2))),
]


@pytest.mark.parametrize("y", [BINARY, THREE], ids=["binary", "three"])
@pytest.mark.parametrize("estimator", WITH_PROBABILITIES, ids=lambda m: type(m).__name__)
def test_classifiers_give_probabilities(estimator, y):
    native = fitted(estimator, y)
    model = read_model(native, TABLE, target="all")
    assert (model.kind, model.scale_label) == ("classifier", "probability")
    assert model.all_outputs == tuple(np.unique(y))
    close(model.predict(TABLE), native.predict_proba(FRAME))
    assert read_model(native, TABLE).selected == ((1,) if len(model.outputs) == 2 else (0, 1, 2))


@pytest.mark.parametrize("y", [BINARY, THREE], ids=["binary", "three"])
@pytest.mark.parametrize(
    "estimator",
    [LinearSVC(), Perceptron(), RidgeClassifier(), SVC(), OneVsOneClassifier(LinearSVC()),
     make_pipeline(StandardScaler(), SVC()), GridSearchCV(LinearSVC(), {"C": [0.1]}, cv=2)],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_classifiers_without_probabilities_give_their_decision_function(estimator, y):
    native = fitted(estimator, y)
    model = read_model(native, TABLE)
    assert (model.kind, model.scale_label) == ("classifier", "decision function")
    assert model.outputs == (("yes",) if y is BINARY else ("low", "mid", "top"))
    close(model.predict(TABLE), native.decision_function(FRAME).reshape(N, -1))


def test_a_decision_per_pair_of_classes_is_named_by_the_pairs():
    native = fitted(SVC(decision_function_shape="ovo"), THREE)
    model = read_model(native, TABLE)
    assert model.outputs == ("low vs mid", "low vs top", "mid vs top")
    close(model.predict(TABLE), native.decision_function(FRAME))


def test_labels_that_are_numbers_can_be_averaged_and_words_cannot():
    voting = VotingClassifier([("a", DecisionTreeClassifier(max_depth=2)), ("b", LinearSVC())])
    native = fitted(voting, (BINARY == "yes").astype(int))
    model = read_model(native, TABLE)
    assert model.scale_label == "predicted class"
    close(model.predict(TABLE)[:, 0], native.predict(FRAME))
    with pytest.raises(ModelError, match=r"only predicts labels \('no', \.\.\.\), which cannot be averaged"):
        read_model(fitted(voting, BINARY), TABLE)


REGRESSORS = [
    LinearRegression(),
    Ridge(),
    RandomForestRegressor(5, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    GradientBoostingRegressor(n_estimators=5),
    HistGradientBoostingRegressor(max_iter=2),
    DecisionTreeRegressor(max_depth=3),
    SVR(),
    KNeighborsRegressor(),
    MLPRegressor(hidden_layer_sizes=(4,), max_iter=20, random_state=0),
    GaussianProcessRegressor(),
    make_pipeline(StandardScaler(), SVR()),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
    StackingRegressor([("tree", DecisionTreeRegressor(max_depth=2)), ("ridge", Ridge())], cv=2),
    VotingRegressor([("tree", DecisionTreeRegressor(max_depth=2)), ("ridge", Ridge())]),
    TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp),
    RANSACRegressor(random_state=0),
]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda m: type(m).__name__)
def test_regressors_give_predictions(estimator):
    native = fitted(estimator, Y)
    model = read_model(native, TABLE)
    assert (model.kind, model.scale_label, model.outputs) == ("regressor", "prediction", ("prediction",))
    close(model.predict(TABLE)[:, 0], native.predict(FRAME))


@pytest.mark.parametrize(
    "estimator",
    [IsolationForest(n_estimators=5, random_state=0), OneClassSVM(), LocalOutlierFactor(novelty=True),
     EllipticEnvelope(random_state=0), make_pipeline(StandardScaler(), IsolationForest(n_estimators=5))],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
@pytest.mark.parametrize("scale", ["response", "raw"])
def test_outlier_detectors_give_their_score(estimator, scale):
    native = fitted(estimator, None)
    model = read_model(native, TABLE, scale=scale)
    assert (model.kind, model.outputs) == ("outlier detector", ("score",))
    assert model.scale_label == "anomaly score (higher is more normal)"
    actual = model.predict(TABLE)[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LocalOutlierFactor warns of missing names whatever it gets
        expected = native.decision_function(FRAME)
    close(actual, expected)


def test_an_outlier_detector_that_cannot_score_new_rows_says_what_to_write():
    with pytest.raises(ModelError, match=r"cannot score new rows.*novelty=True"):
        read_model(fitted(LocalOutlierFactor(), None), TABLE)


def test_a_mixture_gives_the_probability_of_each_component():
    native = fitted(GaussianMixture(2, random_state=0), None)
    model = read_model(native, TABLE)
    assert model.outputs == ("component 0", "component 1")
    close(model.predict(TABLE), native.predict_proba(FRAME))


# --- several outputs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [LinearRegression(), RandomForestRegressor(5, random_state=0), MultiOutputRegressor(Ridge())],
    ids=lambda m: type(m).__name__,
)
def test_regressors_of_several_targets_number_them(estimator):
    native = fitted(estimator, TWO_TARGETS)
    model = read_model(native, TABLE)
    assert model.outputs == ("y0", "y1")
    close(model.predict(TABLE), native.predict(FRAME))
    second = read_model(native, TABLE, target="y1")
    close(second.predict(TABLE)[:, 0], native.predict(FRAME)[:, 1])
    assert read_model(native, TABLE, target=1).outputs == ("y1",)


@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(5, random_state=0), KNeighborsClassifier(),
     MultiOutputClassifier(LogisticRegression())],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_classifiers_of_several_outputs_name_output_and_class(estimator):
    native = fitted(estimator, PAIRS)
    model = read_model(native, TABLE, target="all")
    assert model.outputs == ("y0=no", "y0=yes", "y1=low", "y1=mid", "y1=top")
    close(model.predict(TABLE), np.hstack(native.predict_proba(FRAME)))
    # Of a binary output the negative class says nothing new, as for a binary classifier.
    assert read_model(native, TABLE).outputs == ("y0=yes", "y1=low", "y1=mid", "y1=top")
    assert read_model(native, TABLE, target="y1=mid").selected == (3,)


def test_a_chain_gives_the_positive_class_of_each_link():
    native = fitted(ClassifierChain(LogisticRegression()), LABEL_SETS)
    model = read_model(native, TABLE)
    assert model.outputs == ("y0=1", "y1=1")
    close(model.predict(TABLE), native.predict_proba(FRAME))


@pytest.mark.parametrize(
    "estimator",
    [OneVsRestClassifier(LogisticRegression()), MLPClassifier((4,), max_iter=20, random_state=0)],
    ids=lambda m: type(m).__name__,
)
def test_two_independent_labels_are_not_the_two_sides_of_one(estimator):
    native = fitted(estimator, LABEL_SETS)
    model = read_model(native, TABLE)
    assert len(model.outputs) == 2
    close(model.predict(TABLE), native.predict_proba(FRAME))


# --- raw -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [BINARY, THREE], ids=["binary", "three"])
@pytest.mark.parametrize(
    ("estimator", "label"),
    [
        (LogisticRegression(), ("log-odds", "decision function")),
        (GradientBoostingClassifier(n_estimators=5), ("log-odds", "raw score")),
        (HistGradientBoostingClassifier(max_iter=2), ("log-odds", "raw score")),
        (LinearSVC(), ("decision function", "decision function")),
        (make_pipeline(StandardScaler(), LogisticRegression()), ("log-odds", "decision function")),
        (GridSearchCV(GradientBoostingClassifier(), {"n_estimators": [3]}, cv=2), ("log-odds", "raw score")),
        (StackingClassifier([("t", DecisionTreeClassifier(max_depth=2))], cv=2), ("decision function",) * 2),
    ],
)  # fmt: skip
def test_the_margin_of_classifiers_is_their_decision_function(estimator, label, y):
    native = fitted(estimator, y)
    model = read_model(native, TABLE, scale="raw")
    assert model.scale_label == label[0 if y is BINARY else 1]
    assert model.outputs == (("yes",) if y is BINARY else ("low", "mid", "top"))
    close(model.predict(TABLE), native.decision_function(FRAME).reshape(N, -1))


def test_the_log_odds_of_an_exponential_loss_are_not_called_log_odds():
    native = fitted(GradientBoostingClassifier(n_estimators=5, loss="exponential"), BINARY)
    assert read_model(native, TABLE, scale="raw").scale_label == "raw score"


@pytest.mark.parametrize(
    "estimator",
    [PoissonRegressor(), GammaRegressor(), TweedieRegressor(power=1.5),
     HistGradientBoostingRegressor(loss="poisson", max_iter=2),
     HistGradientBoostingRegressor(loss="gamma", max_iter=2),
     make_pipeline(StandardScaler(), PoissonRegressor()),
     make_pipeline(StandardScaler(), HistGradientBoostingRegressor(loss="poisson", max_iter=2)),
     GridSearchCV(PoissonRegressor(), {"alpha": [0.5]}, cv=2),
     TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp)],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_the_raw_scale_of_a_log_link_is_the_log(estimator):
    native = fitted(estimator, Y)
    model = read_model(native, TABLE, scale="raw")
    assert model.scale_label in ("log of the prediction", "transformed target")
    close(model.predict(TABLE)[:, 0], np.log(native.predict(FRAME)))


@pytest.mark.parametrize(
    "estimator",
    [LinearRegression(), RandomForestRegressor(5, random_state=0), GradientBoostingRegressor(n_estimators=5),
     HistGradientBoostingRegressor(max_iter=2), TweedieRegressor(power=0), SVR(),
     MLPRegressor(hidden_layer_sizes=(4,), max_iter=20, random_state=0),
     make_pipeline(StandardScaler(), Ridge()),
     FrozenEstimator(Ridge().fit(FRAME, Y))],
    ids=lambda m: type(m).__name__,
)  # fmt: skip
def test_without_a_link_raw_is_the_prediction(estimator):
    native = fitted(estimator, Y)
    model = read_model(native, TABLE, scale="raw")
    assert model.scale_label == "prediction"
    close(model.predict(TABLE)[:, 0], native.predict(FRAME))


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (RandomForestClassifier(3), "averages of leaf fractions"),
        (KNeighborsClassifier(), "neighbours' votes"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "no margin"),
        (CalibratedClassifierCV(LinearSVC(), cv=2), "calibrated"),
        (KNeighborsRegressor(), "no margin"),
        (VotingRegressor([("poisson", PoissonRegressor())]), "no margin"),
        (RANSACRegressor(random_state=0), "no margin"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_model_without_a_margin_says_why(estimator, reason):
    native = fitted(
        estimator, BINARY if hasattr(estimator, "predict_proba") or "Calib" in repr(estimator) else Y
    )
    with pytest.raises(ModelError, match=rf"scale.*cannot be 'raw'.*{reason}.*scale=\"response\""):
        read_model(native, TABLE, scale="raw")


# --- custom estimators ---------------------------------------------------------------------------


class OnlyPredicts:
    def predict(self, rows):
        return np.asarray(rows)[:, 0] * 3


class OwnRegressor(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.level = float(np.mean(y))  # no trailing underscore: scikit-learn would call it unfitted
        return self

    def predict(self, X):
        return np.full(len(X), self.level)


class OwnClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile(np.linspace(0, 1, len(self.classes_)), (len(X), 1))


class BareClassifier:
    classes_ = ("cold", "warm")

    def predict_proba(self, rows):
        share = 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))
        return np.column_stack([1 - share, share])


def test_an_object_that_only_predicts_is_enough():
    model = read_model(OnlyPredicts(), TABLE)
    assert (model.kind, model.outputs, model.columns) == ("estimator", ("prediction",), ("a", "b", "c"))
    close(model.predict(TABLE)[:, 0], 3 * X[:, 0])


def test_custom_estimators_with_and_without_a_base_class():
    assert read_model(fitted(OwnRegressor(), Y), TABLE).kind == "regressor"
    close(read_model(fitted(OwnRegressor(), Y), TABLE).predict(TABLE)[:, 0], np.full(N, Y.mean()))
    assert read_model(fitted(OwnClassifier(), THREE), TABLE).outputs == ("low", "mid", "top")
    bare = BareClassifier()
    bare.classes_ = np.array(["cold", "warm"])
    assert read_model(bare, TABLE).outputs == ("warm",)


def test_custom_estimators_have_no_raw_scale():
    with pytest.raises(ModelError, match="has no margin"):
        read_model(OnlyPredicts(), TABLE, scale="raw")
    with pytest.raises(InputError, match="names an output the model does not have"):
        read_model(OnlyPredicts(), TABLE, target="y7")


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "gains"),
    [(RandomForestRegressor(3), False), (SVR(), True), (make_pipeline(StandardScaler(), SVR()), True),
     (HistGradientBoostingRegressor(max_iter=2), False),
     (OwnRegressor(), False)],
)  # fmt: skip
def test_only_models_known_to_gain_are_called_from_threads(estimator, gains):
    assert read_model(fitted(estimator, Y), TABLE).parallel is gains
