"""Models that only Spark can ask: a pass is one transform of a frame that holds every row the pass asks about.

Such a model cannot go to executors, so a pass runs twice there. First the model only takes down the rows it is asked about; these
become a Spark frame, with the partition's own rows as bytes beside them. Spark transforms that frame, and the pass runs again with
the answers. What is asked, and in which order, follows from the rows and the question alone; numbers of rows make sure of it.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from icefield.data.columns import library_named
from icefield.errors import ModelError
from icefield.rows.distributed import worker
from icefield.rows.distributed.partition_result import Outcome
from icefield.rows.source import arrow_stream
from icefield.typing import Float

PART, PLACE, OWN, ANSWER = "icefield_part", "icefield_place", "icefield_rows", "icefield_answer"
BESIDE = -1  # the place of a row that nobody asked about, which brings rows of the partition
ROWS_A_BATCH = 10_000
AHEAD = 2  # calls that are taken down before Spark has taken those before

_answer: list[Callable[[Any], Float]] = []  # of the pass that this process runs; a task has it for itself


class StandIn:
    """A model's stand-in on executors: its rows go to the function that the running pass has set."""

    def __call__(self, rows: Any) -> Float:
        return _answer[-1](rows)


@contextmanager
def _answering_with(answer: Callable[[Any], Float]) -> Iterator[None]:
    _answer.append(answer)
    try:
        yield
    finally:
        _answer.pop()


def requests(
    run: Callable[[Iterator[Any]], Outcome], batches: Iterator[Any], form: Any, outputs: int, number: int
) -> Iterator[Any]:
    """The rows that `run` asks about as record batches of a form, with the partition's own beside them; its failure is raised.

    `run` is in a thread of its own, so that no more than a few calls' rows are held.
    """
    calls: queue.Queue[Any] = queue.Queue(AHEAD)
    seen: list[Any] = []
    ended = False

    def partition_rows() -> Iterator[Any]:
        nonlocal ended
        for batch in batches:
            seen.append(batch)
            yield batch
        ended = True

    def note_request(rows: Any) -> Float:
        if rows.num_rows:
            calls.put((rows, _bytes_of(seen, ended)))
            seen.clear()
        return np.zeros((rows.num_rows, outputs))

    def work() -> None:
        try:
            with _answering_with(note_request):
                calls.put(run(partition_rows()))
        except BaseException as error:
            calls.put(error)

    threading.Thread(target=work, daemon=True).start()
    place, last = 0, None
    while isinstance(call := calls.get(), tuple):
        rows, beside = call
        yield from _batches(rows, form, number, np.arange(place, place + rows.num_rows), beside)
        place, last = place + rows.num_rows, rows.slice(0, 1)
    if isinstance(call, BaseException):
        raise call
    if call.failure is not None:
        raise worker.failure_error(call.failure)
    if seen:  # of a block at which nothing was asked
        first = seen[0].slice(0, 1) if last is None else last
        yield from _batches(first, form, number, np.array([BESIDE]), _bytes_of(seen, ended))


def _bytes_of(batches: list[Any], ended: bool) -> bytes | None:
    """Record batches as bytes, after one that says whether the partition ends with them; None for nothing new."""
    if not batches:
        return b"\1" if ended else None
    return bytes([ended]) + bytes(arrow_stream(batches[0].schema, batches))


def _batches(rows: Any, form: Any, number: int, places: Any, partition_bytes: bytes | None) -> Iterator[Any]:
    """Rows in the types of a form, with the places they are asked at."""
    arrow = library_named("pyarrow")
    columns = [_cast(rows, field) for field in form]
    for start in range(0, len(places), ROWS_A_BATCH):
        size = min(ROWS_A_BATCH, len(places) - start)
        beside = [
            arrow.array(np.full(size, number), arrow.int64()),
            arrow.array(places[start : start + size], arrow.int64()),
            arrow.array([partition_bytes if start == 0 else None, *([None] * (size - 1))], arrow.binary()),
        ]
        cut = [_whole(column.slice(start, size)) for column in columns]
        yield arrow.RecordBatch.from_arrays([*cut, *beside], [*form.names, PART, PLACE, OWN])


def _cast(rows: Any, field: Any) -> Any:
    arrow, column = library_named("pyarrow"), rows.column(field.name)
    if arrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if arrow.types.is_floating(column.type) and arrow.types.is_integer(field.type):
        compute = library_named("pyarrow.compute")
        column = compute.if_else(compute.is_nan(column), None, column)
    try:
        return column.cast(field.type)
    except arrow.ArrowException as error:
        raise ModelError.about("grid", f"sets {field.name!r} to a value that its type in the Spark frame ({field.type}) does not hold",
                               str(error).splitlines()[0][:200], "choose grid points of that type, or cast the column before the model is fitted") from error  # fmt: skip


def _whole(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


class Answers:
    """The partition's own rows, and Spark's answers in the order in which they are asked for.

    Parameters
    ----------
    batches : what Spark made of `requests`
    number : of the partition
    outputs : numbers of each answer
    """

    def __init__(self, batches: Iterator[Any], number: int, outputs: int) -> None:
        self._batches, self._number, self._outputs = batches, number, outputs
        self._place, self._ended = 0, False
        self._rows: deque[Any] = deque()
        self._waiting: deque[Float] = deque()

    def run(self, work: Callable[[Iterator[Any]], Outcome]) -> Outcome:
        """The outcome of a pass that uses these answers in place of the model."""
        with _answering_with(self._next):
            outcome = work(self._partition_rows())
        if outcome.failure is None and (self._waiting or self._read()):
            raise RuntimeError("a pass asked for less than it had asked for before")
        return outcome

    def _partition_rows(self) -> Iterator[Any]:
        while True:
            while self._rows:
                yield self._rows.popleft()
            if self._ended or not self._read():
                return

    def _next(self, rows: Any) -> Float:
        needed, parts = rows.num_rows, []
        while needed:
            if not self._waiting and not self._read():
                raise _reordered_error()
            if self._waiting:
                answer = self._waiting.popleft()
                if len(answer) > needed:
                    self._waiting.appendleft(answer[needed:])
                parts.append(answer[:needed])
                needed -= len(parts[-1])
        return np.concatenate(parts) if parts else np.empty((0, self._outputs))

    def _read(self) -> bool:
        """Read the next batch of Spark's answers; False where there is none."""
        batch = next(self._batches, None)
        if batch is None:
            return False
        places = batch.column(PLACE).to_numpy(zero_copy_only=False)
        is_request = places != BESIDE
        expected = np.arange(self._place, self._place + is_request.sum())
        parts = batch.column(PART).to_numpy(zero_copy_only=False)
        if not np.array_equal(places[is_request], expected) or (parts != self._number).any():
            raise _reordered_error()
        self._place += len(expected)
        values = batch.column(ANSWER).flatten().to_numpy(zero_copy_only=False)
        if len(values) != self._outputs * len(places):
            raise ModelError.about("model", f"gave {len(values):,} numbers for {len(places):,} rows in Spark, and {self._outputs} a row before")  # fmt: skip
        if len(expected):
            self._waiting.append(values.reshape(len(places), self._outputs).astype(np.float64)[is_request])
        for content in batch.column(OWN).drop_null().to_pylist():
            self._ended = bool(content[0])
            if len(content) > 1:
                self._rows.extend(library_named("pyarrow.ipc").open_stream(content[1:]))
        return True


def _reordered_error() -> ModelError:
    return ModelError.about("model", "drops rows in Spark, or returns them in another order, so that predictions cannot be matched to rows",
                            hint='set handleInvalid="keep" in its stages, or pass rows as a pandas frame, for example X.sample(0.01).toPandas()')  # fmt: skip
