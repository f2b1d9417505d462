"""Audit: what was asked of a model, what holds, and for what does not, examples that anyone can check with ``predict``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.audit.structure import Structure
from icefield.effect import drawing
from icefield.statistics.tables import ResultTable, labels_column
from icefield.typing import Backend

LevelPairs = Mapping[tuple[Any, Any], tuple[float, float]]
HIDDEN = (
    "source", "mean_against", "total_against", "jump", "jump_between", "method", "missing_above", "missing_below", "missing_beyond",
    "to_missing", "to_missing_most", "from_missing", "from_missing_most", "mean_step",
)  # fmt: skip


@dataclass(frozen=True)
class CounterExample:
    """An input at which a direction does not hold: two predictions that differ in one feature only.

    Attributes
    ----------
    feature, output : along which, and of what
    direction : ``"increasing"`` or ``"decreasing"``, which does not hold here; ``""`` for the largest jump where none was asked for
    row : position of the given row it was made from
    before, after : the feature's values
    prediction_before, prediction_after : what the model's own ``predict`` returns, on the scale of the audit
    changed : other columns that were set to other values than the row's, by column; empty for a given row as it is
    scale : of the predictions
    """

    feature: Any
    output: Any
    direction: str
    row: int
    before: Any
    after: Any
    prediction_before: float
    prediction_after: float
    changed: Mapping[Any, Any] = field(default_factory=dict)
    scale: str = "response"

    @property
    def step(self) -> float:
        return self.prediction_after - self.prediction_before

    def __str__(self) -> str:
        moved = f" with {', '.join(f'{k} = {v}' for k, v in self.changed.items())}" if self.changed else ""
        return (
            f"row {self.row}{moved}: {self.feature} from {self.before} to {self.after} takes {self.output} "
            f"from {self.prediction_before:.6g} to {self.prediction_after:.6g}"
        )


@dataclass(frozen=True)
class Everywhere:
    """What was decided for every possible input.

    Attributes
    ----------
    feature, output, direction : the question
    answer : ``"proven"``, ``"refuted"`` or ``"not decided"``
    how : how that was found
    bound : where not decided, no step against the direction is larger than this, on the raw scale; NaN where no bound is known
    example : where refuted, an input
    scale : the scale of the output
    """

    feature: Any
    output: Any
    direction: str
    answer: str
    how: str
    bound: float
    example: CounterExample | None = None
    scale: str = "response"


@dataclass(frozen=True)
class Flips:
    """What changing one column alone does to rows' predictions.

    Attributes
    ----------
    feature, output : which column, and of what
    levels : the values it was set to
    changed : share of rows whose prediction changes
    decided_otherwise : share of rows whose decision at `threshold` changes; None without one
    threshold : of decisions
    mean, largest : mean and largest absolute change over rows, each to the level that changes it most
    by_level : by the rows' own level: the share of rows that change, their share of changed decisions, mean and largest change
    examples : the rows that change most
    """

    feature: Any
    output: Any
    levels: tuple[Any, ...]
    changed: float
    decided_otherwise: float | None
    threshold: float | None
    mean: float
    largest: float
    by_level: Mapping[Any, Mapping[str, float]]
    examples: tuple[CounterExample, ...]

    def __str__(self) -> str:
        decisions = (
            "" if self.decided_otherwise is None
            else f"; {self.decided_otherwise:.2%} of decisions at {self.threshold:g}"
        )  # fmt: skip
        return (
            f"{self.feature}: {self.changed:.2%} of predictions of {self.output} change{decisions}; by {self.largest:.4g} at most, "
            f"{self.mean:.4g} on average"
        )


@dataclass(frozen=True)
class Bounds:
    """What an output lies between, over all inputs or a box of them; `is_attained` says for each whether an input has it."""

    output: Any
    lowest: float
    highest: float
    is_attained: tuple[bool, bool]
    box: Mapping[Any, Any]

    def __str__(self) -> str:
        ends = [
            f"{end:.6g}{'' if exact else ' (a bound)'}"
            for end, exact in zip((self.lowest, self.highest), self.is_attained)
        ]
        where = f" where {', '.join(f'{k} in {v}' for k, v in self.box.items())}" if self.box else ""
        return f"{self.output}{where}: from {ends[0]} to {ends[1]}"


@dataclass(frozen=True, eq=False, repr=False)
class Audit(ResultTable):
    """One row per feature and output (and group): whether rows' curves rise or fall, and what holds for every possible input.

    Columns: ``feature``, ``output``, ``group`` (with `by`), ``scale`` (declared constraints of several classes are judged on the
    raw scale, in rows of their own), ``direction`` (``increasing``, ``decreasing`` or empty) and its
    ``source``, the shares of rows whose curve only ``rises``, only ``falls``, does ``both`` or is ``flat``, ``holds`` (on all rows;
    None without a direction), the largest single step ``against`` the direction, its mean over rows, the largest fall in all
    ``total_against``, ``between`` which values the largest step lies, the largest ``jump`` in either direction and where,
    ``never_falls`` and ``never_rises`` (over every possible input: proven, refuted, not decided), the shares of rows whose
    prediction at a missing value lies above or below all of those at numbers, the mean and the largest absolute step
    ``to_missing`` from rows' own values and ``from_missing`` to the nearest value to the median, and ``method``.

    Attributes
    ----------
    examples : given rows as counter-examples, the worst first
    jumps : for features without a direction, the row with the largest single step
    missing_examples : the rows whose predictions change most when a value goes missing or appears
    everywhere : the answers for every possible input
    levels : for categories, a mapping of (feature, output) to a mapping of level pairs (a, b) to
        (share of rows whose prediction at b is larger than at a, largest such difference)
    group_levels : the same by (feature, output, group)
    flips : how predictions change when one column alone changes
    structure : which features can interact; None for models that are not read as trees
    broken_interactions : features found on one path although the declared constraints keep them apart
    bounds : lowest and highest possible value of each output
    asked : the arguments of the audit, for records
    """

    examples: tuple[CounterExample, ...] = ()
    jumps: tuple[CounterExample, ...] = ()
    missing_examples: tuple[CounterExample, ...] = ()
    everywhere: tuple[Everywhere, ...] = ()
    levels: Mapping[tuple[Any, Any], LevelPairs] = field(default_factory=dict)
    group_levels: Mapping[tuple[Any, Any, Any], LevelPairs] = field(default_factory=dict)
    flips: tuple[Flips, ...] = ()
    structure: Structure | None = None
    broken_interactions: tuple[frozenset[Any], ...] = ()
    bounds: tuple[Bounds, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        hidden = set(HIDDEN)
        if len(set(map(str, self.columns["output"].tolist()))) == 1:
            hidden.add("output")
        if len(set(self.columns["scale"].tolist())) == 1:
            hidden.add("scale")
        if not any(self.columns["direction"].tolist()):
            hidden |= {"direction", "holds", "against", "between"}
            hidden -= {"jump", "jump_between"}
        if not self.everywhere:
            hidden |= {"never_falls", "never_rises"}
        return {name: values for name, values in self.columns.items() if name not in hidden}

    @property
    def framed(self) -> Mapping[str, NDArray[Any]]:
        columns = dict(self.columns)
        for name in ("between", "jump_between"):
            pairs = columns.pop(name).tolist()
            for place, end in enumerate(("from", "to")):
                label = end if name == "between" else f"{name}_{end}"
                columns[label] = labels_column([None if p is None else str(p[place]) for p in pairs])
        return columns

    @property
    def ok(self) -> bool:
        """Whether every direction holds on all rows and none was refuted elsewhere, and no declared interaction constraint is broken."""
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not hold, in sentences."""
        sentences = []
        table = self.columns
        for i in range(len(self)):
            if table["holds"][i] is False and (("group" not in table) or table["group"][i] is None):
                sentences.append(
                    f"{table['feature'][i]} is not {table['direction'][i]}: {table['output'][i]} steps against it by up to "
                    f"{table['against'][i]:.4g} on given rows{self._of_scale(table['scale'][i])}"
                )
        broken = {(row.feature, row.output, row.direction, row.scale) for row in self.examples}
        for reply in self.everywhere:
            key = (reply.feature, reply.output, reply.direction, reply.scale)
            if reply.answer == "refuted" and self._direction(reply) == reply.direction and key not in broken:
                sentences.append(
                    f"{reply.feature} is not {reply.direction} for every input{self._of_scale(reply.scale)}: {reply.example or reply.how}"
                )
        for paths in self.broken_interactions:
            names = ", ".join(map(str, sorted(paths, key=str)))
            sentences.append(f"{names} are on one path, against the declared constraints")
        return tuple(sentences)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Directions asked for that were not decided for every possible input."""
        return tuple(
            f"{answer.feature} {answer.direction} for every input{self._of_scale(answer.scale)}: {answer.how}"
            + (
                f"; no step against it is larger than {answer.bound:.4g} on the raw scale"
                if np.isfinite(answer.bound)
                else ""
            )
            for answer in self.everywhere
            if answer.answer == "not decided" and self._direction(answer) == answer.direction
        )

    def _of_scale(self, scale: str) -> str:
        return "" if scale == self.columns["scale"][0] else f", on the {scale} scale"

    def _direction(self, answer: Everywhere) -> str:
        """The direction wanted of what a question is about."""
        table = self.columns
        for i in range(len(self)):
            key = table["feature"][i], table["output"][i], table["scale"][i]
            if key == (answer.feature, answer.output, answer.scale):
                return str(table["direction"][i])
        return ""

    @drawing
    def plot(
        self,
        value: str | tuple[str, ...] = ("rises", "falls", "both"),
        *,
        backend: Backend = "matplotlib",
        ax: Any = None,
        top: int | None = None,
        outputs: Any = None,
        title: str | None = None,
        colors: Any = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Bars of the shares of rows whose curve rises, falls, does both, or of any other column of numbers.

        Parameters
        ----------
        value : which column, or several, which are drawn side by side
        top : how many features
        backend, ax, outputs, title, colors, cmap, figsize : as in `Effect.plot`
        """

    def _drawn(self, value: Any = ("rises", "falls", "both"), **options: Any) -> Any:
        from icefield.plots import plot_importance

        keep = self.columns["scale"] == self.columns["scale"][0]
        if "group" in self.columns:
            keep &= np.array([group is None for group in self.columns["group"].tolist()])
        columns = {name: values[keep] for name, values in self.columns.items() if name != "direction"}
        return plot_importance(
            ResultTable(columns, self.title, (), self.library, naming=self.naming), value, **options
        )

    @property
    def document(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        from icefield.audit.plain_values import plain

        rows = [{name: values[i] for name, values in self.columns.items()} for i in range(len(self))]
        return {
            "ok": self.ok,
            "failures": list(self.failures),
            "undecided": list(self.undecided),
            "features": plain(rows),
            "examples": plain(self.examples),
            "jumps": plain(self.jumps),
            "missing_examples": plain(self.missing_examples),
            "every_input": plain(self.everywhere),
            "levels": [
                {"feature": plain(f), "output": plain(o), "group": plain(group), "pairs": [
                    {"from": plain(a), "to": plain(b), "share_larger": plain(s), "largest": plain(g)} for (a, b), (s, g) in pairs.items()
                ]} for (f, o, group), pairs in ({(*key, None): v for key, v in self.levels.items()} | dict(self.group_levels)).items()
            ],
            "flips": plain(self.flips),
            "never_together": [] if self.structure is None else plain(self.structure.never_together()),
            "never_used": [] if self.structure is None else plain(self.structure.unused),
            "broken_interactions": plain(self.broken_interactions),
            "bounds": plain(self.bounds),
            "notes": list(self.notes),
            "asked": plain(dict(self.asked)),
        }  # fmt: skip
