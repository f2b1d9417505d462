"""One number with its error: what a stated change of features does to predictions, and slopes.

`change` moves every row from a start to an end and averages what that does to its prediction; `slope` is the same over a
small step around each row's own value, per unit. The error is that of averaging over rows: the model is taken as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.core.study import fold
from icefield.counts import counted
from icefield.data.columns import NUMERIC_KINDS, ORDERED_KINDS, TIME_KINDS, Column, is_missing_value
from icefield.data.distribution import weighted_quantiles
from icefield.data.features import check_levels, column_name
from icefield.data.given_values import given_values, time_value
from icefield.data.new_frames import frame_of
from icefield.effect import drawing
from icefield.errors import IcefieldError, InputError, InputTypeError, did_you_mean
from icefield.sampling import RowChoice, choose_rows, population_factor
from icefield.statistics.change_accumulator import (
    CHANGE,
    END,
    FALLS,
    RISES,
    START,
    Changes,
    Contrast,
    End,
    Fixed,
    Move,
    Shift,
    may_stay,
)
from icefield.statistics.row_space import grid_numbers
from icefield.statistics.support import MOVED_ROWS, moved_inside, surroundings
from icefield.statistics.tables import ResultTable, frameable, labels_column
from icefield.typing import Backend, Positions
from icefield.wording.labels import predicted_text, step_unit, with_unit
from icefield.wording.values import named_value, printed_value

if TYPE_CHECKING:
    from icefield.core.rows import Block
    from icefield.core.study import Study
    from icefield.data.features import Feature

ALL = "all rows"
QUANTILES = (0.05, 0.5, 0.95)
DERIVATIVE_STEP = 1e-3  # of the middle 90 % of the data
TREE_STEP = 0.1  # of the same: a step function has no derivative
TRIED_ROWS = 200  # by which a model is seen to be a step function
KEPT_SHARE = 4  # rows' values are kept up to this part of the memory budget


@dataclass(frozen=True, eq=False, repr=False)
class Change(ResultTable):
    """One row per output and group: the mean change over rows, its error, and how rows differ.

    Columns: ``output``, ``group``, ``start`` and ``end`` (mean predictions there; of a difference of changes, the two
    changes), ``estimate`` (the mean change, or slope), ``std_error``, ``conf_low``, ``conf_high``, ``sd`` (of rows'
    changes), ``rises`` and ``falls`` (shares of rows), quantiles of rows' changes, ``ratio`` (of the two means)
    with ``ratio_std_error``, and ``n_rows``. With ``spread=False`` only the columns of means.

    Attributes
    ----------
    outside : share of rows that lie outside the data at an end of the change, from a seeded sample of them
    step : of a slope, how far rows were moved, in the feature's own unit (days for times); None for a change
    interval : what ``conf_low`` and ``conf_high`` are the ends of, in words; empty without `spread`
    unit : what the estimates measure, for axes
    """

    outside: float
    step: float | None
    interval: str
    unit: str
    row_values: Mapping[str, NDArray[Any]] = field(repr=False)

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        hidden = {name for name in ("output", "group") if len(set(map(str, self.columns[name]))) == 1}
        hidden |= {"falls", "ratio_std_error"}
        if "group" not in hidden:  # which take room
            hidden |= {"start", "end"}
        return {name: values for name, values in self.columns.items() if name not in hidden}

    def rows(self) -> Any:
        """Every row's own values as a frame: its position, group, output, start, end and estimate.

        Of a stream, the rows are those of its sample.
        """
        if "sd" not in self.columns:
            raise InputError.about("spread", "was False, so no row's values were kept", False, "leave it out")
        return frame_of({name: frameable(values) for name, values in self.row_values.items()}, self.library)

    @drawing
    def plot(
        self,
        *,
        backend: Backend = "matplotlib",
        ax: Any = None,
        top: int | None = None,
        outputs: Any = None,
        title: str | None = None,
        colors: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Points with their intervals: all rows, then each group; a panel per output.

        Parameters
        ----------
        top : how many groups
        outputs : which outputs (names), all by default
        backend, ax, title, colors, figsize : as in `Effect.plot`
        """

    def _drawn(self, **options: Any) -> Any:
        from icefield.plots import plot_change

        return plot_change(self, **options)


def change(
    study: Study,
    feature: Any,
    start: Any = ...,
    end: Any = ...,
    *,
    plus: Any = None,
    times: Any = None,
    across: Mapping[Any, Any] | None = None,
    given: Sequence[Any] | None = None,
    quantiles: Any = QUANTILES,
    level: float = 0.95,
    spread: bool = True,
    rows: Any = None,
) -> Change:
    """What a stated change of one or several features does to predictions, over rows; see `Explainer.change`."""
    moves = _moves(study, feature, start, end, plus, times)
    other = () if across is None else _several_moves(study, _pairs("across", across), "across")
    moving = {column for move in moves for column in move.feature.columns}
    for move in other:
        if moving & set(move.feature.columns):
            raise InputError.about("across", "names a feature that changes already", move.feature.label)
    words = _moves_in_words(study, moves)
    title = f"Change in {_predicted(study)} as {words}"
    if other:
        title = f"Difference of changes in {_predicted(study)} as {words}: after {_moves_in_words(study, other)}, minus before"
    return _table(study, Contrast(moves, other), title, given, quantiles, level, spread, rows, None, ())


def slope(
    study: Study,
    feature: Any,
    *,
    step: Any = None,
    given: Sequence[Any] | None = None,
    quantiles: Any = QUANTILES,
    level: float = 0.95,
    spread: bool = True,
    rows: Any = None,
) -> Change:
    """The average slope of predictions along a feature, at rows' own values; see `Explainer.slope`."""
    (feature,) = study.resolve([feature])
    if feature.kind not in ORDERED_KINDS:
        raise InputError.about("feature", "must be a number or a time for a slope", feature.label,
                      f"write change({feature.label!r}, start, end)")  # fmt: skip
    whole, per, unit = feature.kind not in ("float",), 1.0, step_unit(study.naming, feature.label) or "unit"
    middle, limits = _spread(study, feature)
    if feature.kind in TIME_KINDS:
        day = np.array(1, "timedelta64[D]").astype(f"timedelta64[{_unit(study.column(feature))}]")
        per, unit = float(day.astype(np.int64)), "day"

    def contrast(size: float) -> Contrast:
        lower: float | int = size / 2
        if whole:
            size, lower = int(size), int(size) // 2
        return Contrast((Move(feature, Shift(-lower, 1, limits), Shift(size - lower, 1, limits)),), per=per)

    fine = max(2.0, DERIVATIVE_STEP * middle if feature.kind in TIME_KINDS else 2.0) if whole else DERIVATIVE_STEP * middle  # fmt: skip
    coarse = max(2.0, 2.0 * round(TREE_STEP * middle / 2)) if whole else TREE_STEP * middle
    if step is not None:
        size = _step_size(step, feature, study)
        what = "average change per"
    elif _is_stepped(study, contrast(fine), contrast(coarse)):
        size, what = coarse, "the model is a step function, so this is the average change per"
    else:
        size, what = fine, "average derivative (a central difference) per"
    size = float(int(size)) if whole else float(size)
    note = f"{what} {unit}, over a step of {printed_value(size / per)} around each row's own value, within the data"
    title = f"Slope of {_predicted(study)} along {study.naming.name(feature.label)}, per {unit}"
    return _table(study, contrast(size), title, given, quantiles, level, spread, rows, size / per, (note,))


# --- what was asked for ----------------------------------------------------------------------------------


def _moves(study: Study, feature: Any, start: Any, end: Any, plus: Any, times: Any) -> tuple[Move, ...]:
    """The moves that the arguments of `change` mean."""
    ends, shifts = [v for v in (start, end) if v is not ...], [v for v in (plus, times) if v is not None]
    if len(shifts) == 2:
        raise InputError.about("times", "cannot be given together with plus", times, "write one of them")
    if shifts and ends:
        named = "plus" if plus is not None else "times"
        raise InputError.about(named, "starts from each row's own value, so it cannot be combined with start and end", shifts[0],
                      "write one or the other")  # fmt: skip
    if not ends and not shifts and isinstance(feature, (Mapping, list)):
        return _several_moves(study, _pairs("feature", feature), "feature")
    if end is ... and not shifts:
        hint = "write start=... and end=..." + ("" if ends else ", or plus=..., or times=...")
        raise InputError.about("end", "is missing: the value to change to", ..., hint)
    (feature,) = study.resolve([feature])
    if shifts:
        return (Move(feature, Shift(), _shift(study, feature, plus, times)),)
    return (_fixed_move(study, feature, start, end, ("start", "end")),)


def _pairs(parameter: str, moves: Any) -> list[tuple[Any, Any]]:
    """Features with where each goes: of a mapping, or a list of (feature, start, end)."""
    if isinstance(moves, Mapping) and moves:
        return list(moves.items())
    if isinstance(moves, list) and moves and all(isinstance(a, tuple) and len(a) == 3 for a in moves):
        return [(feature, (start, end)) for feature, start, end in moves]
    raise InputTypeError.about(
        parameter, "must give values for each feature", moves, 'write {"age": (30, 50), "bmi": (24, 30)}'
    )


def _several_moves(study: Study, pairs: Sequence[tuple[Any, Any]], parameter: str) -> tuple[Move, ...]:
    features = study.resolve([name for name, _ in pairs])
    moves = []
    for feature, (_, way) in zip(features, pairs):
        if isinstance(way, Mapping) and len(way) == 1 and next(iter(way)) in ("plus", "times"):
            moves.append(
                Move(feature, Shift(), _shift(study, feature, way.get("plus"), way.get("times"), parameter))
            )
        elif isinstance(way, (tuple, list)) and len(way) == 2:
            moves.append(_fixed_move(study, feature, way[0], way[1], (parameter, parameter)))
        else:
            raise InputError.about(parameter, f"must be a pair of values for {feature.label!r}", way,
                          f"write {{{feature.label!r}: (start, end)}} or {{{feature.label!r}: {{'plus': 1}}}}")  # fmt: skip
    return tuple(moves)


def _fixed_move(study: Study, feature: Feature, start: Any, end: Any, names: tuple[str, str]) -> Move:
    """The Move from one value to another; ``...`` stands for the row's own."""
    column = study.column(feature)
    given = [(name, value) for name, value in zip(names, (start, end)) if value is not ...]
    for name, value in given:
        _check_value(study, feature, column, name, value)
    values = [value for _, value in given]
    # Given values have a missing one last.
    turned = len(values) == 2 and is_missing_value(values[0]) and not is_missing_value(values[1])
    if len(values) == 2 and all(map(is_missing_value, values)):
        raise InputError.about(names[1], "is where the change starts: no row would change", end)
    points = given_values(values[::-1] if turned else values, column)
    points = points[::-1] if turned else points
    if len(points) == 2 and points.tolist()[0] == points.tolist()[1]:
        raise InputError.about(names[1], "is where the change starts: no row would change", end)
    if start is ...:
        return Move(feature, Shift(), Fixed(points))
    return Move(feature, Fixed(points[:1]), Fixed(points[1:]))


def _check_value(study: Study, feature: Feature, column: Column, parameter: str, value: Any) -> None:
    """An error that names the parameter, where the column cannot hold a value or has no such level."""
    try:
        points = given_values([value], column)
        check_levels(feature, column, points)
    except IcefieldError as error:
        raise error.about(parameter, error.problem, value, error.hint) from None
    known = column.levels.tolist() if column.kind == "categorical" else None
    if known is not None and not column.closed and not study.rows.is_sampled:
        (level,) = points.tolist()
        if not is_missing_value(level) and level not in known:
            raise InputError.about(
                parameter, f"is no level of {feature.label!r}", value, did_you_mean(value, known)
            )


def _shift(study: Study, feature: Feature, plus: Any, times: Any, parameter: str | None = None) -> Shift:
    """The Shift of a feature that `plus` or `times` means, in the column's unit."""
    named, value = ("plus", plus) if plus is not None else ("times", times)
    named = parameter or named
    if feature.kind in TIME_KINDS and plus is not None:
        unit = _unit(study.column(feature))
        try:
            way = time_value(plus, duration=True)
        except (TypeError, ValueError):
            raise InputTypeError.about(named, f"must be a duration for the {feature.kind} column {feature.label!r}", plus,
                          "write datetime.timedelta(days=1)") from None  # fmt: skip
        count = way.astype(f"timedelta64[{unit}]")
        if count != way:
            raise InputError.about(
                named, f"is finer than the {feature.kind} column {feature.label!r} can hold", plus
            )
        shift = Shift(plus=int(count.astype(np.int64)))
    elif feature.kind not in NUMERIC_KINDS:
        raise InputError.about(named, f"needs a number, and {feature.label!r} holds {feature.kind} values", value,
                      f"write change({feature.label!r}, start, end)")  # fmt: skip
    else:
        _check_number(named, value)
        shift = Shift(plus=plus) if plus is not None else Shift(times=times)
    if shift.stays:
        raise InputError.about(named, "moves no row", value)
    return shift


def _check_number(parameter: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputTypeError.about(parameter, "must be a number", value)
    if not np.isfinite(value):
        raise InputError.about(parameter, "must be a finite number", value)


def _step_size(step: Any, feature: Feature, study: Study) -> float:
    """The step asked for, in the column's unit."""
    if feature.kind in TIME_KINDS:
        size = float(_shift(study, feature, step, None, "step").plus)
    else:
        _check_number("step", step)
        size = float(step)
    if size <= 0 or (feature.kind == "integer" and size != int(size)):
        wanted = "a whole number above 0" if feature.kind == "integer" else "above 0"
        raise InputError.about("step", f"must be {wanted} for {feature.label!r}", step)
    return size


def _unit(column: Column) -> str:
    return str(np.datetime_data(column.dtype)[0])


def _spread(study: Study, feature: Feature) -> tuple[float, tuple[float, float]]:
    """How far the middle 90 % of a feature reach, and its range, in its own unit."""
    return study.cache.once(("spread", feature), lambda: _compute_spread(study, feature))


def _compute_spread(study: Study, feature: Feature) -> tuple[float, tuple[float, float]]:
    known = study.rows.statistics.values(feature)
    numbers = known.column.to_float()
    finite = np.isfinite(numbers) & (known.weights > 0)
    if not finite.any():
        raise InputError.about("feature", "has no known value to start from", feature.label)
    numbers, weights = numbers[finite], known.weights[finite]
    low, high = weighted_quantiles(numbers, np.array([0.05, 0.95]), weights)
    limits = float(numbers.min()), float(numbers.max())
    spread = float(high - low) or limits[1] - limits[0]
    if not spread > 0:
        raise InputError.about("feature", "takes a single value, so there is no slope", feature.label)
    return spread, limits


def _is_stepped(study: Study, fine: Contrast, coarse: Contrast) -> bool:
    """Whether most rows that a larger step changes are changed by a small one not at all, or nearly as much."""
    if study.plan.trees is not None:
        return True
    chosen = choose_rows(min(TRIED_ROWS, study.sample.n_rows), study.sample.n_rows, study.seed)
    block = study.sample.take(chosen.positions)
    changed = []
    for contrast in (fine, coarse):
        tried = _changes(study, contrast, keep=True, n_groups=block.n_groups)
        tried.add(block)
        if tried.row_values is None:
            return False
        changed.append(np.abs(tried.row_values[..., END] - tried.row_values[..., START]).max(axis=1))
    small, large = changed
    # Whole numbers have no smaller step than 2, and rows may stand right at a jump.
    is_smaller = coarse.full_step > 4 * fine.full_step
    as_jumps = (small == 0) | ((small > large / 2) & is_smaller)
    moved = large > 0
    return bool(moved.any() and (moved & as_jumps).sum() > moved.sum() / 2)


# --- the answer ------------------------------------------------------------------------------------------


def _changes(study: Study, contrast: Contrast, *, keep: bool, n_groups: int, spread: bool = True) -> Changes:
    return Changes(
        study.plans.checked(), contrast, outputs=len(study.model.outputs), n_groups=n_groups,
        resources=study.resources, together=study.model.across_rows, keep=keep, spread=spread,
    )  # fmt: skip


def _table(
    study: Study,
    contrast: Contrast,
    title: str,
    given: Sequence[Any] | None,
    quantiles: Any,
    level: float,
    spread: bool,
    rows: Any,
    step: float | None,
    notes: Sequence[str],
) -> Change:
    validate.share("level", level)
    validate.flag("spread", spread)
    probabilities = validate.probabilities(quantiles)
    causal = _causal(study, contrast, given)
    chosen = study.chosen(rows)
    outputs, n_groups = len(study.model.outputs), study.rows.n_groups
    block = study.sample if chosen.positions is None else study.sample.take(chosen.positions, chosen.sampled_from > 0)  # fmt: skip
    everything = not (rows is None and study.rows.is_sampled)
    fits = 8 * 5 * outputs * block.n_rows <= study.resources.memory // KEPT_SHARE
    changes = _changes(study, contrast, keep=everything and fits, n_groups=n_groups, spread=spread)
    if rows is None:
        fold(study, changes)
    else:
        changes.add(block)
    if changes.moments[0].weight <= 0:
        hint = None if contrast.per is None else "write a larger step"
        raise InputError.about("feature", "has no row that could change", _labels(contrast), hint)
    known, sample_note = changes, ""
    if spread and changes.row_values is None and block.n_rows:
        most = max(1, study.resources.memory // (KEPT_SHARE * 8 * 5 * outputs))
        part = choose_rows(min(most, block.n_rows), block.n_rows, study.seed)
        block, known = block.take(part.positions), _changes(study, contrast, keep=True, n_groups=n_groups)
        known.add(block)
        sample_note = f"quantiles and rows are of a seeded sample of {counted(block.n_rows)} rows"
    outside, where = _outside_once(study, contrast)
    columns = _columns(study, changes, contrast)
    if spread:
        columns = _with_spread(columns, changes, chosen, level)
        columns |= _quantile_columns(known, block, probabilities, n_groups)
    columns |= {"n_rows": np.repeat([m.count for m in changes.moments], outputs)}
    reason = f"brute force here, because {changes.moved.reason}; " if changes.moved.reason else ""
    left_out = changes.n_rows - changes.moments[0].count
    or_large = (
        ", or too large for so small a step" if contrast.per and _has_too_large(study, contrast) else ""
    )
    interval = f"{100 * level:g} % intervals: this model, over other rows drawn like these" if spread else ""
    unit = f"{'slope' if step is not None else 'change'} of the {study.model.scale_label}"
    all_notes = [
        *notes,
        f"{changes.moved.engine} engine: {reason}{study.why(study.plan)}",
        interval,
        "rows of a cluster count as one" if changes.cluster_errors else "",
        f"{counted(left_out)} rows without a known, finite value (or without weight{or_large}) are left out"
        if left_out
        else "",
        chosen.note,
        sample_note,
        where,
        causal,
    ]
    return Change(
        columns=columns, title=title, notes=tuple(note for note in all_notes if note),
        library=study.sample.table.library, naming=study.naming, outside=outside, step=step, interval=interval, unit=unit,
        row_values=_row_values(study, known, block, chosen.positions if known is changes else None),
    )  # fmt: skip


def _columns(study: Study, changes: Changes, contrast: Contrast) -> dict[str, NDArray[Any]]:
    """Columns of means, by group (all rows first), then by output."""
    outputs = study.model.outputs
    labels = [ALL] if study.rows.groups is None else [ALL, *study.rows.groups.labels]
    mean = np.concatenate([moments.average for moments in changes.moments])
    start, end = mean[:, START], mean[:, END]
    columns: dict[str, NDArray[Any]] = {
        "output": labels_column([output for _ in labels for output in outputs]),
        "group": labels_column([label for label in labels for _ in outputs]),
        "start": start,
        "end": end,
        "estimate": mean[:, CHANGE],
    }
    if contrast.across or contrast.per is not None:
        return columns
    same_sign = np.sign(start) * np.sign(end) > 0  # whose product may be beyond what a float holds
    ratio = np.divide(end, start, out=np.full_like(end, np.nan), where=same_sign)
    return columns | {"ratio": ratio}


def _with_spread(
    columns: dict[str, NDArray[Any]], changes: Changes, chosen: RowChoice, level: float
) -> dict[str, NDArray[Any]]:
    """The means' columns with errors, and how rows differ."""
    mean = np.concatenate([moments.average for moments in changes.moments])
    spread = np.concatenate([np.asarray(moments.std) for moments in changes.moments])
    error = population_factor(changes.n_rows, chosen.sampled_from) * np.concatenate(changes.errors)
    width = NormalDist().inv_cdf(0.5 + level / 2) * error[:, CHANGE]
    ratio = columns.pop("ratio", None)
    columns |= {
        "std_error": error[:, CHANGE],
        "conf_low": mean[:, CHANGE] - width,
        "conf_high": mean[:, CHANGE] + width,
        "sd": spread[:, CHANGE],
        "rises": mean[:, RISES],
        "falls": mean[:, FALLS],
    }
    if ratio is None:
        return columns
    with np.errstate(all="ignore"):  # predictions that are infinite, or nearly so, have no such error
        # Errors of both ends and of their difference say how the ends vary together (the delta method).
        together = (error[:, START] ** 2 + error[:, END] ** 2 - error[:, CHANGE] ** 2) / 2
        variance = error[:, END] ** 2 - 2 * ratio * together + ratio**2 * error[:, START] ** 2
        error_of_ratio = np.sqrt(np.maximum(variance, 0.0)) / np.abs(mean[:, START])
    return columns | {"ratio": ratio, "ratio_std_error": error_of_ratio}


def _quantile_columns(
    known: Changes, block: Block, probabilities: Sequence[float], n_groups: int
) -> dict[str, NDArray[Any]]:
    if not probabilities or known.row_values is None:
        return {}
    weights = None if block.weights is None else block.weights[known.positions]
    codes = None if block.codes is None else block.codes[known.positions]
    quantiles = []
    for group in range(-1, n_groups):
        inside = np.ones(len(known.row_values), bool) if group < 0 else np.asarray(codes) == group
        for values in known.row_values[inside, :, CHANGE].T:
            group_weights = None if weights is None else weights[inside]
            quantiles.append(
                weighted_quantiles(values, np.array(probabilities), group_weights)
                if len(values) and not np.isnan(values).any()
                else np.full(len(probabilities), np.nan)
            )
    return {f"q{100 * p:g}": column for p, column in zip(probabilities, np.array(quantiles, dtype=float).T)}


def _row_values(
    study: Study, known: Changes, block: Block, positions: Positions | None
) -> dict[str, NDArray[Any]]:
    if known.row_values is None:
        return {}
    outputs, groups = study.model.outputs, study.rows.groups
    rows = known.positions if positions is None else positions[known.positions]
    columns: dict[str, NDArray[Any]] = {
        "row": np.repeat(rows, len(outputs)),
        "output": np.tile(labels_column(outputs), len(rows)),
    }
    if groups is not None and block.codes is not None:
        codes = block.codes[known.positions]
        labels = labels_column([*groups.labels, *([None] if (codes < 0).any() else [])])  # -1: in no group
        columns["group"] = np.repeat(labels[codes], len(outputs))
    for name, at in (("start", START), ("end", END), ("estimate", CHANGE)):
        columns[name] = known.row_values[..., at].ravel()
    return columns


def _has_too_large(study: Study, contrast: Contrast) -> bool:
    """Whether a slope's step may be lost in rounding at the ends of the data."""
    (move,) = contrast.moves
    limits = move.end.limits if isinstance(move.end, Shift) else None
    return limits is not None and may_stay(move, study.column(move.feature), np.array(limits))


# --- what is said ----------------------------------------------------------------------------------------


def _labels(contrast: Contrast) -> list[Any]:
    return [move.feature.label for move in (*contrast.moves, *contrast.across)]


def _moves_in_words(study: Study, moves: Sequence[Move]) -> str:
    """The moves in words: "age goes from 30 to 50 years"."""
    return ", ".join(
        f"{study.naming.name(m.feature.label)} goes from {_end_in_words(study, m, m.start)} to {_end_in_words(study, m, m.end)}"
        for m in moves
    )


def _predicted(study: Study) -> str:
    """What is predicted, with its unit."""
    model = study.model
    what = predicted_text(study.naming, model.scale_label, model.outputs, None)
    return with_unit(study.naming, model.scale_label, what)


def _end_in_words(study: Study, move: Move, end: End) -> str:
    if isinstance(end, Fixed):
        return named_value(end.value[0], study.naming, move.feature.label, printed_value)
    if end.stays:
        return "each row's own value"
    return f"{end.times:g} times that" if end.times != 1 else f"that plus {end.plus:,}"


def _outside_once(study: Study, contrast: Contrast) -> tuple[float, str]:
    """`_outside`, cached for the change that was asked about last."""
    about = tuple(move.feature for move in (*contrast.moves, *contrast.across)), repr(contrast.about)
    outside: tuple[float, str] | None = study.cache.kept("outside", about)
    if outside is None:
        outside = _outside(study, contrast)
        study.cache.keep("outside", about, outside)
    return outside


def _outside(study: Study, contrast: Contrast) -> tuple[float, str]:
    """The share of rows that are outside the data at an end, and that in a sentence about every end."""
    around, moves = surroundings(study), (*contrast.moves, *contrast.across)
    columns = [study.column(move.feature) for move in moves]
    rows = around.rows[:MOVED_ROWS]
    known = np.ones(len(rows), bool)
    for move, column in zip(moves, columns):
        if move.needs_value:
            known &= np.isfinite(column.to_float()[rows])
    places = np.flatnonzero(known)
    if not len(places):
        return float("nan"), ""
    inside_at = cache(lambda features: moved_inside(study, features, places))
    inside = []
    for corner in contrast.corners:
        moving = [(f, end) for f, end in corner if not (isinstance(end, Shift) and end.stays)]
        near = np.ones(len(places), bool)
        if moving:
            by_label = {move.feature: column for move, column in zip(moves, columns)}
            parts = [(f, by_label[f].part(rows[places]), end) for f, end in moving]
            values = [end.value if isinstance(end, Fixed) else end.values(column) for _, column, end in parts]
            near = inside_at(tuple(f for f, _ in moving))(values)
            for feature, value in zip((f for f, _ in moving), values):
                near &= _in_range(study, feature, value)
        inside.append(near)
    shares = [1.0 - float(near.mean()) for near in inside]
    outside = 1.0 - float(np.logical_and.reduce(inside).mean())
    ends = ", ".join(f"{100 * share:.0f} %" for share in shares)
    words = "at start and end" if len(shares) == 2 else "at the four combinations"
    return outside, (
        f"{100 * outside:.0f} % of {counted(len(places))} sampled rows lie outside the data at an end ({words}: {ends})"
    )


def _in_range(study: Study, feature: Feature, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether values lie between the data's smallest and largest; what has no order does."""
    column = study.column(feature)
    if column.kind not in ORDERED_KINDS:
        return np.ones(1, bool)
    reach = study.cache.once(("reach", feature), lambda: _reach(column))
    if reach is None:
        return np.ones(1, bool)
    numbers = grid_numbers(values, column)
    return np.isnan(numbers) | ((numbers >= reach[0]) & (numbers <= reach[1]))


def _reach(column: Column) -> tuple[float, float] | None:
    """The smallest and largest number of a column; None where there is none."""
    numbers = column.to_float()
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else None


def _causal(study: Study, contrast: Contrast, given: Sequence[Any] | None) -> str:
    """The note, in words, on what a causal reading of the change would assume."""
    moving = {c for m in (*contrast.moves, *contrast.across) for c in m.feature.columns}
    moved = " and ".join(str(study.naming.name(label)) for label in _labels(contrast))
    other_columns = [c for c in study.model.columns if c not in moving]
    if given is None:
        return (
            f"what the model does, not the world: a causal reading would assume that only the model's other features "
            f"affect both {moved} and the target, and that {moved} affects none of them (given=[...] names these)"
        )
    given_columns = [
        column_name(name, study.rows.head, "given") for name in validate.sequence("given", given)
    ]
    for name in given_columns:
        if name in moving:
            raise InputError.about("given", "names a feature that moves", name)
    held = [str(study.naming.name(c)) for c in given_columns if c in other_columns]
    unused = [str(study.naming.name(c)) for c in given_columns if c not in other_columns]
    beyond = [str(study.naming.name(c)) for c in other_columns if c not in given_columns]
    text = f"a causal reading given {', '.join(held) or 'nothing'} would assume that nothing else affects both {moved} and the target"
    if beyond:
        text += f"; the model also keeps {_few(beyond)} fixed, outside that set: effects of {moved} through them are not counted"
    if unused:
        text += f"; {_few(unused)} are not adjusted for: the model does not use them"
    return text


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
