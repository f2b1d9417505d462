"""Atomic file writes: to a temporary file in the same folder, renamed once everything is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME_KEPT = 100  # characters of a file's name in that of its neighbour, which must not be too long


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file to write to, which replaces `path` when the block ends without an error.

    A full disk, an error or a kill leaves what was there before. The neighbour is hidden, so that nobody who reads
    the folder meanwhile takes it for data. What is no plain file (a device, a pipe) is written to as it is.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt") as file:
    ...         _ = file.write_text("whole")
    ...     os.listdir(folder)
    ['a.txt']
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    exists = target.exists()
    if exists and not target.is_file():
        yield target
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:NAME_KEPT]}.", suffix=f".part{target.suffix[:20]}")  # fmt: skip
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if exists else 0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
