"""When something was measured and at which commit, and the latest figures of `honesty`, `seeds`, `said` and `coverage`.

Whole runs of these write their figures to ``latest.json``; runs with other numbers of seeds, situations or draws do not.
"""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LATEST = Path(__file__).with_name("latest.json")
SCORE_FILES = (LATEST.name, "honesty_scores.json", "blind.json", "blind_b.json")


def when() -> dict[str, str]:
    """The date, and the commit that is measured: "and changes" where files other than scores differ from it."""
    return {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "commit": _commit()}


def keep_latest(name: str, command: str, figures: Any) -> None:
    """Write a run's figures down in place of those before."""
    known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
    known[name] = {**when(), "command": command, "figures": figures}
    LATEST.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ("git", *words), cwd=LATEST.parent, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        changed = [
            line for line in git("status", "--porcelain").splitlines() if not line.endswith(SCORE_FILES)
        ]
        return git("rev-parse", "--short", "HEAD") + (" and changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
