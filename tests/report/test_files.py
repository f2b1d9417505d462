"""Tables and files of cards, surfaces and regions: the values themselves, and as many words as needed."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handling import CARD, card_named, choose, drawn, own_control, saved, saved_words, settled, table_of, tick

from browser import Browser
from icefield import Explainer
from icefield.report import ReportPage, build, page_html, write_report
from icefield.report.card_data import raw


def spent(rows: int = 200) -> Any:
    """Values whose text for readers is not the value."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    kinds = ["a kind whose name is longer than forty letters altogether", "other, shorter", "plain"]
    return pd.DataFrame(
        {
            "amount": np.where(rng.random(rows) < 0.1, np.nan, rng.uniform(6_000, 90_000, rows)),
            "when": pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="h"),
            "kind": pd.Categorical(rng.choice(kinds, rows)),
        }
    )


def spending(frame: Any) -> Any:
    amount = frame["amount"].fillna(40_000) / 1e4
    hours = (frame["when"] - np.datetime64("2024-05-01")).dt.total_seconds() / 3.6e6
    return amount * np.where(frame["kind"] == "plain", 1.0, -1.0) + hours


@pytest.fixture(scope="module")
def page_of_spending(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(Explainer(spending, spent()).study, tmp_path_factory.mktemp("files") / "report.html")


def csv_of(browser: Browser, item: str) -> list[dict[str, str]]:
    for path in browser.downloads.iterdir():
        path.unlink()
    browser.run(f"{item}.querySelector('.csv').click()")
    path = saved(browser, ".csv")
    lines = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    path.unlink()
    return lines


def test_values_are_saved_as_they_are(browser: Browser, page_of_spending: Path) -> None:
    browser.look()
    browser.open(page_of_spending)
    explainer = Explainer(spending, spent())
    for name in ("amount", "when", "kind"):
        item = f"{CARD}[{card_named(browser, name)}]"
        lines = csv_of(browser, item)
        found = [line["value"] for line in lines if line["kind"] == "pd"]
        grid = explainer.partial_dependence(name).grid[0]
        if name == "amount":
            assert found[-1] == ""  # missing
            np.testing.assert_array_equal([float(v) for v in found[:-1]], grid[:-1])
        elif name == "when":
            assert [np.datetime64(v) for v in found] == list(grid)
        else:
            assert found == [str(v) for v in grid]
        local = [line["value"] for line in lines if line["kind"] == "ale"]
        assert set(local) <= {str(v) for v in grid} if name == "kind" else len(local) > 2
        average = [float(line["average"]) for line in lines if line["kind"] == "pd"]
        np.testing.assert_allclose(
            average, explainer.partial_dependence(name).average[0], rtol=1e-4, atol=1e-9
        )
    assert browser.problems == []


def test_a_surface_is_saved_with_its_values_and_output(browser: Browser, page_of_spending: Path) -> None:
    browser.look()
    browser.open(page_of_spending)
    titles = browser.run(
        "Array.from(document.querySelectorAll('.pair strong'), (e) => e.textContent.split(' × '))"
    )
    at = next(i for i, names in enumerate(titles) if set(names) == {"amount", "kind"})
    lines = csv_of(browser, f"document.querySelectorAll('.pair')[{at}]")
    assert list(lines[0]) == ["output", *titles[at], "average", "pure interaction", "data"]
    assert all(float(line["amount"]) > 5_000 for line in lines)
    assert {line["kind"] for line in lines} == set(spent()["kind"])


def test_raw_values_of_every_kind() -> None:
    days = np.array(["2024-05-01", "2024-05-02"], dtype="datetime64[us]")
    assert raw(days) == ["2024-05-01", "2024-05-02"]
    assert raw(np.array(["2024-05-01T00:00", "2024-05-01T06:30", "NaT"], dtype="datetime64[us]")) == [
        "2024-05-01T00:00:00",
        "2024-05-01T06:30:00",
        None,
    ]
    assert raw(np.array([90, 0], dtype="timedelta64[m]")) == ["PT5400S", "PT0S"]
    assert raw(np.array([0.1, 6049.25, np.nan], dtype=np.float32)) == [0.1, 6049.25, None]
    assert raw(np.array([3, 2**60])) == [3, str(2**60)]
    assert raw(np.array([True, "6,049", None, 2.5], dtype=object)) == ["True", "6,049", None, 2.5]


def test_numbers_stay_on_one_line(opened: Browser) -> None:
    broken = """Array.from(document.querySelectorAll('.ranking td.n, .bar .value, details[open] td')).filter((cell) => {
      const range = document.createRange(); range.selectNodeContents(cell);
      return new Set(Array.from(range.getClientRects(), (r) => Math.round(r.top))).size > 1; }).map((c) => c.textContent)"""
    for width in (360, 700, 1280):
        opened.look(width=width)
        drawn(opened, 0)
        choose(opened, own_control(0, "group"), "each")
        assert len(table_of(opened)) > 5
        assert opened.run(broken) == [], width
    opened.look()


def test_regions_have_a_table_words_and_a_file(opened: Browser, built: ReportPage) -> None:
    region = built.regions[0]
    item = "document.querySelector('.region')"
    words = opened.run(f"{item}.querySelector('.plot').getAttribute('aria-label')")
    for rule in region.rules:
        assert rule.rule in words
        assert rule.effect in words
    opened.run(f"{item}.querySelector('details').open = true")
    opened.wait(f"{item}.querySelector('details table') !== null")
    cells = (
        f"Array.from({item}.querySelectorAll('details tr'), (r) => Array.from(r.cells, (c) => c.textContent))"
    )
    head, first, *rest = opened.run(cells)
    assert head == ["value", "all rows", *region.panel.rules]
    assert len(rest) + 1 == len(region.panel.x)
    group = region.panel.groups[0]
    assert float(first[2].replace("−", "-")) == pytest.approx(group.average[0][0] - group.mean[0], rel=1e-3)
    choose(opened, "#output", "1")
    _, second, *_ = opened.run(cells)
    assert float(second[2].replace("−", "-")) == pytest.approx(group.average[1][0] - group.mean[1], rel=1e-3)
    lines = csv_of(opened, item)
    assert {line["output"] for line in lines} == {built.outputs[1]}
    assert float(lines[0][region.panel.rules[0]]) == pytest.approx(
        float(second[2].replace("−", "-")), rel=1e-3
    )
    assert opened.problems == []


def test_a_saved_picture_has_a_title(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "output"), "1")
    tick(opened, own_control(0, "centre"))
    name, output = built.features[0].name, built.outputs[1]
    assert saved_words(opened, ".card")["title"] == f"{name}, {output}, centred"
    opened.run("document.querySelector('.pair').scrollIntoView({behavior: 'instant'})")
    opened.wait("document.querySelector('.pair .drawn') !== null")
    tick(opened, "input[name=view][value=pure]")
    assert saved_words(opened, ".pair")["title"] == (
        " × ".join(built.surfaces[0].names) + ", pure interaction"
    )


def test_sizes_follow_the_output(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    card, pair = built.features[0], built.surfaces[0]

    def shown() -> list[str]:
        return list(
            opened.run(
                f"[{CARD}[0].querySelector('.strength'), {CARD}[0].querySelector('.differences'), document.querySelector('.pair .size')]"
                ".map((e) => e.textContent)"
            )
        )

    def expected(o: int, pairs: int) -> list[str]:
        return [
            f"{card.panel.strengths[o]:.2f} SD, {card.panel.strength_words[o]}",
            f"{card.panel.heterogeneities[o]:.2f} SD",
            f"interaction {pair.strengths[pairs]:.2f} SD, H {pair.hs[pairs]:.2f}",
        ]

    assert len({tuple(expected(o, o)) for o in range(3)}) == 3
    assert shown() == expected(0, 0)
    choose(opened, own_control(0, "output"), "2")
    assert shown() == expected(2, 0)
    choose(opened, "#output", "1")
    settled(opened)
    assert shown() == expected(1, 1)
    label = opened.run("document.querySelector('.pair .plot').getAttribute('aria-label')")
    assert expected(1, 1)[2] in label


def test_a_matrix_link_names_both_features(opened: Browser, built: ReportPage) -> None:
    label = opened.run("document.querySelector('#matrix td a').getAttribute('aria-label')")
    surface = opened.run("document.querySelector('#matrix td a').getAttribute('href')")
    for name in built.surfaces[int(surface.removeprefix("#s"))].names:
        assert name in label


def test_many_curves_have_one_digit_less() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=130), "group": np.arange(130) % 7})
    explainer = Explainer(
        lambda f: np.column_stack([np.sin(f["x"]), np.cos(f["x"])]) + np.pi, frame, by="group"
    )
    panel = build(explainer.study, ["x"]).features[0].panel
    digits = {len(str(v).replace(".", "")) for group in panel.groups for v in group.average[0]}
    assert max(digits) == 4
    assert max(len(str(v).replace(".", "")) for v in panel.average[0]) == 5


def test_groups_left_out_are_said_in_the_privacy_text(built: ReportPage) -> None:
    assert "left out: fewer than 5" not in page_html(built)
    assert "1 group is left out: fewer than 5 rows" in page_html(replace(built, small_groups=1))
    assert "3 groups are left out: fewer than 5 rows each" in page_html(replace(built, small_groups=3))
