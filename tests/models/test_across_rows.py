"""Models that look across rows give the curves of a plain loop, in every question; and what is known not to."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, PairwiseKernel
from sklearn.inspection import partial_dependence as sklearns
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, binarize, normalize, scale
from sklearn.svm import SVR
from sklearn.utils.discovery import all_estimators

import icefield.sklearn
from icefield import Explainer
from icefield.models.across_rows import known_row_by_row
from icefield.report import build
from icefield.statistics.interactions import LEAST_JOINT
from models.batch_models import (
    SETTINGS,
    TRANSFORMERS,
    Centred,
    batch_models,
    listed_functions,
    listed_transformers,
    pipeline,
    rows_of,
    table,
    target,
)

MODELS = batch_models()
SAMPLE = ("scale()", "quantile_transform(n_quantiles=10)", "cat.codes", "imputes by the batch", "a subclass",
          "NMF with 'mu'", "b / b.max() on sorted rows", "adds up")  # fmt: skip
VALUES = np.array([0.2, 0.7, 1.3])

some_slow = [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]


@pytest.fixture(params=some_slow)
def case(request: pytest.FixtureRequest) -> tuple[Any, pd.DataFrame]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[request.param](), rows_of(request.param)


def loop(model: Any, X: pd.DataFrame, feature: str, values: np.ndarray) -> np.ndarray:
    """Predictions of all rows at each value, one call a value: ``(rows, values)``."""
    return np.stack([model.predict(X.assign(**{feature: value})) for value in values], axis=1)


pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # scikit-learn's about names, and about what did not converge


def test_there_are_many_and_none_is_known() -> None:
    assert len(MODELS) >= 65
    assert set(SAMPLE) <= set(MODELS)


@pytest.mark.slow
def test_those_of_scikit_learn_are_all_there() -> None:
    assert listed_functions() == set(SETTINGS)
    assert listed_transformers() == set(TRANSFORMERS)


def test_curves_are_those_of_one_call_a_grid_point(case: Any) -> None:
    model, X = case
    ex = Explainer(model, X)
    found = ex.ice("a", grid=VALUES)
    assert "not known to predict row by row" in found.why
    expected = loop(model, X, "a", VALUES)
    np.testing.assert_allclose(found.individual[0], expected, atol=1e-12)
    np.testing.assert_allclose(found.average[0], expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        ex.partial_dependence("a", grid=VALUES, quantiles=[0.5]).quantiles[0.5][0],
        np.quantile(expected, 0.5, axis=0, method="inverted_cdf"),
        atol=1e-12,
    )
    pair = ex.partial_dependence("a", "c", grid=[VALUES, VALUES[:2]]).average[0]
    for j, value in enumerate(VALUES[:2]):
        np.testing.assert_allclose(
            pair[:, j], loop(model, X.assign(c=value), "a", VALUES).mean(axis=0), atol=1e-12
        )


def test_the_drop_in_has_scikit_learns_numbers(case: Any) -> None:
    model, X = case
    asked = {"kind": "both", "grid_resolution": 4}
    try:
        theirs = sklearns(model, X, ["a"], **asked)
    except ValueError:  # it takes no missing values for a grid
        pytest.skip("scikit-learn has no answer")
    ours = icefield.sklearn.partial_dependence(model, X, ["a"], **asked)
    np.testing.assert_allclose(ours["average"], theirs["average"], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(ours["individual"], theirs["individual"], rtol=1e-10, atol=1e-13)


def test_local_effects_move_all_rows_in_one_call(case: Any) -> None:
    model, X = case
    edges = np.array([0.05, 0.5, 1.0, 5.0])
    found = Explainer(model, X).ale("a", bins=edges)
    step = np.clip(np.searchsorted(edges, X["a"], side="left") - 1, 0, 2)
    change = model.predict(X.assign(a=edges[step + 1])) - model.predict(X.assign(a=edges[step]))
    curve = np.concatenate([[0.0], np.cumsum([change[step == s].mean() for s in range(3)])])
    np.testing.assert_allclose(found.average[0] - found.average[0][0], curve, atol=1e-11)


@pytest.mark.sampled(2)
def test_interactions_cross_the_sample_call_by_call(case: Any) -> None:
    model, X = case
    some = X[-16:].reset_index(drop=True)
    table = Explainer(model, some).interactions(["a", "c"], overall=False)

    def own(columns: list[str]) -> np.ndarray:
        values = [
            model.predict(some.assign(**some.loc[i, columns].to_dict())).mean() for i in range(len(some))
        ]
        return np.array(values) - np.mean(values)

    joint, rest = own(["a", "c"]), own(["a", "c"]) - own(["a"]) - own(["c"])
    size, unit = np.square(joint).mean(), model.predict(some).std()
    # A share of the joint effect, at most all of it, and 0 where that effect is next to nothing.
    expected = min(1.0, np.sqrt(np.square(rest).mean() / size)) if np.sqrt(size) > LEAST_JOINT * unit else 0.0
    np.testing.assert_allclose(table["h"], [expected], atol=1e-6)
    np.testing.assert_allclose(table["strength"], [np.sqrt(np.square(rest).mean())], atol=1e-7 * unit + 1e-9)


def test_importance_rests_on_the_same_curves(case: Any) -> None:
    model, X = case
    found = Explainer(model, X, y=target()).importance(["a"], grid=VALUES, measure="curve_sd")
    curve = loop(model, X, "a", VALUES).mean(axis=0)
    np.testing.assert_allclose(found["importance"], [curve.std(ddof=1)], atol=1e-12)
    assert "not known to predict row by row" in " ".join(found.notes)


def test_a_stream_of_rows_is_refused(case: Any, tmp_path: Any, complains: Any) -> None:
    model, X = case
    X.to_parquet(tmp_path / "rows.parquet")
    ex = Explainer(model, tmp_path / "rows.parquet")
    with complains("X", "not known to predict row by row", "row_by_row=True"):
        ex.partial_dependence("a", grid=VALUES)


@pytest.mark.sampled(3)
def test_a_report_draws_the_curves_of_the_loop_and_says_so(case: Any) -> None:
    model, X = case
    found = build(Explainer(model, X).study, ["a"], individual=True)
    panel = found.features[0].panel
    shown = [(i, value) for i, value in enumerate(panel.values) if value is not None]
    expected = loop(model, X, "a", np.array([value for _, value in shown]))
    at, size = [i for i, _ in shown], max(1.0, float(np.abs(expected).max()))
    # Pages hold five digits of averages, four of single rows' curves.
    np.testing.assert_allclose(
        np.array(panel.average[0])[at], expected.mean(axis=0), rtol=2e-5, atol=2e-5 * size
    )
    drawn = np.array(panel.curves[0])[:, at]
    np.testing.assert_allclose(drawn, expected[panel.rows], rtol=0, atol=2e-3 * size)
    assert any("not known to predict row by row" in fact.text for fact in found.facts)


# --- the user's word -------------------------------------------------------------------------------------


def test_precision_needs_the_users_word(complains: Any) -> None:
    X = table().to_numpy()
    with complains("precision", "not known to predict row by row", "row_by_row=True"):
        Explainer(lambda rows: rows[:, 0], X).partial_dependence(0, precision=0.1)
    found = Explainer(lambda rows: rows[:, 0], X, row_by_row=True).partial_dependence(0, precision=0.1)
    assert "row_by_row=True" in found.why


def test_the_users_word_opens_streams_and_is_named(tmp_path: Any) -> None:
    X = table()
    X.to_parquet(tmp_path / "rows.parquet")

    def model(rows: Any) -> Any:
        return np.asarray(rows["a"]) * np.asarray(rows["c"])

    found = Explainer(model, tmp_path / "rows.parquet", row_by_row=True).partial_dependence("a", grid=VALUES)
    np.testing.assert_allclose(found.average[0], [(value * X["c"]).mean() for value in VALUES])
    assert "row_by_row=True" in found.why


def test_a_trial_may_take_the_fast_way_back_but_never_gives_it(complains: Any) -> None:
    A = table().to_numpy()
    ex = Explainer(lambda rows: rows[:, 0] - rows[:, 0].mean(), A, row_by_row=True)
    found = ex.partial_dependence(0, grid=[0.0, 1.0, 2.0])
    np.testing.assert_array_equal(found.average, np.zeros((1, 3)))
    assert "looks across rows, though row_by_row=True" in found.why
    with complains("precision", "looks across"):
        ex.partial_dependence(0, precision=0.1)


def test_the_users_word_is_true_or_false(complains: Any) -> None:
    with complains("row_by_row", "True or False", error=TypeError):
        Explainer(len, table(), row_by_row="yes")


@pytest.mark.parametrize(
    "model",
    [
        lambda A: A[:, 0] * 1e6 + A[:, 1],
        lambda A: (A @ np.arange(3.0)).astype(np.float32),
        lambda A: np.random.default_rng().normal(size=len(A)),
    ],
)
def test_rounding_and_chance_are_not_taken_for_other_rows(model: Any) -> None:
    assert "across rows" not in Explainer(model, table().to_numpy(), row_by_row=True).plan.why


def test_every_call_holds_the_rows_that_were_given_in_order() -> None:
    calls = []
    X = table()

    def model(rows: pd.DataFrame) -> np.ndarray:
        calls.append(rows)
        return rows["a"].to_numpy()

    ex = Explainer(model, X)
    calls.clear()
    ex.ice("a", grid=VALUES)
    whole = [rows for rows in calls if len(rows) == len(X)]
    assert len(whole) >= len(VALUES)
    assert {len(rows) for rows in calls} == {len(X)}
    for rows in whole:
        pd.testing.assert_frame_equal(rows[["b", "c"]].reset_index(drop=True), X[["b", "c"]])
    calls.clear()
    ex.partial_dependence("a", grid=VALUES, rows=np.array([5, 3, 8]))
    assert {tuple(rows["b"]) for rows in calls} == {tuple(X["b"].iloc[[5, 3, 8]])}


# --- what is known ---------------------------------------------------------------------------------------


def test_compositions_are_known_if_their_parts_are() -> None:
    X, y = table(), target()
    batch = FunctionTransformer(scale)

    def known(model: Any, *given: Any) -> bool:
        return known_row_by_row(model.fit(*(given or (X, y))))

    for part, is_known in ((StandardScaler(), True), (batch, False), (FunctionTransformer(np.tanh), True)):
        inner = make_pipeline(part, LinearRegression())
        assert known(inner) is is_known
        assert (
            known(make_pipeline(make_column_transformer((part, ["a"]), remainder="passthrough"), Ridge()))
            is is_known
        )
        assert known(make_pipeline(FeatureUnion([("one", part)]), Ridge())) is is_known
        assert known(BaggingRegressor(inner, 2)) is is_known
        assert known(VotingRegressor([("one", inner), ("two", Ridge())])) is is_known
        assert known(StackingRegressor([("one", inner)], Ridge(), cv=2)) is is_known
        assert known(StackingRegressor([("one", Ridge())], inner, cv=2)) is is_known
        assert known(GridSearchCV(inner, {"linearregression__fit_intercept": [True]}, cv=2)) is is_known
        assert known(AdaBoostRegressor(inner, n_estimators=2)) is is_known
        assert known(TransformedTargetRegressor(inner)) is is_known
        assert known(MultiOutputRegressor(inner), X, np.stack([y, y], axis=1)) is is_known
        assert known(GradientBoostingRegressor(init=inner, n_estimators=2)) is is_known
        chosen = make_pipeline(part, LogisticRegression())
        assert known(OneVsRestClassifier(chosen), X, np.digitize(y, [-1, 1])) is is_known


def test_functions_are_known_only_where_listed() -> None:
    X, y = table(), target()

    def known(function: Any, **settings: Any) -> bool:
        return known_row_by_row(FunctionTransformer(function, kw_args=settings or None))

    assert known(None)
    assert known(np.log1p)
    assert known(np.nan_to_num, nan=0.0)
    assert known(normalize)
    assert known(normalize, norm="l1")
    assert known(binarize, threshold=0.5)
    assert not known(normalize, axis=0)
    assert not known(np.nan_to_num, nan=X.to_numpy())
    assert not known(np.frompyfunc(abs, 1, 1))
    assert not known(np.log1p, where=X.to_numpy() > 0)
    assert not known(np.cumsum)
    assert not known(lambda rows: rows)
    assert not known_row_by_row(FunctionTransformer(np.log1p, inverse_func=scale))
    logs = TransformedTargetRegressor(LinearRegression(), func=np.exp, inverse_func=np.log)
    assert known_row_by_row(logs.fit(X, y - y.min()))


def test_settings_that_look_across_rows_are_not_known() -> None:
    X, y = table(), target()
    assert known_row_by_row(KNeighborsRegressor(weights="distance").fit(X, y))
    assert not known_row_by_row(KNeighborsRegressor(weights=np.ones_like).fit(X, y))
    assert known_row_by_row(SVR().fit(X, y))
    assert not known_row_by_row(SVR(kernel=np.dot))
    assert known_row_by_row(GaussianProcessRegressor(2.0 * RBF()).fit(X, y))
    assert not known_row_by_row(GaussianProcessRegressor(2.0 * RBF() + PairwiseKernel(metric=np.dot)))
    assert known_row_by_row(DummyClassifier(strategy="prior"))
    assert not known_row_by_row(DummyClassifier(strategy="stratified"))
    assert not known_row_by_row(Centred())
    assert not known_row_by_row(pipeline(lambda rows: rows))


@pytest.mark.slow
def test_whatever_is_known_of_scikit_learn_answers_each_row_by_itself() -> None:
    """All that can be fitted to a table as it comes, on all rows and on each alone; those that differ are not known."""
    X, y = table(missing=False).to_numpy(), target()
    labels = np.digitize(y, [-1.0])
    known, differ = [], []
    for name, kind in all_estimators():
        try:
            seeded = {"random_state": 0} if "random_state" in inspect.signature(kind).parameters else {}
            model = kind(**seeded)
            model.fit(X, labels if hasattr(model, "predict_proba") or "Classif" in name else y)
        except Exception:
            continue
        is_known = known_row_by_row(model)
        for method in ("predict_proba", "decision_function", "predict", "transform"):
            try:
                ask = getattr(model, method)
                whole = _dense(ask(X.copy()), len(X))
                alone = np.concatenate([_dense(ask(X[i : i + 1].copy()), 1) for i in range(ROWS_ALONE)])
            except Exception:
                continue
            alike = whole.dtype.kind not in "fiu" or np.allclose(
                whole[:ROWS_ALONE], alone, rtol=1e-6, atol=1e-8
            )
            if is_known:
                known.append(name)
                assert alike, (name, method)
            elif not alike:
                differ.append(name)
    assert len(set(known)) >= 90
    assert {"NMF", "MiniBatchNMF"} <= set(differ)


ROWS_ALONE = 12


def _dense(answer: Any, n_rows: int) -> np.ndarray:
    return np.reshape(answer.toarray() if hasattr(answer, "toarray") else answer, (n_rows, -1))
