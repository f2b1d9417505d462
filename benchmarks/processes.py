"""Simulated processes with known truth, for `honesty`.

Each draws data and a model (the true function itself, or a small model fitted to noisy targets) and states what a
truthful summary must say of it, and what it must not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

N_ROWS = 600

LINEAR = {"linear"}
RISING = {"linear", "monotone", "mostly monotone"}
U = {"U-shaped"}
ARCH = {"inverted U"}
STEP = {"threshold"}
CURVED = {"monotone", "mostly monotone"}
WAVE = {"non-monotone"}
FLAT = {"flat"}
LEVELS = {"levels"}


@dataclass(frozen=True)
class Truth:
    """What must, and must not, be said of a process.

    Attributes
    ----------
    shapes : feature -> the shapes that are right; a flat average of moving curves is ``"flat"`` too
    directions : feature -> direction
    hidden : features whose average is flat while individual curves move; all others must not be called so
    doubtful : features whose movement the data does not support
    unsure : features of which nothing is asked as to support
    pairs : interacting pairs, strongest first; none means that no partner may be named
    regions : feature -> columns that split its curves; an empty set means that no split may be made
    missing : features whose missing values stand apart
    partners : whether something is asked of the partners the summary names; where features interact
        without any pair that does, naming one is neither right nor wrong
    """

    shapes: dict[Any, set[str]] = field(default_factory=dict)
    directions: dict[Any, str] = field(default_factory=dict)
    hidden: frozenset[Any] = frozenset()
    doubtful: frozenset[Any] = frozenset()
    unsure: frozenset[Any] = frozenset()
    pairs: tuple[tuple[Any, Any], ...] = ()
    regions: dict[Any, set[Any]] = field(default_factory=dict)
    missing: frozenset[Any] = frozenset()
    partners: bool = True


@dataclass(frozen=True)
class Process:
    """A way to draw data and a model, and the truth about it."""

    name: str
    draw: Callable[[np.random.Generator], tuple[Any, Any]]
    truth: Truth


def oracle(function: Callable[[Any], Any], data: Callable[[np.random.Generator], Any]) -> Any:
    """The true function is the model."""
    return lambda rng: (function, data(rng))


def fitted(
    function: Callable[[Any], Any],
    data: Callable[[np.random.Generator], Any],
    learner: str = "boosting",
    noise: float = 0.3,
) -> Any:
    """A small model fitted to the function with noise of a share of its spread."""

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        X = data(rng)
        y = function(X)
        y = y + noise * y.std() * rng.normal(size=len(y))
        return _learner(learner, int(rng.integers(2**31))).fit(X, y), X

    return draw


def _learner(name: str, seed: int) -> Any:
    if name == "boosting":
        from lightgbm import LGBMRegressor

        return LGBMRegressor(
            n_estimators=80, learning_rate=0.1, num_leaves=8, min_child_samples=20, random_state=seed,
            n_jobs=1, verbose=-1,
        )  # fmt: skip
    if name == "forest":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(n_estimators=60, min_samples_leaf=5, max_features=0.6, random_state=seed)
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


# --- data ------------------------------------------------------------------------------------------


def normal(columns: int) -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.normal(size=(N_ROWS, columns))


def uniform(columns: int, rows: int = N_ROWS) -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.uniform(-1, 1, size=(rows, columns))


def correlated(rho: float, columns: int = 4) -> Callable[[np.random.Generator], Any]:
    """Columns 0 and 1 are correlated, the others independent."""

    def draw(rng: np.random.Generator) -> Any:
        X = rng.normal(size=(N_ROWS, columns))
        X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
        return X

    return draw


def _collinear(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(N_ROWS, 6))
    X[:, 4] = X[:, :4].sum(axis=1) / 2 + 0.2 * X[:, 4]
    return X


def _bent(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(N_ROWS, 4))
    X[:, 1] = X[:, 0] ** 2 + 0.3 * X[:, 1]
    return X


def _ring(rng: np.random.Generator) -> Any:
    angle = rng.uniform(0, 2 * np.pi, N_ROWS)
    X = rng.normal(size=(N_ROWS, 4))
    X[:, 0], X[:, 1] = np.cos(angle) + 0.1 * X[:, 0], np.sin(angle) + 0.1 * X[:, 1]
    return X


def _mixed_frame(rng: np.random.Generator) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "x": rng.normal(size=N_ROWS),
            "z": rng.normal(size=N_ROWS),
            "kind": rng.choice(["a", "b", "c", "d"], N_ROWS),
            "flag": rng.random(N_ROWS) < 0.5,
        }
    )


def _tied_category(rng: np.random.Generator) -> Any:
    """A category that goes with a number: levels only occur in their part of its range."""
    frame = _mixed_frame(rng)
    frame["kind"] = np.array(["a", "b", "c", "d"])[np.digitize(frame["x"], [-0.7, 0.0, 0.7])]
    return frame


def _with_missing(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(N_ROWS, 4))
    X[rng.random(N_ROWS) < 0.15, 0] = np.nan
    return X


def _skewed(rng: np.random.Generator) -> Any:
    return np.column_stack(
        [rng.lognormal(0, 1, N_ROWS), rng.exponential(1, N_ROWS), rng.normal(size=(N_ROWS, 2))]
    )


def _counts(rng: np.random.Generator) -> Any:
    return np.column_stack(
        [
            rng.poisson(3, N_ROWS),
            rng.integers(0, 2, N_ROWS),
            rng.integers(1, 13, N_ROWS),
            rng.integers(0, 5, N_ROWS),
        ]
    ).astype(float)


def _hours(rng: np.random.Generator) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            "hour": rng.integers(0, 24, N_ROWS),
            "workingday": (rng.random(N_ROWS) < 0.68).astype(int),
            "temp": rng.normal(15, 6, N_ROWS),
            "wind": rng.exponential(10, N_ROWS),
        }
    )


def _rides(X: Any) -> Any:
    """Two peaks on working days, one hump on others; nearly as many rides a day on both."""
    hour, works = X["hour"].to_numpy(float), X["workingday"].to_numpy() == 1
    commute = 300 * np.exp(-((hour - 8) ** 2) / 3) + 350 * np.exp(-((hour - 18) ** 2) / 4)
    leisure = 320 * np.exp(-((hour - 14) ** 2) / 16)
    return np.where(works, commute, leisure) + 8 * X["temp"].to_numpy()


# --- processes -------------------------------------------------------------------------------------


def processes() -> list[Process]:
    """All processes, in a fixed order: even places choose thresholds, odd places are reported."""
    none: set[Any] = set()
    return [
        Process(
            "additive: line, U, step, wave, noise",
            oracle(
                lambda X: X[:, 0] + 2 * X[:, 1] ** 2 + (X[:, 2] > 0.2) + np.sin(6 * X[:, 3]), uniform(5)
            ),
            Truth(
                {0: LINEAR, 1: U, 2: STEP, 3: WAVE, 4: FLAT}, {0: "increasing", 2: "increasing"},
                regions={0: none, 1: none},
            ),
        ),
        Process(
            "additive: falling line, arch, late step, saturation, noise",
            oracle(
                lambda X: -2 * X[:, 0] - 3 * (X[:, 1] - 0.2) ** 2 - 1.5 * (X[:, 2] > 0.6) + np.tanh(4 * X[:, 3]),
                uniform(5),
            ),
            Truth(
                {0: LINEAR, 1: ARCH, 2: STEP, 3: {"monotone", "threshold"}, 4: FLAT},
                {0: "decreasing", 2: "decreasing", 3: "increasing"},
                regions={0: none, 3: none},
            ),
        ),
        Process(
            "product of two, line, noise",
            oracle(lambda X: 1.5 * X[:, 0] * X[:, 1] + X[:, 2], normal(4)),
            Truth({0: FLAT, 1: FLAT, 2: LINEAR, 3: FLAT}, hidden=frozenset({0, 1}), pairs=((0, 1),),
                  regions={0: {1}, 1: {0}, 2: none}),
        ),
        Process(
            "two pairs of different strength",
            oracle(lambda X: 2 * X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4], normal(5)),
            Truth({4: LINEAR}, hidden=frozenset({0, 1, 2, 3}), pairs=((0, 1), (2, 3)),
                  regions={0: {1}, 2: {3}, 4: none}),
        ),
        Process(
            "sign switched by another feature",
            oracle(lambda X: X[:, 0] * np.sign(X[:, 1]) + 0.7 * X[:, 2], normal(4)),
            Truth({0: FLAT, 2: LINEAR, 3: FLAT}, hidden=frozenset({0, 1}), pairs=((0, 1),),
                  regions={0: {1}, 2: none}),
        ),
        Process(
            "sign switched by a category",
            oracle(
                lambda X: (X["x"] * np.where(X["kind"].isin(["a", "b"]), 1, -1) + 0.5 * X["z"]).to_numpy(),
                _mixed_frame,
            ),
            Truth({"x": FLAT, "z": LINEAR, "flag": FLAT}, hidden=frozenset({"x", "kind"}), pairs=(("x", "kind"),),
                  regions={"x": {"kind"}, "z": none}),
        ),
        Process(
            "strong correlation, additive",
            oracle(lambda X: X[:, 0] + X[:, 1] + X[:, 2], correlated(0.95)),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: FLAT}, doubtful=frozenset({0, 1})),
        ),
        Process(
            "strong correlation, fitted boosting",
            fitted(lambda X: X[:, 0] + X[:, 2], correlated(0.9)),
            Truth({2: RISING}, {2: "increasing"}, doubtful=frozenset({0, 1})),
        ),
        Process(
            "sum of others",
            oracle(lambda X: X[:, 4] + X[:, 5], _collinear),
            Truth({4: LINEAR, 5: LINEAR, 0: FLAT}, doubtful=frozenset({4}), unsure=frozenset({0, 1, 2, 3})),
        ),
        Process(
            "bent dependence without correlation",
            oracle(lambda X: X[:, 0] + X[:, 1] + X[:, 2], _bent),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: FLAT}, doubtful=frozenset({0, 1})),
        ),
        Process(
            "fitted boosting: line, step, noise",
            fitted(lambda X: X[:, 0] + 2 * (X[:, 1] > 0), uniform(6)),
            Truth({0: RISING, 1: STEP, 2: FLAT, 3: FLAT, 4: FLAT, 5: FLAT}, {0: "increasing", 1: "increasing"},
                  regions={0: none, 1: none}),
        ),
        Process(
            "fitted forest: U, falling line, noise",
            fitted(lambda X: 3 * X[:, 0] ** 2 - 2 * X[:, 1], uniform(5), "forest"),
            Truth({0: U, 1: RISING, 2: FLAT, 3: FLAT, 4: FLAT}, {1: "decreasing"}, regions={1: none}),
        ),
        Process(
            "fitted boosting: switched sign",
            fitted(lambda X: 2 * X[:, 0] * np.sign(X[:, 1]) + X[:, 2], uniform(4)),
            Truth({0: FLAT, 2: RISING, 3: FLAT}, hidden=frozenset({0, 1}), pairs=((0, 1),),
                  regions={0: {1}}),
        ),
        Process(
            "fitted boosting: product",
            fitted(lambda X: 3 * X[:, 0] * X[:, 1] + X[:, 2], uniform(4)),
            Truth({2: RISING, 3: FLAT}, hidden=frozenset({0, 1}), pairs=((0, 1),), regions={0: {1}, 1: {0}}),
        ),
        Process(
            "levels, additive",
            oracle(
                lambda X: (X["kind"].map({"a": 0.0, "b": 1.0, "c": -1.0, "d": 0.5}) + X["x"] + 0.8 * X["flag"]).to_numpy(),
                _mixed_frame,
            ),
            Truth({"kind": LEVELS, "x": LINEAR, "flag": LEVELS, "z": FLAT}, {"flag": "increasing"},
                  regions={"kind": none, "x": none}),
        ),
        Process(
            "levels that go with a number",
            oracle(
                lambda X: (X["kind"].map({"a": 0.0, "b": 1.0, "c": 0.0, "d": 2.0}) + X["z"]).to_numpy(),
                _tied_category,
            ),
            Truth({"kind": LEVELS, "z": LINEAR, "flag": FLAT}, doubtful=frozenset({"kind"}), unsure=frozenset({"x"})),
        ),
        Process(
            "missing values that matter",
            oracle(lambda X: np.where(np.isnan(X[:, 0]), 2.0, X[:, 0]) + X[:, 1], _with_missing),
            Truth({0: LINEAR, 1: LINEAR, 2: FLAT, 3: FLAT}, missing=frozenset({0})),
        ),
        Process(
            # What is additive before the link is not after it: on this scale the two do interact.
            "probabilities",
            oracle(lambda X: 1 / (1 + np.exp(-(1.5 * X[:, 0] - X[:, 1]))), normal(4)),
            Truth({0: RISING, 1: RISING, 2: FLAT, 3: FLAT}, {0: "increasing", 1: "decreasing"}, pairs=((0, 1),)),
        ),
        Process(
            "skewed columns",
            oracle(lambda X: np.log(X[:, 0]) - X[:, 1] + X[:, 2] ** 2, _skewed),
            Truth({0: CURVED, 1: LINEAR, 2: U, 3: FLAT}, {0: "increasing", 1: "decreasing"}, regions={0: none}),
        ),
        Process(
            "counts and months",
            oracle(lambda X: 0.5 * X[:, 0] + X[:, 1] - 0.1 * (X[:, 2] - 6.5) ** 2, _counts),
            Truth({0: LINEAR, 1: LEVELS, 2: ARCH, 3: FLAT}, {0: "increasing", 1: "increasing"}, regions={2: none}),
        ),
        Process(
            "ring: uncorrelated, yet empty inside",
            oracle(lambda X: X[:, 0] * X[:, 1] + X[:, 2], _ring),
            Truth({2: LINEAR, 3: FLAT}, hidden=frozenset({0, 1}), doubtful=frozenset({0, 1}), pairs=((0, 1),)),
        ),
        Process(
            "slope in one corner only",
            oracle(lambda X: 2 * X[:, 0] * ((X[:, 1] > 0) & (X[:, 2] > 0)) + X[:, 3], normal(5)),
            Truth({0: LINEAR, 3: LINEAR, 4: FLAT}, {0: "increasing"}, hidden=frozenset({1, 2}),
                  regions={0: {1, 2}, 3: none}),
        ),
        Process(
            "mild correlation",
            oracle(lambda X: X[:, 0] + 2 * X[:, 1] ** 2 + X[:, 2], correlated(0.4)),
            Truth({0: LINEAR, 1: U, 2: LINEAR, 3: FLAT}, regions={0: none}),
        ),
        Process(
            "linear regression, many unrelated columns",
            fitted(lambda X: X[:, 0] - X[:, 1], normal(10), "linear"),
            Truth({0: LINEAR, 1: LINEAR, **dict.fromkeys(range(2, 10), FLAT)}, {0: "increasing", 1: "decreasing"}),
        ),
        Process(
            "weak line beside strong ones",
            oracle(lambda X: 3 * X[:, 0] + 2 * X[:, 1] - 0.6 * X[:, 2], normal(4)),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: FLAT}, {2: "decreasing"}, regions={0: none}),
        ),
        Process(
            "hours by working day",
            oracle(_rides, _hours),
            Truth({"hour": WAVE | ARCH, "temp": RISING, "wind": FLAT}, {"temp": "increasing"},
                  hidden=frozenset({"workingday"}), unsure=frozenset({"hour", "workingday"}), pairs=(("hour", "workingday"),),
                  regions={"hour": {"workingday"}, "temp": none}),
        ),
        Process(
            "hinge and decay",
            oracle(lambda X: 3 * np.maximum(0, X[:, 0] - 0.2) + 2 * np.exp(-3 * (X[:, 1] + 1)), uniform(4)),
            Truth({0: CURVED, 1: CURVED, 2: FLAT, 3: FLAT}, {0: "increasing", 1: "decreasing"}, regions={0: none}),
        ),
        Process(
            "fitted boosting: decay, arch, mild correlation",
            fitted(lambda X: 2 * np.exp(-1.5 * X[:, 0]) / 3 - X[:, 2] ** 2, correlated(0.3, 5)),
            Truth({0: CURVED, 2: ARCH, 3: FLAT, 4: FLAT}, {0: "decreasing"}, regions={2: none}),
        ),
    ]  # fmt: skip


# --- processes that came later ---------------------------------------------------------------------


def _clusters(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(N_ROWS, 4))
    cluster = rng.integers(0, 3, N_ROWS)
    X[:, 0] = 0.25 * X[:, 0] + np.array([-2, 0, 2])[cluster]
    X[:, 1] = 0.25 * X[:, 1] + np.array([2, -2, 1])[cluster]
    return X


def _shares(rng: np.random.Generator) -> Any:
    """Three columns that add up to one."""
    X = rng.normal(size=(N_ROWS, 5))
    X[:, :3] = rng.dirichlet([2, 2, 2], N_ROWS)
    return X


def _days(rng: np.random.Generator) -> Any:
    import pandas as pd

    start = pd.Timestamp("2024-01-01")
    return pd.DataFrame(
        {
            "day": start + pd.to_timedelta(rng.integers(0, 365, N_ROWS), unit="D"),
            "x": rng.normal(size=N_ROWS),
            "z": rng.exponential(size=N_ROWS),
        }
    )


def _rare_counts(rng: np.random.Generator) -> Any:
    rare = np.where(rng.random(N_ROWS) < 0.8, 0, rng.poisson(4, N_ROWS))
    return np.column_stack([rare, rng.lognormal(0, 2, N_ROWS), rng.normal(size=N_ROWS)]).astype(float)


def _missing_level(rng: np.random.Generator) -> Any:
    import pandas as pd

    kind = rng.choice(np.array(["a", "b", "c", None], dtype=object), N_ROWS)
    return pd.DataFrame({"kind": kind, "x": rng.normal(size=N_ROWS), "z": rng.normal(size=N_ROWS)})


def _switch(rng: np.random.Generator) -> Any:
    import pandas as pd

    frame = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["x", "z", "w"])
    frame["on"] = rng.integers(0, 2, N_ROWS)
    return frame


def classified(function: Callable[[Any], Any], data: Callable[[np.random.Generator], Any]) -> Any:
    """A boosted classifier fitted to draws with these log-odds."""

    def draw(rng: np.random.Generator) -> tuple[Any, Any]:
        from lightgbm import LGBMClassifier

        X = data(rng)
        y = rng.random(len(X)) < 1 / (1 + np.exp(-function(X)))
        model = LGBMClassifier(n_estimators=40, num_leaves=6, min_child_samples=20, n_jobs=1, verbose=-1)
        return model.fit(X, y.astype(int)), X

    return draw


def later_processes() -> list[Process]:
    """Written after thresholds and statistics were fixed, and only ever reported."""
    none: set[Any] = set()
    return [
        Process(
            "slope that grows with another feature",
            oracle(lambda X: X[:, 0] + X[:, 0] * X[:, 1] + X[:, 2], normal(4)),
            Truth({0: LINEAR, 2: LINEAR, 3: FLAT}, {0: "increasing"}, hidden=frozenset({1}), pairs=((0, 1),),
                  regions={0: {1}, 2: none}),
        ),
        Process(
            "three clusters",
            oracle(lambda X: X[:, 0] + X[:, 1] + X[:, 2], _clusters),
            Truth({0: LINEAR, 1: LINEAR, 2: LINEAR, 3: FLAT}, doubtful=frozenset({0, 1})),
        ),
        Process(
            "shares that add up to one",
            oracle(lambda X: X[:, 0] - X[:, 1] + 0.2 * X[:, 3], _shares),
            Truth({0: LINEAR, 1: LINEAR, 2: FLAT, 3: LINEAR, 4: FLAT}, doubtful=frozenset({0, 1, 2})),
        ),
        Process(
            "days",
            oracle(
                lambda X: ((X["day"] - np.datetime64("2024-01-01")).dt.days / 100 + 0.5 * X["x"]).to_numpy(), _days
            ),
            Truth({"day": LINEAR, "x": LINEAR, "z": FLAT}, {"day": "increasing"}, regions={"day": none}),
        ),
        Process(
            "rare counts and a long tail",
            oracle(lambda X: 0.5 * X[:, 0] + np.log1p(X[:, 1]) + X[:, 2], _rare_counts),
            Truth({0: LINEAR, 1: CURVED, 2: LINEAR}, {0: "increasing", 1: "increasing"}, regions={0: none, 2: none}),
        ),
        Process(
            "a missing level",
            oracle(
                lambda X: X["kind"].map({"a": 0.0, "b": 1.0, "c": -1.0}).fillna(1.5).to_numpy(float) + X["x"].to_numpy(),
                _missing_level,
            ),
            Truth({"kind": LEVELS, "x": LINEAR, "z": FLAT}, missing=frozenset({"kind"}), regions={"x": none}),
        ),
        Process(
            "boosted classifier: line and step",
            # A label says less than a number, so it takes more rows to learn the truth from.
            classified(lambda X: 2 * X[:, 0] - 1.5 * (X[:, 1] > 0), uniform(5, 5 * N_ROWS)),
            # Log-odds add up; probabilities near 0 and 1 cannot, so a partner may be named or not.
            Truth({0: RISING | STEP, 1: STEP}, {0: "increasing", 1: "decreasing"}, partners=False),
        ),
        Process(
            "fitted boosting: a step that is switched on",
            fitted(lambda X: (X["z"] + 2 * (X["x"] > 0) * X["on"]).to_numpy(), _switch),
            Truth({"x": STEP, "z": RISING, "w": FLAT}, {"x": "increasing"}, pairs=(("x", "on"),),
                  regions={"x": {"on"}}),
        ),
        Process(
            "fitted forest: 12 irrelevant features",
            fitted(lambda X: 2 * X[:, 0] - X[:, 1], normal(14), "forest"),
            Truth({0: RISING | STEP, 1: RISING | STEP, **dict.fromkeys(range(2, 14), FLAT)},
                  {0: "increasing", 1: "decreasing"}),
        ),
        Process(
            "sign of three together",
            oracle(lambda X: np.sign(X[:, 0] * X[:, 1] * X[:, 2]) + X[:, 3], normal(5)),
            Truth({0: FLAT, 1: FLAT, 2: FLAT, 3: LINEAR, 4: FLAT}, hidden=frozenset({0, 1, 2}),
                  regions={3: none}, partners=False),
        ),
    ]  # fmt: skip
