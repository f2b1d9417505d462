"""Several models on one page: what changed comes first, and every number is the models' own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handling import CARD, as_json, choose, drawn, saved, table_of, tick

from browser import Browser
from icefield import Explainer, compare
from icefield.errors import InputError, InputTypeError
from icefield.report import ReportPage, build, page_html

X = np.random.default_rng(0).normal(size=(300, 3))


def old(rows: Any) -> Any:
    return 2 * rows[:, 0] + rows[:, 1]


def new(rows: Any) -> Any:
    return 5 + 2 * rows[:, 0] - rows[:, 1]


@pytest.fixture(scope="module")
def two() -> dict[str, Explainer]:
    return {"old": Explainer(old, X, y=old(X)), "<new>": Explainer(new, X, y=old(X))}


@pytest.fixture(scope="module")
def found(two: dict[str, Explainer]) -> ReportPage:
    return build({name: ex.study for name, ex in two.items()})


@pytest.fixture(scope="module")
def page(two: dict[str, Explainer], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compare(two).report(tmp_path_factory.mktemp("comparison") / "both.html", title="Old and new")


def test_what_changed_comes_first(found: ReportPage) -> None:
    assert found.rows[0].name == "1"
    assert [line.name for line in found.plain] == ["1"]
    (line,) = found.plain
    assert [side.model for side in line.sides] == ["old", "<new>"]
    assert [side.size[0] for side in line.sides] == ["+", "−"]
    assert found.lede.startswith("Of 3 features, 1 behaves differently from old; 1 changes most, by ")


def test_a_change_is_the_distance_of_curves_and_not_of_levels(
    found: ReportPage, two: dict[str, Explainer]
) -> None:
    rows = {row.name: row.change for row in found.rows}
    assert rows["0"] == pytest.approx(0.0, abs=1e-9)  # five more everywhere is the same effect
    effect = two["old"].partial_dependence(1)
    spread = float(effect.output_std[0])
    share = effect.weight / effect.weight.sum()
    apart = -2 * effect.grid[0]
    expected = np.sqrt(share @ np.square(apart - share @ apart)) / spread
    assert rows["1"] == pytest.approx(expected, rel=1e-6)


def test_curves_are_the_models_own(found: ReportPage, two: dict[str, Explainer]) -> None:
    card = found.features[0]
    grid = two["old"].partial_dependence(1).grid[0]
    for group, explainer in zip(card.panel.groups, two.values(), strict=True):
        np.testing.assert_allclose(
            group.average, explainer.partial_dependence(1, grid=grid).average, rtol=1e-3, atol=1e-3
        )
    assert [m["name"] for m in json.loads(as_json(found))["models"]] == ["old", "<new>"]


def test_models_stand_side_by_side_with_scores_and_predictions(found: ReportPage) -> None:
    first, second = found.models
    assert {s.name: s.value for s in first.fit.scores}["R²"] == "1.000"
    assert {s.name: s.value for s in second.fit.scores}["R²"] != "1.000"
    a, b = old(X), new(X)
    assert found.together.correlation == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-5)
    other = Explainer(new, X[::-1].copy())
    assert build({"a": Explainer(old, X).study, "b": other.study}).together is None


def test_features_of_some_models_are_named() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    wide, narrow = (
        Explainer(lambda r: r["a"].to_numpy(), frame),
        Explainer(lambda r: r["b"].to_numpy(), frame[["a", "b"]]),
    )
    found = build({"wide": wide.study, "narrow": narrow.study})
    assert {row.name for row in found.rows} == {"a", "b"}
    assert found.left_out == ["Not in every model, so not compared; wide has c."]


def test_levels_that_a_model_does_not_know_leave_the_others() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "k": pd.Categorical(rng.choice(["a", "b"], 80))})
    other = frame.assign(k=pd.Categorical(rng.choice(["a", "c"], 80)))
    studies = [Explainer(lambda r: r["x"].to_numpy(), f).study for f in (frame, other)]
    found = build(dict(zip(("one", "two"), studies, strict=True)))
    assert [row.name for row in found.rows] == ["x"]
    assert found.left_out == ["Not compared, because a model does not know all values of another’s data: k."]


def test_nothing_is_told_of_observed_means_that_are_not_there(found: ReportPage) -> None:
    assert found.fit.scores
    assert "Observed and predicted means" not in page_html(found)


def test_of_one_model_it_is_that_models_report(two: dict[str, Explainer]) -> None:
    pages = build({"old": two["old"].study}), build(two["old"].study)
    alone, own = (as_json(replace(one, made="", facts=[], opening=[])) for one in pages)
    assert alone == own


def test_what_cannot_be_compared_is_refused(
    two: dict[str, Explainer], tmp_path: Path, complains: Any
) -> None:
    with pytest.raises(InputTypeError, match=r"needs icefield\.compare of Explainers"):
        compare({"a": two["old"].partial_dependence(0)}).report(tmp_path / "a.html")
    with pytest.raises(InputError, match="at most 8"):
        compare(dict.fromkeys(range(9), two["old"])).report(tmp_path / "a.html")
    several = Explainer(lambda r: r[:, :2], X)
    with pytest.raises(InputError, match="number of outputs"):
        compare({"old": two["old"], "several": several}).report(tmp_path / "a.html")
    with complains("path", "folder"):
        compare(two).report(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_the_page_opens_clean_and_links_land(browser: Browser, page: Path, width: int) -> None:
    browser.look(width=width, height=844 if width < 500 else 900, touch=width < 500)
    browser.open(page)
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    for link in browser.run("Array.from(document.querySelectorAll('nav a'), (a) => a.getAttribute('href'))"):
        browser.run(f"document.querySelector(`nav a[href='{link}']`).click()")
        browser.wait(f"Math.abs(document.querySelector('{link} h2').getBoundingClientRect().top) <= 40")
    browser.run("document.querySelector('.plain a').click()")
    drawn(browser, 0)
    assert browser.run(f"{CARD}[0].querySelectorAll('.legend .group').length") == 2
    assert browser.problems == []
    assert browser.requests == [page.resolve().as_uri()]


def test_a_model_is_singled_out_and_files_hold_all(browser: Browser, page: Path, found: ReportPage) -> None:
    browser.look(width=1400, height=900)
    browser.open(page)
    drawn(browser, 0)
    lines = f"{CARD}[0].querySelector('.plot').drawing.panel.marks.filter((m) => m.layer === 'group')"
    assert browser.run(f"{lines}.map((m) => m.label)") == ["old", "<new>"]
    choose(browser, ".card .tools [data-key=group]", "1")
    assert browser.run(f"{lines}.length") == 1
    choose(browser, ".card .tools [data-key=group]", "each")
    assert table_of(browser, 0)[0][:3] == ["value", "old", "<new>"]
    tick(browser, ".card .csv")
    path = saved(browser, ".csv")
    text = path.read_text(encoding="utf-8-sig")
    path.unlink()
    points = len(found.features[0].panel.points)
    assert len(text.splitlines()) == 1 + 2 * points
    assert browser.problems == []


def test_a_comparison_escapes_what_it_is_given(found: ReportPage) -> None:
    text = page_html(found).split("<main>")[1].split("</main>")[0]
    assert "<new>" not in text
    assert "&lt;new&gt;" in text
