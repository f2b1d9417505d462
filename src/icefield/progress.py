"""Progress of long work: silent for a second, then a bar on a terminal or in a notebook, whether anything is done yet or not.

Anywhere else (a pipe, a log, a test) nothing is printed, but work that will take minutes is announced once, with an estimate, to the
logger ``icefield``: Python shows its warnings unless told otherwise.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from icefield.threads import check_cancelled

PATIENCE = 1.0
ANNOUNCED = 60.0  # seconds that are still to come when they are announced
SAMPLED = 2.0  # seconds of work by which the rest is judged
LEAST_DONE = 0.03  # share of the work before anything is said of the rest: the first units of many are unlike the others


class Progress:
    """Counts units of work done; shows a bar once the work has taken `PATIENCE` seconds.

    `total` is None where nobody knows it; with a `unit`, how many of it are done in a second is shown too.

    Examples
    --------
    >>> with Progress("partial dependence", total=3) as progress:
    ...     progress.advance()
    """

    def __init__(self, title: str, total: float | None, unit: str = "") -> None:
        self.title, self.total, self.unit, self.done = title, total, unit, 0.0
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._may_show, self._may_announce = True, bool(total)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Progress:
        # The first unit of work may be long in coming. A notebook takes output from the thread of the cell only.
        if visible() and not in_notebook():
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def advance(self, units: float = 1.0) -> None:
        """Report finished work; call it from the thread that owns the progress. `Stopped` is raised where nobody wants the rest."""
        check_cancelled()
        self.done += units
        if self._may_announce:
            self._announce(time.monotonic() - self._began)
        if self._may_show and time.monotonic() - self._began > PATIENCE:
            self._show()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, pace=self._pace())

    def _announce(self, elapsed: float) -> None:
        """Print an estimate of the duration where no progress bar is shown, once enough is done to make one."""
        if elapsed < SAMPLED or not self.total or self.done < LEAST_DONE * self.total:
            return
        self._may_announce = False
        remaining = elapsed * (self.total / self.done - 1.0)
        if remaining >= ANNOUNCED and not visible():
            import logging  # here: `import icefield` and most calls never need it

            logging.getLogger("icefield").warning(
                "icefield: %s will take about %s more", self.title, _minutes(remaining)
            )

    def now(self, doing: str) -> None:
        """Say what is done now, of work that has several parts."""
        self.title = f"{self.title.partition(':')[0]}: {doing}"
        if self._bar is not None:
            self._bar.update(self._task, description=self.title)

    def _show(self) -> None:
        with self._lock:
            if self._may_show:
                self._may_show = False
                if visible():
                    self._start()

    def _pace(self) -> str:
        return f"{self.done / max(time.monotonic() - self._began, 1e-9):,.0f} {self.unit}/s"

    def _start(self) -> None:
        if in_notebook():
            self._bar = _NotebookBar(self.title, self.total)
            return
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            *([TextColumn("{task.fields[pace]}")] if self.unit else []),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = bar.add_task(self.title, total=self.total, pace=self._pace())
        self._bar = bar  # before it starts: an interrupt in between must find it to stop
        try:
            bar.start()
        except LiveError:
            self._bar = None  # the terminal has room for one bar, and another thread (or the caller) has it

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._may_show = False
            if self._bar is not None:
                self._bar.stop()


def _minutes(seconds: float) -> str:
    """A duration in minutes or hours, rounded.

    Examples
    --------
    >>> [_minutes(s) for s in (70, 1_000, 10_000)]
    ['1 minute', '17 minutes', '2.8 hours']
    """
    if seconds >= 5_400:
        return f"{seconds / 3_600:.1f} hours"
    minutes = max(1, round(seconds / 60))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


class _NotebookBar:
    """A bar in the output of a cell, in HTML, which needs no widgets; gone when the work is done."""

    def __init__(self, title: str, total: float | None) -> None:
        from IPython.display import display

        self.title, self.total, self.done, self.pace = title, total, 0.0, ""
        self._shown_at = time.monotonic()
        self._handle = display(self._bundle(), raw=True, display_id=True)

    def update(
        self, task: Any = None, completed: float | None = None, pace: str = "", description: str | None = None
    ) -> None:
        """Update the bar as rich's `update` does; it is redrawn at most ten times a second."""
        self.done = self.done if completed is None else completed
        self.title = self.title if description is None else description
        if time.monotonic() - self._shown_at > 0.1:
            self._shown_at = time.monotonic()
            self._handle.update(self._bundle(), raw=True)

    def stop(self) -> None:
        self._handle.update({"text/html": "", "text/plain": ""}, raw=True)

    def _bundle(self) -> dict[str, str]:
        share = "" if self.total is None else f"{min(1.0, self.done / self.total):.0%}"
        from html import escape

        value = "" if self.total is None else f' value="{self.done:g}" max="{self.total:g}"'
        return {
            "text/html": f"<progress{value}></progress> {escape(self.title)} {share}",
            "text/plain": f"{self.title} {share}",
        }


def visible() -> bool:
    """Whether a person is watching: a terminal on stderr, or a notebook."""
    return (sys.stderr is not None and sys.stderr.isatty()) or in_notebook()


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
