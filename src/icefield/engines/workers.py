"""Threads that work for one call, and are gone when it ends, whenever Ctrl-C strikes.

An interrupt is raised in the calling thread at whatever it is doing: starting a thread, waiting for an answer, or
waiting for threads to end. A pool that notes a thread once it has started, or that is left at the first interrupt
of its end, leaves threads behind. Here it is known of every thread whether it was started, and the end is waited for
again where an interrupt cut it short; what is handed to threads waits on plain locks, which are either taken or not.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from _thread import start_new_thread
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
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


class Workers:
    """Up to so many threads for one call. Enter it twice, ``with Workers(2) as workers, workers:``.

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
