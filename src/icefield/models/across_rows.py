"""Models that look across rows: whose prediction for a row depends on which others are asked with it.

Pipelines that rank, centre or impute by the batch do. Their curves are only what their user means if every grid
point is asked in one call with all rows, as scikit-learn does; all other models may be asked in calls of any
size. Libraries whose models answer row by row are known; everything else is tried on a few rows: the same
rows alone, with others, and in another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.typing import Float, Positions

ROW_BY_ROW = {"sklearn", "lightgbm", "xgboost", "catboost"}
TRIED_ROWS = 16
SEARCHED_ROWS = 4_096  # among which rows with missing values are looked for
ACROSS_ROWS = (
    "the model looks across rows: what it predicts for one depends on the others in the call, so every grid point "
    "is asked in one call with all of them"
)


def known_row_by_row(model: Any) -> bool:
    """Whether a model, and all it is made of, comes from libraries that answer row by row."""
    parts = [model, *_settings(model)]
    return all(_is_known(part) for part in parts)


def _settings(model: Any) -> Iterable[Any]:
    if not hasattr(model, "get_params"):
        return ()
    values: Iterable[Any] = model.get_params(deep=True).values()
    return values


def _is_known(part: Any) -> bool:
    is_model = any(hasattr(part, method) for method in ("predict", "transform"))
    if not is_model and (isinstance(part, np.ufunc) or not callable(part)):
        return True
    home = part if hasattr(part, "__module__") and not is_model else type(part)
    return str(home.__module__).split(".")[0] in ROW_BY_ROW


def looks_across_rows(predict: Callable[[Table], Float], table: Table) -> bool:
    """Try a model on a few rows: alone, with others and in another order.

    A model that gives other answers to the very same call is moved by chance, not by other rows.
    """
    rows = _tried(table)
    half = len(rows) // 2
    if half == 0:
        return False
    try:
        together, again, alone, turned = (
            predict(table.take(chosen)) for chosen in (rows, rows, rows[:half], rows[::-1])
        )
    except Exception:  # rows it refuses are complained about where they are asked for
        return False
    if not np.array_equal(together, again, equal_nan=True):
        return False
    return _differ(alone, together[:half]) or _differ(turned, together[::-1])


def _tried(table: Table) -> Positions:
    """A few rows, those with missing values first: what imputes by the batch shows only there."""
    some = table.slice(0, min(SEARCHED_ROWS, table.n_rows))
    gone = np.zeros(some.n_rows, dtype=bool)
    for name in some.names:
        gone |= some.column(name).missing
    holey = np.flatnonzero(gone)[: TRIED_ROWS // 4]
    spread = np.linspace(0, table.n_rows - 1, min(TRIED_ROWS, table.n_rows)).astype(np.intp)
    return np.concatenate([holey, np.setdiff1d(spread, holey)])[: max(TRIED_ROWS, 2)]


def _differ(one: Float, other: Float) -> bool:
    """Whether answers differ by more than the order of summation does in their precision."""
    single = np.array_equal(one, one.astype(np.float32).astype(np.float64), equal_nan=True)
    size = float(np.nanmax(np.abs(np.where(np.isfinite(other), other, 0.0)), initial=0.0))
    tolerance = (1e-5 if single else 1e-10) * size
    with np.errstate(invalid="ignore"):
        near = (np.abs(one - other) <= tolerance) | (one == other) | (np.isnan(one) & np.isnan(other))
    return not bool(near.all())
