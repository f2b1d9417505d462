"""An Explainer that travels: pickled, copied, sent to another process, and asked there."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import catboost
import joblib
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import xgboost as xgb
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from icefield import Explainer
from icefield.core.prediction_level import prediction_level

try:
    import cloudpickle
except ImportError:  # older versions of joblib bring their own
    from joblib.externals import cloudpickle

DRAW = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": DRAW.normal(size=120),
        "b": DRAW.normal(size=120),
        "c": pd.Categorical(np.array(["x", "y", "z"])[DRAW.integers(0, 3, 120)]),
        "when": pd.date_range("2020-01-01", periods=120, freq="D"),
    }
)
X = FRAME[["a", "b"]].to_numpy()
Y = X[:, 0] * X[:, 1]
WEIGHTS = DRAW.uniform(0.5, 2.0, 120)


def product(rows):
    return rows[:, 0] * rows[:, 1]


def pipeline():
    steps = make_column_transformer((OneHotEncoder(), ["c"]), (StandardScaler(), ["a", "b"]))
    return make_pipeline(steps, LogisticRegression()).fit(FRAME, Y > 0)


# Of each its model and rows, fitted once, with the Explainer's options.
FITTED = {
    "function": lambda: (product, X, {"row_by_row": True}),
    "forest": lambda: (RandomForestClassifier(5, random_state=0).fit(X, Y > 0), X, {"y": Y > 0, "engine": "trees"}),
    "hist": lambda: (HistGradientBoostingRegressor(max_iter=5).fit(X, Y), X, {"background": "training"}),
    "LightGBM": lambda: (
        lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1).fit(FRAME[["a", "b", "c"]], Y), FRAME, {"by": "c", "weights": WEIGHTS}
    ),
    "XGBoost": lambda: (xgb.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, Y), X, {"scale": "raw"}),
    "CatBoost": lambda: (
        catboost.CatBoostRegressor(iterations=5, verbose=0, thread_count=1, allow_writing_files=False).fit(X, Y), X, {}
    ),
    "pipeline": lambda: (pipeline(), FRAME, {"seed": 3, "threads": 2}),
    "polars": lambda: (HistGradientBoostingRegressor(max_iter=5).fit(X, Y), pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), {}),
    "pyarrow": lambda: (lambda_free_sum, pa.table({"a": X[:, 0], "b": X[:, 1]}), {}),
    "sparse": lambda: (HistGradientBoostingRegressor(max_iter=5).fit(X, Y), scipy.sparse.csr_matrix(X), {}),
}  # fmt: skip


@cache
def fitted(name):
    return FITTED[name]()


def made(name):
    """A new Explainer, which has answered nothing."""
    model, rows, options = fitted(name)
    return Explainer(model, rows, **options)


@cache
def asked(name):
    """One that has answered, and its answers."""
    explainer = made(name)
    return explainer, answers(explainer)


def lambda_free_sum(rows):
    return np.asarray(rows.column(0)) + np.asarray(rows.column(1))


def by_joblib(explainer):
    buffer = io.BytesIO()
    joblib.dump(explainer, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


WAYS = {
    "pickle": lambda explainer: pickle.loads(pickle.dumps(explainer)),
    "oldest pickle": lambda explainer: pickle.loads(pickle.dumps(explainer, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "cloudpickle": lambda explainer: pickle.loads(cloudpickle.dumps(explainer)),
    "joblib": by_joblib,
}


def answers(explainer):
    effect = explainer.partial_dependence(0, grid=5)
    found = [effect.average, effect.baseline, *(group.average for group in effect.groups.values())]
    if explainer.study.background == "data":
        found += [explainer.importance()["individual"], explainer.ale(0).average]
    return effect.why, found


def assert_same(one, other):
    assert one[0] == other[0]
    for a, b in zip(one[1], other[1], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FITTED)
def test_an_explainer_travels(name, way):
    """Before the first question, and after some."""
    explainer, expected = asked(name)
    fresh = WAYS[way](made(name))
    assert_same(answers(fresh), expected)
    assert_same(answers(WAYS[way](explainer)), expected)
    assert repr(fresh) == repr(explainer)


def test_a_study_travels_too():
    study = pickle.loads(pickle.dumps(made("forest").study))
    assert study.plan.engine.name == "trees"


def test_kept_memory_stays_at_home():
    explainer = made("LightGBM")
    before = len(pickle.dumps(explainer))
    answers(explainer)
    explainer.interactions()
    assert len(pickle.dumps(explainer)) <= 1.02 * before


def test_a_lambda_goes_by_cloudpickle():
    explainer = Explainer(lambda rows: 2 * rows[:, 0], X)
    sent = pickle.loads(cloudpickle.dumps(explainer))
    np.testing.assert_array_equal(sent.partial_dependence(0).average, explainer.partial_dependence(0).average)


def test_a_copy_has_locks_of_its_own():
    """The original may be in the middle of a question when its copy is asked."""
    explainer = made("forest")
    other = copy.copy(explainer.study)
    done = []
    with explainer.study.cache._lock:
        asker = threading.Thread(target=lambda: done.append(prediction_level(other)))
        asker.start()
        asker.join(30)
    assert done


def asked_there(explainer):
    return answers(explainer)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_an_explainer_is_asked_in_another_process():
    explainers = [made(name) for name in ("forest", "LightGBM", "pipeline")]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(asked_there, explainers))
    for explainer, there in zip(explainers, found, strict=True):
        assert_same(there, answers(explainer))


def test_joblib_sends_explainers_to_its_workers():
    explainer = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
    ask = joblib.delayed(lambda ex, feature: ex.partial_dependence(feature, grid=4).average)
    found = joblib.Parallel(n_jobs=2)(ask(explainer, feature) for feature in (0, 1))
    for feature, there in enumerate(found):
        np.testing.assert_array_equal(there, explainer.partial_dependence(feature, grid=4).average)


@pytest.mark.slow
def test_a_saved_explainer_is_loaded_by_another_interpreter(tmp_path):
    explainer = made("XGBoost")
    file = tmp_path / "explainer.pickle"
    file.write_bytes(pickle.dumps(explainer))
    code = (
        "import pickle, sys; ex = pickle.load(open(sys.argv[1], 'rb')); "
        "print(ex.partial_dependence(0, grid=3).average.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(explainer.partial_dependence(0, grid=3).average.tolist())
