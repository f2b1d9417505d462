"""How often do a learner's intervals hold its expected curve? ``python -m benchmarks coverage --learner [--until HH:MM]``.

Eight processes x four small learners; a setting draws data again and again, fits the learner to all rows and to 15 random halves
(`Explainer.refits`' own), forms the intervals by `LearnerInterval`, and counts how often they hold (a) the learner's expected
curve at that size, which is the mean curve of many independent draws and fits, and (b) the true curve. Widths are relative to
the oracle's: 1.645 SD of those independent curves, and the quantile of their largest deviation. Curves are of one feature that
matters and one that does not, at 10 points, as they are and centred (less their mean over the grid).

Curves are computed here, without an Explainer, for speed; `tests/benchmarks` compares them with the public ones. Results are
written after each setting and settings that are there are not done again, so it goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from icefield.effect.learner_interval import LearnerInterval
from icefield.refits.halves import halves

STORED = Path(__file__).parent / "learner_coverage.json"
TABLE = Path(__file__).parent.parent / "docs" / "measured" / "learner.json"
LEVEL, REFITS, COLUMNS = 0.9, 15, 5
FEATURES = {"signal": 0, "null": 4}
GRID = np.array([NormalDist().inv_cdf(p) for p in np.linspace(0.05, 0.95, 10)])
REPLICATES = {300: 60, 2000: 20}
TARGET_FITS = {300: 400, 2000: 150}  # behind the expected curve; of the linear learner ten times as many
PERSON_ROWS = 6  # of the panel

Rows = np.ndarray
Predict = Callable[[Rows], Rows]


def expit(z: Rows) -> Rows:
    return 0.5 * (1 + np.tanh(0.5 * z))


# --- processes ---------------------------------------------------------------------------------------

MEANS: dict[str, Predict] = {
    "linear": lambda X: X[:, 0] + 0.5 * X[:, 1] - 0.5 * X[:, 2],
    "additive": lambda X: 2 * np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + np.abs(X[:, 2]),
    "interacting": lambda X: X[:, 0] + 1.5 * X[:, 0] * X[:, 1] + X[:, 2],
    "correlated": lambda X: X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 0] * X[:, 1],
    "heteroscedastic": lambda X: 0.5 * X[:, 0] ** 2 + X[:, 1],
    "heavy tails": lambda X: X[:, 0] + 0.5 * X[:, 0] * X[:, 1] - X[:, 2],
    "classes": lambda X: expit(1.5 * X[:, 0] - X[:, 1] + 0.5 * X[:, 0] * X[:, 1] - 1.5),
    "panel": lambda X: np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.5 * X[:, 2],
}


def draw(process: str, n: int, rng: np.random.Generator) -> tuple[Rows, Rows, Rows | None]:
    """Rows, targets, and one code per row of those that belong together."""
    if process == "panel":  # a person's rows are alike in all features, and share an effect
        who = np.arange(n) // PERSON_ROWS
        own = rng.normal(size=(who[-1] + 1, COLUMNS))[who]
        X = np.sqrt(0.6) * own + np.sqrt(0.4) * rng.normal(size=(n, COLUMNS))
        return X, MEANS[process](X) + rng.normal(size=who[-1] + 1)[who] + 0.7 * rng.normal(size=n), who
    X = rng.normal(size=(n, COLUMNS))
    if process == "correlated":
        X = np.sqrt(0.7) * rng.normal(size=(n, 1)) + np.sqrt(0.3) * X
    mean = MEANS[process](X)
    if process == "classes":
        return X, (rng.random(n) < mean).astype(np.int64), None
    if process == "heteroscedastic":
        return X, mean + np.exp(0.6 * X[:, 0]) * rng.normal(size=n), None
    noise = rng.standard_t(3, size=n) if process == "heavy tails" else rng.normal(size=n)
    return X, mean + noise, None


# --- learners ----------------------------------------------------------------------------------------

LEARNERS = {
    "linear": "least squares; for classes logistic regression with a ridge of 1",
    "boosting": "LightGBM, 20 trees of 8 leaves, learning rate 0.2, at least 10 rows a leaf",
    "neural net": "MLP of 8 hidden units, alpha 1, L-BFGS, at most 100 iterations",
    "forest": "random forest, 20 trees of depth 6",
}


def fit(learner: str, X: Rows, y: Rows, seed: int) -> Any:
    """A fitted model; classes are those of integer targets."""
    classes = y.dtype.kind == "i"
    if learner == "linear":
        return _linear(X, y, classes)
    if learner == "boosting":
        import lightgbm

        kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
        return kind(
            n_estimators=20, num_leaves=8, learning_rate=0.2, min_child_samples=10, random_state=seed, n_jobs=1,
            subsample=0.8, subsample_freq=1, force_row_wise=True, verbose=-1,
        ).fit(X, y)  # fmt: skip
    if learner == "neural net":
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        net = MLPClassifier if classes else MLPRegressor
        return net(hidden_layer_sizes=(8,), solver="lbfgs", alpha=1.0, max_iter=100, random_state=seed).fit(
            X, y
        )
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if classes else RandomForestRegressor
    return forest(20, max_depth=6, random_state=seed).fit(X, y)


class Linear:
    """A linear predictor, of a mean or of the logit of a probability."""

    def __init__(self, coefficients: Rows, classes: bool) -> None:
        self.coefficients, self.classes = coefficients, classes

    def predict(self, X: Rows) -> Rows:
        z = self.coefficients[0] + X @ self.coefficients[1:]
        return expit(z) if self.classes else z


def _linear(X: Rows, y: Rows, classes: bool) -> Linear:
    A = np.column_stack([np.ones(len(X)), X])
    if not classes:
        return Linear(np.linalg.solve(A.T @ A, A.T @ y), classes)
    b, ridge = np.zeros(A.shape[1]), np.r_[0.0, np.ones(X.shape[1])]
    for _ in range(12):
        p = expit(A @ b)
        b = b + np.linalg.solve((A.T * (p * (1 - p))) @ A + np.diag(ridge), A.T @ (y - p) - ridge * b)
    return Linear(b, classes)


def predictions(model: Any, X: Rows) -> Rows:
    """Predictions, of classes the probability of the second."""
    if isinstance(model, Linear):
        return model.predict(X)
    if type(model).__name__.startswith("RandomForest"):
        # The forest's own mean over trees, without its overhead per call.
        X = np.asarray(X, dtype=np.float32)
        parts = [tree.tree_.predict(X) for tree in model.estimators_]
        total = np.mean([part[:, -1] if part.ndim == 2 else part for part in parts], axis=0)
        return np.asarray(total)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1])
    return np.asarray(model.predict(X))


def curves(model: Any, X: Rows) -> Rows:
    """Partial dependence of both features, (features, grid)."""
    if isinstance(model, Linear) and not model.classes:
        b, mean = model.coefficients, X.mean(axis=0)
        level = b[0] + mean @ b[1:]
        return np.array([level + b[1 + j] * (GRID - mean[j]) for j in FEATURES.values()])
    many = np.tile(X, (len(FEATURES) * len(GRID), 1)).reshape(len(FEATURES), len(GRID), len(X), COLUMNS)
    for k, j in enumerate(FEATURES.values()):
        many[k, :, :, j] = GRID[:, None]
    found = predictions(model, many.reshape(-1, COLUMNS))
    return found.reshape(len(FEATURES), len(GRID), len(X)).mean(axis=2)


# --- one setting -------------------------------------------------------------------------------------


def centred(values: Rows) -> Rows:
    return values - values.mean(axis=-1, keepdims=True)


VIEWS: dict[str, Predict] = {"level": lambda v: v, "centred": centred}


def full_and_refits(
    process: str, learner: str, X: Rows, y: Rows, units: Rows | None, seed: int
) -> tuple[Rows, Rows]:
    """The full-data curves (features, grid), and those of refits (features, refits, grid), as `Explainer.refits` has them."""
    full = curves(fit(learner, X, y, seed), X)
    classes = y if process == "classes" else None
    parts = [
        curves(fit(learner, X[fitted], y[fitted], own), X[evaluated])
        for fitted, evaluated, own in halves(len(X), REFITS, seed, units, classes)
    ]
    return full, np.stack(parts, axis=1)


def intervals(process: str, learner: str, full: Rows, parts: Rows, n: int, view: str) -> LearnerInterval:
    """Intervals of the curves in a view, by the scheme of `Explainer.refits`."""
    about = "full" if learner == "forest" else "mean"
    of, on_logit = VIEWS[view], process == "classes" and view == "level"
    return LearnerInterval.of(of(full), of(parts), level=LEVEL, about=about, n_rows=n, logit=on_logit)


def true_curves(process: str) -> Rows:
    X, _, _ = draw(process, 60_000, np.random.default_rng(1))
    found = []
    for j in FEATURES.values():
        rows = X.copy()
        own = []
        for value in GRID:
            rows[:, j] = value
            own.append(float(MEANS[process](rows).mean()))
        found.append(own)
    return np.array(found)


def setting(process: str, learner: str, n: int, replicates: int, target_fits: int) -> dict[str, Any]:
    """Coverage and widths of one setting, in shares; by feature and view."""
    place = [list(MEANS).index(process), list(LEARNERS).index(learner), n]
    rng = np.random.default_rng([*place, 0])
    many = []
    for _ in range(target_fits):
        X, y, _ = draw(process, n, rng)
        many.append(curves(fit(learner, X, y, int(rng.integers(2**31 - 1))), X))
    independent, truth = np.stack(many), true_curves(process)
    counts: dict[tuple[str, str], list[list[float]]] = {}
    rng = np.random.default_rng([*place, 1])
    for _ in range(replicates):
        X, y, units = draw(process, n, rng)
        full, parts = full_and_refits(process, learner, X, y, units, int(rng.integers(2**31 - 1)))
        for view, of in VIEWS.items():
            found = intervals(process, learner, full, parts, n, view)
            for k, feature in enumerate(FEATURES):
                own = of(independent[:, k])
                sd = own.std(axis=0, ddof=1)
                oracle = np.quantile((np.abs(own - own.mean(axis=0)) / sd).max(axis=1), LEVEL)
                ends = (found.low[k], found.high[k]), (found.band_low[k], found.band_high[k])
                row = []
                for curve in (own.mean(axis=0), of(truth[k])):
                    held = [(low <= curve) & (curve <= high) for low, high in ends]
                    row += [float(held[0].mean()), float(held[1].all())]
                widths = [((high - low) / 2 / sd).mean() for low, high in ends]
                row += [float(widths[0] / NormalDist().inv_cdf(0.5 + LEVEL / 2)), float(widths[1] / oracle)]
                counts.setdefault((feature, view), []).append(row)
    names = ("pointwise", "simultaneous", "truth_pointwise", "truth_simultaneous", "width", "band_width")
    return {
        "process": process, "learner": learner, "n": n, "replicates": replicates, "target_fits": target_fits,
        "results": [
            {"feature": feature, "view": view} | dict(zip(names, np.mean(rows, axis=0).round(4).tolist()))
            for (feature, view), rows in counts.items()
        ],
    }  # fmt: skip


# --- all settings ------------------------------------------------------------------------------------


def settings() -> list[tuple[str, str, int, int, int]]:
    """Cheap ones first: process, learner, rows, replicates, fits behind the target."""
    return [
        (process, learner, n, REPLICATES[n], TARGET_FITS[n] * (10 if learner == "linear" else 1))
        for n, learners in (
            (300, ("linear", "boosting")),
            (2000, ("linear",)),
            (300, ("neural net", "forest")),
            (2000, ("boosting", "neural net", "forest")),
        )
        for process in MEANS
        for learner in learners
    ]


def pooled(done: list[dict[str, Any]], **only: Any) -> dict[str, float]:
    """Means over settings, features and views, by replicates."""
    rows, weights = [], []
    for one in done:
        if all(one[key] == value for key, value in only.items() if key in one):
            for result in one["results"]:
                if all(result[key] == value for key, value in only.items() if key in result):
                    rows.append([value for value in result.values() if isinstance(value, float)])
                    weights.append(one["replicates"])
    if not rows:
        return {}
    names = [key for key, value in done[0]["results"][0].items() if isinstance(value, float)]
    return dict(zip(names, np.average(rows, axis=0, weights=weights).tolist()))


def show(stored: dict[str, Any]) -> None:
    done = stored["settings"]
    print(f"{len(done)} of {len(settings())} settings; {stored['date']}, commit {stored['commit']}; percent, widths over the oracle's")  # fmt: skip
    print(f"{'':28s} pointwise  together | truth: pointwise together | width  band")
    lines: list[tuple[str, dict[str, Any]]] = [("all", {})]
    lines += [(f"n = {n}", {"n": n}) for n in REPLICATES]
    lines += [(learner, {"learner": learner}) for learner in LEARNERS]
    lines += [
        (f"{learner}, n = {n}", {"learner": learner, "n": n}) for n in REPLICATES for learner in LEARNERS
    ]
    lines += [(process, {"process": process}) for process in MEANS]
    lines += [(view, {"view": view}) for view in VIEWS] + [(f, {"feature": f}) for f in FEATURES]
    for name, only in lines:
        found = pooled(done, **only)
        if found:
            shares = [100 * found[key] for key in ("pointwise", "simultaneous", "truth_pointwise", "truth_simultaneous")]  # fmt: skip
            print(f"{name:28s} {shares[0]:9.1f} {shares[1]:9.1f} | {shares[2]:16.1f} {shares[3]:8.1f} | {found['width']:5.2f} {found['band_width']:5.2f}")  # fmt: skip


def write_table(stored: dict[str, Any]) -> None:
    """The table of the docs."""
    done = stored["settings"]
    lines: list[tuple[str, dict[str, Any]]] = [("all", {})]
    lines += [(f"all, {n:,} rows", {"n": n}) for n in REPLICATES]
    lines += [(learner, {"learner": learner}) for learner in LEARNERS]
    lines += [
        (f"{learner}, {n:,} rows", {"learner": learner, "n": n}) for learner in LEARNERS for n in REPLICATES
    ]
    rows = []
    for name, only in lines:
        found = pooled(done, **only)
        if found:
            shares = [f"{100 * found[key]:.0f} %" for key in ("pointwise", "simultaneous", "truth_pointwise", "truth_simultaneous")]  # fmt: skip
            rows.append([name, *shares, f"{found['width']:.2f}", f"{found['band_width']:.2f}"])
    table = {
        "title": "Coverage of 90 % learner intervals",
        "date": stored["date"],
        "commit": stored["commit"],
        "command": "python -m benchmarks coverage --learner",
        "note": f"{len(done)} of {len(settings())} settings were run, with 60 replicates at 300 rows and 20 at 2,000; learners: "
        + "; ".join(f"{name}: {text}" for name, text in LEARNERS.items()),
        "columns": ["learner", "points", "curves", "points of the truth", "curves of the truth", "width", "width of the band"],
        "rows": rows,
    }  # fmt: skip
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage --learner")
    parser.add_argument("--learner", action="store_true")
    parser.add_argument("--until", help="HH:MM: begin no setting after that time today (UTC)")
    parser.add_argument("--stored", type=Path, default=STORED)
    parser.add_argument("--table", action="store_true", help="only show what is stored")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")  # a small net that stops early says so every time
    stored: dict[str, Any] = {"level": LEVEL, "refits": REFITS, "learners": LEARNERS, "date": "", "commit": "", "settings": []}  # fmt: skip
    if given.stored.exists():
        stored = json.loads(given.stored.read_text(encoding="utf-8"))
    commit = current_commit()  # of the code that runs, whatever is committed meanwhile
    known = {(one["process"], one["learner"], one["n"]) for one in stored["settings"]}
    for process, learner, n, replicates, target_fits in () if given.table else settings():
        if (process, learner, n) in known:
            continue
        now = datetime.datetime.now(datetime.UTC)
        if given.until is not None and f"{now:%H:%M}" >= given.until:
            break
        began = time.process_time()
        found = setting(process, learner, n, replicates, target_fits)
        stored["settings"].append(found | {"cpu_seconds": round(time.process_time() - began, 1)})
        stored |= {"date": f"{now:%Y-%m-%d}", "commit": commit}
        given.stored.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        print(process, learner, n, f"{time.process_time() - began:.1f} s", flush=True)
    show(stored)
    if stored["settings"] and given.stored == STORED:
        write_table(stored)


def current_commit() -> str:
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
