"""The native kernels: every hot loop of the trees engine, in C++ (`native/`), called through ctypes.

All kernels are serial and run without the GIL; threads come from the callers, over blocks of rows.
Arguments go by name and are checked against `native/abi.hpp` at every call: types, contiguity,
sizes that must agree; type checkers see them too. What arrays hold is not checked: `validate` and the layouts built in
`icefield.engines.trees` guarantee it. Importing this loads nothing; the first call loads the library
for this machine, in about a millisecond.

`_abi`          what the header declares, typed: written by the build
`loading`       the library for this machine
`calling`       checked calls by name
`generation`    writes `_abi`; for the build alone
`openmp`        how many threads another library's OpenMP wakes
`arrow_buffers` numbers of a frame's column from where they lie

The sources in `native/`: `looking` (where a column's values lie), `packing` (rows -> codes -> one bit per row and condition), `planning` (trees -> a linear
program of mask operations), `counting` (runs a program over a block and counts rows), `curves` (builds every row's
curve), `sweeps` and `steps` (every feature's linked curve in one walk, and for forests too large for that), `audits` (how every row's curve steps), `crossing` (a few rows, each with each other's values), `moves` (rows at points of their own), `local_moves` (rows at
both ends of their own steps, for all features), `others` (averages each row over one group at a time), `lists` (subtrees
that few rows reach), `regions` (which grid points reach a leaf), `grids` (regions as runs between steps, and curves from changes at steps), `updates` and `families` (leaf counts -> averages of one
question, or of many), `predictions` (every row's own), `reading` (numbers in the text of a
model).
"""

from __future__ import annotations

from icefield.kernels import _abi
from icefield.kernels._abi import *  # noqa: F403
from icefield.kernels.calling import Filled, Given
from icefield.kernels.loading import KernelsError, level, levels


def plan_sizes() -> _abi.PlanSizes:
    """Room for the sizes `measure_plan` finds."""
    return _abi.PlanSizes()


__all__ = ["Filled", "Given", "KernelsError", "level", "levels", "plan_sizes"]
__all__ += _abi.__all__
