"""The widget in a real JupyterLab and a real marimo: every gesture, and the Explainer's numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from gestures import play_all

import notebooks

pytest.importorskip("anywidget", reason="needs anywidget: pip install -e '.[explore]'")

SOURCE = f"""import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from explored import rich_explainers
both = rich_explainers()
widget = both["large"].explore(beside={{"small": both["small"]}})
"""


@pytest.mark.timeout(600)
def test_in_jupyterlab(browser, tmp_path, monkeypatch):
    with notebooks.jupyterlab(browser, tmp_path, SOURCE + "widget", monkeypatch) as address:
        play_all(browser, address)


@pytest.mark.timeout(600)
def test_in_marimo(browser, tmp_path):
    with notebooks.marimo(browser, tmp_path, SOURCE + "shown = mo.ui.anywidget(widget)\nshown") as address:
        play_all(browser, address)
