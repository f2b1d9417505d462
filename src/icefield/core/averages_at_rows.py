"""Partial dependence at rows' own values, which Friedman's H is made of: in one walk, or of a sample crossed with itself."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from icefield.core.crossed_rows import crossed_averages, moving_columns
from icefield.core.engine import Plan, with_fallback
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import Feature
from icefield.sampling import CROSSED_ROWS, choose_rows
from icefield.typing import Float

Key = TypeVar("Key", bound=Hashable)
KeyIn = TypeVar("KeyIn", bound=Hashable, contravariant=True)


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """The rows at whose own values averages were taken: why these, and their weights."""

    why: str
    weights: Float


class AveragesSink(Protocol[KeyIn]):
    """Takes in averages at rows' own values, set by set."""

    def begin(self, rows: EvaluatedRows) -> None:
        """Start anew: averages at these rows follow. Called again where the first way could not be finished."""

    def take(self, name: KeyIn, values: Float) -> None:
        """A set's averages, ``(outputs, rows)``, in an array of one's own."""


def averages_at_rows(
    study: Study, sets: Mapping[Key, Sequence[Feature]], rows: Any, into: AveragesSink[Key]
) -> None:
    """Partial dependence of sets of features at rows' own values.

    At all rows of the sample where the engine gets them in one walk, else at a seeded sample crossed with itself.
    """
    columns = [moving_columns(features) for features in sets.values()]
    sample = study.sample

    def ask(plan: Plan) -> None:
        if rows is None and plan.engine.additive:
            walked = plan.engine.own_averages(columns, sample, study.resources)
            if walked is not None:
                collect(walked, EvaluatedRows(f"{study.rows.sample_said}: {plan.why}", sample.row_weights()))
                return
        wanted = min(CROSSED_ROWS, sample.n_rows) if rows is None else rows
        chosen = choose_rows(wanted, sample.n_rows, study.seed)
        part = sample.take(chosen.positions)
        found = plan.engine.own_averages(columns, part, study.resources)
        if found is None:
            found = crossed_averages(study.model, plan.engine, columns, part, study.resources)
        gives_all = plan.what_gives_all_rows(sample.n_rows, study.model.scale)
        why = f"{chosen.note}; {gives_all}" if chosen.note else ""
        why = why or f"{counted(part.n_rows)} of {counted(sample.n_rows)} rows"
        collect(found, EvaluatedRows(why, sample.row_weights(chosen.positions)))

    def collect(averages: Generator[Float], evaluated: EvaluatedRows) -> None:
        into.begin(evaluated)
        with closing(averages):  # its threads must not wait until nobody looks at an interrupt any more
            for name, values in zip(sets, averages, strict=True):
                into.take(name, values)

    with_fallback(study.plans.checked(), ask)
