"""Children that try files, forked from a process that has imported the files' libraries.

As `icefield.libraries.child_process.run_in_child`, whose child imports a library for a second or more of processor time; tests of
hundreds of models would spend it again and again. What a child does, its limits and how it ends are the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from icefield.libraries import child_process

PACKAGES = {"export_file": "catboost", "try_skops": "skops.io"}  # by task; any other says its library


class Forks:
    """One process to fork from; it is started by the first file and ends with this one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run_in_child(
        self, task: Callable[..., None], file: Path, *arguments: str
    ) -> subprocess.CompletedProcess[bytes] | None:
        """As `child_process.run_in_child`."""
        if self._process is None:
            environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: PT018
        more = file.stat().st_size / child_process.PER_SECOND
        processor = str(int(child_process.PROCESSOR_SECONDS + more) + 1)
        package = PACKAGES.get(task.__name__) or {"onnx": "onnxruntime"}.get(arguments[0], arguments[0])
        asked = [package, child_process.SECONDS + more, processor, task.__module__, task.__name__, str(file), *arguments]  # fmt: skip
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code, said = json.loads(self._process.stdout.readline())
        return None if code is None else subprocess.CompletedProcess(asked, code, b"", said.encode())


def answer(package: str, seconds: float, *arguments: str) -> tuple[int | None, str]:
    """How a fork that did a task ended, None where its time was over, and what it said."""
    import_module(package)
    import_module(arguments[1])
    read, held = os.pipe()
    with tempfile.TemporaryFile() as said:
        pid = os.fork()
        if pid == 0:
            os.dup2(read, 0)
            os.close(held)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            code = 1
            try:
                child_process.serve(*arguments)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(read)
        end = time.monotonic() + seconds
        while (done := os.waitpid(pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
                break
            time.sleep(0.005)
        os.close(held)
        said.seek(0)
        text = said.read().decode(errors="replace")
    return (os.waitstatus_to_exitcode(done[1]) if done[0] else None), text


def main() -> None:
    """Answer line after line."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no reply
    for line in sys.stdin:
        found: Any = answer(*json.loads(line))
        replies.write(json.dumps(found) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
