"""A process of its own for a model: started, asked and ended by a thread of this one.

Calls of a pure-Python model only run side by side in processes. Each is spawned with a pipe, is sent the model once,
then rows and grid points, and answers. Ctrl-C is the caller's to hear: processes do not see it, and are killed when
the caller leaves early, whatever they are at.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from icefield.errors import InputError, ModelError, brief

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LONGEST_FAREWELL = 5.0  # seconds a process may take to end by itself
SAFE_PATH = "PYTHONSAFEPATH"

_starting = threading.Lock()


class ProcessEnded(Exception):
    """A process ended before it answered."""


class ProcessError(Exception):
    """What went wrong in another process, as it was printed there: the cause of the error that came over."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


def sendable(model: Any, processes: int, what: str = "model") -> bytes:
    """A model, or what else is asked, as it is sent to processes; an error with the reason where it cannot be."""
    try:
        return pickle.dumps(model)
    except Exception as error:
        raise InputError.about(
            "processes", f"needs a {what} that can be pickled, and this one cannot ({error})", processes,
            "define functions at the top of a module instead of as lambdas, or use threads=",
        ) from error  # fmt: skip


class ModelProcess:
    """A process that answers for a pickled model by calling ``answer(model, *given)``, a function of a module, there."""

    def __init__(self, model: bytes, answer: Callable[..., Any]) -> None:
        import multiprocessing  # with its sockets and pickles, only where processes are asked for

        # Forked children inherit locks that threads of this process (OpenMP's, say) may be holding.
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self._model: bytes | None = model
        self._process = context.Process(target=_serve, args=(there, answer), name="icefield")
        self._killed = False
        with _starting, _safe_path(), _interrupts_kept_out():
            self._process.start()
        there.close()

    def ask(self, *given: Any) -> Any:
        """What ``answer`` gives there; an error that it raised is raised here."""
        try:
            if self._model is not None:
                self._pipe.send_bytes(self._model)
                self._model = None
            self._pipe.send(given)
            found = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise ProcessEnded from error
        if isinstance(found, _ModelFailure):
            raise found.error from ProcessError(found.printed)
        return found

    def kill(self) -> None:
        """End it at once; a thread that waits for its answer gets an error."""
        self._killed = True
        self._process.kill()

    def end(self) -> None:
        """Let it end by itself, and wait for that."""
        if not self._killed:
            self._pipe.close()
            self._process.join(LONGEST_FAREWELL)
            self._process.kill()
        self._process.join()
        self._pipe.close()


class _ModelFailure:
    """An error on its way to the process that asked."""

    def __init__(self, error: Exception) -> None:
        import traceback

        self.printed = "".join(traceback.format_exception(error))
        self.error: Exception = error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # errors of any library are sent, and some cannot be
            said = f"raised {type(error).__name__} in another process ({brief(str(error))})"
            self.error = ModelError.about("model", said)


def _serve(pipe: Connection, answer: Callable[..., Any]) -> None:
    """The other process: the model arrives, then questions, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        model = pickle.loads(pipe.recv_bytes())
        while True:
            given = pipe.recv()
            try:
                found = answer(model, *given)
            except Exception as error:
                found = _ModelFailure(error)
            pipe.send(found)
    except (EOFError, OSError):
        return


@contextmanager
def _safe_path() -> Iterator[None]:
    """Processes begin as ``python -c``, which looks for modules in the working folder first, before they get this one's path."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def _interrupts_kept_out() -> Iterator[None]:
    """Ctrl-C in a terminal goes to every process; those started here must not hear it even while they begin."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which lets interrupts in again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
