"""A real browser for tests: Debian's Chromium, driven over its own debugging pipe.

The protocol is JSON between NUL bytes on two file descriptors, so nothing has to be installed or
downloaded beside the browser itself. Console errors, exceptions and every network request are recorded.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60.0


def chromium_path() -> str:
    """The browser's path, or a skipped test that says why."""
    found = next((p for p in map(shutil.which, NAMES) if p), None)
    if found is None:
        pytest.skip("no Chromium on this machine: install Debian's chromium to run browser tests")
    return found


class Browser:
    """One headless page."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self._folder = tempfile.mkdtemp(prefix="icefield-browser-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        path = chromium_path()
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   "--remote-debugging-pipe", f"--user-data-dir={self._folder}", f"--window-size={width},{height}",
                   "about:blank"]  # fmt: skip
        # The browser reads descriptor 3 and writes 4; the copies keep clear of those numbers meanwhile.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (to_browser, from_browser)]
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        moved = [(os.POSIX_SPAWN_DUP2, ends[0], 3), (os.POSIX_SPAWN_DUP2, ends[1], 4)]
        self._pid = os.posix_spawn(path, command, os.environ, file_actions=[*quiet, *moved])
        for fd in (to_browser, from_browser, *ends):
            os.close(fd)
        self._buffer, self._number = b"", 0
        self._colours: list[dict[str, str]] = []
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.downloads = Path(self._folder) / "downloads"
        self.downloads.mkdir()
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable", page=True)
        self._ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    # --- the page ------------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        """Open a file and wait until its script has run."""
        self.problems.clear()
        self.requests.clear()
        self._ask("Page.navigate", page=True, url=path.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def run(self, code: str) -> Any:
        """Evaluate an expression in the page (as a debugger: the page's policy does not apply)."""
        found = self._ask(
            "Runtime.evaluate", page=True, expression=code, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def wait(self, condition: str, seconds: float = SECONDS) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if self.run(condition):
                return
            time.sleep(0.05)
        raise AssertionError(f"never came true: {condition}; problems: {self.problems}")

    def press(self, key: str, code: int = 0, text: str | None = None) -> None:
        """One key, as a keyboard would send it."""
        down: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
        if text is not None:
            down["text"] = text
        self._ask("Input.dispatchKeyEvent", page=True, type="keyDown" if text else "rawKeyDown", **down)
        self._ask("Input.dispatchKeyEvent", page=True, type="keyUp", key=key, windowsVirtualKeyCode=code)

    def point(self, x: float, y: float) -> None:
        """Move the pointer there."""
        self._ask("Input.dispatchMouseEvent", page=True, type="mouseMoved", x=x, y=y)

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
        self._ask("Emulation.setDeviceMetricsOverride", page=True, width=width, height=height,
                  deviceScaleFactor=1, mobile=touch)  # fmt: skip
        self._colours = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._ask(
            "Emulation.setEmulatedMedia",
            page=True,
            media="print" if paper else "screen",
            features=self._colours,
        )

    def screenshot(self, path: Path, whole: bool = False) -> None:
        found = self._ask("Page.captureScreenshot", page=True, captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Print. A medium chosen before would hold on paper too, so it goes first."""
        self._ask("Emulation.setEmulatedMedia", page=True, media="", features=self._colours)
        found = self._ask("Page.printToPDF", page=True, printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def block(self, *addresses: str) -> None:
        """Let requests for these addresses fail; none by default."""
        self._ask("Network.setBlockedURLs", page=True, urls=list(addresses))

    def close(self) -> None:
        with contextlib.suppress(OSError, AssertionError):
            self._ask("Browser.close")
        ends = time.monotonic() + 10
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > ends:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.05)
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- the protocol --------------------------------------------------------------------------

    def _ask(self, method: str, page: bool = False, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if page:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        ends = time.monotonic() + SECONDS
        while True:
            answer = self._next(ends)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return dict(answer.get("result", {}))
            self._note(answer)

    def _next(self, ends: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, ends - time.monotonic()))
            if not ready:
                raise AssertionError("the browser did not answer in time")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise OSError("the browser ended")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        method, found = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(found["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and found["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console: {json.dumps(found['args'])[:500]}")
        elif method == "Log.entryAdded" and found["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {found['entry']['text'][:500]}")
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {found['message']}")
            self._ask("Page.handleJavaScriptDialog", page=True, accept=True)
        elif method == "Network.requestWillBeSent":
            address = found["request"]["url"]
            if not address.startswith(("data:", "blob:", "about:")):
                self.requests.append(address)
