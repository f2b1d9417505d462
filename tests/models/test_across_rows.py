"""Models that look across rows give the curves scikit-learn gives, in every question, and say so."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import partial_dependence as sklearns
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import icefield.sklearn
from icefield import Explainer
from icefield.models.across_rows import known_row_by_row

ROWS = 400


def table(missing: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    if missing:
        X.loc[X.index % 7 == 0, "b"] = np.nan
    return X


def target(X: pd.DataFrame) -> np.ndarray:
    return np.asarray(X["a"] - 2 * X["b"].fillna(0) + X["a"] * X["c"])


class Centred(RegressorMixin, BaseEstimator):
    """Measures every row from the mean of the batch."""

    def fit(self, X: Any, y: Any) -> Centred:
        self.inner_ = LinearRegression().fit(np.asarray(X), y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        rows = np.asarray(X)
        return self.inner_.predict(rows - rows.mean(axis=0)) + rows[:, 0] * rows[:, 2]


class Ordinal(Centred):
    """Predicts a row's place in the batch."""

    def predict(self, X: Any) -> np.ndarray:
        rows = np.asarray(X)
        return np.argsort(np.argsort(rows[:, 0] + rows[:, 1])) / len(rows)


class Cumulated(Centred):
    """Adds up along the batch, so that order counts."""

    def predict(self, X: Any) -> np.ndarray:
        return np.cumsum(np.asarray(X)[:, 0] ** 2)


def pipeline(function: Any) -> Any:
    X = table()
    return make_pipeline(FunctionTransformer(function), LinearRegression()).fit(X, target(X))


def batch_imputed(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.fillna(rows.mean())


MODELS: dict[str, Any] = {
    "ranks": lambda: pipeline(lambda rows: rows.rank(pct=True)),
    "centres": lambda: pipeline(lambda rows: rows - rows.mean()),
    "standardises": lambda: pipeline(lambda rows: (rows - rows.mean()) / (1 + rows.std())),
    "scales to the largest": lambda: pipeline(lambda rows: rows / rows.abs().max()),
    "clips at the batch's percentiles": lambda: pipeline(
        lambda rows: rows.clip(rows.quantile(0.1), rows.quantile(0.9), axis=1)
    ),
    "differences from the row before": lambda: pipeline(lambda rows: rows.diff().fillna(0.0)),
    "imputes": lambda: make_pipeline(FunctionTransformer(batch_imputed), LinearRegression()).fit(
        table(missing=True), target(table())
    ),
    "an estimator that centres": lambda: Centred().fit(table(), target(table())),
    "an estimator that ranks": lambda: Ordinal().fit(table(), target(table())),
    "an estimator that cumulates": lambda: Cumulated().fit(table(), target(table())),
    "a target's inverse that centres": lambda: TransformedTargetRegressor(
        LinearRegression(), func=lambda y: y, inverse_func=lambda y: y - y.mean(), check_inverse=False
    ).fit(table(), target(table())),
    "scaled, then a forest of ranks": lambda: make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        FunctionTransformer(lambda rows: rows.rank()),
        RandomForestRegressor(5, random_state=0),
    ).fit(table(), target(table())),
}


@pytest.fixture(params=list(MODELS))
def case(request: pytest.FixtureRequest) -> tuple[Any, pd.DataFrame]:
    return MODELS[request.param](), table(missing=request.param == "imputes")


def loop(model: Any, X: pd.DataFrame, feature: str, values: np.ndarray) -> np.ndarray:
    """Predictions of all rows at each value, one call a value: ``(rows, values)``."""
    return np.stack([model.predict(X.assign(**{feature: value})) for value in values], axis=1)


VALUES = np.array([-1.0, -0.2, 0.3, 1.1])


def test_curves_are_those_of_one_call_a_grid_point(case: Any) -> None:
    model, X = case
    ex = Explainer(model, X)
    assert "looks across rows" in ex.partial_dependence("a", grid=VALUES).why
    expected = loop(model, X, "a", VALUES)
    np.testing.assert_allclose(
        ex.partial_dependence("a", grid=VALUES).average[0], expected.mean(axis=0), atol=1e-12
    )
    np.testing.assert_allclose(ex.ice("a", grid=VALUES).individual[0], expected, atol=1e-12)
    np.testing.assert_allclose(
        ex.partial_dependence("a", grid=VALUES, quantiles=[0.5]).quantiles[0.5][0],
        np.quantile(expected, 0.5, axis=0, method="inverted_cdf"),
        atol=1e-12,
    )
    pair = ex.partial_dependence("a", "c", grid=[VALUES, VALUES]).average[0]
    for j, value in enumerate(VALUES):
        np.testing.assert_allclose(
            pair[:, j], loop(model, X.assign(c=value), "a", VALUES).mean(axis=0), atol=1e-12
        )


def test_the_drop_in_has_scikit_learns_numbers(case: Any) -> None:
    model, X = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        ours = icefield.sklearn.partial_dependence(model, X, ["a"], kind="both", grid_resolution=9)
        theirs = sklearns(model, X, ["a"], kind="both", grid_resolution=9)
    np.testing.assert_array_equal(ours["average"], theirs["average"])
    np.testing.assert_array_equal(ours["individual"], theirs["individual"])


def test_local_effects_move_all_rows_in_one_call(case: Any) -> None:
    model, X = case
    edges = np.array([-4.0, -0.5, 0.5, 4.0])
    found = Explainer(model, X).ale("a", bins=edges)
    step = np.clip(np.searchsorted(edges, X["a"], side="left") - 1, 0, 2)
    change = model.predict(X.assign(a=edges[step + 1])) - model.predict(X.assign(a=edges[step]))
    curve = np.concatenate([[0.0], np.cumsum([change[step == s].mean() for s in range(3)])])
    np.testing.assert_allclose(found.average[0] - found.average[0][0], curve, atol=1e-11)


@pytest.mark.sampled(2)
def test_interactions_cross_the_sample_call_by_call(case: Any) -> None:
    model, X = case
    some = X[:40].reset_index(drop=True)
    table = Explainer(model, some).interactions(["a", "c"], overall=False)

    def own(columns: list[str]) -> np.ndarray:
        values = [
            model.predict(some.assign(**some.loc[i, columns].to_dict())).mean() for i in range(len(some))
        ]
        return np.array(values) - np.mean(values)

    joint, rest = own(["a", "c"]), own(["a", "c"]) - own(["a"]) - own(["c"])
    size = np.square(joint).mean()
    expected = np.sqrt(np.square(rest).mean() / size) if size > 1e-20 else 0.0
    np.testing.assert_allclose(table["h"], [expected], atol=1e-6)


@pytest.mark.sampled(3)
def test_importance_and_report_rest_on_the_same_curves(case: Any, tmp_path: Any) -> None:
    model, X = case
    ex = Explainer(model, X, y=target(table()))
    found = ex.importance(["a"], grid=VALUES, measure="curve_sd")
    curve = loop(model, X, "a", VALUES).mean(axis=0)
    np.testing.assert_allclose(found["importance"], [curve.std(ddof=1)], atol=1e-12)
    assert "looks across rows" in " ".join(found.notes)
    page = ex.report(tmp_path / "report.html", features=["a"]).read_text()
    assert "looks across rows" in page


def test_precision_is_refused_where_rows_count_together(complains: Any) -> None:
    model = MODELS["centres"]()
    with complains("precision", "looks across", "rows="):
        Explainer(model, table()).partial_dependence("a", precision=0.1)


def test_a_function_that_centres_is_flat() -> None:
    A = table().to_numpy()
    found = Explainer(lambda rows: rows[:, 0] - rows[:, 0].mean(), A).partial_dependence(
        0, grid=[0.0, 1.0, 2.0]
    )
    np.testing.assert_array_equal(found.average, np.zeros((1, 3)))


@pytest.mark.parametrize(
    "model",
    [
        lambda A: A[:, 0] * 1e6 + A[:, 1],
        lambda A: (A @ np.arange(3.0)).astype(np.float32),
        lambda A: np.random.default_rng().normal(size=len(A)),
    ],
)
def test_rounding_and_chance_are_not_taken_for_other_rows(model: Any) -> None:
    assert "across rows" not in Explainer(model, table().to_numpy()).plan.why


def test_what_is_known_to_answer_row_by_row() -> None:
    X, y = table(), target(table())
    assert known_row_by_row(make_pipeline(StandardScaler(), KNeighborsRegressor()).fit(X, y))
    assert known_row_by_row(make_pipeline(FunctionTransformer(np.log1p), LinearRegression()))
    assert not known_row_by_row(pipeline(lambda rows: rows))
    assert not known_row_by_row(Centred())
    assert not known_row_by_row(TransformedTargetRegressor(LinearRegression(), inverse_func=lambda y: y))
