"""Real notebooks for tests of what they show: a JupyterLab and a marimo, each in a process of its own, opened in the browser."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def _started(command: list[str], address: str, folder: Path) -> Iterator[None]:
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data"),
                   "JUPYTER_RUNTIME_DIR": str(folder / "run"), "IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder),
                   "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder)}  # fmt: skip
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(400):
            assert process.poll() is None, (folder / "log.txt").read_text()[-2000:]
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address, timeout=5).close()
                break
            time.sleep(0.25)
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@contextlib.contextmanager
def jupyterlab(browser: Browser, folder: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A notebook of one cell, opened and run; gives the address that all it needs must come from."""
    lab = pytest.importorskip("jupyterlab", reason="needs jupyterlab: pip install -e '.[look]'")
    nbformat = pytest.importorskip("nbformat")
    # Where pip put the application when it was told a folder of its own; elsewhere Jupyter finds it by itself.
    shared = Path(lab.__file__).parents[1] / "share" / "jupyter"
    if (shared / "lab").is_dir():
        monkeypatch.setenv("JUPYTER_PATH", str(shared))
        monkeypatch.setenv("JUPYTERLAB_DIR", str(shared / "lab"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, folder / "shown.ipynb")
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=secret", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]  # fmt: skip
    with _started(command, f"http://127.0.0.1:{port}/api", folder):
        browser.look(width=1900, height=1400)
        browser.visit(f"http://127.0.0.1:{port}/lab/tree/shown.ipynb?token=secret&reset")
        browser.wait("document.querySelector('.jp-Notebook .jp-Cell')")
        browser.wait(
            "document.querySelector('.jp-KernelName, .jp-Toolbar-kernelName')?.textContent.includes('Python 3')"
        )
        browser.wait("document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'")
        browser._page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
        browser._page.keyboard.press("Shift+Enter")
        yield f"http://127.0.0.1:{port}/"
        browser.visit("about:blank")


@contextlib.contextmanager
def marimo(browser: Browser, folder: Path, source: str) -> Iterator[str]:
    """A marimo application of one cell whose last line is shown; gives the address that all it needs must come from."""
    pytest.importorskip("marimo", reason="needs marimo: pip install -e '.[look]'")
    cell = "".join(f"    {line}\n" for line in source.splitlines())
    (folder / "shown.py").write_text(
        f"import marimo\napp = marimo.App()\n\n@app.cell\ndef _():\n    import marimo as mo\n{cell}    return\n\nif __name__ == '__main__':\n    app.run()\n"
    )
    port = free_port()
    command = [sys.executable, "-m", "marimo", "run", "shown.py", "--headless", "--no-token", "-p", str(port)]
    with _started(command, f"http://127.0.0.1:{port}/health", folder):
        browser.look(width=1900, height=1400)
        browser.visit(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}/"
        browser.visit("about:blank")
