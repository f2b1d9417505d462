"""The array types and the closed sets of words that signatures share."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Bits = NDArray[np.uint64]  # of 64 rows a word
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]
Codes = NDArray[np.intp]
Steps = NDArray[np.int32]

Scale = Literal["response", "raw"]
Background = Literal["data", "training"]
EngineChoice = Literal["auto", "trees", "gpu", "brute"]
EffectKind = Literal["pd", "ice", "ale"]

# What the options of a picture may be.
Backend = Literal["matplotlib", "plotly"]
PictureKind = Literal["auto", "line", "dots", "bars", "contour", "heatmap", "surface", "lines"]
BandShown = Literal["auto", "interval", "simultaneous", "centered", "std", "quantiles", "se", "none"]
DataShown = Literal["auto", "histogram", "rug", "deciles", "points", "none"]
CurvesShown = Literal["auto", "lines", "density", "none"]
MaskShown = Literal["auto", "hull", "density", "support", "none"]
LevelOrder = Literal["auto", "level", "value", "count", "name"]
AxisScale = Literal["auto", "linear", "log"]
Layout = Literal["auto", "overlay", "side"]
