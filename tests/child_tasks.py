"""What children are told to do in tests; imported by them, from the path they are given."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


def say_modules(path: str) -> None:
    """Where everything that is imported comes from."""
    import json
    import threading

    print(json.dumps([getattr(module, "__file__", None) or "" for module in sys.modules.values()]))
    assert threading.active_count() >= 1


def spin(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    sum(iter(int, 1))  # endless, in C, with Python's lock held


def sleep(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(60)


def crash(path: str) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def claim(path: str, size: str) -> None:
    from icefield.libraries.child_process import limit_memory

    limit_memory(Path(path))
    bytearray(int(size))
