"""What is asked of a `Study`, and what comes back beside the numbers: on which rows, by which engine, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from icefield.core.engine import Plan
from icefield.core.question import Answer
from icefield.data.features import Feature
from icefield.data.frame import Column, Table
from icefield.data.groups import groups_of
from icefield.data.row_values import RowValues
from icefield.errors import InputError, complaint
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.core.study import Study
    from icefield.models.model import Model

Placed = tuple[tuple[Feature, ...], tuple[NDArray[Any], ...]]  # features and their grids


@dataclass(frozen=True, kw_only=True, eq=False)
class Ask:
    """Sets of features whose curves are wanted, and what is wanted of them.

    Attributes
    ----------
    sets : the features of each effect, as a user names them
    kind : ``"pd"`` or ``"ice"``
    grid : a `Grid`, a number of points or values, as in `Explainer.partial_dependence`
    spread : standard deviation and standard error too; None: as usual for the number of features
    quantiles : probabilities of the curves' quantiles
    rows : positions of the rows averaged over; None: every row
    sampled_from : how many rows chance chose these among, so that the standard error is that against those; 0 where
        they were not drawn
    kept : places among those rows whose own curves are kept
    kept_weights : what the kept curves count for; None: their rows' weights
    """

    sets: Sequence[tuple[Any, ...]]
    kind: str = "pd"
    grid: Any = None
    spread: bool | None = None
    quantiles: Sequence[float] | None = None
    rows: Positions | None = None
    sampled_from: int = 0
    kept: Positions | None = None
    kept_weights: Float | None = None

    def row_values(self, table: Table, rows: Positions) -> RowValues:
        """What the kept rows, which are these of a table, hold: taken once for all effects of an ask."""
        known: dict[str, RowValues] = self.__dict__
        return known.get("_row_values") or known.setdefault("_row_values", RowValues(table, rows))


@dataclass(frozen=True, eq=False)
class OwnValues:
    """At which rows averages were taken: why these, and their weights."""

    why: str
    weights: Float


@dataclass(frozen=True, eq=False)
class Differences:
    """What crossing steps changes, ``(rows, outputs)``, by which engine, and why not by the planned one."""

    values: Float
    costs_predictions: bool
    engine: str
    reason: str


@dataclass(frozen=True, eq=False)
class Described:
    """A feature's values over all rows with their weights, or values that stand for them with ranks off by a share."""

    column: Column
    weights: Float
    rank_error: float = 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the rows, their weights (1 each without any) and their groups."""

    table: Table
    weights: Float
    codes: Positions | None


class Fold(Protocol):
    """What is added up over all rows, part by part, in any order."""

    title: str

    def add(self, part: Part) -> None:
        """Take in some rows."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is known so far, as arrays."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was known before."""

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in what is known of other rows."""


def noted(answers: list[Answer], plan: Plan, reason: str) -> list[Answer]:
    """Answers that say why another engine than the planned one gave them, if one did."""
    if not reason:
        return answers
    note = f"but brute force here, because {reason}"
    return [replace(a, engine=plan.engine.name, notes=(note, *a.notes)) for a in answers]


def regrouped(study: Study, by: Any) -> Study:
    """The same study with groups for one question; what it has worked out is shared. None: as it is."""
    if by is None:
        return study
    study.needs_rows("`by`")
    if hasattr(study, "stream"):
        raise InputError(
            complaint("by", "of one question needs the rows in memory, and these are streamed", by,
                      "give it to the Explainer: icefield.Explainer(model, X, by=...)")
        )  # fmt: skip
    other = object.__new__(type(study))
    other.__dict__.update(study.__dict__, groups=groups_of(by, study.table, study.weights))
    return other


def what_is_predicted(model: Model) -> str:
    """The model's numbers in a few words: "probability of died, survived", or "prediction" where that is its name too."""
    outputs = ", ".join(map(str, model.outputs[:5])) + (", ..." if len(model.outputs) > 5 else "")
    return model.scale_label if outputs == model.scale_label else f"{model.scale_label} of {outputs}"
