"""Which form of rows a model takes: found by trying a few rows in one form after another.

The first form that the model takes without complaint is used ever after. Whatever cannot work fails here,
at once, in the model's own words; a conversion comes with a note that says why.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

from icefield.data.frame import Table
from icefield.errors import IcefieldError, ModelError
from icefield.libraries.adapter import Adapter, as_matrix
from icefield.libraries.row_form import RowForm, usual_forms

NAMES_WARNING = r"X (does not have valid|has) feature names"


@dataclass(frozen=True, eq=False)
class Trial:
    """A form of rows that was tried: what the model answered, and whether it warned about column names."""

    form: RowForm
    answer: Any
    warns: bool
    notes: tuple[str, ...] = ()


def first_accepted_form(adapter: Adapter, probe: Table, names: tuple[Any, ...] | None) -> Trial:
    """Try a few rows in one form after another until the model takes them without an error or a warning."""
    avoided = adapter.avoid(probe) if adapter.avoid else None
    forms = list(adapter.forms) or usual_forms(probe, names)
    if avoided:
        forms = [*(f for f in forms if f.library != probe.library), RowForm(probe.library)]
    refusals: list[tuple[RowForm, Exception]] = []
    warned: Trial | None = None
    for form in forms:
        try:
            trial = _try(adapter, form, probe)
        except Exception as error:
            refusals.append((form, error))
            if says_not_fitted(error):
                raise
            continue
        if not trial.warns:
            return _with_reason(trial, probe, refusals, warned is not None, avoided)
        warned = warned or trial
    if warned is not None:
        return _with_reason(warned, probe, refusals, False, avoided)
    raise _refusal_error(probe, refusals)


def _try(adapter: Adapter, form: RowForm, probe: Table) -> Trial:
    rows = form.of(probe)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = adapter.answer(rows)
    as_matrix(answer, probe.n_rows)
    names_matter = any("feature names" in str(warning.message) for warning in caught)
    return Trial(form, answer, names_matter)


def _with_reason(
    trial: Trial, probe: Table, refusals: list[tuple[RowForm, Exception]], warned: bool, avoided: str | None
) -> Trial:
    if trial.form == RowForm(probe.library):
        return trial
    if avoided:
        reason = avoided
    elif refusals:
        reason = f"the model refuses {refusals[0][0]} ({one_line(refusals[0][1])})"
    elif warned:
        reason = "the model checks whether rows have the column names it was fitted with"
    else:
        reason = "that is what the model takes"
    note = f"rows are converted from {probe.library} to {trial.form}: {reason}"
    return replace(trial, notes=(note,))


def _refusal_error(probe: Table, refusals: list[tuple[RowForm, Exception]]) -> Exception:
    first = refusals[0][1]
    forms = ", ".join(str(form) for form, _ in refusals)
    if isinstance(first, IcefieldError):
        return first
    problem = f"could not predict the first {probe.n_rows} rows of X ({one_line(first)}; tried {forms})"
    error = ModelError.about("model", problem, hint="check that model.predict works on these rows of X")
    error.__cause__ = first
    return error


def one_line(error: Exception) -> str:
    """An error in one line of bounded length."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 200 else text[:197] + '...'}"


def says_not_fitted(error: BaseException | None) -> bool:
    """Whether an error, or one it came from, is about a model that is not fitted."""
    while error is not None:
        if any("NotFitted" in base.__name__ for base in type(error).__mro__):
            return True
        error = error.__cause__ or error.__context__
    return False
