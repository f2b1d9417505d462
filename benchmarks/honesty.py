"""How honest are the readings? Simulated processes with known truth, scored.

Each process draws data and a model (the true function itself, or a small model fitted to noisy
targets) and states what a truthful summary must say of it, and what it must not: the shape of each
effect, flat averages that hide moving curves, features the data does not support moving, the interacting pairs
and the columns that tell curves apart.

Processes and seeds are divided in halves: thresholds were chosen on one half (``--choose`` scores it, and shows
what other thresholds would do there), the other half is reported. Run ``python benchmarks/honesty.py``.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np

import icefield
from icefield.statistics import reading, shapes, summary, support

N_ROWS = 600
SEEDS = 40  # 20 in each half

LINEAR = {"linear"}
RISING = {"linear", "monotone"}
U = {"U-shaped"}
ARCH = {"inverted U"}
STEP = {"threshold"}
CURVED = {"monotone"}
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
    """

    shapes: dict[Any, set[str]] = field(default_factory=dict)
    directions: dict[Any, str] = field(default_factory=dict)
    hidden: frozenset[Any] = frozenset()
    doubtful: frozenset[Any] = frozenset()
    unsure: frozenset[Any] = frozenset()
    pairs: tuple[tuple[Any, Any], ...] = ()
    regions: dict[Any, set[Any]] = field(default_factory=dict)
    missing: frozenset[Any] = frozenset()


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


def uniform(columns: int) -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.uniform(-1, 1, size=(N_ROWS, columns))


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


def _col(X: Any, j: int) -> Any:
    return X[:, j]


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


# --- scoring -------------------------------------------------------------------------------------


@dataclass
class Score:
    """Right and wrong statements by kind; `must_not` counts alarms where there was nothing to say."""

    right: dict[str, int] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    alarms: dict[str, int] = field(default_factory=dict)
    quiet: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def must(self, kind: str, ok: bool, what: str) -> None:
        self.asked[kind] = self.asked.get(kind, 0) + 1
        self.right[kind] = self.right.get(kind, 0) + bool(ok)
        if not ok:
            self.wrong.append(f"{kind}: {what}")

    def must_not(self, kind: str, alarm: bool, what: str) -> None:
        self.quiet[kind] = self.quiet.get(kind, 0) + 1
        self.alarms[kind] = self.alarms.get(kind, 0) + bool(alarm)
        if alarm:
            self.wrong.append(f"false {kind}: {what}")

    def add(self, other: Score) -> None:
        for mine, theirs in (
            (self.right, other.right), (self.asked, other.asked), (self.alarms, other.alarms), (self.quiet, other.quiet)
        ):  # fmt: skip
            for kind, number in theirs.items():
                mine[kind] = mine.get(kind, 0) + number
        self.wrong += other.wrong


def scored(process: Process, seed: int) -> Score:
    """Draw once, explain, and compare with the truth."""
    truth, score = process.truth, Score()
    model, X = process.draw(np.random.default_rng([seed, sum(process.name.encode())]))
    ex = icefield.Explainer(model, X, engine="brute", seed=seed)
    found = ex.summary(grid=30)
    for feature, said in found.readings.items():
        if feature in truth.shapes:
            score.must("shape", said.shape in truth.shapes[feature], f"{feature} {said.sentence}")
        if feature in truth.directions:
            score.must("direction", said.direction == truth.directions[feature], f"{feature} {said.sentence}")
        if feature in truth.hidden:
            score.must("hidden", said.hidden, f"{feature} {said.sentence}")
        else:
            score.must_not("hidden", said.hidden, f"{feature} {said.sentence}")
        if feature in truth.missing:
            apart = said.missing_jump is not None and abs(said.missing_jump) > 0.2
            score.must("missing", apart, f"{feature} {said.sentence}")
        support_found = found.effects[feature].support
        text = f"{feature} outside {support_found.outside:.2f}"
        if feature in truth.doubtful:
            score.must("support", support_found.doubtful, text)
        elif feature not in truth.unsure:
            score.must_not("support", support_found.doubtful, text)
    _score_pairs(score, ex, found, truth)
    for feature, columns in truth.regions.items():
        table = ex.regions(feature)
        split = {s.column for s in table.splits}
        if columns:
            first = table.splits[0].column if table.splits else None
            score.must(
                "regions", first in columns and split <= columns, f"{feature} {sorted(map(str, split))}"
            )
        else:
            score.must_not("regions", bool(split), f"{feature} {sorted(map(str, split))}")
    return score


def _score_pairs(score: Score, ex: Any, found: Any, truth: Truth) -> None:
    table = ex.interactions(rows=100, overall=False)
    ranked = [frozenset(pair) for pair in table["features"].tolist()]
    if truth.pairs:
        wanted = [frozenset(p) for p in truth.pairs]
        score.must(
            "interaction", ranked[: len(wanted)] == wanted, f"{[sorted(map(str, r)) for r in ranked[:2]]}"
        )
        best = dict(zip(found["feature"].tolist(), found["partner"].tolist()))
        for a, b in truth.pairs:
            score.must("partner", best[a] == str(b) and best[b] == str(a), f"{a}: {best[a]}, {b}: {best[b]}")
    elif not any(truth.regions.values()):
        named = [p for p in found["partner"].tolist() if p is not None]
        score.must_not("interaction", bool(named), f"partners {named}")


def run(chosen: list[Process], seeds: list[int], verbose: bool) -> Score:
    total = Score()
    for process in chosen:
        own = Score()
        for seed in seeds:
            own.add(scored(process, seed))
        asked, quiet = sum(own.asked.values()), sum(own.quiet.values())
        if verbose:
            print(
                f"{process.name:<58} right {sum(own.right.values()):>4} of {asked:<4} "
                f"false alarms {sum(own.alarms.values()):>3} of {quiet}"
            )
            for text in own.wrong[:4]:
                print("      ", text[:170])
        total.add(own)
    return total


def report(score: Score) -> None:
    print(
        f"\n{'statement':<14}{'right':>8}{'of':>7}{'share':>8}    {'false alarms':>12}{'of':>7}{'share':>8}"
    )
    for kind in [*score.asked, *(k for k in score.quiet if k not in score.asked)]:
        asked, quiet = score.asked.get(kind, 0), score.quiet.get(kind, 0)
        line = f"{kind:<14}"
        line += f"{score.right[kind]:>8}{asked:>7}{score.right[kind] / asked:>8.1%}" if asked else " " * 23
        line += f"    {score.alarms[kind]:>12}{quiet:>7}{score.alarms[kind] / quiet:>8.1%}" if quiet else ""
        print(line)
    right, asked = sum(score.right.values()), sum(score.asked.values())
    alarms, quiet = sum(score.alarms.values()), sum(score.quiet.values())
    print(
        f"\nright {right / asked:.1%} (goal: at least 95%), false alarms {alarms / quiet:.1%} (goal: under 5%)"
    )


SWEEPS: tuple[tuple[dict[str, float], str, tuple[float, ...]], ...] = (
    (reading.THRESHOLDS, "flat", (0.03, 0.05, 0.07, 0.1, 0.15)),
    (reading.THRESHOLDS, "heterogeneous", (0.05, 0.1, 0.15, 0.25)),
    (shapes.THRESHOLDS, "turn", (0.08, 0.15, 0.25)),
    (shapes.THRESHOLDS, "curvature", (0.01, 0.025, 0.05)),
    (shapes.THRESHOLDS, "threshold", (0.8, 0.9, 0.95)),
    (support.THRESHOLDS, "warning", (0.1, 0.2, 0.3)),
)


def sweep(chosen: list[Process], seeds: list[int]) -> None:
    """What other thresholds would score on the choosing half, one at a time."""
    for thresholds, name, values in SWEEPS:
        kept = thresholds[name]
        for value in values:
            thresholds[name] = value
            score = run(chosen, seeds, verbose=False)
            right = sum(score.right.values()) / sum(score.asked.values())
            alarms = sum(score.alarms.values()) / sum(score.quiet.values())
            mark = "  <- chosen" if value == kept else ""
            print(f"{name:<14} {value:<6g} right {right:.2%}  false alarms {alarms:.2%}{mark}")
        thresholds[name] = kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choose", action="store_true", help="score the half the thresholds were chosen on")
    parser.add_argument("--sweep", action="store_true", help="with --choose: try other thresholds (slow)")
    parser.add_argument("--seeds", type=int, default=SEEDS // 2, help="seeds per process")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    began = time.perf_counter()
    half = 0 if given.choose else 1
    chosen = processes()[half::2]
    # Seeds that are reported were never drawn while the statistics were written.
    seeds = [2 * i + half + 1000 * half for i in range(given.seeds)]
    print(
        f"{'choosing' if given.choose else 'reporting'} half: {len(chosen)} processes x {len(seeds)} seeds\n"
    )
    report(run(chosen, seeds, verbose=True))
    if given.choose and given.sweep:
        print(f"\npartner threshold {summary.PARTNER:g}; one threshold changed at a time:")
        sweep(chosen, seeds[:2])
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
