"""The page about clusters, block by block: what it says is printed, is printed."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "clusters.md"
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.M | re.S)
NEEDED = {"distributed": "dask", "pyspark": "spark", "ray": "ray"}

pytestmark = pytest.mark.timeout(240)


def blocks() -> list[str]:
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """What the blocks before have left."""
    return {}


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_page_says_what_is_printed(number, known, engine_of):
    block = blocks()[number]
    for module, engine in NEEDED.items():
        if f"import {module}" in block or f"from {module}" in block:
            engine_of(engine)
    said = "".join(f"{line[2:]}\n" for line in block.splitlines() if line.startswith("# "))
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(block, f"{PAGE.name}, block {number}", "exec"), known)
    assert printed.getvalue() == said


def test_every_engine_is_on_the_page():
    assert all(any(module in block for block in blocks()) for module in NEEDED)
