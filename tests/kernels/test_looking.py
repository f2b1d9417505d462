"""Extent, tally and gather against numpy, in pieces and with strides."""

import numpy as np
import pytest

from icefield import kernels


@pytest.mark.parametrize("seed", range(20))
def test_a_tally_and_what_is_gathered_are_numpys(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(int(rng.integers(0, 400)), 3)) * 10.0 ** rng.integers(-5, 6)
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    matrix[rng.random(matrix.shape) < 0.05] = np.inf
    values = matrix[:, 1]
    finite = values[np.isfinite(values)]
    ends, found = np.array([np.inf, -np.inf]), np.zeros(1, np.int64)
    for part in (values[:50], values[50:]):
        kernels.extent(values=part[:, None], ends=ends, finite=found)
    assert found[0] == len(finite)
    if not len(finite):
        return
    assert ends.tolist() == [finite.min(), finite.max()]

    low, high = ends.tolist()
    counts = np.zeros(64, np.int64)
    scale = 64 / (high - low) if high > low else 1.0
    for part in (values[:50], values[50:]):
        kernels.tally(values=part[:, None], low=low, high=high, scale=scale, counts=counts)
    cells = np.minimum(((finite - low) * scale).astype(np.int64), 63)
    np.testing.assert_array_equal(counts, np.bincount(cells, minlength=64))

    wanted = (rng.random(64) < 0.3).astype(np.uint8)
    gathered, filled = np.empty(int(counts[wanted == 1].sum())), np.zeros(1, np.int64)
    for part in (values[:50], values[50:]):
        assert kernels.gather(
            values=part[:, None], low=low, high=high, scale=scale,
            wanted=wanted, found=gathered, filled=filled,
        )  # fmt: skip
    np.testing.assert_array_equal(gathered, finite[wanted[cells] == 1])


def test_more_values_than_there_is_room_for_stop_it():
    arguments = {"values": np.ones((3, 1)), "low": 0.0, "high": 1.0, "scale": 4.0}
    assert not kernels.gather(
        **arguments, wanted=np.ones(4, np.uint8), found=np.empty(2), filled=np.zeros(1, np.int64)
    )
