"""What the shell answers at once: wrong columns before anything is loaded, findings after a report, help under headings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from icefield.cli import commands as cli
from icefield.cli import loading
from icefield.errors import IcefieldError, did_you_mean

MODELS = """
def new(rows):
    return rows["mean area"] * 2.0


def old(rows):
    return rows["mean area"] + 3.0 * rows["mean radius"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = ["mean area,mean radius,kind,y"]
    lines += [f"{i},{(i * 7) % 11},{'ab'[i % 2]},{2 * i}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "model.txt").touch()
    (tmp_path / "first_answers_models.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pd", "model.txt", "data.csv", "mean_area"), "did you mean 'mean area'?"),
        (("regions", "model.txt", "data.csv", "Mean Area"), "did you mean 'mean area'?"),
        (("report", "model.txt", "data.csv", "--y", "Y"), "did you mean 'y'?"),
        (("pd", "model.txt", "data.csv", "mean area", "--by", "kinds"), "did you mean 'kind'?"),
        (("pd", "model.txt", "data.xlsx", "age"), "DATA"),
        (("audit", "model.txt", "data.csv", "--increasing", "mean_area"), "did you mean 'mean area'?"),
        (("audit", "model.txt", "data.csv", "--flips", "kinds"), "did you mean 'kind'?"),
        (("slope", "model.txt", "data.csv", "mean area", "--given", "kinds"), "did you mean 'kind'?"),
        (("summary", "model.txt", "data.csv", "--name", "mean_area=area"), "did you mean 'mean area'?"),
        (("summary", "model.txt", "data.csv", "--name", "Kind[a]=first"), "did you mean 'kind'?"),
        (
            ("summary", "model.txt", "data.csv", "--unit", "z=km", "--target-name", "x", "--unit", "x=km"),
            "'z'",
        ),
        (("pd", "model.txt", "mean area", "data.csv"), "names no file that exists"),
        (("pd", "data.csv", "model.txt", "mean area"), "name the model first, then the data"),
        (("check", "model.txt", "data.csv", "expectation.toml"), "draft one with"),
    ],
)
def test_a_wrong_column_or_file_is_answered_before_the_model_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    def loaded(*_: Any, **__: Any) -> None:
        raise AssertionError("the model was read first")

    monkeypatch.setattr(loading, "load_model", loaded)
    (folder / "data.xlsx").write_bytes(b"x")
    with pytest.raises(IcefieldError) as error:
        asked(*arguments)
    assert words in str(error.value)


@pytest.mark.parametrize("arguments", [("report",), ("compare", "--with", "model.txt")])
def test_a_report_is_no_pdf(folder: Path, arguments: tuple[str, ...]) -> None:
    command, *further = arguments
    done = asked(command, "model.txt", "data.csv", *further, "-o", "out.pdf")
    assert done.exit_code == 2
    assert "write -o out.html" in done.output


def test_a_report_prints_what_it_says_first(folder: Path) -> None:
    done = asked("report", "first_answers_models:new", "data.csv", "--row-by-row", "-o", "out.html")
    assert done.exit_code == 0, done.output
    assert (folder / "out.html").stat().st_size > 50_000
    assert "mean area" in done.stdout
    assert "wrote out.html" in done.stderr


def test_compare_writes_a_report(folder: Path) -> None:
    models = ("first_answers_models:new", "data.csv", "--with", "first_answers_models:old", "--row-by-row")
    done = asked("compare", *models, "-o", "changes.html")
    assert done.exit_code == 0, done.output
    assert (folder / "changes.html").stat().st_size > 50_000
    assert "mean radius" in done.stdout
    neither = asked("compare", *models)
    assert neither.exit_code == 2
    assert "-o changes.html" in neither.output


def test_help_lists_options_under_headings() -> None:
    text = asked("report", "--help").output
    places = [
        text.index(f"\n{title}:") for title in ("Options", "Output", "Data", "Prediction", "Names and units")
    ]
    assert places == sorted(places)
    assert text.index("  --y COLUMN") > text.index("\nData:")


def test_spaces_underscores_and_capitals_are_seen_through() -> None:
    known = ["mean radius", "mean area", "worst area"]
    assert did_you_mean("mean_area", known) == "did you mean 'mean area'?"
    assert did_you_mean("MeanArea", known) == "did you mean 'mean area'?"
    assert did_you_mean("---", known).startswith("known names are")
