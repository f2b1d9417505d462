"""What is seen first: fit, shares, the plane of all features, findings and notes, as data and in a browser."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from handling import CARD, as_json, choose, drawn, tick
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score

from browser import Browser
from icefield import Explainer
from icefield.report import ReportPage, build, page_html, write_report
from icefield.report.glance import _whole_percent

WIDTHS = (390, 800, 1400)


def look(browser: Browser, page: Path, width: int, dark: bool = False) -> None:
    browser.look(width=width, height=844 if width < 500 else 900, touch=width < 500, dark=dark)
    browser.open(page)


# --- what is said ------------------------------------------------------------------------------------


def test_the_score_is_that_of_the_rows_given(rental_explainer: Explainer, rental_report: ReportPage) -> None:
    study, fit = rental_explainer.study, rental_report.fit
    assert fit.rows == "on the 600 rows given"
    scores = {score.name: score.value for score in fit.scores}
    assert list(scores) == ["R²", "RMSE", "MAE"]
    assert float(scores["R²"]) == pytest.approx(
        r2_score(study.sample.y, study.predictions()[:, 0]), abs=0.005
    )
    assert scores["RMSE"].endswith(" bikes")


def test_classes_have_calibration() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = (X[:, 0] + rng.normal(size=500) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    fit = build(Explainer(model, X, y=y).study).fit
    scores = {score.name: score.value for score in fit.scores}
    assert float(scores["AUC"]) == pytest.approx(roc_auc_score(y, model.predict_proba(X)[:, 1]), abs=0.006)
    assert set(scores) == {"AUC", "Accuracy", "Log loss"}
    assert fit.classes
    assert len(fit.picture.marks[1].x) == 20


def test_without_targets_the_page_says_what_is_missing(page: Path, built: ReportPage) -> None:
    assert built.fit.scores == ()
    assert "no observed targets were given" in page.read_text(encoding="utf-8")
    assert all(card.panel.observed is None for card in built.features)


def test_targets_that_cannot_be_compared_are_said_why() -> None:
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = X[:, 0].copy()
    y[3] = np.nan
    fit = build(Explainer(lambda r: r[:, 0], X, y=y).study).fit
    assert fit.why == "Not known: y holds missing or infinite values."


def test_shares_are_whole_percents_of_everything(rental_report: ReportPage) -> None:
    (own,) = rental_report.models[0].shares.outputs
    assert own.alone + own.pairs + own.rest == 100
    assert own.pairs > 20  # the hour works one way on workdays, and the other on others
    assert "Where features are correlated" in rental_report.models[0].shares.note
    rng = np.random.default_rng(0)
    for parts in rng.dirichlet([1, 1, 1], 200):
        assert sum(_whole_percent(parts.tolist())) == 100


def test_notes_name_what_is_odd_and_link_it(rental_report: ReportPage) -> None:
    notes = {note.title: note for note in rental_report.notes}
    assert [c.name for c in notes["The same in every row"].columns] == ["wind", "wind copied"]
    assert [c.name for c in notes["One value only"].columns] == ["country"]
    (gone,) = notes["Missing values"].columns
    assert (gone.name, gone.text) == ("temperature", "7\u00a0%")
    number = next(card.number for card in rental_report.features if card.name == "temperature")
    assert gone.link == f"#f{number}"


def test_a_leak_is_suspicious() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"honest": rng.normal(size=400), "leak": rng.normal(size=400)})
    found = build(Explainer(lambda r: r["leak"].to_numpy(), X, y=2 * X["leak"].to_numpy() + 1).study)
    (note,) = (note for note in found.notes if note.title == "Suspiciously perfect")
    assert [c.name for c in note.columns] == ["leak"]


def test_cautions_stand_beside_what_they_concern(rental_report: ReportPage) -> None:
    text = page_html(rental_report)
    assert "Before reading on" not in text
    assert text.index('id="glance"') < text.index('id="plain"') < text.index('id="ranking"')
    for line in rental_report.plain:
        own = next(card for card in rental_report.features if card.number == line.feature)
        assert [said.rstrip(".") for said in line.cautions] == [
            said.rstrip(".") for said in (own.warning, own.far) if said
        ]


def test_no_row_is_in_a_report_with_targets(rental_explainer: Explainer, rental_report: ReportPage) -> None:
    seen = [card.panel.observed for card in rental_report.features]
    assert all(min(one.rows, default=5) >= 5 for one in seen)
    text, y = as_json(rental_report), np.asarray(rental_explainer.study.sample.y)
    assert rental_report.individual == 0
    assert not any(f"{value:.6f}" in text for value in y[:200])


def test_small_levels_have_no_observed_mean() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"who": ["many"] * 200 + ["Anna Example"] * 4, "x": np.arange(204.0)})
    explainer = Explainer(lambda r: r["x"].to_numpy(), frame, y=frame["x"].to_numpy())
    card = next(card for card in build(explainer.study).features if card.name == "who")
    assert card.panel.observed.values == ["many"]
    assert card.panel.observed.rows == [200]


# --- in a browser ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_shows_fit_shares_and_plane(browser: Browser, rental_page: Path, width: int) -> None:
    look(browser, rental_page, width)
    browser.wait("document.querySelectorAll('.plane .name').length >= 4")
    boxes = browser.run(
        "Object.fromEntries(['.stack', '.scores', '.against', '.plane'].map((s) => {"
        " const r = document.querySelector(s).getBoundingClientRect(); return [s, [r.left, r.right, r.top, r.height]]; }))"
    )
    assert all(left >= 0 and right <= width and high > 10 for left, right, _, high in boxes.values())
    if width == 1400:
        assert all(top < 700 for _, _, top, _ in boxes.values()), boxes
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    # Texts of the plane are drawn at nearly their own size, and none on another.
    texts = browser.run(
        "Array.from(document.querySelectorAll('.plane .name'), (t) => { const r = t.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"
    )
    assert len(texts) >= 4
    assert all(bottom - top > 10 for _, top, _, bottom in texts)
    for a, b in combinations(texts, 2):
        assert a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 3 or b[3] <= a[1] + 3
    assert browser.problems == []
    assert browser.requests == [rental_page.resolve().as_uri()]


def test_every_point_of_the_plane_leads_to_its_card(
    browser: Browser, rental_page: Path, rental_report: ReportPage
) -> None:
    look(browser, rental_page, 1400)
    links = browser.run(
        "Array.from(document.querySelectorAll('.plane a'), (a) => [a.getAttribute('href'), a.getAttribute('aria-label')])"
    )
    assert sorted(href for href, _ in links) == sorted(f"#f{card.number}" for card in rental_report.features)
    names = {f"#f{card.number}": card.name for card in rental_report.features}
    assert all(label.startswith(f"{names[href]}: strength ") for href, label in links)


def test_findings_and_sparks_are_named_for_those_who_do_not_see_them(
    browser: Browser, rental_page: Path
) -> None:
    look(browser, rental_page, 1400)
    named = browser.run(
        "Array.from(document.querySelectorAll('[role=img]'), (s) => [s.getAttribute('class'), s.getAttribute('aria-label')])"
    )
    assert sum("spark" in kind for kind, _ in named) == 7
    assert all(len(label) > 10 for _, label in named)
    assert browser.run("document.querySelectorAll('.finding .small').length") == browser.run(
        "document.querySelectorAll('.finding').length"
    )
    assert browser.run("document.querySelectorAll('svg:not([role]):not(.plot svg)').length") == 0


def test_observed_and_predicted_means_are_on_every_card(
    browser: Browser, rental_page: Path, rental_report: ReportPage
) -> None:
    look(browser, rental_page, 1400)
    place = f"{CARD}[0].querySelector('.plot').drawing.panel.marks"
    drawn(browser, 0)
    panel = rental_report.features[0].panel
    for kind, key in (("observed", "truth"), ("predicted", "predicted")):
        assert browser.run(f"{place}.find((m) => m.layer === '{kind}').y") == getattr(panel.observed, key)[0]
    tick(browser, "#centre")
    own = browser.run(f"{place}.find((m) => m.layer === 'observed').y")
    mean = panel.observed.mean[0][0]
    assert own == pytest.approx([v - mean for v in panel.observed.truth[0]], abs=1e-9)
    tick(browser, "#centre")
    tick(browser, "#observed")
    assert browser.run(f"{place}.some((m) => m.layer === 'observed')") is False
    tick(browser, "#observed")
    for index in range(len(rental_report.features)):
        drawn(browser, index)
        shown = browser.run(
            f"{CARD}[{index}].querySelector('.plot').drawing.panel.marks.some((m) => m.layer === 'observed')"
        )
        assert shown == bool(rental_report.features[index].panel.observed.x)
    assert browser.problems == []


def test_shares_follow_the_output(opened: Browser, built: ReportPage) -> None:
    said = "document.querySelector('.stack').getAttribute('aria-label')"
    own = built.models[0].shares.outputs[2]
    choose(opened, "#output", "2")
    assert f"single features {own.alone} %, pairs of features {own.pairs} %" in opened.run(said)
    assert opened.run("document.querySelector('.parts [data-percent=pairs]').textContent") == f"{own.pairs} %"


@pytest.mark.parametrize("dark", [False, True])
def test_cells_of_the_matrix_are_legible(browser: Browser, rental_page: Path, dark: bool) -> None:
    look(browser, rental_page, 1400, dark)
    contrasts = browser.run(
        """(() => {
        const parse = (text) => text.match(/[\\d.]+/g).map(Number);
        const light = (rgb) => { const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ground = parse(getComputedStyle(document.body).backgroundColor);
        return Array.from(document.querySelectorAll('#matrix td:not(:empty)'), (cell) => {
          const [r, g, b, a = 1] = parse(getComputedStyle(cell).backgroundColor);
          const under = [r, g, b].map((v, i) => a * v + (1 - a) * ground[i]);
          const [one, two] = [light(under), light(parse(getComputedStyle(cell.firstChild).color))].sort((x, y) => y - x);
          return (one + 0.05) / (two + 0.05);
        });
        })()"""
    )
    assert len(contrasts) > 4
    assert min(contrasts) >= 4.5


@pytest.mark.parametrize("width", [390, 1400])
def test_targets_are_large_enough_for_a_finger(browser: Browser, rental_page: Path, width: int) -> None:
    look(browser, rental_page, width)
    drawn(browser, 0)
    small = browser.run(
        """Array.from(document.querySelectorAll(
          'button, select, summary, nav a, .ranking tbody a, .ways a, .matrix a, .toolbar label, .controls label, .plane a .hit'),
          (e) => [e.className.baseVal ?? e.className, e.textContent.trim().slice(0, 30), e.getBoundingClientRect()])
        .filter(([, , r]) => r.width > 0 && (r.height < 23.5 || r.width < 23.5)).map(([c, t, r]) => [c, t, r.width, r.height])"""
    )
    assert small == []


def test_a_long_table_has_cards_for_the_strongest_and_says_so(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 70))
    weights = 0.95 ** np.arange(70)
    explainer = Explainer(lambda r: r @ weights, X)
    found = build(explainer.study)
    assert len(found.features) == 50
    assert len(found.rows) - len(found.features) == 20
    page = write_report(explainer.study, tmp_path / "wide.html")
    assert "Only the 50 features that move the predictions most have cards" in page.read_text(
        encoding="utf-8"
    )
    look(browser, page, 800)
    assert browser.run(f"{CARD}.length") == 50
    assert browser.run("document.querySelectorAll('#rows tr').length") == 70
    assert browser.run("document.querySelectorAll('#r69 a').length") == 0
    name = found.rows[-1].full
    choose(browser, "#search", name)
    assert (
        browser.run("Array.from(document.querySelectorAll('#rows tr')).filter((r) => !r.hidden).length") >= 1
    )
    assert browser.run("document.getElementById('r69').hidden") is False
    choose(browser, "#search", "")
    choose(browser, "#sort", "name")
    assert browser.run("document.querySelectorAll('#rows tr').length") == 70
    browser.run("location.hash = '#r69'")
    browser.wait("Math.abs(document.getElementById('r69').getBoundingClientRect().top) < window.innerHeight")
    assert browser.problems == []
