"""Three real data sets, with three kinds of model each: the situations of `golden.py` in which the data is not simulated.

The boosted trees and the networks were fitted once and are stored in `models/`, so that no library's version changes a sentence;
`python tests/wording/real.py` fits them again. The linear models are least squares, and the classifier among them has given coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from icefield import datasets

MODELS = Path(__file__).with_name("models")
ROWS = 400
SAID: dict[str, dict[str, Any]] = {
    "bikes": {
        "target_name": "rentals",
        "units": {"hr": "time of day", "temp": "°C", "hum": "%", "windspeed": "km/h", "weekday": "weekday from Sunday"},
        "names": {
            "hr": "hour", "temp": "temperature", "hum": "humidity", "windspeed": "wind", "yr": ("year", {0: "2011", 1: "2012"}),
            "workingday": ("kind of day", {0: "free days", 1: "working days"}),
            "season": {1: "winter", 2: "spring", 3: "summer", 4: "autumn"},
        },
    },
    "titanic": {
        "target_name": "survival", "units": {"age": "years", "fare": "£"},
        "names": {"pclass": ("class", {1: "first", 2: "second", 3: "third"}), "sibsp": "siblings and spouses"},
    },
    "housing": {
        "target_name": "house value", "units": {"house value": "USD", "housing_median_age": "years", "latitude": "°", "longitude": "°"},
        "names": {"median_income": "income (in 10,000 USD)", "housing_median_age": "age of houses"},
    },
}  # fmt: skip


def bikes() -> tuple[pd.DataFrame, Any]:
    """Hourly rentals in Washington, D.C.: every 43rd hour."""
    data = datasets.bikes("pandas").iloc[::43][:ROWS].reset_index(drop=True)
    X = data[["hr", "workingday", "weekday", "mnth", "season", "yr", "temp", "hum", "windspeed"]]
    return X.assign(temp=41 * X["temp"], hum=100 * X["hum"], windspeed=67 * X["windspeed"]), data["cnt"]


def titanic() -> tuple[pd.DataFrame, Any]:
    """Passengers of the Titanic: every second one."""
    data = datasets.titanic("pandas").iloc[::2][:ROWS].reset_index(drop=True)
    X = data[["pclass", "sex", "age", "sibsp", "fare"]].assign(sex=lambda d: d["sex"].astype("category"))
    return X, data["survived"]


def housing() -> tuple[pd.DataFrame, Any]:
    """Census blocks in California: every 51st."""
    data = datasets.housing("pandas").iloc[::51][:ROWS].reset_index(drop=True)
    X = data[["median_income", "latitude", "longitude", "housing_median_age", "population"]]
    return X, data["median_house_value"]


DATA: dict[str, Callable[[], tuple[pd.DataFrame, Any]]] = {
    "bikes": bikes,
    "titanic": titanic,
    "housing": housing,
}


def numbers(X: pd.DataFrame) -> Any:
    """The rows as a matrix, each column around its own middle: levels by their place, missing values at the middle."""
    columns = [X[name].cat.codes if X[name].dtype == "category" else X[name] for name in X]
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


class Numeric:
    """A function of a matrix as a model of frames: a value for each row, or the probabilities of two classes."""

    def __init__(self, X: pd.DataFrame, classes: bool, score: Callable[[Any], Any]) -> None:
        matrix = numbers(X)
        self.middle, self.width = np.nanmean(matrix, axis=0), np.nanstd(matrix, axis=0)
        self.feature_names_in_, self._score = np.array(list(X), dtype=object), score
        if classes:
            self.classes_ = np.array([0, 1])
            self.predict_proba = self._probabilities

    def matrix(self, X: pd.DataFrame) -> Any:
        return np.nan_to_num((numbers(X) - self.middle) / self.width)

    def _probabilities(self, X: pd.DataFrame) -> Any:
        p = 1 / (1 + np.exp(-self._score(self.matrix(X))))
        return np.column_stack([1 - p, p])

    def predict(self, X: pd.DataFrame) -> Any:
        return self._score(self.matrix(X))


def trees(name: str, X: pd.DataFrame, y: Any) -> Any:
    """The stored booster; a classifier's is read as one."""
    import lightgbm

    return lightgbm.Booster(model_file=str(MODELS / f"{name}.txt"))


def network(name: str, X: pd.DataFrame, y: Any) -> Any:
    """The stored network: one hidden layer."""
    stored = np.load(MODELS / "networks.npz")
    into, out, edge, at = (stored[f"{name}_{part}"] for part in ("into", "out", "edge", "at"))
    return Numeric(X, name == "titanic", lambda z: np.tanh(z @ into + edge) @ out + at)


def linear(name: str, X: pd.DataFrame, y: Any) -> Any:
    """Least squares, or for classes a logistic curve with given coefficients."""
    model = Numeric(X, name == "titanic", lambda z: z @ coefficients[1:] + coefficients[0])
    if name == "titanic":
        coefficients = np.array([-0.6, -0.9, -1.2, -0.5, -0.3, 0.1])
    else:
        design = np.column_stack([np.ones(len(X)), model.matrix(X)])
        coefficients = np.linalg.lstsq(design, np.asarray(y, dtype=float), rcond=None)[0]
    return model


KINDS: Sequence[Callable[[str, pd.DataFrame, Any], Any]] = (trees, network, linear)


def fit() -> None:
    """Fit and store the boosted trees and the networks."""
    import lightgbm
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    MODELS.mkdir(exist_ok=True)
    stored = {}
    for name, read in DATA.items():
        X, y = read()
        options = {
            "objective": "binary" if name == "titanic" else "regression", "num_leaves": 8, "learning_rate": 0.1, "verbose": -1,
            "num_threads": 1, "seed": 0, "deterministic": True,
        }  # fmt: skip
        booster = lightgbm.train(options, lightgbm.Dataset(X, y), num_boost_round=25)
        booster.save_model(str(MODELS / f"{name}.txt"))
        learner = MLPClassifier if name == "titanic" else MLPRegressor
        net = learner(
            hidden_layer_sizes=(6,),
            activation="tanh",
            solver="lbfgs",
            alpha=1.0,
            max_iter=400,
            random_state=0,
        )
        size = 1.0 if name == "titanic" else float(np.std(y))
        net.fit(Numeric(X, False, len).matrix(X), y / size if size != 1.0 else y)
        parts = {
            "into": net.coefs_[0], "edge": net.intercepts_[0], "out": size * net.coefs_[1][:, 0],
            "at": size * net.intercepts_[1][0],
        }  # fmt: skip
        stored |= {f"{name}_{part}": np.float32(value) for part, value in parts.items()}
    np.savez_compressed(MODELS / "networks.npz", **stored)


if __name__ == "__main__":
    fit()
