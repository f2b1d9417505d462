"""Stored results as tables: what was measured, when, at which commit, by which command."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class Measured(SphinxDirective):
    required_arguments = 1
    option_spec = {"columns": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / "measured" / f"{self.arguments[0]}.json"
        self.env.note_dependency(str(path))
        kept = json.loads(path.read_text(encoding="utf-8"))
        return [nodes.raw("", as_html(kept), format="html")]


def as_html(kept: dict[str, Any]) -> str:
    head = "".join(f"<th>{_words(cell)}</th>" for cell in kept["columns"])
    body = "".join(
        "<tr>" + "".join(f"<td>{_words(cell)}</td>" for cell in row) + "</tr>" for row in kept["rows"]
    )
    said = (
        f"Measured on {kept['date']} at commit <code>{html.escape(kept['commit'])}</code> by "
        f"<code>{html.escape(kept['command'])}</code>: {html.escape(kept['note'])}."
    )
    return f'<div class="measured"><table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p class="said">{said}</p></div>'


def _words(cell: str) -> str:
    parts = html.escape(cell).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
