"""What a record of an audit or a check holds: hashes, versions, seeds, limits, and what was sampled."""

from __future__ import annotations

import hashlib
import pickle
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from icefield.audit.expectations import Expectations
    from icefield.core.study import Study

LIBRARIES = ("numpy", "lightgbm", "xgboost", "catboost", "scikit-learn", "pandas", "polars", "pyarrow")


def record_of(
    study: Study, *, seconds: float | None = None, expectations: Expectations | None = None
) -> dict[str, Any]:
    """The record of a question about a study."""
    rows = study.rows
    record: dict[str, Any] = {
        "model": {"class": f"{type(study.model.native).__module__}.{type(study.model.native).__qualname__}", "sha256": model_digest(study)},
        "data": {
            "rows": rows.n_rows, "rows_used": study.sample.n_rows, "sampled": rows.is_sampled, "columns": [str(c) for c in study.model.columns],
            "sha256": data_digest(study),
        },
        "outputs": [str(o) for o in study.model.outputs],
        "scale": study.model.scale,
        "engine": study.how,
        "seed": study.seed,
        "time_limit_seconds": seconds,
        "versions": versions(),
    }  # fmt: skip
    if expectations is not None:
        record["expectations"] = {
            "file": expectations.source,
            "sha256": expectations.digest,
            "rows": dict(expectations.rows),
        }
    return record


def versions() -> dict[str, str]:
    """Versions of Python, of icefield, and of what is loaded beside it."""
    from icefield import __version__

    by_package = {"icefield": __version__, "python": platform.python_version()}
    loaded = {"scikit-learn": "sklearn"}
    for name in LIBRARIES:
        if loaded.get(name, name) in sys.modules:
            try:
                by_package[name] = version(name)
            except PackageNotFoundError:  # installed under another name
                continue
    return by_package


def model_digest(study: Study) -> str:
    """SHA-256 of the trees as they were read, or of the pickled model; empty where it has no bytes of its own."""
    digest = hashlib.sha256()
    trees = study.plan.trees
    if trees is not None:
        forest = trees.forest
        for name in (
            "condition_column", "condition_threshold", "condition_set", "condition_missing_left", "set_members", "tree_root",
            "node_condition", "node_left", "node_right", "node_leaf", "leaf_value", "base",
        ):  # fmt: skip
            digest.update(np.ascontiguousarray(getattr(forest, name)).tobytes())
        return digest.hexdigest()
    try:
        digest.update(pickle.dumps(study.model.native))
    except Exception:  # a function, a handle of another library
        return ""
    return digest.hexdigest()


def data_digest(study: Study) -> str:
    """SHA-256 of the values of the rows used, column by column in the model's order."""
    digest = hashlib.sha256()
    for name in study.model.columns:
        column = study.sample.table.column(name)
        digest.update(str(name).encode())
        digest.update(np.ascontiguousarray(column.missing).tobytes())
        if column.values.dtype == object or column.kind == "categorical":
            digest.update("\x1f".join(str(v) for v in column.values.tolist()).encode("utf-8", "replace"))
        else:
            digest.update(np.ascontiguousarray(column.values).tobytes())
    return digest.hexdigest()
