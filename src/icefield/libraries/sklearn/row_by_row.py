"""Which of scikit-learn's estimators predict each row by itself: classes on a list, read from its source.

Not on it, though scikit-learn's own: NMF, dictionaries and sparse components (they stop when the batch has settled),
IterativeImputer (another way where all values of a batch are missing), FunctionTransformer with any function
(`scale` uses the batch's own mean), a dummy that answers at random, manifolds and radius neighbours, whose batches
may change type. A class counts only as it is: whatever derives from it may predict in another way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from icefield.libraries.adapter import type_name
from icefield.libraries.class_path import is_own_class

ALONE = frozenset((
    # linear models
    "ARDRegression", "BayesianRidge", "ElasticNet", "ElasticNetCV", "GammaRegressor", "HuberRegressor", "Lars", "LarsCV",
    "Lasso", "LassoCV", "LassoLars", "LassoLarsCV", "LassoLarsIC", "LinearRegression", "LogisticRegression",
    "LogisticRegressionCV", "MultiTaskElasticNet", "MultiTaskElasticNetCV", "MultiTaskLasso", "MultiTaskLassoCV",
    "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV", "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor", "Perceptron", "PoissonRegressor", "QuantileRegressor", "Ridge", "RidgeCV",
    "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier", "SGDOneClassSVM", "SGDRegressor", "TheilSenRegressor",
    "TweedieRegressor", "CCA", "PLSCanonical", "PLSRegression", "PLSSVD", "IsotonicRegression",
    "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis",
    # trees
    "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor",
    "ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor",
    "HistGradientBoostingClassifier", "HistGradientBoostingRegressor", "IsolationForest", "RandomTreesEmbedding",
    # kernels, neighbours, networks, densities
    "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR", "KernelRidge", "GaussianProcessClassifier",
    "GaussianProcessRegressor", "KNeighborsClassifier", "KNeighborsRegressor", "NearestCentroid", "LocalOutlierFactor",
    "LabelPropagation", "LabelSpreading", "MLPClassifier", "MLPRegressor", "BernoulliNB", "CategoricalNB",
    "ComplementNB", "GaussianNB", "MultinomialNB", "BayesianGaussianMixture", "GaussianMixture", "EllipticEnvelope",
    "DummyRegressor", "_ConstantPredictor", "_SigmoidCalibration", "_TemperatureScaling",
    # transformers
    "Binarizer", "KBinsDiscretizer", "KNNImputer", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator", "Normalizer",
    "OneHotEncoder", "OrdinalEncoder", "PolynomialFeatures", "PowerTransformer", "QuantileTransformer", "RobustScaler",
    "SimpleImputer", "SplineTransformer", "StandardScaler", "TargetEncoder", "AdditiveChi2Sampler", "Nystroem",
    "PolynomialCountSketch", "RBFSampler", "SkewedChi2Sampler", "GaussianRandomProjection", "SparseRandomProjection",
    "FactorAnalysis", "FastICA", "IncrementalPCA", "KernelPCA", "PCA", "TruncatedSVD", "KMeans", "MiniBatchKMeans",
    "NeighborhoodComponentsAnalysis", "GenericUnivariateSelect", "SelectFdr", "SelectFpr", "SelectFromModel", "SelectFwe",
    "SelectKBest", "SelectPercentile", "SequentialFeatureSelector", "VarianceThreshold", "CountVectorizer",
    "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer",
))  # fmt: skip

# Classes that hand rows to others, and the attributes that hold those.
COMPOSED: dict[str, tuple[str, ...]] = {
    "Pipeline": ("steps",),
    "FeatureUnion": ("transformer_list",),
    "ColumnTransformer": ("transformers_",),
    "TransformedTargetRegressor": ("regressor_", "transformer_"),
    "CalibratedClassifierCV": ("calibrated_classifiers_",),
    "_CalibratedClassifier": ("estimator", "calibrators"),
    "FrozenEstimator": ("estimator",),
    "StackingClassifier": ("estimators_", "final_estimator_"),
    "StackingRegressor": ("estimators_", "final_estimator_"),
    **dict.fromkeys(("GradientBoostingClassifier", "GradientBoostingRegressor"), ("init_",)),
    **dict.fromkeys(
        ("AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor", "VotingClassifier",
         "VotingRegressor", "ClassifierChain", "RegressorChain", "MultiOutputClassifier", "MultiOutputRegressor",
         "OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"),
        ("estimators_",),
    ),
    **dict.fromkeys(
        ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"), ("best_estimator_",)
    ),
    **dict.fromkeys(
        ("FixedThresholdClassifier", "TunedThresholdClassifierCV", "RFE", "RFECV", "RANSACRegressor",
         "SelfTrainingClassifier"),
        ("estimator_",),
    ),
}  # fmt: skip

CLASSES = ALONE | COMPOSED.keys() | {"FunctionTransformer", "DummyClassifier"}

# Functions that are given to estimators, and used while they are fitted only.
ONLY_FOR_FITTING = {"score_func", "scoring", "importance_getter", "refit", "cv", "fun", "feature_names_out"}
KERNELS = "sklearn.gaussian_process.kernels"
NOT_AT_RANDOM = ("most_frequent", "prior", "constant")  # of a dummy's strategies

# Functions of a whole table that treat each row by itself, with the settings that leave it so.
FUNCTIONS: dict[str, dict[str, set[str]]] = {
    "numpy": {
        "nan_to_num": {"copy", "nan", "posinf", "neginf"},
        "round": {"decimals"},
        "around": {"decimals"},
    },
    "sklearn.preprocessing": {"normalize": {"norm", "copy"}, "binarize": {"threshold", "copy"}},
}


def is_row_by_row(model: Any, is_known: Callable[[Any], bool]) -> bool:
    """Whether an estimator of scikit-learn's own, and all it hands rows to, is known to treat each row by itself."""
    if not is_own_class(model, "sklearn", CLASSES):
        return False
    name = type_name(model)
    if name == "FunctionTransformer":
        both = ((model.func, model.kw_args), (model.inverse_func, model.inv_kw_args))
        return all(_is_of_single_rows(*function) for function in both)
    if name == "DummyClassifier":
        return model.strategy in NOT_AT_RANDOM
    if name in COMPOSED:  # an attribute that is not there says that it is not known
        attributes = [getattr(model, attribute) for attribute in COMPOSED[name]]
        return all(is_known(part) for value in attributes for part in _parts(value))
    return not any(_is_users_function(*setting) for setting in vars(model).items())


def _parts(value: Any) -> Iterator[Any]:
    """The estimators in an attribute: one, several, or named ones; not the words that stand for none."""
    if isinstance(value, (list, np.ndarray)):
        for item in value:
            yield from _parts(item[1] if isinstance(item, tuple) else item)
    elif value is not None and not isinstance(value, str):
        yield value


def _is_users_function(name: str, value: Any) -> bool:
    """Whether a setting is a function, which may be handed many rows at once: weights, kernels, distances, tokens."""
    is_setting = name not in ONLY_FOR_FITTING and not name.endswith("_") and not name.startswith("_")
    if not is_setting or not callable(value) or isinstance(value, type):
        return False
    if type(value).__module__ != KERNELS:
        return True
    return any(callable(part) and type(part).__module__ != KERNELS for part in value.get_params().values())


def _is_of_single_rows(function: Any, settings: Any) -> bool:
    """Whether a function of a table is one of numpy's of single numbers, or listed."""
    if function is None:
        return True
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc):
        homes = (np, sys.modules.get("scipy.special"))  # not one made of somebody's function
        is_theirs = any(getattr(home, name, None) is function for home in homes)
        return is_theirs and function.nin == function.nout == 1 and not settings
    for module, listed in FUNCTIONS.items():
        if name in listed and getattr(sys.modules.get(module), name, None) is function:
            return set(settings or ()) <= listed[name] and all(map(np.isscalar, (settings or {}).values()))
    return False
