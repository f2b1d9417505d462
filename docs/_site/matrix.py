"""What works with what, found by trying: models x effects, models x scales and engines, frames x columns.

Every cell is one real call on small data. A tick names the engine that answered; what is refused shows the first
sentence of its own error message.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import icefield

ROWS = 160


def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    return X, (2 * X["a"] + X["a"] * X["b"]).to_numpy() + rng.normal(0, 0.1, ROWS)


def models() -> dict[str, Callable[[pd.DataFrame, np.ndarray], Any]]:
    """Name -> a function that fits. A library that is not installed raises ImportError when its turn comes."""

    def lightgbm(X: Any, y: Any) -> Any:
        import lightgbm as lgb

        return lgb.train({"verbose": -1, "num_threads": 1}, lgb.Dataset(X, y), num_boost_round=10)

    def xgboost(X: Any, y: Any) -> Any:
        import xgboost as xgb

        return xgb.XGBRegressor(n_estimators=10, n_jobs=1).fit(X, y)

    def catboost(X: Any, y: Any) -> Any:
        from catboost import CatBoostRegressor

        return CatBoostRegressor(iterations=10, verbose=0, allow_writing_files=False, thread_count=1).fit(
            X, y
        )

    def torch(X: Any, y: Any) -> Any:
        import torch as library

        library.manual_seed(0)
        return library.nn.Sequential(
            library.nn.Linear(3, 8), library.nn.ReLU(), library.nn.Linear(8, 1)
        ).eval()

    def onnx(X: Any, y: Any) -> Any:
        import onnxruntime
        from skl2onnx import to_onnx
        from sklearn.linear_model import Ridge

        fitted = to_onnx(Ridge().fit(X.to_numpy(), y), X.to_numpy().astype("float32"))
        return onnxruntime.InferenceSession(fitted.SerializeToString(), providers=["CPUExecutionProvider"])

    def pipeline(X: Any, y: Any) -> Any:
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), RandomForestRegressor(10, random_state=0)).fit(X, y)

    def sklearn(module: str, name: str, **settings: Any) -> Callable[[Any, Any], Any]:
        def fit(X: Any, y: Any) -> Any:
            from importlib import import_module

            return getattr(import_module(f"sklearn.{module}"), name)(**settings).fit(X, y)

        return fit

    return {
        "scikit-learn: decision tree": sklearn("tree", "DecisionTreeRegressor", max_depth=4),
        "scikit-learn: random forest": sklearn("ensemble", "RandomForestRegressor", n_estimators=10),
        "scikit-learn: gradient boosting": sklearn("ensemble", "GradientBoostingRegressor", n_estimators=10),
        "scikit-learn: hist gradient boosting": sklearn(
            "ensemble", "HistGradientBoostingRegressor", max_iter=10
        ),
        "scikit-learn: pipeline with a forest": pipeline,
        "scikit-learn: linear": sklearn("linear_model", "LinearRegression"),
        "scikit-learn: k nearest neighbours": sklearn("neighbors", "KNeighborsRegressor"),
        "scikit-learn: network": sklearn("neural_network", "MLPRegressor", max_iter=2000, random_state=0),
        "LightGBM": lightgbm,
        "XGBoost": xgboost,
        "CatBoost": catboost,
        "PyTorch module": torch,
        "ONNX session": onnx,
        "a function": lambda X, y: lambda rows: 2 * np.asarray(rows)[:, 0],
    }


EFFECTS: dict[str, Callable[[Any], Any]] = {
    "PD": lambda ex: ex.partial_dependence("a"),
    "PD of two": lambda ex: ex.partial_dependence("a", "b"),
    "ICE": lambda ex: ex.ice("a"),
    "ALE": lambda ex: ex.ale("a"),
    "H": lambda ex: ex.interactions(),
    "importance": lambda ex: ex.importance(),
    "regions": lambda ex: ex.regions("a"),
    "summary": lambda ex: ex.summary(),
}
CHOICES: dict[str, dict[str, Any]] = {
    'engine="trees"': {"engine": "trees"},
    'engine="brute"': {"engine": "brute"},
    'background="training"': {"background": "training"},
    "weights": {"weights": np.linspace(1, 2, ROWS)},
    "by": {"by": np.arange(ROWS) % 2},
}


def tried(call: Callable[[], Any]) -> str:
    """A tick with the engine, or the first sentence of the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = call()
        except icefield.IcefieldError as error:
            return "no: " + str(error).split("\n")[0].split(" Hint:")[0][:110]
    return f"yes, {answer}"


def table(columns: dict[str, Callable[[Any, Any, Any], str]]) -> pd.DataFrame:
    X, y = data()
    found: dict[str, dict[str, str]] = {}
    for name, fit in models().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = fit(X, y)
            except ImportError as missing:
                found[name] = dict.fromkeys(columns, f"not tried: {missing.name} is not installed")
                continue
        found[name] = {
            column: tried(lambda ask=ask, model=model: ask(model, X, y)) for column, ask in columns.items()
        }
    return pd.DataFrame(found).T


def by_effect() -> pd.DataFrame:
    def asking(ask: Callable[[Any], Any]) -> Callable[[Any, Any, Any], str]:
        def call(model: Any, X: Any, y: Any) -> str:
            ex = icefield.Explainer(model, X, y=y)
            found = ask(ex)
            return str(getattr(found, "engine", ex.plan.engine.name))

        return call

    return table({name: asking(ask) for name, ask in EFFECTS.items()})


def by_choice() -> pd.DataFrame:
    def asking(choice: dict[str, Any]) -> Callable[[Any, Any, Any], str]:
        return lambda model, X, y: str(
            icefield.Explainer(model, X, **choice).partial_dependence("a", grid=5).engine
        )

    return table({name: asking(choice) for name, choice in CHOICES.items()})


def by_model_and_frame() -> pd.DataFrame:
    """Models, fitted on a pandas frame, asked with the same data in other frames."""

    def other(name: str, X: pd.DataFrame) -> Any:
        if name == "polars":
            import polars as pl

            return pl.from_pandas(X)
        if name == "pyarrow":
            import pyarrow as pa

            return pa.Table.from_pandas(X, preserve_index=False)
        return X.to_numpy() if name == "numpy array" else X

    def asking(name: str) -> Callable[[Any, Any, Any], str]:
        def call(model: Any, X: Any, y: Any) -> str:
            found = icefield.Explainer(model, other(name, X)).partial_dependence(
                0 if name == "numpy array" else "a"
            )
            return str(found.engine)

        return call

    return table({name: asking(name) for name in ("pandas", "polars", "pyarrow", "numpy array")})


def by_frame() -> pd.DataFrame:
    """Frames x kinds of columns, asked with a function that reads any of them."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "float": rng.normal(size=ROWS),
        "integer": rng.integers(0, 9, ROWS),
        "boolean": rng.random(ROWS) < 0.5,
        "text": rng.choice(["x", "y", "z"], ROWS).astype(object),
        "category": pd.Categorical(rng.choice(["u", "v"], ROWS)),
        "date": np.datetime64("2024-01-01") + rng.integers(0, 300, ROWS).astype("timedelta64[D]"),
        "missing": np.where(rng.random(ROWS) < 0.2, np.nan, rng.normal(size=ROWS)),
    }
    whole = pd.DataFrame(columns)
    numbers = whole[["float", "integer", "missing"]].astype(float)

    def polars() -> Any:
        import polars as pl

        return pl.from_pandas(whole)

    def arrow() -> Any:
        import pyarrow as pa

        return pa.Table.from_pandas(whole, preserve_index=False)

    def sparse() -> Any:
        from scipy.sparse import csr_matrix

        return csr_matrix(numbers[["float", "integer"]].to_numpy())

    frames: dict[str, tuple[Callable[[], Any], list[Any]]] = {
        "pandas": (lambda: whole, list(columns)),
        "polars": (polars, list(columns)),
        "pyarrow": (arrow, list(columns)),
        "numpy array": (lambda: numbers.to_numpy(), [0, 1, 2]),
        "scipy sparse": (sparse, [0, 1]),
    }
    found = {}
    for name, (make, features) in frames.items():
        X = make()
        ex = icefield.Explainer(lambda rows: np.arange(rows.shape[0], dtype=float), X)
        kinds = (
            list(columns) if features == list(columns) else ["float", "integer", "missing"][: len(features)]
        )
        row = dict.fromkeys(columns, "")
        for kind, feature in zip(kinds, features):
            row[kind] = tried(lambda ex=ex, feature=feature: ex.partial_dependence(feature, grid=4).kinds[0])
        found[name] = row
    return pd.DataFrame(found).T


def exactness() -> pd.DataFrame:
    """Trees against brute force for every model that both can answer: the largest difference, as a share of the range."""
    X, y = data()
    rows = []
    for name, fit in models().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = fit(X, y)
                exact = icefield.Explainer(model, X, engine="trees")
                effects = {"PD": lambda ex: ex.partial_dependence("a", grid=icefield.Grid()), "two": lambda ex: ex.partial_dependence("a", "b"),
                           "ICE": lambda ex: ex.ice("a", grid=icefield.Grid()), "ALE": lambda ex: ex.ale("a")}  # fmt: skip
                row: dict[str, Any] = {"model": name}
                for label, ask in effects.items():
                    one, two = ask(exact), ask(icefield.Explainer(model, X, engine="brute"))
                    pick = (lambda e: e.individual) if label == "ICE" else (lambda e: e.average)
                    row[label] = np.abs(pick(one) - pick(two)).max() / np.ptp(pick(two))
            except (ImportError, icefield.IcefieldError):
                continue
        rows.append(row)
    return pd.DataFrame(rows).set_index("model").map(lambda share: f"{share:.0e}")


class Shown:
    """A table whose cells are ticks and crosses with words, for the page."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def _repr_html_(self) -> str:
        import html

        def cell(text: str) -> str:
            kind = "yes" if text.startswith("yes") else "no" if text.startswith("no:") else "none"
            mark = {"yes": "✓ ", "no": "✕ ", "none": ""}[kind]
            words = text.removeprefix("yes, ").removeprefix("no: ")
            if kind == "no":
                return (
                    f'<td class="no"><details><summary>{mark}no</summary>{html.escape(words)}</details></td>'
                )
            return f'<td class="{kind}">{mark}{html.escape(words)}</td>'

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.frame.columns)
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th>{''.join(cell(str(text)) for text in row)}</tr>"
            for name, row in zip(self.frame.index, self.frame.to_numpy())
        )
        return f'<table class="matrix"><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>'
