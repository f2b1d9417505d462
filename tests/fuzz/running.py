"""Some mutations of a format, and what came of them."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.damage import damaged
from tests.fuzz.forks import forked
from tests.fuzz.formats import FORMATS, import_everything, write_originals

CAUGHT = ("caught crash", "caught hang", "caught memory")  # in the guarding child, which is what it is for
FINE = ("agreed", "refused", *CAUGHT)


@dataclass
class Found:
    """How often each outcome came, and by seed what must not come."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: dict[int, str] = field(default_factory=dict)


def outcome(name: str, file: Path, folder: Path) -> str:
    """What becomes of one file: "agreed", "refused", one of `CAUGHT`, or what must not be."""
    asked = FORMATS[name]
    if asked.guard is not None:
        guard = asked.guard
        said = forked(lambda: guard(file))
        if said != "sound":
            return "refused" if said.startswith("raw ") else f"caught {said.split()[0]}"
    return forked(lambda: asked.use(file, folder))


def fuzz(name: str, count: int, seed: int, folder: Path, seconds: float = float("inf")) -> Found:
    """Damage the files of a format so many times, or for so long."""
    found, end = Found(), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(seed, seed + count):
            if time.monotonic() > end:
                break
            original = folder / FORMATS[name].files[number % len(FORMATS[name].files)]
            file = Path(scratch) / original.name
            file.write_bytes(damaged(original.read_bytes(), number))
            said = outcome(name, file, folder)
            if said in FINE:
                found.counts[said] += 1
            else:
                found.counts[said.split(" ")[0]] += 1
                found.wrong[number] = said
    return found


def prepared(folder: Path) -> Path:
    """A folder with sound files of every format, and this process ready to fork."""
    write_originals(folder)
    import_everything()
    return folder
