"""The example notebook, executed in Jupyter and in marimo and photographed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from browser import chromium_path
from optional import imported_later

ROOT = Path(__file__).parents[2]
for needed in ("nbconvert", "ipykernel", "marimo", "playwright"):
    imported_later(needed, reason=f"{needed} is not installed: make test-look installs it")

pytestmark = [pytest.mark.look, pytest.mark.other_processes, pytest.mark.filterwarnings("ignore")]


def test_both_show_every_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium_path()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    # In a process of its own: other tests' browsers keep a loop running in this one.
    subprocess.run(
        [sys.executable, "-m", "examples.notebook", str(tmp_path)], cwd=ROOT, check=True, timeout=240
    )
    page = (tmp_path / "first.html").read_text(encoding="utf-8")
    assert page.count("<table>") == 4  # two of the card, one of the effect, one of importances
    assert page.count("<img") == 2
    assert "Traceback" not in page
    for name in ("jupyter", "marimo"):
        with Image.open(tmp_path / f"{name}.png") as opened:
            ink = (np.asarray(opened.convert("L")) < 200).mean(axis=1)
        last = int(np.flatnonzero(ink)[-1])
        assert last > 1800  # all four outputs stand below each other
        assert (ink[:last] > 0).mean() > 0.5
