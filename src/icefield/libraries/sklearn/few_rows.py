"""Few rows asked in one thread, of estimators that wake several for any number of rows.

Waking OpenMP's threads once for every tree takes longer than predicting a few rows, and they stay awake for
milliseconds, on the processors that the next piece of work needs. Each row is predicted by one thread in any case,
so the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from icefield.kernels.openmp import ThreadNumber, thread_number
from icefield.libraries.adapter import type_name
from icefield.libraries.sklearn.nesting import core

FEW_ROWS = 256
WAKES_THREADS = {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}


def with_few_threads(model: Any, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A predict method that uses one thread for few rows, where the estimator would wake several for any number."""
    inner = core(model)
    is_known = type(inner).__module__.startswith("sklearn.") and type_name(inner) in WAKES_THREADS
    return partial(_ask, method) if is_known else method


def _ask(method: Callable[[Any], Any], rows: Any) -> Any:
    shape = getattr(rows, "shape", None)
    threads = _threads() if shape is not None and shape[0] <= FEW_ROWS else None
    if threads is None:
        return method(rows)
    before = threads.get()
    threads.put(1)
    try:
        return method(rows)
    finally:
        threads.put(before)


def _threads() -> ThreadNumber | None:
    """The number of threads of the OpenMP that scikit-learn brings; None: not known."""
    try:
        from sklearn.utils import _openmp_helpers
    except ImportError:
        return None
    return thread_number(_openmp_helpers.__file__)
