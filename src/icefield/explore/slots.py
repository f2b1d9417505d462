"""Slots: requests of which the newest counts. One that is at work is stopped inside the kernels, one that waits is dropped."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from icefield.errors import IcefieldError
from icefield.explore.messages import VERSION, AnswerPart
from icefield.threads import Cancellation, Stopped

Parts = Iterator[AnswerPart]
REPLACED = "A newer request took its place."


@dataclass(eq=False)
class SlotJob:
    """One request: what to do, and where its parts go."""

    number: int
    work: Callable[[], Parts]
    send: Callable[[AnswerPart], None]
    began: float = 0.0
    late: bool = False
    wanted: Cancellation = field(default_factory=Cancellation)


class Slot:
    """One thread that does the latest request; the one it is at is stopped, and one that waits is dropped."""

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._condition = threading.Condition()
        self._next: SlotJob | None = None
        self._now: SlotJob | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def put(self, job: SlotJob) -> None:
        with self._condition:
            if self._closed:
                return
            dropped, self._next = self._next, job
            if self._now is not None:
                self._now.wanted.cancel()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"icefield-explore-{self._name}", daemon=True
                )
                self._thread.start()
            self._condition.notify()
        if dropped is not None:
            dropped.send(error_part(dropped.number, "stopped", REPLACED))

    def close(self) -> None:
        with self._condition:
            self._closed, self._next = True, None
            if self._now is not None:
                self._now.wanted.cancel()
            self._condition.notify()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def watch(self, now: float) -> None:
        """Stop work that has taken too long."""
        job = self._now
        if job is not None and job.began and now - job.began > self._seconds:
            job.late = True
            job.wanted.cancel()

    def _run(self) -> None:
        while True:
            with self._condition:
                while self._next is None and not self._closed:
                    self._condition.wait()
                if self._closed:
                    return
                job, self._next = self._next, None
                self._now = job
            assert job is not None
            self._do(job)
            with self._condition:
                self._now = None

    def _do(self, job: SlotJob) -> None:
        job.began = time.perf_counter()

        def fail(kind: str, say: str, where: str = "") -> None:
            job.send(error_part(job.number, kind, say, where))

        try:
            with job.wanted.watched():
                for part in job.work():
                    job.wanted.check()
                    took = round(1000 * (time.perf_counter() - job.began), 1)
                    head = {"v": VERSION, "re": job.number, **part.head, "ms": took}
                    job.send(AnswerPart(head, part.arrays))
        except Stopped:
            if job.late:
                fail("limit", f"This took longer than {self._seconds:g} s: choose fewer rows.")
            else:
                fail("stopped", REPLACED)
        except IcefieldError as error:
            fail("input", str(error), getattr(error, "where", ""))
        except MemoryError:
            fail("limit", "There is not enough memory for this: choose fewer rows.")
        except Exception as error:  # the page must live on; the trace stays here
            fail("bug", f"{type(error).__name__} in icefield: see the Python side.")
            traceback.print_exc()


def error_part(number: int, kind: str, say: str, where: str = "") -> AnswerPart:
    """The last part of a request that failed: `kind` is input, stopped, limit or bug, `where` the field that is wrong."""
    error = {"kind": kind, "say": say, "field": where}
    return AnswerPart({"v": VERSION, "re": number, "done": True, "error": error})
