"""Links within the page end at their heading, on every width, wherever they start and whatever is drawn on the way."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from browser import Browser
from icefield.report import ReportPage

WIDTHS = (390, 800, 1400)
HEADING = """(() => {
  const target = document.getElementById(location.hash.slice(1)), heading = target.querySelector('h2:not(.hidden), h3, figcaption, .caption') || target;
  const bar = document.getElementById('toolbar'), covered = target.closest('#features') && target.id !== 'features' && getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0;
  return (target.matches('.pair') ? target : heading).getBoundingClientRect().top - covered;
})()"""


def settled(browser: Browser) -> float:
    """Where the heading is once it stays there."""
    before, since = None, time.monotonic()
    while time.monotonic() < since + 10:
        now = browser.run(HEADING)
        if now == before:
            return float(now)
        before = now
        time.sleep(0.35)
    raise AssertionError("the page never came to rest")


def click(browser: Browser, link: str) -> None:
    browser.run(
        f"document.querySelector(`{link}`).dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true}}))"
    )
    browser.run("1")


def open_at(browser: Browser, page: Path, width: int) -> None:
    browser.look(width=width, height=844 if width < 500 else 900, touch=width < 500)
    browser.open(page)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_link_of_the_contents_lands_at_its_heading(
    browser: Browser, rental_page: Path, width: int
) -> None:
    open_at(browser, rental_page, width)
    links = browser.run("Array.from(document.querySelectorAll('nav a'), (a) => a.getAttribute('href'))")
    assert {
        "#glance",
        "#plain",
        "#notes",
        "#ranking",
        "#features",
        "#interactions",
        "#regions",
        "#about",
    } == set(links)
    for link in links:
        open_at(browser, rental_page, width)  # nothing is drawn yet
        click(browser, f"nav a[href='{link}']")
        assert abs(settled(browser)) <= 40, link
    assert browser.problems == []
    assert browser.requests == [rental_page.resolve().as_uri()]


@pytest.mark.parametrize("width", WIDTHS)
def test_cards_pairs_and_regions_lead_to_each_other(
    browser: Browser, rental_page: Path, rental_report: ReportPage, width: int
) -> None:
    open_at(browser, rental_page, width)
    card = next(c for c in rental_report.features if c.pairs and c.region is not None)
    number, pair, region = card.number, card.pairs[0], card.region
    for start, end in (
        (f".plane a[href='#f{number}']", f"#f{number}"),
        (f"#f{number} .ways a[href='#s{pair}']", f"#s{pair}"),
        (f"#s{pair} figcaption a[href='#f{number}']", f"#f{number}"),
        (f"#f{number} .ways a[href='#g{region}']", f"#g{region}"),
        (f"#g{region} h3 a", f"#f{number}"),
        (f"#matrix th a[href='#f{number}']", f"#f{number}"),
        (f"#rows a[href='#f{number}']", f"#f{number}"),
        (f".plain a[href='#f{number}']", f"#f{number}"),
    ):
        click(browser, start)
        assert browser.run("location.hash") == end
        assert abs(settled(browser)) <= 40, (start, end)
    assert browser.problems == []


@pytest.mark.parametrize("width", WIDTHS)
def test_an_address_with_a_place_opens_there(browser: Browser, rental_page: Path, width: int) -> None:
    open_at(browser, rental_page, width)
    last = browser.run("document.querySelector('.region:last-of-type').id")
    for place in ("interactions", last):
        browser.run(f"location.hash = '#{place}'; location.reload()")
        time.sleep(0.5)
        browser.wait("document.documentElement?.dataset.ready === 'yes'")
        assert abs(settled(browser)) <= 40, place


def test_a_reader_who_scrolls_is_not_pulled_back(browser: Browser, rental_page: Path) -> None:
    open_at(browser, rental_page, 1400)
    click(browser, "nav a[href='#interactions']")
    browser.run("window.dispatchEvent(new WheelEvent('wheel')); window.scrollTo(0, 0)")
    time.sleep(0.4)
    assert browser.run("window.scrollY") < 5


def test_regions_tell_sizes(browser: Browser, rental_page: Path, rental_report: ReportPage) -> None:
    open_at(browser, rental_page, 1400)
    for place, region in enumerate(rental_report.regions):
        assert region.sizes.endswith(" bikes")
        sizes = browser.run(
            f"Array.from(document.querySelectorAll('#g{place} .rules .size'), (c) => c.textContent)"
        )
        assert sizes == [rule.size for rule in region.rules]
        assert len({*sizes}) == len(sizes)
        assert browser.run(f"document.querySelector('#g{place} .sizes').textContent") == region.sizes
