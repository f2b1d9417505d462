"""The controller: what the page asks, answered by one Explainer, or several of the same rows, part by part as it is found.

A `Controller` holds what all clients share: the studies, the features' axes and grids, rows' places, answers about all rows. A
`Session` is one client: its requests carry numbers, the latest of a slot wins, and what it makes stale is stopped inside the
kernels. Numbers come from the calls that any user can make; `docs/explorer.md` lists them gesture by gesture.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.audit.auditing import audit
from icefield.audit.result import Audit
from icefield.core.changed_rows import changed_table, ice_curves, predictions_of
from icefield.core.effects import Request, compute_effects
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.given_values import given_values
from icefield.effect import Effect
from icefield.errors import IcefieldError, InputError, InputTypeError, complaint
from icefield.explore import code as python_code
from icefield.explore.explored_columns import ExploredColumn
from icefield.explore.messages import (
    SLOTS,
    VERSION,
    AnswerPart,
    BadMessage,
    number,
    number_of,
    slot_of,
    whole,
)
from icefield.explore.rules import checked, condition_words, in_words, mask_of
from icefield.models.model import read_model
from icefield.statistics.ale import ale
from icefield.statistics.conditional import conditional
from icefield.statistics.every_effect import every_effect
from icefield.statistics.importance import importance
from icefield.statistics.observations import observed_outputs
from icefield.statistics.regions import regions
from icefield.statistics.summary import summary
from icefield.statistics.support import row_inside, support_of
from icefield.threads import Cancellation, Stopped
from icefield.typing import Float, Positions
from icefield.wording.labels import predicted_text, with_unit
from icefield.wording.names import name_text, page_name
from icefield.wording.sentences import plain_words
from icefield.wording.values import number_text

if TYPE_CHECKING:
    from icefield.explainer import Explainer

Parts = Iterator[AnswerPart]
MOST_POINTS = 20_000
SECONDS = 30.0  # of work for one request
REGION_ROWS = 1_000
WANTED = ("curve", "curves", "band", "plane", "summary")


@dataclass(frozen=True, eq=False)
class View:
    """Which numbers are looked at: of which model, on which scale, of which output."""

    study: Study
    model: int
    scale: str
    output: int


class Controller:
    """What all clients of one explorer share.

    Parameters
    ----------
    explainers : one Explainer, or several by name, of the same rows
    title : heading of the page
    rows : whether single rows may leave the process: as sampled points, and to ask what if. Without, the page has curves,
        filters and summaries only
    points : how many points are sampled, at most 20,000
    seconds : of work for one request
    """

    def __init__(
        self, explainers: Explainer | Mapping[str, Explainer], *, title: str | None = None, rows: bool = True,
        points: int = MOST_POINTS, seconds: float = SECONDS,
    ) -> None:  # fmt: skip
        named = dict(explainers) if isinstance(explainers, Mapping) else {"": explainers}
        if not named:
            raise InputError(complaint("models", "must hold at least one Explainer", {}))
        self.names = [str(name) for name in named]
        self._studies = {(i, one.study.model.scale): one.study for i, one in enumerate(named.values())}
        self.study = next(iter(self._studies.values()))
        for one in named.values():
            one.study.needs_rows("the explorer")
            if one.study.sample.n_rows != self.study.sample.n_rows or list(one.study.model.columns) != list(
                self.study.model.columns
            ):
                raise InputError(
                    complaint("models", "must be Explainers of the same rows and features", list(named),
                              "build them with the same X")
                )  # fmt: skip
        if not isinstance(rows, bool):
            raise InputTypeError(complaint("rows", "must be True or False", rows))
        self.rows, self.points, self.seconds = rows, min(int(points), MOST_POINTS), seconds
        self.title = name_text(title, 120) if title else self._default_title()
        self._lock = threading.RLock()
        self._known: dict[Any, Any] = {}

    def _default_title(self) -> str:
        target = self.study.naming.target
        return (
            f"{page_name(target)[:1].upper()}{page_name(target)[1:]}"
            if target
            else type(self.study.model.native).__name__
        )

    def once(self, what: Any, make: Callable[[], Any]) -> Any:
        """What was made when this was first asked for; another client waits for it."""
        with self._lock:
            if what not in self._known:
                self._known[what] = make()
            return self._known[what]

    # --- studies and columns ---------------------------------------------------------------------

    def own_scale(self, model: int) -> str:
        """The scale that a model's Explainer was built with."""
        return next(scale for number, scale in self._studies if number == model)

    def scales(self, model: int) -> list[str]:
        """The scales a model can be looked at on, its own first."""
        own = self.own_scale(model)
        other = "raw" if own == "response" else "response"
        try:
            found = self.study_of(model, other)
            few = self.study.rows.head.slice(0, min(5, self.study.rows.head.n_rows))
            alike = np.array_equal(found.model.predict(few), self.study_of(model, own).model.predict(few))
        except IcefieldError:
            return [own]
        return [own] if alike else [own, other]

    def study_of(self, model: int, scale: str) -> Study:
        """The study of one model on a scale; an error where the model has none."""
        key = (model, scale)
        if key not in self._studies:
            self._studies[key] = self.once(("study", *key), lambda: self._rescaled(model, scale))
        return self._studies[key]

    def _rescaled(self, model: int, scale: str) -> Study:
        own = next(study for (number, _), study in self._studies.items() if number == model)
        chosen = own.model
        target = "all" if len(chosen.outputs) == len(chosen.all_outputs) else chosen.outputs[0]
        read = read_model(chosen.native, own.rows.head, target=target, scale=scale)
        if [str(o) for o in read.outputs] != [str(o) for o in chosen.outputs]:
            raise InputError(f"The {scale} scale of this model has other outputs.")
        return Study.of(read, own.rows, own.choices)

    @cached_property
    def ghosts(self) -> dict[Any, Effect]:
        """All features' effects over all rows, on the grids that every curve shares."""
        return every_effect(self.study, None)

    @cached_property
    def columns(self) -> list[ExploredColumn]:
        """The features in the model's order."""
        study = self.study
        with self._lock:
            return [
                ExploredColumn(effect, study.column(study.feature(name)), study.naming)
                for name, effect in self.ghosts.items()
            ]

    @property
    def features(self) -> list[Any]:
        return list(self.ghosts)

    @cached_property
    def grids(self) -> dict[Any, NDArray[Any]]:
        return {name: effect.grid[0] for name, effect in self.ghosts.items()}

    def curves(self, view: View, positions: Positions | None) -> Float:
        """All features' averages over some rows, one after another: ``(outputs, points)``."""
        if positions is None:
            return np.asarray(self.once(("curves", view.model, view.scale), lambda: self._curves(view, None)))
        return self._curves(view, positions)

    def _curves(self, view: View, positions: Positions | None) -> Float:
        if positions is None and view.study is self.study:
            return np.concatenate([effect.average for effect in self.ghosts.values()], axis=1)
        found = every_effect(view.study, None, grid=self.grids, rows=positions)
        return np.concatenate([effect.average for effect in found.values()], axis=1)

    # --- rows ------------------------------------------------------------------------------------

    @cached_property
    def predictions(self) -> Float:
        """The model's own predictions of every row of the sample, ``(rows, outputs)``."""
        return self.study.predictions()

    @cached_property
    def observed(self) -> Float | None:
        return observed_outputs(self.study)[0]

    @property
    def beside(self) -> tuple[str, ...]:
        """What rows have besides their columns, for scatters and rules."""
        return ("predicted",) if self.study.sample.y is None else ("observed", "predicted")

    def places(self, column: int | str) -> Float:
        """Each row's place on a column's axis."""
        if isinstance(column, int):
            return self.columns[column].places
        if column == "predicted":
            return self.once("predicted", lambda: self.predictions)[:, 0]
        if self.observed is None:
            raise BadMessage("What was observed cannot be compared with these predictions.", "column")
        return self.observed[:, 0]

    def mask(self, rule: Sequence[dict[str, Any]]) -> NDArray[np.bool_]:
        """The rows of the sample that a rule keeps."""
        kept = np.ones(self.study.sample.n_rows, bool)
        for one in rule:
            kept &= mask_of(self.places(one["column"]), one)
        return kept

    @cached_property
    def sampled(self) -> Positions:
        """Rows that scatters show, drawn with the seed."""
        count = self.study.sample.n_rows
        if count <= self.points:
            return np.arange(count)
        return np.sort(np.random.default_rng(self.study.seed).choice(count, self.points, replace=False))

    def check_rows_shown(self) -> None:
        """An error where single rows stay in the process."""
        if not self.rows:
            raise BadMessage(
                "Single rows are not shown here: the explorer was opened with rows=False.", "kind"
            )

    def open(self) -> Session:
        """A new client."""
        return Session(self)


# --- one client --------------------------------------------------------------------------------------


@dataclass(eq=False)
class _SlotJob:
    number: int
    work: Callable[[], Parts]
    send: Callable[[AnswerPart], None]
    began: float = 0.0
    late: bool = False
    wanted: Cancellation = field(default_factory=Cancellation)


class _Slot:
    """A worker thread that serves the latest request only: an older one is cancelled, or dropped from the queue."""

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._condition = threading.Condition()
        self._next: _SlotJob | None = None
        self._now: _SlotJob | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def put(self, job: _SlotJob) -> None:
        with self._condition:
            if self._closed:
                return
            dropped, self._next = self._next, job
            if self._now is not None:
                self._now.wanted.cancel()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"icefield-explore-{self._name}", daemon=True
                )
                self._thread.start()
            self._condition.notify()
        if dropped is not None:
            dropped.send(_error(dropped.number, "stopped", "A newer request took its place."))

    def close(self) -> None:
        with self._condition:
            self._closed, self._next = True, None
            if self._now is not None:
                self._now.wanted.cancel()
            self._condition.notify()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def watch(self, now: float) -> None:
        """Stop work that has taken too long."""
        job = self._now
        if job is not None and job.began and now - job.began > self._seconds:
            job.late = True
            job.wanted.cancel()

    def _run(self) -> None:
        while True:
            with self._condition:
                while self._next is None and not self._closed:
                    self._condition.wait()
                if self._closed:
                    return
                job, self._next = self._next, None
                self._now = job
            assert job is not None
            self._do(job)
            with self._condition:
                self._now = None

    def _do(self, job: _SlotJob) -> None:
        job.began = time.perf_counter()
        try:
            with job.wanted.watched():
                for part in job.work():
                    job.wanted.check()
                    took = 1000 * (time.perf_counter() - job.began)
                    job.send(
                        AnswerPart(
                            {"v": VERSION, "re": job.number, **part.head, "ms": round(took, 1)}, part.arrays
                        )
                    )
        except Stopped:
            said = (
                f"This took longer than {self._seconds:g} s: choose fewer rows."
                if job.late
                else "A newer request took its place."
            )
            job.send(_error(job.number, "limit" if job.late else "stopped", said))
        except BadMessage as error:
            job.send(_error(job.number, "input", str(error), error.where))
        except IcefieldError as error:
            job.send(_error(job.number, "input", str(error)))
        except MemoryError:
            job.send(_error(job.number, "limit", "There is not enough memory for this: choose fewer rows."))
        except Exception as error:  # the page must live on; the trace stays here
            job.send(_error(job.number, "bug", f"{type(error).__name__} in icefield: see the Python side."))
            import traceback

            traceback.print_exc()


def _error(number: int, kind: str, say: str, where: str = "") -> AnswerPart:
    return AnswerPart(
        {"v": VERSION, "re": number, "done": True, "error": {"kind": kind, "say": say, "field": where}}
    )


class Session:
    """One client of a controller: `ask` takes a request and answers through `send`, from other threads."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self._slots = {name: _Slot(name, controller.seconds) for name in SLOTS}
        self._rules: dict[str, NDArray[np.bool_]] = {}
        self._picks = 0
        self._unchanged: tuple[Any, Float] | None = None
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None

    def ask(self, message: Any, send: Callable[[AnswerPart], None]) -> None:
        """Take one request; its answers come later, and an error where it cannot be understood comes at once."""
        number = message.get("id") if isinstance(message, dict) else None
        try:
            if not isinstance(message, dict):
                raise BadMessage("A request must be an object.")
            if message.get("v") != VERSION:
                raise BadMessage(f"This explorer speaks version {VERSION} of its messages.", "v")
            number = number_of(message)
            kind, slot = message.get("kind"), slot_of(message)
            handler = HANDLERS.get(kind) if isinstance(kind, str) else None
            if handler is None:
                raise BadMessage(f"There is no request {kind!r:.40}.", "kind")
        except BadMessage as error:
            known = number if isinstance(number, int) and not isinstance(number, bool) else -1
            send(_error(known, "input", str(error), error.where))
            return
        if self._watch is None:
            self._watch = threading.Thread(target=self._watched, name="icefield-explore-watch", daemon=True)
            self._watch.start()
        self._slots[slot].put(_SlotJob(number, lambda: handler(self, message), send))

    def close(self, seconds: float = 0.0) -> None:
        """Stop all work for this client, waiting up to this many seconds."""
        self._closed.set()
        for slot in self._slots.values():
            slot.close()
        if seconds:
            for slot in self._slots.values():
                slot.join(seconds)

    def _watched(self) -> None:
        while not self._closed.wait(0.5):
            for slot in self._slots.values():
                slot.watch(time.perf_counter())

    # --- what requests name ----------------------------------------------------------------------

    def _view(self, message: Mapping[str, Any]) -> View:
        controller = self.controller
        model = whole(message, "model", 0, len(controller.names), 0)
        scale = message.get("scale") or controller.own_scale(model)
        if scale not in ("response", "raw"):
            raise BadMessage("scale must be response or raw.", "scale")
        study = controller.study_of(model, scale)
        return View(study, model, scale, whole(message, "output", 0, len(study.model.outputs), 0))

    def _feature(self, message: Mapping[str, Any], name: str = "feature") -> int:
        return whole(message, name, 0, len(self.controller.columns))

    def _rule(self, message: Mapping[str, Any], name: str = "rule") -> list[dict[str, Any]]:
        return checked(message.get(name, []), self.controller.columns, self.controller.beside)

    def _kept(self, rule: list[dict[str, Any]]) -> NDArray[np.bool_] | None:
        """The rows that a rule keeps, None for all of them; the last few rules are remembered."""
        if not rule:
            return None
        key = json.dumps(rule)
        if key not in self._rules:
            while len(self._rules) >= 4:
                del self._rules[next(iter(self._rules))]
            self._rules[key] = self.controller.mask(rule)
        return self._rules[key]

    def _positions(self, message: Mapping[str, Any]) -> Positions | None:
        kept = self._kept(self._rule(message))
        return None if kept is None else np.flatnonzero(kept)

    def _row(self, message: Mapping[str, Any]) -> int:
        self.controller.check_rows_shown()
        return whole(message, "row", 0, self.controller.study.sample.n_rows)

    def _values(self, message: Mapping[str, Any]) -> dict[int, Any]:
        """Column number -> the value it is changed to."""
        given = message.get("values", {})
        columns = self.controller.columns
        if not isinstance(given, dict) or len(given) > len(columns):
            raise BadMessage("values must map columns' numbers to places.", "values")
        found = {}
        for key, place in given.items():
            if not str(key).isdigit() or int(key) >= len(columns):
                raise BadMessage(f"values names a column that is not there: {key!r:.40}.", "values")
            found[int(key)] = columns[int(key)].value(place, f"values.{key}")
        return found

    # --- answers ---------------------------------------------------------------------------------

    def about(self, message: Mapping[str, Any]) -> Parts:
        """All that does not change: features with axes and grids, histograms, models, outputs."""
        own, study = self.controller, self.controller.study
        columns = own.columns
        naming, model = study.naming, study.model
        sampled = study.rows.is_sampled or not study.rows.resident
        engine = study.plan.engine.name
        head = {
            "part": "about", "done": True, "title": own.title, "model": type(model.native).__name__,
            "n_rows": int(study.rows.n_rows), "sample_rows": int(study.sample.n_rows), "seed": study.seed,
            "note": f"Curves are of all {counted(study.rows.n_rows)} rows; filters are of {study.rows.sample_said}." if sampled else "",
            "exact": engine != "brute", "why": study.why(study.plan), "weighted": study.sample.weights is not None,
            "outputs": [name_text(str(o), 60) for o in model.outputs],
            "what": [predicted_text(naming, model.scale_label, model.outputs, o if len(model.outputs) > 1 else None) for o in range(len(model.outputs))],
            "value": with_unit(naming, model.scale_label, predicted_text(naming, model.scale_label, model.outputs, None)),
            "unit": naming.target_unit, "models": [name_text(name, 60) if name else "" for name in own.names], "scales": own.scales(0), "scale": model.scale,
            "rows": own.rows, "observed": own.observed is not None, "beside": list(own.beside),
            "points": len(own.sampled) if own.rows else 0,
            "features": [
                {"name": str(c.name), "label": c.label, "axis": c.axis(), "n": len(c.grid), "bars": c.n_bars, "edges": c.edges,
                 "texts": [c.text(v) for v in c.grid]}
                for c in columns
            ],
        }  # fmt: skip
        arrays = {
            "x": ("f8", np.concatenate([c.grid_places for c in columns])),
            "bars": ("f8", np.concatenate([c.counts(None, study.sample.weights) for c in columns])),
        }
        yield AnswerPart(head, arrays)

    def filtered(self, message: Mapping[str, Any]) -> Parts:
        """A filter: its count and the shown curve first, then all curves, bands, plane and summary."""
        own, view, rule = self.controller, self._view(message), self._rule(message)
        feature = self._feature(message)
        wanted = message.get("want", list(WANTED))
        if not isinstance(wanted, list) or any(w not in WANTED for w in wanted):
            raise BadMessage(f"want lists some of {', '.join(WANTED)}.", "want")
        kept = self._kept(rule)
        positions = None if kept is None else np.flatnonzero(kept)
        count = own.study.sample.n_rows if positions is None else len(positions)
        parts = 1 + len(wanted)
        weights = own.study.sample.weights
        head: dict[str, Any] = {
            "part": "count", "of": parts, "done": parts == 1 or not count, "rows": count,
            "words": in_words(rule, own.columns), "conditions": [condition_words(one, own.columns) for one in rule],
            "weight": float(count if weights is None else (weights if kept is None else weights[kept]).sum()),
        }  # fmt: skip
        arrays = {"bars": ("f8", np.concatenate([c.counts(kept, weights) for c in own.columns]))}
        if own.rows:
            arrays["kept"] = ("u1", np.ones(len(own.sampled), bool) if kept is None else kept[own.sampled])
        if not count:
            head["empty"] = self._which_to_drop(rule)
        yield AnswerPart(head, arrays)
        if not count:
            return
        shown = {"part": "", "of": parts, "rows": count}
        for place, part in enumerate(w for w in WANTED if w in wanted):
            done = place + 2 == parts
            if part == "curve":
                yield self._curve(view, feature, positions, {**shown, "part": part, "done": done})
            elif part == "curves":
                yield AnswerPart(
                    {**shown, "part": part, "done": done}, {"y": ("f8", own.curves(view, positions))}
                )
            elif part == "band":
                yield self._band(view, feature, positions, {**shown, "part": part, "done": done})
            elif part == "plane":
                yield self._plane(view, positions, {**shown, "part": part, "done": done})
            else:
                yield self._summary(view, positions, {**shown, "part": part, "done": done})

    def _which_to_drop(self, rule: list[dict[str, Any]]) -> dict[str, Any]:
        """Without which condition a filter that keeps nothing would keep most rows."""
        left = [int(self.controller.mask(rule[:i] + rule[i + 1 :]).sum()) for i in range(len(rule))]
        best = int(np.argmax(left))
        return {
            "condition": best,
            "rows": left[best],
            "say": f"No row is {in_words(rule, self.controller.columns)}.",
        }

    def _effect(self, view: View, feature: int, positions: Positions | None, **more: Any) -> Effect:
        name = self.controller.features[feature]
        request = Request(
            sets=[(name,)], grid=self.controller.grids[name], rows=positions, **{"spread": False, **more}
        )
        return compute_effects(view.study, request)[0]

    def _curve(
        self, view: View, feature: int, positions: Positions | None, head: dict[str, Any]
    ) -> AnswerPart:
        own = self.controller
        effect = self._effect(view, feature, positions)
        start = sum(len(c.grid) for c in own.columns[:feature])
        every = own.curves(view, None)[:, start : start + len(effect.grid[0])]
        words = self._sentence(view, effect)
        compared = (
            ""
            if positions is None
            else self._compared(view, effect.average[view.output], every[view.output], feature)
        )
        return AnswerPart(
            {**head, "feature": feature, "sentence": words, "compared": compared},
            {"y": ("f8", effect.average), "ghost": ("f8", every)},
        )

    def _sentence(self, view: View, effect: Effect) -> str:
        study = view.study
        several = len(study.model.outputs) > 1
        what = predicted_text(
            study.naming, study.model.scale_label, study.model.outputs, view.output if several else None
        )
        said = plain_words(effect.reading.each[view.output], what)
        return said[:1].upper() + said[1:]

    def _compared(self, view: View, here: Float, all_rows: Float, feature: int) -> str:
        """How the curve of the filtered rows differs from that of all: how far each moves, and which lies higher."""
        known = np.isfinite(here) & np.isfinite(all_rows)
        if not known.any():
            return ""
        column = self.controller.columns[feature]
        weight = column.counts(None, self.controller.study.sample.weights) if not column.ordered else None
        if weight is not None and len(weight) - 1 == len(here):
            weight = weight[:-1][known] + 1e-9
        else:
            weight = None
        move = float(np.ptp(here[known]) - np.ptp(all_rows[known]))
        level = float(np.average((here - all_rows)[known], weights=weight))
        unit = f" {view.study.naming.target_unit}" if view.study.naming.target_unit else ""
        size = max(float(np.ptp(all_rows[known])), 1e-300)
        moves = (
            "as far as"
            if abs(move) < 0.02 * size
            else f"{number_text(abs(move))}{unit} {'more' if move > 0 else 'less'} than"
        )
        lies = (
            "at the same level"
            if abs(level) < 0.02 * size
            else f"{number_text(abs(level))}{unit} {'higher' if level > 0 else 'lower'}"
        )
        return f"For these rows it moves {moves} for all rows, and lies {lies}."

    def _band(
        self, view: View, feature: int, positions: Positions | None, head: dict[str, Any]
    ) -> AnswerPart:
        own = self.controller
        effect = self._effect(view, feature, positions, spread=True, quantiles=python_code.QUANTILES)
        name = own.features[feature]
        support = own.once(
            ("support", feature),
            lambda: support_of(own.study, own.study.resolve([name]), effect.grid, effect.weight),
        )
        low = support.low | self._outside(feature, positions)
        quantiles = (
            np.stack([effect.quantiles[q] for q in python_code.QUANTILES])
            if effect.quantiles
            else np.zeros((0,))
        )
        return AnswerPart(
            {**head, "feature": feature},
            {"q": ("f8", quantiles), "low": ("u1", low), "std": ("f8", np.asarray(effect.std))},
        )

    def _outside(self, feature: int, positions: Positions | None) -> NDArray[np.bool_]:
        """Grid points beyond all values of the filtered rows, and levels that none of them has."""
        column = self.controller.columns[feature]
        at = column.grid_places
        if positions is None:
            return np.zeros(len(at), bool)
        own = column.places[positions]
        known = own[np.isfinite(own)]
        if not column.ordered:
            return ~np.isin(at, known)
        gone = np.isnan(at) & bool(np.isfinite(own).all())
        if not len(known):
            return np.isfinite(at) | gone
        return (at < known.min()) | (at > known.max()) | gone

    def _plane(self, view: View, positions: Positions | None, head: dict[str, Any]) -> AnswerPart:
        own = self.controller

        def made() -> dict[str, Float]:
            table = importance(view.study, permutation=False, rows=positions)
            names, outputs = list(table["feature"]), [str(o) for o in table["output"]]
            wanted = str(view.study.model.outputs[view.output])
            found = {}
            for measure in ("strength", "heterogeneity", "movement"):
                of = {n: v for n, o, v in zip(names, outputs, table[measure]) if o == wanted}
                found[measure] = np.array([of[name] for name in own.features], np.float64)
            return found

        key = ("plane", view.model, view.scale, view.output)
        found = own.once(key, made) if positions is None else made()
        return AnswerPart(head, {name: ("f8", values) for name, values in found.items()})

    def _summary(self, view: View, positions: Positions | None, head: dict[str, Any]) -> AnswerPart:
        def made() -> dict[str, Any]:
            table = summary(view.study, rows=positions)
            names = list(table["feature"])
            said = {
                name: {
                    "shape": str(s),
                    "partner": None if p is None else page_name(view.study.naming.name(p)),
                    "warning": w,
                }
                for name, s, p, w in zip(names, table["shape"], table["partner"], table["warning"])
            }
            return {
                "features": [said[name] for name in self.controller.features],
                "warnings": list(table.warnings),
            }

        found = (
            self.controller.once(("summary", view.model, view.scale), made) if positions is None else made()
        )
        return AnswerPart({**head, **found})

    def curve(self, message: Mapping[str, Any]) -> Parts:
        """Another feature under the same filter: its curve, then its band."""
        view, feature, positions = self._view(message), self._feature(message), self._positions(message)
        if positions is not None and not len(positions):
            raise BadMessage("The filter keeps no row.", "rule")
        yield self._curve(view, feature, positions, {"part": "curve", "of": 2, "done": False})
        yield self._band(view, feature, positions, {"part": "band", "of": 2, "done": True})

    def compared(self, message: Mapping[str, Any]) -> Parts:
        """The shown feature's curves of several cohorts, or of several models, on one grid."""
        view, feature = self._view(message), self._feature(message)
        own = self.controller
        if message.get("rules") is not None:
            rules = message["rules"]
            if not isinstance(rules, list) or len(rules) > 8:
                raise BadMessage("rules lists at most 8 cohorts.", "rules")
            curves, counts = [], []
            for number, rule in enumerate(rules):
                kept = self._kept(checked(rule, own.columns, own.beside))
                positions = None if kept is None else np.flatnonzero(kept)
                counts.append(own.study.sample.n_rows if positions is None else len(positions))
                if not counts[-1]:
                    raise BadMessage(f"Cohort {number + 1} keeps no row.", f"rules[{number}]")
                curves.append(self._effect(view, feature, positions).average)
            yield AnswerPart(
                {"part": "compared", "done": True, "feature": feature, "rows": counts},
                {"y": ("f8", np.stack(curves))},
            )
            return
        positions = self._positions(message)
        curves = []
        for number in range(len(own.names)):
            other = self._view({**message, "model": number})
            curves.append(self._effect(other, feature, positions).average)
        yield AnswerPart(
            {"part": "compared", "done": True, "feature": feature, "names": own.names},
            {"y": ("f8", np.stack(curves))},
        )

    def surface(self, message: Mapping[str, Any]) -> Parts:
        """Two features together."""
        view, first, second = self._view(message), self._feature(message), self._feature(message, "second")
        if first == second:
            raise BadMessage("A surface has two different features.", "second")
        own = self.controller
        names = own.features[first], own.features[second]
        (effect,) = compute_effects(
            view.study, Request(sets=[names], spread=False, rows=self._positions(message))
        )
        places = [own.columns[i].placed(grid) for i, grid in zip((first, second), effect.grid)]
        texts = [[own.columns[i].text(v) for v in grid] for i, grid in zip((first, second), effect.grid)]
        head = {"part": "surface", "done": True, "feature": first, "second": second, "texts": texts}
        yield AnswerPart(head, {"x": ("f8", places[0]), "z": ("f8", places[1]), "y": ("f8", effect.average)})

    def local(self, message: Mapping[str, Any]) -> Parts:
        """Accumulated local effects of the shown feature, at the level of the average curve."""
        view, feature, positions = self._view(message), self._feature(message), self._positions(message)
        own = self.controller
        name = own.features[feature]
        effect = ale(view.study, name, rows=positions)
        places = own.columns[feature].placed(effect.grid[0])
        yield AnswerPart(
            {"part": "ale", "done": True, "feature": feature},
            {"x": ("f8", places), "y": ("f8", effect.average)},
        )

    def means(self, message: Mapping[str, Any]) -> Parts:
        """Observed and predicted means of the rows near each value."""
        view, feature, positions = self._view(message), self._feature(message), self._positions(message)
        own = self.controller
        table = conditional(view.study, own.features[feature], rows=positions)
        outputs, bins = len(view.study.model.outputs), len(table["value"]) // len(view.study.model.outputs)
        places = own.columns[feature].placed(table["value"][:bins])
        arrays = {"x": ("f8", places), "weight": ("f8", table["weight"][:bins])}
        for measure in ("observed", "predicted"):
            if measure in table.columns:
                arrays[measure] = ("f8", np.asarray(table[measure], np.float64).reshape(outputs, bins))
        yield AnswerPart(
            {
                "part": "observed",
                "done": True,
                "feature": feature,
                "bins": [str(b) for b in table["bin"][:bins]],
            },
            arrays,
        )

    def regions(self, message: Mapping[str, Any]) -> Parts:
        """Why rows differ: rules within which curves agree, over the whole axis or a brushed stretch of it."""
        view, feature, positions = self._view(message), self._feature(message), self._positions(message)
        own = self.controller
        rows: Any = positions
        if positions is not None and len(positions) > REGION_ROWS:
            rows = np.sort(
                np.random.default_rng(own.study.seed).choice(positions, REGION_ROWS, replace=False)
            )
        grid = own.grids[own.features[feature]]
        at = own.columns[feature].grid_places
        if message.get("from") is not None or message.get("to") is not None:
            low = -np.inf if message.get("from") is None else number(message["from"], "from")
            high = np.inf if message.get("to") is None else number(message["to"], "to")
            inside = (at >= low) & (at <= high)
            if inside.sum() < 2:
                raise BadMessage("The stretch holds fewer than two grid points: brush a wider one.", "from")
            grid = grid[inside]
        found = regions(view.study, own.features[feature], rows=rows, grid=grid)
        head = {
            "part": "regions", "done": True, "feature": feature, "rules": [page_name(str(r), 200) for r in found["rule"]],
            "share": [float(s) for s in found["share"]] if "share" in found.columns else [], "note": "; ".join(found.notes[:2]),
        }  # fmt: skip
        yield AnswerPart(head)

    def audited(self, message: Mapping[str, Any]) -> Parts:
        """For how many rows predictions rise, fall or do both along a feature, decided at every threshold of trees."""
        view, feature, positions = self._view(message), self._feature(message), self._positions(message)
        found = audit(view.study, [self.controller.features[feature]], everywhere=False, rows=positions)
        said = _audit_words(found, self.controller.features[feature], view.output)
        yield AnswerPart({"part": "audit", "done": True, "feature": feature, "say": said})

    # --- one row ---------------------------------------------------------------------------------

    def pick(self, message: Mapping[str, Any]) -> Parts:
        """Choose a row: typical, random, the worst error, or by its number, then with values changed; among the filtered ones."""
        own = self.controller
        own.check_rows_shown()
        view, positions = self._view(message), self._positions(message)
        how = message.get("how", "typical")
        among = np.arange(own.study.sample.n_rows) if positions is None else positions
        values: dict[int, Any] = {}
        if not len(among):
            raise BadMessage("The filter keeps no row to choose from.", "rule")
        if isinstance(how, int) and not isinstance(how, bool):
            row = whole(message, "how", 0, own.study.sample.n_rows)
            values = self._values(message)
        elif how == "typical":
            predicted = own.predictions[among, min(view.output, own.predictions.shape[1] - 1)]
            row = int(among[np.argsort(predicted, kind="stable")[len(among) // 2]])
        elif how == "random":
            self._picks += 1
            row = int(np.random.default_rng((own.study.seed, self._picks)).choice(among))
        elif how == "worst":
            if own.observed is None:
                raise BadMessage("The worst error needs what was observed: give y to the Explainer.", "how")
            error = np.abs(own.predictions[among] - own.observed[among])[
                :, min(view.output, own.observed.shape[1] - 1)
            ]
            row = int(among[int(np.nanargmax(error))])
        elif isinstance(how, dict) and how.get("near"):
            row = self._nearest(among, how["near"])
        else:
            raise BadMessage(
                "how must be typical, random, worst, a row's number or values to be near.", "how"
            )
        observed = (
            None
            if own.observed is None
            else float(own.observed[row, min(view.output, own.observed.shape[1] - 1)])
        )
        head = {
            "part": "row", "done": False, "of": 2, "row": row, "observed": observed,
            "places": [c.place_of(row) for c in own.columns], "values": message.get("values", {}) if values else {},
        }  # fmt: skip
        yield AnswerPart(head)
        yield from self._asked_of(view, row, values, {"of": 2})

    def _nearest(self, among: Positions, near: Any) -> int:
        """The row of some that is nearest to given values: numbers in standard deviations, another level or missing counts 3."""
        far = np.zeros(len(among))
        columns = self.controller.columns
        self._values({"values": near})  # checked as values are
        for key, place in near.items():
            own = columns[int(key)]
            every, at = own.places, own.places[among]
            if place is None:
                far += np.where(np.isnan(at), 0.0, 9.0)
            else:
                width = (float(np.nanstd(every)) or 1.0) if own.ordered else 0.0
                apart = ((at - place) / width) ** 2 if width else 9.0 * (at != place)
                far += np.where(np.isnan(at), 9.0, apart)
        return int(among[int(np.argmin(far))])

    def what_if(self, message: Mapping[str, Any]) -> Parts:
        """The chosen row with changed values: its prediction and all its curves, then whether it still looks like data."""
        view, row, values = self._view(message), self._row(message), self._values(message)
        yield from self._asked_of(view, row, values, {"of": 2})

    def _asked_of(self, view: View, row: int, values: dict[int, Any], shown: dict[str, Any]) -> Parts:
        own, study = self.controller, view.study
        changed = {own.features[i]: value for i, value in values.items()}
        at = np.array([row])
        table = changed_table(study, at, changed)
        predicted = predictions_of(study, table)[0]
        before = predicted if not changed else self._before(view, row)
        sets = own.once("resolved", lambda: [study.resolve([name]) for name in own.features])
        curves = ice_curves(study, table, sets, [(grid,) for grid in own.grids.values()])
        head = {
            **shown, "part": "whatif", "done": not changed, "row": row, "predicted": predicted.tolist(), "before": before.tolist(),
            "texts": [c.text(table.column(c.name).shown()[0]) for c in own.columns],
        }  # fmt: skip
        yield AnswerPart(head, {"y": ("f8", np.concatenate([curve[:, 0] for curve in curves], axis=1))})
        if changed:
            names = [own.features[i] for i in values]
            given = [given_values([changed[name]], study.column(study.feature(name))) for name in names]
            inside = row_inside(study, row, [study.feature(name) for name in names], given)
            said = (
                ""
                if inside
                else "No row of the data is like this one: what the model says here is extrapolation."
            )
            yield AnswerPart(
                {**shown, "part": "inside", "done": True, "row": row, "inside": inside, "say": said}
            )

    def _before(self, view: View, row: int) -> Float:
        """What the model predicts of a row as it is; the last one is remembered."""
        key = (view.model, view.scale, row)
        if self._unchanged is None or self._unchanged[0] != key:
            self._unchanged = (
                key,
                predictions_of(view.study, changed_table(view.study, np.array([row]), {}))[0],
            )
        return self._unchanged[1]

    def scatter(self, message: Mapping[str, Any]) -> Parts:
        """Sampled points of two columns."""
        own = self.controller
        own.check_rows_shown()

        def column(name: str) -> int | str:
            given = message.get(name)
            if isinstance(given, str) and given in own.beside:
                return given
            return whole(message, name, 0, len(own.columns))

        places = [own.places(column(name))[own.sampled] for name in ("x", "y")]
        yield AnswerPart(
            {
                "part": "points",
                "done": True,
                "x": message.get("x"),
                "y": message.get("y"),
                "seed": own.study.seed,
            },
            {"px": ("f4", places[0]), "py": ("f4", places[1]), "row": ("i4", own.sampled)},
        )

    def code(self, message: Mapping[str, Any]) -> Parts:
        """The Python lines of a state."""
        state = message.get("state")
        if not isinstance(state, dict):
            raise BadMessage("state must be an object.", "state")
        yield AnswerPart({"part": "code", "done": True, "lines": self.lines(state)})

    def lines(self, state: Mapping[str, Any]) -> list[str]:
        """The Python lines that give what a state shows."""
        view = self._view(state)
        known: dict[str, Any] = {
            "feature": self._feature(state), "rule": self._rule(state), "shown": state.get("shown", {})
        }  # fmt: skip
        if not isinstance(known["shown"], dict):
            raise BadMessage("shown must be an object.", "shown")
        if state.get("second") is not None:
            known["second"] = self._feature(state, "second")
        if state.get("row") is not None:
            known |= self._changed_row(state)
        if isinstance(state.get("pinned"), dict):
            known["pinned"] = self._changed_row(state["pinned"])
        if state.get("cohort") is not None:
            known["cohort"] = self._rule(state, "cohort")
        if state.get("regions") is not None:
            known["regions"] = self._stretch(state["regions"])
            kept = self._kept(known["rule"])
            known["kept"] = 0 if kept is None else int(kept.sum())
        return python_code.lines(known, self._written(view))

    def _changed_row(self, given: Mapping[str, Any]) -> dict[str, Any]:
        row = self._row(given)
        self._values(given)
        return {"row": row, "values": given.get("values", {})}

    def _stretch(self, given: Any) -> list[float]:
        """The ends of a stretch, or none for the whole axis."""
        if not isinstance(given, list) or len(given) not in (0, 2):
            raise BadMessage("regions lists the two ends of a stretch, or nothing.", "regions")
        return [number(end, "regions") for end in given]

    def _written(self, view: View) -> python_code.CodeContext:
        """Names for the view's Explainers, and the line that makes the one of another scale."""
        own = self.controller
        several = len(own.names) > 1
        names = [f"explainers[{name!r}]" if several else "ex" for name in own.names]
        shown, made, every = names[view.model], "", names
        if view.scale != own.own_scale(view.model):
            every = []
            model = view.study.model
            target = "all" if len(model.outputs) == len(model.all_outputs) else model.outputs[0]
            asked = f", target={python_code.literal(target)}" if len(model.all_outputs) > 1 else ""
            weighted = f", weights={shown}.weights" if view.study.sample.weights is not None else ""
            made = f"other = Explainer({shown}.model.native, X, {shown}.y{asked}, scale={view.scale!r}{weighted})"
            shown = "other"
        return python_code.CodeContext(
            own.columns, own.study.sample.table.library, names[0], shown, made, every if several else [], REGION_ROWS, own.study.seed
        )  # fmt: skip


def _audit_words(found: Audit, feature: Any, output: int) -> list[str]:
    """What an audit found along one feature, of one output, a sentence each."""
    own = np.flatnonzero(found["feature"] == feature)
    outputs = list(dict.fromkeys(found["output"][own]))
    own = own[found["output"][own] == outputs[min(output, len(outputs) - 1)]]
    at = int(own[0])
    shares = [(found[word][at], text) for word, text in (("rises", "only rise"), ("falls", "only fall"), ("both", "do both"), ("flat", "do not change"))]  # fmt: skip
    parts = [f"{text} for {100 * share:.3g} % of rows" for share, text in shares if share > 0]
    how = found["method"][at]
    said = [f"Predictions {', '.join(parts)} ({'decided at ' if how == 'every threshold' else ''}{how})."]
    if np.isfinite(found["jump"][at]) and found["jump"][at] > 0:
        said.append(f"Largest single step: {number_text(float(found['jump'][at]))}.")
    for one in own[found["direction"][own] != ""]:
        against = float(found["against"][one])
        kept = (
            "holds on these rows"
            if found["holds"][one]
            else f"does not hold: a step of {number_text(against)} against it"
        )
        said.append(f"{str(found['direction'][one]).capitalize()} as declared: {kept}.")
    return said


HANDLERS: dict[str, Callable[[Session, Mapping[str, Any]], Parts]] = {
    "open": Session.about, "rows": Session.filtered, "curve": Session.curve, "compare": Session.compared,
    "surface": Session.surface, "ale": Session.local, "observed": Session.means, "regions": Session.regions,
    "row": Session.pick, "whatif": Session.what_if, "points": Session.scatter, "code": Session.code, "audit": Session.audited,
}  # fmt: skip
