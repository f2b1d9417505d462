"""Individual curves: which of them to draw, in which colours, and which to emphasise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.data.columns import is_missing_value
from icefield.effect import Effect
from icefield.errors import InputError, did_you_mean
from icefield.plots.coordinates import Coordinates, in_order
from icefield.plots.options import Options
from icefield.plots.palette import SEQUENTIAL
from icefield.plots.panels import Colour, ColourScale, Curves, Dots, Field, Float, Line, Mark, Shade
from icefield.plots.series import Series, pattern
from icefield.wording.labels import feature_label
from icefield.wording.names import name_text
from icefield.wording.values import named_value

LEGIBLE = 300  # curves; more merge into a solid grey, whatever their ink
FEW_VALUES = 8
DENSITY_CELLS = (40, 160)  # columns and rows of a density raster: few for few curves


@dataclass(frozen=True, eq=False)
class Colouring:
    """Colours of the curves: one per curve from the palette, or a value each on a scale."""

    slots: tuple[Colour, ...] | None = None
    values: Float | None = None
    scale: ColourScale | None = None
    legend: tuple[tuple[str, Colour], ...] = ()
    title: str = ""


def individual_marks(
    series: Series, at: Float, places: Coordinates, options: Options
) -> tuple[list[Mark], list[Mark], Colouring, str]:
    """Marks below the average, marks above it, how the curves are coloured, and a note.

    `at` are the places of the grid points.
    """
    curves = series.individual
    if curves is None or options.curves == "none" or len(curves) == 0:
        return [], [], Colouring(), ""
    stepped = series.effect.steps and places.ordered
    x, order = drawn_points(at, places, stepped)
    step: Literal["pre"] | None = "pre" if stepped else None
    above = _highlights(series, x, order, step, options)
    if options.curves == "density" and places.ordered and len(order) > 1:
        field = _density(x, curves[:, order], places.log, options)
        return [field], above, Colouring(scale=field.scale), f"density of {counted(len(curves))} curves"
    below: list[Mark] = []
    chosen = _sample(len(curves), options)
    if len(chosen) < len(curves) and options.color_by is None and places.ordered and len(order) > 1:
        field = _density(x, curves[:, order], places.log, options)
        shade = np.clip(np.nan_to_num(field.z) / (field.scale.high or 1.0), 0.0, 1.0)
        below.append(Shade(field.x, field.y, shade))
    colouring = _colouring(series, chosen, options)
    coloured = colouring.slots is not None or colouring.values is not None
    alpha = float(np.clip(12.0 / len(chosen) ** 0.75, 0.015, 0.6))
    colour: Colour = "muted" if series.label is None else series.colour
    shared: dict[str, Any] = {
        "colour": colour,
        "slots": colouring.slots,
        "values": colouring.values,
        "scale": colouring.scale,
        "alpha": min(0.8, 2 * alpha) if coloured else alpha,
    }
    width = float(np.clip(12 / np.sqrt(len(chosen)), 0.45, 1.0))
    below.append(Curves(x, curves[np.ix_(chosen, order)], step=step, width=width, **shared))
    below += [
        Line(np.empty(0), np.empty(0), colour=slot, label=text, width=1.2) for text, slot in colouring.legend
    ]
    if places.missing is not None and series.effect.missing_last[0]:
        gone = curves[chosen, -1]
        below.append(Dots(np.full(len(gone), places.missing), gone, size=0.5, **shared))
    many = f"{counted(len(chosen))} curves"
    if len(chosen) < len(curves):
        many = f"{counted(len(chosen))} of {counted(len(curves))} curves, sampled"
        many += "; shade: where all of them run" if isinstance(below[0], Shade) else ""
    return below, above, colouring, many


def drawn_points(at: Float, places: Coordinates, stepped: bool) -> tuple[Float, NDArray[np.intp]]:
    """The known points from left to right: their places and their numbers in the grid.

    A step holds back to the previous point, and the first one to the panel's edge.
    """
    order = in_order(at)
    order = order[at[order] <= places.high]
    if not stepped or len(order) < 2:
        return at[order], order
    edge = places.beyond(at[order[0]], -0.03)
    return np.append(edge, at[order]), np.append(order[0], order)


def _sample(count: int, options: Options) -> NDArray[np.intp]:
    """Positions of as many curves as can be told apart, sampled with a fixed seed: every n-th row may be a weekday."""
    limit = options.max_curves or LEGIBLE
    if count <= limit:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, limit, replace=False))


def _density(x: Float, y: Float, log: bool, options: Options) -> Field:
    """The share of curves that pass through each cell of a fine raster."""
    cells = int(np.clip(2.5 * np.sqrt(len(y)), *DENSITY_CELLS))
    fine = (np.geomspace if log else np.linspace)(x[0], x[-1], cells + 1)
    centres = (fine[:-1] + fine[1:]) / 2
    right = np.clip(np.searchsorted(x, centres), 1, max(1, len(x) - 1))
    share = (centres - x[right - 1]) / np.where(x[right] > x[right - 1], x[right] - x[right - 1], 1.0)
    heights = y[:, right - 1] * (1 - share) + y[:, right] * share
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    edges = np.linspace(low, high if high > low else low + 1.0, cells + 1)
    counts = np.stack([np.histogram(column[np.isfinite(column)], edges)[0] for column in heights.T], axis=1)
    z = 100.0 * counts / len(y)
    scale = ColourScale(0.0, float(np.quantile(z[z > 0], 0.99)), "% of curves", cmap=options.cmap, ink=0)
    return Field(fine, edges, np.where(z > 0, z, np.nan), scale)


# --- colours ---------------------------------------------------------------------------------------


def _colouring(series: Series, chosen: NDArray[np.intp], options: Options) -> Colouring:
    if options.color_by is None:
        return Colouring()
    values = _row_values(series.effect, options.color_by)[chosen]
    naming = series.effect.naming
    name = feature_label(naming, options.color_by)
    gone = np.array([is_missing_value(v) for v in values])
    known = values[~gone]
    numeric = values.dtype.kind in "fiumM"
    if numeric and len(np.unique(known)) > FEW_VALUES:
        numbers = np.full(len(values), np.nan)
        time = values.dtype.kind == "M"
        if time:
            known = known.astype("datetime64[us]").astype(np.int64) / 86_400e6
        numbers[~gone] = known.astype(np.float64)
        # A few extreme rows must not push all others into one colour.
        low, high = np.quantile(numbers[~gone], [0.02, 0.98])
        if low == high:
            low, high = numbers[~gone].min(), numbers[~gone].max()
        scale = ColourScale(float(low), float(high), name, cmap=options.cmap or SEQUENTIAL, time=time)
        return Colouring(values=numbers, scale=scale)
    texts = np.array([named_value(v, naming, options.color_by, unit=False) for v in values], dtype=object)
    names, counts = np.unique(texts[~gone], return_counts=True)
    frequent = set(names)
    if not numeric and len(names) > FEW_VALUES:
        frequent = set(names[np.argsort(-counts, kind="stable")[: FEW_VALUES - 1]])
    ordered = sorted(frequent, key=lambda n: _natural(known, texts[~gone], n))
    slot_of: dict[str, Colour] = {text: i for i, text in enumerate(ordered)}
    slots = tuple(slot_of.get(text, "muted") for text in texts)
    legend: list[tuple[str, Colour]] = [(text, slot_of[text]) for text in ordered]
    if len(frequent) < len(names) or gone.any():
        legend.append(("other" if not gone.any() else "missing or other", "muted"))
    return Colouring(slots=slots, legend=tuple(legend), title=name)


def _natural(values: NDArray[Any], texts: NDArray[Any], text: str) -> Any:
    """A sort key: numbers in their own order, anything else by its text."""
    value = values[int(np.flatnonzero(texts == text)[0])]
    return (0, float(value), "") if values.dtype.kind in "fiub" else (1, 0.0, text)


def _row_values(effect: Effect, column: Any) -> NDArray[Any]:
    known = effect.row_values or {}
    if column not in known:
        hint = did_you_mean(column, known) if known else "compute it with Explainer.ice(...)"
        raise InputError.about(
            "color_by", "names a column whose values this effect does not carry", column, hint
        )
    return np.asarray(known[column])


# --- highlighted rows ------------------------------------------------------------------------------


def _highlights(
    series: Series, x: Float, order: NDArray[np.intp], step: Literal["pre"] | None, options: Options
) -> list[Mark]:
    if options.highlight is None or series.individual is None:
        return []
    marks: list[Mark] = []
    named = _highlighted_curves(series.effect, options.highlight)
    for number, (label, row) in enumerate(named, start=1):
        y, dashed = series.individual[row][order], pattern(number, len(named) + 1)
        marks.append(Line(x, y, colour=number, label=label, width=1.1, step=step, dashed=dashed))
    return marks


def _highlighted_curves(effect: Effect, wanted: Any) -> list[tuple[str, int]]:
    """Labels and numbers of the curves to emphasise."""
    rows = np.arange(len(effect.individual[0])) if effect.rows is None else effect.rows  # type: ignore[index]
    where = {int(row): i for i, row in enumerate(rows)}
    if isinstance(wanted, Mapping):
        items = list(wanted.items())
    else:
        listed = [wanted] if isinstance(wanted, (str, int, np.integer)) else list(wanted)
        items = [(None, item) for item in listed]
    curves = []
    for label, item in items:
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            if int(item) not in where:
                raise InputError.about("highlight", "names a row whose curve was not kept", item,
                                    f"compute it with Explainer.ice(..., rows=[{item}, ...])")  # fmt: skip
            text = name_text(label) if label is not None else f"row {counted(int(item))}"
            curves.append((text, where[int(item)]))
        else:
            curves.append((name_text(label if label is not None else item, 40), _row_named(effect, item)))
    return curves


def _row_named(effect: Effect, name: Any) -> int:
    """The one kept row that has this value in some column."""
    texts: set[str] = set()
    for values in (effect.row_values or {}).values():
        listed = np.asarray(values)
        if listed.dtype != object and listed.dtype.kind not in "US":
            continue
        hits = [i for i, v in enumerate(listed.tolist()) if v == name]
        if len(hits) == 1:
            return hits[0]
        if len(hits) > 1:
            raise InputError.about(
                "highlight", f"names {len(hits)} of the kept rows", name, "pass a row's position in X"
            )
        texts.update(v for v in listed.tolist() if isinstance(v, str))
    raise InputError.about("highlight", "names no kept row", name,
                        did_you_mean(name, sorted(texts)) if texts else "pass a row's position in X")  # fmt: skip
