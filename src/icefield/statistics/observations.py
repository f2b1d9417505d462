"""Observed targets in the form of the model's outputs, so that the two can be compared.

A regressor's target is a number per output; a classifier's class becomes one indicator per class
probability. Where the two have no common scale (raw margins, decision functions) the reason is given.
"""

from __future__ import annotations

import numpy as np

from icefield.core.study import Study
from icefield.typing import Float


def observed_outputs(study: Study) -> tuple[Float | None, str]:
    """Observations of shape ``(rows, outputs)``, or None and the reason."""
    y, model = study.sample.y, study.model
    if y is None:
        return None, "no y was given"
    if (y.ndim == 1 and len(model.all_outputs) > 1) or model.kind == "classifier":
        labels = [str(label) for label in model.all_outputs]
        seen = {str(v) for v in np.unique(y.astype(str) if y.dtype == object else y).tolist()}
        if "probab" not in model.scale_label:
            return None, f"y cannot be compared with a {model.scale_label}"
        # A probability of one class alone stands for two labels.
        two = len(labels) == 1 and len(seen) <= 2 and labels[0] in seen
        if not seen <= set(labels) and not two:
            return None, "y holds labels that are no outputs of the model"
        text = np.array([str(v) for v in y.tolist()], dtype=object)
        return np.stack([(text == str(o)).astype(np.float64) for o in model.outputs], axis=1), ""
    if model.scale == "raw":
        return None, "y is on the response scale, the effects on the raw scale"
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError):
        return None, "y does not hold numbers"
    if not np.isfinite(numbers).all():
        return None, "y holds missing or infinite values"
    if numbers.ndim == 1 and len(model.outputs) > 1:
        return None, "y has one column, the model several outputs"
    if numbers.ndim == 1:
        return numbers[:, None], ""
    if numbers.shape[1] != len(model.all_outputs):
        return None, f"y has {numbers.shape[1]} columns, the model {len(model.all_outputs)} outputs"
    return numbers[:, list(model.selected)], ""
