"""Waiting for a cluster: ends when the cluster dies, and on Ctrl-C.

Engines' own calls may wait for ever once the other side is gone. So they are made in a thread, and who asked looks on: at the
progress, at whether the cluster still answers, and at the keyboard.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from icefield.errors import ClusterError
from icefield.progress import Progress
from icefield.threads import start_daemon

Found = TypeVar("Found")
Call = Callable[[], Any]

LOOK_EVERY = 0.1  # seconds
PATIENCE = 30.0  # seconds without a sign of life
FAREWELL = 5.0  # seconds a cluster may take to hear that a job is cancelled


def wait_for(work: Callable[[], Found], *, look: Call, cancel: Call) -> Found:
    """The result of `work`, run in a thread while `look` is called again and again; an error of `look`, or Ctrl-C, cancels it."""
    task, thread = start_daemon(work, name="icefield cluster")
    try:
        while thread.is_alive():
            thread.join(LOOK_EVERY)
            look()
    except BaseException:
        ends_in(cancel, FAREWELL)
        raise
    return task.result()


def wait_while_alive(
    work: Callable[[], Found], sign: Call, name: str, look: Call, cancel: Call = lambda: None
) -> Found:
    """`wait_for` a result while the cluster of this name is alive; a `ClusterError` once it gives no sign of life."""
    with Heartbeat(sign, name) as heartbeat:

        def check_and_look() -> None:
            heartbeat.check()
            look()

        return wait_for(work, look=check_and_look, cancel=cancel)


def ends_in(work: Call, seconds: float) -> bool:
    """Whether a call ended within that time; what it raises is ignored."""
    _, thread = start_daemon(work, name="icefield cluster")
    thread.join(seconds)
    return not thread.is_alive()


def show(progress: Progress, done: int, tasks: int) -> None:
    """Advance to the share of the tasks that is done."""
    if progress.total is not None:
        progress.advance(progress.total * done / max(tasks, 1) - progress.done)


class Heartbeat:
    """Asks a cluster for a sign of life again and again, in a thread of its own.

    Parameters
    ----------
    sign : a call that returns something true while the cluster lives; it may raise, or never return
    name : what messages call the cluster
    """

    def __init__(self, sign: Call, name: str, patience: float = PATIENCE) -> None:
        self._is_alive, self._name, self._patience = sign, name, patience
        self._last, self._closed, self._problem = time.monotonic(), threading.Event(), ""

    def __enter__(self) -> Heartbeat:
        threading.Thread(target=self._ask, daemon=True, name="icefield heartbeat").start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()

    def _ask(self) -> None:
        while not self._closed.is_set():
            try:
                if self._is_alive():
                    self._last = time.monotonic()
                else:
                    self._problem = "no worker is left"
            except Exception as error:
                self._problem = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            self._closed.wait(1.0)

    def check(self) -> None:
        """An error once there was no sign of life for too long."""
        silent = time.monotonic() - self._last
        if silent > self._patience:
            why = f" ({self._problem})" if self._problem else ""
            raise ClusterError.saying(f"{self._name} gave no sign of life for {silent:.0f} seconds{why}: nothing of this pass was counted.",
                                      "check that the cluster runs, and try again")  # fmt: skip
