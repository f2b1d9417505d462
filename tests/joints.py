"""The joint distribution of two columns straight from their values, for tests that hold no bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import Column
from icefield.data.distribution import Joint, binned, joint_of


def joint_of_columns(
    features: tuple[Any, Any],
    columns: tuple[Column, Column],
    weights: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> Joint:
    bins = binned(columns[0]), binned(columns[1])
    return joint_of(features, columns, bins, weights, rng.permutation(len(columns[0].values)))
