"""Formulas as MathML, which browsers draw by themselves: nothing is loaded for them."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml, pick_math_environment


def _mathml(text: str, block: bool) -> str:
    if block:
        environment = pick_math_environment(text)
        text = f"\\begin{{{environment}}}{text}\\end{{{environment}}}" if "\\\\" in text else text
    return latex2mathml.tex2mathml(text, as_block=block)


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_mathml(node.astext(), False))
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{_mathml(node.astext(), True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
