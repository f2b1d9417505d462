"""What is odd about the columns themselves: missing values, one value only, copies of others, and too good to be true.

None of it is about the model; all of it changes how a curve is to be read. Columns that are equal are found on a sample
of rows and confirmed on all of them; what foretells the target is looked for on a sample.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.frame import ORDERED_KINDS, Column, Table
from icefield.sampling import PREDICTION_ROWS, choose_rows, equal_parts
from icefield.statistics.observations import observed_outputs
from icefield.typing import Float

GROUPS = 64  # into which a column is cut to see what it foretells
GROUP_ROWS = 20  # rows a group needs on average: a name in every row foretells everything
PERFECT = 0.95  # of the target's variance: what a single column seldom tells by honest means
LEAST_ROWS = 100


@dataclass(frozen=True)
class DataNotes:
    """What was noticed about the model's columns."""

    missing: tuple[tuple[Any, float], ...] = ()  # each with its share of the rows, most first
    constant: tuple[Any, ...] = ()  # with one value only, or none
    copies: tuple[tuple[Any, ...], ...] = ()  # sets of columns equal in every row, each in the data's order
    perfect: tuple[tuple[Any, float], ...] = ()  # each with the share of a target's variance, nearly all

    def __bool__(self) -> bool:
        """Whether anything was noticed."""
        return bool(self.missing or self.constant or self.copies or self.perfect)


def data_notes(study: Study) -> DataNotes:
    """Missing values, constants, copies and near-perfect columns of the model, found once per study."""
    return study.cache.once("data notes", lambda: _find_notes(study))


def _find_notes(study: Study) -> DataNotes:
    names, table = list(study.model.columns), study.sample.table
    chosen = choose_rows(None, study.sample.n_rows, study.seed, PREDICTION_ROWS).positions
    rows = np.arange(study.sample.n_rows) if chosen is None else np.sort(chosen)
    sample = table if chosen is None else table.take(rows)
    missing: list[tuple[Any, float]] = []
    constant: list[Any] = []
    alike: dict[bytes, list[Any]] = {}
    for name in names:
        column, some = table.column(name), sample.column(name)
        if column.kind == "other":
            continue
        share = float(np.average(column.missing, weights=study.sample.weights)) if column.any_missing else 0.0
        if share > 0:
            missing.append((name, share))
        if _one_value(some) and (chosen is None or _one_value(column)):
            constant.append(name)
        else:
            alike.setdefault(_fingerprint(some), []).append(name)
    copies = [same for group in alike.values() if len(group) > 1 for same in _equal(table, group)]
    missing.sort(key=lambda pair: -pair[1])
    return DataNotes(tuple(missing), tuple(constant), tuple(copies), _perfect(study, names, sample, rows))


def _one_value(column: Column) -> bool:
    present = column.values[~column.missing] if column.any_missing else column.values
    if not len(present):
        return True
    if column.any_missing:  # that a value is missing is a second one
        return False
    if column.kind == "categorical":
        return bool((column.codes == column.codes[0]).all())
    return bool((present == present[0]).all())


def _fingerprint(column: Column) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(_comparable(column)).tobytes(), digest_size=16).digest()


def _comparable(column: Column) -> NDArray[Any]:
    """A column as numbers to compare; levels by the order in which they appear, so that other names make no difference."""
    if column.kind in ORDERED_KINDS or column.kind == "boolean":
        return column.to_float() + 0.0  # minus zero is zero
    _, first, codes = np.unique(column.codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes], dtype=np.float64)


def _equal(table: Table, group: list[Any]) -> list[tuple[Any, ...]]:
    """Those of a group of columns, equal in a sample, that are equal in all rows."""
    left, copies = list(group), []
    while len(left) > 1:
        first = _comparable(table.column(left[0]))
        rest = left[1:]
        same = [n for n in rest if np.array_equal(_comparable(table.column(n)), first, equal_nan=True)]
        if same:
            copies.append((left[0], *same))
        left = [name for name in rest if name not in same]
    return copies


def _perfect(
    study: Study, names: list[Any], sample: Table, rows: NDArray[np.intp]
) -> tuple[tuple[Any, float], ...]:
    truth, _ = observed_outputs(study)
    if truth is None or len(rows) < LEAST_ROWS:
        return ()
    weights = study.sample.row_weights(rows)
    if weights.sum() <= 0:
        return ()
    known = [name for name in names if sample.column(name).kind != "other"]
    shares = [float(np.nanmax(_r2(sample.column(name), truth[rows], weights), initial=0.0)) for name in known]
    perfect = [pair for pair in zip(known, shares) if pair[1] >= PERFECT]
    return tuple(sorted(perfect, key=lambda pair: -pair[1]))


def _r2(column: Column, truth: Float, weights: Float) -> Float:
    """Share of each target's variance that lies between groups of a column, less what chance would put there."""
    codes = _cut(column, weights)
    groups = int(codes.max()) + 1
    if groups < 2 or groups * GROUP_ROWS > len(codes):
        return np.zeros(truth.shape[1])
    share = weights / weights.sum()
    apart = truth - share @ truth
    total = share @ np.square(apart)
    mass = np.bincount(codes, share)
    heavy = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
    between = np.array([np.square(np.bincount(codes, share * target)) @ heavy for target in apart.T])
    r2 = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    return 1.0 - (1.0 - r2) * (len(codes) - 1) / (len(codes) - groups)


def _cut(column: Column, weights: Float) -> NDArray[np.intp]:
    if column.kind in ORDERED_KINDS:
        values = column.to_float()
        known = np.isfinite(values)
        codes = np.zeros(len(values), dtype=np.intp)
        if known.any():
            parts = max(2, min(GROUPS, len(values) // GROUP_ROWS - 2))
            cuts = np.unique(equal_parts(values[known], parts, weights[known]))
            codes[known] = 1 + np.searchsorted(cuts, values[known], side="right")
    else:
        codes = np.where(column.missing, 0, 1 + column.codes)
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)
