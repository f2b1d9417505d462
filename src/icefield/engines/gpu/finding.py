"""Whether there is a GPU with CuPy, which is imported only where a GPU is there or was asked for."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icefield.engines.gpu.device import Device

INSTALL = "pip install 'icefield[gpu13]' (CUDA 13) or 'icefield[gpu12]' (CUDA 12)"


def is_likely() -> bool:
    """Whether CuPy is installed and a device seems to be there: looks at files only and imports nothing."""
    there = os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg") or os.name == "nt"
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return there and not hidden and find_spec("cupy") is not None


@cache
def found() -> tuple[Device | None, str]:
    """The device, or why there is none; never an error."""
    if find_spec("cupy") is None:
        return None, f"CuPy is not installed: {INSTALL}"
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() == 0:
            return None, "CuPy finds no GPU"
        from icefield.engines.gpu.device import Device

        return Device(cupy), ""
    except Exception as error:  # a driver that does not fit, a library that does not load
        return None, f"CuPy cannot use a GPU here ({type(error).__name__}: {error})"
