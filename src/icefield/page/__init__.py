"""What pages are drawn with: one script module, built from `page/` of the repository, and the schemas of what it is given.

``draw.js`` is the ES module ``draw(element, panel, view)`` for any page, ``report.js`` the report's script with it inside, and
``panel.schema.json`` says what a picture is when it comes from Python (`icefield.plots.schema`), ``report.schema.json`` what a
report's script is given, ``forest.schema.json`` a model that a page evaluates.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["built"]

HERE = Path(__file__).parent


@cache
def built(name: str) -> str:
    """The text of one of the files, such as ``"report.js"``."""
    return (HERE / name).read_text(encoding="utf-8")
