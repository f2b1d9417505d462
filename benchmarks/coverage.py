"""How often does the interval of two standard errors hold the truth? Simulated, in percent of draws and grid points.

Each line draws data again and again from a known distribution, asks as a user would, and counts how often
``average ± 1.96 se`` holds what it stands for: the curve of the distribution the rows were drawn from, or, where `rows=`
or `precision=` drew them from known rows, the curve of all those. Goal: within three points of 95 %.
``--learner`` asks the same of the intervals of `Explainer.refits` (see `benchmarks.learner_coverage`), ``--tests`` how often
their tests reject what is true (see `benchmarks.learner_tests`).
Run ``python -m benchmarks coverage``; with ``--check`` (as ``python -m benchmarks.coverage --check``) it fails where a line misses.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import icefield
from benchmarks import learner_coverage, learner_tests
from benchmarks.latest import keep_latest

DRAWS, ROWS, NOMINAL, WITHIN = 500, 400, 95.0, 3.0
GRID = [-1.5, -0.5, 0.0, 1.0]
Held = tuple[np.ndarray, np.ndarray, np.ndarray]  # estimate, standard error, truth


def model(rows: Any) -> Any:
    return np.sin(rows[:, 0]) * rows[:, 1] + np.exp(0.5 * rows[:, 1]) + rows[:, 2] ** 2


def additive(rows: Any) -> Any:
    return 2.0 * rows[:, 0] + rows[:, 1]


def pd_truth(mean: float = 0.0, deviation: float = 1.0) -> np.ndarray:
    """Partial dependence of `model` where x1 is normal and x2 standard normal."""
    exponential = math.exp(0.5 * mean + 0.125 * deviation**2)
    return np.sin(GRID) * mean + exponential + 1.0


def pd_of(ex: icefield.Explainer, truth: np.ndarray, **asked: Any) -> Held:
    effect = ex.partial_dependence(0, grid=GRID, **asked)
    return effect.average[0], effect.se[0], truth


# --- partial dependence ------------------------------------------------------------------------------


def plain(rng: np.random.Generator) -> Held:
    return pd_of(icefield.Explainer(model, rng.normal(size=(ROWS, 3))), pd_truth())


def sampling_weights(rng: np.random.Generator) -> Held:
    """Rows with a large x1 are seen more often, and count less for it."""
    X = rng.normal(size=(6 * ROWS, 3))
    seen = 1 / (1 + np.exp(1.5 - 1.2 * X[:, 1]))
    kept = rng.random(len(X)) < seen
    return pd_of(icefield.Explainer(model, X[kept], weights=1 / seen[kept]), pd_truth())


def counts(rng: np.random.Generator) -> Held:
    """Equal rows were put together, with how many they were."""
    X = rng.choice([-1.0, 1.0], size=(ROWS, 3), p=[0.3, 0.7])
    rows, number = np.unique(X, axis=0, return_counts=True)
    truth = np.sin(GRID) * 0.4 + 0.3 * math.exp(-0.5) + 0.7 * math.exp(0.5) + 1.0
    return pd_of(icefield.Explainer(model, rows, weights=number), truth)


def panel(rng: np.random.Generator, people: int = 80, times: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Several rows of each person, alike in x1; x1 is normal with variance 1.25 in all."""
    who = np.repeat(np.arange(people), times)
    X = rng.normal(size=(len(who), 3))
    X[:, 1] = rng.normal(size=people)[who] + 0.5 * X[:, 1]
    return X, who


def clusters(rng: np.random.Generator) -> Held:
    X, who = panel(rng)
    return pd_of(icefield.Explainer(model, X, cluster=who), pd_truth(deviation=math.sqrt(1.25)))


def clusters_not_named(rng: np.random.Generator) -> Held:
    return pd_of(icefield.Explainer(model, panel(rng)[0]), pd_truth(deviation=math.sqrt(1.25)))


def weighted_clusters(rng: np.random.Generator) -> Held:
    X, who = panel(rng, people=300, times=6)
    seen = 1 / (1 + np.exp(-1.2 * np.bincount(who, X[:, 1])[who] / 6))
    kept = rng.random(300)[who] < seen
    ex = icefield.Explainer(model, X[kept], weights=1 / seen[kept], cluster=who[kept])
    return pd_of(ex, pd_truth(deviation=math.sqrt(1.25)))


def drawn(rng: np.random.Generator, **asked: Any) -> Held:
    ex = icefield.Explainer(model, rng.normal(size=(ROWS, 3)), seed=int(rng.integers(2**31)))
    return pd_of(ex, ex.partial_dependence(0, grid=GRID).average[0], **asked)


def drawn_rows(rng: np.random.Generator) -> Held:
    return drawn(rng, rows=ROWS // 2)


def precise(rng: np.random.Generator) -> Held:
    X = rng.normal(size=(8 * ROWS, 3)) + np.array([0.0, 0.5, 0.0])
    ex = icefield.Explainer(model, X, seed=int(rng.integers(2**31)), row_by_row=True)
    return pd_of(ex, ex.partial_dependence(0, grid=GRID).average[0], precision=0.1)


# --- accumulated local effects -----------------------------------------------------------------------


def normal_share(edges: np.ndarray) -> np.ndarray:
    """Of a standard normal, the share in each bin of all that lies in any."""
    below = np.array([0.5 * math.erfc(-edge / math.sqrt(2)) for edge in edges])
    return np.diff(below) / (below[-1] - below[0])


def ale_of(ex: icefield.Explainer, f: Callable[[np.ndarray], np.ndarray], **asked: Any) -> Held:
    """Against the curve that `f` has over a standard normal feature, given the bins."""
    effect = ex.ale(0, bins=20, **asked)
    edges = effect.grid[0]
    curve, share = f(edges), normal_share(edges)
    truth = curve - share @ (curve[1:] + curve[:-1]) / 2
    return effect.average[0], effect.se[0], truth


def ale_plain(rng: np.random.Generator) -> Held:
    X = rng.normal(size=(2 * ROWS, 3)) + np.array([0.0, 0.3, 0.0])
    return ale_of(icefield.Explainer(model, X), lambda x: 0.3 * np.sin(x))


def ale_additive(rng: np.random.Generator) -> Held:
    return ale_of(icefield.Explainer(additive, rng.normal(size=(2 * ROWS, 3))), lambda x: 2.0 * x)


def ale_weights(rng: np.random.Generator) -> Held:
    X = rng.normal(size=(8 * ROWS, 3))
    seen = 1 / (1 + np.exp(1.0 - 0.8 * X[:, 0]))
    kept = rng.random(len(X)) < seen
    return ale_of(
        icefield.Explainer(model, X[kept] + np.array([0.0, 0.3, 0.0]), weights=1 / seen[kept]),
        lambda x: 0.3 * np.sin(x),
    )


def ale_clusters(rng: np.random.Generator) -> Held:
    who = np.repeat(np.arange(120), 12)
    X = rng.normal(size=(len(who), 3))
    X[:, 0] = np.sqrt(0.8) * rng.normal(size=120)[who] + np.sqrt(0.2) * X[:, 0]
    X[:, 1] = 0.3 + rng.normal(size=120)[who] + 0.5 * X[:, 1]
    return ale_of(icefield.Explainer(model, X, cluster=who), lambda x: 0.3 * np.sin(x))


def ale_drawn(rng: np.random.Generator) -> Held:
    X = rng.normal(size=(4 * ROWS, 3)) + np.array([0.0, 0.3, 0.0])
    ex = icefield.Explainer(model, X, seed=int(rng.integers(2**31)))
    edges = np.quantile(X[:, 0], np.linspace(0, 1, 11))
    effect = ex.ale(0, bins=edges, rows=2 * ROWS)
    return effect.average[0], effect.se[0], ex.ale(0, bins=edges).average[0]


LINES: dict[str, Callable[[np.random.Generator], Held]] = {
    "PD": plain,
    "PD, sampling weights": sampling_weights,
    "PD, weights that count copies": counts,
    "PD, panel of 12 rows each, cluster=": clusters,
    "PD, panel with weights, cluster=": weighted_clusters,
    "PD, half of the rows, rows=": drawn_rows,
    "PD, precision=": precise,
    "ALE": ale_plain,
    "ALE of an additive model": ale_additive,
    "ALE, sampling weights": ale_weights,
    "ALE, panel of 12 rows each, cluster=": ale_clusters,
    "ALE, half of the rows, rows=": ale_drawn,
}
FOR_COMPARISON = {"(PD, the same panel without cluster=)": clusters_not_named}


def covered(line: Callable[[np.random.Generator], Held], draws: int) -> tuple[float, float]:
    """Percent of draws and grid points whose interval holds the truth, and the percentage's own standard error."""
    shares = []
    for seed in range(draws):
        estimate, error, truth = line(np.random.default_rng([seed, 20]))
        shares.append(np.mean(np.abs(estimate - truth) <= 1.96 * error))
    return 100 * float(np.mean(shares)), 100 * float(np.std(shares) / math.sqrt(draws))


def table(draws: int = DRAWS) -> Iterator[tuple[str, float, float]]:
    for name, line in {**LINES, **FOR_COMPARISON}.items():
        yield name, *covered(line, draws)


def main(check: bool = False, draws: int = DRAWS) -> None:
    for option, one in (("--learner", learner_coverage), ("--tests", learner_tests)):
        if option in sys.argv:
            one.main(sys.argv[sys.argv.index("coverage") + 1 :])
            return
    print(f"coverage of average ± 1.96 se, nominal {NOMINAL:.0f} %, {draws} draws a line")
    missed, figures = [], {}
    for name, share, error in table(draws):
        figures[name] = {"percent": round(share, 2), "error": round(error, 2)}
        within = abs(share - NOMINAL) <= WITHIN
        print(f"{name:40s} {share:5.1f} % ± {error:.1f}{'' if within else '   misses'}", flush=True)
        if not within and name in LINES:
            missed.append(name)
    if draws == DRAWS:
        keep_latest("coverage", "python -m benchmarks coverage", figures)
    if check and missed:
        sys.exit(f"more than {WITHIN:g} points from nominal: {', '.join(missed)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a line misses the goal")
    parser.add_argument("--draws", type=int, default=DRAWS)
    given = parser.parse_args()
    main(given.check, given.draws)
