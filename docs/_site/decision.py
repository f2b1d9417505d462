"""The decision picture: from a question to the plot that answers it, as one drawing whose ends are links.

It takes its colours from the page, so it follows the theme, and every box is text that can be read aloud and searched.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

GALLERY = {
    path.stem.removeprefix("plot_"): f"generated/gallery/{path.parent.name}/{path.stem}.html"
    for path in Path(__file__).parents[1].glob("gallery/*/plot_*.py")
}
BRANCHES: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("What does one feature do?", [
        ("on average", "one curve", "01_one_curve"),
        ("row by row", "individual curves", "10_ice"),
        ("it is correlated with others", "ALE beside PD", "24_pd_ale_observed"),
        ("it is a category", "dots per level", "07_few_levels"),
        ("where exactly it changes", "exact steps", "03_exact_steps"),
    ]),
    ("What do two do together?", [
        ("two numbers", "contours", "16_contour"),
        ("a number and a category", "lines per level", "19_number_by_category"),
        ("beyond their sum", "pure interaction", "20_pure_interaction"),
    ]),
    ("What matters at all?", [
        ("a ranking", "importance", "34_importance"),
        ("shapes at a glance", "small multiples", "33_small_multiples"),
        ("which features interact", "interaction matrix", "26_interaction_matrix"),
        ("all of it, for other readers", "a report", "31_report_from_the_shell"),
    ]),
    ("Is it the same for everyone?", [
        ("groups I know", "a curve per group", "21_subgroups"),
        ("groups I do not know", "regions", "27_regions"),
        ("one case", "a row highlighted", "15_one_row"),
    ]),
    ("Can I trust the curve?", [
        ("is there data?", "support shading", "25_support"),
        ("how sure is it?", "three bands", "02_three_bands"),
        ("does it fit what was observed?", "PD, ALE, observed", "24_pd_ale_observed"),
    ]),
    ("Do two models differ?", [
        ("on one axis", "two models", "28_two_models"),
        ("by how much", "their difference", "35_difference"),
    ]),
]  # fmt: skip
ROW, GAP, WIDTH = 34, 18, 920
COLUMNS = ((0, 250), (300, 250), (620, 220))  # question, case, answer: left edge and width


def drawing(link: str = "") -> str:
    parts: list[str] = []
    top = 10.0
    for question, cases in BRANCHES:
        height = len(cases) * ROW
        middle = top + height / 2
        parts.append(_box(COLUMNS[0], middle, question, "question"))
        for at, (case, answer, example) in enumerate(cases):
            y = top + (at + 0.5) * ROW
            start, end = COLUMNS[0][0] + COLUMNS[0][1], COLUMNS[1][0]
            parts.append(
                f'<path class="way" d="M{start} {middle} C{start + 28} {middle} {end - 28} {y} {end} {y}"/>'
            )
            parts.append(f'<text class="case" x="{end + 8}" y="{y + 5}">{html.escape(case)}</text>')
            left = COLUMNS[2][0]
            parts.append(f'<path class="way" d="M{end + COLUMNS[1][1] - 5} {y} L{left - 4} {y}"/>')
            box = _box(COLUMNS[2], y, answer, "answer")
            parts.append(f'<a href="{link}{GALLERY[example]}">{box}</a>')
        top += height + GAP
    title = "From a question to the plot that answers it: six questions, each with the cases in which a plot answers it"
    return (
        f'<div class="decision drawn"><svg viewBox="0 0 {WIDTH - 70} {top:.0f}" role="img" aria-label="{title}">'
        + "".join(parts)
        + "</svg></div>"
        + _listed(link)
    )


def _listed(link: str) -> str:
    """The same as questions to open, for screens on which the drawing would be too small to read or to tap."""
    parts = []
    for question, cases in BRANCHES:
        lines = "".join(
            f'<li>{html.escape(case)}: <a href="{link}{GALLERY[example]}">{html.escape(answer)}</a></li>'
            for case, answer, example in cases
        )
        parts.append(f"<details><summary>{html.escape(question)}</summary><ul>{lines}</ul></details>")
    return f'<div class="decision-list">{"".join(parts)}</div>'


def _box(column: tuple[int, int], y: float, text: str, kind: str) -> str:
    left, width = column
    return (
        f'<rect class="{kind}" x="{left + 1}" y="{y - 14}" width="{width - 2}" height="28" rx="7"/>'
        f'<text class="{kind}-text" x="{left + width / 2}" y="{y + 5}">{html.escape(text)}</text>'
    )


class Decision(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", drawing("../" * self.env.docname.count("/")), format="html")]


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("decision", Decision)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
