"""scikit-learn's other estimators and wrappers, functions, and losses, classes and settings of its trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
from sklearn import ensemble, linear_model, neighbors, neural_network, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.covariance import EllipticEnvelope
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, QuantileTransformer, StandardScaler

from model_recipes.rows import EXPLAINED, NAN, TRAINED, Answer, Case, Fitted, categorical, rows, score, simple

RECIPES: dict[str, Case] = {}
NO_RAW: dict[str, Any] = {"raw": False}


def logarithm(model: Any) -> Answer:
    """The margin of a model whose prediction is an exponential."""
    return lambda X: np.log(model.predict(X))


def scaled(*steps: Any) -> Any:
    return make_pipeline(StandardScaler(), *steps)


def hist(kind: str = "Regressor", **settings: Any) -> Any:
    return getattr(ensemble, f"HistGradientBoosting{kind}")(max_iter=4, min_samples_leaf=5, **settings)


# --- trees: settings beside those that `sums_of_trees` has -----------------------------------------

RECIPES["DecisionTreeRegressor poisson"] = simple(
    lambda s: tree.DecisionTreeRegressor(criterion="poisson", max_depth=4, random_state=s), kind="counts"
)
RECIPES["RandomForestClassifier weighted classes"] = simple(
    lambda s: ensemble.RandomForestClassifier(4, max_depth=4, class_weight="balanced", random_state=s),
    kind="odd numbers", accepts=NAN, **NO_RAW,
)  # fmt: skip
RECIPES["GradientBoostingRegressor from zero"] = simple(
    lambda s: ensemble.GradientBoostingRegressor(n_estimators=4, init="zero", random_state=s)
)
RECIPES["GradientBoostingRegressor from a line"] = simple(
    lambda s: ensemble.GradientBoostingRegressor(
        n_estimators=4, init=linear_model.LinearRegression(), random_state=s
    )
)
RECIPES["GradientBoostingClassifier labels"] = simple(
    lambda s: ensemble.GradientBoostingClassifier(n_estimators=3, subsample=0.6, random_state=s),
    kind="labels",
)
RECIPES["HistGradientBoostingRegressor weighted"] = simple(
    lambda s: hist(), accepts=NAN, fitted_with=lambda n: {"sample_weight": np.linspace(0.1, 2, n)}
)
RECIPES["HistGradientBoostingRegressor monotone"] = simple(
    lambda s: hist(monotonic_cst=[1, 0, 0, 0]), accepts=NAN
)
RECIPES["HistGradientBoostingClassifier labels"] = simple(
    lambda s: hist("Classifier"), kind="two labels", accepts=NAN
)
RECIPES["HistGradientBoostingClassifier categories"] = categorical(
    lambda s: hist("Classifier", categorical_features="from_dtype"), kind="labels", gaps=True, accepts=NAN
)
RECIPES["AdaBoostRegressor"] = simple(
    lambda s: ensemble.AdaBoostRegressor(n_estimators=4, random_state=s), **NO_RAW
)
RECIPES["AdaBoostClassifier"] = simple(
    lambda s: ensemble.AdaBoostClassifier(n_estimators=4, random_state=s), kind="labels"
)
RECIPES["IsolationForest in a pipeline"] = simple(
    lambda s: scaled(ensemble.IsolationForest(n_estimators=5, random_state=s)), kind="none"
)

# --- without trees ---------------------------------------------------------------------------------

for name, build in {
    "LinearRegression": linear_model.LinearRegression, "HuberRegressor": partial(scaled, linear_model.HuberRegressor()),
    "SVR": partial(scaled, svm.SVR()), "KernelRidge": KernelRidge,
    "MLPRegressor": partial(scaled, neural_network.MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=30, random_state=0)),
}.items():  # fmt: skip
    RECIPES[name] = simple(lambda s, b=build: b(), quiet=True, margin=lambda model: model.predict)
for name, build in {
    "KNeighborsRegressor": partial(scaled, neighbors.KNeighborsRegressor()),
    "GaussianProcessRegressor": GaussianProcessRegressor,
    "RANSACRegressor": partial(linear_model.RANSACRegressor, random_state=0), "DummyRegressor": DummyRegressor,
}.items():  # fmt: skip
    RECIPES[name] = simple(lambda s, b=build: b(), quiet=True, tolerance=1e-9, **NO_RAW)
for name, build in {
    "PoissonRegressor": linear_model.PoissonRegressor,
    "GammaRegressor": linear_model.GammaRegressor,
    "TweedieRegressor": partial(linear_model.TweedieRegressor, power=1.5, link="log"),
    "MLPRegressor poisson": partial(
        neural_network.MLPRegressor, hidden_layer_sizes=(4,), loss="poisson", max_iter=60, random_state=0
    ),
}.items():
    RECIPES[name] = simple(
        lambda s, b=build: scaled(b()), kind="positive", quiet=True, margin=logarithm, tolerance=1e-10
    )
for name, build, kind in (
    ("LogisticRegression", linear_model.LogisticRegression, "two labels"),
    ("LogisticRegression several", linear_model.LogisticRegression, "labels"),
    ("MLPClassifier", partial(neural_network.MLPClassifier, (4,), max_iter=30, random_state=0), "labels"),
    ("GaussianNB", GaussianNB, "labels"),
    ("KNeighborsClassifier", neighbors.KNeighborsClassifier, "labels"),
    ("DummyClassifier", DummyClassifier, "labels"),
    ("OneVsRestClassifier", partial(OneVsRestClassifier, linear_model.LogisticRegression()), "labels"),
    (
        "CalibratedClassifierCV",
        partial(CalibratedClassifierCV, linear_model.LogisticRegression(), cv=2),
        "binary",
    ),
):
    has_raw = build in (linear_model.LogisticRegression,) or "OneVsRest" in name
    RECIPES[name] = simple(lambda s, b=build: scaled(b()), kind=kind, quiet=True, raw=has_raw, tolerance=1e-9)
for name, build, kind in (
    ("SVC", svm.SVC, "labels"), ("LinearSVC", svm.LinearSVC, "two labels"),
    ("RidgeClassifier", linear_model.RidgeClassifier, "labels"),
    ("SVC pairs", partial(svm.SVC, decision_function_shape="ovo"), "labels"),
):  # fmt: skip
    RECIPES[name] = simple(
        lambda s, b=build: scaled(b()), kind=kind, quiet=True, response=lambda model: model.decision_function
    )
for name, build in {
    "OneClassSVM": svm.OneClassSVM, "EllipticEnvelope": partial(EllipticEnvelope, random_state=0),
    "LocalOutlierFactor": partial(neighbors.LocalOutlierFactor, novelty=True),
}.items():  # fmt: skip
    RECIPES[name] = simple(
        lambda s, b=build: scaled(b()), kind="none", quiet=True,
        response=lambda model: model.decision_function, tolerance=1e-9,
    )  # fmt: skip

# --- wrappers --------------------------------------------------------------------------------------


def transformed(inner: Any, **how: Any) -> Case:
    """The raw scale of a transformed target is the transformed target."""
    return simple(
        lambda s: TransformedTargetRegressor(inner, **how), kind="positive",
        margin=lambda model: model.regressor_.predict,
    )  # fmt: skip


LOGARITHM = {"func": np.log1p, "inverse_func": np.expm1}
RECIPES["TransformedTargetRegressor"] = transformed(hist(), **LOGARITHM)
RECIPES["TransformedTargetRegressor of Poisson"] = transformed(hist(loss="poisson"), **LOGARITHM)
RECIPES["TransformedTargetRegressor of LightGBM Poisson"] = transformed(
    lgb.LGBMRegressor(objective="poisson", n_estimators=4, verbose=-1, n_jobs=1, min_child_samples=5),
    **LOGARITHM,
)
RECIPES["TransformedTargetRegressor quantiles"] = transformed(
    linear_model.LinearRegression(), transformer=QuantileTransformer(n_quantiles=50)
)
RECIPES["GridSearchCV of a forest"] = simple(
    lambda s: GridSearchCV(ensemble.RandomForestRegressor(3, random_state=s), {"max_depth": [2, 3]}, cv=2)
)
RECIPES["GridSearchCV of a pipeline"] = simple(
    lambda s: GridSearchCV(
        scaled(ensemble.GradientBoostingClassifier(n_estimators=3)),
        {"gradientboostingclassifier__max_depth": [2, 3]}, cv=2,
    ),
    kind="labels",
)  # fmt: skip
RECIPES["FrozenEstimator"] = simple(
    lambda s: hist("Classifier"), kind="labels", accepts=NAN, then=FrozenEstimator
)
RECIPES["BaggingRegressor of hist"] = simple(
    lambda s: ensemble.BaggingRegressor(hist(), n_estimators=3, random_state=s), accepts=NAN, **NO_RAW
)
RECIPES["BaggingClassifier of boosting, two classes"] = simple(
    lambda s: ensemble.BaggingClassifier(
        ensemble.GradientBoostingClassifier(n_estimators=2), n_estimators=3, random_state=s
    ),
    kind="binary",
)
RECIPES["StackingRegressor"] = simple(
    lambda s: ensemble.StackingRegressor([("hist", hist()), ("line", linear_model.LinearRegression())], cv=2),
    **NO_RAW,
)
RECIPES["VotingRegressor of unlike members"] = simple(
    lambda s: ensemble.VotingRegressor([("hist", hist()), ("line", linear_model.LinearRegression())]),
    **NO_RAW,
)
RECIPES["MultiOutputRegressor"] = simple(lambda s: MultiOutputRegressor(hist()), kind="several", **NO_RAW)
RECIPES["MultiOutputClassifier"] = simple(
    lambda s: MultiOutputClassifier(tree.DecisionTreeClassifier(max_depth=3, random_state=s)),
    kind="several labels", **NO_RAW,
)  # fmt: skip
RECIPES["RegressorChain"] = simple(
    lambda s: RegressorChain(linear_model.LinearRegression()), kind="several", tolerance=1e-10, **NO_RAW
)
RECIPES["Pipeline of polynomials"] = simple(
    lambda s: make_pipeline(
        PolynomialFeatures(2), ensemble.RandomForestRegressor(3, max_depth=4, random_state=s)
    )
)
RECIPES["Pipeline of a function"] = simple(
    lambda s: make_pipeline(
        FunctionTransformer(np.cbrt), ensemble.RandomForestRegressor(3, max_depth=4, random_state=s)
    )
)

# --- what is no estimator at all -------------------------------------------------------------------


def _function(ask: Callable[[Any], Any]) -> Case:
    def recipe(seed: int) -> Fitted:
        train = rows(seed, TRAINED)
        model = linear_model.LinearRegression().fit(train, score(train))
        return Fitted(
            lambda X: ask(model.predict(X)),
            rows(seed + 1, EXPLAINED),
            response=lambda X: ask(model.predict(X)),
            raw=False,
        )

    return recipe


RECIPES["a function"] = _function(np.tanh)
RECIPES["a function of two outputs"] = _function(lambda answer: np.column_stack([answer, answer**2]))
