"""Where a model is asked: in the calling thread, on threads, or in processes.

A `Pool` hides which of these it is, and what each needs to be both quick and right: threads that
have the caller's settings, models that only gain from threads with a copy each,
and processes that are sent the model once. Answers always come back in the order of the questions,
and leaving the pool leaves no thread and no process behind, also when the caller pressed Ctrl-C.
"""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from icefield.core.question import Resources
from icefield.data.frame import Table
from icefield.engines.brute.processes import ModelProcess, ProcessEnded, sendable
from icefield.errors import EngineError
from icefield.models.model import CrossedRows, Model
from icefield.models.pace import Pace
from icefield.models.sharing import copies_help, predict_lock, private_copy, settings_for_threads, shareable
from icefield.threads import Workers, available_processors
from icefield.typing import Array, Float

Points = Mapping[Any, Array]


class CallRows:
    """Consecutive rows on their way through a model; what does not move is prepared once.

    The table has at least the model's columns; grid points replace those that are `moving`.
    """

    def __init__(self, table: Table, moving: tuple[Any, ...]) -> None:
        self.table, self.moving = table, moving
        self._prepared: dict[int, CrossedRows] = {}
        self._lock = threading.Lock()

    def predict(self, model: Model, points: Points) -> Float:
        """Predictions at every grid point and row, shape ``(points, rows, outputs)``."""
        size = len(next(iter(points.values()))) if points else 1
        return self._prepared_for(model).predict(points).reshape(size, self.table.n_rows, -1)

    def _prepared_for(self, model: Model) -> CrossedRows:
        with self._lock:
            if id(model) not in self._prepared:
                self._prepared[id(model)] = model.crossing(self.table, self.moving)
            return self._prepared[id(model)]


class Pool:
    """Asks a model about blocks of rows, in one of three places.

    Use as a context manager, entered twice as `Workers` are: ``with Pool(...) as pool, pool:``.
    """

    def __init__(self, model: Model, resources: Resources) -> None:
        self._model, wanted = model, resources.processes or 1
        self._processes = _Processes(model, wanted) if wanted > 1 else None
        self.workers = wanted if wanted > 1 else wanted_threads(model, resources)
        self._threads = Workers(self.workers) if self.workers > 1 else None
        self._settings: Callable[[], AbstractContextManager[Any]] = nullcontext
        self._copies: queue.SimpleQueue[Model] | None = None
        if self._threads is None or self._processes is not None:
            return
        self._settings = settings_for_threads()
        if copies_help(model, self.workers, resources.memory):
            self._copies = queue.SimpleQueue()
            for _ in range(self.workers):
                self._copies.put(private_copy(model))

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._processes is not None and kind is not None:
            self._processes.kill()  # whose threads are waiting for them
        if self._threads is not None:
            self._threads.close()
        if self._processes is not None:
            self._processes.end()

    def ask(self, calls: Iterator[tuple[CallRows, Points]], pace: Pace) -> Iterator[Float]:
        """The answers to calls, in order, telling the pace how long each took.

        Calls are drawn only as they can be worked on: one at a time while the pace is still finding
        out how large they may be, and later two a worker, so that memory stays bounded.
        """
        waiting: deque[Callable[[], tuple[Float, float]]] = deque()
        for block, points in calls:
            waiting.append(self._submitted(block, points))
            while len(waiting) > (0 if self._threads is None or pace.searching else 2 * self.workers):
                yield self._next(waiting, pace)
        while waiting:
            yield self._next(waiting, pace)

    def _next(self, waiting: deque[Callable[[], tuple[Float, float]]], pace: Pace) -> Float:
        values, seconds = waiting.popleft()()
        pace.learn(values.shape[0] * values.shape[1], seconds)
        return values

    def _submitted(self, block: CallRows, points: Points) -> Callable[[], tuple[Float, float]]:
        """What gives the answer to a call, once a thread has it."""
        if self._threads is None:
            return partial(_guarded, self._model, block, points)
        if self._processes is not None:
            return self._threads.submit(self._processes.ask, block, points).result
        return self._threads.submit(contextvars.copy_context().run, self._ask_in_thread, block, points).result

    def _ask_in_thread(self, block: CallRows, points: Points) -> tuple[Float, float]:
        with self._settings():
            if self._copies is None:
                return _guarded(self._model, block, points)
            own = self._copies.get()
            try:
                return _timed(own, block, points)
            finally:
                self._copies.put(own)


def wanted_threads(model: Model, resources: Resources) -> int:
    """How many threads share the work: as many as asked for, or as many as help.

    A model that must not be asked by two threads at once stays with one.
    """
    wanted = resources.threads or available_processors()
    if copies_help(model, wanted, resources.memory):
        return wanted
    if not shareable(model):
        return 1
    return wanted if resources.threads or model.parallel else 1


def _timed(model: Model, block: CallRows, points: Points) -> tuple[Float, float]:
    began = time.perf_counter()
    values = block.predict(model, points)
    return values, time.perf_counter() - began


def _guarded(model: Model, block: CallRows, points: Points) -> tuple[Float, float]:
    with predict_lock(model):
        return _timed(model, block, points)


# --- processes -----------------------------------------------------------------------------------


class _Processes:
    """Up to this many processes, of which a thread takes one for a call, or starts another."""

    def __init__(self, model: Model, most: int) -> None:
        self._most, self._sent = most, sendable(model, most)
        self._all: list[ModelProcess] = []
        self._free: queue.SimpleQueue[ModelProcess] = queue.SimpleQueue()
        self._killed = False

    def ask(self, block: CallRows, points: Points) -> tuple[Float, float]:
        try:
            process = self._free.get_nowait()
        except queue.Empty:
            process = self._started()
        try:
            found: tuple[Float, float] = process.ask(block.table, block.moving, points)
        except ProcessEnded as error:
            raise EngineError.about(
                "processes",
                "could not be used: a process ended before it answered",
                self._most,
                "a script must start its work under `if __name__ == '__main__':`, and the model must come "
                "from a module that other processes can import; or leave processes out",
            ) from error
        self._free.put(process)
        return found

    def _started(self) -> ModelProcess:
        process = ModelProcess(self._sent, _asked)
        self._all.append(process)
        if self._killed:  # while this one was being started
            process.kill()
        return process

    def kill(self) -> None:
        self._killed = True
        for process in self._all:
            process.kill()

    def end(self) -> None:
        """Wait for all of them, once no thread asks any more."""
        try:
            self._end()
        except BaseException:
            self.kill()
            self._end()
            raise

    def _end(self) -> None:
        for process in self._all:
            process.end()


def _asked(model: Model, table: Table, moving: tuple[Any, ...], points: Points) -> tuple[Float, float]:
    return _timed(model, CallRows(table, moving), points)
