"""How an Effect, or several of them side by side, looks when printed: a few lines of text, a small table in a notebook."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.counts import counted
from icefield.wording.labels import quantity
from icefield.wording.names import abbreviated, name_text
from icefield.wording.values import named_value, number_text, printed_value

if TYPE_CHECKING:
    from icefield.effect import Effect

NAMES = {
    "pd": "Partial dependence",
    "ice": "Individual conditional expectation",
    "ale": "Accumulated local effects",
}
VIEWS = {"centered": ", centred", "derivative": ", slope"}
SHOWN = 7
LISTED = 30  # effects of a mapping
SPARK_POINTS = 16  # characters of a curve


def effect_title(effect: Effect) -> str:
    """What the effect is, in one line."""
    name = NAMES.get(effect.kind, effect.kind) + VIEWS.get(effect.view, "")
    outputs = ", ".join(str(o) for o in effect.outputs[:4]) + (", ..." if len(effect.outputs) > 4 else "")
    names = "" if outputs == effect.scale_label else f" ({outputs})"
    what = f"{effect.scale_label}{names}"
    if effect.naming.target is not None and len(effect.outputs) == 1:
        what = quantity(effect, 0)
    return f"{name} of {what} on {_names(effect)}"


def effect_text(effect: Effect) -> str:
    """Title, range, how it was computed, and the first values of a one-way curve."""
    shape = " x ".join(str(n) for n in effect.average.shape[1:])
    lines = [effect_title(effect)]
    for number, output in enumerate(effect.outputs[:4]):
        finite = effect.average[number][~np.isnan(effect.average[number])]
        span = f"from {_number(finite.min())} to {_number(finite.max())}" if finite.size else "no value"
        lines.append(f"  {output}: {span} over {shape} grid points")
    if effect.n_features == 1:
        for value, average in _few_points(effect):
            lines.append(f"    {value:>12}  {_number(average)}")
    if (ends := effect.interval) is not None:
        lines.append(
            f"  {ends.level:.0%} intervals of this learner's expected curve at {counted(ends.n_rows)} rows, from {ends.n_refits} refits on "
            "halves; bias against the truth is not covered"
        )
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
    """The picture and a small table, for notebooks; every name is escaped."""
    rows = "".join(html_row([escape(value), _number(average)]) for value, average in _few_points(effect))
    table = _table([escape(str(effect.naming.name(effect.features[0]))), "average"], rows) if rows else ""
    how = f"{counted(effect.n_rows)} {effect.over}, {effect.engine} engine: {effect.why}"
    cautions = "".join(f"<p>{escape(text)}</p>" for text in _cautions(effect))
    return f"<p><b>{escape(effect_title(effect))}</b></p>{_image(effect)}{table}{cautions}<p><small>{escape(how)}</small></p>"


def _image(effect: Effect) -> str:
    """The picture as an image, where an effect has one: it takes values, and at most two features."""
    if effect.n_features > 2 or not np.isfinite(effect.average).any():
        return ""
    from icefield.effect.drawable import effect_image

    encoded = b64encode(effect_image(effect)).decode("ascii")
    alt = escape(effect_title(effect), quote=True)
    return f'<img class="icefield-picture" alt="{alt}" style="max-width: 100%; width: auto" src="data:image/png;base64,{encoded}">'


# --- several effects, and an Explainer -----------------------------------------------------------------


def effects_text(effects: Mapping[Any, Effect]) -> str:
    """One line for each effect: its feature, its curve in a few characters, and from where to where it goes."""
    if not effects:
        return "Effects of no feature"
    names = [abbreviated(_names(effect), 30) for effect in effects.values()]
    width = min(30, max(map(len, names)))
    lines = [_effects_title(effects)]
    for name, effect in list(zip(names, effects.values()))[:LISTED]:
        low, high = _ends(effect)
        lines.append(f"  {name:<{width}}  {blocks(effect):<{SPARK_POINTS}}  {low} to {high}".rstrip())
    if len(effects) > LISTED:
        lines.append(f"  ... and {counted(len(effects) - LISTED)} more")
    lines.append("  .plot() draws them; a key gives one: effects[" + repr(next(iter(effects))) + "]")
    return "\n".join(lines)


def effects_html(effects: Mapping[Any, Effect]) -> str:
    """Several effects as an HTML table with sparklines, for notebooks."""
    if not effects:
        return f"<p>{effects_text(effects)}</p>"
    listed = list(effects.values())[:LISTED]
    rows = "".join(_effect_row(effect, _reach(listed)) for effect in listed)
    more = f"<p>... and {counted(len(effects) - LISTED)} more</p>" if len(effects) > LISTED else ""
    table = _table(["feature", "curve", "lowest", "highest"], rows, "lrrr")
    key = escape(repr(next(iter(effects))))
    how = f"<code>.plot()</code> draws them; <code>effects[{key}]</code> is one."
    return f"<p><b>{_effects_title(effects)}</b></p>{table}{more}<p><small>{how}</small></p>"


def _effects_title(effects: Mapping[Any, Effect]) -> str:
    first = next(iter(effects.values()))
    what = "features" if first.n_features == 1 else "pairs"
    return f"{NAMES.get(first.kind, first.kind)} of {counted(len(effects))} {what}"


def _effect_row(effect: Effect, reach: float) -> str:
    return html_row([escape(_names(effect)), sparkline(effect, reach), *_ends(effect)], "lrrr")


def _reach(effects: list[Effect]) -> float:
    """The widest range of any first output's average: small curves share one scale, so that a weak effect looks weak."""
    finite = [effect.average[0][np.isfinite(effect.average[0])] for effect in effects]
    return float(max((np.ptp(values) for values in finite if len(values)), default=0.0))


def html_row(cells: list[str], sides: str = "", tag: str = "td") -> str:
    """A row of a table; `sides` has an l for each cell whose text begins at its left. Not every notebook puts room between cells."""
    row = ""
    for cell, side in zip(cells, sides.ljust(len(cells), "r")):
        aligned = "left" if side == "l" else "right"
        row += f'<{tag} style="text-align: {aligned}; padding: 0.25em 0.6em">{cell}</{tag}>'
    return f"<tr>{row}</tr>"


def _table(head: list[str], rows: str, sides: str = "") -> str:
    return f"<table><thead>{html_row(head, sides, 'th')}</thead><tbody>{rows}</tbody></table>"


def explainer_html(described: str, effects: list[Effect], note: str) -> str:
    """A card for notebooks: what is explained, the features that move predictions most with their curves, and what to ask next."""
    table = ""
    if effects:
        rows = "".join(_effect_row(effect, _reach(effects)) for effect in effects)
        table = _table(["feature", "average prediction", "lowest", "highest"], rows, "lrrr")
        table += f"<p><small>{escape(note)}</small></p>"
    feature = repr(effects[0].features[0]) if effects else '"feature"'
    calls = [
        (f"ex.partial_dependence({feature}).plot()", "one curve"),
        ("ex.summary()", "every feature in words"),
        ("ex.plot()", "the features that matter most"),
        ("ex.interactions().plot()", "which features act together"),
        ('ex.report("report.html")', "everything, in one file"),
    ]
    call_rows = "".join(html_row([f"<code>{escape(call)}</code>", what], "ll") for call, what in calls)
    return f"<p><b>{escape(described)}</b></p>{table}<table><tbody>{call_rows}</tbody></table>"


def sparkline(effect: Effect, reach: float) -> str:
    """The first output's average as a small SVG, in which `reach` is full height; nothing for pairs."""
    if effect.n_features != 1:
        return ""
    values = effect.average[0]
    finite = np.isfinite(values)
    if finite.sum() < 2:
        return ""
    low, high = values[finite].min(), values[finite].max()
    up = np.where(finite, 0.5 + (values - (low + high) / 2) / reach if reach > 0 else 0.5, np.nan)
    wide, high_px = 120, 28
    x = np.linspace(2, wide - 2, len(values))
    y = high_px - 3 - (high_px - 6) * up
    if effect.ordered[0]:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[finite], y[finite]))
        shapes = f'<polyline points="{points}" fill="none" stroke="#0072B2" stroke-width="1.8"/>'
    else:
        bar = max(1.5, (wide - 4) / len(values) * 0.7)
        shapes = "".join(
            f'<rect x="{a - bar / 2:.1f}" y="{b:.1f}" width="{bar:.1f}" height="{high_px - b:.1f}" fill="#0072B2"/>'
            for a, b in zip(np.linspace(2 + bar / 2, wide - 2 - bar / 2, len(values))[finite], y[finite])
        )
    return f'<svg role="img" aria-label="curve" width="{wide}" height="{high_px}" viewBox="0 0 {wide} {high_px}">{shapes}</svg>'


def blocks(effect: Effect) -> str:
    """The first output's average in a few characters; nothing for pairs."""
    if effect.n_features != 1:
        return ""
    values = effect.average[0][np.isfinite(effect.average[0])]
    if len(values) < 2 or np.ptp(values) == 0:
        return "▄" * min(SPARK_POINTS, len(values))
    sampled = values[np.unique(np.linspace(0, len(values) - 1, SPARK_POINTS).round().astype(int))]
    return "".join("▁▂▃▄▅▆▇█"[int(v)] for v in (sampled - values.min()) / np.ptp(values) * 7.999)


def _names(effect: Effect) -> str:
    return " x ".join(str(effect.naming.name(feature)) for feature in effect.features)


def _ends(effect: Effect) -> tuple[str, str]:
    finite = effect.average[0][np.isfinite(effect.average[0])]
    return (_number(finite.min()), _number(finite.max())) if finite.size else ("–", "–")


def comparison_text(effects: Mapping[Any, Effect]) -> str:
    """What is compared and, of one feature on one grid, a few values of every model and where they differ most."""
    names = [name_text(name, 30) for name in effects]
    first, *rest = effects.values()
    title = f"Comparison of {len(effects)} effects of {name_text(tuple(map(first.naming.name, first.features)))}: {', '.join(names)}"
    shapes = {effect.average.shape for effect in effects.values()}
    if first.n_features != 1 or len(shapes) > 1 or any(_points(e) != _points(first) for e in rest):
        return title
    widths = [max(10, len(name)) for name in names]
    lines = [f"    {'':>12}  " + "  ".join(f"{name:>{width}}" for name, width in zip(names, widths))]
    for i in _few(len(first.grid[0])):
        values = [_number(effect.average[0, i]) for effect in effects.values()]
        cells = "  ".join(f"{value:>{width}}" for value, width in zip(values, widths))
        lines.append(f"    {_point(first, i):>12}  {cells}")
    averages = np.stack([effect.average[0] for effect in effects.values()])
    ranges = np.ptp(averages, axis=0)
    if len(effects) > 1 and np.nanmax(ranges, initial=0.0) > 0:
        position = int(np.nanargmax(ranges))
        ends = [f"{name} {_number(value)}" for name, value in zip(names, averages[:, position])]
        lines.append(f"  furthest apart at {_point(first, position)}: {', '.join(ends)}")
    return "\n".join([title, *lines])


def _cautions(effect: Effect) -> list[str]:
    """Warnings of an effect's support, where it was computed."""
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
    """A few positions, evenly spaced from the first to the last."""
    return np.unique(np.linspace(0, size - 1, min(SHOWN, size)).round().astype(int)).tolist()


def _point(effect: Effect, position: int) -> str:
    return named_value(effect.grid[0][position], effect.naming, effect.features[0], printed_value)


def _points(effect: Effect) -> list[str]:
    return [str(value) for value in effect.grid[0]]


def _number(value: float) -> str:
    return number_text(float(value), 4)
