"""What the fresh sets of `honesty` are written with: truths, processes, data and learners.

A process draws a case (a model and its rows) and states per feature what is true. `None` is what theory leaves open, and
is not asked. Statements and scoring are in `fresh_scores`, truths of fitted models by brute force in `fresh_truth`.

The rules of scoring, fixed before anything was scored:

- *asked*: something is there to be said (a shape, a partner, hidden movement, a split, a lack of support). Saying it is
  right; saying another thing or nothing is wrong.
- *quiet*: nothing is there. Saying nothing is right; saying something is a false alarm.
- A statement that calls itself borderline or unknown is neither right, wrong nor a false alarm. It is counted apart, and
  a set with more than 10 % of such statements has missed its goals whatever its other shares are.
- "flat" is what the documentation defines: an average that moves by less than 0.07 SD of the predictions. Truths
  keep a distance to that and to every other threshold, or are None.
- Several shapes joined by "|" are all right: where a step is soft, theory does not say where a rise begins to be one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

ROWS = 600
Rng = np.random.Generator
Columns = Mapping[str, Any]

SHAPES = {
    "flat": "flat",
    "up": "increasing",
    "down": "decreasing",
    "U": "U",
    "cap": "inverted U",
    "step+": "threshold up",
    "step-": "threshold down",
    "other": "other",
    "levels": "levels",  # categories: not flat, and no order to speak of
    "two+": "two up",  # of two values, the larger has the larger average
    "two-": "two down",
}
KINDS = (
    "surface", "classification", "weights", "panel", "skewed", "joint", "gap", "parity", "subgroup", "noise",
    "monotone", "threshold", "U", "hidden", "category",
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """What is true of one feature; None is open.

    Attributes
    ----------
    shapes : the shapes that are right
    matters : whether the predictions move with it at all
    hidden : whether the average is flat while individual curves move
    partners : the features it interacts with, of which the strongest named must be one; empty for none
    allowed : the features that may be named; all others are false alarms
    support : whether the data does not support moving it
    splits : the columns that regions of its curves must be cut by; empty for no cut
    gap : a value inside a gap of its range and one where there is data
    """

    shapes: frozenset[str] | None = None
    matters: bool | None = None
    hidden: bool | None = None
    partners: frozenset[str] | None = None
    allowed: frozenset[str] | None = None
    support: bool | None = None
    splits: frozenset[str] | None = None
    gap: tuple[float, float] | None = None


OPEN = Fact()


def fact(
    shape: str | None = None,
    by: str | None = "",
    *,
    may: str | None = None,
    hidden: bool | None = False,
    thin: bool | None = False,
    split: str | None = "",
    gap: tuple[float, float] | None = None,
) -> Fact:
    """A truth in few words.

    `by` names the partners (None: open), `may` others that are too weak to be asked for, `thin` is a lack of
    support, `split` the columns of its regions. Without `split`, additive features must not be cut and nothing is
    asked of others.
    """
    shapes = None if shape is None else frozenset(SHAPES[one] for one in shape.split("|"))
    matters: bool | None = None
    if (shapes is not None and "flat" not in shapes) or hidden:
        matters = True
    elif shapes == {"flat"} and hidden is False:
        matters = False
    named = None if by is None else frozenset(by.split())
    splits = None if split is None else frozenset(split.split())
    allowed = named
    if may is not None and named is not None:
        allowed = named | frozenset(may.split())
        named = named or None
    if allowed is None or allowed:
        splits = splits or None
    return Fact(shapes, matters, hidden, named, allowed, thin, splits, gap)


def facts(**given: Fact) -> dict[str, Fact]:
    """Truths by feature; a name of several, joined by two underscores, states the same of each."""
    return {name: one for names, one in given.items() for name in names.split("__")}


@dataclass(frozen=True, eq=False)
class Case:
    """A model and the rows it is asked about, as a user has them."""

    model: Any
    X: pd.DataFrame
    y: Any = None
    weights: Any = None
    cluster: Any = None


@dataclass(frozen=True, eq=False)
class Process:
    """A way to draw cases, and the truth about them.

    Attributes
    ----------
    name, reference : what it is, and who wrote about it
    kinds : what it covers, of `KINDS`
    draw : a case from a random generator
    truth : per feature. Of a fitted model it is the world's, the model's own is computed from it by brute force
    fitted : whether the model is fitted; otherwise it is the process itself
    noise_only : whether there is nothing in the targets that the columns tell
    in_tail : features that act beyond the usual range only: plain curves, which are trimmed, are not asked
    """

    name: str
    reference: str
    kinds: tuple[str, ...]
    draw: Callable[[Rng], Case]
    truth: Mapping[str, Fact]
    fitted: bool = False
    noise_only: bool = False
    in_tail: frozenset[str] = field(default_factory=frozenset)


class Formula:
    """A true function as a model: its arguments are columns by name (`**` all of them), other columns do nothing."""

    def __init__(self, function: Callable[..., Any], names: Sequence[str]) -> None:
        self.function, self.feature_names_in_ = function, np.array(list(names), dtype=object)
        parameters = inspect.signature(function).parameters.values()
        every = any(one.kind is one.VAR_KEYWORD for one in parameters)
        self.arguments = list(names) if every else [one.name for one in parameters if one.name in names]

    def predict(self, frame: Any) -> Any:
        columns = {name: frame[name].to_numpy() for name in self.arguments}
        value = np.asarray(self.function(**columns), dtype=float)
        return np.broadcast_to(value, (len(frame),)).copy()


# --- data ------------------------------------------------------------------------------------------


def evenly(low: float, high: float) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: rng.uniform(low, high, rows)


def normal(mean: float = 0.0, spread: float = 1.0) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: rng.normal(mean, spread, rows)


def flags(share: float = 0.5) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: (rng.random(rows) < share).astype(int)


def whole(low: int, high: int) -> Callable[[Rng, int], Any]:
    """Whole numbers from `low` to `high`."""
    return lambda rng, rows: rng.integers(low, high + 1, rows)


def one_of(levels: str, shares: Sequence[float] | None = None) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: rng.choice(np.array(levels.split(), dtype=object), rows, p=shares)


def columns(rows: int = ROWS, **given: Any) -> Callable[[Rng], pd.DataFrame]:
    """Independent columns; a pair of numbers is a uniform range, a name of several is drawn for each."""
    drawn = {
        name: evenly(*how) if isinstance(how, tuple) else how
        for names, how in given.items()
        for name in names.split("__")
    }
    return lambda rng: pd.DataFrame({name: how(rng, rows) for name, how in drawn.items()})


def numbered(count: int, how: Any, rows: int = ROWS, first: int = 1) -> Callable[[Rng], pd.DataFrame]:
    """Columns x1, x2, ... that are drawn alike."""
    return columns(rows, **{f"x{i}": how for i in range(first, first + count)})


def mirrored(data: Callable[[Rng], pd.DataFrame], names: str) -> Callable[[Rng], pd.DataFrame]:
    """Every row with its mirror image in these columns: what is zero by symmetry is exactly zero."""

    def draw(rng: Rng) -> pd.DataFrame:
        frame = data(rng)
        other = frame.copy()
        other[names.split()] *= -1
        return pd.concat([frame, other], ignore_index=True)

    return draw


def correlated(matrix: Any, rows: int = ROWS) -> Callable[[Rng], pd.DataFrame]:
    """Normal columns x1, x2, ... with these correlations."""
    root = np.linalg.cholesky(np.asarray(matrix, dtype=float))

    def draw(rng: Rng) -> pd.DataFrame:
        X = rng.normal(size=(rows, len(root))) @ root.T
        return pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(len(root))])

    return draw


def repeated(units: int, times: int, fixed: Columns, varying: Columns) -> Callable[[Rng], pd.DataFrame]:
    """A panel: `fixed` columns are drawn once per unit, `varying` ones in every row; `unit` says whose row it is."""

    def draw(rng: Rng) -> pd.DataFrame:
        own = columns(units, **fixed)(rng)
        frame = own.loc[np.repeat(np.arange(units), times)].reset_index(drop=True)
        moving = columns(units * times, **varying)(rng)
        frame = pd.concat([frame, moving], axis=1)
        frame["unit"] = np.repeat(np.arange(units), times)
        return frame

    return draw


def sigmoid(log_odds: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.asarray(log_odds, dtype=float)))


def coded(values: Any, **codes: float) -> Any:
    """The number of each level."""
    return pd.Series(values).map(codes).to_numpy(float)


# --- learners --------------------------------------------------------------------------------------


def learner(name: str, frame: pd.DataFrame, seed: int) -> Any:
    """A model to fit; levels are spread over columns of their own where there are any."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    model = _bare(name, seed)
    scaled = name.startswith(("network", "logistic"))
    if not words:
        return make_pipeline(StandardScaler(), model) if scaled else model
    rest = StandardScaler() if scaled else "passthrough"
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), words), remainder=rest)
    return make_pipeline(encode, model)


def _bare(name: str, seed: int) -> Any:
    from lightgbm import LGBMRegressor
    from sklearn import ensemble, linear_model, neural_network

    net = {
        "hidden_layer_sizes": (12,),
        "alpha": 0.5,
        "solver": "lbfgs",
        "max_iter": 1500,
        "random_state": seed,
    }
    trees = {"n_estimators": 50, "min_samples_leaf": 3, "max_features": 0.7, "random_state": seed}
    made: dict[str, Callable[[], Any]] = {
        "boosting": lambda: ensemble.GradientBoostingRegressor(random_state=seed),
        "histogram": lambda: ensemble.HistGradientBoostingRegressor(max_iter=60, random_state=seed),
        "lightgbm": lambda: LGBMRegressor(n_estimators=60, random_state=seed, n_jobs=1, verbose=-1),
        "forest": lambda: ensemble.RandomForestRegressor(**trees),
        "network": lambda: neural_network.MLPRegressor(**net),
        "linear": linear_model.LinearRegression,
        "boosting classifier": lambda: ensemble.GradientBoostingClassifier(
            n_estimators=60, random_state=seed
        ),
        "histogram classifier": lambda: ensemble.HistGradientBoostingClassifier(
            max_iter=40, random_state=seed
        ),
        "forest classifier": lambda: ensemble.RandomForestClassifier(**trees),
        "network classifier": lambda: neural_network.MLPClassifier(**net),
        "logistic": lambda: linear_model.LogisticRegression(max_iter=1000),
    }
    return made[name]()


# --- processes -------------------------------------------------------------------------------------

Weigh = Callable[[pd.DataFrame], Any]


def exact(
    name: str,
    reference: str,
    kinds: str,
    function: Callable[..., Any],
    data: Callable[[Rng], pd.DataFrame],
    truth: Mapping[str, Fact],
    *,
    weigh: Weigh | None = None,
    cluster: str | None = None,
    in_tail: str = "",
) -> Process:
    """The process itself is the model."""

    def draw(rng: Rng) -> Case:
        X, units = _without(data(rng), cluster)
        weights = None if weigh is None else np.asarray(weigh(X), dtype=float)
        return Case(Formula(function, list(X)), X, None, weights, units)

    return Process(name, reference, tuple(kinds.split()), draw, truth, in_tail=frozenset(in_tail.split()))


def fitted(
    name: str,
    reference: str,
    kinds: str,
    function: Callable[..., Any],
    data: Callable[[Rng], pd.DataFrame],
    truth: Mapping[str, Fact],
    model: str,
    *,
    noise: float = 0.3,
    weigh: Weigh | None = None,
    cluster: str | None = None,
    unit_noise: float = 0.0,
) -> Process:
    """A model fitted to the function with noise of a share of its spread, or to labels with these probabilities.

    A function that is the same everywhere gives targets of noise only. `unit_noise` is drawn once per unit of a panel.
    """
    labels = model.endswith("classifier") or model == "logistic"

    def draw(rng: Rng) -> Case:
        X, units = _without(data(rng), cluster)
        value = Formula(function, list(X)).predict(X)
        if labels:
            y = (rng.random(len(X)) < value).astype(int)
        else:
            unit = float(value.std()) or 1.0
            y = value + (noise if value.std() > 0 else 1.0) * unit * rng.normal(size=len(X))
            if units is not None:
                y = y + unit_noise * unit * rng.normal(size=int(units.max()) + 1)[units]
        weights = None if weigh is None else np.asarray(weigh(X), dtype=float)
        own = learner(model, X, int(rng.integers(2**31)))
        if weights is None:
            own.fit(X, y)
        else:
            last = own.steps[-1][0] + "__" if hasattr(own, "steps") else ""
            own.fit(X, y, **{last + "sample_weight": weights})
        return Case(own, X, y, weights, units)

    kind = tuple(kinds.split())
    return Process(f"{name}: {model}", reference, kind, draw, truth, True, "noise" in kind)


def _without(frame: pd.DataFrame, cluster: str | None) -> tuple[pd.DataFrame, Any]:
    if cluster is None:
        return frame, None
    return frame.drop(columns=cluster), frame[cluster].to_numpy()
