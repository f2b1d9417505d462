"""The training background as an engine: averages weighted by what the trees saw in training.

It looks at no row, so there is nothing to spread, to weight or to group; asking for any of that
is an error that says so. Sums of trees average exactly only on an additive scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from icefield.core.engine import Engine, Offer, TreeReading, training_refusal
from icefield.core.question import Answer, Moments, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import Table
from icefield.engines.training.training_averages import training_average
from icefield.engines.trees.axes import last_values_left, steps_of
from icefield.errors import EngineError
from icefield.forest import TreeModel
from icefield.typing import Float


def offer(reading: TreeReading) -> Offer:
    """Training counts, for a model that was read as trees with the weight of every node."""
    from icefield.models.tree_reading import tree_scale

    trees, model = reading.trees, reading.model
    if trees is None:
        return Offer(None, reading.reason)
    if trees.no_training_weights:
        raise EngineError(
            "background='training' needs the training weight of every node: "
            f"{trees.no_training_weights}. Hint: write background='data'."
        )
    engine = TrainingEngine(trees, tree_scale(model, trees), model.selected)
    return Offer(engine, f"training counts of the {trees.source} trees", trees)


class TrainingEngine(Engine):
    """Answers questions from node weights alone; what needs rows it declines."""

    name = travels_as = "training"
    additive = True
    costs_predictions = False
    needs_rows = False

    def __init__(self, trees: TreeModel, scale: str, selected: Sequence[int]) -> None:
        if scale != "raw" and not trees.link.additive:
            raise EngineError(
                "background='training' needs an additive scale, and this model's response is not one. "
                "Hint: write scale='raw', or background='data'."
            )
        self.trees, self.selected = trees, list(selected)

    def answer(self, questions: Sequence[Question], sample: Block, resources: Resources) -> list[Answer]:
        if sample.weights is not None or sample.codes is not None:
            asked = "weights" if sample.weights is not None else "by"
            raise training_refusal(f"`{asked}`")
        answers = []
        for question in questions:
            if question.spread or question.quantiles or question.rows is not None:
                raise training_refusal("spread, quantiles and individual curves")
            mean = training_average(self.trees, [*question.axes], sample.table, resources.memory)
            answers.append(Answer(Moments(0, 1.0, 1.0, mean[self.selected])))
        return answers

    @property
    def parts(self) -> dict[str, object]:
        return {"tree model": self.trees}

    def thresholds(self, column: Any, table: Table) -> Float:
        return last_values_left(self.trees, column, table)

    def steps(self, table: Table) -> dict[Any, tuple[Float, Float]]:
        return steps_of(self.trees, table)
