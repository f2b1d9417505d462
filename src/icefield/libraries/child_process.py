"""Functions of this package called in a process of its own, which a damaged file may crash, hang or fill.

A child imports nothing from the working folder, where a file called ``json.py`` may lie beside a model. It ends with
its parent, and has limits of processor time and memory of its own, where the system has such limits.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

SECONDS = 60.0  # a child may take by the clock: machines are busy at times
PROCESSOR_SECONDS = 15.0  # of work
PER_SECOND = 2**20  # bytes of a file for which a child gets another second of both
CLAIM = 2 * 2**30  # bytes of memory a child may take beyond what its libraries take
PER_BYTE = 20  # and for each byte of a file
_CHILD = "import sys; from icefield.libraries.child_process import serve; serve(*sys.argv[1:])"


def run_in_child(
    task: Callable[..., None], file: Path, *arguments: str
) -> subprocess.CompletedProcess[bytes] | None:
    """Call a function of this package with the path of a file, and other texts, in a process of its own.

    Returns how that ended; None where its time was over.
    """
    extra = file.stat().st_size / PER_SECOND
    # -P: without it ``python -c`` looks for modules in the working folder first.
    command = [sys.executable, "-P", "-c", _CHILD, str(int(PROCESSOR_SECONDS + extra) + 1), task.__module__, task.__name__,
               str(file), *arguments]  # fmt: skip
    # One thread is enough for a few rows, and each would claim a stack.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
    reader, writer = os.pipe()
    try:
        child = subprocess.run(
            command, stdin=reader, capture_output=True, timeout=SECONDS + extra, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return None
    finally:
        os.close(reader)
        os.close(writer)
    return None if child.returncode == -getattr(signal, "SIGXCPU", 0) != 0 else child


def error_line(child: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that a child process wrote to standard error, cut to 200 characters."""
    lines = child.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
    return lines[-1] if len(lines[-1]) <= 200 else lines[-1][:197] + "..."


# --- in the child -------------------------------------------------------------------------------------


def serve(seconds: str, module: str, name: str, *arguments: str) -> None:
    """Run in the child: limit its seconds, end it with its parent, and call the function of this module and name."""
    _end_with_parent()
    lower_limit("RLIMIT_CPU", int(seconds))
    lower_limit("RLIMIT_CORE", 0)  # what crashes here is nobody's to look into
    getattr(import_module(module), name)(*arguments)


def _end_with_parent() -> None:
    """The parent holds the other end of standard input, without writing: once that end is gone, so is the parent."""
    if sys.platform == "win32":
        import threading

        def watch() -> None:
            os.read(0, 1)
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
        return
    import fcntl
    import select

    # A signal, not a thread: a library that loops may hold Python's lock all the while.
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:  # it was gone before anyone asked for a signal
        os._exit(1)


def limit_memory(file: Path) -> None:
    """Keep this process, a child whose libraries are imported, from taking the machine's memory for a file."""
    try:
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # a system that does not say
        in_use = 6 * 2**30
    lower_limit("RLIMIT_AS", in_use + CLAIM + PER_BYTE * file.stat().st_size)


def lower_limit(name: str, most: int) -> None:
    """Lower one of this process's limits, which may be lower already; nothing on systems without such limits."""
    try:
        import resource
    except ImportError:
        return
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    limits = [limit for limit in (soft, hard, most) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min(limits), hard))
