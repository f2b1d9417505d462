"""The built site, as files and in a real browser. Skipped where it was not built: `make docs` does."""

from __future__ import annotations

from pathlib import Path

import checks
import pytest

import icefield
from browser import Browser

ROOT = Path(__file__).parents[2]
FOLDER = "dev" if "dev" in icefield.__version__ else icefield.__version__
# One page of every kind in the browser; the links of all are followed as files.
LOOKED_AT = [
    "index.html", "start.html", "which-plot.html", "concepts/pd.html", "concepts/h.html", "tutorials/bikes.html",
    "generated/gallery/index.html", "generated/gallery/3_two_features/plot_16_contour.html", "generated/gallery/8_places/plot_30_plotly.html",
    "generated/reference/explainer.html", "generated/reference/cli_pd.html", "matrix.html", "measured.html",
    "coming-from/alibi.html", "statistics.html", "statistics/readings.html", "search.html",
]  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Path:
    folder = ROOT / "build" / "site" / FOLDER
    if not (folder / "index.html").exists():
        pytest.skip("the site is not built: make docs")
    return folder


def test_links_pictures_and_requests(site: Path) -> None:
    assert checks.problems(site) == []


def test_llms_txt_names_every_shelf(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    for shelf in ("Begin", "Concepts", "Tutorials", "Gallery", "Reference", "Coming from"):
        assert f"## {shelf}" in text
    for line in text.splitlines():
        if line.startswith("- ["):
            assert (site / line.split("](")[1].split(")")[0]).exists(), line


def test_the_gallery_has_thirty_entries_with_notebooks_and_two_looks(site: Path) -> None:
    scripts = sorted((ROOT / "docs" / "gallery").glob("*/plot_*.py"))
    assert len(scripts) >= 30
    images = {path.name for path in (site / "_images").iterdir()}
    notebooks = {path.name for path in (site / "_downloads").rglob("*.ipynb")}
    for script in scripts:
        assert f"sphx_glr_{script.stem}_001.png" in images
        assert f"sphx_glr_{script.stem}_001_dark.png" in images
        assert f"{script.stem}.ipynb" in notebooks


@pytest.mark.parametrize(
    "name",
    ["Explainer", *(f"Explainer.{name}" for name in ("partial_dependence", "ice", "ale", "conditional", "importance",
     "interactions", "regions", "effects", "plot")), "Effect.plot", "Comparison.band", "Comparison.difference"],
)  # fmt: skip
def test_a_name_is_followed_by_the_examples_that_use_it(site: Path, name: str) -> None:
    page = name.split(".")[0].lower()
    text = (site / "generated" / "reference" / f"{page}.html").read_text(encoding="utf-8")
    after = text[text.index(f'id="icefield.{name}"') :]
    until = after.find('<dt class="sig sig-object py"', 10)
    section = after[:until] if until > 0 else after
    assert "Examples that use it" in section
    assert "sphx-glr-thumbcontainer" in section


def opened(browser: Browser, path: Path) -> float:
    """Seconds from navigation until the page and all it loads at once are there."""
    browser.visit(path.as_uri())
    browser.wait(f"document.readyState === 'complete' && location.href.endsWith({path.name!r})")
    return browser.run("performance.timing.loadEventEnd - performance.timing.navigationStart") / 1000


@pytest.mark.parametrize("page", LOOKED_AT)
@pytest.mark.parametrize("look", ["desktop", "phone", "dark"])
def test_a_page_in_a_browser(browser: Browser, site: Path, page: str, look: str, record_property) -> None:
    browser.look(dark=look == "dark", width=390 if look == "phone" else 1280, touch=look == "phone")
    seconds = opened(browser, site / page)
    outside = [r for r in browser.requests if not r.startswith(("file:", "data:", "blob:", "about:"))]
    assert browser.problems == []
    assert outside == []
    record_property("printed", f"{page} {look}: loaded in {seconds:.2f} s")
    if look == "phone":
        wide = browser.run("document.documentElement.scrollWidth")
        assert wide <= 392, f"{page} is {wide} pixels wide on a phone"
    shown = browser.run("""[...document.querySelectorAll('img.picture')].map(i => [
        i.classList.contains('only-dark'), getComputedStyle(i).display !== 'none',
        i.classList.contains('only-light') || i.classList.contains('only-dark')])""")
    for dark, visible, twofold in shown:
        assert not twofold or visible == (dark == (look == "dark"))


def test_search_finds_without_a_network(browser: Browser, site: Path) -> None:
    browser.look()
    browser.visit((site / "search.html").as_uri() + "?q=interaction")
    browser.wait("document.querySelectorAll('#search-results li').length > 3")
    assert browser.problems == []


def test_versions_can_be_switched_from_the_local_list(browser: Browser, site: Path) -> None:
    browser.look()
    opened(browser, site / "index.html")
    browser.run("document.querySelector('.versions-button').click()")
    links = browser.run("[...document.querySelectorAll('.versions-list')].pop().querySelectorAll('a').length")
    assert links >= 1
    href = browser.run("document.querySelector('.versions-list a').href")
    assert href.endswith("/index.html")


def test_the_plotly_figure_is_alive_and_follows_the_theme(browser: Browser, site: Path) -> None:
    browser.look(dark=True)
    opened(browser, site / "generated" / "gallery" / "8_places" / "plot_30_plotly.html")
    browser.wait("document.querySelector('.live .js-plotly-plot .main-svg')")
    browser.wait("document.querySelector('.live .js-plotly-plot').layout.font.color === '#d9e0e8'")
    assert browser.problems == []


def test_the_embedded_report_is_alive(browser: Browser, site: Path) -> None:
    browser.look()
    opened(browser, site / "start.html")
    assert not browser.run("document.querySelector('iframe').src"), "it should wait until it comes into view"
    browser.run("document.querySelector('iframe').scrollIntoView()")
    browser.wait("document.querySelector('iframe').src.endsWith('report.html')")
    opened(browser, site / "_live" / "start" / "report.html")
    browser.wait("document.documentElement?.dataset.ready === 'yes'")
    assert browser.problems == []
