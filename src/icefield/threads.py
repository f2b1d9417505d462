"""Threads that work for one call, and are gone when it ends, whenever Ctrl-C strikes.

An interrupt is raised in the calling thread at whatever it is doing: starting a thread, waiting for an answer, or
waiting for threads to end. A pool that notes a thread once it has started, or that is left at the first interrupt
of its end, leaves threads behind. Here it is known of every thread whether it was started, and the end is waited for
again where an interrupt cut it short; what is handed to threads waits on plain locks, which are either taken or not.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")
Resource = TypeVar("Resource")
POLL_SECONDS = 0.0005


class Task(Generic[Result]):
    """Work that a thread does, and what came of it."""

    def __init__(self, work: Callable[..., Result], *arguments: Any) -> None:
        self._work, self._arguments = work, arguments
        self._value: Result
        self._error: BaseException | None = None
        self._unfinished = threading.Lock()
        self._unfinished.acquire()

    def do(self) -> None:
        """Do the work; called once, by a thread."""
        try:
            self._value = self._work(*self._arguments)
        except BaseException as error:
            self._error = error
        finally:
            self._unfinished.release()

    def result(self) -> Result:
        """The result of the work, once it is done; its error is raised here."""
        with self._unfinished:
            error, self._error = self._error, None
        if error is None:
            return self._value
        try:
            raise error
        finally:
            del error  # or the error would keep this frame, and the frame the error


def start_daemon(work: Callable[..., Result], *args: Any, name: str) -> tuple[Task[Result], threading.Thread]:
    """Start work in a daemon thread: its task, and the thread, which the end of the program does not wait for."""
    task = Task(work, *args)
    thread = threading.Thread(target=task.do, daemon=True, name=name)
    thread.start()
    return task, thread


class Workers:
    """Up to this many threads for one call. Enter it twice, ``with Workers(2) as workers, workers:``.

    An interrupt may be raised at the very door of leaving, before anything is done there: then the second
    leaving does it. Leaving once more costs nothing.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._queue = _Queue()
        self._threads: list[_Worker] = []
        self._starters: list[int] = []
        self._n_submitted = 0
        # Threads know only their queue: once nobody can hand in work any more, they go home.
        self._finalizer = weakref.finalize(self, self._queue.close)

    def submit(self, work: Callable[..., Result], *arguments: Any) -> Task[Result]:
        """Hand in work; threads are started as there is something to do for them."""
        task = Task(work, *arguments)
        n_unfinished = self._n_submitted - sum(worker.done for worker in self._threads)
        if n_unfinished >= len(self._threads) < self.threads:
            self._start_worker()
        self._n_submitted += 1
        self._queue.tasks.put(task)
        return task

    def close(self) -> None:
        """Let running work end, drop what is waiting, and wait until every thread is gone.

        One interrupt of this wait comes through once the threads are gone; the next one ends the wait.
        """
        try:
            self._stop_workers()
        except BaseException:  # a signal may raise anything
            self._stop_workers()
            raise

    def _start_worker(self) -> None:
        """Start one more thread, which another one does: `start` is Python, and an interrupt would leave it half done."""
        worker = _Worker(self._queue, len(self._threads))
        self._threads.append(worker)
        # One call down to the system: the list has grown if, and only if, there is a thread that starts the worker.
        self._starters.extend(map(start_new_thread, [worker.begin], [()]))

    def _stop_workers(self) -> None:
        self._queue.close(len(self._threads))
        for worker, _ in zip(self._threads, self._starters):
            worker.wait()
        self._finalizer.detach()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Queue:
    """Tasks that wait for a thread, and whether they still have to be done."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[Task[Any] | None] = queue.SimpleQueue()
        self.closed = False

    def close(self, threads: int = 1) -> None:
        self.closed = True
        for _ in range(threads):
            self.tasks.put(None)


class _Worker(threading.Thread):
    """A thread that does tasks until its queue is closed."""

    def __init__(self, tasks: _Queue, number: int) -> None:
        # A foreign predict may never return: the process must still be able to end.
        super().__init__(name=f"icefield-{number}", daemon=True)
        self.done = 0
        self._queue = tasks
        self._not_begun = threading.Lock()  # held until the thread has begun
        self._not_begun.acquire()

    def begin(self) -> None:
        """Start the thread; called once, in a thread that ends with this."""
        try:
            self.start()
        except RuntimeError:
            self.run()  # the system has no more threads to give, so this one does the work
        finally:
            self._not_begun.release()

    def wait(self) -> None:
        """Wait until the thread is gone, once `begin` was called."""
        with self._not_begun:
            pass
        if self.ident is not None:
            self.join()
        # After an interrupted `join` a thread counts as ended, and another `join` does not wait for it.
        while self in threading.enumerate():
            time.sleep(POLL_SECONDS)

    def run(self) -> None:
        while True:
            task = self._queue.tasks.get()
            if task is None or self._queue.closed:
                self._queue.tasks.put(None)  # for the next one
                return
            task.do()
            del task  # its arrays are not kept while waiting for the next
            self.done += 1


class ThreadCrew:
    """Threads for one call. Entered twice, as `Workers` are: ``with ThreadCrew(2) as crew, crew:``."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.stop = np.zeros(1, np.uint8)
        self._workers = Workers(threads)
        cancellation: Cancellation | None = getattr(_thread, "cancellation", None)
        if cancellation is not None:
            cancellation.stops(self.stop)

    def __enter__(self) -> ThreadCrew:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop[0] = 1  # what is still at work when the call ends is not wanted
        self._workers.close()

    def map(
        self,
        work: Callable[[Item], Result],
        tasks: Iterable[Item],
        meanwhile: Callable[[], object] | None = None,
    ) -> Iterator[Result]:
        """Like `map`, on the threads, with at most two tasks a thread in flight.

        `meanwhile` is done in this thread, once, before it first waits for another.
        """
        pending: deque[Task[Result]] = deque()
        for task in tasks:
            pending.append(self._workers.submit(work, task))
            if len(pending) >= 2 * self.threads:
                if meanwhile is not None:
                    meanwhile()
                    meanwhile = None
                yield pending.popleft().result()
        if meanwhile is not None:
            meanwhile()
        while pending:
            yield pending.popleft().result()

    def each(self, work: Callable[[Item], object], tasks: Iterable[Item]) -> None:
        """Do the work for each of the tasks, on the threads, as `map` does; results are dropped."""
        deque(self.map(work, tasks), maxlen=0)

    def share(
        self,
        work: Callable[[Item], Result],
        tasks: Iterable[Item],
        meanwhile: Callable[[], object] | None = None,
    ) -> Iterator[Result]:
        """Like `map` for a few short tasks, of which this thread does its share once it has done `meanwhile`.

        A thread that has just started may wait milliseconds for a processor, and this one has one. But Ctrl-C waits
        until the task is done that this thread is at.
        """
        all_tasks = [Task(work, task) for task in tasks]
        pending = deque(all_tasks)

        def help_out() -> None:
            while pending:
                with suppress(IndexError):  # another thread may be quicker
                    pending.popleft().do()

        try:
            for _ in range(min(self.threads, len(all_tasks)) - 1):
                self._workers.submit(help_out)
            if meanwhile is not None:
                meanwhile()
            help_out()
            for task in all_tasks:
                yield task.result()
        finally:
            pending.clear()


class BackgroundTasks(Generic[Result]):
    """Short tasks that threads begin with at once, and the calling thread joins in when it wants what came of them.

    Entered twice, as `Workers` are: ``with BackgroundTasks(2, work, tasks) as tasks, tasks:``. Leaving drops what nobody
    has begun, and waits for the rest.
    """

    def __init__(self, threads: int, work: Callable[[Item], Result], tasks: Iterable[Item]) -> None:
        self._tasks = [Task(work, task) for task in tasks]
        self._pending = deque(self._tasks)
        self._n_helpers = min(threads, len(self._tasks)) - 1
        self._workers = Workers(max(1, self._n_helpers))
        self._begun = threading.Event()
        if self._n_helpers <= 0:
            self._begun.set()

    def __enter__(self) -> BackgroundTasks[Result]:
        if self._n_helpers <= 0:
            # Entered again, so that an interrupt leaves: Python lets a thread that has just started wait five milliseconds
            # for one that does not wait itself.
            self._begun.wait(POLL_SECONDS)
        while self._n_helpers > 0:
            self._n_helpers -= 1
            self._workers.submit(self._begin)
        return self

    def __exit__(self, *_: object) -> None:
        self._pending.clear()
        self._workers.close()

    def __len__(self) -> int:
        return len(self._tasks)

    def results(self) -> Iterator[Result]:
        """The tasks' results, in their order; this thread does its share of them first."""
        self._help()
        for task in self._tasks:
            yield task.result()

    def _begin(self) -> None:
        self._begun.set()
        self._help()

    def _help(self) -> None:
        while self._pending:
            with suppress(IndexError):  # another thread may be quicker
                self._pending.popleft().do()


class PerThread(Generic[Resource]):
    """A pool of resources that threads borrow for a block: one is made for each thread that works at once."""

    def __init__(self, make: Callable[[], Resource]) -> None:
        self._make = make
        self._free: list[Resource] = []
        self.made: list[Resource] = []

    @contextmanager
    def borrowed(self) -> Iterator[Resource]:
        """A free resource for the block, or a new one; dropped where the block fails."""
        try:
            resource = self._free.pop()
        except IndexError:
            resource = self._make()
            self.made.append(resource)
        yield resource
        self._free.append(resource)


class Stopped(Exception):
    """A kernel saw the stop flag; only who raised the flag, by a `Cancellation` or by leaving the call, ever meets it."""


def unless_stopped(finished: bool) -> None:
    """`Stopped` where a kernel did not finish."""
    if not finished:
        raise Stopped


_thread = threading.local()


class Cancellation:
    """Whether what a thread works at is still wanted. `cancel`, from any thread, raises the stop flag of its kernels.

    Examples
    --------
    >>> wanted = Cancellation()
    >>> with wanted.watched():
    ...     wanted.check()
    >>> wanted.cancel()
    >>> wanted.cancelled
    True
    """

    def __init__(self) -> None:
        self.cancelled = False
        self._flags: list[weakref.ref[Any]] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Let the work end: kernels return at their next look at the flag, and `Stopped` is raised where they were called."""
        with self._lock:
            self.cancelled = True
            for flag in self._flags:
                array = flag()
                if array is not None:
                    array[0] = 1

    def check(self) -> None:
        """Raise `Stopped` once cancelled."""
        if self.cancelled:
            raise Stopped

    def stops(self, flag: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """Raise this flag, too, when cancelled; `Stopped` at once where that has happened."""
        with self._lock:
            self.check()
            self._flags = [reference for reference in self._flags if reference() is not None]
            self._flags.append(weakref.ref(flag))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let `cancel` stop the thread crews that this thread starts inside the block."""
        before = getattr(_thread, "cancellation", None)
        _thread.cancellation = self
        try:
            yield
        finally:
            _thread.cancellation = before


def check_cancelled() -> None:
    """Raise `Stopped` where this thread's work was cancelled; called between calls of a model."""
    cancellation: Cancellation | None = getattr(_thread, "cancellation", None)
    if cancellation is not None:
        cancellation.check()


def available_processors() -> int:
    """Processors this process may run on, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
