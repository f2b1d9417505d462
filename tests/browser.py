"""A real browser for tests: the system's Chromium, driven by playwright.

Console errors, exceptions, dialogs and every network request are recorded.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Download, Page, Request

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60.0


def chromium_path() -> str:
    """The browser's path, or a skipped test that says why."""
    found = next((p for p in map(shutil.which, NAMES) if p), None)
    if found is None:
        pytest.skip("no Chromium on this machine: install the system's chromium to run browser tests")
    return found


class Browser:
    """One headless window; `look` chooses its size and medium, `open` what it shows."""

    def __init__(self) -> None:
        path = chromium_path()
        playwright = pytest.importorskip(
            "playwright.sync_api", reason="needs playwright: pip install -e '.[look]'"
        )
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._folder = Path(tempfile.mkdtemp(prefix="icefield-browser-"))
        self.downloads = self._folder / "downloads"
        self.downloads.mkdir()
        self._driver = playwright.sync_playwright().start()
        self._chromium = self._driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        self._pages: dict[bool, Page] = {}
        self._page = self._window(touch=False)

    def _window(self, touch: bool) -> Page:
        """The page of a desk or of a phone: what a phone makes of a page cannot be changed later."""
        if touch not in self._pages:
            context = self._chromium.new_context(is_mobile=touch, accept_downloads=True)
            context.set_default_timeout(1000 * SECONDS)
            context.set_default_navigation_timeout(1000 * SECONDS)
            page = self._pages[touch] = context.new_page()
            page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"[:500]))
            page.on("console", self._note_console)
            page.on("dialog", self._note_dialog)
            page.on("download", self._save)
            page.on("request", self._note_request)
        return self._pages[touch]

    # --- the page ------------------------------------------------------------------------------

    def visit(self, address: str) -> None:
        """Open an address and wait until the page and all it loads at once are there; files of an earlier page go."""
        for path in self.downloads.iterdir():
            path.unlink()
        self.problems.clear()
        self.requests.clear()
        self._page.goto(address)

    def open(self, path: Path) -> None:
        """Open a file and wait until its script has run."""
        self.visit(path.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def run(self, code: str) -> Any:
        """Evaluate code in the page (as a debugger: the page's policy does not apply), for its last value.

        A function as the last value would be called: let another value follow it.
        """
        return self._page.evaluate(code)

    def wait(self, condition: str, seconds: float = SECONDS) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if self.run(f"Boolean({condition})"):
                return
            self._page.wait_for_timeout(50)
        raise AssertionError(f"never came true: {condition}; problems: {self.problems}")

    def press(self, key: str) -> None:
        """One key, as a keyboard would send it."""
        self._page.keyboard.press(key)

    def point(self, x: float, y: float) -> None:
        """Move the pointer there."""
        self._page.mouse.move(x, y)

    def look(
        self,
        *,
        dark: bool = False,
        width: int = 1280,
        height: int = 900,
        touch: bool = False,
        paper: bool = False,
    ) -> None:
        """Choose the medium, the colour scheme and the size of the window."""
        self._page = self._window(touch)
        self._page.set_viewport_size({"width": width, "height": height})
        self._page.emulate_media(
            media="print" if paper else "screen", color_scheme="dark" if dark else "light"
        )

    def pdf(self, path: Path) -> None:
        """Print. A medium chosen before would hold on paper too, so it goes first."""
        self._page.emulate_media(media="null")
        self._page.pdf(path=path, print_background=True, prefer_css_page_size=True)

    def block(self, *words: str) -> None:
        """Let requests for addresses with one of these words fail; none by default."""
        for page in self._pages.values():
            page.unroute_all()
            if words:
                page.route(lambda url: any(word in url for word in words), lambda route: route.abort())

    def close(self) -> None:
        self._chromium.close()
        self._driver.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- what happened -------------------------------------------------------------------------

    def _note_console(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert"):
            self.problems.append(f"console: {message.text}"[:500])

    def _note_dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.accept()

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:", "about:")):
            self.requests.append(request.url)

    def _save(self, download: Download) -> None:
        """Put a finished file, never a part of one, into `downloads`."""
        written = self._folder / download.suggested_filename
        download.save_as(written)
        written.replace(self.downloads / written.name)
