"""Dask DataFrames: on the caller's own `Client`, or on Dask's threads where there is none.

Every partition is one task, known by its number, and small neighbours are one together; outcomes of neighbouring tasks merge in tasks
of their own. The model is sent to one worker once, for all passes, and the others take it from there. Where the last worker that held it
is lost, or sending takes too long because a worker was lost meanwhile, the pass begins anew: nothing of it was counted yet.
"""

from __future__ import annotations

import logging
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any

from icefield.data.columns import library_named
from icefield.errors import ClusterError, InputError
from icefield.progress import Progress
from icefield.rows.distributed import polling, worker
from icefield.rows.distributed.backend import FAN_IN, Backend, Census, tasks_for
from icefield.rows.distributed.broadcast import Broadcast
from icefield.rows.distributed.partition_result import Outcome
from icefield.rows.distributed.polling import FAREWELL, Heartbeat, ends_in, show, wait_for, wait_while_alive
from icefield.threads import available_processors

NEW_WORKERS = 15.0  # seconds until a lost worker is replaced
RETRIES = 2  # of a task whose error may pass: of a file, of a connection
STALLED = 15.0  # seconds in which no worker does anything after one was lost
TRIES = 3  # times a pass is begun where the cluster lost what it was sent
MOST_LOOKED = 64  # partitions that are looked into at once for the first rows

log = logging.getLogger(__name__)


class _Lost(Exception):
    """What was sent to the workers is lost with the last of them that held it."""


class DaskOrigin(Backend):
    """A `dask.dataframe.DataFrame`."""

    label = "the Dask DataFrame"

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._scattered: dict[tuple[str, str], Any] = {}  # by client and model
        self._tasks = [range(n, n + 1) for n in range(frame.npartitions)]  # the partitions of each

    @cached_property
    def _head(self) -> Any:
        return self._first(1_000)

    def _first(self, rows: int) -> Any:
        """The first rows of the first partition that has some; where that is none of the first, many are looked into at once."""
        number, n_parts = 0, 1
        while True:
            numbers = range(number, min(number + n_parts, self._frame.npartitions))
            heads = self._compute(
                [self._frame.partitions[n].head(rows, compute=False, npartitions=1) for n in numbers],
                [range(n, n + 1) for n in numbers],
            )
            head = next((table for table in heads if len(table)), None)
            if head is not None or numbers.stop >= self._frame.npartitions:
                return _arrow(heads[-1] if head is None else head)
            number, n_parts = numbers.stop, min(4 * n_parts, MOST_LOOKED)

    @cached_property
    def schema(self) -> Any:
        names = [name for name in self._frame.columns if not isinstance(name, str)]
        if names:
            raise InputError.about("X", "must have text as column names", names[0], "rename the columns")
        return super().schema

    def census(self, columns: Sequence[str], coded: Sequence[str]) -> Census:
        unknown = [name for name in coded if not self._frame[name].cat.known]
        columns_read = unknown or [columns[0]]
        delayed = library_named("dask").delayed
        parts = self._frame[columns_read].to_delayed(optimize_graph=True)
        slots = _slots()
        per_task = min(FAN_IN, max(1, len(parts) // (8 * slots)))  # of which a task sees some columns at once
        ranges = [range(n, min(n + per_task, len(parts))) for n in range(0, len(parts), per_task)]
        tasks = [delayed(_count_parts, pure=False)([parts[n] for n in part], unknown) for part in ranges]
        counts = [count for group in self._compute(tasks, ranges) for count in group]
        levels = {name: self._frame[name].cat.categories.tolist() for name in coded if name not in unknown}
        levels |= {name: list(dict.fromkeys(v for _, part in counts for v in part[name])) for name in unknown}
        sizes = tuple(rows for rows, _ in counts)
        self._tasks = _task_ranges(sizes, tasks_for(sum(sizes), len(sizes), slots))
        return Census(tuple(sum(sizes[n] for n in part) for part in self._tasks), sum(sizes), levels)

    def where(self, number: int) -> str:
        return f"{_partition_names(self._tasks[number])} of {self.label}"

    def _compute(self, tasks: list[Any], numbers: Sequence[range]) -> list[Any]:
        """The results of small tasks, each of these partitions."""
        client = _client()
        if client is None:
            return list(library_named("dask").compute(*tasks, scheduler="threads"))
        for attempt in range(1, TRIES + 1):
            try:
                futures = client.compute(tasks)
                return list(_gather(client, futures, futures, Progress("", None), "", numbers, self.label))
            except _Lost as lost:
                if attempt == TRIES:
                    raise ClusterError.saying(
                        f"Reading {lost} of {self.label} failed: its workers were lost."
                    ) from lost
                log.warning("Workers were lost with %s of %s: it is read again.", lost, self.label)
        return []

    def outcomes(
        self, model: Broadcast, task: Broadcast, columns: Sequence[str], progress: Progress
    ) -> Iterable[Outcome]:
        single = self._frame[list(columns)].to_delayed(optimize_graph=True)
        parts = [[single[number] for number in numbers] for numbers in self._tasks]
        client = _client()
        if client is None:
            yield from self._on_threads(parts, model, task, progress)
            return
        for attempt in range(1, TRIES + 1):
            try:
                yield from self._on_workers(client, parts, model, task, progress)
                return
            except _Lost as lost:
                if attempt == TRIES:
                    raise ClusterError.saying(f"Work on {lost} of {self.label} failed: its workers were lost {TRIES} times, with all that they held.",
                                              "check why they end; memory is a common reason") from lost  # fmt: skip
                log.warning("Workers were lost with %s of %s: the pass begins anew.", lost, self.label)
                self._scattered.clear()
                ends_in(lambda: client.wait_for_workers(1, timeout=NEW_WORKERS), NEW_WORKERS)

    def _on_threads(
        self, parts: Sequence[Any], model: Broadcast, task: Broadcast, progress: Progress
    ) -> list[Outcome]:
        dask, job = library_named("dask"), uuid.uuid4().hex
        delayed = dask.delayed
        leaves = [
            delayed(_work, pure=False)(part, model, task, number, job, dask_key_name=f"{job}-{number}")
            for number, part in enumerate(parts)
        ]
        done: list[str] = []

        class Seen(library_named("dask.callbacks").Callback):  # type: ignore[misc]
            def _posttask(self, key: Any, *_: Any) -> None:
                if str(key).startswith(job):
                    done.append(str(key))

        merging = delayed(worker.merge_on_worker, pure=False)
        tops = _merge_tree(leaves, lambda group: merging(model, task, group))

        def work() -> list[Outcome]:
            with Seen():
                return list(dask.compute(*tops, scheduler="threads"))

        def look() -> None:
            show(progress, len(done), len(parts))

        return wait_for(work, look=look, cancel=lambda: worker.stop(job))

    def _on_workers(
        self, client: Any, parts: Sequence[Any], model: Broadcast, task: Broadcast, progress: Progress
    ) -> Iterator[Outcome]:
        delayed, job = library_named("dask").delayed, uuid.uuid4().hex
        key = client.id, model.name
        if key not in self._scattered or self._scattered[key].status != "finished":
            self._scattered[key] = _scatter(client, model, self._tasks)
        futures = self._scattered[key], _scatter(client, task, self._tasks)
        handles = [delayed(Broadcast)(item.name, content) for item, content in zip((model, task), futures)]
        tasks = [delayed(_work, pure=False)(part, *handles, number, job) for number, part in enumerate(parts)]
        leaves = client.compute(tasks, retries=RETRIES)
        names = (model.name, task.name)
        tops = _merge_tree(leaves, lambda group: client.submit(_merge, group, names, *futures, pure=False))
        try:
            yield from _gather(client, tops, leaves, progress, job, self._tasks, self.label)
        finally:
            client.cancel([*tops, *leaves], force=True)


def _partition_names(numbers: range) -> str:
    return f"partition {numbers[0]}" if len(numbers) == 1 else f"partitions {numbers[0]} to {numbers[-1]}"


def _scatter(client: Any, broadcast: Broadcast, tasks: Sequence[range]) -> Any:
    """A broadcast object on one worker, from which the others take it once, within a time limit."""
    deadline = time.monotonic() + polling.PATIENCE

    def look() -> None:
        if time.monotonic() > deadline:
            raise _lost_error(client, tasks)

    try:
        # To one worker: the scheduler's own broadcast would wait for ever, and all after it, for one that was lost.
        sending = partial(client.scatter, broadcast.content, hash=False)
        return wait_while_alive(sending, partial(_alive, client), "The Dask cluster", look)
    except OSError as error:  # a worker was lost while this was on its way to it
        raise _lost_error(client, tasks) from error


def _client() -> Any:
    """The client the caller works with; None where Dask's own threads are to do it."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    scheduler = library_named("dask.base").get_scheduler()
    if scheduler is not None and getattr(scheduler, "__self__", None) is None:
        return None  # the caller asked for threads or processes by dask.config
    try:
        return distributed.get_client()
    except ValueError:
        return None


def _arrow(frame: Any) -> Any:
    return library_named("pyarrow").Table.from_pandas(frame, preserve_index=False)


def _slots() -> int:
    """Tasks that run at once."""
    client = _client()
    return sum(client.nthreads().values()) if client is not None else available_processors()


def _task_ranges(sizes: Sequence[int], tasks: int) -> list[range]:
    """The partitions of each task: neighbours of about as many rows as those of others; 0 tasks for each partition by itself."""
    before = [0, *accumulate(sizes[:-1])]  # rows of partitions before each
    task_of = [rows * tasks // max(1, sum(sizes)) if tasks else n for n, rows in enumerate(before)]
    starts = [n for n in range(len(task_of)) if n == 0 or task_of[n] != task_of[n - 1]]
    return [range(start, stop) for start, stop in pairwise([*starts, len(task_of)])]


def _count_parts(parts: Sequence[Any], coded: Sequence[str]) -> list[tuple[int, dict[str, list[Any]]]]:
    return [worker.census_of(_arrow(p).to_batches(), coded) if coded else (len(p), {}) for p in parts]


def _work(parts: Sequence[Any], model: Broadcast, task: Broadcast, number: int, job: str) -> Outcome:
    batches = (batch for part in parts for batch in _arrow(part).to_batches())
    return worker.run_partition(model, task, number, batches, job)


def _merge(outcomes: Sequence[Outcome], names: tuple[str, str], model: bytes, task: bytes) -> Outcome:
    return worker.merge_on_worker(Broadcast(names[0], model), Broadcast(names[1], task), outcomes)


def _merge_tree(leaves: Sequence[Any], merge: Any) -> list[Any]:
    """Merge neighbouring tasks, level by level, until at most `FAN_IN` are left."""
    tops = list(leaves)
    while len(tops) > FAN_IN:
        tops = [merge(tops[start : start + FAN_IN]) for start in range(0, len(tops), FAN_IN)]
    return tops


def _alive(client: Any) -> bool:
    return client.status == "running" and bool(client.scheduler_info().get("workers"))


class _StallDetector:
    """Notices that no task is running after a worker was lost: Dask may then wait for ever."""

    def __init__(self, client: Any) -> None:
        self._client, self._workers, self._lost = client, set[str](), False
        self._busy = time.monotonic()

    def alive(self) -> bool:
        """Whether there are workers; called once a second, in a thread of its own."""
        if self._client.status != "running":
            return False
        workers = set(self._client.scheduler_info().get("workers", ()))
        self._lost = self._lost or not self._workers <= workers
        self._workers |= workers
        if not self._lost or any(self._client.processing().values()):
            self._busy = time.monotonic()
        return bool(workers)

    @property
    def is_stalled(self) -> bool:
        return time.monotonic() - self._busy > STALLED


def _gather(
    client: Any,
    tops: Sequence[Any],
    leaves: Sequence[Any],
    progress: Progress,
    job: str,
    tasks: Sequence[range],
    label: str,
) -> Iterator[Any]:
    """Results of futures in their order, while looking on: futures know their state without asking the scheduler.

    `tasks` are the partitions of each of the `leaves`.
    """
    running, pending, detector = list(leaves), list(tops), _StallDetector(client)

    def look() -> None:
        heartbeat.check()
        if detector.is_stalled:
            raise _lost_error(client, _unfinished(leaves, tasks))

    try:
        with Heartbeat(detector.alive, "The Dask cluster") as heartbeat:
            while pending:
                time.sleep(polling.LOOK_EVERY / 2)
                look()
                pending = [future for future in pending if not future.done()]
                done = [future.done() for future in running]  # there may be thousands: each is looked at once
                ended = [future for future, over in zip(running, done) if over]
                running = [future for future, over in zip(running, done) if not over]
                show(progress, len(leaves) - len(running), len(leaves))
                for future in (*tops, *ended):
                    if future.status in ("cancelled", "lost"):
                        raise _lost_error(client, _unfinished(leaves, tasks))
                    if future.status == "error":
                        raise _error(client, future, leaves, tasks, label)
            try:
                results = wait_for(lambda: client.gather(list(tops)), look=look, cancel=lambda: None)
            except Exception as error:  # results may be lost with their workers until they are here
                raise _lost_error(client, _unfinished(leaves, tasks)) from error
            yield from results
    except BaseException:
        ends_in(lambda: client.cancel([*tops, *leaves], force=True), FAREWELL)
        ends_in(lambda: client.run(worker.stop, job), FAREWELL)
        raise


def _unfinished(leaves: Sequence[Any], tasks: Sequence[range]) -> list[range]:
    return [numbers for numbers, leaf in zip(tasks, leaves) if leaf.status != "finished"]


def _lost_error(client: Any, unfinished: Sequence[range]) -> Exception:
    """The exception for lost results: final with the scheduler, `_Lost` with workers, which come back.

    `unfinished` are the partitions that are not done.
    """
    if client.status != "running":
        return ClusterError.saying("The connection to the Dask scheduler was lost: nothing of this pass was counted.", "check that it runs, and try again")  # fmt: skip
    numbers = [str(number) for task in unfinished for number in task]
    return _Lost(f"partition {', '.join(numbers[:5])}" if unfinished else "the sums")


def _error(client: Any, future: Any, leaves: Sequence[Any], tasks: Sequence[range], label: str) -> Exception:
    """The exception for a failed task, with its partition where there is one."""
    error = future.exception(timeout=FAREWELL)
    if "lost dependencies" in str(error):
        return _lost_error(client, _unfinished(leaves, tasks))
    failed = next((numbers for numbers, leaf in zip(tasks, leaves) if leaf.status == "error"), None)
    which = label if failed is None else f"{_partition_names(failed)} of {label}"
    text = " ".join(f"{type(error).__name__}: {error}".split())[:600]
    return ClusterError.saying(f"Work on {which} failed: {text}.")
