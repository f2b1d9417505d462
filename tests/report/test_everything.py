"""Everything in one file: pictures and tables as a zip that any reader opens."""

from __future__ import annotations

import csv
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from handling import saved, saved_words, tick

from browser import Browser
from icefield.report import ReportPage


@pytest.fixture
def archive(browser: Browser, rental_page: Path) -> Any:
    browser.look(width=800, height=900)
    browser.open(rental_page)
    tick(browser, "#everything")
    browser.wait("document.getElementById('everything').disabled === false", seconds=120)
    path = saved(browser, ".zip")
    yield zipfile.ZipFile(path)
    path.unlink()


def test_all_pictures_and_tables_are_in_one_file(
    archive: zipfile.ZipFile, browser: Browser, rental_report: ReportPage
) -> None:
    assert archive.testzip() is None  # every checksum is right
    names = archive.namelist()
    assert len(names) == len({*names})
    cards, pairs, regions = rental_report.features, rental_report.surfaces, rental_report.regions
    for folder, count in (("features", len(cards)), ("pairs", len(pairs)), ("regions", len(regions))):
        for suffix in (".csv", ".png"):
            assert sum(n.startswith(f"{folder}/") and n.endswith(suffix) for n in names) == count
    assert {"README.txt", "ranking.csv", "interactions.csv"} < set(names)
    assert f"features/01_{cards[0].name}.csv" in names
    assert browser.problems == []
    assert len(browser.requests) == 1


def test_files_hold_what_the_page_shows(archive: zipfile.ZipFile, rental_report: ReportPage) -> None:
    card = rental_report.features[0]
    text = archive.read(f"features/01_{card.name}.csv").decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text)))
    own = [float(line["average"]) for line in lines if line["kind"] == "pd"]
    assert own == card.panel.average[0]
    observed = [float(line["average"]) for line in lines if line["kind"] == "observed"]
    assert observed == card.panel.observed.truth[0]
    ranking = list(csv.reader(io.StringIO(archive.read("ranking.csv").decode("utf-8-sig"))))
    assert [row[1].removesuffix(" caution") for row in ranking[1:]] == [
        c.name for c in rental_report.features
    ]
    picture = archive.read(f"features/01_{card.name}.png")
    assert picture.startswith(b"\x89PNG")
    wide, high = struct.unpack(">II", picture[16:24])
    assert wide > 1000
    assert high > 800
    said = archive.read("README.txt").decode()
    assert rental_report.title in said
    assert rental_report.plain[0].sides[0].text in said
    assert "Privacy: No ICE curve" in said


def test_pictures_of_pairs_and_regions_have_captions(browser: Browser, rental_page: Path) -> None:
    browser.look(width=1400, height=900)
    browser.open(rental_page)
    for item, words in ((".pair", "interaction"), (".region", "bikes")):
        browser.run(f"document.querySelector('{item}').scrollIntoView()")
        told = saved_words(browser, item)
        if item == ".region":
            rules = browser.run(
                "Array.from(document.querySelectorAll('#g0 .rules bdi'), (e) => e.textContent)"
            )
            assert all(rule.split(" ")[0] in told["caption"] for rule in rules)
            assert len(told["legend"]) == len(rules) + 1  # all rows, and every region
        else:
            assert words in told["caption"]
    assert browser.problems == []
