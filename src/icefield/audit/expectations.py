"""Expectations of a model, in a small TOML file: read, checked for contradictions, held against the model, drafted.

::

    [model]
    scale = "response"           # these results are about; checked against the Explainer
    rows = { origin = "JFK" }    # which rows: a value, a list of values, or { at_least = , at_most = }

    [features.age]
    direction = "increasing"     # or "decreasing", "flat"
    everywhere = true            # also for every possible input, not on the rows alone
    against = 0.0                # the largest single step against the direction that is let pass
    range = [-5.0, 20.0]         # the average curve lies in it
    effect = [0.5, 10.0]         # its highest less its lowest point
    order = ["low", "high"]      # levels by their average prediction, lowest first
    missing = "lowest"           # where missing stands on the average curve: lowest, highest, within, or like = a value
    disagreement = 0.5           # at most, in standard deviations of the predictions
    never_with = ["sex"]         # features it never interacts with
    top = 3                      # among the features that move predictions most
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.audit.auditing import audit
from icefield.audit.checking import BORDERLINE, FAIL, PASS, Check, Statement, number
from icefield.audit.row_steps import has_order
from icefield.core.effects import Request, compute_effects
from icefield.data.columns import is_missing_value
from icefield.errors import InputError, InputTypeError, MissingFileError, did_you_mean
from icefield.statistics.decision import decisions
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.audit.result import Audit
    from icefield.core.study import Study
    from icefield.effect import Effect

KEYS = ("direction", "everywhere", "against", "range", "effect", "order", "missing", "disagreement", "never_with", "top")  # fmt: skip
ON_CURVES = ("range", "effect", "order", "missing")  # of which the average curve decides
DIRECTIONS = ("increasing", "decreasing", "flat")
MISSING = ("lowest", "highest", "within")
Said = Iterator[tuple[str, ...]]  # expected, found, result, and detail where there is some
NOISE = 2.0  # standard errors within which a limit on an average is borderline
MOST_ORDERED = 12  # levels whose order is drafted
CLOSE = 0.05  # share of a movement within which a rank is borderline


@dataclass(frozen=True)
class Expectations:
    """What a model is held to.

    Attributes
    ----------
    features : by feature, its expectations by key
    rows : which rows it is about, by column
    settings : what else is said of the model (``scale``, ``target``)
    source : where it was read, and `digest` its SHA-256
    """

    features: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    digest: str = ""


def read_expectations(given: Any) -> Expectations:
    """Expectations from a file, its text's mapping, or as they are; an error names what cannot be or contradicts itself."""
    if isinstance(given, Expectations):
        return given
    source = digest = ""
    if isinstance(given, Mapping):
        document: Mapping[str, Any] = given
    elif isinstance(given, (str, Path)):
        path = Path(given)
        if not path.is_file():
            hint = "draft one with `icefield expect MODEL DATA`"
            raise MissingFileError.about("expectations", "names a file that does not exist", str(given), hint)
        raw = path.read_bytes()
        source, digest = str(path), hashlib.sha256(raw).hexdigest()
        try:
            document = tomllib.loads(raw.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise _wrong(f"is no TOML: {error}", str(given)) from error
    else:
        raise InputTypeError.about("expectations", "must be a file or a mapping", given)
    _check_known(document, ("model", "features"), "has a section that is not known")
    model = dict(document.get("model", {}))
    _check_known(model, ("rows", "scale", "target"), "has a key in [model] that is not known")
    features = {str(name): dict(spec) for name, spec in dict(document.get("features", {})).items()}
    for name, spec in features.items():
        _check_keys(name, spec)
    return Expectations(features, model.pop("rows", {}), model, source, digest)


def _wrong(problem: str, given: Any, hint: str | None = None) -> InputError:
    return InputError.about("expectations", problem, given, hint)


def _check_known(given: Iterable[Any], known: Sequence[str], problem: str) -> None:
    """An error for the first name that is not known."""
    for name in given:
        if name not in known:
            raise _wrong(problem, name, did_you_mean(name, known))


def _is_number(value: Any, kinds: Any = (int, float)) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _check_keys(name: str, spec: Mapping[str, Any]) -> None:
    """One feature's expectations: known keys, usable values, no contradiction."""

    def wrong(key: str, problem: str, hint: str | None = None) -> InputError:
        return _wrong(f"of {name!r}: `{key}` {problem}", spec[key], hint)

    _check_known(spec, KEYS, f"of {name!r} has a key that is not known")
    direction, missing, order = spec.get("direction"), spec.get("missing"), spec.get("order")
    if direction is not None and direction not in DIRECTIONS:
        raise wrong("direction", f"must be one of {', '.join(DIRECTIONS)}")
    for key in ("range", "effect"):
        limits = spec.get(key)
        if limits is None:
            continue
        if not (isinstance(limits, list) and len(limits) == 2 and all(map(_is_number, limits))):
            raise wrong(key, "must be two numbers", f"write {key} = [0.0, 1.0]")
        if limits[0] > limits[1]:
            raise wrong(key, "contradicts itself: the first number is the larger one")
    for key in ("against", "disagreement"):
        value = spec.get(key)
        if value is not None and (not _is_number(value) or value < 0):
            raise wrong(key, "must be a number, 0 or more")
    if "top" in spec and (not _is_number(spec["top"], int) or spec["top"] < 1):
        raise wrong("top", "must be a whole number, 1 or more")
    if "order" in spec and not (isinstance(order, list) and len(set(map(str, order))) == len(order) >= 2):
        raise wrong("order", "must list two or more different levels")
    is_like = isinstance(missing, Mapping) and set(missing) == {"like"}
    if missing is not None and missing not in MISSING and not is_like:
        raise wrong("missing", 'must be "lowest", "highest", "within" or { like = a value }')
    if "never_with" in spec and name in list(spec["never_with"]):
        raise wrong("never_with", "names the feature itself")
    if "order" in spec and direction in DIRECTIONS[:2]:
        problem = f"contradicts direction = {direction!r}: levels have an order of their own"
        raise wrong("order", problem, "keep one of them")
    if direction == "flat":
        if "top" in spec:
            raise wrong("top", "contradicts direction = 'flat': a flat feature does not move predictions")
        if spec.get("effect", [0, 0])[0] > 0:
            raise wrong("effect", "contradicts direction = 'flat'")
    if spec.get("effect") and spec.get("range") and spec["effect"][0] > spec["range"][1] - spec["range"][0]:
        raise wrong("effect", "contradicts `range`: an effect of that size does not fit into it")
    if spec.get("everywhere") and direction not in DIRECTIONS[:2]:
        raise wrong("everywhere", "needs direction = 'increasing' or 'decreasing'")


def rows_about(study: Study, rows: Mapping[str, Any]) -> Any:
    """Positions of the rows that expectations are about; None for all."""
    if not rows:
        return None
    table = study.sample.table
    keep = np.ones(table.n_rows, bool)
    for name, wanted in rows.items():
        _check_known([name], table.names, "is about rows by a column that X does not have")
        column = table.column(name)
        if isinstance(wanted, Mapping):
            numbers = column.to_float()
            for key, limit in wanted.items():
                if key not in ("at_least", "at_most"):
                    raise _wrong(
                        f"of rows by {name!r} has a key that is not known", key, "write at_least or at_most"
                    )
                keep &= numbers >= limit if key == "at_least" else numbers <= limit
            continue
        values = wanted if isinstance(wanted, list) else [wanted]
        keep &= np.isin(np.array([str(v) for v in column.values.tolist()]), [str(v) for v in values])
    if not keep.any():
        raise _wrong("is about no row at all", dict(rows), "look at `rows` in [model]")
    return np.flatnonzero(keep)


class _ExpectationCheck:
    """Checks a model against expectations; audit, curves and decisions are computed once, when first needed."""

    def __init__(self, study: Study, wanted: Expectations, rows: Any, seconds: float) -> None:
        self.study, self.wanted, self.rows, self.seconds = study, wanted, rows, seconds
        names = [str(c) for c in study.model.columns]
        _check_known(wanted.features, names, "is about a feature the model does not have")
        self.labels = {name: study.model.columns[names.index(name)] for name in wanted.features}
        for name, spec in wanted.features.items():
            feature = study.feature(self.labels[name])
            if spec.get("direction") in DIRECTIONS[:2] and not has_order(feature):
                raise _wrong(f"of {name!r}: `direction` is for numbers; this is {feature.kind}", spec["direction"],
                             "write order = [...] with its levels, lowest first")  # fmt: skip
            apart = spec.get("never_with", ())
            _check_known(apart, names, f"of {name!r}: `never_with` names a feature the model does not have")
        self._effects: dict[Any, Effect] = {}
        # About one output where `target` names it, else directions of all of them and the first one's curves.
        target = wanted.settings.get("target")
        names = [str(o) for o in study.model.outputs]
        self.only = study.model.outputs[names.index(str(target))] if target is not None else None
        self.output = names.index(str(target)) if target is not None else 0
        self.audit: Audit | None = None

    def statements(self) -> list[Statement]:
        features = self.wanted.features.items()
        directed = {self.labels[n]: spec["direction"] for n, spec in features if spec.get("direction")}
        labels = sorted(directed, key=lambda label: directed[label] == "flat")
        rising, falling = ([label for label in labels if directed[label] == way] for way in DIRECTIONS[:2])
        if labels:
            self.audit = audit(
                self.study, labels, increasing=rising, decreasing=falling, declared=False,
                everywhere=any(spec.get("everywhere") for _, spec in features), seconds=self.seconds, rows=self.rows,
            )  # fmt: skip
        return [
            Statement(name, key, *parts)
            for name, spec in sorted(features)
            for key in KEYS
            if key in spec and key != "against"
            for parts in getattr(self, f"_{key}")(name, spec)
        ]

    # --- from the audit ------------------------------------------------------------------------

    def _is_meant(self, output: Any) -> bool:
        return self.only is None or output == self.only

    def _direction(self, name: str, spec: Mapping[str, Any]) -> Said:
        audit, label = self.audit, self.labels[name]
        assert audit is not None
        allowed, direction = float(spec.get("against", 0.0)), spec["direction"]
        cases = enumerate(zip(audit["feature"].tolist(), audit["output"].tolist()))
        places = [i for i, (own_label, output) in cases if own_label == label and self._is_meant(output)]
        column = "jump" if direction == "flat" else "against"
        worst = max(float(audit[column][i]) for i in places)
        expected = direction + (f", steps against it up to {number(allowed)}" if allowed else "")
        if worst <= allowed:
            yield expected, f"holds at {audit['method'][places[0]]}", PASS
            return
        rows = audit.jumps if direction == "flat" else audit.examples
        detail = "; ".join(str(row) for row in rows if row.feature == label and self._is_meant(row.output))
        what = "predictions change" if direction == "flat" else "a step against it"
        yield expected, f"{what} of {number(worst)}", FAIL, detail

    def _everywhere(self, name: str, spec: Mapping[str, Any]) -> Said:
        if not spec["everywhere"] or self.audit is None:
            return
        about, allowed = (self.labels[name], spec["direction"]), float(spec.get("against", 0.0))
        answers = [e for e in self.audit.everywhere if (e.feature, e.direction) == about and self._is_meant(e.output)]  # fmt: skip
        for answer in answers:
            good = answer.answer == "proven" or (np.isfinite(answer.bound) and answer.bound <= allowed)
            result = PASS if good else FAIL if answer.answer == "refuted" else BORDERLINE
            yield f"{spec['direction']} for every input", f"{answer.answer}: {answer.how}", result, str(answer.example or "")  # fmt: skip
        if not answers:
            yield spec["direction"], "not decided: the model is not read as trees", FAIL

    # --- from average curves -------------------------------------------------------------------

    def _curve(self, name: str) -> tuple[Effect, Float, Float]:
        """A feature's effect, the average curve of the output it is about, and within which error that is known."""
        if not self._effects:
            names = [n for n, spec in self.wanted.features.items() if not spec.keys().isdisjoint(ON_CURVES)]
            features = [self.study.feature(self.labels[n]) for n in names]
            request = Request(sets=[(f,) for f in features], spread=True, rows=self.rows)
            self._effects = dict(zip(names, compute_effects(self.study, request)))
        effect = self._effects[name]
        average = effect.average[self.output]
        if effect.se is None:
            return effect, average, np.zeros_like(average)
        return effect, average, NOISE * np.nan_to_num(effect.se[self.output])

    def _range(self, name: str, spec: Mapping[str, Any]) -> Said:
        (effect, average, error), (low, high) = self._curve(name), spec["range"]
        beyond = np.maximum(average - high, low - average)
        place = int(beyond.argmax())
        worst = max(0.0, float(beyond[place]))
        where = f"{number(average[place])} at {effect.grid[0][place]}" if worst else ""
        ends = f"{number(average.min())} to {number(average.max())}"
        yield f"{low} to {high}", ends, _within(worst, float(error[place])), where

    def _effect(self, name: str, spec: Mapping[str, Any]) -> Said:
        (_, average, error), (low, high) = self._curve(name), spec["effect"]
        size = float(np.ptp(average))
        yield f"{low} to {high}", number(size), _within(max(size - high, low - size), float(error.max()))

    def _order(self, name: str, spec: Mapping[str, Any]) -> Said:
        effect, average, error = self._curve(name)
        at = {str(v): i for i, v in enumerate(effect.grid[0].tolist())}
        wanted = [str(v) for v in spec["order"]]
        expected, gone = " < ".join(wanted), [v for v in wanted if v not in at]
        if gone:
            yield expected, f"no level {', '.join(gone)} in the data", FAIL
            return
        values = {v: float(average[at[v]]) for v in wanted}
        drop, noise, i = max(
            (values[a] - values[b], float(np.hypot(error[at[a]], error[at[b]])), i)
            for i, (a, b) in enumerate(pairwise(wanted))
        )
        result = _within(drop, noise)
        detail = "" if result == PASS else f"{wanted[i]} lies {number(drop)} above {wanted[i + 1]}"
        yield expected, " < ".join(sorted(wanted, key=values.__getitem__)), result, detail

    def _missing(self, name: str, spec: Mapping[str, Any]) -> Said:
        (effect, average, error), wanted = self._curve(name), spec["missing"]
        gone = np.array([is_missing_value(v) for v in effect.grid[0].tolist()])
        text = wanted if isinstance(wanted, str) else f"like {wanted['like']}"
        if not gone.any():
            yield text, "no value is missing in the data", BORDERLINE
            return
        value, numbers = float(average[gone][0]), average[~gone]
        low, high = float(numbers.min()), float(numbers.max())
        if isinstance(wanted, Mapping):
            values = effect.grid[0][~gone]
            same = (
                np.flatnonzero(values == wanted["like"])
                if values.dtype == object
                else [int(np.abs(values.astype(float) - float(wanted["like"])).argmin())]
            )
            beyond = abs(value - float(numbers[same[0]])) if len(same) else np.inf
            beyond -= 0.05 * (high - low)
        else:
            ways = {"lowest": value - low, "highest": high - value, "within": max(low - value, value - high)}
            beyond = ways[wanted] - 1e-9 * (abs(low) + abs(high))
        observed = f"{number(value)} where numbers give {number(low)} to {number(high)}"
        yield text, observed, _within(beyond, float(error.max()))

    # --- from decisions and paths --------------------------------------------------------------

    @cached_property
    def decisions(self) -> Any:
        return decisions(self.study, rows=self.rows)

    def _disagreement(self, name: str, spec: Mapping[str, Any]) -> Said:
        size = self.decisions[self.labels[name]].reading.heterogeneity
        if size is None:
            yield f"at most {spec['disagreement']}", "unknown", BORDERLINE
            return
        limit = float(spec["disagreement"])
        result = PASS if size <= limit else BORDERLINE if size <= limit * (1 + CLOSE) else FAIL
        yield f"at most {limit}", number(size), result

    def _top(self, name: str, spec: Mapping[str, Any]) -> Said:
        order = list(self.decisions)
        rank, limit = order.index(self.labels[name]) + 1, spec["top"]
        result = PASS if rank <= limit else FAIL
        if result == FAIL:
            edge = self.decisions[order[min(limit, len(order)) - 1]].movement
            mine = self.decisions[self.labels[name]].movement
            result = BORDERLINE if edge and mine >= edge * (1 - CLOSE) else FAIL
        first = "first: " + ", ".join(map(str, order[:limit]))
        yield f"among the first {limit}", f"place {rank}", result, first

    def _never_with(self, name: str, spec: Mapping[str, Any]) -> Said:
        from icefield.audit.structure import structure_of
        from icefield.statistics.interactions import interactions

        trees, columns = self.study.plan.trees, self.study.model.columns
        if trees is not None:
            structure = structure_of(trees, columns)
            apart = {frozenset(map(str, pair)) for pair in structure.never_together()}
            used = set(map(str, structure.used))
            for other in spec["never_with"]:
                fine = frozenset((name, other)) in apart or name not in used or other not in used
                text = "never on one path (raw scale)" if fine else "some path splits on both"
                yield other, text, PASS if fine else FAIL
            return
        for other in spec["never_with"]:
            table = interactions(self.study, [self.labels[name], columns[[*map(str, columns)].index(other)]])
            strength = float(np.nanmax(table["strength"][table["order"] == 2]))
            result = PASS if strength <= 1e-6 else BORDERLINE if strength <= 0.02 else FAIL
            yield other, f"interaction of {number(strength)} on a sample", result


def _within(beyond: float, error: float) -> str:
    """Pass, borderline or fail, where a limit is passed by `beyond`, which is known within an error."""
    return PASS if beyond <= 0 else BORDERLINE if beyond <= error else FAIL


def check_expectations(study: Study, given: Any, seconds: float = 10.0) -> Check:
    """Hold a model to expectations.

    Parameters
    ----------
    study : the model and its rows
    given : a TOML file, or the same as a mapping
    seconds : time limit of the statements about every possible input
    """
    from icefield.audit.records import record_of

    wanted = read_expectations(given)
    if study.sample.n_rows == 0:
        raise InputError("There are no rows to check the model on. Hint: give X with at least one row.")
    scale = wanted.settings.get("scale")
    if scale is not None and scale != study.model.scale:
        problem = f"are about scale {scale!r}, and the Explainer is on {study.model.scale!r}"
        raise _wrong(problem, scale, f"write scale={scale!r}")
    target = wanted.settings.get("target")
    if target is not None and str(target) not in map(str, study.model.outputs):
        problem = f"are about the output {target!r}, which this Explainer does not have"
        raise _wrong(problem, target, did_you_mean(target, study.model.outputs))
    rows = rows_about(study, wanted.rows)
    held = _ExpectationCheck(study, wanted, rows, seconds)
    statements = held.statements()
    notes = [] if held.audit is None else list(held.audit.notes)
    if rows is not None:
        notes.insert(0, f"about {len(rows)} of {study.sample.n_rows} rows: {dict(wanted.rows)}")
    record = record_of(study, seconds=seconds, expectations=wanted)
    return Check.of(statements, "Check of expectations", notes, study.rows.head.library, record)


# --- a first draft -----------------------------------------------------------------------------------------


def draft(study: Study, features: Any = None, seconds: float = 10.0) -> str:
    """A first TOML file from what holds now: directions, ranges with a margin, orders of levels, where missing stands,
    disagreement, what never interacts, ranks. Of several outputs it is about the first."""
    table = audit(study, features, seconds=seconds, declared=False)
    names = list(dict.fromkeys(table["feature"].tolist()))
    made = decisions(study, names)
    lines = [
        "# Expectations for this model, drafted from how it behaves now. Delete what holds by accident, keep what must stay true.",
        "[model]", f'scale = "{study.model.scale}"',
    ]  # fmt: skip
    if len(study.model.outputs) > 1:
        lines.append(f"target = {_toml(str(study.model.outputs[0]))}")
    lines.append("")
    for name in names:
        spec = [
            *_draft_steps(study, table, name),
            *_draft_curve(made[name].effect, bool(study.column(study.feature(name)).any_missing)),
            *_draft_rank(made, name),
        ]
        if table.structure is not None and len(table.structure.used) <= 20:
            never = [b if a == name else a for a, b in table.structure.never_together() if name in (a, b)]
            if never:
                spec.append(f"never_with = [{', '.join(_toml(str(v)) for v in never)}]")
        if spec:
            lines += [f"[features.{_key(str(name))}]", *spec, ""]
    return "\n".join(lines)


def _draft_steps(study: Study, table: Audit, name: Any) -> list[str]:
    """The direction that every row's curve has, also for every possible input where that is proven."""
    output = study.model.outputs[0]
    i = next(i for i in range(len(table)) if table["feature"][i] == name and table["output"][i] == output)
    if (name, output) in table.levels:
        return []
    if table["jump"][i] == 0:
        return ['direction = "flat"']
    for direction, against in (("increasing", "falls"), ("decreasing", "rises")):
        if table[against][i] + table["both"][i] == 0:
            wanted = (name, output, direction, "proven")
            proven = any((e.feature, e.output, e.direction, e.answer) == wanted for e in table.everywhere)
            return [f'direction = "{direction}"', *(["everywhere = true"] if proven else [])]
    return []


def _draft_curve(effect: Effect, can_miss: bool) -> list[str]:
    """Range and size of the average curve with a margin, the order of few levels, and where missing stands."""
    average, grid = effect.average[0], effect.grid[0].tolist()
    low, high = float(np.min(average)), float(np.max(average))
    if not high > low:
        return []
    room, lines = 0.25 * (high - low), []
    gone = np.array([is_missing_value(v) for v in grid])
    if effect.kinds[0] == "categorical" and 1 < (~gone).sum() <= MOST_ORDERED:
        ranked = [str(grid[i]) for i in np.argsort(average, kind="stable").tolist() if not gone[i]]
        lines.append(f"order = [{', '.join(map(_toml, ranked))}]")
    lines.append(f"range = [{_short(low - room, room)}, {_short(high + room, room)}]")
    lines.append(f"effect = [{_short(0.5 * (high - low), room)}, {_short(1.5 * (high - low), room)}]")
    if can_miss and gone.any() and not gone.all():
        value, numbers = float(average[gone][0]), average[~gone]
        place = "lowest" if value <= numbers.min() else "highest" if value >= numbers.max() else "within"
        lines.append(f'missing = "{place}"')
    return lines


def _draft_rank(made: Any, name: Any) -> list[str]:
    """How differently rows respond, with a margin, and a place among the first three."""
    decision, rank, lines = made[name], list(made).index(name), []
    disagreement = decision.reading.heterogeneity
    if disagreement is not None and disagreement > 0:
        lines.append(f"disagreement = {_short(1.5 * disagreement, disagreement)}")
    if rank < 3 and decision.movement > 0:
        lines.append(f"top = {min(len(made), rank + 2)}")
    return lines


def _short(value: float, unit: float) -> str:
    """A number to about a hundredth of a unit."""
    step = 10.0 ** np.floor(np.log10(unit / 100.0))
    return repr(float(f"{round(value / step) * step:.12g}"))


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in escaped) + '"'


def _key(text: str) -> str:
    return text if text and all(c.isascii() and (c.isalnum() or c in "_-") for c in text) else _toml(text)
