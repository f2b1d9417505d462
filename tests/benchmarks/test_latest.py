"""The latest figures are written down with date and commit, each run in place of the one before."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from benchmarks import coverage, latest, said


def test_a_run_replaces_the_one_before_and_no_other(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "latest.json"
    monkeypatch.setattr(latest, "LATEST", path)
    latest.keep_latest("seeds", "python -m benchmarks.seeds", {"flips": 3})
    latest.keep_latest("said", "python -m benchmarks.said", {"bikes": ["é"]})
    latest.keep_latest("seeds", "python -m benchmarks.seeds", {"flips": 0})
    kept = json.loads(path.read_text())
    assert (kept["seeds"]["figures"], kept["said"]["figures"]) == ({"flips": 0}, {"bikes": ["é"]})
    assert kept["seeds"]["command"] == "python -m benchmarks.seeds"
    assert kept["seeds"]["commit"] == "unknown"  # no repository there


def test_the_commit_is_that_of_this_repository() -> None:
    found = latest.when()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", found["date"])
    assert re.fullmatch(r"[0-9a-f]{7,}( and changes)?|unknown", found["commit"])


def test_only_whole_runs_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[tuple[Any, ...]] = []
    for module in (coverage, said):
        monkeypatch.setattr(module, "keep_latest", lambda *given: kept.append(given))
    monkeypatch.setattr(coverage, "LINES", {"PD": coverage.plain})
    monkeypatch.setattr(coverage, "FOR_COMPARISON", {})
    monkeypatch.setattr(coverage.sys, "argv", ["coverage"])
    coverage.main(draws=2)
    monkeypatch.setattr(said, "told", lambda explainer: [explainer])
    monkeypatch.setattr(said, "CASES", {"bikes": lambda: "a", "titanic": lambda: "b"})
    said.main(["titanic"])
    assert kept == []
    said.main()
    assert kept == [("said", "python -m benchmarks.said", {"bikes": ["a"], "titanic": ["b"]})]
    assert "### Titanic" in capsys.readouterr().out


@pytest.mark.parametrize("name", coverage.LINES)
def test_every_line_of_coverage_can_be_drawn(name: str) -> None:
    share, _ = coverage.covered(coverage.LINES[name], 2)
    assert 50 < share <= 100
