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
from icefield.rows.distributed.polling import FAREWELL, Lifeline, show, waited, watched, within
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
        number, together = 0, 1
        while True:
            looked = range(number, min(number + together, self._frame.npartitions))
            found = self._computed(
                [self._frame.partitions[n].head(rows, compute=False, npartitions=1) for n in looked],
                [range(n, n + 1) for n in looked],
            )
            some = next((one for one in found if len(one)), None)
            if some is not None or looked.stop >= self._frame.npartitions:
                return _arrow(found[-1] if some is None else some)
            number, together = looked.stop, min(4 * together, MOST_LOOKED)

    @cached_property
    def schema(self) -> Any:
        names = [name for name in self._frame.columns if not isinstance(name, str)]
        if names:
            raise InputError.about("X", "must have text as column names", names[0], "rename the columns")
        return super().schema

    def census(self, columns: Sequence[str], listed: Sequence[str]) -> Census:
        unknown = [name for name in listed if not self._frame[name].cat.known]
        read = unknown or [columns[0]]
        delayed = library_named("dask").delayed
        parts = self._frame[read].to_delayed(optimize_graph=True)
        slots = _slots()
        several = min(FAN_IN, max(1, len(parts) // (8 * slots)))  # of which a task sees some columns at once
        looked = [range(n, min(n + several, len(parts))) for n in range(0, len(parts), several)]
        tasks = [delayed(_look, pure=False)([parts[n] for n in own], unknown) for own in looked]
        found = [one for some in self._computed(tasks, looked) for one in some]
        levels = {name: self._frame[name].cat.categories.tolist() for name in listed if name not in unknown}
        levels |= {name: list(dict.fromkeys(v for _, own in found for v in own[name])) for name in unknown}
        sizes = tuple(rows for rows, _ in found)
        self._tasks = _neighbours(sizes, tasks_for(sum(sizes), len(sizes), slots))
        return Census(tuple(sum(sizes[n] for n in own) for own in self._tasks), sum(sizes), levels)

    def where(self, number: int) -> str:
        return f"{_said(self._tasks[number])} of {self.label}"

    def _computed(self, tasks: list[Any], numbers: Sequence[range]) -> list[Any]:
        """The results of small tasks, each of these partitions."""
        client = _client()
        if client is None:
            return list(library_named("dask").compute(*tasks, scheduler="threads"))
        for tried in range(1, TRIES + 1):
            try:
                futures = client.compute(tasks)
                return list(_gathered(client, futures, futures, Progress("", None), "", numbers, self.label))
            except _Lost as lost:
                if tried == TRIES:
                    raise ClusterError.saying(
                        f"Reading {lost} of {self.label} failed: its workers were lost."
                    ) from lost
                log.warning("Workers were lost with %s of %s: it is read again.", lost, self.label)
        return []

    def outcomes(
        self, model: Broadcast, task: Broadcast, columns: Sequence[str], progress: Progress
    ) -> Iterable[Outcome]:
        single = self._frame[list(columns)].to_delayed(optimize_graph=True)
        parts = [[single[number] for number in own] for own in self._tasks]
        client = _client()
        if client is None:
            yield from self._on_threads(parts, model, task, progress)
            return
        for tried in range(1, TRIES + 1):
            try:
                yield from self._on_workers(client, parts, model, task, progress)
                return
            except _Lost as lost:
                if tried == TRIES:
                    raise ClusterError.saying(f"Work on {lost} of {self.label} failed: its workers were lost {TRIES} times, with all that they held.",
                                              "check why they end; memory is a common reason") from lost  # fmt: skip
                log.warning("Workers were lost with %s of %s: the pass begins anew.", lost, self.label)
                self._scattered.clear()
                within(lambda: client.wait_for_workers(1, timeout=NEW_WORKERS), NEW_WORKERS)

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

        merging = delayed(worker.united, pure=False)
        tops = _tree(leaves, lambda group: merging(model, task, group))

        def work() -> list[Outcome]:
            with Seen():
                return list(dask.compute(*tops, scheduler="threads"))

        def look() -> None:
            show(progress, len(done), len(parts))

        return waited(work, look=look, cancel=lambda: worker.stop(job))

    def _on_workers(
        self, client: Any, parts: Sequence[Any], model: Broadcast, task: Broadcast, progress: Progress
    ) -> Iterator[Outcome]:
        delayed, job = library_named("dask").delayed, uuid.uuid4().hex
        known = client.id, model.name
        if known not in self._scattered or self._scattered[known].status != "finished":
            self._scattered[known] = _scattered(client, model, self._tasks)
        sent = self._scattered[known], _scattered(client, task, self._tasks)
        named = [delayed(Broadcast)(one.name, content) for one, content in zip((model, task), sent)]
        tasks = [delayed(_work, pure=False)(part, *named, number, job) for number, part in enumerate(parts)]
        leaves = client.compute(tasks, retries=RETRIES)
        names = (model.name, task.name)
        tops = _tree(leaves, lambda group: client.submit(_joined, group, names, *sent, pure=False))
        try:
            yield from _gathered(client, tops, leaves, progress, job, self._tasks, self.label)
        finally:
            client.cancel([*tops, *leaves], force=True)


def _said(own: range) -> str:
    return f"partition {own[0]}" if len(own) == 1 else f"partitions {own[0]} to {own[-1]}"


def _scattered(client: Any, parcel: Broadcast, tasks: Sequence[range]) -> Any:
    """A broadcast object on one worker, from which the others take it once, within a time limit."""
    until = time.monotonic() + polling.PATIENCE

    def look() -> None:
        if time.monotonic() > until:
            raise _lost(client, tasks)

    try:
        # To one worker: the scheduler's own broadcast would wait for ever, and all after it, for one that was lost.
        sending = partial(client.scatter, parcel.content, hash=False)
        return watched(sending, partial(_alive, client), "The Dask cluster", look)
    except OSError as error:  # a worker was lost while this was on its way to it
        raise _lost(client, tasks) from error


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


def _neighbours(sizes: Sequence[int], tasks: int) -> list[range]:
    """The partitions of each task: neighbours of about as many rows as those of others; 0 tasks for each partition by itself."""
    before = [0, *accumulate(sizes[:-1])]  # rows of partitions before each
    own = [rows * tasks // max(1, sum(sizes)) if tasks else n for n, rows in enumerate(before)]
    starts = [n for n in range(len(own)) if n == 0 or own[n] != own[n - 1]]
    return [range(start, stop) for start, stop in pairwise([*starts, len(own)])]


def _look(parts: Sequence[Any], listed: Sequence[str]) -> list[tuple[int, dict[str, list[Any]]]]:
    return [worker.looked(_arrow(part).to_batches(), listed) if listed else (len(part), {}) for part in parts]


def _work(parts: Sequence[Any], model: Broadcast, task: Broadcast, number: int, job: str) -> Outcome:
    batches = (batch for part in parts for batch in _arrow(part).to_batches())
    return worker.worked(model, task, number, batches, job)


def _joined(outcomes: Sequence[Outcome], names: tuple[str, str], model: bytes, task: bytes) -> Outcome:
    return worker.united(Broadcast(names[0], model), Broadcast(names[1], task), outcomes)


def _tree(leaves: Sequence[Any], merge: Any) -> list[Any]:
    """Neighbours merged, and these again, until few are left."""
    tops = list(leaves)
    while len(tops) > FAN_IN:
        tops = [merge(tops[start : start + FAN_IN]) for start in range(0, len(tops), FAN_IN)]
    return tops


def _alive(client: Any) -> bool:
    return client.status == "running" and bool(client.scheduler_info().get("workers"))


class _Watch:
    """Notices that no task is running after a worker was lost: Dask may then wait for ever."""

    def __init__(self, client: Any) -> None:
        self._client, self._workers, self._lost = client, set[str](), False
        self._busy = time.monotonic()

    def alive(self) -> bool:
        """Whether there are workers; called once a second, in a thread of its own."""
        if self._client.status != "running":
            return False
        now = set(self._client.scheduler_info().get("workers", ()))
        self._lost = self._lost or not self._workers <= now
        self._workers |= now
        if not self._lost or any(self._client.processing().values()):
            self._busy = time.monotonic()
        return bool(now)

    @property
    def is_stalled(self) -> bool:
        return time.monotonic() - self._busy > STALLED


def _gathered(
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
    running, waiting, watch = list(leaves), list(tops), _Watch(client)

    def look() -> None:
        lifeline.check()
        if watch.is_stalled:
            raise _lost(client, _unfinished(leaves, tasks))

    try:
        with Lifeline(watch.alive, "The Dask cluster") as lifeline:
            while waiting:
                time.sleep(polling.LOOK_EVERY / 2)
                look()
                waiting = [future for future in waiting if not future.done()]
                done = [future.done() for future in running]  # there may be thousands: each is looked at once
                ended = [future for future, over in zip(running, done) if over]
                running = [future for future, over in zip(running, done) if not over]
                show(progress, len(leaves) - len(running), len(leaves))
                for future in (*tops, *ended):
                    if future.status in ("cancelled", "lost"):
                        raise _lost(client, _unfinished(leaves, tasks))
                    if future.status == "error":
                        raise _error(client, future, leaves, tasks, label)
            try:
                found = waited(lambda: client.gather(list(tops)), look=look, cancel=lambda: None)
            except Exception as error:  # results may be lost with their workers until they are here
                raise _lost(client, _unfinished(leaves, tasks)) from error
            yield from found
    except BaseException:
        within(lambda: client.cancel([*tops, *leaves], force=True), FAREWELL)
        within(lambda: client.run(worker.stop, job), FAREWELL)
        raise


def _unfinished(leaves: Sequence[Any], tasks: Sequence[range]) -> list[range]:
    return [own for own, leaf in zip(tasks, leaves) if leaf.status != "finished"]


def _lost(client: Any, left: Sequence[range]) -> Exception:
    """What to raise where results are gone: with the scheduler for good, with workers until these are back.

    `left` are the partitions that are not done.
    """
    if client.status != "running":
        return ClusterError.saying("The connection to the Dask scheduler was lost: nothing of this pass was counted.", "check that it runs, and try again")  # fmt: skip
    numbers = [str(number) for own in left for number in own]
    return _Lost(f"partition {', '.join(numbers[:5])}" if left else "the sums")


def _error(client: Any, future: Any, leaves: Sequence[Any], tasks: Sequence[range], label: str) -> Exception:
    """What a failed task says, with its partition where it is one's."""
    error = future.exception(timeout=FAREWELL)
    if "lost dependencies" in str(error):
        return _lost(client, _unfinished(leaves, tasks))
    failed = next((own for own, leaf in zip(tasks, leaves) if leaf.status == "error"), None)
    which = label if failed is None else f"{_said(failed)} of {label}"
    text = " ".join(f"{type(error).__name__}: {error}".split())[:600]
    return ClusterError.saying(f"Work on {which} failed: {text}.")
