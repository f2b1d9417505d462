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

Given = TypeVar("Given")
Result = TypeVar("Result")
Thing = TypeVar("Thing")
BLINK = 0.0005


class Task(Generic[Result]):
    """Work that a thread does, and what came of it."""

    def __init__(self, work: Callable[..., Result], *given: Any) -> None:
        self._work, self._given = work, given
        self._found: Result
        self._error: BaseException | None = None
        self._unfinished = threading.Lock()
        self._unfinished.acquire()

    def do(self) -> None:
        """Do the work; called once, by a thread."""
        try:
            self._found = self._work(*self._given)
        except BaseException as error:
            self._error = error
        finally:
            self._unfinished.release()

    def result(self) -> Result:
        """What the work gave, once it is done; an error is raised here."""
        with self._unfinished:
            error, self._error = self._error, None
        if error is None:
            return self._found
        try:
            raise error
        finally:
            del error  # or the error would keep this frame, and the frame the error


def in_daemon(work: Callable[..., Result], *given: Any, name: str) -> tuple[Task[Result], threading.Thread]:
    """Work begun in a thread of its own, for which nobody has to wait, not even the end of the program."""
    task = Task(work, *given)
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
        self._given = 0
        # Threads know only their queue: once nobody can hand in work any more, they go home.
        self._forgotten = weakref.finalize(self, self._queue.close)

    def submit(self, work: Callable[..., Result], *given: Any) -> Task[Result]:
        """Hand in work; threads are started as there is something to do for them."""
        task = Task(work, *given)
        unfinished = self._given - sum(worker.done for worker in self._threads)
        if unfinished >= len(self._threads) < self.threads:
            self._hire()
        self._given += 1
        self._queue.tasks.put(task)
        return task

    def close(self) -> None:
        """Let running work end, drop what is waiting, and wait until every thread is gone.

        One interrupt of this wait comes through once the threads are gone; the next one ends the wait.
        """
        try:
            self._dismiss()
        except BaseException:  # a signal may raise anything
            self._dismiss()
            raise

    def _hire(self) -> None:
        """Start one more thread, which another one does: `start` is Python, and an interrupt would leave it half done."""
        worker = _Worker(self._queue, len(self._threads))
        self._threads.append(worker)
        # One call down to the system: the list has grown if, and only if, there is a thread that starts the worker.
        self._starters.extend(map(start_new_thread, [worker.begin], [()]))

    def _dismiss(self) -> None:
        self._queue.close(len(self._threads))
        for worker, _ in zip(self._threads, self._starters):
            worker.wait()
        self._forgotten.detach()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Queue:
    """What waits to be done, and whether it still has to be."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[Task[Any] | None] = queue.SimpleQueue()
        self.closed = False

    def close(self, threads: int = 1) -> None:
        self.closed = True
        for _ in range(threads):
            self.tasks.put(None)


class _Worker(threading.Thread):
    """A thread that does tasks until its queue is closed."""

    def __init__(self, own: _Queue, number: int) -> None:
        # A foreign predict may never return: the process must still be able to end.
        super().__init__(name=f"icefield-{number}", daemon=True)
        self.done = 0
        self._own = own
        self._undecided = threading.Lock()  # held until the thread has begun
        self._undecided.acquire()

    def begin(self) -> None:
        """Start the thread; called once, in a thread that ends with this."""
        try:
            self.start()
        except RuntimeError:
            self.run()  # the system has no more threads to give, so this one does the work
        finally:
            self._undecided.release()

    def wait(self) -> None:
        """Wait until the thread is gone, once `begin` was called."""
        with self._undecided:
            pass
        if self.ident is not None:
            self.join()
        # After an interrupted `join` a thread counts as ended, and another `join` does not wait for it.
        while self in threading.enumerate():
            time.sleep(BLINK)

    def run(self) -> None:
        while True:
            task = self._own.tasks.get()
            if task is None or self._own.closed:
                self._own.tasks.put(None)  # for the next one
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
        watching: Cancellation | None = getattr(_thread, "cancellation", None)
        if watching is not None:
            watching.stops(self.stop)

    def __enter__(self) -> ThreadCrew:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop[0] = 1  # what is still at work when the call ends is not wanted
        self._workers.close()

    def map(
        self,
        work: Callable[[Given], Result],
        tasks: Iterable[Given],
        meanwhile: Callable[[], object] | None = None,
    ) -> Iterator[Result]:
        """Like `map`, on the threads, with at most two tasks a thread in flight.

        `meanwhile` is done in this thread, once, before it first waits for another.
        """
        waiting: deque[Task[Result]] = deque()
        for task in tasks:
            waiting.append(self._workers.submit(work, task))
            if len(waiting) >= 2 * self.threads:
                if meanwhile is not None:
                    meanwhile()
                    meanwhile = None
                yield waiting.popleft().result()
        if meanwhile is not None:
            meanwhile()
        while waiting:
            yield waiting.popleft().result()

    def each(self, work: Callable[[Given], object], tasks: Iterable[Given]) -> None:
        """The same where nothing is given back."""
        deque(self.map(work, tasks), maxlen=0)

    def share(
        self,
        work: Callable[[Given], Result],
        tasks: Iterable[Given],
        meanwhile: Callable[[], object] | None = None,
    ) -> Iterator[Result]:
        """The same for a few short tasks, of which this thread does its share once it has done `meanwhile`.

        A thread that has just started may wait milliseconds for a processor, and this one has one. But Ctrl-C waits
        until the task is done that this thread is at.
        """
        given = [Task(work, task) for task in tasks]
        waiting = deque(given)

        def help_out() -> None:
            while waiting:
                with suppress(IndexError):  # another thread may be quicker
                    waiting.popleft().do()

        try:
            for _ in range(min(self.threads, len(given)) - 1):
                self._workers.submit(help_out)
            if meanwhile is not None:
                meanwhile()
            help_out()
            for task in given:
                yield task.result()
        finally:
            waiting.clear()


class BackgroundTasks(Generic[Result]):
    """Short tasks that threads begin with at once, and the calling thread joins in when it wants what came of them.

    Entered twice, as `Workers` are: ``with BackgroundTasks(2, work, tasks) as tasks, tasks:``. Leaving drops what nobody
    has begun, and waits for the rest.
    """

    def __init__(self, threads: int, work: Callable[[Given], Result], tasks: Iterable[Given]) -> None:
        self._tasks = [Task(work, task) for task in tasks]
        self._waiting = deque(self._tasks)
        self._others = min(threads, len(self._tasks)) - 1
        self._workers = Workers(max(1, self._others))
        self._begun = threading.Event()
        if self._others <= 0:
            self._begun.set()

    def __enter__(self) -> BackgroundTasks[Result]:
        if self._others <= 0:
            # Entered again, so that an interrupt leaves: Python lets a thread that has just started wait five milliseconds
            # for one that does not wait itself.
            self._begun.wait(BLINK)
        while self._others > 0:
            self._others -= 1
            self._workers.submit(self._begin)
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.clear()
        self._workers.close()

    def __len__(self) -> int:
        return len(self._tasks)

    def results(self) -> Iterator[Result]:
        """What the tasks gave, in their order, of which this thread does its share first."""
        self._help()
        for task in self._tasks:
            yield task.result()

    def _begin(self) -> None:
        self._begun.set()
        self._help()

    def _help(self) -> None:
        while self._waiting:
            with suppress(IndexError):  # another thread may be quicker
                self._waiting.popleft().do()


class PerThread(Generic[Thing]):
    """Things that threads borrow for a block and give back: as many are made as work at once."""

    def __init__(self, make: Callable[[], Thing]) -> None:
        self._make = make
        self._free: list[Thing] = []
        self.made: list[Thing] = []

    @contextmanager
    def borrowed(self) -> Iterator[Thing]:
        """One of them, for as long as the block lasts; lost with the work if that fails."""
        try:
            thing = self._free.pop()
        except IndexError:
            thing = self._make()
            self.made.append(thing)
        yield thing
        self._free.append(thing)


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
                found = flag()
                if found is not None:
                    found[0] = 1

    def check(self) -> None:
        """Raise `Stopped` once cancelled."""
        if self.cancelled:
            raise Stopped

    def stops(self, flag: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """Raise this flag, too, when cancelled; `Stopped` at once where that has happened."""
        with self._lock:
            self.check()
            self._flags = [known for known in self._flags if known() is not None]
            self._flags.append(weakref.ref(flag))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """What this thread begins inside the block is cancelled with it."""
        before = getattr(_thread, "cancellation", None)
        _thread.cancellation = self
        try:
            yield
        finally:
            _thread.cancellation = before


def check_wanted() -> None:
    """Raise `Stopped` where this thread's work was cancelled; called between calls of a model."""
    watching: Cancellation | None = getattr(_thread, "cancellation", None)
    if watching is not None:
        watching.check()


def available_processors() -> int:
    """Processors this process may run on, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
