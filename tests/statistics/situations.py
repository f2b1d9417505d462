"""Random situations: data of mixed kinds and models of random parts, for tests that compare what is said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from icefield import Explainer

PARTS = ("linear", "step", "bent", "wave", "tail", "none")


@dataclass(frozen=True)
class Situation:
    """A model and its rows; `explainer` asks with the seed given."""

    number: int
    model: Any
    X: pd.DataFrame
    weights: np.ndarray | None
    said: dict[str, Any]
    y: Any = None

    def explainer(self, seed: int = 0) -> Explainer:
        known = {"row_by_row": True, **self.said}  # asked of many points at once, which is quicker
        return Explainer(self.model, self.X, y=self.y, weights=self.weights, seed=seed, **known)


def situation(number: int, rows: int = 400) -> Situation:
    """The situation of a number: always the same."""
    rng = np.random.default_rng([7, number])
    columns = int(rng.integers(3, 6))
    X = pd.DataFrame({f"x{i}": _column(rng, rows) for i in range(columns)})
    if rng.random() < 0.4:  # two columns that go together
        X["x1"] = 0.95 * X["x0"] + 0.3 * rng.normal(size=rows)
    if rng.random() < 0.5:
        X["kind"] = rng.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2])
    if rng.random() < 0.3:
        X["flag"] = rng.random(rows) < 0.4
    model = _fitted(rng, X) if number % 4 == 3 else _Function(rng, list(X.columns))
    weights = rng.integers(1, 4, rows).astype(float) if rng.random() < 0.25 else None
    return Situation(number, model, X, weights, _said(number, X))


MIXED = ("missing", "outputs", "classes", "three classes")


def mixed(number: int, rows: int = 250) -> Situation:
    """Others, with missing values, several outputs or classes, and with what was observed: always the same."""
    rng = np.random.default_rng([11, number])
    kind = MIXED[number % len(MIXED)]
    X = pd.DataFrame({f"x{i}": _column(rng, rows) for i in range(int(rng.integers(3, 6)))})
    if kind == "missing" or rng.random() < 0.4:
        X["x0"] = X["x0"].mask(rng.random(rows) < rng.choice([0.05, 0.2, 0.5]))
    if rng.random() < 0.5:
        X["kind"] = rng.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2])
    truth = _Function(rng, list(X.columns), missing=float(rng.choice([0.0, 1.0, 3.0])))
    signal = truth.predict(X)
    noisy = signal + 0.5 * (signal.std() or 1.0) * rng.normal(size=rows)
    if kind == "missing":
        return Situation(number, truth, X, None, {}, noisy)
    if kind == "outputs":
        other = _Function(rng, list(X.columns))
        return Situation(
            number, _Several([truth, other]), X, None, {}, np.column_stack([noisy, other.predict(X)])
        )
    cuts = [0.5] if kind == "classes" else [0.3, 0.7]
    y = np.digitize(noisy, np.quantile(noisy, cuts))
    return Situation(number, _Classes(X, y, number), X, None, {}, y)


def _said(number: int, X: pd.DataFrame) -> dict[str, Any]:
    """What things are called, in one situation of three; a column of few whole numbers is then a code."""
    if number % 3 != 2:
        return {}
    names: dict[str, Any] = {"x0": "first"}
    if "kind" in X:
        names["kind"] = ("colour", {"red": "Rot", "green": "Grün"})
    units = {"x1": "km", "delay": "min"}
    if (X["x2"] == X["x2"].round()).all():
        units["x2"] = "code"
    return {"names": names, "units": units, "target_name": "delay"}


def _column(rng: np.random.Generator, rows: int) -> np.ndarray:
    kind = rng.integers(5)
    if kind == 0:
        return rng.exponential(1.0, rows)
    if kind == 1:
        return rng.integers(0, int(rng.integers(2, 12)), rows).astype(float)
    if kind == 2:
        return np.round(rng.normal(size=rows), 1)
    return rng.normal(size=rows) if kind == 3 else rng.uniform(-2, 2, rows)


class _Function:
    """A sum of random one-way parts and products."""

    def __init__(self, rng: np.random.Generator, names: list[str], missing: float = 0.0) -> None:
        self.feature_names_in_ = np.array(names)
        self.missing = missing  # how much higher predictions are where the first column is missing
        self.parts = {
            name: (rng.choice(PARTS), float(rng.choice([0.0, 0.1, 0.5, 1.0, 2.0])), rng.uniform(-0.5, 0.5))
            for name in names
        }
        pairs = [tuple(rng.choice(names, 2, replace=False)) for _ in range(int(rng.integers(0, 3)))]
        self.pairs = [(a, b, float(rng.choice([0.2, 0.7, 1.5])), bool(rng.random() < 0.5)) for a, b in pairs]

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        value = {name: np.nan_to_num(_number(frame[name])) for name in self.feature_names_in_}
        total = self.missing * np.isnan(_number(frame[self.feature_names_in_[0]]))
        for name, (part, size, at) in self.parts.items():
            total = total + size * _shaped(part, value[name], at)
        for a, b, size, signs in self.pairs:
            total = total + size * value[a] * (np.sign(value[b]) if signs else value[b])
        return total


def _number(values: pd.Series) -> np.ndarray:
    if values.dtype == object or isinstance(values.dtype, pd.StringDtype):
        return values.map({"red": -1.0, "green": 0.2, "blue": 1.0}).to_numpy(float)
    return values.to_numpy(float)


def _shaped(part: str, x: np.ndarray, at: float) -> np.ndarray:
    shapes = {
        "linear": lambda: x,
        "step": lambda: np.where(x > at, 1.0, 0.0),
        "bent": lambda: np.square(x - at),
        "wave": lambda: np.sin(2 * x),
        "tail": lambda: 4 * np.maximum(x - 1.7, 0.0),
        "none": lambda: 0.0 * x,
    }
    return np.asarray(shapes[part]())


def _fitted(rng: np.random.Generator, X: pd.DataFrame) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    truth = _Function(rng, list(X.columns)).predict(X)
    numbers = pd.DataFrame({name: _number(X[name]) for name in X})
    y = truth + rng.normal(size=len(X)) * 0.5 * truth.std()
    return _OnNumbers(
        GradientBoostingRegressor(n_estimators=30, random_state=0).fit(numbers.to_numpy(), y), list(X.columns)
    )


class _OnNumbers:
    def __init__(self, model: Any, names: list[str]) -> None:
        self.model, self.feature_names_in_ = model, np.array(names)

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict(np.column_stack([_number(frame[name]) for name in self.feature_names_in_]))


class _Several:
    """Functions side by side."""

    def __init__(self, parts: list[_Function]) -> None:
        self.parts, self.feature_names_in_ = parts, parts[0].feature_names_in_

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        return np.column_stack([part.predict(frame) for part in self.parts])


class _Classes:
    """A classifier of the columns as numbers, boosted or of lines."""

    def __init__(self, X: pd.DataFrame, y: np.ndarray, number: int) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression

        boosted = HistGradientBoostingClassifier(max_iter=30, random_state=0)
        self.model = boosted if number % 8 < 4 else LogisticRegression(max_iter=300)
        self.feature_names_in_ = np.array(X.columns)
        self.model.fit(self._numbers(X), y)
        self.classes_ = self.model.classes_

    def _numbers(self, frame: pd.DataFrame) -> np.ndarray:
        return np.nan_to_num(
            np.column_stack([_number(frame[name]) for name in self.feature_names_in_]), nan=-3.0
        )

    def predict(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict(self._numbers(frame))

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.predict_proba(self._numbers(frame))
