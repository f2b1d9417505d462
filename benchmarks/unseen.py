"""Held-out simulated processes with known truth, for `honesty`.

These were written by someone who knew the published definitions and thresholds but did not run the statistics on them;
they are scored after thresholds were frozen. Each truth was worked out from the noise-free function alone (by formula, or by
brute force over its own curves), and where a model is fitted, only its fit was looked at, not its curves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.processes import (
    ARCH,
    CURVED,
    FLAT,
    LEVELS,
    LINEAR,
    RISING,
    STEP,
    WAVE,
    Process,
    Truth,
    U,
    oracle,
)

Data = Callable[[np.random.Generator], Any]
Function = Callable[[Any], Any]


# --- models ----------------------------------------------------------------------------------------


def taught(function: Function, data: Data, learner: Callable[[int], Any], noise: float) -> Any:
    """A model fitted to the function with noise of a share of its spread."""

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        X = data(rng)
        y = function(X)
        y = y + noise * y.std() * rng.normal(size=len(y))
        return learner(int(rng.integers(2**31))).fit(X, y), X

    return draw


def labelled(log_odds: Function, data: Data, learner: Callable[[int], Any]) -> Any:
    """A classifier fitted to labels drawn with these log-odds."""

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        X = data(rng)
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-log_odds(X)))).astype(int)
        return learner(int(rng.integers(2**31))).fit(X, y), X

    return draw


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=120, learning_rate=0.08, num_leaves=8, min_child_samples=20, random_state=seed, n_jobs=1, verbose=-1
    )  # fmt: skip


def _histogram(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=120, max_leaf_nodes=10, categorical_features="from_dtype", random_state=seed
    )


def _histogram_classifier(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=6, learning_rate=0.1, random_state=seed)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_estimators=50, min_samples_leaf=4, max_features=0.7, random_state=seed)


def _least_squares(seed: int) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _network(seed: int) -> Any:
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPRegressor(
        hidden_layer_sizes=(16,), alpha=1.0, solver="lbfgs", max_iter=2000, random_state=seed
    )
    return make_pipeline(StandardScaler(), network)


def _neighbours(seed: int) -> Any:
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), KNeighborsRegressor(8))


def _logistic(seed: int) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encode = make_column_transformer((OneHotEncoder(), ["plan"]), remainder="passthrough")
    return make_pipeline(encode, LogisticRegression(max_iter=1000))


# --- data ------------------------------------------------------------------------------------------


def evenly(rows: int, columns: int, low: float = -1.0, high: float = 1.0) -> Data:
    return lambda rng: rng.uniform(low, high, size=(rows, columns))


def _long_tails(rng: np.random.Generator) -> Any:
    rows = 1000
    return np.column_stack(
        [
            rng.standard_t(3, rows),
            rng.lognormal(0, 1.2, rows),
            rng.exponential(1, rows),
            rng.standard_t(2, rows),
            rng.pareto(2.5, rows),
        ]
    )


def _trial(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 1200
    return pd.DataFrame(
        {
            "dose": rng.uniform(0, 10, rows),
            "treated": rng.random(rows) < 0.5,
            "age": rng.uniform(20, 80, rows),
            "weight": rng.normal(75, 12, rows),
            "ward": rng.integers(1, 9, rows),
        }
    )


DEPOTS = ("ash", "bay", "cove", "dale", "elm", "fen", "glen", "hill", "isle", "june", "knoll", "lake")
DEPOT_LEVEL = dict(zip(DEPOTS, (0.6, -0.9, 0.2, 1.0, -0.4, 0.8, -1.0, 0.4, -0.6, -0.2, 0.9, -0.8)))
DEPOT_SLOPE = dict(zip(DEPOTS, (1.2, 1.2, -1.2, 1.2, -1.2, -1.2, 1.2, -1.2, 1.2, -1.2, -1.2, 1.2)))


def _depots(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 1500
    return pd.DataFrame(
        {
            "load": rng.normal(size=rows),
            "depot": pd.Categorical(rng.choice(DEPOTS, rows), categories=DEPOTS),
            "distance": rng.uniform(-1.5, 1.5, rows),
            "shift": rng.uniform(0, 24, rows),
        }
    )


def _delivery(X: Any) -> Any:
    depot = X["depot"].astype(str)
    slope, level = depot.map(DEPOT_SLOPE).to_numpy(float), depot.map(DEPOT_LEVEL).to_numpy(float)
    return level + slope * X["load"].to_numpy() + X["distance"].to_numpy()


def _keys(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 800
    return pd.DataFrame(
        {
            "left": rng.random(rows) < 0.5,
            "right": rng.random(rows) < 0.5,
            "spare": rng.random(rows) < 0.3,
            "x": rng.normal(size=rows),
            "z": rng.normal(size=rows),
        }
    )


def _one_factor(rng: np.random.Generator) -> Any:
    """Columns 0, 1 and 2 measure the same thing (pairwise correlation 0.94)."""
    X = rng.normal(size=(900, 5))
    X[:, :3] = 0.97 * rng.normal(size=(900, 1)) + np.sqrt(1 - 0.97**2) * X[:, :3]
    return X


def _sine(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(800, 4))
    X[:, 0] = rng.uniform(-3, 3, 800)
    X[:, 1] = np.sin(2 * X[:, 0]) + 0.12 * X[:, 1]
    return X


def _bodies(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 700
    height = rng.normal(1.7, 0.09, rows)
    weight = 75 + 60 * (height - 1.7) + rng.normal(0, 12, rows)
    return pd.DataFrame(
        {
            "height": height,
            "weight": weight,
            "bmi": weight / height**2,
            "age": rng.uniform(20, 80, rows),
            "smokes": rng.random(rows) < 0.3,
        }
    )


def _prices(rng: np.random.Generator) -> Any:
    """What is paid is never above what was asked."""
    import pandas as pd

    rows = 1000
    asked = rng.uniform(10, 110, rows)
    return pd.DataFrame(
        {
            "asked": asked,
            "paid": asked * rng.beta(3, 1, rows),
            "rating": rng.uniform(1, 5, rows),
            "weekday": rng.integers(1, 8, rows),
        }
    )


CITIES = ("A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4", "C1", "C2", "C3", "C4")
CITY_LEVEL = dict(zip(CITIES, (0.0, 1.0, -0.5, 0.4, 1.5, -1.2, 0.3, 0.9, -0.8, 0.6, -1.5, 0.1)))


def _cities(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 900
    city = rng.choice(CITIES, rows)
    return pd.DataFrame(
        {
            "city": city,
            "country": [c[0] for c in city],
            "x": rng.normal(size=rows),
            "z": rng.normal(size=rows),
        }
    )


def _minorities(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 1500
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["u", "x", "w"])
    frame["v"] = rng.uniform(0, 1, rows)
    frame["kind"] = rng.choice(["a", "b", "c"], rows, p=[0.4, 0.35, 0.25])
    return frame


def _minority_rules(X: Any) -> Any:
    """A fifth runs four times as steep the other way along u; a quarter runs the other way along x."""
    along_u = np.where(X["v"].to_numpy() > 0.8, -4.0, 1.0)
    along_x = np.where(X["kind"] == "c", -1.0, 1.0)
    level = X["kind"].map({"a": 0.0, "b": 0.8, "c": -0.8}).to_numpy(float)
    return along_u * X["u"].to_numpy() + along_x * X["x"].to_numpy() + level


def _gaps(rng: np.random.Generator) -> Any:
    """Tenure is missing more often for those without work; heat is missing at random."""
    import pandas as pd

    rows = 1000
    works = rng.random(rows) < 0.6
    tenure, heat = rng.uniform(0, 20, rows), rng.uniform(-1, 1, rows)
    tenure[rng.random(rows) < np.where(works, 0.15, 0.3)] = np.nan
    heat[rng.random(rows) < 0.1] = np.nan
    return pd.DataFrame({"tenure": tenure, "works": works, "heat": heat, "z": rng.normal(size=rows)})


def _with_gaps(X: Any) -> Any:
    tenure, heat = X["tenure"].to_numpy(float), X["heat"].to_numpy(float)
    known = np.where(np.isnan(tenure), 4.5, 0.15 * tenure)
    return known + np.where(np.isnan(heat), -2.0, 2.5 * heat**2) + 0.8 * X["works"].to_numpy()


LINES = tuple(f"line {i}" for i in range(1, 13))
LINE_LEVEL = dict(zip(LINES, (0.0, 1.5, -1.0, 0.5, 2.0, -1.5, 0.8, -0.3, 1.0, -2.0, 0.2, 1.8)))


def _every_kind(rng: np.random.Generator) -> Any:
    """Independent columns of odd distributions, rare levels among them."""
    import pandas as pd

    rows = 600
    share = np.array([20, 16, 12, 10, 9, 8, 6, 6, 4, 4, 3, 2])
    return pd.DataFrame(
        {
            "camel": rng.normal(size=rows) + rng.choice([-3.0, 3.0], rows),
            "calls": rng.poisson(2.5, rows),
            "size": rng.lognormal(0, 1, rows),
            "line": rng.choice(LINES, rows, p=share / share.sum()),
            "rare": rng.random(rows) < 0.08,
            "day": rng.integers(1, 8, rows),
            "t": rng.standard_t(3, rows),
        }
    )


def _rooms(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 1200
    return pd.DataFrame(
        {
            "rooms": rng.integers(1, 9, rows),
            "claims": rng.poisson(2, rows),
            "floor": rng.integers(0, 13, rows),
            "digit": rng.integers(0, 10, rows),
            "noise": rng.normal(size=rows),
        }
    )


def _lab(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 1500
    lab = rng.normal(size=rows)
    lab[rng.random(rows) < 0.25] = np.nan
    return pd.DataFrame(
        {
            "lab": lab,
            "age": rng.uniform(20, 80, rows),
            "pulse": rng.normal(70, 10, rows),
            "stay": rng.exponential(3, rows),
        }
    )


def _all_alike(rng: np.random.Generator) -> Any:
    """Four columns with pairwise correlations of 0.35."""
    return np.sqrt(0.65) * rng.normal(size=(1000, 4)) + np.sqrt(0.35) * rng.normal(size=(1000, 1))


def _rivals(rng: np.random.Generator) -> Any:
    """Columns 0 and 1 correlate at 0.93."""
    X = rng.normal(size=(500, 8))
    X[:, 1] = 0.93 * X[:, 0] + np.sqrt(1 - 0.93**2) * X[:, 1]
    return X


def _plans(rng: np.random.Generator) -> Any:
    import pandas as pd

    rows = 2000
    frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=["use", "age", "p", "q"])
    frame["plan"] = rng.choice(["basic", "plus", "pro", "team"], rows, p=[0.4, 0.3, 0.2, 0.1])
    return frame


# --- processes -------------------------------------------------------------------------------------


def unseen_processes() -> list[Process]:
    """Written without running the statistics on them, and only ever reported."""
    none: set[Any] = set()
    return [
        Process(
            "additive: early and late step, lopsided U, cycles, saturation",
            oracle(
                lambda X: (
                    1.5 * X[:, 0] + 6 * (X[:, 1] - 0.37) ** 2 + 1.2 * (X[:, 2] > 0.15) - 1.2 * (X[:, 3] > 0.85)
                    + 0.6 * np.sin(4 * np.pi * X[:, 4]) - 1.5 * np.exp(-5 * X[:, 5])
                ),
                evenly(700, 7, 0, 1),
            ),
            Truth(
                {0: LINEAR, 1: U, 2: STEP, 3: STEP, 4: WAVE, 5: CURVED, 6: FLAT},
                {0: "increasing", 2: "increasing", 3: "decreasing", 5: "increasing"},
                regions={0: none, 1: none, 4: none},
            ),
        ),
        Process(
            "long tails: line, logarithm, step at the 90th percentile",
            oracle(lambda X: X[:, 0] + 1.2 * np.log(X[:, 1]) + 3 * (X[:, 2] > np.log(10)), _long_tails),
            Truth(
                {0: LINEAR, 1: CURVED, 2: STEP, 3: FLAT, 4: FLAT},
                {0: "increasing", 1: "increasing", 2: "increasing"},
                regions={0: none, 1: none},
            ),
        ),
        Process(
            "LightGBM: a dose that works when treated",
            taught(
                lambda X: (0.8 * X["dose"] * X["treated"] + 1.2 * ((X["age"] - 50) / 15) ** 2).to_numpy(float),
                _trial, _lightgbm, 0.3,
            ),
            Truth({"dose": RISING, "treated": LEVELS, "age": U, "weight": FLAT, "ward": FLAT},
                  {"dose": "increasing", "treated": "increasing"}, pairs=(("dose", "treated"),),
                  regions={"dose": {"treated"}}),
        ),
        Process(
            "HistGradientBoosting: slope turned around in six of twelve depots",
            taught(_delivery, _depots, _histogram, 0.2),
            Truth({"load": FLAT, "depot": LEVELS, "distance": RISING, "shift": FLAT}, {"distance": "increasing"},
                  hidden=frozenset({"load"}), pairs=(("load", "depot"),), regions={"load": {"depot"}}),
        ),
        Process(
            # Slopes are products of the other two: all three pairs are as strong, so none comes first.
            "product of three positive features",
            oracle(lambda X: X[:, 0] * X[:, 1] * X[:, 2] + 0.8 * X[:, 3], evenly(800, 5, 0, 2)),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: LINEAR, 4: FLAT}, dict.fromkeys(range(4), "increasing"),
                  regions={0: {1, 2}, 1: {0, 2}, 3: none}, partners=False),
        ),
        Process(
            "exclusive or of two booleans",
            oracle(
                lambda X: (1.2 * (X["left"] != X["right"]) + 0.8 * X["spare"] - 0.3 * X["x"]).to_numpy(float),
                _keys,
            ),
            Truth({"left": FLAT, "right": FLAT, "spare": LEVELS, "x": LINEAR, "z": FLAT},
                  {"spare": "increasing", "x": "decreasing"}, hidden=frozenset({"left", "right"}),
                  pairs=(("left", "right"),), regions={"left": {"right"}, "x": none}),
        ),
        Process(
            "weakest link and strongest link",
            oracle(
                lambda X: 4 * np.minimum(X[:, 0], X[:, 1]) + 2.5 * np.maximum(X[:, 2], X[:, 3]), evenly(600, 5)
            ),
            Truth({0: CURVED, 1: CURVED, 2: CURVED, 3: CURVED, 4: FLAT}, dict.fromkeys(range(4), "increasing"),
                  pairs=((0, 1), (2, 3)), regions={0: {1}, 1: {0}}),
        ),
        Process(
            "one factor behind three columns",
            oracle(lambda X: X[:, 0] + X[:, 1] - 0.8 * X[:, 2] + X[:, 3], _one_factor),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: LINEAR, 4: FLAT},
                  {0: "increasing", 1: "increasing", 2: "decreasing"}, doubtful=frozenset({0, 1, 2}),
                  regions={0: none}),
        ),
        Process(
            "along a sine",
            oracle(lambda X: 0.5 * X[:, 0] + X[:, 1] - X[:, 2], _sine),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: FLAT}, {2: "decreasing"}, doubtful=frozenset({0, 1})),
        ),
        Process(
            "body mass index beside height and weight",
            oracle(
                lambda X: (0.25 * X["bmi"] + 0.04 * X["age"] + 1.0 * X["smokes"]).to_numpy(float), _bodies
            ),
            Truth({"height": FLAT, "weight": FLAT, "bmi": LINEAR, "age": LINEAR, "smokes": LEVELS},
                  {"bmi": "increasing", "smokes": "increasing"}, doubtful=frozenset({"height", "weight", "bmi"})),
        ),
        Process(
            # Beta(3, 1) has mean 3/4: three in eight of all moved rows pay more than was asked.
            "paid is never above asked",
            oracle(
                lambda X: (0.03 * X["asked"] - 0.05 * X["paid"] + 0.8 * X["rating"]).to_numpy(float), _prices
            ),
            Truth({"asked": LINEAR, "paid": LINEAR, "rating": LINEAR, "weekday": FLAT},
                  {"asked": "increasing", "paid": "decreasing"}, doubtful=frozenset({"asked", "paid"})),
        ),
        Process(
            "cities within countries",
            oracle(lambda X: X["city"].map(CITY_LEVEL).to_numpy(float) + X["x"].to_numpy(), _cities),
            Truth({"city": LEVELS, "country": FLAT, "x": LINEAR, "z": FLAT}, doubtful=frozenset({"city", "country"}),
                  regions={"x": none}),
        ),
        Process(
            "minorities that run the other way",
            oracle(_minority_rules, _minorities),
            Truth({"u": FLAT, "v": FLAT, "x": LINEAR, "kind": LEVELS, "w": FLAT}, {"x": "increasing"},
                  hidden=frozenset({"u", "v"}), pairs=(("u", "v"), ("x", "kind")),
                  regions={"u": {"v"}, "x": {"kind"}}),
        ),
        Process(
            "two columns with gaps, both telling",
            oracle(_with_gaps, _gaps),
            Truth({"tenure": LINEAR, "works": LEVELS, "heat": U, "z": FLAT},
                  {"tenure": "increasing", "works": "increasing"}, missing=frozenset({"tenure", "heat"}),
                  regions={"works": none}),
        ),
        Process(
            "independent columns of every kind",
            oracle(
                lambda X: (
                    0.6 * X["camel"] - 0.7 * X["calls"] + X["line"].map(LINE_LEVEL).astype(float) + 3 * X["rare"]
                    - 0.25 * (X["day"] - 4) ** 2
                ).to_numpy(float),
                _every_kind,
            ),
            Truth({"camel": LINEAR, "calls": LINEAR, "size": FLAT, "line": LEVELS, "rare": LEVELS, "day": ARCH, "t": FLAT},
                  {"camel": "increasing", "calls": "decreasing", "rare": "increasing"},
                  regions={"camel": none, "line": none}),
        ),
        Process(
            "LightGBM: U on one side, arch on the other",
            taught(
                lambda X: 1.2 * np.sign(X[:, 1]) * (3 * X[:, 0] ** 2 - 1) + 0.9 * X[:, 2], evenly(2000, 5), _lightgbm, 0.2
            ),
            Truth({0: FLAT, 1: FLAT, 2: RISING, 3: FLAT, 4: FLAT}, {2: "increasing"}, hidden=frozenset({0, 1}),
                  pairs=((0, 1),), regions={0: {1}}),
        ),
        Process(
            "random forest on counts: line, step, arch",
            taught(
                lambda X: (0.6 * X["rooms"] + 3 * (X["claims"] >= 3) - 0.12 * (X["floor"] - 6) ** 2).to_numpy(float),
                _rooms, _forest, 0.3,
            ),
            Truth({"rooms": RISING, "claims": STEP, "floor": ARCH, "digit": FLAT, "noise": FLAT},
                  {"rooms": "increasing", "claims": "increasing"}),
        ),
        Process(
            "HistGradientBoosting: no test result is bad news",
            taught(
                lambda X: np.where(X["lab"].isna(), 2.5, X["lab"]) - 1.5 * (X["age"] > 65).to_numpy(float),
                _lab, _histogram, 0.3,
            ),
            Truth({"lab": RISING, "age": STEP, "pulse": FLAT, "stay": FLAT}, {"lab": "increasing", "age": "decreasing"},
                  missing=frozenset({"lab"})),
        ),
        Process(
            "LightGBM: two that matter among twelve",
            taught(lambda X: 2 * X[:, 0] + 3 * (X[:, 1] + 0.2) ** 2, evenly(2000, 12), _lightgbm, 0.4),
            Truth({0: RISING, 1: U, **dict.fromkeys(range(2, 12), FLAT)}, {0: "increasing"}, regions={0: none, 1: none}),
        ),
        Process(
            "network: line, U, mild correlation",
            taught(lambda X: X[:, 0] + 0.7 * X[:, 1] ** 2 - 0.8 * X[:, 2], _all_alike, _network, 0.3),
            Truth({0: RISING, 1: U, 2: RISING, 3: FLAT}, {0: "increasing", 2: "decreasing"}),
        ),
        Process(
            # Means over neighbours flatten corners more than edges, so a partner may be named or not.
            "nearest neighbours: line and U",
            taught(lambda X: 1.5 * X[:, 0] + 3 * X[:, 1] ** 2, evenly(900, 3), _neighbours, 0.15),
            Truth({0: RISING, 1: U, 2: FLAT}, {0: "increasing"}, partners=False),
        ),
        Process(
            "linear regression: rivals with opposite signs",
            taught(lambda X: 1.5 * X[:, 0] - X[:, 1] + 0.7 * X[:, 2], _rivals, _least_squares, 0.4),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, **dict.fromkeys(range(3, 8), FLAT)},
                  {0: "increasing", 1: "decreasing", 2: "increasing"}, doubtful=frozenset({0, 1}), regions={0: none}),
        ),
        Process(
            "HistGradientBoosting classifier: line and U",
            labelled(lambda X: 2 * X[:, 0] + 5 * (X[:, 1] ** 2 - 1 / 3), evenly(2500, 4), _histogram_classifier),
            Truth({0: RISING, 1: U, 2: FLAT, 3: FLAT}, {0: "increasing"}, partners=False),
        ),
        Process(
            "logistic regression: plans",
            labelled(
                lambda X: (
                    1.5 * X["use"] - X["age"] + X["plan"].map({"basic": -1.5, "plus": 0.0, "pro": 1.5, "team": 1.0})
                ).to_numpy(float),
                _plans, _logistic,
            ),
            Truth({"use": RISING, "age": RISING, "plan": LEVELS, "p": FLAT, "q": FLAT},
                  {"use": "increasing", "age": "decreasing"}, partners=False),
        ),
    ]  # fmt: skip
