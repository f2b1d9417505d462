"""The reference holds every public name; stored results are what the pages say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import checks
import pages
import pytest
import reference

import icefield

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of all pages of the reference."""
    folder = tmp_path_factory.mktemp("source")
    reference.write_reference(SimpleNamespace(srcdir=folder))
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.rst"))


@pytest.mark.parametrize("name", reference.public_names())
def test_every_public_name_is_in_the_reference(name: str, written: str) -> None:
    assert re.search(rf"\.\. auto\w+:: {re.escape(name)}$", written, re.M), f"{name} is documented nowhere"


def test_the_list_of_names_is_whole() -> None:
    names = reference.public_names()
    assert {f"icefield.{name}" for name in icefield.__all__} <= set(names)
    for method in ("partial_dependence", "ice", "effects", "ale", "conditional", "importance", "interactions", "regions",
                   "summary", "report", "plot"):  # fmt: skip
        assert f"icefield.Explainer.{method}" in names
    assert "icefield.Effect.plot" in names
    assert "icefield.Comparison.band" in names


def test_every_command_has_a_page(written: str) -> None:
    from icefield.cli.commands import main

    for name in main.commands:
        assert f".. click:: icefield.cli.commands:{name}\n" in written


def test_every_page_of_the_reference_is_reached(written: str) -> None:
    listed = (DOCS / "api.md").read_text(encoding="utf-8")
    for page in ("explainer", "effect", "comparison", "grid", "results", "sklearn", "errors"):
        assert f"generated/reference/{page}" in listed


@pytest.mark.parametrize("path", sorted((DOCS / "measured").glob("*.json")), ids=lambda p: p.stem)
def test_stored_results_say_when_where_and_how_and_are_what_pages_say(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept["date"])
    assert re.fullmatch(r"[0-9a-f]{7,40}", kept["commit"])
    assert kept["command"].startswith(("python -m benchmarks", "sh examples/"))
    pages = {
        "learner": "learner-intervals.md",
        "tests": "learner-intervals.md",
        "explorer": "explorer.md",
        "small_files": "stores.md",
        "first_hour": "start.md",
        "explorer_large": "explorer.md",
    }
    pages |= dict.fromkeys(("kills", "clusters", "partitions", "merging"), "clusters.md")
    if path.stem in pages:  # whose page shows the stored table itself
        assert f"```{{measured}} {path.stem}\n" in (DOCS / pages[path.stem]).read_text(encoding="utf-8")
        return
    said = "".join(
        (DOCS / name).read_text(encoding="utf-8") for name in ("performance.md", "statistics/honesty.md")
    )
    said = re.sub(r"\s+", " ", said.replace("**", ""))
    for row in kept["rows"]:
        line = re.sub(r"\s+", " ", "| " + " | ".join(row) + " |")
        assert line in said, f"{path.name} and the pages differ: {line}"


def test_versions_are_listed_newest_first(tmp_path: Path) -> None:
    for name in ("0.9.0", "dev", "0.10.1", "empty"):
        (tmp_path / name).mkdir()
    for name in ("0.9.0", "dev", "0.10.1"):
        (tmp_path / name / "index.html").write_text("")
    pages.write_root(tmp_path)
    assert (
        tmp_path / "versions.js"
    ).read_text() == 'window.ICEFIELD_VERSIONS = ["0.10.1", "0.9.0", "dev"];\n'
    assert "0.10.1/index.html" in (tmp_path / "index.html").read_text()


def test_the_checks_find_what_they_look_for(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">fine</a> <a href="other.html#gone"></a> <a href="missing.html"></a>'
        '<img src="https://example.org/x.png" alt="x"> <img src="other.html"> <script src="gone.js"></script>'
    )
    found = "\n".join(checks.problems(tmp_path))
    for words in ("other.html#gone, which has no such place", "missing.html, which is not there", "loads https://example.org",
                  "other.html without alt", "gone.js, which is not there"):  # fmt: skip
        assert words in found
    assert "other.html#here" not in found


def test_every_gallery_entry_stands_below_one_question() -> None:
    gallery = DOCS / "gallery"
    assert not list(gallery.glob("plot_*.py"))
    for folder in {path.parent for path in gallery.glob("*/plot_*.py")}:
        assert (folder / "GALLERY_HEADER.rst").exists()
    names = [path.stem for path in gallery.glob("*/plot_*.py")]
    assert len(names) == len(set(names))


def test_the_decision_is_a_list_on_narrow_screens() -> None:
    pytest.importorskip("sphinx", reason="what builds the site is not installed: make docs brings it")
    import decision

    page = decision.drawing()
    ends = re.findall(r'href="([^"]+)"', page)
    assert len(ends) == 2 * sum(len(cases) for _, cases in decision.BRANCHES)
    assert ends[: len(ends) // 2] == ends[len(ends) // 2 :]
    assert page.count("<details>") == len(decision.BRANCHES)
