"""A handful of the mutations, one of every kind; `mutate.py` runs them all."""

from __future__ import annotations

import pytest
from mutate import MUTATIONS, survivors

HANDFUL = [
    "forest/check.py: left = values <= forest",
    "forest/check.py: if agrees.all()",
    "forest/build.py: flags",
    "forest/encode.py: high > limit",
    "engines/__init__.py: std / np.sqrt",
    "whereabouts.py: known = group",
    "kernels/native/lists.hpp: slot > 0",
]


@pytest.mark.slow
@pytest.mark.parametrize("start", HANDFUL)
def test_a_fault_is_noticed(start: str) -> None:
    chosen = [mutation for mutation in MUTATIONS if mutation.name.startswith(start)]
    assert chosen
    assert survivors(chosen[:1]) == []
