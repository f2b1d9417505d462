"""The drop-in against scikit-learn's own functions, on the examples of scikit-learn's user guide.

Every example runs with both, turn about, with the same fitted model; the time includes drawing where
the example draws. The ratio is ours over theirs: below 1 is faster, and no example may pass 1.1.
The bicycle and housing examples take a part of the rows, to keep scikit-learn's share of the time short. On a busy machine set
``OMP_NUM_THREADS=1``: threads that wait for a processor inside the models drown every difference.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from icefield import datasets

LIMIT = 1.1
SECONDS = 3.0  # spent on one example, at least three and at most fifteen turns


@dataclass(frozen=True)
class Example:
    """One call of the user guide, in parts that travel to another process."""

    name: str
    draws: bool
    model: Any
    X: Any
    features: Any
    options: dict[str, Any]

    def run(self, library: Any) -> None:
        """Make the call with the module that holds the two names."""
        call = library.PartialDependenceDisplay.from_estimator if self.draws else library.partial_dependence
        call(self.model, self.X, self.features, **self.options)


def drawn(name: str, model: Any, X: Any, features: Any, **options: Any) -> Example:
    return Example(name, True, model, X, features, options)


def computed(name: str, model: Any, X: Any, features: Any, **options: Any) -> Example:
    return Example(name, False, model, X, features, options)


def all_examples() -> list[Example]:
    """Those of the user guide and of the gallery, on data that comes with the libraries."""
    return [*guide_examples(), *display_examples(), *bicycle_examples(), *housing_examples()]


def guide_examples() -> Iterator[Example]:
    """The snippets of the partial dependence chapter."""
    from sklearn.datasets import load_iris, make_hastie_10_2
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = make_hastie_10_2(random_state=0)
    boosting = GradientBoostingClassifier(n_estimators=100, learning_rate=1.0, max_depth=1, random_state=0)
    boosting.fit(X, y)
    yield drawn("hastie: curves and surface", boosting, X, [0, 1, (0, 1)])
    yield computed("hastie: values of one curve", boosting, X, [0])
    yield drawn("hastie: individual curves", boosting, X, [0, 1], kind="individual")
    yield drawn("hastie: both", boosting, X, [0, 1], kind="both")
    yield drawn("hastie: both, centered", boosting, X, [0, 1], kind="both", centered=True)
    iris = load_iris()
    classes = GradientBoostingClassifier(n_estimators=10, max_depth=1).fit(iris.data, iris.target)
    yield drawn("iris: one class of three", classes, iris.data, [3, 2, (3, 2)], target=0)
    yield computed("iris: all classes, brute", classes, iris.data, [3], method="brute")


def display_examples() -> Iterator[Example]:
    """The example on the display's own interface."""
    from sklearn.datasets import load_diabetes
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeRegressor

    diabetes = load_diabetes(as_frame=True)
    tree = DecisionTreeRegressor(random_state=0).fit(diabetes.data, diabetes.target)
    network = make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(100, 100), tol=1e-2, max_iter=500, random_state=0),
    ).fit(diabetes.data, diabetes.target)
    yield drawn("diabetes: tree", tree, diabetes.data, ["age", "bmi"])
    yield drawn("diabetes: network", network, diabetes.data, ["age", "bmi"])


def bicycle_examples() -> Iterator[Example]:
    """Hourly rentals with a network and with boosted trees, behind their preprocessing."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, QuantileTransformer

    hours = datasets.bikes("pandas")
    numeric = ["temp", "atemp", "hum", "windspeed"]
    categorical = ["season", "weathersit", "hr", "mnth", "weekday", "holiday", "workingday"]
    X = hours[numeric + categorical].copy()
    X[categorical] = X[categorical].astype(str).astype("category")
    X, y = X.iloc[::8], hours["cnt"].iloc[::8]
    encoded = ColumnTransformer(
        [("num", QuantileTransformer(n_quantiles=100), numeric),
         ("cat", OneHotEncoder(handle_unknown="ignore"), categorical)]
    )  # fmt: skip
    network = make_pipeline(
        encoded,
        MLPRegressor(
            hidden_layer_sizes=(30, 15), learning_rate_init=0.01, early_stopping=True, random_state=0
        ),
    ).fit(X, y)
    ordinal = ColumnTransformer(
        [("cat", OrdinalEncoder(), categorical), ("num", "passthrough", numeric)],
        verbose_feature_names_out=False,
    )
    trees = make_pipeline(
        ordinal.set_output(transform="pandas"),
        HistGradientBoostingRegressor(categorical_features=categorical, random_state=0, max_iter=50),
    ).fit(X, y)
    common: dict[str, Any] = {"subsample": 50, "grid_resolution": 20, "random_state": 0}
    mixed = ["temp", "hum", "windspeed", "season", "weathersit", "hr"]
    for name, model in (("network", network), ("trees", trees)):
        yield drawn(
            f"bicycles, {name}: six curves", model, X, mixed, categorical_features=categorical, **common
        )
        yield drawn(
            f"bicycles, {name}: both", model, X, ["temp", "hum"], kind="both", centered=True, **common
        )
    two_way = {**common, "grid_resolution": 10}
    yield drawn("bicycles, trees: surface", trees, X, ["temp", "hum", ("temp", "hum")], **two_way)
    yield computed("bicycles, trees: values", trees, X, ("temp", "hum"), grid_resolution=10)


def housing_examples() -> Iterator[Example]:
    """House prices with boosted trees on plain numbers, and with a network."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer

    homes = datasets.housing("pandas").dropna()
    y = homes["median_house_value"] / 1e5
    X = homes.drop(columns=["median_house_value", "ocean_proximity"]).astype(float)
    features = ["median_income", "households", "housing_median_age"]
    trees = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    network = make_pipeline(
        QuantileTransformer(),
        MLPRegressor(
            hidden_layer_sizes=(30, 15), learning_rate_init=0.01, early_stopping=True, random_state=0
        ),
    ).fit(X, y)
    yield drawn("housing, trees: recursion", trees, X, features)
    some = X.iloc[::10]
    common: dict[str, Any] = {"kind": "both", "subsample": 50, "grid_resolution": 20, "random_state": 0}
    yield drawn("housing, trees: both", trees, some, features, **common)
    yield drawn("housing, network: both", network, some, features, **common)


@dataclass(frozen=True)
class Cost:
    """What one run took: seconds on the clock, and of processors, which other programs do not distort."""

    clock: float
    processor: float


def cost(example: Example, library: ModuleType) -> Cost:
    import matplotlib.pyplot as plt

    clock, processor = time.perf_counter(), time.process_time()
    example.run(library)
    spent = Cost(time.perf_counter() - clock, time.process_time() - processor)
    plt.close("all")
    return spent


def compared(example: Example, ours: ModuleType, theirs: ModuleType) -> tuple[float, float, float, float]:
    """Median seconds of ours and theirs, and the median ratios on the clock and of processor time."""
    cost(example, ours), cost(example, theirs)
    turns: list[tuple[Cost, Cost]] = []
    began = time.perf_counter()
    while len(turns) < 3 or (time.perf_counter() - began < SECONDS and len(turns) < 15):
        # Whoever runs second finds warmer caches: take turns at that too.
        if len(turns) % 2:
            second = cost(example, theirs)
            turns.append((cost(example, ours), second))
        else:
            turns.append((cost(example, ours), cost(example, theirs)))
    median = statistics.median
    return (
        median(own.clock for own, _ in turns),
        median(other.clock for _, other in turns),
        median(own.clock / other.clock for own, other in turns),
        median(own.processor / other.processor for own, other in turns),
    )


def main() -> None:
    import matplotlib

    matplotlib.use("agg")
    import sklearn.inspection

    import icefield.sklearn

    warnings.simplefilter("ignore")
    examples = all_examples()
    print(f"{'example':34} {'icefield':>10} {'sklearn':>10} {'ratio':>7} {'processor':>10}")
    ratios = []
    for example in examples:
        own, other, share, processor = compared(example, icefield.sklearn, sklearn.inspection)
        ratios.append(share)
        mark = "  <- over the limit" if share > LIMIT else ""
        print(f"{example.name:34} {own:9.4f}s {other:9.4f}s {share:7.2f} {processor:10.2f}{mark}", flush=True)
    print(f"drop-in / scikit-learn: largest {max(ratios):.2f}, median {np.median(ratios):.2f}, limit {LIMIT}")


if __name__ == "__main__":
    main()
