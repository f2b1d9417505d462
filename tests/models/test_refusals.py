"""What a model refuses: targets it does not have, values it does not take; told in the project's own words."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from icefield import Explainer
from icefield.errors import InputError, ModelError
from icefield.forest.encode import RefusedValue
from icefield.sklearn import partial_dependence

DRAW = np.random.default_rng(3)
X = pd.DataFrame(DRAW.normal(size=(120, 3)), columns=["age", "fare", "pay"])
Y = (X["age"] + X["fare"] * X["pay"]).to_numpy()


# --- targets ---------------------------------------------------------------------------------------


def test_a_text_that_spells_a_whole_number_class_is_told_apart_from_it() -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.digitize(Y, [-1, 1]))
    with pytest.raises(InputError, match=r"got '1'. Hint: labels are of type int here, so write target=1\.$"):
        Explainer(model, X, target="1")
    with pytest.raises(InputError, match=r"got '7'. Hint: choose from \(0, 1, 2\)"):
        Explainer(model, X, target="7")


def test_a_text_near_a_text_class_is_still_met_with_the_nearest() -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.where(Y > 0, "spruce", "larch"))
    with pytest.raises(InputError, match="did you mean 'spruce'"):
        Explainer(model, X, target="sprce")


# --- values ----------------------------------------------------------------------------------------


def boosted() -> Any:
    return GradientBoostingRegressor(n_estimators=3).fit(X, Y)


def forest_of_an_array() -> Any:
    return RandomForestRegressor(n_estimators=3).fit(X.to_numpy(), Y)


def booster() -> Any:
    return xgb.train({"max_depth": 2, "nthread": 1}, xgb.DMatrix(X, Y), 3)


def pipeline() -> Any:
    return make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3)).fit(X, Y)


@pytest.mark.parametrize(
    ("build", "rows", "feature", "value"),
    [
        (boosted, X, "fare", np.nan), (boosted, X, "fare", np.inf), (boosted, X, "pay", 1e39),
        (forest_of_an_array, X.to_numpy(), 1, -np.inf), (booster, X, "age", np.inf), (pipeline, X, "pay", np.nan),
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["auto", "brute"])
def test_nan_or_infinity_on_the_grid_is_the_projects_own_error_and_names_the_column(
    build: Callable[[], Any], rows: Any, feature: Any, value: float, engine: str
) -> None:
    explainer = Explainer(build(), rows, engine=engine)
    with np.errstate(over="ignore"), pytest.raises(ModelError) as caught:
        explainer.partial_dependence(feature, grid=[0.0, value])
    assert repr(feature) in str(caught.value)
    assert "Hint:" in str(caught.value)
    assert "'X'" not in str(caught.value)


def test_infinity_that_a_pipeline_refuses_is_the_projects_own_error() -> None:
    with pytest.raises(
        ModelError, match=r"with 'age' set to values of the grid .ValueError: Input X contains inf"
    ):
        Explainer(pipeline(), X).partial_dependence("age", grid=[0.0, np.inf])


def test_a_refused_value_travels_between_processes() -> None:
    again = pickle.loads(pickle.dumps(RefusedValue("age", "NaN")))
    assert str(again) == str(RefusedValue("age", "NaN"))
    assert isinstance(again, ValueError)


def test_what_a_function_raises_is_its_own() -> None:
    class Unusual(Exception):
        pass

    def ask(rows: Any) -> Any:
        if (rows["age"] > 50).any():
            raise Unusual
        return rows["age"]

    with pytest.raises(Unusual):
        Explainer(ask, X).partial_dependence("age", grid=[0.0, 60.0])


def test_stop_iteration_inside_predict_is_heard() -> None:
    def ask(rows: Any) -> Any:
        if (rows["age"] > 50).any():
            next(iter(()))
        return rows["age"]

    with pytest.raises(ModelError, match="StopIteration"):
        Explainer(ask, X).partial_dependence("age", grid=[0.0, 60.0])


def test_the_drop_in_passes_the_models_own_errors_on() -> None:
    forest = RandomForestClassifier(n_estimators=2).fit(X, Y > 0)
    with pytest.raises(ValueError, match=r"^Input X contains infinity"):
        partial_dependence(forest, X, ["age"], custom_values={"age": np.array([0.0, np.inf])}, kind="both")


# --- a scale that is there -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_poisson_network_has_a_raw_scale() -> None:
    counts = DRAW.poisson(np.exp(Y / 4))
    model = MLPRegressor(loss="poisson", hidden_layer_sizes=(4,), max_iter=40, random_state=0).fit(X, counts)
    explainer = Explainer(model, X, scale="raw")
    assert explainer.model.scale_label == "log of the prediction"
    np.testing.assert_allclose(
        np.exp(explainer.model.predict(explainer.table)[:, 0]), model.predict(X), rtol=1e-12
    )
    assert model.out_activation_ == "exp"
