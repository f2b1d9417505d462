"""What runs on a worker: a partition's rows go to fresh accumulators, and their states go back.

A worker's process unpickles a model once, reads its trees once and keeps both; tasks get the name of the model and a way to its
bytes, which is only taken where the name is new. Errors that would come again are handed back as what they are; those
that may pass (of files, memory, connections) are left to the engine, which tries again.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import pickle
import socket
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from icefield.core.engine import ENGINES, Plan, TreeReading, choose
from icefield.data.columns import dictionary_levels, library_named
from icefield.errors import ClusterError, InputError, did_you_mean
from icefield.rows.distributed.broadcast import PROBED, Handle, Pass, local_version
from icefield.rows.distributed.partition_result import Failure, Outcome, merge_outcomes
from icefield.rows.source import Origin, arrow_stream, cast_batch
from icefield.rows.stream import Stream
from icefield.threads import ThreadCrew

KEPT = 2  # models, and passes, that a process remembers
FINGERPRINT_ROWS = 1_000

_lock = threading.RLock()
_models: OrderedDict[str, WorkerModel] = OrderedDict()
_passes: OrderedDict[str, bytes] = OrderedDict()
_stopped_jobs: set[str] = set()  # jobs that nobody waits for any more


class JobCancelled(Exception):
    """The job of a task was cancelled."""


class WorkerModel:
    """A model on a worker, with the plan, engine and resources that accumulators refer to by name."""

    def __init__(self, content: bytes) -> None:
        parts = pickle.loads(content)
        self.model, self._engine, self._background = parts["model"], parts["engine"], parts["background"]
        self.resources, self._probed, self._head = parts["resources"], parts["probed"], parts["head"]
        self.table = _PartitionOrigin("", self._head.schema).table(self._head)

    def answers_as_sent(self) -> bool:
        """Whether the model answers as it did where it came from; libraries add up in other orders on other processors."""
        if self._probed is None:
            return True
        answers = self.model.predict(self.table.slice(0, min(PROBED, self.table.n_rows)))
        same_shape = answers.shape == self._probed.shape
        return same_shape and np.allclose(answers, self._probed, rtol=1e-6, atol=1e-9, equal_nan=True)

    @cached_property
    def plan(self) -> Plan:
        """The plan, made here: trees are checked against the model where answers are made."""
        return choose(TreeReading(self.model, self.table), self._engine, self._background)

    def named(self, name: str) -> Any:
        """The worker's own object of a name: the plan, the model, the resources, an engine, or a part of one."""
        if name in ("plan", "model", "resources"):
            return getattr(self, name)
        engine = self.plan.engine
        if name == engine.name:
            return engine
        if name in engine.parts:
            return engine.parts[name]
        if name == ENGINES[-1].name:
            return self.plan.fallback("brute force was planned where the question is asked").engine
        raise ClusterError.saying(
            f"On the worker {where()} the trees of the model could not be read: {self.plan.why}."
        )


class _PartitionOrigin(Origin):
    """A partition's rows, of which only the schema is asked and how they become a table."""

    def __init__(self, label: str, schema: Any) -> None:
        self.label, self._schema = label, schema

    @property
    def schema(self) -> Any:
        return self._schema

    def first(self, columns: Sequence[str], rows: int) -> Any:
        return self._schema.empty_table()

    def identity(self) -> Any:
        return None

    def rows(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the rows of a partition are read where they are")


class _PartStream(Stream):
    def __init__(self, plan: Pass, label: str) -> None:
        super().__init__(_PartitionOrigin(label, plan.schema), plan.schema.names, plan.memory)
        self.columns, self.block_rows = plan.columns, plan.block_rows
        self.__dict__["levels"] = plan.levels


class _Receiver(pickle.Unpickler):
    def __init__(self, content: bytes, model: WorkerModel) -> None:
        super().__init__(io.BytesIO(content))
        self._model = model

    def persistent_load(self, name: str) -> Any:
        return self._model.named(name)


def run_partition(model: Handle, task: Handle, number: int, batches: Iterable[Any], job: str = "") -> Outcome:
    """The outcome of a pass over one partition, whose rows are Arrow record batches."""
    try:
        changes, plan = _plan(task)
        worker_model = _ready(model, changes)
        where_from = f"partition {number} of {plan.label}"
        stream = _PartStream(plan, where_from)
        accumulators = _Receiver(plan.accumulators, worker_model).load()
        checked_batches = _check_batches(batches, plan.schema)
        first = next(checked_batches, None)
        if first is None:
            return Outcome({number: 0}, None, changes)
        start = _fingerprint(first) if plan.starts is None else _start(plan.starts, number)
        levels = {name: listed for name, listed in plan.levels.items() if name in plan.schema.names}
        n_rows, frames = 0, any(accumulator.needs_frames for accumulator in accumulators)
        with (
            ThreadCrew(1) as crew,
            crew,
            closing(stream.cut(chain([first], checked_batches), levels, start)) as blocks,
        ):
            for rows in blocks:
                if job in _stopped_jobs:
                    raise JobCancelled(job)
                block = plan.reader.block(rows, stream.source, frames)
                for accumulator in accumulators:
                    accumulator.add(block, crew)
                n_rows += block.n_rows
        for accumulator in accumulators:
            accumulator.condense()
        return Outcome({number: n_rows}, [accumulator.state() for accumulator in accumulators], changes)
    except (OSError, MemoryError, JobCancelled):
        raise  # the engine may try again
    except Exception as error:
        return Outcome({number: 0}, failure=Failure.of(number, error))


def merge_on_worker(model: Handle, task: Handle, outcomes: Sequence[Outcome]) -> Outcome:
    """Outcomes of several partitions as one, on a worker."""
    failure = next((outcome for outcome in outcomes if outcome.failure is not None), None)
    if failure is not None or len(outcomes) == 1:
        return failure or outcomes[0]
    changes, plan = _plan(task)
    return merge_outcomes(_Receiver(plan.accumulators, _ready(model, changes)).load(), outcomes)


def failure_error(failure: Failure) -> RuntimeError:
    """An exception that ends a job and holds the failure in its text, where the driver finds it."""
    content = base64.b64encode(zlib.compress(json.dumps(failure.as_json()).encode())).decode()
    return RuntimeError(f"icefield-failure<{content}>")


def calls_model(model: Handle, task: Handle) -> bool:
    """Whether a pass may ask the model."""
    changes, plan = _plan(task)
    return any(item.needs_frames for item in _Receiver(plan.accumulators, _ready(model, changes)).load())


def stop(job: str) -> None:
    """Have tasks of a job that run in this process end at their next block."""
    _stopped_jobs.add(job)


def census_of(batches: Iterable[Any], names: Sequence[str]) -> tuple[int, dict[str, list[Any]]]:
    """How many rows there are, and the levels of some columns in the order they are first listed."""
    types = library_named("pyarrow").types
    rows, seen = 0, {name: dict[Any, None]() for name in names}
    for batch in batches:
        rows += batch.num_rows
        for name in names:
            array = batch.column(name)
            coded = array if types.is_dictionary(array.type) else array.dictionary_encode()
            seen[name].update(dict.fromkeys(dictionary_levels(coded)))
    return rows, {name: list(levels) for name, levels in seen.items()}


def where() -> str:
    """This process, for messages."""
    return f"{socket.gethostname()} (process {os.getpid()})"


# --- what a process keeps ------------------------------------------------------------------------------------


def _plan(task: Handle) -> tuple[dict[str, str], Pass]:
    """Which versions differ here from where the pass comes from, and the pass."""
    with _lock:
        if task.name not in _passes:
            _passes[task.name] = task.fetch()
            while len(_passes) > KEPT:
                _passes.popitem(last=False)
        parts = pickle.loads(_passes[task.name])
    changes = {}
    for library, version in parts["versions"].items():
        local = local_version(library)
        if local != version:
            changes[library] = f"{library} {version} where the question is asked, {local} on {where()}"
    if "icefield" in changes or any("not installed" in text for text in changes.values()):
        raise ClusterError.saying(f"Versions differ: {'; '.join(changes.values())}.", "install the same versions on the workers")  # fmt: skip
    return changes, pickle.loads(parts["pass"])


def _ready(model: Handle, changes: dict[str, str]) -> WorkerModel:
    with _lock:
        if model.name not in _models:
            try:
                worker_model = WorkerModel(model.fetch())
            except OSError:
                raise
            except Exception as error:
                versions = "".join(f" {text}." for text in changes.values())
                raise ClusterError.saying(f"The model could not be unpickled on {where()}: {type(error).__name__}: {error}.{versions}",
                                          "install the module that defines it on the workers") from error  # fmt: skip
            if not worker_model.answers_as_sent():
                raise ClusterError.saying(f"The model predicts differently here than where it was sent from ({where()}). {'; '.join(changes.values())}".rstrip(),
                                          "install the same versions on the workers")  # fmt: skip
            _models[model.name] = worker_model
            while len(_models) > KEPT:
                _models.popitem(last=False)
        _models.move_to_end(model.name)
        return _models[model.name]


# --- a partition's rows --------------------------------------------------------------------------------------


def _check_batches(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Batches with the wanted columns, found by name, in their types."""
    arrow = library_named("pyarrow")
    for batch in batches:
        if not batch.num_rows:
            continue
        names = batch.schema.names
        for name in schema.names:
            if name not in names:
                raise InputError.about("X", f"has a partition without the column {name!r}", names[:10], did_you_mean(name, names))  # fmt: skip
        try:
            yield cast_batch(batch.select(schema.names), schema)
        except arrow.ArrowException as error:
            pairs = [(str(batch.schema.field(f.name).type), f) for f in schema]
            bad = [f"{f.name!r} holds {kind} instead of {f.type}" for kind, f in pairs if kind != str(f.type)]
            raise InputError.about("X", f"has a partition of another type ({', '.join(bad)})", str(error).splitlines()[0][:200],
                                   "cast the column before") from error  # fmt: skip


def _start(starts: tuple[int, ...], number: int) -> int:
    # A plan may cut rows otherwise than a count did; numbers of rows are for the sample alone.
    return starts[number] if number < len(starts) else (number << 40)


def _fingerprint(batch: Any) -> int:
    """A number from the first rows, where partitions have none: the same whenever the partition is read."""
    first = library_named("pyarrow").Table.from_batches([batch.slice(0, FINGERPRINT_ROWS)]).combine_chunks()
    content = hashlib.sha256(arrow_stream(first.schema, [first])).digest()
    return int.from_bytes(content[:8], "little") >> 3
