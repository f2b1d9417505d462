"""Which of the boosting libraries a model belongs to, and the reader for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from icefield.models.adapter import Adapter, comes_from

if TYPE_CHECKING:
    from icefield.data.frame import Table


def booster_reader(model: Any) -> Callable[[Any, str], Adapter] | None:
    """The reader of a LightGBM, XGBoost or CatBoost model, wrapper or raw; None for anything else."""
    if comes_from(model, "lightgbm"):
        from icefield.models.lightgbm import read_lightgbm

        return read_lightgbm
    if comes_from(model, "xgboost"):
        from icefield.models.xgboost import read_xgboost

        return read_xgboost
    if comes_from(model, "catboost"):
        from icefield.models.catboost import read_catboost

        return read_catboost
    return None


def has_categories(table: Table) -> bool:
    """Whether a frame has columns that are not plain numbers (arrays are taken as they are)."""
    if table.library in ("numpy", "sparse"):
        return False
    return any(table.column(name).kind not in ("float", "integer", "boolean") for name in table.names)
