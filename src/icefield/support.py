"""Support: how much data stands behind each grid point, given the other features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Support:
    """How much data stands behind each grid point.

    Attributes
    ----------
    share : per grid point, the share of rows that still look like the data when moved there
    low : per grid point, whether that share is too small to trust the curve
    """

    share: NDArray[np.float64]
    low: NDArray[np.bool_]
    details: dict[str, Any]
