"""What is said to bad input: the texts of errors."""

from __future__ import annotations

import numpy as np

from icefield import Explainer

from .answers import Answers
from .rows import FEATURES, WHOLE, frame, model


def ask_all(found: Answers) -> None:
    """Every case of the tests, and some about trees, streams and statistics."""
    if not found.wants("bad"):
        return
    from test_bad_inputs import CASES, SPEAKS

    for case in (*CASES, *SPEAKS):
        found.ask(f"bad/{case.name}", case.does)
    rows = frame()
    ex = Explainer(model("lightgbm"), rows[FEATURES])
    training = Explainer(model("lightgbm"), rows[FEATURES], background="training")
    more = {
        "ale bins": lambda: ex.ale("x0", bins=0),
        "ale three": lambda: ex.ale("x0", "k", "x1"),
        "ale order": lambda: ex.ale("level", order=["a"]),
        "ale rows": lambda: ex.ale("x0", rows=[9_999]),
        "measure": lambda: ex.importance(measure="shap"),
        "permutation without y": lambda: ex.importance(permutation=True),
        "method": lambda: ex.interactions(method="i"),
        "one feature": lambda: ex.interactions(["x0"]),
        "regions method": lambda: ex.regions("x0", method="trees"),
        "regions depth": lambda: ex.regions("x0", depth=0),
        "conditional bins": lambda: ex.conditional("x0", bins=-1),
        "effects kind": lambda: ex.effects(kind="shap"),
        "effects ale pairs": lambda: ex.effects(kind="ale", order=2),
        "training ale": lambda: training.ale("x0"),
        "training ice": lambda: training.ice("x0"),
        "training rows": lambda: training.partial_dependence("x0", rows=10),
        "training without trees": lambda: Explainer(
            model("linear"), rows[WHOLE], background="training"
        ).effects(),
        "checkpoint in memory": lambda: Explainer(model("linear"), rows[WHOLE], checkpoint="sums"),
        "no files": lambda: Explainer(model("linear"), "no/such/folder"),
        "changed names": lambda: Explainer(model("lightgbm"), rows[FEATURES].rename(columns={"x0": "z"})),
        "by many": lambda: ex.partial_dependence("x0", by=np.arange(len(rows))),
    }
    for name, does in more.items():
        found.ask(f"bad/more/{name}", does)
