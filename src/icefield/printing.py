"""How an Effect looks when printed: a few lines of text, a small table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.columns import is_missing_value

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
    return f"{name} of {effect.scale_label}{shown} on {' x '.join(str(f) for f in effect.features)}"


def effect_text(effect: Effect) -> str:
    """Title, range, how it was computed, and the first values of a one-way curve."""
    shape = " x ".join(str(n) for n in effect.average.shape[1:])
    lines = [effect_title(effect)]
    for number, output in enumerate(effect.outputs[:4]):
        known = effect.average[number][~np.isnan(effect.average[number])]
        span = f"from {known.min():.4g} to {known.max():.4g}" if known.size else "no value"
        lines.append(f"  {output}: {span} over {shape} grid points")
    if effect.n_features == 1:
        for value, average in _few_points(effect):
            lines.append(f"    {value:>12}  {average:.4g}")
    if effect.individual is not None and effect.over == "rows":
        lines.append(f"  {effect.individual.shape[1]:,} individual curves kept")
    if effect.groups:
        lines.append(f"  by {effect.by}: {', '.join(value_text(label) for label in effect.groups)}")
    lines += [f"  {text}" for text in _cautions(effect)]
    lines.append(
        f"  {effect.n_rows:,} {effect.over}, {effect.background} background, {effect.engine} engine: {effect.why}"
    )
    return "\n".join(lines)


def effect_html(effect: Effect) -> str:
    """The same for notebooks; every name is escaped."""
    rows = "".join(
        f"<tr><td>{escape(value)}</td><td>{average:.4g}</td></tr>" for value, average in _few_points(effect)
    )
    table = (
        f"<table><tr><th>{escape(str(effect.features[0]))}</th><th>average</th></tr>{rows}</table>"
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
    return [(value_text(effect.grid[0][i]), float(effect.average[0, i])) for i in at]


def value_text(value: Any, digits: int = 6) -> str:
    """A grid value for people, numbers with so many digits.

    Examples
    --------
    >>> value_text(15.86437, 4), value_text(123456.7, 4), value_text(1e-7), value_text(None)
    ('15.86', '123,457', '1e-07', 'missing')
    """
    if is_missing_value(value):
        return "missing"
    if isinstance(value, np.datetime64):
        text = str(value)
        # Trailing zeros of a unit finer than the data needs say nothing.
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.removesuffix("T00:00:00").replace("T", " ")
    if not isinstance(value, (float, np.floating)):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 10**digits <= abs(number) < 1e15 else f"{number:.{digits}g}"


def range_texts(low: float, high: float) -> tuple[str, str]:
    """Both ends of a range, with as many digits as tell them apart well.

    Examples
    --------
    >>> range_texts(0.30164, 0.67312), range_texts(8314.2, 27945.0), range_texts(-4.77e-7, 2.868e-7)
    (('0.302', '0.673'), ('8,314', '27,945'), ('-4.77e-07', '2.87e-07'))
    >>> range_texts(3.0, 3.0), range_texts(float("nan"), 1.0)
    (('3', '3'), ('nan', '1'))
    """
    apart = abs(high - low)
    largest = max(abs(low), abs(high))
    if not np.isfinite(apart) or apart == 0 or largest >= 1e9 or largest < 1e-3:
        return f"{low:.3g}", f"{high:.3g}"
    decimals = int(np.clip(2 - np.floor(np.log10(apart)), 0, 6))
    return f"{low:,.{decimals}f}", f"{high:,.{decimals}f}"
