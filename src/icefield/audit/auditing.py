"""From what is asked to an `Audit`: rows, every possible input, declared constraints, flips and bounds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield import validate
from icefield.audit.domain import PROVEN, REFUTED, UNDECIDED, Domain, Verdict
from icefield.audit.flips import flips_of
from icefield.audit.input_boxes import Boxes, InputSpace, input_in, packed_levels, space_of
from icefield.audit.result import Audit, Bounds, CounterExample, Everywhere
from icefield.audit.row_steps import (
    EVERY_LEVEL,
    EXACT,
    FALL,
    LARGEST,
    RISE,
    SMALLEST,
    Example,
    FeatureSteps,
    Segment,
    audit_rows,
    has_order,
    model_column,
)
from icefield.audit.structure import structure_of
from icefield.core.study import Study
from icefield.data.columns import object_array
from icefield.data.features import Feature, listed_features
from icefield.data.frame import table_of
from icefield.errors import IcefieldError, InputError, InputTypeError, ModelError, did_you_mean
from icefield.libraries.declared import Declared, declared_constraints
from icefield.models.model import read_model
from icefield.statistics.tables import labels_column
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.forest.tree_model import TreeModel

INCREASING, DECREASING = "increasing", "decreasing"
GRID_POINTS = 100
DECLARED_ROWS = 20_000  # among which a pipeline's columns are followed
NUMERIC = {
    "rises", "falls", "both", "flat", "against", "mean_against", "total_against", "jump", "mean_step", "missing_above", "missing_below",
    "missing_beyond", "to_missing", "to_missing_most", "from_missing", "from_missing_most",
}  # fmt: skip
NEAREST_ROWS = 20_000
# Links that rise with the one raw output they take.
RISING = ("identity", "logistic", "exp", "log1p(exp)", "signed square", "anomaly score")


def audit(
    study: Study,
    features: Iterable[Any] | None = None,
    *,
    increasing: Any = (),
    decreasing: Any = (),
    declared: bool = True,
    everywhere: bool = True,
    seconds: float = 10.0,
    bounds: Any = False,
    flips: Any = None,
    threshold: float | None = None,
    points: int = GRID_POINTS,
    worst: int = 3,
    rows: Any = None,
) -> Audit:
    """The Audit of a model on rows and on every possible input; see `icefield.Explainer.audit`."""
    for name, given in (("declared", declared), ("everywhere", everywhere)):
        validate.flag(name, given)
    validate.count("points", points, least=2)
    validate.count("worst", worst)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise InputError.about(
            "seconds", "must be a number of seconds, 0 or more", seconds, "write seconds=60"
        )
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, (int, float))):
        raise InputTypeError.about("threshold", "must be a number", threshold, "write threshold=0.5")
    if study.sample.n_rows == 0:
        raise InputError("There are no rows to audit. Hint: give X with at least one row.")
    chosen = study.chosen(rows)
    along = [study.feature(name) for name in listed_features(features, study.model.columns)]
    wanted = _directions(study, increasing, decreasing)
    known = _declared(study) if declared else Declared()
    promised, remarks = _declared_directions(study, known)
    margins = _margins(study) if promised and _mixes_outputs(study) else study
    if margins is None:
        remarks += (
            f"not judged: the constraints on {', '.join(map(str, promised))}, which are about margins; the model has none",
        )
        promised = {}
    declared_here = promised if margins is study else {}
    directions = {**declared_here, **wanted}  # what was asked for comes before what was declared
    sources = dict.fromkeys(declared_here, "declared")
    sources |= {
        name: "asked, declared" if declared_here.get(name) == sign else "asked"
        for name, sign in wanted.items()
    }
    along += [f for f in map(study.feature, directions) if all(f.label != a.label for a in along)]
    auditor = _Auditor(study, audit_rows(study, along, points, worst, chosen.positions), directions, sources)
    auditors = [auditor]
    if margins is not study and margins is not None:
        steps = audit_rows(
            margins, [margins.feature(name) for name in promised], points, worst, chosen.positions
        )
        auditors.append(_Auditor(margins, steps, promised, dict.fromkeys(promised, "declared")))
        remarks += (
            f"declared constraints are about margins: judged on the raw scale ({', '.join(map(str, promised))}), not on probabilities",
        )
    verdicts = _for_every_input(auditors, seconds) if everywhere else []
    structure = None if study.plan.trees is None else structure_of(study.plan.trees, study.model.columns)
    together = [tuple(_label(study, key) for key in group) for group in known.together]
    broken = () if structure is None or not together else tuple(structure.broken(together))
    flipped = []
    for column in _names(() if flips is None else flips):
        flipped += flips_of(study, column, threshold, worst, chosen.positions)
    limits = auditor.bounds(bounds, seconds) if bounds else ()
    settings = {
        "features": [feature.label for feature in along],
        "increasing": [n for n, s in directions.items() if s > 0],
        "decreasing": [n for n, s in directions.items() if s < 0],
        "declared": {str(_label(study, k)): v for k, v in known.monotone.items()},
        "every_input": everywhere, "seconds": seconds, "points": points, "flips": [flip.feature for flip in flipped],
        "threshold": threshold, "rows": study.sample.n_rows if chosen.positions is None else len(chosen.positions),
        "scale": study.model.scale, "outputs": list(study.model.outputs), "seed": study.seed,
    }  # fmt: skip
    notes = auditor.notes(
        known, remarks, broken, structure, chosen.note, [*map(str, flipped), *map(str, limits)]
    )
    records, examples, jumps = zip(*(each.records(verdicts) for each in auditors))
    levels = auditor.levels()
    return Audit(
        _columns([record for part in records for record in part], study.rows.groups is not None),
        "Audit: how rows' predictions step along each feature", notes, study.rows.head.library,
        examples=tuple(example for part in examples for example in part), everywhere=tuple(verdicts),
        jumps=tuple(jump for part in jumps for jump in part), missing_examples=auditor.missing_examples(),
        levels={(f, o): pairs for (f, o, group), pairs in levels.items() if group is None},
        group_levels={key: pairs for key, pairs in levels.items() if key[2] is not None}, flips=tuple(flipped), structure=structure, broken_interactions=broken,
        bounds=limits, asked=settings, naming=study.naming,
    )  # fmt: skip


def _names(given: Any) -> list[Any]:
    return [given] if isinstance(given, (str, int)) else list(given)


def _directions(study: Study, increasing: Any, decreasing: Any) -> dict[Any, int]:
    """The directions a caller asks for, by column: 1 increasing, -1 decreasing."""
    directions: dict[Any, int] = {}
    for parameter, given, sign in (("increasing", increasing, 1), ("decreasing", decreasing, -1)):
        for name in _names(given):
            label = model_column(study, name, parameter)
            feature = study.feature(label)
            if not has_order(feature):
                raise InputError.about(parameter, f"names a feature of kind {feature.kind}, whose levels have no order", name,
                                    "leave it out; the audit compares its levels pair by pair, and a contract may give their `order`")  # fmt: skip
            if directions.get(label, sign) != sign:
                raise InputError.about("decreasing", "names a feature that `increasing` names too", name)
            directions[label] = sign
    return directions


def _label(study: Study, key: Any) -> Any:
    """The frame's column that a library's position or name means."""
    columns = study.model.columns
    if key in columns and not isinstance(key, int):
        return key
    return columns[key] if isinstance(key, int) and 0 <= key < len(columns) else key


def _declared(study: Study) -> Declared:
    """The constraints the model was fitted with, by the frame's columns."""
    table = study.sample.table.select(study.model.columns)
    table = table_of(study.model.form.of(table.slice(0, min(table.n_rows, DECLARED_ROWS))))
    known = declared_constraints(study.model.native, table)
    if table.names == study.model.columns:
        return known
    frame_name = dict(zip(table.names, study.model.columns))
    return replace(
        known,
        monotone={frame_name.get(key, key): sign for key, sign in known.monotone.items()},
        together=tuple(tuple(frame_name.get(key, key) for key in group) for group in known.together),
    )


def _declared_directions(study: Study, known: Declared) -> tuple[dict[Any, int], tuple[str, ...]]:
    """Declared directions by column (1 or -1), and remarks on constraints that cannot be judged."""
    signs, remarks = {}, []
    for key, sign in known.monotone.items():
        label = _label(study, key)
        if label not in study.model.columns:
            remarks.append(f"not judged: the constraint on {key!r}, which is no column of the model")
        elif not has_order(study.feature(label)):
            remarks.append(
                f"not judged: the constraint on {label!r}, whose kind here is {study.feature(label).kind}, without an order"
            )
        else:
            signs[label] = sign
    return signs, tuple(remarks) + tuple(f"constraints that were not read: {text}" for text in known.unread)


def _mixes_outputs(study: Study) -> bool:
    """Whether an output takes several margins, so that what holds of each need not hold of it."""
    trees, model = study.plan.trees, study.model
    if trees is None:
        return model.kind == "classifier" and model.scale == "response" and len(model.all_outputs) > 2
    return not study.plan.engine.additive and trees.link.name not in RISING


def _margins(study: Study) -> Study | None:
    """The same study on the raw scale; None where the model has none, or none with the same outputs."""
    model = study.model
    try:
        raw = read_model(
            model.native, study.sample.table, target="all", scale="raw", row_by_row=not model.across_rows
        )
    except IcefieldError:
        return None
    if len(raw.all_outputs) != len(model.all_outputs):
        return None
    return Study.of(replace(raw, selected=model.selected), study.rows, study.choices)


def _for_every_input(auditors: Sequence[_Auditor], seconds: float) -> list[Everywhere]:
    """Answers for every possible input, within one limit; those of what was declared on margins come first."""
    until, answers = time.monotonic() + seconds, []
    for left in range(len(auditors), 0, -1):
        answers.append(auditors[left - 1].everywhere(max(0.0, until - time.monotonic()) / left))
    return [answer for part in reversed(answers) for answer in part]


def _columns(records: Sequence[Mapping[str, Any]], grouped: bool) -> dict[str, Any]:
    """A table's columns of its records."""
    columns: dict[str, Any] = {}
    for name in records[0]:
        if name != "group" or grouped:
            values = [record[name] for record in records]
            columns[name] = np.array(values, np.float64) if name in NUMERIC else labels_column(values)
    return columns


def _check_numbers(every: Sequence[FeatureSteps]) -> None:
    for steps in every:
        for segments in steps.segments:
            if not np.isfinite(segments[0].largest).all() or not np.isfinite(segments[0].sums).all():
                raise ModelError(
                    f"Predictions along {steps.feature.label!r} are not all finite numbers: steps cannot be compared. "
                    "Hint: leave such rows out, or audit scale='raw'."
                )


@dataclass
class _DirectionQuestion:
    """One direction of one feature and output, for every possible input."""

    steps: FeatureSteps
    output: int
    sign: int


class _Auditor:
    """The parts of an audit of one study that share its rows' steps: verdicts, bounds, table and notes."""

    def __init__(
        self,
        study: Study,
        steps: Sequence[FeatureSteps],
        directions: Mapping[Any, int],
        sources: Mapping[Any, str],
    ) -> None:
        _check_numbers(steps)
        self.study, self.steps, self.directions, self.sources = study, list(steps), directions, sources
        self._domains: dict[int, Domain] = {}
        self._until = 0.0

    def sign(self, label: Any, output: int) -> int:
        """The direction wanted of an output: that of a binary classifier's first class is turned round."""
        sign = self.directions.get(label, 0)
        model = self.study.model
        binary = model.kind == "classifier" and len(model.all_outputs) == 2 and model.scale == "response"
        return -sign if binary and model.selected[output] == 0 else sign

    # --- every possible input ------------------------------------------------------------------

    def everywhere(self, seconds: float) -> list[Everywhere]:
        """The answers for every possible input, in the order of features."""
        trees = self.study.plan.trees
        if trees is None:
            return []
        questions = [
            _DirectionQuestion(steps, output, sign)
            for steps in self.steps
            if steps.is_ordered
            for output in range(len(self.study.model.outputs))
            for sign in (1, -1)
        ]
        # What was asked for comes first: it gets what time it needs.
        questions.sort(key=lambda q: self.sign(q.steps.feature.label, q.output) != q.sign)
        self._until = time.monotonic() + seconds
        answers = {id(q): answer for q in questions if (answer := self._by_rows(q)) is not None}
        open_questions = [q for q in questions if id(q) not in answers]
        for number, question in enumerate(open_questions):
            left = max(0.0, self._until - time.monotonic())
            until = time.monotonic() + left / max(1, len(open_questions) - number)
            answers[id(question)] = self._decide(trees, question, until)
        order = {steps.feature.label: i for i, steps in enumerate(self.steps)}
        questions.sort(key=lambda q: (order[q.steps.feature.label], q.output, -q.sign))
        return [answers[id(question)] for question in questions]

    def _by_rows(self, question: _DirectionQuestion) -> Everywhere | None:
        """The answer "refuted" where a given row steps against the direction; else None."""
        falls, rises = question.steps.worst[question.output]
        against = falls if question.sign > 0 else rises
        if not against or question.steps.method not in EXACT:
            return None
        example = self._example(question.steps, question.output, against[0], question.sign)
        return self._answer(question, Verdict(REFUTED, "a given row", abs(against[0].size)), example)

    def _answer(
        self, question: _DirectionQuestion, verdict: Verdict, example: CounterExample | None = None
    ) -> Everywhere:
        bound = 0.0 if verdict.answer == PROVEN else verdict.bound
        return Everywhere(
            question.steps.feature.label, self.study.model.outputs[question.output],
            INCREASING if question.sign > 0 else DECREASING, verdict.answer, verdict.how, bound, example, self.study.model.scale,
        )  # fmt: skip

    def _decide(self, trees: TreeModel, question: _DirectionQuestion, until: float) -> Everywhere:
        place = self._variable(question.steps.feature)
        if place is None:
            if question.steps.feature.label not in self._used(trees):
                return self._answer(question, Verdict(PROVEN, "the trees never use it"))
            how = "its values are transformed, shared or counted as missing before the trees compare them"
            return self._answer(question, Verdict(UNDECIDED, how, float("nan")))
        raw = self._raw(trees, question.output)
        if raw is None:
            return self._answer(question, self._softmax(trees, place, question, until))
        output, turned = raw
        verdict = self._domain(output).monotone(place, question.sign * turned, until)
        if verdict.answer != REFUTED or verdict.box is None:
            return self._answer(question, verdict)
        example = self._input(question, place, verdict)
        if example is None:
            how = "a search found inputs that no row of the frame can be given"
            return self._answer(question, Verdict(UNDECIDED, how, verdict.bound))
        moved = len(example.changed)
        how = f"an input that differs from row {example.row} in {moved} other feature{'s' * (moved != 1)}"
        return self._answer(question, Verdict(REFUTED, how, abs(verdict.step)), example)

    def _used(self, trees: TreeModel) -> tuple[Any, ...]:
        return structure_of(trees, self.study.model.columns).used

    def _softmax(self, trees: TreeModel, place: int, question: _DirectionQuestion, until: float) -> Verdict:
        """The verdict for softmax: a class's probability rises if its margin never falls and no other's ever rises."""
        if trees.link.name != "softmax":
            return Verdict(UNDECIDED, f"the link {trees.link.name!r} mixes outputs", float("nan"))
        selected = self.study.model.selected[question.output]
        for output in range(trees.forest.n_outputs):
            sign = question.sign if output == selected else -question.sign
            verdict = self._domain(output).monotone(place, sign, until)
            if verdict.answer != PROVEN:
                how = "margins that step both ways may still give probabilities that do not"
                return Verdict(UNDECIDED, how, float("nan"))
        return Verdict(PROVEN, "every margin by itself")

    def _raw(self, trees: TreeModel, output: int) -> tuple[int, int] | None:
        """The raw output that an output is a rising (1) or falling (-1) function of; None where it is of several."""
        selected = self.study.model.selected[output]
        if self.study.plan.engine.additive:
            return selected, 1
        if trees.link.name not in RISING:
            return None
        if trees.link.form is not None and trees.link.form.factor < 0:
            return None
        if len(self.study.model.all_outputs) == trees.forest.n_outputs + 1 == 2:
            return 0, 1 if selected else -1
        return (selected, 1) if len(self.study.model.all_outputs) == trees.forest.n_outputs else None

    @cached_property
    def space(self) -> InputSpace:
        trees = self.study.plan.trees
        assert trees is not None
        return space_of(self.study, trees)

    def _domain(self, output: int) -> Domain:
        if output not in self._domains:
            domain = self._domains[output] = Domain(self.space, output)
            # At most half of the time goes into what all questions need.
            domain.prepare(
                time.monotonic() + 0.5 * (self._until - time.monotonic()) / len(self.study.model.outputs)
            )
        return self._domains[output]

    def _variable(self, feature: Feature) -> int | None:
        named = (v.name == feature.label and v.is_interval for v in self.space.variables)
        return next((place for place, its_own in enumerate(named) if its_own), None)

    @cached_property
    def _encoded(self) -> Float:
        """Rows as the forest sees them."""
        table = self.study.sample.table.select(self.study.model.columns)
        table = table.slice(0, min(NEAREST_ROWS, table.n_rows))
        return np.asarray(self.space.trees.encode(table), np.float64)

    def _input(self, question: _DirectionQuestion, place: int, verdict: Verdict) -> CounterExample | None:
        """The found box as an input near the data, with what the model itself predicts of it."""
        box = verdict.box
        if box is None:
            return None
        variable = self.space.variables[place]
        free = Boxes(box.low.copy(), box.high.copy(), box.missing.copy(), box.levels)
        free.low[0, place], free.high[0, place], free.missing[0, place] = 0, variable.size, True
        row, changes, named = input_in(self.space, free, self._encoded)
        if not named:
            return None
        before, after = (variable.values[cell] for cell in verdict.cells)
        example = Example(row, verdict.step, before, after)
        return self._example(question.steps, question.output, example, question.sign, changes)

    def _example(
        self,
        steps: FeatureSteps,
        output: int,
        example: Example,
        sign: int,
        changed: Mapping[Any, Any] | None = None,
    ) -> CounterExample:
        """An example with the model's own predictions."""
        study = self.study
        table = study.sample.table.take(np.array([example.row]))
        for name, value in (changed or {}).items():
            feature = study.feature(name)
            is_number = isinstance(value, (float, int, np.number)) and not isinstance(value, bool)
            column = np.array([value]) if is_number else object_array([value])
            table = table.crossed(feature.axis(column, table).points)
        ends = object_array([example.before, example.after])
        if steps.values.dtype != object:
            ends = ends.astype(steps.values.dtype)
        predicted = study.model.predict(table.crossed(steps.feature.axis(ends, table).points))[:, output]
        direction = "" if sign == 0 else INCREASING if sign > 0 else DECREASING
        return CounterExample(
            steps.feature.label, study.model.outputs[output], direction, example.row, example.before, example.after,
            float(predicted[0]), float(predicted[1]), dict(changed or {}), study.model.scale,
        )  # fmt: skip

    # --- bounds --------------------------------------------------------------------------------

    def bounds(self, wanted: Any, seconds: float) -> tuple[Bounds, ...]:
        """Bounds of every output, over all inputs or a box of them."""
        trees = self.study.plan.trees
        given: Mapping[Any, Any] = wanted if isinstance(wanted, Mapping) else {}
        if trees is None:
            raise InputError(
                f"`bounds` over all inputs need a model read as trees: {self.study.plan.why}. Hint: leave `bounds` out."
            )
        box = self._box(given)
        limits = []
        for output, name in enumerate(self.study.model.outputs):
            raw = self._raw(trees, output)
            if raw is None:
                raise InputError(
                    f"`bounds` of {name!r} are not known on this scale: the link {trees.link.name!r} mixes outputs. Hint: scale='raw'."
                )
            until = self._until = time.monotonic() + seconds / max(1, len(self.study.model.outputs))
            low, high, *exact = self._domain(raw[0]).bounds(box, until, (np.inf, -np.inf))
            ends = [low, high]
            if not self.study.plan.engine.additive:
                linked = np.zeros((2, trees.forest.n_outputs))
                linked[:, raw[0]] = ends
                ends = trees.link.apply(linked)[:, self.study.model.selected[output]].tolist()
            if raw[1] < 0:
                ends, exact = ends[::-1], exact[::-1]
            limits.append(
                Bounds(name, float(ends[0]), float(ends[1]), (bool(exact[0]), bool(exact[1])), dict(given))
            )
        return tuple(limits)

    def _box(self, given: Mapping[Any, Any]) -> Boxes:
        """The inputs a user's box holds: ``{"age": (18, 30), "sex": ["male"]}``."""
        box, study = self.space.whole, self.study
        for name, wanted in given.items():
            label = model_column(study, name, "bounds")
            places = [v for v, variable in enumerate(self.space.variables) if variable.name == label]
            column = study.column(study.feature(name))
            if column.kind == "categorical" and isinstance(wanted, Sequence):
                levels = column.levels.tolist()
                for level in wanted:
                    if level not in levels:
                        hint = did_you_mean(level, levels)
                        raise InputError.about("bounds", f"names no level of {name!r}", level, hint)
            if not places:
                if study.plan.trees is not None and label not in self._used(study.plan.trees):
                    continue
                raise InputError.about(
                    "bounds", "names a feature that is transformed before the trees see it", name
                )
            place = places[0]
            variable, pair = self.space.variables[place], f"must give {name!r} a pair (lowest, highest)"
            if isinstance(wanted, (str, bytes)) or not isinstance(wanted, Sequence) or not len(wanted):
                raise InputError.about("bounds", f"{pair} or a list of levels", wanted)
            if not variable.is_interval:
                known = variable.values.tolist()
                start, stop = self.space.word_start[place], self.space.word_start[place + 1]
                box.levels[0, start:stop] &= packed_levels(np.array([v in list(wanted) for v in known]))
                continue
            if len(wanted) != 2 or not wanted[0] <= wanted[1]:
                raise InputError.about("bounds", pair, wanted, "write (18, 30)")
            low, high = np.searchsorted(
                variable.values.astype(np.float64), [float(end) for end in wanted]
            ).tolist()
            box.low[0, place], box.high[0, place] = min(low, variable.size - 1), min(high + 1, variable.size)
            box.missing[0, place] = False
        return box

    # --- the table -----------------------------------------------------------------------------

    @property
    def groups(self) -> list[Any]:
        """The labels of segments: None for all rows, then those of groups."""
        return [None] if self.study.rows.groups is None else [None, *self.study.rows.groups.labels]

    def levels(self) -> dict[tuple[Any, Any, Any], dict[tuple[Any, Any], tuple[float, float]]]:
        """Level pairs by feature, output and group."""
        return {
            (steps.feature.label, name, group): {
                (a, b): (float(steps.pairs[o][g, i, j]), float(steps.gaps[o][g, i, j]))
                for i, a in enumerate(steps.values.tolist()) for j, b in enumerate(steps.values.tolist()) if i != j
            }
            for steps in self.steps if not steps.is_ordered
            for o, name in enumerate(self.study.model.outputs) for g, group in enumerate(self.groups)
        }  # fmt: skip

    def missing_examples(self) -> tuple[CounterExample, ...]:
        """The rows whose predictions change most where a value goes missing, or comes."""
        return tuple(
            self._example(steps, output, example, 0)
            for steps in self.steps
            for output, examples in enumerate(steps.worst_missing)
            for example in examples
        )

    def records(
        self, verdicts: Sequence[Everywhere]
    ) -> tuple[list[dict[str, Any]], list[CounterExample], list[CounterExample]]:
        """The table's rows, the worst rows against each direction, and without one those with the largest jumps."""
        study = self.study
        answers = {
            (verdict.feature, verdict.output, verdict.direction): verdict.answer
            for verdict in verdicts
            if verdict.scale == study.model.scale
        }
        records, examples, jumps = [], [], []
        for steps in self.steps:
            for output, name in enumerate(study.model.outputs):
                sign = self.sign(steps.feature.label, output)
                falls, rises = steps.worst[output]
                against = falls if sign > 0 else rises if sign < 0 else []
                examples += [self._example(steps, output, example, sign) for example in against]
                if sign == 0:
                    largest = max(falls, rises, key=lambda rows: abs(rows[0].size) if rows else 0.0)
                    jumps += [self._example(steps, output, example, 0) for example in largest[:1]]
                for label, segment in zip(self.groups, steps.segments[output]):
                    record = self._record(steps, name, sign, segment, against if label is None else [])
                    decided = [answers.get((steps.feature.label, name, d)) for d in (INCREASING, DECREASING)]
                    record["never_falls"], record["never_rises"] = decided if label is None else (None, None)
                    records.append(record | {"group": label})
        return records, examples, jumps

    def _record(
        self, steps: FeatureSteps, output: Any, sign: int, segment: Segment, against: Sequence[Example]
    ) -> dict[str, Any]:
        total = segment.weight or np.nan
        worst = FALL if sign > 0 else RISE
        step = SMALLEST if sign > 0 else LARGEST
        jump = max(
            steps.worst[self.study.model.outputs.index(output)],
            key=lambda rows: abs(rows[0].size) if rows else 0.0,
        )
        broken = segment.largest[step] > 0
        return {
            "feature": steps.feature.label,
            "group": None,
            "output": output,
            "scale": self.study.model.scale,
            "direction": "" if sign == 0 else INCREASING if sign > 0 else DECREASING,
            "source": self.sources.get(steps.feature.label, ""),
            "rises": segment.rises / total,
            "falls": segment.falls / total,
            "both": segment.both / total,
            "flat": (segment.weight - segment.rises - segment.falls - segment.both) / total,
            "holds": None if sign == 0 else not broken,
            "against": segment.largest[step] if sign else np.nan,
            "mean_against": abs(segment.sums[step]) / total if sign else np.nan,
            "total_against": segment.largest[worst] if sign else np.nan,
            "between": (against[0].before, against[0].after) if against else None,
            "never_falls": None,
            "never_rises": None,
            "jump": float(max(segment.largest[SMALLEST], segment.largest[LARGEST])),
            "jump_between": (jump[0].before, jump[0].after) if jump else None,
            "mean_step": float(segment.sums[LARGEST] - segment.sums[SMALLEST]) / total,
            "missing_above": segment.missing_above / total if steps.has_missing else np.nan,
            "missing_below": segment.missing_below / total if steps.has_missing else np.nan,
            "missing_beyond": segment.missing_most if steps.has_missing else np.nan,
            "to_missing": segment.to_missing.mean,
            "to_missing_most": segment.to_missing.most,
            "from_missing": segment.from_missing.mean,
            "from_missing_most": segment.from_missing.most,
            "method": steps.method,
        }

    def notes(
        self,
        known: Declared,
        remarks: Sequence[str],
        broken: Any,
        structure: Any,
        sampled: str,
        beside: Sequence[str],
    ) -> tuple[str, ...]:
        """How it was decided, and what was found beside the table."""
        study = self.study
        grids = [steps for steps in self.steps if steps.is_ordered and steps.method not in EXACT]
        exact = [steps for steps in self.steps if steps.is_ordered and steps.method in EXACT]
        some = [steps for steps in self.steps if not steps.is_ordered and steps.method != EVERY_LEVEL]
        notes = [f"{study.rows.sample_said}; {study.how}"]
        if sampled:
            notes.append(sampled)
        if exact:
            notes.append(
                f"{len(exact)} features at every threshold of the model: decided exactly, not on a grid"
            )
        if grids:
            names = ", ".join(str(steps.feature.label) for steps in grids[:8])
            notes.append(f"{names}: on {grids[0].method}, so steps between grid points were not checked")
        notes += [f"{steps.feature.label}: {steps.method} were compared, not all" for steps in some]
        if known.monotone or known.together:
            notes.append(
                f"constraints declared in the model were read{': ' + known.source if known.source else ''}"
            )
        notes += remarks
        if structure is not None and study.plan.trees is not None:
            apart = structure.never_together()
            pairs = len(structure.used) * (len(structure.used) - 1) // 2
            notes.append(
                f"{len(apart)} of {pairs} pairs of features are on no common path: they cannot interact on the raw scale"
            )
            if structure.unused:
                notes.append(f"never used: {', '.join(map(str, structure.unused))}")
        if known.together:
            notes.append(f"declared interaction constraints: {'broken' if broken else 'kept'}")
        return (*notes, *beside)
