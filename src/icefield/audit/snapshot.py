"""Snapshots: a model's effects as small sorted files, and what of them another model changes by more than noise.

A folder holds ``model.json`` and one file per feature, a number a line. What is written down of a feature, for every output:

* its average curve less its mean, at fixed values (quantiles of the first data, or levels), where missing stands, and how far
  predictions move with it;
* how its largest change differs between rows, and the change from its lower to its upper values by subgroup: the levels of
  columns that have few.

How much a number may differ is learnt from refits: the standard deviation between them, moderated by that of like numbers of other
features, times the square root of two (both models are draws), times a margin that many numbers may be asked about at
once. Refits that are made here are fitted to halves of the rows, whose spread is that of fits to all of them, and asked about rows drawn
anew. Without refits a share of the predictions' standard deviation is allowed, and every answer says so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from icefield.audit.checking import FAIL, PASS, Check, Statement, number
from icefield.core.prediction_level import prediction_level
from icefield.core.question import Question
from icefield.core.rows import Block
from icefield.core.study import Study
from icefield.data.columns import ORDERED_KINDS, TIME_KINDS, is_missing_value, object_array
from icefield.data.grid import Grid
from icefield.effect.whole_files import atomic_write
from icefield.errors import InputError, MissingFileError
from icefield.models.model import read_model
from icefield.sampling import choose_rows
from icefield.typing import Float, Positions

FORMAT = 1
POINTS = 20
LEVELS = 30
SUBGROUPS, SUBGROUP_ROWS = 8, 20  # levels a column may have to make subgroups, and rows one needs
SNAPSHOT_ROWS = 5_000
STATED = 0.1  # of the predictions' SD, where there are no refits
FLOOR = 0.02  # of the predictions' SD: smaller differences matter to nobody
TIMES, TIMES_CURVE = (
    5.0,
    4.0,
)  # standard deviations of a difference between two fits; a curve's is a mean over points
PRIOR = 5.0  # degrees of freedom that like numbers of other features count for
MADE = 10  # refits, where they are made here
NUMBER = "number"


@dataclass(frozen=True)
class Entry:
    """One feature as it is written down: where, and by quantity the values."""

    kind: str
    at: tuple[Any, ...]
    quantities: Mapping[str, tuple[float, ...]]


def snapshot(study: Study, path: str | Path, refits: Any = None) -> Path:
    """Write a model's effects to a folder; see `icefield.Explainer.snapshot`."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError.about("path", "is a file; a snapshot is a folder", str(path), 'write "effects/"')
    known, before = read(folder) if (folder / "model.json").is_file() else ({}, {})
    if known and not _is_same_kind(study, known):
        known, before = {}, {}
    now = _records(study, before)
    unit = float(np.max(prediction_level(study).std, initial=0.0)) or 1.0  # of the output that differs most
    tolerances = _tolerances(study, now, refits, unit)
    if known:
        if refits is None:
            tolerances |= known["tolerance"]
        now = {name: _without_noise(name, new, before.get(name), tolerances) for name, new in now.items()}
        unit = float(known["unit"])
    source = "refits" if refits is not None else known.get("tolerance_from", "stated")
    head = {
        "format": FORMAT, "kind": study.model.kind, "scale": study.model.scale, "outputs": [str(o) for o in study.model.outputs],
        "features": sorted(now), "unit": _rounded(unit, unit), "tolerance_from": source,
        "tolerance": {key: _rounded(value, unit) for key, value in sorted(tolerances.items())},
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "model.json", head)
    for name, new in now.items():
        _write(folder / file_name(name), {
            "feature": name, "kind": new.kind, "at": list(new.at),
            **{key: [_rounded(v, unit) for v in values] for key, values in new.quantities.items()},
        })  # fmt: skip
    for old in set(before) - set(now):
        (folder / file_name(old)).unlink(missing_ok=True)
    return folder


def read(folder: str | Path) -> tuple[dict[str, Any], dict[str, Entry]]:
    """The head of a snapshot, and its features by name."""
    folder = Path(folder)
    if not (folder / "model.json").is_file():
        hint = "write one with `icefield snapshot MODEL DATA -o effects/`"
        raise MissingFileError.about("against", "names no snapshot: it has no model.json", str(folder), hint)
    try:
        head = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        if head.get("format") != FORMAT:
            problem = f"is a snapshot of format {head.get('format')}, and this version reads {FORMAT}"
            raise InputError.about("against", problem, str(folder))
        records = {}
        for name in head["features"]:
            document = json.loads((folder / file_name(name)).read_text(encoding="utf-8"))
            document.pop("feature")
            kind, at = document.pop("kind"), document.pop("at")
            records[name] = Entry(kind, tuple(at), {key: tuple(values) for key, values in document.items()})
    except InputError:
        raise
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise InputError.about(
            "against", f"is a damaged snapshot: {error}", str(folder), "write it again"
        ) from error
    return head, records


def file_name(feature: str) -> str:
    """A feature's file: its name, with what file systems do not take replaced."""
    safe = re.sub(r"[^A-Za-z0-9_.-]", "_", feature)[:60]
    if safe == feature and feature.lower() != "model":
        return f"{feature}.json"
    return f"{safe}-{hashlib.sha256(feature.encode()).hexdigest()[:8]}.json"


def compare(study: Study, against: str | Path) -> Check:
    """The Check of a model's effects against a snapshot: what differs by more than noise fails.

    Parameters
    ----------
    study : the new model, and its rows
    against : the folder
    """
    from icefield.audit.records import record_of

    head, before = read(against)
    if study.sample.n_rows == 0:
        raise InputError("There are no rows to compare the model on. Hint: give X with at least one row.")
    if not _is_same_kind(study, head):
        raise InputError.about("against", "is a snapshot of another kind of model", str(against),
                            f"it has {head['kind']} {head['outputs']} on scale {head['scale']!r}, this one is {study.model.kind} "
                            f"{[str(o) for o in study.model.outputs]} on {study.model.scale!r}")  # fmt: skip
    names = {str(c) for c in study.model.columns}
    lost = [name for name in before if name not in names]
    if lost and len(lost) == len(before):
        raise InputError.about(
            "against", "is a snapshot of other columns: the model has none of them", lost[:5]
        )
    if not all(map(study.sample.table.has, lost)):
        problem = "has columns that this model and its data do not have"
        raise InputError.about("against", problem, lost, "check the same data, or write a new snapshot")
    now = _records(study, before)
    statements = [Statement(name, "feature", "used", "the model has it no longer", FAIL) for name in lost]
    for name in sorted(set(now) - set(before)):
        moved = max(max(values) for key, values in now[name].quantities.items() if key.startswith("movement"))
        text = f"new; predictions move by {number(moved)} with it"
        statements.append(Statement(name, "feature", "not there", text, FAIL))
    tolerances = head["tolerance"]
    for name in sorted(set(now) & set(before)):
        differences = _differences(name, before[name], now[name], tolerances, float(head["unit"]))
        statements += [Statement(name, *difference) for difference in differences]
    note = (
        f"tolerance from refits: {TIMES:g} standard deviations of a difference between two fits ({TIMES_CURVE:g} for curves), at least {FLOOR:.0%} of the predictions' SD"
        if head["tolerance_from"] == "refits"
        else f"tolerance assumed, not estimated: {STATED:.0%} of the predictions' SD; give refits when the snapshot is written to estimate it"
    )
    record = record_of(study) | {"against": str(against)}
    return Check.of(statements, f"Check against {against}", (note,), study.rows.head.library, record)


def _differences(
    name: str, before: Entry, now: Entry, tolerances: Mapping[str, float], unit: float
) -> Iterator[tuple[str, ...]]:
    """For each quantity, and levels that are new or lost: its name, expected, found, result, and detail, as in `Statement`."""
    levels, present = [str(v) for v in before.at], [str(v) for v in now.at]
    if before.kind != NUMBER:
        for level in sorted(set(levels) - set(present)):
            yield "levels", level, "lost", FAIL
        for level in sorted(set(present) - set(levels)):
            yield "levels", "as before", f"new level {level}", FAIL
    for key in sorted({*before.quantities, *now.quantities}):
        old, new = before.quantities.get(key), now.quantities.get(key)
        if old is None or new is None:
            if key.startswith("missing"):
                yield key, "as before", f"missing values are {'new' if old is None else 'gone'}", FAIL
            continue
        if key.startswith("curve") and before.kind != NUMBER:
            at: Sequence[Any] = [v for v in levels if v in present]
            a = np.array([old[levels.index(v)] for v in at])
            b = np.array([new[present.index(v)] for v in at])
        else:
            a, b, at = np.array(old), np.array(new), before.at
        if len(a) != len(b) or not len(a):
            continue
        size, place = _distance(key, a, b)
        limit = float(tolerances.get(f"{name}: {key}", STATED * unit))
        where = f"most at {at[place]}" if key.startswith("curve") and len(at) > place else ""
        shown = f"{number(a[place])} -> {number(b[place])}"
        result = PASS if size <= limit else FAIL
        yield key, f"within {number(limit)}", f"{number(size)} off", result, f"{where} {shown}".strip()


def _distance(key: str, a: Float, b: Float) -> tuple[float, int]:
    """How far two versions of a quantity are apart, and where most; a curve's is the root mean square."""
    apart = np.abs(a - b)
    place = int(apart.argmax())
    size = np.sqrt(np.mean(np.square(apart))) if key.startswith("curve") else apart[place]
    return float(size), place


def _is_same_kind(study: Study, head: Mapping[str, Any]) -> bool:
    model = study.model
    mine = {"kind": model.kind, "outputs": [str(o) for o in model.outputs], "scale": model.scale}
    return all(head[key] == value for key, value in mine.items())


# --- what is written of a model -----------------------------------------------------------------------------


def _records(study: Study, before: Mapping[str, Entry], rows: Positions | None = None) -> dict[str, Entry]:
    """Every feature of the model, at the values of an earlier snapshot where there is one; on a seeded sample unless rows are given."""
    if rows is None:
        rows = choose_rows(None, study.sample.n_rows, study.seed, SNAPSHOT_ROWS).positions
    block = study.sample.take(rows)
    groups = _subgroups(study, block)
    return {
        str(name): _feature(study, name, block, groups, before.get(str(name))) for name in study.model.columns
    }


def _subgroups(study: Study, block: Block) -> dict[str, Any]:
    """Rows by the levels of columns that have few, by ``column=level``."""
    groups = {}
    for name in study.model.columns:
        column = block.table.column(name)
        if column.kind == "float":
            continue
        levels = column.levels.tolist()
        if not 2 <= len(levels) <= SUBGROUPS:
            continue
        for code, level in enumerate(levels):
            inside = column.codes == code
            if inside.sum() >= SUBGROUP_ROWS:
                groups[f"{name}={level}"] = inside
    return groups


def _feature(study: Study, name: Any, block: Block, groups: Mapping[str, Any], before: Entry | None) -> Entry:
    feature = study.feature(name)
    column = study.column(feature)
    ordered = feature.kind in ORDERED_KINDS and feature.kind not in TIME_KINDS
    if ordered and before is not None and before.kind == NUMBER:
        values = np.array(before.at, np.float64)
        values = np.unique(np.rint(values)) if feature.kind == "integer" else values
        values = values.astype(column.dtype)
    else:
        grid = Grid("distinct", points=LEVELS, missing="hide")
        if ordered:
            grid = Grid("quantile", points=POINTS, trim=(0.02, 0.98), missing="hide")
        (values,), _ = study.rows.statistics.grids((feature,), grid, lambda f: np.empty(0))
        if ordered and feature.kind == "float":
            values = np.unique(np.array([float(f"{v:.4g}") for v in values.tolist()], column.dtype))
    points = values
    if column.any_missing:
        points = object_array([*values.tolist(), None])
        if values.dtype.kind == "f":
            points = np.append(values, np.array([np.nan], values.dtype))
    axis = feature.axis(points, block.table)
    question = Question((axis,), spread=False, rows=np.arange(block.n_rows), averaged=False)
    (answer,) = study.answers([question], Block(block.table))
    curves, weights = np.asarray(answer.curves), block.row_weights()
    weights = weights / weights.sum()
    quantities: dict[str, tuple[float, ...]] = {}
    for output, label in enumerate(study.model.outputs):
        ending = f" of {label}" if len(study.model.outputs) > 1 else ""
        ice = curves[output][:, : len(values)]
        average = weights @ ice
        center = float(average.mean())
        quantities[f"curve{ending}"] = tuple((average - center).tolist())
        spread = ice - ice.mean(axis=1, keepdims=True)
        quantities[f"movement{ending}"] = (float(np.sqrt(np.mean(weights @ np.square(spread)))),)
        if column.any_missing:
            quantities[f"missing{ending}"] = (float(weights @ curves[output][:, -1]) - center,)
        # A number's change from its lower to its upper quarter, a category's from one half of its levels to the other.
        quarter = max(1, len(values) // 4)
        change = ice[:, -quarter:].mean(axis=1) - ice[:, :quarter].mean(axis=1)
        mean = float(weights @ change)
        quantities[f"disagreement{ending}"] = (float(np.sqrt(weights @ np.square(change - mean))),)
        for group, inside in groups.items():
            if group.partition("=")[0] != str(name):
                share = weights * inside
                quantities[f"change where {group}{ending}"] = (float(share @ change / share.sum()),)
    if ordered:
        return Entry(NUMBER, tuple(float(v) for v in values.tolist()), quantities)
    at = tuple(str(v) for v in values.tolist() if not is_missing_value(v))
    return Entry("levels", at, quantities)


# --- noise ---------------------------------------------------------------------------------------------------


def _tolerances(study: Study, now: Mapping[str, Entry], refits: Any, unit: float) -> dict[str, float]:
    """How much each quantity may differ, by ``feature: quantity``."""
    tolerances = {f"{name}: {key}": STATED * unit for name, new in now.items() for key in new.quantities}
    if refits is None:
        return tolerances
    rng = np.random.default_rng(study.seed)
    members = [
        _records(other, now, rng.integers(0, study.sample.n_rows, min(SNAPSHOT_ROWS, study.sample.n_rows)))
        for other in _refit_studies(study, refits)
    ]
    if len(members) < 2:
        raise InputError.about(
            "refits", "must be at least two to estimate noise", len(members), f"write refits={MADE}"
        )
    spread: dict[str, dict[str, tuple[float, int]]] = {}
    for name, written in now.items():
        for key, values in written.quantities.items():
            theirs = [member[name].quantities.get(key, ()) for member in members]
            versions = [v for v in theirs if len(v) == len(values)]
            if len(versions) > 1:
                variance = float(np.var(np.array(versions), axis=0, ddof=1).mean())
                spread.setdefault(key.partition(" ")[0], {})[f"{name}: {key}"] = (variance, len(versions) - 1)
    for kind, alike in spread.items():
        prior = float(np.mean([variance for variance, _ in alike.values()]))
        for label, (variance, degrees) in alike.items():
            moderated = (PRIOR * prior + degrees * variance) / (PRIOR + degrees)
            times = TIMES_CURVE if kind == "curve" else TIMES
            tolerances[label] = max(FLOOR * unit, times * float(np.sqrt(2.0 * moderated)))
    return tolerances


def _refit_studies(study: Study, refits: Any) -> Iterator[Study]:
    """Studies of refits on the same rows: given models, or so many made from halves of the rows."""
    models: Iterator[Any]
    if isinstance(refits, (int, np.integer)) and not isinstance(refits, bool):
        models = _fit_halves(study, int(refits))
    elif isinstance(refits, Sequence) and not isinstance(refits, (str, bytes)) and len(refits):
        models = iter(refits)
    else:
        raise InputError.about(
            "refits", "must be fitted models, or a number of refits to make", refits, "write refits=6"
        )
    for model in models:
        read_as = read_model(model, study.sample.table, target=None, scale=study.model.scale)
        if read_as.columns != study.model.columns or len(read_as.all_outputs) != len(study.model.all_outputs):
            raise InputError.about(
                "refits", "must have the same columns and outputs as the model", type(model).__name__
            )
        yield Study.of(replace(read_as, selected=study.model.selected), study.rows, study.choices)


def _fit_halves(study: Study, number_of: int) -> Iterator[Any]:
    """The model's own learner fitted again to halves of the rows, with weights and whole clusters as the Explainer has them."""
    from icefield.refits.fitting import Fitter, is_estimator
    from icefield.refits.halves import halves, whole_units

    block, model = study.sample, study.model
    if number_of < 2:
        raise InputError.about(
            "refits", "must be at least 2 to estimate noise", number_of, f"write refits={MADE}"
        )
    if block.y is None:
        raise InputError.about("refits", "are made from observed targets, which the Explainer was not given", number_of,
                            "write Explainer(model, X, y)")  # fmt: skip
    if not is_estimator(model.native):
        raise InputError.about("refits", f"cannot be made of a {type(model.native).__name__}, which has no fit", number_of,
                            "give fitted models: refits=[...]")  # fmt: skip
    learner = Fitter(
        model.native, block.table.select(model.columns), model.form, np.asarray(block.y), block.weights
    )
    units, _ = whole_units(block, None, None, 0)
    classes = learner.y if model.kind == "classifier" else None
    for rows, _, seed in halves(block.n_rows, number_of, study.seed, units, classes):
        yield learner.fitted(rows, seed)


# --- files ---------------------------------------------------------------------------------------------------


def _without_noise(name: str, now: Entry, before: Entry | None, tolerances: Mapping[str, float]) -> Entry:
    """The feature as it is, but for what differs from before by noise: that stays as it was written."""
    if before is None or before.kind != now.kind or tuple(map(str, before.at)) != tuple(map(str, now.at)):
        return now
    quantities = dict(now.quantities)
    for key, values in now.quantities.items():
        old = before.quantities.get(key)
        if old is not None and len(old) == len(values):
            size, _ = _distance(key, np.array(old), np.array(values))
            if size <= tolerances.get(f"{name}: {key}", 0.0):
                quantities[key] = old
    return Entry(now.kind, before.at, quantities)


def _rounded(value: float, unit: float) -> float:
    """A number to a two-hundredth of the unit or three digits, whichever is finer."""
    step = 10.0 ** np.floor(np.log10(abs(unit) / 200)) if unit else 1e-9
    whole = round(float(value) / step) * step
    return float(f"{whole:.10g}") + 0.0


def _write(file: Path, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return
    with atomic_write(file) as target:
        target.write_text(text, encoding="utf-8", newline="\n")
