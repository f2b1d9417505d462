"""Pictures of summaries: importance bars, changes, the interaction matrix, PD against ALE, regions.

They take plain numbers and effects, or the result tables that carry these, and compute nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icefield.counts import counted
from icefield.data.naming import PLAIN, Naming
from icefield.effect import Effect, Spread
from icefield.errors import InputError, InputTypeError, did_you_mean
from icefield.plots.compose import SMALL, chosen_outputs
from icefield.plots.coordinates import Coordinates, in_order
from icefield.plots.oneway import one_way_panel
from icefield.plots.options import Options
from icefield.plots.panels import (
    Axis,
    Bars,
    ColourScale,
    Dots,
    EdgeText,
    Field,
    Float,
    Panel,
    Picture,
    Rule,
    Sparks,
    bands_note,
    value_range,
    with_shared_values,
)
from icefield.plots.series import Series
from icefield.wording.labels import average_note, joined, quantity, with_unit
from icefield.wording.names import name_text, title_text
from icefield.wording.values import number_text, printed_value

ALE_COLOUR = 3  # not the second of the palette, which a second group has
NUMBERED = 12  # features whose matrix has its numbers written in
SHOWN = 20  # bars or matrix rows when the user did not say
ALIASES = {"disagreement": "heterogeneity"}  # columns by what pictures call them
MEASURES = {
    "movement": "movement (SD of the predictions)",
    "strength": "average effect (SD of the predictions)",
    "heterogeneity": "disagreement (SD of the predictions)",
    "curve_sd": "SD of the average curve",
    "individual": "mean spread of rows' curves",
    "permutation": "permutation (added squared error)",
}


def importance_picture(table: Any, value: str | Sequence[str], options: Options) -> Picture:
    """Bars, longest first, in one colour; the small curve is the shape of the effect, which says its direction too.

    `table` maps features to numbers, or has ``columns`` (``feature``, the value, optionally ``output``)
    and optionally ``effects``. Several values stand side by side, in the order of the first.
    """
    values = [value] if isinstance(value, str) else list(value)
    if not values:
        raise InputError.about("value", "must name at least one column", value, 'write value="importance"')
    names, outputs, numbers = _importance_columns(table, values)
    kinds = list(dict.fromkeys(outputs))
    effects: Mapping[Any, Effect] = getattr(table, "effects", None) or {}
    naming: Naming = getattr(table, "naming", PLAIN)
    panels = []
    for output in kinds if options.outputs is None else _wanted(kinds, options.outputs):
        mine = [i for i, o in enumerate(outputs) if o == output]
        mine.sort(key=lambda i: -numbers[0][i] if np.isfinite(numbers[0][i]) else np.inf)
        mine = mine[: options.top or SHOWN]
        curves = [_shape(effects.get(names[i]), output) for i in mine]
        for place, column in enumerate(values):
            panel = _importance_panel(
                [naming.name(names[i]) for i in mine], numbers[place][mine],
                curves if place == len(values) - 1 else [], _measure_label(table, column),
                name_text(output) if len(kinds) > 1 and place == 0 else "",
            )  # fmt: skip
            panels.append(_with_shuffles(panel, table, column, mine))
    if options.title is not None and len(panels) == 1:
        panels = [replace(panels[0], title=title_text(options.title))]
    most = max((len(p.x.ticks) for p in panels), default=1)
    width = 6.4 if len(panels) == 1 else SMALL[0] + (1.6 if len(values) == 1 else 0.4)
    return Picture(
        tuple(panels),
        columns=min(3, len(panels)) if len(values) == 1 else len(values),
        title=title_text(options.title) if len(panels) > 1 else "",
        note=bands_note(panels) if len(panels) > 1 else "",
        # Features are named once where the bars beside them are theirs too.
        share_y=len(values) > 1 and len(panels) == len(values),
        panel_size=(width, max(2.6, 1.2 + 0.3 * most)),
    )


def _importance_columns(table: Any, values: Sequence[str]) -> tuple[list[Any], list[Any], list[Float]]:
    """Features, their outputs, and the numbers of each value."""
    if isinstance(table, Mapping):
        if len(values) > 1:
            raise InputError.about("value", "must be a single name where a mapping is drawn", list(values))
        return list(table), [None] * len(table), [np.array([float(v) for v in table.values()])]
    columns = getattr(table, "columns", None)
    if not isinstance(columns, Mapping) or "feature" not in columns:
        raise InputTypeError.about("table", "must be an importance table or a mapping of feature -> number", table,
                                "write plot_importance(explainer.importance())")  # fmt: skip
    for value in values:
        if ALIASES.get(value, value) not in columns:
            numeric = [n for n, v in columns.items() if np.asarray(v).dtype.kind in "fiu"]
            hint = did_you_mean(value, [*numeric, *ALIASES])
            if value == "permutation":
                hint = "give the Explainer observed targets: Explainer(model, X, y)"
            raise InputError.about("value", "names no column of numbers", value, hint)
    names = list(columns["feature"])
    outputs = list(columns["output"]) if "output" in columns else [None] * len(names)
    numbers = [np.asarray(columns[ALIASES.get(value, value)], dtype=np.float64) for value in values]
    return names, outputs, numbers


def _measure_label(table: Any, value: str) -> str:
    """What the bars are, and in what unit."""
    value = ALIASES.get(value, value)
    if not hasattr(table, "measure"):
        return value.replace("_", " ")
    value = table.measure if value == "importance" else value
    return MEASURES.get(value, value.replace("_", " "))


def _with_shuffles(panel: Panel, table: Any, value: str, mine: list[int]) -> Panel:
    """Permutation importance with its spread over shuffles."""
    if value != "permutation" or "permutation_std" not in table.columns:
        return panel
    bars, *rest = panel.marks
    half = np.asarray(table.columns["permutation_std"], dtype=np.float64)[mine]
    if not isinstance(bars, Bars) or not np.isfinite(half).any():
        return panel
    bars = replace(bars, low=bars.y - half, high=bars.y + half)
    low, high = value_range([bars]) or (0.0, 1.0)
    axis, note = replace(panel.y, low=min(0.0, low), high=high), "lines: ± 1 standard deviation over shuffles"
    return replace(panel, marks=(bars, *rest), y=axis, note=note, band=note)


def _wanted(known: list[Any], outputs: Any) -> list[Any]:
    listed = list(outputs) if isinstance(outputs, (list, tuple, set)) else [outputs]
    for name in listed:
        if name not in known:
            raise InputError.about("outputs", "names no output", name, did_you_mean(name, known))
    return listed


def _shape(effect: Effect | None, output: Any) -> tuple[Float, Float] | None:
    """The curve of a one-way effect, to be drawn tiny."""
    if effect is None or effect.n_features != 1:
        return None
    names = list(effect.outputs)
    which = names.index(output) if output in names else 0
    at = Coordinates([effect]).place(effect.grid[0])
    order = in_order(at)
    if len(order) < 2:
        return None
    x, y = at[order], effect.average[which][order]
    if effect.ordered[0]:
        return x, y
    # Levels have nothing between them: a step each.
    return np.column_stack([x - 0.5, x + 0.5]).ravel(), np.repeat(y, 2)


def _on_one_scale(curves: Sequence[tuple[Float, Float]]) -> tuple[tuple[Float, Float], ...]:
    """Curves with heights from 0 to 1, each around its own middle, of which only the one that moves most fills these."""
    ranges = [(np.nanmin(y), np.nanmax(y)) if np.isfinite(y).any() else (0.0, 0.0) for _, y in curves]
    widest = max(high - low for low, high in ranges)
    if not (np.isfinite(widest) and widest > 0):
        return tuple((x, np.full(len(y), 0.5)) for x, y in curves)
    return tuple((x, 0.5 + (y - (low + high) / 2) / widest) for (x, y), (low, high) in zip(curves, ranges))


def _importance_panel(
    names: Sequence[Any],
    heights: Float,
    curves: Sequence[tuple[Float, Float] | None],
    label: str,
    title: str,
) -> Panel:
    at = np.arange(len(names), dtype=np.float64)
    marks: list[Any] = [Bars(at, heights, width=0.62, colour=0)]
    with_curve = [i for i, curve in enumerate(curves) if curve is not None]
    if with_curve:
        shapes = _on_one_scale([curve for curve in curves if curve is not None])
        marks.append(Sparks(at[with_curve], shapes, "shape, one scale", (0,) * len(with_curve)))
    finite = heights[np.isfinite(heights)]
    low, high = (min(0.0, float(finite.min())), max(0.0, float(finite.max()))) if len(finite) else (0.0, 1.0)
    ticks = tuple(name_text(n, 40) for n in names)
    return Panel(
        x=Axis("", "category", -0.5, len(names) - 0.5, ticks),
        y=Axis(label, low=low, high=high if high > low else 1.0),
        marks=tuple(marks),
        title=title,
        flip=True,
    )


# --- changes ---------------------------------------------------------------------------------------


def change_picture(table: Any, options: Options) -> Picture:
    """Changes or slopes with their intervals, a row for all rows and for each group; a panel per output."""
    columns = table.columns
    kinds = list(dict.fromkeys(columns["output"]))
    title = options.title if options.title is not None else table.title
    note = f"lines: {table.interval}" if "conf_low" in columns else ""
    panels = []
    for output in kinds if options.outputs is None else _wanted(kinds, options.outputs):
        mine = np.flatnonzero(columns["output"] == output)[: 1 + (options.top or SHOWN)]
        at, estimate = np.arange(len(mine), dtype=np.float64), columns["estimate"][mine]
        low, high = (columns[name][mine] if note else None for name in ("conf_low", "conf_high"))
        dots = Dots(at, estimate, low=low, high=high)
        least, most = value_range([dots]) or (0.0, 1.0)
        panels.append(
            Panel(
                x=Axis("", "category", -0.5, len(mine) - 0.5,
                       tuple(name_text(printed_value(columns["group"][i]), 40) for i in mine)),
                y=Axis(table.unit, low=min(0.0, least), high=max(0.0, most)),
                marks=(Rule(y=0.0), dots),
                title=name_text(output) if len(kinds) > 1 else title_text(title),
                note=note,
                band=note,
                flip=True,
            )
        )  # fmt: skip
    rows = max(len(panel.x.ticks) for panel in panels)
    several = len(panels) > 1
    return Picture(
        tuple(panels),
        columns=min(3, len(panels)),
        title=title_text(title) if several else "",
        note=note if several else "",
        share_y=several,
        panel_size=(SMALL[0] + 1.0 if several else 6.4, max(2.2, 1.6 + 0.3 * rows)),
    )


# --- interactions ----------------------------------------------------------------------------------


def interactions_picture(table: Any, value: str, output: Any, options: Options) -> Picture:
    """The matrix of pairs, light to dark, with their numbers; what a feature has with all others stands beside its row."""
    names, matrix = _pairs(table, value, output)
    limit = options.top or SHOWN
    strength = np.nansum(np.where(np.eye(len(names), dtype=bool), 0, matrix), axis=1)
    strongest = np.argsort(-strength, kind="stable")[:limit]
    names, matrix = [names[i] for i in strongest], matrix[np.ix_(strongest, strongest)]
    count = len(names)
    lower = np.where(np.tri(count, k=-1, dtype=bool), matrix, np.nan)
    whole = np.diag(matrix)
    finite = lower[np.isfinite(lower)]
    high = float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    naming: Naming = getattr(table, "naming", PLAIN)
    label = value.replace("_", " ")
    if value == "strength" and naming.target_unit:
        label = f"strength ({name_text(naming.target_unit, 20)})"
    scale = ColourScale(min(0.0, float(finite.min(initial=0.0))), high, label, cmap=options.cmap, ink=0)
    edges = np.arange(count + 1, dtype=np.float64) - 0.5
    ticks = tuple(name_text(naming.name(n), 28) for n in names)
    axis = Axis("", "category", -0.5, count - 0.5, ticks)
    # In slides of twenty features the numbers would be smaller than print.
    numbers = count <= NUMBERED and (options.width is None or options.width / count > 0.4)
    field = Field(edges, edges, lower, scale, values=numbers)
    title = title_text(options.title)
    marks: list[Any] = [field]
    if np.isfinite(whole).any() and numbers:
        texts = tuple(number_text(value, 2) if np.isfinite(value) else "" for value in whole)
        marks.append(EdgeText(np.arange(count, dtype=np.float64), texts, "with all others"))
    # Numbers in the cells say what a colour bar would.
    panel = Panel(
        x=axis,
        y=axis,
        marks=tuple(marks),
        title=title,
        note=label if numbers else "",
        band=label if numbers else "",
        scale=None if numbers else scale,
    )
    side = max(4.2, 1.8 + 0.42 * count)
    return Picture((panel,), panel_size=(side + 1.4, side))


def _pairs(table: Any, value: str, output: Any) -> tuple[list[Any], Float]:
    if hasattr(table, "matrix") and hasattr(table, "features"):
        if value not in table.columns:
            raise InputError.about(
                "value", "names no column", value, did_you_mean(value, list(table.columns))
            )
        return list(table.features), np.asarray(table.matrix(value, output), dtype=np.float64)
    try:
        entries = {tuple(pair): float(number) for pair, number in table.items()}
        names = list(dict.fromkeys(name for pair in entries for name in pair))
    except (AttributeError, TypeError, ValueError) as error:
        raise InputTypeError.about("table", "must be an interactions table or a mapping of pair -> number", table,
                                "write plot_interactions(explainer.interactions())") from error  # fmt: skip
    matrix = np.full((len(names), len(names)), np.nan)
    for pair, number in entries.items():
        i, j = names.index(pair[0]), names.index(pair[-1])
        matrix[i, j] = matrix[j, i] = number
    return names, matrix


# --- PD against ALE --------------------------------------------------------------------------------


def pd_ale_picture(pd: Effect, ale: Effect, options: Options) -> Picture:
    """Partial dependence and accumulated local effects in one panel, both around their mean over the data."""
    if pd.n_features != 1 or ale.n_features != 1 or pd.features != ale.features:
        raise InputError.about("ale", f"must be the one-way ALE of {pd.features[0]!r}", ale.features,
                            f"write explainer.ale({pd.features[0]!r})")  # fmt: skip
    if ale.kind != "ale" or pd.kind == "ale":
        raise InputError.about("ale", "must have kind 'ale', and the other effect not", ale.kind)
    around = replace(around_mean(pd).averages_only(), spread=Spread(), groups={})
    other = replace(_within(ale, pd), groups={})
    panels = []
    outputs = chosen_outputs(pd, options)
    for output in outputs:
        series = [
            Series(around, output, label="partial dependence", colour=0),
            Series(other, output, label="accumulated local effects", colour=ALE_COLOUR, dashed=True),
        ]
        panel = one_way_panel(series, around, options, len(outputs) == 1)
        what = quantity(pd, output if len(outputs) == 1 else None)
        title = name_text(pd.outputs[output]) if len(outputs) > 1 else ""
        note = joined(average_note(pd), "both around their mean over the data")
        label = f"change in {with_unit(pd.naming, pd.scale_label, what)} from its\u00a0mean"
        panels.append(replace(panel, y=replace(panel.y, label=label), title=title, note=note))
    if options.title is not None and len(panels) == 1:
        panels = [replace(panels[0], title=title_text(options.title))]
    note = bands_note(panels) if len(panels) > 1 else ""
    return _side_by_side(panels, options, columns=min(3, len(panels)), note=note)


def _side_by_side(panels: Sequence[Panel], options: Options, **settings: Any) -> Picture:
    """Panels on one y axis, unless each is to have its own."""
    several = len(panels) > 1
    return Picture(
        with_shared_values(tuple(panels)) if options.share_y else tuple(panels),
        share_y=options.share_y and several,
        panel_size=SMALL if several else None,
        **settings,
    )


def _within(ale: Effect, pd: Effect) -> Effect:
    """ALE over the range of the PD only: beyond it, at the data's extremes, little is to be seen."""
    places = Coordinates([pd])
    if not places.ordered:
        return ale
    at = places.place(ale.grid[0])
    inside = np.isnan(at) | ((at >= places.low) & (at <= places.high))
    if np.isfinite(at[inside]).sum() < 2:
        return ale
    weight = ale.weight[inside] if ale.weight is not None and ale.weight.shape == at.shape else None
    # Spread and support are for the full grid, and are not drawn here.
    return replace(
        ale.averages_only(),
        grid=(ale.grid[0][inside],),
        average=ale.average[:, inside],
        spread=Spread(),
        backing=replace(ale.backing, weight=weight, support=None),
    )


def around_mean(effect: Effect) -> Effect:
    """A one-way effect minus its mean over the data, as ALE is centred."""
    weight = effect.weight
    known = slice(0, -1) if effect.missing_last[0] and len(effect.grid[0]) > 1 else slice(None)
    usable = weight is not None and weight.shape == effect.average.shape[1:] and weight[known].sum() > 0
    shares = np.asarray(weight)[known] if usable else np.ones(effect.average.shape[1:])[known]
    mean = effect.average[:, known] @ (shares / shares.sum())
    return replace(effect, average=effect.average - mean[:, None], view="centered", reference="mean")


# --- regions ---------------------------------------------------------------------------------------


def regions_picture(whole: Effect, regions: Mapping[Any, Effect], options: Options) -> Picture:
    """One panel per region: its curve, and the curve over all rows for comparison."""
    if not regions:
        raise InputError.about("regions", "holds no region", regions)
    if whole.n_features != 1:
        raise InputError("Regions are drawn for one feature. Hint: pass the one-way effect.")
    overall = replace(whole.averages_only(), spread=Spread(), groups={})
    output = chosen_outputs(whole, options)[0]
    panels = []
    for number, (label, effect) in enumerate(regions.items()):
        series = [
            Series(overall, output, label="all rows", colour="muted", dashed=True),
            Series(effect.averages_only(), output, label="region", colour=number % 8),
        ]
        panel = one_way_panel(series, effect, options, True)
        rows = f"{counted(effect.n_rows)}\u00a0rows"
        # Titles name the regions, so no legend is needed.
        every: list[Any] = list(panel.marks)
        marks = tuple(replace(m, label=None) if hasattr(m, "label") else m for m in every)
        panels.append(replace(panel, title=f"{name_text(label, 80)} ({rows})", marks=marks))
    count = len(panels)
    columns = count if count <= 3 else 2 if count == 4 else 3
    note = joined("dashed: all rows", bands_note(panels))
    return _side_by_side(panels, options, columns=columns, title=title_text(options.title), note=note)
