"""The first answer: all that does not change."""

from __future__ import annotations

import numpy as np

from icefield.counts import counted
from icefield.explore.messages import AnswerPart
from icefield.explore.query import Query
from icefield.explore.slots import Parts
from icefield.wording.labels import predicted_text, with_unit
from icefield.wording.names import name_text


def about(query: Query) -> Parts:
    """The first answer: features with axes and grids, histograms, models, outputs, which never change."""
    shared, study = query.controller, query.controller.study
    columns = shared.columns
    naming, model = study.naming, study.model
    sampled = study.rows.is_sampled or not study.rows.resident
    engine = study.plan.engine.name
    head = {
        "part": "about", "done": True, "title": shared.title, "model": type(model.native).__name__,
        "n_rows": int(study.rows.n_rows), "sample_rows": int(study.sample.n_rows), "seed": study.seed,
        "note": f"Curves are of all {counted(study.rows.n_rows)} rows; filters use {study.rows.sample_said}." if sampled else "",
        "exact": engine != "brute", "why": study.why(study.plan), "weighted": study.sample.weights is not None,
        "outputs": [name_text(str(o), 60) for o in model.outputs],
        "what": [predicted_text(naming, model.scale_label, model.outputs, o if len(model.outputs) > 1 else None) for o in range(len(model.outputs))],
        "value": with_unit(naming, model.scale_label, predicted_text(naming, model.scale_label, model.outputs, None)),
        "unit": naming.target_unit, "models": [name_text(name, 60) if name else "" for name in shared.models.names], "scales": shared.models.scales(0), "scale": model.scale,
        "rows": shared.data.shows_rows, "observed": shared.data.observed is not None, "beside": list(shared.data.beside),
        "points": len(shared.data.sampled) if shared.data.shows_rows else 0,
        "features": [
            {"name": str(c.name), "label": c.label, "axis": c.axis(), "n": len(c.grid), "bars": c.n_bars, "edges": c.edges,
             "texts": [c.text(v) for v in c.grid]}
            for c in columns
        ],
    }  # fmt: skip
    arrays = {
        "x": ("f8", np.concatenate([c.grid_places for c in columns])),
        "bars": ("f8", shared.data.all_bars),
    }
    yield AnswerPart(head, arrays)
