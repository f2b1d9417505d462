"""Threads over blocks of rows: results in order, bounded work in flight, and a clean stop.

Kernels release the GIL and poll a flag. Whatever ends the work early (Ctrl-C in the caller's
thread, an error in a block) raises that flag and waits for the threads, so none is left behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

import numpy as np

from icefield.engines.workers import Task, Workers

Given = TypeVar("Given")
Result = TypeVar("Result")
Thing = TypeVar("Thing")


class Crew:
    """Threads for one call. Entered twice, as `Workers` are: ``with Crew(2) as crew, crew:``."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.stop = np.zeros(1, np.uint8)
        self._workers = Workers(threads)

    def __enter__(self) -> Crew:
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


class Lent(Generic[Thing]):
    """Things that threads borrow for a block and give back: as many are made as work at once."""

    def __init__(self, make: Callable[[], Thing]) -> None:
        self._make = make
        self._free: list[Thing] = []
        self.made: list[Thing] = []

    @contextmanager
    def one(self) -> Iterator[Thing]:
        """One of them, for as long as the block lasts; lost with the work if that fails."""
        try:
            thing = self._free.pop()
        except IndexError:
            thing = self._make()
            self.made.append(thing)
        yield thing
        self._free.append(thing)


class Stopped(Exception):
    """A kernel saw the stop flag; never reaches the caller, who gets what raised the flag."""
