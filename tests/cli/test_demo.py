"""The demo: the flights it reads, and what it says when something is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from icefield import MissingDependencyError
from icefield.cli import demo


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in demo.NEEDED:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    monkeypatch.setattr(demo, "SMALL_ROWS", 1_500)
    monkeypatch.setattr(demo, "SMALL_TREES", 5)


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "NEEDED", ("pandas", "no_such_package"))
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        demo.main(tmp_path)


def test_flights_have_categories_and_missing_values(small: None) -> None:
    X, y = demo.flights(1_500)
    assert len(X) == len(y) == 1_500
    assert {str(X[name].dtype) for name in ("weekday", "carrier", "origin", "dest")} == {"category"}
    assert X["plane_age"].isna().any()
    assert y.isna().any()
    assert X["departure"].between(0, 24).all()


def test_ends_with_the_findings_and_where_the_report_is(small: None, tmp_path: Path, capsys: Any) -> None:
    demo.main(tmp_path / "out", small=True)
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[-1].endswith((tmp_path / "out" / "report.html").resolve().as_uri())
    said = "\n".join(lines)
    assert "arrival delay" in said
    assert " min" in said
    assert "x one predict" not in said


def test_times_every_kind_of_answer_on_request(small: None, tmp_path: Path, capsys: Any) -> None:
    demo.main(tmp_path / "out", small=True, timings=True)
    said = capsys.readouterr().out
    for word in ("one predict", "PD of all 15", "ICE", "ALE", "H of all 105", "report", "Total", "MB"):
        assert word in said
    report = tmp_path / "out" / "report.html"
    assert 100_000 < report.stat().st_size < 1_000_000
    assert report.resolve().as_uri() in said
