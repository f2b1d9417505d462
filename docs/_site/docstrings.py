"""The project's docstrings as reStructuredText: sections of ``name : what it is`` become fields."""

from __future__ import annotations

import re
import textwrap
from typing import Any

SECTIONS = ("Parameters", "Attributes", "Returns", "Examples", "Notes", "Yields", "Raises")
ENTRY = re.compile(r"^(?P<names>[*\w][\w*, ]*?) : (?P<text>.*)$")


def as_fields(lines: list[str]) -> list[str]:
    """The docstring's lines with its underlined sections turned into fields and lists."""
    parts = _split(lines)
    found = list(parts[0][1])
    for title, body in parts[1:]:
        if title in ("Parameters", "Raises"):
            found += ["", *_fields(body), ""]
        elif title in ("Attributes", "Returns"):
            found += ["", f"**{title}**", "", *_listed(body), ""]
        else:
            found += ["", f"**{title}**", "", *body, ""]
    return found


def _split(lines: list[str]) -> list[tuple[str, list[str]]]:
    parts: list[tuple[str, list[str]]] = [("", [])]
    skip = False
    for here, after in zip(lines, [*lines[1:], ""]):
        if skip:
            skip = False
        elif here.strip() in SECTIONS and set(after.strip()) == {"-"}:
            parts.append((here.strip(), []))
            skip = True
        else:
            parts[-1][1].append(here)
    return parts


def _entries(body: list[str]) -> list[tuple[str, list[str]]]:
    """Each entry's names and the lines that say what it is."""
    found: list[tuple[str, list[str]]] = []
    for line in textwrap.dedent("\n".join(body)).splitlines():
        entry = ENTRY.match(line)
        if entry:
            found.append((entry["names"], [entry["text"]]))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            found.append(("", [line]))
    return found


def _fields(body: list[str]) -> list[str]:
    lines = []
    for names, text in _entries(body):
        said = " ".join(part.strip() for part in text if part.strip())
        lines.append(f":param {names.replace('*', chr(92) + '*')}: {said}")
    return lines


def _listed(body: list[str]) -> list[str]:
    lines: list[str] = []
    for names, text in _entries(body):
        below = _entries(text[1:])
        if below and below[0][0]:  # the part's own fields
            lines += [f"* ``{names}``: {text[0]}", ""]
            for inner, words in below:
                lines.append(f"  * ``{inner}``: {' '.join(w.strip() for w in words if w.strip())}")
            lines.append("")
        else:
            said = " ".join(part.strip() for part in text if part.strip())
            lines.append(f"* ``{names}``: {said}" if names else f"* {said}")
    return lines


def _processed(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_fields(lines)


def _unsigned(app: Any, what: str, name: str, *rest: Any) -> tuple[str, str] | None:
    """Nobody builds tables and readings by hand: how they are built is left out."""
    return ("", "") if what == "class" and name.startswith("icefield.statistics.") else None


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _processed)
    app.connect("autodoc-process-signature", _unsigned)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
