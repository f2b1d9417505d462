"""What every built page must keep: links that lead somewhere, pictures with words, nothing fetched from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements whose address a browser loads by itself, without a click.
LOADED = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "src"}
PROJECT = str(Path(__file__).resolve().parents[2])
PASSIVE = {"canonical", "search", "index", "next", "prev", "genindex", "author", "help", "top", "up"}


@dataclass
class Page:
    """One page's addresses and anchors."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    without_alt: list[str] = field(default_factory=list)
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if given.get("id"):
            self.page.anchors.add(given["id"])
        if tag == "a" and given.get("name"):
            self.page.anchors.add(given["name"])
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        name = LOADED.get(tag)
        if name and given.get(name) and not set(given.get("rel", "").split()) & PASSIVE:
            self.page.loaded.append(given[name])
        if given.get("data-src"):  # loaded by the site's own script, once it comes into view
            self.page.loaded.append(given["data-src"])
        if tag == "img" and not given.get("alt"):
            self.page.without_alt.append(given.get("src", ""))


def read(path: Path) -> Page:
    reader = _Reader()
    reader.page.text = path.read_text(encoding="utf-8")
    reader.feed(reader.page.text)
    return reader.page


def problems(root: Path, ignored: tuple[str, ...] = ("_live", "_static")) -> list[str]:
    """Every dead internal link, picture without words, outside request and place on the builder's disk of a built site.

    Warnings of code that a page runs come with such a place.
    """
    pages = {
        path.resolve(): read(path)
        for path in root.rglob("*.html")
        if path.relative_to(root).parts[0] not in ignored
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(root.resolve()).as_posix()
        for address in page.loaded:
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                found.append(f"{name} loads {address}")
            elif not address.startswith("data:") and not _target(path, address).exists():
                found.append(f"{name} loads {address}, which is not there")
        if PROJECT in page.text:
            found.append(f"{name} shows where it was built, perhaps in a warning")
        found += [f"{name} shows {image} without alt text" for image in page.without_alt]
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            target = _target(path, address) if parts.path else path
            if not target.exists():
                found.append(f"{name} links to {address}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {address}, which has no such place")
    return sorted(set(found))


def _target(page: Path, address: str) -> Path:
    target = (page.parent / unquote(urlsplit(address).path)).resolve()
    return target / "index.html" if target.is_dir() else target
