"""What stands beside the pages: ``llms.txt``, the list of versions, and the way in from the site's root.

    python docs/_site/pages.py FOLDER

writes the list and the way in again for a folder of built versions.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>icefield</title>
<meta http-equiv="refresh" content="0; url={folder}/index.html">
<p><a href="{folder}/index.html">icefield's documentation</a></p></html>
"""


def versions(root: Path) -> list[str]:
    """The versions built below a folder, newest first, with the one in the making last."""
    found = [path.name for path in root.iterdir() if (path / "index.html").exists()]
    numbered = [name for name in found if name[:1].isdigit()]
    numbered.sort(
        key=lambda name: [int(part) if part.isdigit() else -1 for part in name.split(".")], reverse=True
    )
    return numbered + sorted(set(found) - set(numbered))


def write_root(root: Path) -> None:
    """The list that every version's menu reads, and a page that leads to the newest."""
    names = versions(root)
    (root / "versions.js").write_text(f"window.ICEFIELD_VERSIONS = {json.dumps(names)};\n", encoding="utf-8")
    (root / "index.html").write_text(ROOT_PAGE.format(folder=names[0]), encoding="utf-8")


def _first_sentence(doctree: Any) -> str:
    from docutils import nodes

    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, (nodes.section, nodes.document)):
            return " ".join(paragraph.astext().split()).split(". ")[0].rstrip(".:") + "."
    return ""


def _finished(app: Any, exception: Any) -> None:
    if exception is not None or app.builder.name != "html":
        return
    out, env = Path(app.outdir), app.env
    lines = [
        "# icefield",
        "",
        "> How a fitted model responds to its features: partial dependence, ICE, ALE, interactions and reports for any "
        "fitted model and any data frame, exactly and fast for tree ensembles.",
        "",
        "Python 3.11 or later. There is no release yet: `pip install .` in a checkout. One object answers every question: `icefield.Explainer(model, X)`.",
        "",
    ]
    for heading, prefixes in SHELVES.items():
        names = [
            name
            for name in sorted(env.found_docs)
            if any(name == p or name.startswith(f"{p}/") for p in prefixes)
        ]
        if names:
            lines += [f"## {heading}", ""]
            for name in names:
                title = env.titles[name].astext()
                lines.append(f"- [{title}]({name}.html): {_first_sentence(env.get_doctree(name))}")
            lines.append("")
    (out / "llms.txt").write_text("\n".join(lines), encoding="utf-8")
    write_root(out.parent)


SHELVES = {
    "Begin": ["start", "which-plot", "guide", "limits"],
    "Concepts": ["concepts"],
    "Tutorials": ["tutorials"],
    "How to": ["notebooks", "plots", "statistics", "report", "cli"],
    "Coming from": ["migration", "coming-from"],
    "Reference": ["api", "generated/reference", "matrix", "performance", "measured"],
    "Gallery": ["generated/gallery"],
    "For contributors": ["architecture", "style", "contributing", "decisions", "changelog"],
}


def setup(app: Any) -> dict[str, Any]:
    app.connect("build-finished", _finished, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write_root(Path(sys.argv[1]))
