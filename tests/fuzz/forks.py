"""Tasks in forks of this process, which has imported everything: a mutation takes milliseconds, not a start of Python."""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path

SECONDS = 20.0
CLAIM = 2 * 2**30


def forked(task: Callable[[], str], seconds: float = SECONDS) -> str:
    """What a task says in a fork; ``"crash N"``, ``"hang"`` or ``"memory"`` where it does not come to that."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        faulthandler.disable()  # a crash is an answer here, not a page of this process's stack
        warnings.simplefilter("ignore")  # nor is a warning, which pytest would raise
        _silent()
        _limited()
        try:
            said = task()
        except MemoryError:
            said = "memory"
        except BaseException as error:  # whatever it is, it is told
            text = " ".join(str(error).split())[:150]
            said = f"raw {type(error).__name__}: {text}"
        os.write(write, said.encode(errors="replace")[:4000])
        os._exit(0)
    os.close(write)
    try:
        return _heard(read, child, time.monotonic() + seconds)
    finally:
        os.close(read)


def _heard(read: int, child: int, end: float) -> str:
    content = b""
    while True:
        ready, _, _ = select.select([read], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang"
        piece = os.read(read, 4096)
        if not piece:
            break
        content += piece
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"crash {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status):
        return f"crash exit {os.WEXITSTATUS(status)}"
    return content.decode(errors="replace")


def _silent() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _limited() -> None:
    import resource

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (taken + CLAIM, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
