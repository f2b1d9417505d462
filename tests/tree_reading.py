"""What the readers' tests share: rows that sit on the thresholds, and the checks of a read model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import forest_walk as walk
from icefield.data.frame import Table, table_of
from icefield.forest import TreeModel
from icefield.libraries.reading import read


def on_the_thresholds(
    tree_model: TreeModel, X: Any, extra: tuple[float, ...] = (), columns: tuple[Any, ...] | None = None
) -> Any:
    """X with rows added that sit on thresholds, one ulp (of float64 and float32) beside them, or on `extra`.

    Only float columns of X are moved (`columns` restricts them further).
    """
    forest = tree_model.forest
    encoder_names = tree_model.encode.names
    draw = np.random.default_rng(0)
    is_frame = isinstance(X, pd.DataFrame)
    names = list(X.columns) if is_frame else list(range(X.shape[1]))
    added = []
    for name in names if columns is None else columns:
        kind = X[name].dtype if is_frame else X.dtype
        if str(kind) not in ("float64", "float32"):
            continue
        here = np.isin(forest.condition_column, np.flatnonzero([n == name for n in encoder_names]))
        thresholds = np.unique(forest.condition_threshold[here & (forest.condition_set < 0)])
        thresholds = draw.permutation(thresholds[np.isfinite(thresholds)])[:40]
        with np.errstate(over="ignore"):
            single = thresholds.astype(np.float32)
            values = np.concatenate(
                [
                    thresholds,
                    np.nextafter(thresholds, np.inf),
                    np.nextafter(thresholds, -np.inf),
                    single.astype(np.float64),
                    np.nextafter(single, np.float32(np.inf)).astype(np.float64),
                    np.nextafter(single, np.float32(-np.inf)).astype(np.float64),
                    [0.0, -0.0, 5e-324, -5e-324, 1e-40, -1e-40],
                    np.array(extra, dtype=np.float64),
                ]
            )
        values = values[np.isfinite(values) | np.isin(values, extra) | np.isnan(values)]
        rows = draw.integers(0, len(X), len(values))
        if is_frame:
            moved = X.iloc[rows].reset_index(drop=True)
            moved[name] = values.astype(kind)
        else:
            moved = X[rows].copy()
            moved[:, name] = values
        added.append(moved)
    return pd.concat([X, *added], ignore_index=True) if is_frame else np.concatenate([X, *added])


def same_leaves(tree_model: TreeModel, table: Table, expected: NDArray[Any]) -> bool:
    """Whether every row ends in the leaf the library says, up to how leaves are numbered."""
    found = walk.leaves(tree_model.forest, tree_model.encode(table))
    expected = np.asarray(expected).reshape(found.shape)
    for tree in range(found.shape[1]):
        pairs = set(zip(found[:, tree].tolist(), expected[:, tree].tolist()))
        ours, theirs = {a for a, _ in pairs}, {b for _, b in pairs}
        if not len(pairs) == len(ours) == len(theirs):
            return False
    return True


def response(tree_model: TreeModel, table: Table) -> NDArray[np.float64]:
    return tree_model.link.apply(walk.raw(tree_model.forest, tree_model.encode(table)))


def error(tree_model: TreeModel, table: Table, expected: NDArray[Any], scale: str = "response") -> float:
    """Largest difference from the library's own prediction, relative to its size."""
    raw = walk.raw(tree_model.forest, tree_model.encode(table))
    found = tree_model.link.apply(raw) if scale == "response" else raw
    expected = np.asarray(expected, np.float64).reshape(len(found), -1)
    assert found.shape == expected.shape
    return float(np.max(np.abs(found - expected) / (1.0 + np.abs(expected))))


def read_and_compare(
    model: Any,
    X: Any,
    predict: Callable[[Any], Any],
    leaves: Callable[[Any], Any] | None = None,
    *,
    raw: Callable[[Any], Any] | None = None,
    extra: tuple[float, ...] = (),
    move: bool = True,
) -> TreeModel:
    """Read a model and hold it against the library's own predictions and leaves on awkward rows."""
    tree_model = read(model, table_of(X))
    rows = on_the_thresholds(tree_model, X, extra) if move else X
    table = table_of(rows)
    assert error(tree_model, table, predict(rows)) <= tree_model.tolerance
    if raw is not None:
        assert error(tree_model, table, raw(rows), scale="raw") <= tree_model.tolerance
    if leaves is not None:
        assert same_leaves(tree_model, table, leaves(rows))
    return tree_model
