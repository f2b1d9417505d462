"""The live row of a report: the model as compact arrays, rows to begin with, and the grids of its curves."""

from __future__ import annotations

import numpy as np

from icefield.core.portable_model import portable_model
from icefield.core.study import Study
from icefield.errors import InputError
from icefield.report.card_data import FeatureAxis, raw, texts
from icefield.report.view_model import LiveFeature, LiveRow, LiveStart, LiveWords
from icefield.statistics.every_effect import every_effect
from icefield.wording.labels import predicted_text
from icefield.wording.names import name_text, page_name

MOST_FEATURES = 60


def live_row(study: Study) -> LiveRow:
    """The model as arrays, with rows and grids, for the page to evaluate; an error, with the reason, where it is not read as trees."""
    model = portable_model(study)
    effects = every_effect(study, None)
    if len(effects) > MOST_FEATURES:
        problem = f"A live row shows at most {MOST_FEATURES} features, this model has {len(effects)}."
        raise InputError.saying(problem, "use ex.serve()")
    features = []
    for name, effect in effects.items():
        place, values, title = FeatureAxis(effect), effect.grid[0], page_name(study.naming.name(name))
        places = place.axis(), place(values), raw(values), texts(effect, values)
        features.append(LiveFeature(str(name), title, *places, bool(effect.ordered[0])))
    for rule in model["encode"]:
        rule["name"] = str(rule["name"])
        if rule["kind"] == "level":
            rule["codes"] = [[raw(np.array([level], object))[0], code] for level, code in rule["codes"]]
    words = [_words(study, output) for output in range(len(study.model.outputs))]
    return LiveRow(model, features, _rows(study), list(study.model.selected), words)


def _words(study: Study, output: int) -> LiveWords:
    """What the page says of a prediction, with places for numbers: {value}, {before} and {difference}."""
    model, naming = study.model, study.naming
    of = output if len(model.outputs) > 1 else None
    unit = f" {naming.target_unit}" if naming.target_unit else ""
    what = predicted_text(naming, model.scale_label, model.outputs, of)
    text = f"{{value}}{unit}, {what.replace('{', '(').replace('}', ')')}"
    return LiveWords(
        name_text(str(model.outputs[output]), 60),
        f"{text} of this row as it is",
        f"{text}, {{difference}}{unit} more than {{before}}{unit} of the row as it is",
        f"{text}, {{difference}}{unit} less than {{before}}{unit} of the row as it is",
    )


def _rows(study: Study) -> list[LiveStart]:
    """Rows at quantiles of the predictions, as their values; the one in the middle comes first."""
    predicted = study.predictions()[:, 0]
    order = np.argsort(predicted, kind="stable")
    starts = []
    for share, level in (
        (0.5, "typical"),
        (0.05, "very low"),
        (0.25, "low"),
        (0.75, "high"),
        (0.95, "very high"),
    ):
        at = int(order[min(len(order) - 1, int(share * len(order)))])
        row = study.sample.table.take(np.array([at]))
        values = {str(name): raw(row.column(name).shown())[0] for name in study.model.columns}
        starts.append(LiveStart(f"{level} prediction", values, float(predicted[at])))
    return starts
