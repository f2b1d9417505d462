"""The array types and the closed sets of words that signatures share."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
Codes = NDArray[np.intp]
Steps = NDArray[np.int32]

Scale = Literal["response", "raw"]
Background = Literal["data", "training"]
EngineChoice = Literal["auto", "trees", "brute"]
