"""What audits and contracts say no to: one clear error each, in Python and on the command line; and what they leave undecided."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

import icefield
from icefield.cli import loading
from icefield.cli.commands import run

Command = Callable[..., tuple[int, str]]


def _nan(rows: pd.DataFrame) -> np.ndarray:
    return np.where(rows["age"] > 0, np.nan, rows["income"])


@pytest.fixture(scope="module")
def X() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)).round(3), columns=["income", "debt", "age"])
    X["sex"] = pd.Categorical(rng.choice(["f", "m"], 300))
    return X


@pytest.fixture(scope="module")
def models(X: pd.DataFrame) -> dict[str, Any]:
    y = X["income"] + X["debt"] * X["age"]
    settings = {"n_estimators": 15, "num_leaves": 6, "verbose": -1, "n_jobs": 1}
    few = lgb.LGBMRegressor(**settings).fit(X[["income", "debt"]], y)
    return {
        "good.txt": lgb.LGBMRegressor(**settings, monotone_constraints=[1, 0, 0, 0]).fit(X, y).booster_,
        "classes.txt": lgb.LGBMClassifier(**settings).fit(X, y > 0).booster_,
        "few.txt": few.booster_,
        "nan.txt": _nan,
    }


@pytest.fixture
def command(
    X: pd.DataFrame,
    models: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Command:
    """A command line in a folder of its own: its exit code and what it says on standard error."""
    monkeypatch.chdir(tmp_path)
    X.to_csv("data.csv", index=False)
    X[["income", "debt"]].to_csv("few.csv", index=False)
    X.iloc[:0].to_csv("empty.csv", index=False)
    for name in models:
        Path(name).touch()  # the shell looks for the file first; reading files has tests of its own
    monkeypatch.setattr(loading, "load_model", lambda path, **_: models[path])
    icefield.Explainer(models["good.txt"], X, threads=1).snapshot("effects")
    Path("wrong.toml").write_text('[features.income]\ndirection = "flat"\ntop = 2\n', encoding="utf-8")
    Path("levels.toml").write_text('[features.sex]\ndirection = "increasing"\n', encoding="utf-8")

    def called(*line: str) -> tuple[int, str]:
        capfd.readouterr()
        try:
            run(list(line))
        except SystemExit as ended:
            return int(ended.code or 0), capfd.readouterr().err
        return 0, capfd.readouterr().err

    return called


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown feature": (("audit", "good.txt", "data.csv", "--increasing", "incom"), "income"),
    "unknown flips": (("audit", "good.txt", "data.csv", "--flips", "sx"), "flips"),
    "a category": (("audit", "good.txt", "data.csv", "--increasing", "sex"), "no order"),
    "both directions": (("audit", "good.txt", "data.csv", "--increasing", "age", "--decreasing", "age"), "increasing"),
    "no rows": (("audit", "good.txt", "empty.csv"), "row"),
    "no numbers": (("audit", "nan.txt", "data.csv"), "nan"),
    "contradictory expectations": (("check", "good.txt", "data.csv", "wrong.toml"), "contradicts"),
    "a direction of levels": (("check", "good.txt", "data.csv", "levels.toml"), "order"),
    "no expectations": (("check", "good.txt", "data.csv", "nowhere.toml"), "nowhere.toml"),
    "another kind": (("check", "classes.txt", "data.csv", "--against", "effects"), "another kind"),
    "missing columns": (("check", "few.txt", "few.csv", "--against", "effects"), "do not have"),
    "no snapshot": (("check", "good.txt", "data.csv", "--against", "elsewhere"), "model.json"),
    "nothing to check": (("check", "good.txt", "data.csv"), "expect"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(BAD))
def test_the_command_line_has_one_clear_error(case: str, command: Command) -> None:
    line, said = BAD[case]
    code, error = command(*line)
    assert code == 1, error
    assert said in error.lower()
    assert "Traceback" not in error
    assert len([one for one in error.splitlines() if "rror" in one]) <= 1


def test_python_has_the_same_errors(X: pd.DataFrame, models: dict[str, Any], tmp_path: Path) -> None:
    good = icefield.Explainer(models["good.txt"], X, threads=1)
    folder = good.snapshot(tmp_path / "effects")
    few = icefield.Explainer(models["few.txt"], X[["income", "debt"]], threads=1)
    asked: list[tuple[Callable[[], Any], str]] = [
        (lambda: good.audit(increasing=["incom"]), "income"),
        (lambda: good.audit(features=["incom"]), "income"),
        (lambda: good.audit(flips="sx"), "flips"),
        (lambda: good.audit(increasing="sex"), "no order"),
        (lambda: icefield.Explainer(models["good.txt"], X.iloc[:0]).audit(), "row"),
        (lambda: icefield.Explainer(_nan, X).audit(), r"(?i)nan|finite"),
        (lambda: icefield.check(good, {"features": {"income": {"direction": "flat", "top": 1}}}), "contradicts"),
        (lambda: icefield.check(icefield.Explainer(models["classes.txt"], X), against=folder), "another kind"),
        (lambda: icefield.check(few, against=folder), "do not have"),
    ]  # fmt: skip
    for question, said in asked:
        with pytest.raises(icefield.IcefieldError, match=said):
            question()


def test_what_is_not_decided_has_a_bound_and_an_exit_code(
    command: Command, X: pd.DataFrame, models: dict[str, Any]
) -> None:
    line = ("audit", "good.txt", "data.csv", "--increasing", "income", "--json", "audit.json")
    code, _ = command(*line, "--time", "0")
    found = json.loads(Path("audit.json").read_text())
    assert code == 5
    assert found["ok"]
    assert "larger than" in found["undecided"][0]
    (answer,) = [
        e for e in found["every_input"] if (e["feature"], e["direction"]) == ("income", "increasing")
    ]
    assert answer["answer"] == "not decided"
    assert answer["bound"] > 0
    assert command(*line, "--time", "60")[0] == 0
    assert command(*line[:3], "--decreasing", "income", "--undeclared", "--time", "0")[0] == 4
