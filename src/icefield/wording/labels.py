"""The words around a picture: axis labels that name quantity, scale and view, and the small notes.

They are worked out from the Effect alone, so that every backend and the report say the same of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icefield.counts import counted
from icefield.data.columns import TIME_KINDS
from icefield.data.naming import ISO_WEEKDAY, MONTH, SUNDAY_FIRST, TIME_OF_DAY, WEEKDAY, Naming
from icefield.wording.names import NAME_LIMIT, name_text
from icefield.wording.values import named_value, number_text, shown_value

if TYPE_CHECKING:
    from icefield.effect import Effect

STEPS = {MONTH: "month", WEEKDAY: "day", ISO_WEEKDAY: "day", SUNDAY_FIRST: "day", TIME_OF_DAY: "hour"}
DIFFERENCE = "difference in prediction"  # between two models


def quantity(effect: Effect, output: int | None) -> str:
    """What the model's numbers are: "predicted delay", "probability of survived", "log-odds", "prediction".

    `output` is None where a legend or titles name the outputs.
    """
    return predicted_text(effect.naming, effect.scale_label, effect.outputs, output)


def predicted_text(naming: Naming, scale_label: str, outputs: Sequence[Any], output: int | None) -> str:
    """The same from its parts, for what is no effect."""
    scale = name_text(scale_label)
    target = None if naming.target is None else name_text(naming.target)
    if target is not None and (len(outputs) == 1 or output is None):
        if scale in ("prediction", ""):
            return f"predicted {target}"
        if scale == DIFFERENCE:
            return f"difference in predicted {target}"
        if len(outputs) == 1:
            return f"{scale.split(' of ')[0]} of {target}"
    if output is None:
        return scale
    name, several = name_text(outputs[output]), len(outputs) > 1
    if not isinstance(outputs[output], str):
        name = f"{'output' if several and scale in ('prediction', '') else 'class'} {name}"
    if target is not None and scale in ("prediction", ""):
        return f"predicted {target}, {name}"
    if scale in ("prediction", "") or name == scale:
        # The name of a regressor's only output ("y0", "prediction") says nothing; of several, it says which.
        scale = scale or "prediction"
        return f"{scale} of {name}" if several and name != scale else scale
    return scale if name in scale else f"{scale} of {name}"


def model_quantity(naming: Naming, model: Any) -> str:
    """What a model predicts, for the middle of a sentence: "predicted delay", "the probability of survived"."""
    if naming.target is None:
        if "probab" in model.scale_label and len(model.outputs) == 1 and isinstance(model.outputs[0], str):
            return f"the {name_text(model.scale_label)} of {name_text(model.outputs[0])}"
        return f"the model’s {name_text(model.scale_label)}"
    what = predicted_text(naming, model.scale_label, model.outputs, None)
    return what if what.startswith("predicted ") else f"the {what}"


def subject_text(effect: Effect, output: int) -> str:
    """The predicted quantity as a sentence's subject: "predicted delay", "the average probability of survived"."""
    what = quantity(effect, output if len(effect.outputs) > 1 else 0)
    return what if what.startswith("predicted ") else f"the average {what}"


def with_unit(naming: Naming, scale_label: str, what: str) -> str:
    """A label of predictions with the target's unit, which other scales than the target's own do not have."""
    unit = naming.target_unit
    return f"{what} ({name_text(unit, 20)})" if unit and scale_label in ("prediction", DIFFERENCE) else what


def feature_label(naming: Naming, feature: Any, limit: int = NAME_LIMIT) -> str:
    """A feature on its axis: its name, with its unit."""
    unit, name = naming.unit(feature), name_text(naming.name(feature), limit)
    return f"{name} ({name_text(unit, 40 if feature in naming.zones else 20)})" if unit else name


def value_label(effect: Effect, output: int | None) -> str:
    """The label of the value axis."""
    what = quantity(effect, output)
    if effect.view == "derivative":
        along = effect.features.index(effect.reference) if effect.reference in effect.features else 0
        return f"slope of {what} {_per(effect, effect.features[along], effect.kinds[along])}"
    what = with_unit(effect.naming, effect.scale_label, what)
    if effect.view == "centered":
        return f"change in {what} from\u00a0{reference_text(effect)}"
    if effect.kind == "ale":
        return f"accumulated effect on {what}"
    return what


def _per(effect: Effect, feature: Any, kind: str) -> str:
    """What a slope is a change per: "(min per km)", "per day", "per unit of age"."""
    naming = effect.naming
    unit = "day" if kind in TIME_KINDS else step_unit(naming, feature)
    target = naming.target_unit if effect.scale_label in ("prediction", DIFFERENCE) else None
    if target and unit:
        return f"({name_text(target, 20)} per\u00a0{name_text(unit, 20)})"
    return f"per {name_text(unit, 20) if unit else f'unit of {name_text(naming.name(feature), 30)}'}"


def step_unit(naming: Naming, feature: Any) -> str:
    """What a slope along a number is per: its unit, "hour" or "month"; empty where there is none."""
    return STEPS.get(naming.meaning(feature), naming.unit(feature))


def reference_text(effect: Effect) -> str:
    """What a centred effect is relative to: "age = 22", "its mean"."""
    if isinstance(effect.reference, str) and effect.reference == "mean":
        return "its\u00a0mean"
    values: Any = effect.reference if effect.n_features > 1 else (effect.reference,)
    naming, pairs = effect.naming, zip(effect.features, values)
    texts = [
        (naming.name(f), named_value(v, naming, f, lambda value: shown_value(value, 20))) for f, v in pairs
    ]
    # Held together by non-breaking spaces, so that a long label breaks before it and not inside.
    return ", ".join(f"{name_text(name, 30)}\u00a0=\u00a0{text}" for name, text in texts)


def spread_note(spread: str, effect: Effect, mark: str = "band") -> str:
    """The note on what a band, or whatever else the `mark` is, shows."""
    if spread in ("interval", "simultaneous") and effect.interval is not None:
        return _interval_note(spread, effect, mark)
    if spread == "centered":
        of = "the" if effect.centered_rows == effect.n_rows else f"{counted(effect.centered_rows)} sampled"
        return f"{mark}: ± 1 standard deviation of {of} rows' curves, each around its own mean"
    if spread == "std":
        return f"{mark}: ± 1 standard deviation of the {effect.over}"
    if spread == "se":
        return f"{mark}: ± 2 standard errors of this model's curve, over other rows"
    if spread == "quantiles" and effect.quantiles:
        low, high = min(effect.quantiles), max(effect.quantiles)
        return f"{mark}: {number_text(100 * low)} % to {number_text(100 * high)} % of the {effect.over}"
    return ""


def _interval_note(spread: str, effect: Effect, mark: str) -> str:
    """What a learner's interval is an interval of; curves have both, levels the one that is asked for."""
    ends = effect.interval
    if ends is None:
        return ""
    # The first part says whose interval it is, and is the last to go where there is little room.
    of = f"{ends.level:.0%} intervals of this learner's expected curve at {counted(ends.n_rows)} rows ({ends.n_refits} refits)"
    if spread == "simultaneous":
        return f"{mark}: {of}; for the whole curve"
    if mark == "band":
        return f"bands: {of}; inner: at each point; outer: for the whole curve"
    return f"{mark}: {of}; at each level"


def average_note(effect: Effect) -> str:
    if not effect.n_rows and effect.background != "training":
        return ""
    rows = f"{counted(effect.n_rows)} {effect.over}" if effect.n_rows != 1 else f"1 {effect.over[:-1]}"
    rows = "training data" if effect.background == "training" else rows
    return f"{'effect' if effect.kind == 'ale' else 'average'} over {rows}"


def joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
