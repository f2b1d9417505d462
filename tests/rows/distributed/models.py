"""Models that do something to the worker they are asked on."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

PROBED = 1_000  # rows of a look at the model, or fewer: in whole partitions it is asked about more


def formula(rows: Any) -> Any:
    x0, x2, k = (np.asarray(rows[name], dtype=np.float64) for name in ("x0", "x2", "k"))
    return x0 * x2 + k


class Formula:
    """The formula, after something was done; `driver` is the process that asks."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.driver = str(folder), os.getpid()

    @property
    def is_elsewhere(self) -> bool:
        return os.getpid() != self.driver

    def once(self, name: str) -> bool:
        """True for the first of all processes that asks."""
        try:
            os.close(os.open(os.path.join(self.folder, name), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def note(self, name: str) -> None:
        with open(os.path.join(self.folder, name), "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")

    def __call__(self, rows: Any) -> Any:
        if self.is_elsewhere and len(rows) > 64:
            self.act()
        return formula(rows)

    def act(self) -> None:
        """What is done on a worker when it is asked about a block."""


class KillsOnce(Formula):
    """Ends the first worker that is asked about a block, as if the machine had died."""

    def act(self) -> None:
        if self.once("killed"):
            os.kill(os.getpid(), signal.SIGKILL)


class KillsAlways(Formula):
    def act(self) -> None:
        self.note("killed")
        os.kill(os.getpid(), signal.SIGKILL)


class FailsOnce(Formula):
    """Fails as a file does that cannot be read just now."""

    def act(self) -> None:
        if self.once("failed"):
            raise OSError("the disk is away")


class Fails(Formula):
    def act(self) -> None:
        raise ArithmeticError("no such number")


class Slow(Formula):
    """Takes its time, and says that it began."""

    def act(self) -> None:
        self.note("began")
        time.sleep(float(os.environ.get("SLOW_SECONDS", "30")))
        self.note("ended")


class Counted(Formula):
    """Notes every process that it is unpickled in."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.note("unpickled")


class Locked(Formula):
    """Does not pickle."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lock = threading.Lock()


class Elsewhere(Formula):
    """Answers otherwise on a worker, as another version of a library may."""

    def __call__(self, rows: Any) -> Any:
        return formula(rows) + (1.0 if self.is_elsewhere else 0.0)
