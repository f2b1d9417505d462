"""`check`: a model held to expectations, or to the effects of an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefield.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from icefield.audit.checking import Check


def check(
    explainer: Any, expectations: Any = None, *, against: str | Path | None = None, seconds: float = 10.0
) -> Check:
    """Hold a model to expectations, to a snapshot of an earlier model's effects, or to both.

    Parameters
    ----------
    explainer : an `Explainer`
    expectations : a TOML file, or the same as a mapping; `Explainer.expectations` drafts one
    against : a folder that `Explainer.snapshot` wrote
    seconds : time limit of the statements about every possible input

    Examples
    --------
    >>> import icefield
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> ex = icefield.Explainer(lambda rows: 2 * rows[:, 0], X)
    >>> found = icefield.check(ex, {"features": {"0": {"direction": "increasing", "effect": [10, 100]}}})
    >>> found.ok, found["result"].tolist()
    (True, ['pass', 'pass'])
    """
    from icefield.audit.checking import Check
    from icefield.audit.expectations import check_expectations
    from icefield.audit.snapshot import compare

    study = vars(explainer).get("study") if hasattr(explainer, "__dict__") else None
    if study is None:
        raise InputTypeError.of(
            "explainer", "must be an Explainer", explainer, "write icefield.Explainer(model, X)"
        )
    study.needs_rows("checks")
    if expectations is None and against is None:
        raise InputError(
            "There is nothing to check against. Hint: give a file of expectations, or against= a folder of effects."
        )
    found = []
    if expectations is not None:
        found.append(check_expectations(study, expectations, seconds))
    if against is not None:
        found.append(compare(study, against))
    if len(found) == 1:
        return found[0]
    first, second = found
    return Check.of(
        (*first.statements, *second.statements), "Check of expectations and effects", (*first.notes, *second.notes),
        first.library, {**second.record, **first.record},
    )  # fmt: skip
