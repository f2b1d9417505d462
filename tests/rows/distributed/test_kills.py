"""A worker killed in every phase on every engine, at two moments each: right or a clear error, never a hang.

`python -m benchmarks kills` runs as many moments as it is told, and stores what they ended with.
"""

from __future__ import annotations

import pytest
from benchmarks.kills import NEEDS, PHASES, one_case

pytestmark = pytest.mark.timeout(400)


@pytest.mark.parametrize("moment", [0, 1])
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("engine", list(NEEDS))
def test_a_worker_killed_in_a_phase(engine, phase, moment, engine_of):
    engine_of(engine)
    found = one_case(engine, phase, moment)
    assert found["killed"]
    assert found["ended"] in ("right", "clear error"), found
