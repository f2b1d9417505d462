"""Spark DataFrames, of a classic session or over Spark Connect: one task a partition, by `mapInArrow`.

Rows go from Spark to Python as Arrow batches, a row with the partition's sums comes back. A classic session broadcasts the
model; over Connect, which has no broadcasts, it is an artifact of the session. Both reach each executor once.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import tempfile
import time
import uuid
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefield.data.columns import library_named
from icefield.errors import ClusterError, IcefieldError, InputError
from icefield.progress import Progress
from icefield.rows.distributed import worker
from icefield.rows.distributed.backend import FAN_IN, Backend, Census, tasks_for
from icefield.rows.distributed.broadcast import Broadcast, Handle
from icefield.rows.distributed.partition_result import Failure, Outcome
from icefield.rows.distributed.polling import FAREWELL, ends_in, show, wait_while_alive
from icefield.rows.distributed.spark_transforms import ANSWER, OWN, PART, PLACE, Answers, StandIn, requests

if TYPE_CHECKING:
    from icefield.models.model import Model

MOST_JOINING = 64  # tasks that merge outcomes of one level
# In a plan without a cache:
COSTLY = re.compile(r"\b(Join|Aggregate|Window|Sort|Repartition\w*|\w*Python\w*|MapIn\w+|Generate)\b")
MARK = re.compile(r"icefield-failure<([A-Za-z0-9+/=]*)>")
LARGEST_FAILURE = 2**20  # bytes, unpacked
LOST_TASK = re.compile(r"Task (\d+) in stage [\d.]+ failed (\d+) times")
LOOK_EVERY = 0.5  # seconds between questions to Spark about progress
PLAIN = ("byte", "short", "integer", "long", "float", "double", "decimal", "string", "varchar", "char", "boolean", "date",
         "timestamp", "timestamp_ntz")  # fmt: skip
WHOLE = ("byte", "short", "integer", "long")
FORM = "number long, bucket long, outcome binary"
Work = Callable[[int, Iterator[Any]], Outcome]  # on a partition, by its number and rows

log = logging.getLogger(__name__)


def spark_origin(frame: Any) -> Backend:
    """The rows of a DataFrame, whichever kind of session it belongs to."""
    return ConnectOrigin(frame) if ".connect." in type(frame).__module__ else ClassicOrigin(frame)


def _vectors(schema: Any) -> dict[str, tuple[str, ...]]:
    """Columns that an assembler made of others, with the names of their slots, where each slot is one of these."""
    slots_of, names_of_columns = {}, {field.name for field in schema.fields}
    for column in schema.fields:
        attributes = ((column.metadata or {}).get("ml_attr") or {}).get("attrs", {})
        slots = sorted((slot["idx"], slot.get("name")) for kind in attributes.values() for slot in kind)
        names = tuple(name for _, name in slots)
        if names and names_of_columns.issuperset(names):
            slots_of[column.name] = names
    return slots_of


class SparkOrigin(Backend):
    """A `pyspark.sql.DataFrame`."""

    label, pickler = "the Spark DataFrame", "pyspark.cloudpickle"

    def __init__(self, frame: Any) -> None:
        self._frame, self._spark = frame, frame.sparkSession
        names = [field.name for field in frame.schema.fields if field.dataType.typeName() in PLAIN]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            raise InputError.about(
                "X", "has two columns of the same name", repeated[0], "select or rename the columns"
            )
        self.vectors = _vectors(frame.schema)
        if not names:
            raise InputError.about("X", "has no column of plain values", [field.name for field in frame.schema.fields],
                                   "pass the frame as it is before VectorAssembler, and the PipelineModel that holds it")  # fmt: skip
        self._names = names
        self._handles: dict[str, Any] = {}
        self._partitions = 1  # about, once they were counted; only how outcomes merge depends on it
        self._joins_partitions = False  # whether small partitions are taken together
        self._passes = 0
        self._spark_model: Model | None = None  # a model that only Spark can ask

    @cached_property
    def _head(self) -> Any:
        return self._collect(self._select(self._names).limit(1_000), Progress("", None))

    def _select(self, columns: Sequence[str]) -> Any:
        return self._frame.select(*("`{}`".format(name.replace("`", "``")) for name in columns))

    def census(self, columns: Sequence[str], coded: Sequence[str]) -> Census:
        # Spark counts by itself, from metadata where it can; its columns are never of a category type.
        counting = (
            self._select(columns).selectExpr("spark_partition_id() AS number").groupBy("number").count()
        )
        count_of = dict(zip(*(c.to_pylist() for c in self._collect(counting, Progress("", None)).columns)))
        sizes = tuple(int(count_of.get(number, 0)) for number in range(max(count_of, default=-1) + 1))
        tasks = tasks_for(sum(sizes), len(sizes), self.slots)
        self._joins_partitions = tasks > 0
        if self._joins_partitions:  # neighbours, as Spark takes them where none is nearer to some machine
            bounds = [number * len(sizes) // tasks for number in range(tasks + 1)]
            sizes = tuple(sum(sizes[start:stop]) for start, stop in pairwise(bounds))
        self._partitions = max(1, len(sizes))
        return Census(sizes, sum(sizes), firm=False)

    def _hint(self) -> None:
        """Say once that a second pass makes the frame anew, where that is more than reading it."""
        self._passes += 1
        if self._passes == 2 and self.costly():
            log.warning("%s is not cached and is made anew in every pass: cache() it before", self.label)

    def outcomes(
        self, model: Broadcast, task: Broadcast, columns: Sequence[str], progress: Progress
    ) -> Iterable[Outcome]:
        if model.name not in self._handles:
            self._handles[model.name] = self._call(lambda: self.send(model))
        self._hint()
        n_states, rows = self._partitions, self._select(columns)
        handles = (self._handles[model.name], self._call(lambda: self.send(task)))
        rows = rows.coalesce(self._partitions) if self._joins_partitions else rows
        states = self._outcome_rows(model, task, rows, partial(worker.run_partition, *handles))
        joining = partial(_merge_buckets, *handles)
        while n_states > FAN_IN:  # neighbours, then neighbours of these, until few are left for the driver
            n_states = -(-n_states // FAN_IN)
            states = states.repartition(min(n_states, MOST_JOINING), "bucket")
            states = states.sortWithinPartitions("bucket", "number").mapInArrow(joining, FORM)
        try:
            rows_out = self._collect(states, progress)
        finally:
            ends_in(lambda: self.forget(handles[1]), FAREWELL)
        return [Outcome.from_bytes(content) for content in rows_out["outcome"].to_pylist()]

    def model_to_send(self, model: Model) -> Model:
        if not hasattr(model.native, "answered"):
            return model
        self._spark_model = model
        stand_in = StandIn()
        return replace(model, native=stand_in, answer=stand_in)

    def _outcome_rows(self, model: Broadcast, task: Broadcast, rows: Any, work: Work) -> Any:
        """Partitions' outcomes; with a model that only Spark can ask, by one transform of all rows it is asked about."""
        spark = self._spark_model
        is_readable = spark is not None and set(spark.columns) <= set(rows.columns)
        if spark is None or not is_readable or not worker.calls_model(model, task):
            return rows.mapInArrow(partial(_run_partition, work), FORM)
        outputs, names = len(spark.all_outputs), spark.columns
        types, arrow = library_named("pyspark.sql.types"), library_named("pyarrow")
        kinds, schema = {field.name: field.dataType for field in self._frame.schema.fields}, self.schema
        floats = {n for n in spark.native.as_numbers if n in kinds and kinds[n].typeName() in WHOLE}
        form = arrow.schema(
            [arrow.field(n, arrow.float64()) if n in floats else schema.field(n) for n in names]
        )
        fields = [types.StructField(n, types.DoubleType() if n in floats else kinds[n]) for n in names]
        beside = [(PART, types.LongType()), (PLACE, types.LongType()), (OWN, types.BinaryType())]
        request = types.StructType([*fields, *(types.StructField(*pair) for pair in beside)])
        asking, answering = partial(_request, work, form, outputs), partial(_answer, work, outputs)
        answered = spark.native.answered(rows.mapInArrow(asking, request), ANSWER)
        return answered.select(PART, PLACE, OWN, ANSWER).mapInArrow(answering, FORM)

    def _collect(self, frame: Any, progress: Progress) -> Any:
        """The rows of a frame as an Arrow table, with Spark's own progress, until Ctrl-C."""
        job, last = f"icefield-{uuid.uuid4().hex}", [0.0]

        def look() -> None:
            if time.monotonic() - last[0] > LOOK_EVERY:
                last[0] = time.monotonic()
                done, tasks = self.done(job)
                if tasks:
                    show(progress, done, tasks)

        description = f"icefield: {progress.title or 'looking at the data'}"
        return self._call(lambda: self.run(frame, job, description), look, lambda: self.cancel(job))

    def _call(
        self,
        work: Callable[[], Any],
        look: Callable[[], None] = lambda: None,
        cancel: Callable[[], None] = lambda: None,
    ) -> Any:
        """The result of a call of Spark's, while the session lives; its errors as icefield's."""
        try:
            return wait_while_alive(work, self.alive, "The Spark cluster", look=look, cancel=cancel)
        except (ClusterError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise _spark_error(error, self.label) from error

    @property
    def slots(self) -> int:
        """Tasks that Spark runs at once; 0 where it does not say."""
        return 0

    def costly(self) -> bool:
        """Whether every pass does more than read files or a cache; False where that is not known."""
        return False

    @abstractmethod
    def send(self, broadcast: Broadcast) -> Handle:
        """A broadcast object sent to the executors."""

    @abstractmethod
    def forget(self, sent: Any) -> None:
        """Release a broadcast object that is no longer needed."""

    @abstractmethod
    def run(self, frame: Any, job: str, description: str) -> Any:
        """A frame's rows; called in a thread of its own. Spark's pages show `description` for the job."""

    @abstractmethod
    def done(self, job: str) -> tuple[int, int]:
        """Tasks of a job that are done, and all of them."""

    @abstractmethod
    def cancel(self, job: str) -> None:
        """End a job on the cluster."""

    @abstractmethod
    def alive(self) -> bool:
        """Whether the session still has executors."""


class ClassicOrigin(SparkOrigin):
    """A DataFrame of a session in this process."""

    @property
    def _context(self) -> Any:
        return self._spark.sparkContext

    @property
    def slots(self) -> int:
        return int(self._context.defaultParallelism)

    def costly(self) -> bool:
        # A plan of its own: the frame's may have been made before the frame was cached.
        plan = self._select(self._names)._jdf.queryExecution().withCachedData().toString()  # noqa: SLF001
        return "InMemoryRelation" not in plan and COSTLY.search(plan) is not None

    def send(self, broadcast: Broadcast) -> Handle:
        return _SparkBroadcast(broadcast.name, self._context.broadcast(broadcast.content))

    def forget(self, sent: Any) -> None:
        sent.broadcast.unpersist()

    def run(self, frame: Any, job: str, description: str) -> Any:
        self._context.setJobGroup(job, description, interruptOnCancel=True)
        return frame.toArrow()

    def done(self, job: str) -> tuple[int, int]:
        tracker = self._context.statusTracker()
        jobs = (tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(job))
        stages = [tracker.getStageInfo(stage) for info in jobs if info for stage in info.stageIds]
        reported = [stage for stage in stages if stage is not None]
        return sum(s.numCompletedTasks for s in reported), sum(s.numTasks for s in reported)

    def cancel(self, job: str) -> None:
        self._context.cancelJobGroup(job)

    def alive(self) -> bool:
        context = self._context
        is_local = context.master == "local" or context.master.startswith("local[")
        # The driver is among those that hold blocks.
        return bool(context._jsc.sc().getExecutorMemoryStatus().size() > (0 if is_local else 1))  # noqa: SLF001


class ConnectOrigin(SparkOrigin):
    """A DataFrame of a session elsewhere."""

    label = "the Spark Connect DataFrame"

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        self._stages: dict[str, tuple[int, int]] = {}

    def send(self, broadcast: Broadcast) -> Handle:
        name = f"icefield-{broadcast.name}"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(broadcast.content)
            self._spark.addArtifact(str(path), file=True)
        return _Artifact(broadcast.name, name)

    def forget(self, sent: Any) -> None:
        """Artifacts stay until the session ends: Spark has no call that removes one."""

    def run(self, frame: Any, job: str, description: str) -> Any:
        def on_progress(stages: Any, inflight_tasks: int, operation_id: Any, done: bool) -> None:
            reported = list(stages or ())
            done_now, tasks = sum(s.num_completed_tasks for s in reported), sum(s.num_tasks for s in reported)
            self._stages[job] = done_now, tasks

        self._spark.addTag(job)
        self._spark.registerProgressHandler(on_progress)
        try:
            return frame.toArrow()
        finally:
            self._spark.removeProgressHandler(on_progress)
            self._spark.removeTag(job)
            self._stages.pop(job, None)

    def done(self, job: str) -> tuple[int, int]:
        return self._stages.get(job, (0, 0))

    def cancel(self, job: str) -> None:
        self._spark.interruptTag(job)

    def alive(self) -> bool:
        return self._spark.conf.get("spark.sql.session.timeZone") is not None


# --- on the executors ----------------------------------------------------------------------------------------


class _SparkBroadcast:
    """A broadcast object as an executor of a classic session finds it."""

    def __init__(self, name: str, broadcast: Any) -> None:
        self.name, self.broadcast = name, broadcast

    def fetch(self) -> bytes:
        return bytes(self.broadcast.value)


class _Artifact:
    """A broadcast object as an executor of a session elsewhere finds it."""

    def __init__(self, name: str, file: str) -> None:
        self.name, self.file = name, file

    def fetch(self) -> bytes:
        files = library_named("pyspark").SparkFiles
        return Path(os.path.join(files.getRootDirectory(), self.file)).read_bytes()


def _run_partition(work: Work, batches: Iterator[Any]) -> Iterator[Any]:
    """The partition's rows in, one row with its outcome out."""
    number = _partition()
    yield _row(number, work(number, batches))


def _request(work: Work, form: Any, outputs: int, batches: Iterator[Any]) -> Iterator[Any]:
    """The partition's rows in, all rows out that a model is asked about there."""
    number = _partition()
    with _report_failures(number):
        yield from requests(partial(work, number), batches, form, outputs, number)


def _answer(work: Work, outputs: int, batches: Iterator[Any]) -> Iterator[Any]:
    """The requested rows with Spark's answers in, one row with the partition's outcome out."""
    number = _partition()
    with _report_failures(number):
        outcome = Answers(batches, number, outputs).run(partial(work, number))
    yield _row(number, outcome)


@contextmanager
def _report_failures(number: int) -> Iterator[None]:
    """Send icefield's own errors raised inside to the driver, which raises them as they were."""
    try:
        yield
    except IcefieldError as error:
        raise worker.failure_error(Failure.of(number, error)) from error


def _partition() -> int:
    return int(library_named("pyspark").TaskContext.get().partitionId())


def _merge_buckets(model: Handle, task: Handle, batches: Iterator[Any]) -> Iterator[Any]:
    """Rows with outcomes in, sorted by bucket; one for each bucket of neighbours out, no more than one bucket held."""
    rows = (row for batch in batches for row in zip(batch["bucket"].to_pylist(), batch["outcome"]))
    for bucket, group in groupby(rows, key=lambda row: row[0]):
        outcomes = [Outcome.from_bytes(content.as_py()) for _, content in group]
        yield _row(bucket, worker.merge_on_worker(model, task, outcomes))


def _row(number: int, outcome: Outcome) -> Any:
    if outcome.failure is not None:
        raise worker.failure_error(outcome.failure)
    arrow = library_named("pyarrow")
    places = [arrow.array([place], arrow.int64()) for place in (number, number // FAN_IN)]
    content = arrow.array([outcome.to_bytes()], arrow.binary())
    return arrow.RecordBatch.from_arrays([*places, content], ["number", "bucket", "outcome"])


def _failure_in(text: str) -> Failure | None:
    """The failure a message holds. Data may have put a text like one there: it is read as texts and numbers only."""
    for marked in MARK.finditer(text):
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(marked[1]), LARGEST_FAILURE)
            return Failure.from_json(json.loads(content))
        except (ValueError, zlib.error, RecursionError):
            continue
    return None


def _spark_error(error: Exception, label: str) -> Exception:
    """The exception for a failed job, from Spark's message, with the partition where it names one."""
    text = str(error)
    failure = _failure_in(text)
    if failure is not None:
        return failure.error(f"partition {failure.number} of {label}")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    missing = next((line for line in lines if "No module named" in line), None)
    if missing is not None:
        return ClusterError.saying(f"The workers of {label} cannot import what they need: {missing}.",
                                   "install icefield and the model's library there, or set PYSPARK_PYTHON to a Python that has them")  # fmt: skip
    lost = LOST_TASK.search(text)
    which = label if lost is None else f"partition {lost[1]} of {label} (tried {lost[2]} times)"
    return ClusterError.saying(f"Work on {which} failed: {' '.join(lines)[:600]}.")
