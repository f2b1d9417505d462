"""Where a model is asked: in the calling thread, on threads, or in processes.

A `Pool` hides which of these it is, and what each needs to be both quick and right: threads that
carry the caller's scikit-learn configuration, models that only gain from threads with a copy each,
and processes that are sent the model once. Answers always come back in the order of the questions,
and leaving the pool leaves no thread and no process behind, also when the caller pressed Ctrl-C.
"""

from __future__ import annotations

import contextvars
import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icefield.engines import Resources
from icefield.errors import EngineError, InputError, complaint
from icefield.models.sharing import alone, copies_help, private_copy, shareable
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.frame import Table
    from icefield.models.model import CrossedRows, Model

Points = Mapping[Any, NDArray[Any]]


class Block:
    """Consecutive rows on their way through a model; what does not move is prepared once.

    Parameters
    ----------
    table : the rows, with at least the model's columns
    moving : the columns that grid points replace
    """

    def __init__(self, table: Table, moving: tuple[Any, ...]) -> None:
        self.table, self.moving = table, moving
        self._prepared: dict[int, CrossedRows] = {}
        self._lock = threading.Lock()

    def predict(self, model: Model, points: Points) -> Float:
        """Predictions at every grid point and row, shape ``(points, rows, outputs)``."""
        size = len(next(iter(points.values())))
        return self._prepared_for(model).predict(points).reshape(size, self.table.n_rows, -1)

    def _prepared_for(self, model: Model) -> CrossedRows:
        with self._lock:
            if id(model) not in self._prepared:
                self._prepared[id(model)] = model.crossing(self.table, self.moving)
            return self._prepared[id(model)]


class Pool:
    """Asks a model about blocks of rows, in one of three places. Use as a context manager."""

    def __init__(self, model: Model, resources: Resources) -> None:
        self._model = model
        self._executor: Executor | None = None
        self._in_processes = resources.processes is not None and resources.processes > 1
        self._config: dict[str, Any] | None = None
        self._copies: queue.SimpleQueue[Model] | None = None
        if self._in_processes:
            self.workers = int(resources.processes or 1)
            self._executor = _processes(model, self.workers)
        else:
            self.workers = wanted_threads(model, resources)
            if self.workers > 1:
                self._prepare_threads(resources)

    def _prepare_threads(self, resources: Resources) -> None:
        if copies_help(self._model, self.workers, resources.memory):
            self._copies = queue.SimpleQueue()
            for _ in range(self.workers):
                self._copies.put(private_copy(self._model))
        if "sklearn" in sys.modules:
            self._config = sys.modules["sklearn"].get_config()
        self._executor = ThreadPoolExecutor(self.workers, thread_name_prefix="icefield")

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def ask(self, calls: Iterator[tuple[Block, Points]], pace: Pace) -> Iterator[Float]:
        """The answers to calls, in order, telling the pace how long each took.

        Calls are drawn only as they can be worked on: one at a time while the pace is still finding
        out how large they may be, and later two a worker, so that memory stays bounded.
        """
        if self._executor is None:
            for block, points in calls:
                values, seconds = _guarded(self._model, block, points)
                pace.learn(values.shape[0] * values.shape[1], seconds)
                yield values
            return
        waiting: deque[Future[tuple[Float, float]]] = deque()
        try:
            for block, points in calls:
                waiting.append(self._submit(block, points))
                while len(waiting) > (0 if pace.searching else 2 * self.workers):
                    yield self._next(waiting, pace)
            while waiting:
                yield self._next(waiting, pace)
        except BrokenProcessPool as error:
            raise EngineError(
                complaint(
                    "processes", "could not be used: a process ended before it answered", self.workers,
                    "a script must start its work under `if __name__ == '__main__':`, and the model must come "
                    "from a module that other processes can import; or leave processes out",
                )
            ) from error  # fmt: skip
        finally:
            for future in waiting:
                future.cancel()

    def _submit(self, block: Block, points: Points) -> Future[tuple[Float, float]]:
        executor = self._executor
        if executor is None:
            raise EngineError("This pool has no workers.")
        if self._in_processes:
            return executor.submit(_ask_in_process, block.table, block.moving, points)
        return executor.submit(contextvars.copy_context().run, self._ask_in_thread, block, points)

    def _next(self, waiting: deque[Future[tuple[Float, float]]], pace: Pace) -> Float:
        values, seconds = waiting.popleft().result()
        pace.learn(values.shape[0] * values.shape[1], seconds)
        return values

    def _ask_in_thread(self, block: Block, points: Points) -> tuple[Float, float]:
        with _configured(self._config):
            if self._copies is None:
                return _guarded(self._model, block, points)
            own = self._copies.get()
            try:
                return _timed(own, block, points)
            finally:
                self._copies.put(own)


class Pace:
    """How many predictions go into one call: about `seconds` of work, and never more than `most`.

    It starts small and grows as calls prove to be quick, so that a slow model can still be
    interrupted within a second and a quick one is not slowed by many small calls.
    """

    def __init__(self, first: int, most: int, seconds: float) -> None:
        self.most, self.seconds = most, seconds
        self.predictions = min(first, most)
        self.searching = self.predictions < most

    def learn(self, predictions: int, seconds: float) -> None:
        """Take note of a call."""
        fitting = int(predictions * self.seconds / max(seconds, 1e-6))
        # A call of some milliseconds has told enough; shorter ones are mostly fixed cost.
        self.searching = self.searching and seconds < self.seconds / 100 and self.predictions < self.most
        self.predictions = max(1, min(fitting, 8 * self.predictions, self.most))


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


def available_processors() -> int:
    """Processors this process may run on, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _timed(model: Model, block: Block, points: Points) -> tuple[Float, float]:
    began = time.perf_counter()
    values = block.predict(model, points)
    return values, time.perf_counter() - began


def _guarded(model: Model, block: Block, points: Points) -> tuple[Float, float]:
    with alone(model):
        return _timed(model, block, points)


# --- threads -------------------------------------------------------------------------------------


def _configured(config: dict[str, Any] | None) -> AbstractContextManager[Any]:
    """scikit-learn keeps its settings per thread: a worker must take those of the caller."""
    if config is None:
        return nullcontext()
    context: AbstractContextManager[Any] = sys.modules["sklearn"].config_context(**config)
    return context


# --- processes -----------------------------------------------------------------------------------


def _processes(model: Model, workers: int) -> ProcessPoolExecutor:
    import multiprocessing

    try:
        sent = pickle.dumps(model)
    except Exception as error:
        raise InputError(
            complaint(
                "processes", f"needs a model that can be pickled, and this one cannot ({error})", workers,
                "define functions at the top of a module instead of as lambdas, or use threads=",
            )
        ) from error  # fmt: skip
    # Forked children inherit locks that threads of this process (OpenMP's, say) may be holding.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_adopt, initargs=(sent,))


_adopted: list[Model] = []


def _adopt(sent: bytes) -> None:
    """Runs once in each process: Ctrl-C is the parent's to answer, and the model arrives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _adopted.append(pickle.loads(sent))


def _ask_in_process(table: Table, moving: tuple[Any, ...], points: Points) -> tuple[Float, float]:
    return _timed(_adopted[0], Block(table, moving), points)
