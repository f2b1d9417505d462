"""From effects to a picture: what shares a panel, what stands side by side, and on which axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from icefield.effect import Effect
from icefield.errors import InputError, did_you_mean
from icefield.plots.oneway import one_way_panel
from icefield.plots.options import Options
from icefield.plots.panels import Panel, Picture, bands_note, with_shared_values
from icefield.plots.series import OVERLAID, Series, pattern, viewed
from icefield.plots.surfaces import surface_scale
from icefield.plots.twoway import chosen_kind, two_way_panel
from icefield.wording.labels import average_note, joined, value_label
from icefield.wording.names import NAME_LIMIT, distinct_texts, name_text, title_text
from icefield.wording.values import named_value

SMALL = (3.3, 2.7)  # inches of a panel among others
KINDS = {"pd": "partial dependence", "ale": "accumulated local effects"}
GROUP_LIMIT = 40  # letters of a group
SMALL_LEVELS, SMALL_TEXT, SMALL_FEW = 10, 16, 4  # what fits below a panel among others


def effect_picture(effect: Effect, options: Options) -> Picture:
    """One effect, with its outputs and groups."""
    effect = viewed(effect, options)
    if effect.n_features > 2:
        raise InputError(
            f"An effect of {effect.n_features} features has no picture. Hint: draw two of them at a time, "
            "or use to_frame()."
        )
    outputs = chosen_outputs(effect, options)
    names = distinct_texts([_group_text(effect, label) for label in effect.groups], GROUP_LIMIT)
    groups = dict(zip(names, effect.groups.values()))
    if effect.n_features == 2:
        return _surfaces(_facets(effect, outputs, groups, options), effect, options, len(outputs) == 1)
    side = _side_by_side(effect, outputs, groups, options)
    panels = []
    if side == "all":
        for title, s in _facets(effect, outputs, groups, options):
            panels.append(replace(one_way_panel([s], s.effect, options, len(outputs) == 1), title=title))
    elif side == "outputs":
        for output in outputs:
            series = _group_series(output, groups) if groups else [Series(effect, output)]
            title = name_text(effect.outputs[output])
            panel = one_way_panel(series, effect, options, False, _by_text(effect) if groups else "")
            panels.append(replace(panel, title=title))
    else:
        series = [s for output in outputs for s in _overlaid(effect, output, outputs, groups)]
        count = len(series)
        series = [replace(s, colour=i % OVERLAID, dashed=pattern(i, count)) for i, s in enumerate(series)]
        legend_title = _by_text(effect) if groups and len(outputs) == 1 else ""
        panels = [one_way_panel(series, effect, options, len(outputs) == 1, legend_title)]
    return _arrange(panels, options)


def comparison_picture(effects: Mapping[str, Effect], options: Options) -> Picture:
    """The same question asked of several models."""
    # Views of one model (`Explainer.conditional`) are called by their kind.
    shown = {
        name_text(KINDS.get(name, name) if name == effect.kind else name, 40): viewed(effect, options)
        for name, effect in effects.items()
    }
    first = next(iter(shown.values()))
    outputs = chosen_outputs(first, options)
    if first.n_features == 2:
        facets = [
            (_titled(name, first, output, outputs), Series(effect, output))
            for output in outputs
            for name, effect in shown.items()
        ]
        return _surfaces(facets, first, options, len(outputs) == 1)
    panels = []
    side = options.layout == "side" or any(_draws_curves(e, options) for e in shown.values())
    for output in outputs:
        series = [
            Series(effect, output, label=name, colour=i % OVERLAID, dashed=pattern(i, len(shown)))
            for i, (name, effect) in enumerate(shown.items())
        ]
        named = len(outputs) == 1
        if side:
            panels += [
                replace(
                    one_way_panel([replace(curve, label=None)], curve.effect, options, named),
                    title=_titled(curve.label or "", first, output, outputs),
                )
                for curve in series
            ]
        else:
            title = "" if named else name_text(first.outputs[output])
            panels.append(replace(one_way_panel(series, first, options, named), title=title))
    return _arrange(panels, options)


def many_picture(effects: Sequence[Effect], options: Options) -> Picture:
    """Small multiples, in the order given, on one y axis."""
    panels: list[Panel] = []
    if not effects:
        raise InputError.about("features", "leaves nothing to draw", list(effects))
    shown = [viewed(effect, options) for effect in effects]
    for effect in shown:
        # Counts below the levels' names are too much for small panels.
        data = options.data if effect.ordered[0] else "none"
        top = options.top
        if top is None and not effect.ordered[0] and len(effect.grid[0]) > SMALL_LEVELS + 2:
            top = SMALL_LEVELS
        small = replace(options, title=None, ax=None, layout="overlay", center=None, data=data, top=top)
        picture = effect_picture(effect, small)
        panels += [_small(panel) for panel in picture.panels]
    picture = _arrange(panels, options)
    if picture.panel_size == SMALL and any(len(text) > SMALL_TEXT // 2 for p in panels for text in p.x.ticks):
        # Slanted names take their room below.
        picture = replace(picture, panel_size=(SMALL[0], SMALL[1] + 0.7))
    alike = {value_label(e, 0) for e in shown}
    note = joined(average_note(shown[0]), bands_note(picture.panels))
    return replace(picture, note=note, share_y=options.share_y and len(alike) == 1)


def _small(panel: Panel) -> Panel:
    """A panel among others: upright, and with names of levels that leave room for the curve."""
    few = len(panel.x.ticks) <= SMALL_FEW
    ticks = tuple(distinct_texts(panel.x.ticks, 2 * SMALL_TEXT if few else SMALL_TEXT))
    return replace(panel, note="", flip=False, x=replace(panel.x, ticks=ticks))


def chosen_outputs(effect: Effect, options: Options) -> list[int]:
    """Positions of the outputs to draw."""
    if options.outputs is None:
        return list(range(len(effect.outputs)))
    wanted = options.outputs
    wanted = list(wanted) if isinstance(wanted, (list, tuple, set)) else [wanted]
    names = list(effect.outputs)
    positions, texts = [], [str(n) for n in names]
    for name in wanted:
        if name not in names and str(name) not in texts:
            raise InputError.about("outputs", "names no output", name, did_you_mean(name, names))
        positions.append(names.index(name) if name in names else texts.index(str(name)))
    if not positions:
        raise InputError.about(
            "outputs", "must name at least one output", options.outputs, did_you_mean("", names)
        )
    return positions


# --- faceting --------------------------------------------------------------------------------------


def _draws_curves(effect: Effect, options: Options) -> bool:
    return effect.individual is not None and options.curves != "none"


def _side_by_side(effect: Effect, outputs: list[int], groups: Mapping[str, Effect], options: Options) -> str:
    """What stands side by side: ``"all"``, the ``"outputs"`` or ``"nothing"``."""
    if options.layout == "overlay":
        return "nothing"
    if options.layout == "side":
        return "all"
    if _draws_curves(effect, options) and (
        len(outputs) > 1 or any(g.individual is not None for g in groups.values())
    ):
        return "all"
    both = len(outputs) > 1 and len(groups) > 0
    return "outputs" if both or len(outputs) > OVERLAID else "nothing"


def _facets(
    effect: Effect, outputs: list[int], groups: Mapping[str, Effect], options: Options
) -> list[tuple[str, Series]]:
    """A title and a series for every output and group; narrow pictures name the group only."""
    if not groups:
        titled = len(outputs) > 1
        return [(name_text(effect.outputs[o]) if titled else "", Series(effect, o)) for o in outputs]
    by = _by_text(effect, 30) + " = " if effect.by and not options.is_small else ""
    return [
        (_titled(by + label, effect, output, outputs), Series(group, output))
        for output in outputs
        for label, group in groups.items()
    ]


def _by_text(effect: Effect, limit: int = NAME_LIMIT) -> str:
    return name_text(effect.naming.name(effect.by) or "", limit) if effect.by else ""


def _group_text(effect: Effect, label: Any) -> str:
    return named_value(label, effect.naming, effect.by, lambda v: name_text(v, 400), unit=False)


def _titled(name: str, effect: Effect, output: int, outputs: list[int]) -> str:
    return name if len(outputs) == 1 else f"{name_text(effect.outputs[output], 30)}, {name}"


def _overlaid(effect: Effect, output: int, outputs: list[int], groups: Mapping[str, Effect]) -> list[Series]:
    several = len(outputs) > 1
    name = name_text(effect.outputs[output], 40)
    if not groups:
        return [Series(effect, output, label=name if several else None)]
    return [
        replace(curve, label=f"{name}, {curve.label}" if several else curve.label)
        for curve in _group_series(output, groups)
    ]


def _group_series(output: int, groups: Mapping[str, Effect]) -> list[Series]:
    return [
        Series(group, output, label=label, colour=i % OVERLAID, dashed=pattern(i, len(groups)))
        for i, (label, group) in enumerate(groups.items())
    ]


def _surfaces(facets: list[tuple[str, Series]], whole: Effect, options: Options, named: bool) -> Picture:
    if options.x_scale == "log":
        raise InputError.about("x_scale", "is for pictures of one feature", options.x_scale, "leave it out")
    series = [s for _, s in facets]
    scale = surface_scale(series, options, named)
    if len(facets) > 1 and options.data == "auto":
        options = replace(options, data="none")  # histograms on every edge would drown small panels
    panels = [two_way_panel(s, s.effect, options, scale, named, title) for title, s in facets]
    lines = chosen_kind(whole, options) == "lines"
    return _arrange(panels, options, share_y=lines)


def _arrange(panels: Sequence[Panel], options: Options, share_y: bool = True) -> Picture:
    """Panels in rows of at most four, on one y axis where they show the same quantity."""
    count = len(panels)
    share = share_y and options.share_y and count > 1 and len({p.flip for p in panels}) == 1
    shown = with_shared_values(tuple(panels)) if share else tuple(panels)
    columns = count if count <= 3 else 2 if count == 4 else 3 if count <= 12 else 4
    size, flipped = SMALL if count > 1 else None, any(p.flip for p in panels)
    if flipped:
        most = max(len(p.x.ticks) for p in panels)
        lines = max(text.count("\n") + 1 for p in panels for text in p.x.ticks or ("",))
        each = 0.27 + 0.15 * (lines - 1)
        size = (6.4 if count == 1 else SMALL[0] + 1.0, max(3.2, 1.3 + each * most))
    if options.title is not None and count == 1:
        shown = (replace(shown[0], title=title_text(options.title)),)
    title = title_text(options.title) if count > 1 else ""
    return Picture(
        shown, columns, title=title, note=bands_note(shown) if count > 1 else "",
        share_y=share and not flipped, share_x=share and flipped, panel_size=size,
    )  # fmt: skip
