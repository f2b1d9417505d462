"""Questions about rows in partitions, by the contract that clusters keep, without a cluster."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from icefield import Explainer

from .answers import Answers
from .inside import Parts, small_blocks
from .rows import FEATURES, NUMBERS, WHOLE, frame, model, numbers_function
from .streams import GRID, SAMPLE, streamed, table


def ask_all(found: Answers) -> None:
    """Every question about partitions."""
    if not found.wants("distributed"):
        return
    rows = table(frame(3_000, 5))
    ways: dict[str, tuple[Any, list[str], dict[str, Any], dict[str, Any]]] = {
        "plain": (model("lightgbm"), FEATURES, {}, {}),
        "weights, by": (model("lightgbm"), FEATURES, {"weights": "w", "by": "side"}, {}),
        "merged": (model("lightgbm"), FEATURES, {"by": "side"}, {"merged_by": 2, "backwards": True}),
        "brute": (model("lightgbm numbers"), NUMBERS, {"engine": "brute"}, {}),
        "binary": (model("lightgbm binary"), FEATURES, {"scale": "raw"}, {}),
        "function": (numbers_function, WHOLE, {"weights": "w"}, {"merged_by": 3}),
    }
    for way, (fitted, features, options, parts) in ways.items():
        if not found.wants(f"distributed/{way}"):
            continue
        with small_blocks(SAMPLE):
            there = Parts(rows, [100, 1_700, 1_700, 2_999], **parts)
            ex = Explainer(fitted, there, **options)
            # Without accumulated local effects of several features with groups: workers do not know the groups' number,
            # and the kernel writes beyond its sums.
            streamed(found, f"distributed/{way}", ex, features, local="by" not in options)
            found.ask(f"distributed/{way}/interactions", lambda e=ex: e.interactions())
            found.ask(f"distributed/{way}/summary", lambda e=ex: e.summary())
            found.ask(f"distributed/{way}/passes", lambda t=there: list(t.passes))
    with tempfile.TemporaryDirectory() as folder:
        found.ask("distributed/checkpoint", lambda: _kept(Path(folder) / "sums"))


def _kept(place: Path) -> Any:
    """A checkpoint keeps whole passes: the second time none is made."""
    found = []
    for _ in range(2):
        there = Parts(table(frame(3_000, 5)), [1_000])
        found.append(Explainer(model("lightgbm"), there, checkpoint=place).effects(grid=GRID))
    return [*found, there.passes]
