"""How often are true hypotheses rejected? ``python -m benchmarks coverage --tests [--until HH:MM]``.

Rows of a linear process are drawn again and again, with two features that do nothing and a group that changes nothing; each of four
small learners is fitted to them and to 15 random halves by `Explainer.refits`, and asked `flatness_test` (of all features), `group_test`
(of the feature that matters, by the group) and `interaction_test` (of the two features that do nothing). That the hypotheses hold of the learners'
expected curves follows from symmetry: features, group and noise are drawn as likely with the other sign. Counted are p-values below 5 and
10 %, and tables of all features with a true hypothesis rejected at an adjusted 5 %. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import datetime
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import icefield
from benchmarks import learner_coverage as coverage

STORED = Path(__file__).parent / "learner_tests.json"
TABLE = Path(__file__).parent.parent / "docs" / "measured" / "tests.json"
ROWS, REPLICATES = 300, 200
NULLS, GROUP = (3, 4), 5


def draw(rng: np.random.Generator) -> tuple[Any, Any]:
    """Five features, a group of -1 and 1, and targets that depend on the first three."""
    X = np.column_stack([rng.normal(size=(ROWS, 5)), rng.choice([-1.0, 1.0], ROWS)])
    return X, X[:, 0] + 0.5 * X[:, 1] - 0.5 * X[:, 2] + rng.normal(size=ROWS)


class WithProducts:
    """Least squares with the products that the tests ask about: an additive one has none to be wrong about."""

    def __init__(self, X: Any, y: Any) -> None:
        self.model = coverage.fit("linear", self.columns(X), y, 0)

    @staticmethod
    def columns(X: Any) -> Any:
        return np.column_stack([X, X[:, 0] * X[:, GROUP], X[:, 3] * X[:, 4]])

    def __call__(self, X: Any) -> Any:
        return self.model.predict(self.columns(X))


def replicate(learner: str, seed: int) -> dict[str, list[float]]:
    """p-values of one draw: of each test, and the smallest adjusted one of a true hypothesis among all features."""
    X, y = draw(np.random.default_rng(seed))

    def fit(X: Any, y: Any, seed: int) -> Any:
        return WithProducts(X, y) if learner == "linear" else coverage.fit(learner, X, y, seed)

    ex = icefield.Explainer(fit(X, y, seed), X, seed=seed, row_by_row=True)
    refits = ex.refits(fit, y)
    flat = refits.flatness_test(range(5))
    null = np.isin(flat["feature"], NULLS)
    found = {
        "flat": flat["p_value"][null],
        "same in both groups": refits.group_test(0, by=X[:, GROUP].astype(int))["p_value"],
        "no interaction": refits.interaction_test(NULLS)["p_value"],
        "any of all features flat, adjusted": flat["p_adjusted"][null].min(keepdims=True),
    }
    return {test: p.round(5).tolist() for test, p in found.items()}


def show(stored: dict[str, Any]) -> list[list[str]]:
    """Print the table, and give its rows: learner, test, replicates, shares below 5 and 10 %."""
    rows = []
    for learner, done in stored["learners"].items():
        for test in done[0]:
            p = np.concatenate([one[test] for one in done])
            below = [
                "" if test.endswith("adjusted") and level > 0.05 else f"{100 * np.mean(p < level):.1f} %"
                for level in (0.05, 0.1)
            ]
            rows.append([learner, test, str(len(done)), *below])
            print("  ".join(f"{cell:20s}" for cell in rows[-1]))
    return rows


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage --tests")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--until", help="HH:MM: begin no replicate after that time today (UTC)")
    given = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")  # a small net that stops early says so every time
    stored: dict[str, Any] = {
        "rows": ROWS,
        "date": "",
        "commit": "",
        "learners": {name: [] for name in coverage.LEARNERS},
    }
    if STORED.exists():
        stored = json.loads(STORED.read_text(encoding="utf-8"))
    commit, began = coverage.current_commit(), time.process_time()
    for number in range(REPLICATES):
        now = datetime.datetime.now(datetime.UTC)
        if given.until is not None and f"{now:%H:%M}" >= given.until:
            break
        missing = [
            (place, name)
            for place, name in enumerate(coverage.LEARNERS)
            if len(stored["learners"][name]) <= number
        ]
        for place, name in missing:
            stored["learners"][name].append(replicate(name, 10_000 * place + number))
        if missing:
            stored |= {"date": f"{now:%Y-%m-%d}", "commit": commit}
            STORED.write_text(json.dumps(stored) + "\n", encoding="utf-8")
            print(number, f"{time.process_time() - began:.1f} s", flush=True)
    rows = show(stored)
    if rows:
        write_table(stored, rows)


def write_table(stored: dict[str, Any], rows: list[list[str]]) -> None:
    """The table of the docs."""
    table = {
        "title": "True hypotheses that were rejected",
        "date": stored["date"],
        "commit": stored["commit"],
        "command": "python -m benchmarks coverage --tests",
        "note": f"{ROWS} rows of a linear process; learners as above, least squares with the products that are tested",
        "columns": ["learner", "hypothesis", "draws", "p below 5 %", "p below 10 %"],
        "rows": rows,
    }
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
