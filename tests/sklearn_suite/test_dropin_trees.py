"""Trees that answer for the model: the same numbers as scikit-learn's, and only where it pays."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.inspection
from dropin_samples import BINARY, FRAME, FRAME_Y, THREE, X, Y, assert_same, assert_same_call, encoded
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import icefield.engines.training.training_averages as training
import icefield.sklearn as ours
from icefield.engines.trees import TreesEngine
from icefield.sklearn import exact as trees

OWN_COSTS = ("FIRST_USE", "FIXED", "FIXED_PIPELINE", "OWN_NODE", "OWN_PREDICTION", "WORTH_READING")


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lets trees answer however little there is to do, and counts their answers."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return counting

    for cost in OWN_COSTS:
        monkeypatch.setattr(trees, cost, 0)
    monkeypatch.setattr(TreesEngine, "answer", counted("brute", TreesEngine.answer))
    monkeypatch.setattr(training, "training_average", counted("recursion", training.training_average))
    return counts


HOLES = np.where(np.random.default_rng(3).random(X.shape) < 0.1, np.nan, X)

READABLE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "tree": lambda: (DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, Y), X),
    "several outputs": lambda: (RandomForestRegressor(4, random_state=0).fit(X, np.c_[Y, -Y**2]), X),
    "extra trees": lambda: (ExtraTreesRegressor(4, random_state=0).fit(X, Y), X),
    "two classes": lambda: (RandomForestClassifier(4, random_state=0).fit(X, BINARY), X),
    "three classes": lambda: (RandomForestClassifier(4, random_state=0).fit(X, THREE), X),
    "boosted two": lambda: (GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, BINARY), X),
    "boosted three": lambda: (HistGradientBoostingClassifier(max_iter=5).fit(X, THREE), X),
    "missing": lambda: (HistGradientBoostingRegressor(max_iter=10).fit(HOLES, Y), HOLES),
    "logarithmic": lambda: (HistGradientBoostingRegressor(loss="poisson", max_iter=10).fit(X, Y**2), X),
    "scaled": lambda: (make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=5)).fit(X, Y), X),
    "search": lambda: (GridSearchCV(DecisionTreeRegressor(), {"max_depth": [3]}).fit(X, Y), X),
    "lightgbm": lambda: (LGBMRegressor(n_estimators=5, verbose=-1).fit(X, Y), X),
    "lightgbm two": lambda: (LGBMClassifier(n_estimators=5, verbose=-1).fit(X, BINARY), X),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", READABLE)
def test_brute_by_trees_equals_scikit_learn(name: str, answered: Counter[str]) -> None:
    model, rows = READABLE[name]()
    weights = np.random.default_rng(1).exponential(size=len(rows))
    finite = {0: np.linspace(-1.5, 1.5, 6), 1: [0.2, -0.4]}
    for options in (
        {},
        {"kind": "both"},
        {"sample_weight": weights},
        {"kind": "both", "sample_weight": weights},
    ):
        asked: dict[str, Any] = {"method": "brute", "custom_values": finite, **options}
        assert_same_call(model, rows, [0], **asked)
        assert_same_call(model, rows, [0, 1], **asked)
    assert answered["brute"] == 8


@pytest.mark.parametrize(
    "model", [GradientBoostingClassifier(n_estimators=5), HistGradientBoostingClassifier(max_iter=5)]
)
@pytest.mark.parametrize("target", [BINARY, THREE], ids=["two", "three"])
@pytest.mark.parametrize("response", ["auto", "predict_proba", "decision_function"])
def test_responses_by_trees_equal_scikit_learns(
    model: Any, target: Any, response: str, answered: Counter[str]
) -> None:
    fitted = sklearn.base.clone(model).fit(X, target)
    assert_same_call(fitted, X, [0], method="brute", response_method=response, kind="both", grid_resolution=5)
    assert answered["brute"] == 1


@pytest.mark.parametrize("features", [["colour"], ["a", "floor"], ["size"]])
def test_categories_by_trees_equal_scikit_learns(features: Any, answered: Counter[str]) -> None:
    categories = ["colour", "size", "floor"]
    pipeline = encoded(RandomForestRegressor(4, random_state=0)).fit(FRAME, FRAME_Y)
    rows = FRAME[["a", "colour", "size", "floor"]].astype({"size": "category"})
    boosted = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=3, categorical_features=categories)
    boosted.fit(rows, FRAME_Y)
    for model, given in ((pipeline, FRAME), (boosted, rows)):
        assert_same_call(
            model, given, features, method="brute", categorical_features=categories, kind="both", grid_resolution=5
        )  # fmt: skip
    assert answered["brute"] == 2


def test_single_precision_comes_back_in_single_precision(answered: Counter[str]) -> None:
    model = XGBRegressor(n_estimators=5, n_jobs=1).fit(X, Y)
    assert_same_call(model, X, [0], kind="both", grid_resolution=5, rtol=1e-5)
    assert answered["brute"] == 1
    # Weighted averages are in double precision, to the digits of which only the model's own numbers agree.
    assert_same_call(model, X, [0], sample_weight=np.arange(1.0, 81.0), kind="both", grid_resolution=5)
    assert answered["brute"] == 1


def test_what_is_not_clearly_the_same_is_asked_of_the_model(answered: Counter[str]) -> None:
    bag = BaggingClassifier(GradientBoostingClassifier(n_estimators=3), 2, random_state=0).fit(X, BINARY)
    assert_same_call(bag, X, [0], response_method="decision_function", grid_resolution=4)
    tree = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    assert_same_call(tree, X, [0, 0], method="brute", grid_resolution=4)

    class Doubled(DecisionTreeRegressor):
        def predict(self, X: Any, check_input: bool = True) -> Any:
            return 2 * super().predict(X, check_input)

    assert_same_call(Doubled(max_depth=3).fit(X, Y), X, [0], method="brute", grid_resolution=4)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        ours.partial_dependence(tree, X, [0], method="brute", custom_values={0: [np.inf]})
    assert not (set(answered) - {"brute"})
    assert answered["brute"] <= 2  # asked, and declined, for the column that moves twice and for infinity


# --- recursion -------------------------------------------------------------------------------------

RECURSIVE: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, Y, sample_weight=np.abs(Y)),
    "forest": lambda: RandomForestRegressor(5, random_state=0).fit(X, Y),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, 100 + Y),
    "two classes": lambda: GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, BINARY),
    "three classes": lambda: GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, THREE),
    "hist": lambda: HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(X, 100 + Y),
    "hist two": lambda: HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5).fit(X, BINARY),
    "hist three": lambda: HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5).fit(X, THREE),
    "hist logarithmic": lambda: HistGradientBoostingRegressor(loss="gamma", max_iter=10).fit(X, Y**2 + 1),
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_recursion_by_trees_equals_scikit_learn(name: str, answered: Counter[str]) -> None:
    model = RECURSIVE[name]()
    for features, resolution in (([0], 30), ([0, 2], 8), ([0, 1, 2, 3], 3)):
        assert_same_call(model, X, features, method="recursion", grid_resolution=resolution)
    assert_same_call(model, X.astype(np.float32), [0, 2], method="recursion", grid_resolution=8)
    assert answered["recursion"] == 4


def test_recursion_at_the_edge_of_single_precision_equals_scikit_learn(answered: Counter[str]) -> None:
    """scikit-learn compares its grid in double precision, also where X has less."""
    single = X.astype(np.float32)
    model = HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(single, Y)
    nodes = np.concatenate([p.nodes for (p,) in model._predictors])
    edges = nodes["num_threshold"][(nodes["is_leaf"] == 0) & (nodes["feature_idx"] == 0)]
    near = np.unique([edges, np.nextafter(edges, 9.0), np.nextafter(edges, -9.0)])
    assert_same_call(model, single, [0], method="recursion", custom_values={0: near})
    assert answered["recursion"] == 1


def test_recursion_that_scikit_learn_warns_of_or_refuses_is_left_to_it(answered: Counter[str]) -> None:
    started = GradientBoostingRegressor(n_estimators=3, init=LinearRegression()).fit(X, Y)
    with pytest.warns(UserWarning, match="non-constant init predictor"):
        given = ours.partial_dependence(started, X, [0], method="recursion", grid_resolution=5)
    with pytest.warns(UserWarning, match="non-constant init predictor"):
        theirs = sklearn.inspection.partial_dependence(started, X, [0], method="recursion", grid_resolution=5)
    np.testing.assert_array_equal(given["average"], theirs["average"])
    weighted = HistGradientBoostingRegressor(max_iter=3).fit(X, Y, sample_weight=np.ones(80))
    with pytest.raises(NotImplementedError, match="sample weights were given"):
        ours.partial_dependence(weighted, X, [0], method="recursion")
    twice = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    assert_same_call(twice, X, [0, 0], method="recursion", grid_resolution=4)


def test_recursion_of_a_misread_model_that_cannot_be_followed_is_an_error() -> None:
    model = DecisionTreeRegressor(max_depth=3).fit(HOLES, Y)
    with (
        pytest.warns(UserWarning, match="sends a missing value right"),
        pytest.raises(ValueError, match=r"cannot be 'recursion'.*method='brute'"),
    ):
        ours.partial_dependence(model, HOLES, [0, 0], method="recursion", custom_values={0: [0.0, np.nan]})


def test_a_version_without_its_own_walk_is_answered_from_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    model = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    expected = sklearn.inspection.partial_dependence(model, X, [0], method="recursion", grid_resolution=4)
    monkeypatch.setattr("icefield.sklearn.recursion.sklearn_recursion", lambda estimator: None)
    given = ours.partial_dependence(model, X, [0], method="recursion", grid_resolution=4)
    assert_same(given, expected)


# --- only where it pays ----------------------------------------------------------------------------


def test_sizes_are_counted_without_reading() -> None:
    for model in (DecisionTreeRegressor(max_depth=3), RandomForestRegressor(4), GradientBoostingRegressor(n_estimators=6),
                  HistGradientBoostingRegressor(max_iter=5)):  # fmt: skip
        fitted = make_pipeline(StandardScaler(), sklearn.base.clone(model)).fit(X, Y)
        size = trees.size_of(fitted)
        assert size is not None
        assert size.trees in (1, 4, 5, 6)
        assert size.nodes > 2 * size.trees
    assert trees.size_of(LinearRegression().fit(X, Y)) is None
    pipelines = [(n, make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2))) for n in "ab"]
    assert trees.size_of(VotingRegressor(pipelines).fit(X, Y)) is None


@pytest.mark.parametrize("loaded", [True, False])
def test_trees_answer_where_the_work_is_worth_it(loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "FIRST_USE", 0.0 if loaded else 1e12)
    monkeypatch.setattr(trees, "sys", SimpleNamespace(modules={}))
    size = trees.Size(trees=100, nodes=6_000)
    assert not trees.brute_pays(size, 1_000, each_built=False)
    assert not trees.recursion_pays(size, 100)
    assert trees.brute_pays(size, 50_000, each_built=False) == loaded
    assert trees.brute_pays(size, 50_000, each_built=True) == loaded
    assert trees.brute_pays(trees.Size(1, 3), 100_000, each_built=False, way="frame") == loaded
    assert trees.brute_pays(trees.Size(1, 3), 100_000, each_built=False, way="pipeline") == loaded
    assert not trees.brute_pays(trees.Size(1, 3), 20_000, each_built=False, way="pipeline")
    assert trees.recursion_pays(size, 10_000) == loaded
    deep = trees.Size(trees=100, nodes=1_000_000)  # takes longer to read than to ask a few times
    assert not trees.brute_pays(deep, 20_000, each_built=False)


def test_small_questions_leave_the_kernels_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c",
         "import sys, numpy as np, icefield.sklearn as ours\n"
         "from sklearn.ensemble import GradientBoostingRegressor\n"
         "X = np.random.default_rng(0).normal(size=(80, 4))\n"
         "model = GradientBoostingRegressor(n_estimators=5).fit(X, X[:, 0])\n"
         "for method in ('brute', 'recursion'): ours.partial_dependence(model, X, [0], method=method)\n"
         "print('icefield.kernels' in sys.modules)"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["False"]
