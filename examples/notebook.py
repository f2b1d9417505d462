"""One notebook, executed in Jupyter (``nbconvert --to html``) and in marimo, as pictures of what a reader sees.

    python examples/notebook.py [folder]

Writes the notebook for both, the executed page and a PNG of each. Needs nbconvert, ipykernel, marimo, playwright and the
system's Chromium; `docs/notebooks.md` shows the pictures.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

CELLS = (
    """import icefield
from sklearn.ensemble import HistGradientBoostingRegressor

bikes = icefield.datasets.bikes("pandas")
X, y = bikes[["hr", "temp", "hum", "windspeed", "workingday", "yr"]], bikes["cnt"]
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X, y, target_name="rentals", units={"hr": "time of day"})
ex""",
    """ex.partial_dependence("hr")""",
    """ex.importance()""",
    """ex.ice("hr", rows=300).plot(center=True, color_by="workingday")""",
)
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 900  # pixels


def jupyter_page(folder: Path) -> Path:
    """The notebook executed by a kernel of this Python, as HTML."""
    import nbformat

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbformat.write(book, folder / "first.ipynb")
    command = ["nbconvert", "--to", "html", "--execute", "--log-level", "WARN", "first.ipynb"]
    subprocess.run([sys.executable, "-m", *command], cwd=folder, check=True)
    return folder / "first.html"


def marimo_source(folder: Path) -> Path:
    """The same cells as a marimo notebook."""
    lines = ["import marimo", "", 'app = marimo.App(width="medium")', ""]
    for number, code in enumerate(CELLS):
        lines += ["", "@app.cell", f"def _({'' if number == 0 else 'ex'}):"]
        lines += [f"    {line}" if line else "" for line in code.split("\n")]
        lines += ["    return (ex,)" if number == 0 else "    return", ""]
    path = folder / "first_marimo.py"
    path.write_text(
        "\n".join([*lines, "", 'if __name__ == "__main__":', "    app.run()", ""]), encoding="utf-8"
    )
    return path


def photograph(address: str, path: Path, ready: str) -> None:
    """A PNG of a whole page once an expression in it is true."""
    from playwright.sync_api import sync_playwright

    browser = next(found for found in map(shutil.which, CHROMIUMS) if found)
    with sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = window.new_page(viewport={"width": WIDTH, "height": 2600})
        page.goto(address, wait_until="domcontentloaded")
        page.wait_for_function(ready, timeout=120_000)
        page.wait_for_timeout(1500)
        page.screenshot(path=path)
        window.close()


def photograph_marimo(source: Path, path: Path) -> None:
    """Run the notebook in marimo's own server and photograph it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "marimo", "run", source.name, "--headless", "--no-token", "-p", str(port)],
        cwd=source.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        photograph(f"http://127.0.0.1:{port}/", path, "document.querySelectorAll('img').length >= 2")
    finally:
        server.terminate()
        server.wait(timeout=20)


def main(folder: Path) -> None:
    """Write everything into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    page = jupyter_page(folder)
    photograph(
        page.resolve().as_uri(), folder / "jupyter.png", "document.querySelectorAll('img').length >= 2"
    )
    photograph_marimo(marimo_source(folder), folder / "marimo.png")
    print(f"jupyter.png and marimo.png in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "notebooks"))
