"""A handful of the mutations, one of every kind; `mutate.py` runs them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutate import MUTATIONS, survivors

import icefield

PACKAGE = Path(icefield.__file__).parent
HANDFUL = [
    "forest/check.py: left = values <= forest",
    "forest/check.py: if agrees.all()",
    "forest/build.py: flags",
    "forest/encode.py: high > limit",
    "core/question.py: variance / (rows",
    "data/column_statistics.py: known = group",
    "kernels/native/lists.hpp: slot > 0",
]


@pytest.mark.slow
@pytest.mark.parametrize("start", HANDFUL)
def test_a_fault_is_noticed(start: str) -> None:
    chosen = [mutation for mutation in MUTATIONS if mutation.name.startswith(start)]
    assert chosen
    assert survivors(chosen[:1]) == []


def test_every_mutation_finds_its_line() -> None:
    lost = [m.name for m in MUTATIONS if (PACKAGE / m.file).read_text().count(m.old) != 1]
    assert lost == []
