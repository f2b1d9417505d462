"""How an Effect, or several of them side by side, looks when printed: a few lines of text, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.counts import counted
from icefield.wording.labels import quantity
from icefield.wording.names import name_text
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
        lines.append(f"  {counted(effect.individual.shape[1])} individual curves kept")
    if effect.groups:
        lines.append(f"  by {effect.by}: {', '.join(printed_value(label) for label in effect.groups)}")
    lines += [f"  {text}" for text in _cautions(effect)]
    lines.append(
        f"  {counted(effect.n_rows)} {effect.over}, {effect.background} background, {effect.engine} engine: {effect.why}"
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
    how = f"{counted(effect.n_rows)} {effect.over}, {effect.engine} engine: {effect.why}"
    cautions = "".join(f"<p>{escape(text)}</p>" for text in _cautions(effect))
    return f"<p><b>{escape(effect_title(effect))}</b></p>{table}{cautions}<p><small>{escape(how)}</small></p>"


def comparison_text(effects: Mapping[Any, Effect]) -> str:
    """What is compared and, of one feature on one grid, a few values of every model and where they differ most."""
    names = [name_text(name, 30) for name in effects]
    first, *others = effects.values()
    title = f"Comparison of {len(effects)} effects of {name_text(tuple(map(first.naming.name, first.features)))}: {', '.join(names)}"
    shapes = {effect.average.shape for effect in effects.values()}
    if first.n_features != 1 or len(shapes) > 1 or any(_points(e) != _points(first) for e in others):
        return title
    widths = [max(10, len(name)) for name in names]
    lines = [f"    {'':>12}  " + "  ".join(f"{name:>{width}}" for name, width in zip(names, widths))]
    for i in _few(len(first.grid[0])):
        values = [_number(effect.average[0, i]) for effect in effects.values()]
        cells = "  ".join(f"{value:>{width}}" for value, width in zip(values, widths))
        lines.append(f"    {_point(first, i):>12}  {cells}")
    averages = np.stack([effect.average[0] for effect in effects.values()])
    apart = np.ptp(averages, axis=0)
    if len(effects) > 1 and np.nanmax(apart, initial=0.0) > 0:
        at = int(np.nanargmax(apart))
        ends = [f"{name} {_number(value)}" for name, value in zip(names, averages[:, at])]
        lines.append(f"  furthest apart at {_point(first, at)}: {', '.join(ends)}")
    return "\n".join([title, *lines])


def _cautions(effect: Effect) -> list[str]:
    """What the data does not support, where that was looked at."""
    support = effect.support
    if support is None:
        return []
    low = int(np.sum(support.low))
    points = f"little data at {counted(low)} of {counted(support.low.size)} grid points" if low else ""
    return [text for text in (support.warning, points) if text]


def _few_points(effect: Effect) -> list[tuple[str, float]]:
    if effect.n_features != 1:
        return []
    return [(_point(effect, i), float(effect.average[0, i])) for i in _few(len(effect.grid[0]))]


def _few(size: int) -> list[int]:
    """A few places from the first to the last."""
    return np.unique(np.linspace(0, size - 1, min(SHOWN, size)).round().astype(int)).tolist()


def _point(effect: Effect, at: int) -> str:
    return named_value(effect.grid[0][at], effect.naming, effect.features[0], printed_value)


def _points(effect: Effect) -> list[str]:
    return [str(value) for value in effect.grid[0]]


def _number(value: float) -> str:
    return number_text(float(value), 4)
