"""The training background as an engine: averages weighted by what the trees saw in training.

It looks at no row, so there is nothing to spread, to weight or to group; asking for any of that
is an error that says so. Sums of trees average exactly only on an additive scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icefield.core.question import Answer, Axis, Moments, Question, Resources, Sample
from icefield.engines.training.training_averages import training_average
from icefield.errors import EngineError
from icefield.forest import TreeModel
from icefield.typing import Positions

if TYPE_CHECKING:
    from icefield.core.placement import Standing
    from icefield.data.frame import Table


class TrainingEngine:
    """Answers questions from node weights alone."""

    name = "training"
    additive = True
    costs_predictions = False

    def __init__(self, trees: TreeModel, scale: str, selected: Sequence[int]) -> None:
        if scale != "raw" and not trees.link.additive:
            raise EngineError(
                "background='training' needs an additive scale, and this model's response is not one. "
                "Hint: write scale='raw', or background='data'."
            )
        self.trees, self.selected = trees, list(selected)

    def answer(self, questions: Sequence[Question], sample: Sample, resources: Resources) -> list[Answer]:
        if sample.weights is not None or sample.codes is not None:
            asked = "weights" if sample.weights is not None else "by"
            raise refusal(f"`{asked}`")
        answers = []
        for question in questions:
            if question.spread or question.quantiles or question.rows is not None:
                raise refusal("spread, quantiles and individual curves")
            mean = training_average(self.trees, [*question.axes], sample.table, resources.memory)
            answers.append(Answer(Moments(0, 1.0, 1.0, mean[self.selected])))
        return answers

    def own_averages(self, sets: Sequence[Sequence[Any]], sample: Sample, resources: Resources) -> None:
        """Declined: there are no rows."""

    def differences(
        self,
        axes: Sequence[Axis],
        table: Table,
        rows: Positions,
        steps: Sequence[Positions],
        resources: Resources,
    ) -> None:
        """Declined: there are no rows."""

    def local_sums(self, standing: Standing, resources: Resources) -> None:
        """Declined likewise."""


def refusal(what: str) -> EngineError:
    """The error for something that needs rows, which the training background does not look at."""
    return EngineError(
        f"background='training' averages with the model's own training counts, not over rows: {what} cannot be given. "
        "Hint: write background='data'."
    )
