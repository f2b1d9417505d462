"""The words around a picture: axis labels that name quantity, scale and view, and the small notes.

They are worked out from the Effect alone, so that every backend and the report say the same of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefield.data.columns import TIME_KINDS
from icefield.wording.names import name_text
from icefield.wording.values import number_text, shown_value

if TYPE_CHECKING:
    from icefield.effect import Effect


def quantity(effect: Effect, output: int | None) -> str:
    """What the model's numbers are: "probability of survived", "log-odds", "prediction".

    `output` is None where a legend or titles name the outputs.
    """
    scale = name_text(effect.scale_label)
    if output is None:
        return scale
    name = name_text(effect.outputs[output])
    if not isinstance(effect.outputs[output], str):
        name = f"class {name}"
    if scale in ("prediction", "") or name == scale:
        # A regressor's output is called by its own name when it has one ("y0" and "prediction" say nothing).
        return scale or "prediction"
    return scale if name in scale else f"{scale} of {name}"


def value_label(effect: Effect, output: int | None) -> str:
    """The label of the value axis."""
    what = quantity(effect, output)
    if effect.view == "derivative":
        along = effect.features.index(effect.reference) if effect.reference in effect.features else 0
        per = (
            "day" if effect.kinds[along] in TIME_KINDS else f"unit of {name_text(effect.features[along], 30)}"
        )
        return f"slope of {what} per {per}"
    if effect.view == "centered":
        return f"change in {what} from\u00a0{reference_text(effect)}"
    if effect.kind == "ale":
        return f"accumulated effect on {what}"
    return what


def reference_text(effect: Effect) -> str:
    """What a centred effect is relative to: "age = 22", "its mean"."""
    if isinstance(effect.reference, str) and effect.reference == "mean":
        return "its\u00a0mean"
    values: Any = effect.reference if effect.n_features > 1 else (effect.reference,)
    pairs = zip(effect.features, values)
    # Held together by non-breaking spaces, so that a long label breaks before it and not inside.
    return ", ".join(f"{name_text(f, 30)}\u00a0=\u00a0{shown_value(v, 20)}" for f, v in pairs)


def rows_text(effect: Effect) -> str:
    if effect.background == "training":
        return "training data"
    return f"{effect.n_rows:,} {effect.over}" if effect.n_rows != 1 else f"1 {effect.over[:-1]}"


def spread_note(spread: str, effect: Effect, drawn: str = "band") -> str:
    """What the band, or whatever else is `drawn`, shows."""
    if spread == "std":
        return f"{drawn}: ± 1 standard deviation of the {effect.over}"
    if spread == "se":
        return f"{drawn}: ± 2 standard errors"
    if spread == "quantiles" and effect.quantiles:
        low, high = min(effect.quantiles), max(effect.quantiles)
        return f"{drawn}: {number_text(100 * low)} % to {number_text(100 * high)} % of the {effect.over}"
    return ""


def average_note(effect: Effect) -> str:
    if not effect.n_rows and effect.background != "training":
        return ""
    return f"{'effect' if effect.kind == 'ale' else 'average'} over {rows_text(effect)}"


def joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
