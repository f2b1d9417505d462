"""A small model with numbers, missing values, levels and whole numbers, its Explainer, and a client that asks a controller."""

from __future__ import annotations

import queue
from typing import Any

import numpy as np
import pandas as pd

from icefield import Explainer
from icefield.explore import Controller
from icefield.explore.messages import unpacked

ROWS = 600


def data(seed: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and an observed target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, ROWS).round(1),
            "income": np.where(rng.random(ROWS) < 0.15, np.nan, rng.lognormal(3, 0.5, ROWS)),
            "town": pd.Categorical(rng.choice(["a", "b", "c"], ROWS)),
            "cars": rng.integers(0, 5, ROWS),
        }
    )
    slope = X["town"].map({"a": 1.0, "b": -1.0, "c": 0.2}).astype(float)
    y = 0.1 * X["age"] * slope + X["income"].fillna(0) / 10 + X["cars"] + rng.normal(0, 0.3, ROWS)
    return X, np.asarray(y)


def fitted(X: pd.DataFrame, y: Any, **settings: Any) -> Any:
    """A boosted model of them."""
    from lightgbm import LGBMRegressor

    chosen = {"n_estimators": 20, "num_leaves": 8, "verbose": -1, "random_state": 0, "n_jobs": 1, **settings}
    return LGBMRegressor(**chosen).fit(X, y)


def explainer(**settings: Any) -> Explainer:
    X, y = data()
    return Explainer(fitted(X, y), X, y, **settings)


class Client:
    """Asks a session and waits for all parts of the answer, which travel through frames as to a page."""

    def __init__(self, controller: Controller) -> None:
        self.session = controller.open()
        self.heard: queue.Queue[Any] = queue.Queue()
        self._number = 0

    def ask(
        self, kind: str, slot: str = "view", **rest: Any
    ) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
        self._number += 1
        return self.send({"v": 1, "id": self._number, "kind": kind, "slot": slot, **rest}, self._number)

    def send(self, message: Any, number: int = -1) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
        self.session.ask(message, self.heard.put)
        parts = []
        while True:
            head, arrays = unpacked(self.heard.get(timeout=60).frame())
            if head["re"] != number:
                continue
            parts.append((head, arrays))
            if head.get("done"):
                return parts

    def part(
        self, name: str, kind: str, slot: str = "view", **rest: Any
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        found = self.ask(kind, slot, **rest)
        return next(one for one in found if one[0].get("part") == name)

    def close(self) -> None:
        self.session.close(10)


def rich_data() -> tuple[pd.DataFrame, np.ndarray]:
    """The same with a column that follows another closely, and three classes to predict."""
    X, y = data()
    X["born"] = 2020 - X["age"] + np.random.default_rng(4).normal(0, 0.5, ROWS)
    return X, np.where(y > np.quantile(y, 0.7), "high", np.where(y > np.quantile(y, 0.3), "mid", "low"))


def rich_explainers() -> dict[str, Explainer]:
    """Two classifiers of them: classes, scales and models to switch."""
    from lightgbm import LGBMClassifier

    X, y = rich_data()
    made = {
        name: LGBMClassifier(n_estimators=trees, num_leaves=8, verbose=-1, random_state=0, n_jobs=1).fit(X, y)
        for name, trees in (("large", 8), ("small", 3))
    }
    return {name: Explainer(model, X, y) for name, model in made.items()}
