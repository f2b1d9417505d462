"""``--fit``: learner intervals on the line are those of Python, and what cannot be fitted is said before anything is read."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.linear_model import LinearRegression, LogisticRegression

import icefield
from icefield.cli import commands as cli
from icefield.errors import IcefieldError

MODULE = """
from sklearn.linear_model import LinearRegression
unfitted = LinearRegression()
number = 3
def by_hand(X, y):
    return LinearRegression().fit(X, y)
"""


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    found = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    found["side"] = np.where(np.arange(90) % 3, "left", "right")
    found["who"] = np.arange(90) // 5
    found["y"] = found.a + 0.5 * found.b + rng.normal(size=90)
    found["label"] = np.where(found.y > 0, "yes", "no")
    return found


@pytest.fixture
def line(rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    rows.to_csv("rows.csv", index=False)
    Path("learners.py").write_text(MODULE)
    Path("m.pkl").write_bytes(pickle.dumps(LinearRegression().fit(rows[["a", "b"]], rows.y)))
    Path("classes.pkl").write_bytes(pickle.dumps(LogisticRegression().fit(rows[["a", "b"]], rows.label)))
    return "m.pkl", "rows.csv"


def asked(*arguments: Any) -> Result:
    return CliRunner().invoke(
        cli.main, [*map(str, arguments), "--allow-pickle", "--quiet"], catch_exceptions=False
    )


def rows_of(*arguments: Any) -> list[dict[str, Any]]:
    return json.loads(asked(*arguments, "--json").stdout)


@pytest.mark.parametrize("learner", ["m.pkl", "learners:unfitted", "learners:by_hand"])
def test_changes_have_the_intervals_of_python(rows: pd.DataFrame, line: Any, learner: str) -> None:
    ex = icefield.Explainer(LinearRegression().fit(rows[["a", "b"]], rows.y), rows, by="side")
    refits = ex.refits(LinearRegression(), rows.y)
    fitted = ("--fit", learner, "--y", "y")
    question = (*line, "a", "--from", 0, "--to", 1, "--by", "side", *fitted)
    found, expected = rows_of("change", *question), refits.change("a", 0, 1)
    assert [row["group"] for row in found] == expected["group"].tolist()
    for column in ("estimate", "std_error", "conf_low", "conf_high"):
        np.testing.assert_allclose([row[column] for row in found], expected[column], rtol=1e-6)
    wide = rows_of("change", *question, "--level", 0.99)
    assert wide[0]["conf_low"] < found[0]["conf_low"]
    slope = rows_of("slope", *line, "a", *fitted)
    assert slope[0]["conf_high"] == pytest.approx(refits.slope("a")["conf_high"][0], rel=1e-6)


def test_curves_importances_and_reports_carry_them(rows: pd.DataFrame, line: Any) -> None:
    fitted = ("--fit", "learners:unfitted", "--y", "y")
    ex = icefield.Explainer(LinearRegression().fit(rows[["a", "b"]], rows.y), rows[["a", "b"]])
    effect = ex.refits(LinearRegression(), rows.y).partial_dependence("a", grid=4)
    found = rows_of("pd", *line, "a", "--grid", 4, *fitted)
    np.testing.assert_allclose([row["band_low"] for row in found], effect.interval.band_low[0], rtol=1e-6)
    assert {"conf_low", "conf_high"} <= set(rows_of("importance", *line, *fitted)[0])
    asked("report", *line, *fitted, "--refits", 8, "-o", "report.html")
    assert "expected curve at 90 rows" in Path("report.html").read_text(encoding="utf-8")


def test_labels_are_fitted_as_they_are_written(rows: pd.DataFrame, line: Any) -> None:
    question = (
        "classes.pkl",
        line[1],
        "a",
        "--plus",
        1,
        "--fit",
        "classes.pkl",
        "--y",
        "label",
        "--cluster",
        "who",
    )
    model = LogisticRegression().fit(rows[["a", "b"]], rows.label)
    refits = icefield.Explainer(model, rows[["a", "b"]], cluster=rows.who).refits(model, rows.label)
    assert refits.kept_whole == "clusters"
    expected = refits.change("a", plus=1)
    assert rows_of("change", *question)[0]["std_error"] == pytest.approx(expected["std_error"][0], rel=1e-6)


@pytest.mark.parametrize("command", ["change", "slope"])
@pytest.mark.parametrize("kind", ["png", "html"])
def test_pictures_of_changes(line: Any, command: str, kind: str) -> None:
    way = ("--plus", 1) if command == "change" else ()
    asked(command, *line, "a", *way, "--by", "side", "--plot", f"a.{kind}")
    assert Path(f"a.{kind}").stat().st_size > 5000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--fit", "learners:unfitted"), "--fit needs --y COLUMN"),
        (("--fit", "nowhere.pkl", "--y", "y"), "--fit is a file that does not exist"),
        (("--fit", "model.txt", "--y", "y"), "--fit holds a fitted model, and not how it was fitted"),
        (("--fit", "learners:nothing", "--y", "y"), "--fit names 'nothing'"),
        (("--fit", "learners:number", "--y", "y"), "--fit is neither an estimator nor a function"),
        (("--fit", "learners:LinearRegression", "--y", "y"), "--fit is a class"),
        (("--fit", "learners:unfitted", "--y", "label"), "--fit could not fit 45 rows"),
        (("--fit", "learners:unfitted", "--y", "y", "--rows", "9"), "--rows cannot be given to refits"),
    ],
)
def test_what_cannot_be_fitted(line: Any, given: tuple[str, ...], words: str, capsys: Any) -> None:
    Path("model.txt").write_text("tree")
    with pytest.raises(SystemExit) as stop:
        cli.run(["change", *line, "a", "--plus", "1", "--allow-pickle", *given])
    assert stop.value.code in (1, 2)
    assert words in capsys.readouterr().err.replace("\n", " ")


def test_streams_have_no_refits(line: Any) -> None:
    Path("parts").mkdir()
    Path("rows.csv").rename("parts/rows.csv")
    with pytest.raises(IcefieldError, match="refits need all rows in memory"):
        asked("slope", line[0], "parts", "a", "--fit", "learners:unfitted", "--y", "y", "--row-by-row")
