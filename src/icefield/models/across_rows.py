"""Models that may look across rows: whose prediction for a row may depend on the other rows of the call.

Pipelines that rank, centre or impute by the batch do. Their curves are only what their user means if every grid
point is asked in one call with all rows, in order, as scikit-learn does. So that is how every model is asked that is not
known to predict each row by itself. What is known, libraries list by exact class, from reading their source; of
anything else the user may say so, and a trial on a few rows (alone, with others, in another order) can only contradict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.frame import Table
from icefield.errors import InputError
from icefield.libraries.registry import library_of
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.models.model import Model

TRIED_ROWS = 16
SEARCHED_ROWS = 4_096  # among which rows with missing values are looked for
NOT_KNOWN = (
    "the model is not known to predict row by row, so every grid point is one call with all rows "
    "(row_by_row=True declares that it does)"
)
GIVEN_WORD = "row_by_row=True: each row is taken to be predicted by itself"
CONTRADICTED = (
    "the model looks across rows, though row_by_row=True was given: what it predicts for one depends on the others "
    "in the call, so every grid point is one call with all of them"
)


def known_row_by_row(model: Any) -> bool:
    """Whether a model, and all it is made of, is known to predict each row by itself."""
    library = library_of(model)
    if library is None or library.row_by_row is None:
        return False
    try:
        return library.row_by_row.is_row_by_row(model, known_row_by_row)
    except (AttributeError, LookupError, TypeError, ValueError):  # another version, or not fitted
        return False


def needs_all_rows(
    model: Any, predict: Callable[[Table], Float], table: Table, row_by_row: bool
) -> tuple[bool, str | None]:
    """Whether every call of a model must hold all rows, and the note for the user, if any.

    Parameters
    ----------
    model : the user's object
    predict : its predictions for rows
    table : the rows it will be asked about
    row_by_row : whether the user says that it predicts each row by itself
    """
    if known_row_by_row(model):
        return False, None
    if not row_by_row:
        return True, NOT_KNOWN
    return (True, CONTRADICTED) if looks_across_rows(predict, table) else (False, GIVEN_WORD)


def not_row_by_row(model: Model, parameter: str, does: str, received: Any, instead: str) -> InputError:
    """The error where rows are predicted in parts, and the model may look across them.

    `does` says how `parameter` asks about rows, `instead` what to do about it.
    """
    if CONTRADICTED in model.notes:
        problem = f"{does}, and this model looks across the rows of a call"
        return InputError.about(parameter, problem, received, instead)
    problem = f"{does}, and this model is not known to predict row by row"
    hint = f"{instead}; if it does predict each row by itself, write row_by_row=True"
    return InputError.about(parameter, problem, received, hint)


def looks_across_rows(predict: Callable[[Table], Float], table: Table) -> bool:
    """Try a model on a few rows: alone, with others and in another order.

    A model that gives other answers to the very same call is moved by chance, not by other rows.
    """
    rows = _trial_rows(table)
    half = len(rows) // 2
    if half == 0:
        return False
    try:
        whole, repeated, first_half, backwards = (
            predict(table.take(positions)) for positions in (rows, rows, rows[:half], rows[::-1])
        )
    except Exception:  # rows it refuses are complained about where they are asked for
        return False
    if not np.array_equal(whole, repeated, equal_nan=True):
        return False
    return not (_agree(first_half, whole[:half]) and _agree(backwards, whole[::-1]))


def _trial_rows(table: Table) -> Positions:
    """Positions of up to 16 rows, those with missing values first: what imputes by the batch shows only there."""
    from icefield.forest.check import rows_with_missing  # here: `import icefield` reads no trees

    head = table.slice(0, min(SEARCHED_ROWS, table.n_rows))
    with_gaps = np.flatnonzero(rows_with_missing(head))[: TRIED_ROWS // 4]
    spread = np.linspace(0, table.n_rows - 1, min(TRIED_ROWS, table.n_rows)).astype(np.intp)
    return np.concatenate([with_gaps, np.setdiff1d(spread, with_gaps)])[: max(TRIED_ROWS, 2)]


def _agree(a: Float, b: Float) -> bool:
    """Whether answers differ by no more than the order of summation does in their precision."""
    with np.errstate(over="ignore"):
        single = np.array_equal(a, a.astype(np.float32).astype(np.float64), equal_nan=True)
    return alike(a, b, 1e-5 if single else 1e-10)


def alike(a: Float, b: Float, precision: float) -> bool:
    """Whether answers differ by at most this share of the largest number among them."""
    if a.shape != b.shape:
        return False
    size = float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0))
    with np.errstate(invalid="ignore"):
        close = (np.abs(a - b) <= precision * size) | (a == b) | (np.isnan(a) & np.isnan(b))
    return bool(close.all())
