"""Threads over blocks of rows: results in order, bounded work in flight, and a clean stop.

Kernels release the GIL and poll a flag. Whatever ends the work early (Ctrl-C in the caller's
thread, an error in a block) raises that flag and waits for the threads, so none is left behind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numpy as np

Task = TypeVar("Task")
Result = TypeVar("Result")


class Crew:
    """A pool of threads for one call."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.stop = np.zeros(1, np.uint8)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="icefield")

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.stop[0] = 1
        self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Like `map`, on the threads, with at most two tasks a thread in flight."""
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self._pool.submit(work, task))
                if len(waiting) >= 2 * self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            self.stop[0] = 1
            raise
        finally:
            for future in waiting:
                future.cancel()


class Stopped(Exception):
    """A kernel saw the stop flag; never reaches the caller, who gets what raised the flag."""
