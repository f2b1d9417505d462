"""The widget in a real JupyterLab and a real marimo: it shows, recomputes on a gesture, and gives the Explainer's numbers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from explored import data

pytest.importorskip("anywidget", reason="needs anywidget: pip install -e '.[explore]'")

HERE = Path(__file__).parent
SOURCE = f"import sys; sys.path.insert(0, {str(HERE)!r})\nfrom explored import explainer\n"
HOST = "(() => { const seek = (root) => { for (const one of root.querySelectorAll('*')) { if (one.explorer) return one.explorer; if (one.shadowRoot) { const found = seek(one.shadowRoot); if (found) return found; } } return null; }; return seek(document); })()"


def _port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _started(command, address, folder):
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data"),
                   "JUPYTER_RUNTIME_DIR": str(folder / "run"), "IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder),
                   "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder)}  # fmt: skip
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    for _ in range(400):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return process
        except OSError:
            time.sleep(0.25)
    process.kill()
    raise AssertionError((folder / "log.txt").read_text()[-2000:])


def _ended(process):
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()


def _explored(browser):
    """The widget answers a filter as the Explainer would."""
    browser.wait(f"{HOST}?.home.dataset.settled", 120)
    before = browser.run(f"Number({HOST}.home.dataset.settled)")
    browser.run(f"{HOST}.filter(0, {{ge: 50}}, true)")
    browser.wait(f"Number({HOST}.home.dataset.settled) > {before}", 120)
    assert browser.run(f"{HOST}.data.count") == (data()[0]["age"] >= 50).sum()
    browser.run(f"{HOST}.change(0, 30.5)")
    browser.wait(f"{HOST}.asker.quiet('row')", 60)
    assert browser.run(f"{HOST}.state.values['0']") == 30.5


def test_in_jupyterlab(browser, tmp_path, monkeypatch):
    pytest.importorskip("jupyterlab", reason="needs jupyterlab: pip install -e '.[look]'")
    import jupyterlab
    import nbformat

    # Where pip put the application when it was told a folder of its own; elsewhere Jupyter finds it by itself.
    shared = Path(jupyterlab.__file__).parents[1] / "share" / "jupyter"
    if (shared / "lab").is_dir():
        monkeypatch.setenv("JUPYTER_PATH", str(shared))
        monkeypatch.setenv("JUPYTERLAB_DIR", str(shared / "lab"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOURCE + "explainer().explore()")])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, tmp_path / "explore.ipynb")
    port = _port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=secret", f"--ServerApp.root_dir={tmp_path}", "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]  # fmt: skip
    process = _started(command, f"http://127.0.0.1:{port}/api", tmp_path)
    try:
        browser.look(width=1400, height=1000)
        browser.visit(f"http://127.0.0.1:{port}/lab/tree/explore.ipynb?token=secret&reset")
        browser.wait("document.querySelector('.jp-Notebook .jp-Cell')")
        browser.wait(
            "document.querySelector('.jp-KernelName, .jp-Toolbar-kernelName')?.textContent.includes('Python 3')"
        )
        browser.wait("document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'")
        browser._page.locator(".jp-Notebook .jp-Cell .cm-content").first.click()
        browser._page.keyboard.press("Shift+Enter")
        _explored(browser)
    finally:
        browser.visit("about:blank")
        _ended(process)


def test_in_marimo(browser, tmp_path):
    pytest.importorskip("marimo", reason="needs marimo: pip install -e '.[look]'")
    (tmp_path / "explore.py").write_text(
        "import marimo\napp = marimo.App()\n\n@app.cell\ndef _():\n"
        + "".join(f"    {line}\n" for line in SOURCE.splitlines())
        + "    import marimo as mo\n    shown = mo.ui.anywidget(explainer().explore())\n    shown\n    return\n\nif __name__ == '__main__':\n    app.run()\n"
    )
    port = _port()
    command = [
        sys.executable,
        "-m",
        "marimo",
        "run",
        "explore.py",
        "--headless",
        "--no-token",
        "-p",
        str(port),
    ]
    process = _started(command, f"http://127.0.0.1:{port}/health", tmp_path)
    try:
        browser.look(width=1400, height=1000)
        browser.visit(f"http://127.0.0.1:{port}/")
        _explored(browser)
    finally:
        browser.visit("about:blank")
        _ended(process)
