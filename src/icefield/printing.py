"""How an Effect looks when printed: a few lines of text, a small table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from icefield.wording.labels import quantity
from icefield.wording.values import named_value, number_text, printed_value

if TYPE_CHECKING:
    from icefield.effect import Effect

NAMES = {
    "pd": "Partial dependence",
    "ice": "Individual conditional expectation",
    "ale": "Accumulated local effects",
}
SHOWN = 7


def effect_title(effect: Effect) -> str:
    """What the effect is, in one line."""
    name = NAMES.get(effect.kind, effect.kind)
    if effect.view == "centered":
        name += ", centred"
    elif effect.view == "derivative":
        name += ", slope"
    outputs = ", ".join(str(o) for o in effect.outputs[:4]) + (", ..." if len(effect.outputs) > 4 else "")
    shown = "" if outputs == effect.scale_label else f" ({outputs})"
    what = f"{effect.scale_label}{shown}"
    if effect.naming.target is not None and len(effect.outputs) == 1:
        what = quantity(effect, 0)
    return f"{name} of {what} on {' x '.join(str(effect.naming.name(f)) for f in effect.features)}"


def effect_text(effect: Effect) -> str:
    """Title, range, how it was computed, and the first values of a one-way curve."""
    shape = " x ".join(str(n) for n in effect.average.shape[1:])
    lines = [effect_title(effect)]
    for number, output in enumerate(effect.outputs[:4]):
        known = effect.average[number][~np.isnan(effect.average[number])]
        span = f"from {_number(known.min())} to {_number(known.max())}" if known.size else "no value"
        lines.append(f"  {output}: {span} over {shape} grid points")
    if effect.n_features == 1:
        for value, average in _few_points(effect):
            lines.append(f"    {value:>12}  {_number(average)}")
    if effect.individual is not None and effect.over == "rows":
        lines.append(f"  {effect.individual.shape[1]:,} individual curves kept")
    if effect.groups:
        lines.append(f"  by {effect.by}: {', '.join(printed_value(label) for label in effect.groups)}")
    lines += [f"  {text}" for text in _cautions(effect)]
    lines.append(
        f"  {effect.n_rows:,} {effect.over}, {effect.background} background, {effect.engine} engine: {effect.why}"
    )
    return "\n".join(lines)


def effect_html(effect: Effect) -> str:
    """The same for notebooks; every name is escaped."""
    rows = "".join(
        f"<tr><td>{escape(value)}</td><td>{_number(average)}</td></tr>"
        for value, average in _few_points(effect)
    )
    table = (
        f"<table><tr><th>{escape(str(effect.naming.name(effect.features[0])))}</th><th>average</th></tr>{rows}</table>"
        if rows
        else ""
    )
    how = f"{effect.n_rows:,} {effect.over}, {effect.engine} engine: {effect.why}"
    cautions = "".join(f"<p>{escape(text)}</p>" for text in _cautions(effect))
    return f"<p><b>{escape(effect_title(effect))}</b></p>{table}{cautions}<p><small>{escape(how)}</small></p>"


def _cautions(effect: Effect) -> list[str]:
    """What the data does not support, where that was looked at."""
    support = effect.support
    if support is None:
        return []
    low = int(np.sum(support.low))
    points = f"little data at {low:,} of {support.low.size:,} grid points" if low else ""
    return [text for text in (support.warning, points) if text]


def _few_points(effect: Effect) -> list[tuple[str, float]]:
    if effect.n_features != 1:
        return []
    size = len(effect.grid[0])
    at = np.unique(np.linspace(0, size - 1, min(SHOWN, size)).round().astype(int))
    naming, feature = effect.naming, effect.features[0]
    return [
        (named_value(effect.grid[0][i], naming, feature, printed_value), float(effect.average[0, i]))
        for i in at
    ]


def _number(value: float) -> str:
    return number_text(float(value), 4)
