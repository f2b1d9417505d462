"""The native kernels: every hot loop of the trees engine, in C++ (`native/`), called through ctypes.

All kernels are serial and run without the GIL; threads come from the callers, over blocks of rows.
Arguments go by name and are checked against `native/abi.hpp` at every call: types, contiguity,
sizes that must agree. What arrays hold is not checked: `validate` and the layouts built in
`icefield.engines.trees` guarantee it. Importing this loads nothing; the first call loads the library
for this machine, in about a millisecond.

`declarations`  what the header declares
`loading`       the library for this machine
`calling`       checked calls by name

The sources in `native/`: `looking` (where a column's values lie), `packing` (rows -> codes -> one bit per row and condition), `planning` (trees -> a linear
program of mask operations), `counting` (runs a program over a block and counts rows), `curves` (builds every row's
curve), `sweeps` and `steps` (every feature's linked curve in one walk, and for forests too large for that), `crossing` (a few rows, each with each other's values), `moves` (rows at points of their own), `local_moves` (rows at
both ends of their own steps, for all features), `others` (averages each row over one group at a time), `lists` (subtrees
that few rows reach), `regions` (which grid points reach a leaf), `grids` (regions as runs between steps, and curves from changes at steps), `updates` and `families` (leaf counts -> averages of one
question, or of many), `predictions` (every row's own), `reading` (numbers in the text of a
model).
"""

from __future__ import annotations

from icefield.kernels.calling import Filled, Given, Grouped, Kernel
from icefield.kernels.loading import KernelsError, interface, level, levels

_CONSTANTS = interface().constants
JOINT, SINGLES, PAIRS = (_CONSTANTS[name] for name in ("JOINT", "SINGLES", "PAIRS"))
LOGISTIC, EXPONENTIAL, SOFTMAX, IDENTITY = (
    _CONSTANTS[name] for name in ("LOGISTIC", "EXPONENTIAL", "SOFTMAX", "IDENTITY")
)
MOST_NUMBERED = _CONSTANTS["MOST_NUMBERED"]

# Members that several kernels share.
Walk = Grouped("Walk")
Leaves = Grouped("Leaves")
PlanQuestion = Grouped("PlanQuestion")
StepTrees = Grouped("StepTrees")
StepTotals = Grouped("StepTotals")
MaskedTrees = Grouped("MaskedTrees")
SweepTrees = Grouped("SweepTrees")
CrossTrees = Grouped("CrossTrees")
RegionsOfAxes = Grouped("RegionsOfAxes")
ValueTables = Grouped("ValueTables")
RegionsOfGrids = Grouped("RegionsOfGrids")

look_together = Kernel("look_together")
look_together_narrow = Kernel("look_together_narrow")
extent = Kernel("extent")
tally = Kernel("tally")
gather = Kernel("gather")

fill_buckets = Kernel("fill_buckets")
encode = Kernel("encode")
pack = Kernel("pack")
pack_values = Kernel("pack_values")
predict_rows = Kernel("predict_rows")
pack_narrow_values = Kernel("pack_narrow_values")

survey = Kernel("survey")
measure_plan = Kernel("measure_plan")
write_plan = Kernel("write_plan")

count = Kernel("count")
count_narrow_rows = Kernel("count_narrow_rows")
count_rows = Kernel("count_rows")
resolve = Kernel("resolve")
add_leaves = Kernel("add_leaves")
sum_up = Kernel("sum_up")
add_changes = Kernel("add_changes")
add_corners = Kernel("add_corners")
add_others = Kernel("add_others")
add_steps = Kernel("add_steps")
add_sweeps = Kernel("add_sweeps")
cross_singles = Kernel("cross_singles")
cross_pairs = Kernel("cross_pairs")
turn = Kernel("turn")
move_codes = Kernel("move_codes")
add_local_moves = Kernel("add_local_moves")

find_regions = Kernel("find_regions")
region_shares = Kernel("region_shares")
count_updates = Kernel("count_updates")
find_updates = Kernel("find_updates")
add_joint = Kernel("add_joint")
add_family = Kernel("add_family")

add_predictions = Kernel("add_predictions")
read_numbers = Kernel("read_numbers")

count_runs = Kernel("count_runs")
find_runs = Kernel("find_runs")
unfold = Kernel("unfold")


def plan_sizes() -> Filled:
    """Room for the sizes `measure_plan` finds."""
    return Filled(interface().structures["PlanSizes"])


__all__ = [
    "JOINT",
    "MOST_NUMBERED",
    "PAIRS",
    "SINGLES",
    "Filled",
    "Given",
    "KernelsError",
    "Leaves",
    "PlanQuestion",
    "RegionsOfAxes",
    "ValueTables",
    "Walk",
    "add_changes",
    "add_corners",
    "add_family",
    "add_joint",
    "add_leaves",
    "add_others",
    "add_predictions",
    "count",
    "count_narrow_rows",
    "count_rows",
    "count_updates",
    "encode",
    "extent",
    "fill_buckets",
    "find_regions",
    "find_updates",
    "gather",
    "level",
    "levels",
    "measure_plan",
    "pack",
    "pack_narrow_values",
    "pack_values",
    "plan_sizes",
    "predict_rows",
    "read_numbers",
    "region_shares",
    "resolve",
    "sum_up",
    "survey",
    "tally",
    "write_plan",
]
