"""Hashes that identify rows and a model, and the record of an Explainer's run."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from icefield.core.study import Study
from icefield.data.columns import ORDERED_KINDS
from icefield.data.frame import Table
from icefield.effect.record import Record
from icefield.models.pace import interruptible

HASHED_ROWS = 1000  # whose predictions stand for a model
DIGITS = 12  # of a hash


def record_of(study: Study, run_id: str) -> Record:
    """The record that identifies results of a study; for streams it is made without reading the rows."""
    from icefield import __version__

    identity, model, head, native = study.rows.identity(), study.model, study.rows.head, study.model.native
    return Record(
        run_id=run_id,
        model_hash=model_hash(study, head),
        data_version=table_hash(head, model.columns) if identity is None else identity_text(identity),
        model=getattr(native, "__name__", type(native).__name__),
        data=study.rows.described(len(model.columns)),
        n_features=len(model.columns),
        scale=model.scale,
        background=study.background,
        seed=study.seed,
        icefield=__version__,
    )


def table_hash(table: Table, columns: Any) -> str:
    """A hash of the values of some columns, whichever frame library they are in."""
    found = hashlib.sha256()
    for name in columns:
        column = table.column(name)
        found.update(f"{name!r} {column.kind}".encode())
        numbers = column.kind in ORDERED_KINDS or column.kind == "boolean"
        values = column.to_float() if numbers else np.asarray(column.codes, dtype=np.int64)
        found.update(np.ascontiguousarray(values).tobytes())
        if not numbers:
            found.update("\n".join(map(str, column.levels)).encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:DIGITS]


def identity_text(identity: Any) -> str:
    """What identifies a source: the version of a versioned table, a hash otherwise."""
    for name, word in (("version", "delta"), ("snapshot", "iceberg")):
        if name in identity and word in identity:
            return f"{word} {identity[word]} {name} {identity[name]}"
    content = json.dumps(identity, default=str, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:DIGITS]


def predictions_hash(predicted: Any) -> str:
    """A hash of predictions; threads add in any order, so the last digits are left out."""
    return hashlib.sha256(" ".join(f"{v:.7g}" for v in predicted.ravel()).encode()).hexdigest()[:DIGITS]


def hashed_rows(n_rows: int) -> Any:
    """Positions of the rows whose predictions are hashed for a model, spread over all rows."""
    return np.unique(np.linspace(0, n_rows - 1, min(HASHED_ROWS, n_rows)).round().astype(np.intp))


def model_hash(study: Study, table: Table) -> str:
    """A hash of what a model is called, what it gives, and its predictions of some rows."""
    model = study.model
    # Of a stream the first, which stay the first when rows are added at its end.
    places = hashed_rows(table.n_rows) if study.rows.resident else np.arange(min(HASHED_ROWS, table.n_rows))
    asked = table if model.across_rows else table.take(places)
    predicted = interruptible(model, asked)[places if model.across_rows else slice(None)]
    about = f"{type(model.native).__name__} {model.scale} {list(map(str, model.outputs))} {predictions_hash(predicted)}"
    return hashlib.sha256(about.encode()).hexdigest()[:DIGITS]
