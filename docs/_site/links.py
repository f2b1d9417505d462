"""Names of the package in the text link to their reference; paths into the repository are told from pages."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.nodes import make_refnode


def _linked(app: Any, doctree: nodes.document, page: str) -> None:
    known = app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        if "xref" in literal.get("classes", ()) or isinstance(literal.parent, nodes.reference):
            continue
        text = literal.astext().removesuffix("()")
        name = text if text.startswith("icefield.") else f"icefield.{text}"
        entry = known.get(name)
        if entry is None or entry.docname == page:
            continue
        literal.replace_self(
            make_refnode(app.builder, page, entry.docname, entry.node_id, literal.deepcopy(), name)
        )


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-resolved", _linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
