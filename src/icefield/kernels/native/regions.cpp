// Which grid points reach a leaf: the conditions on an axis's columns along the path, evaluated on the grid.

#include "regions.hpp"
#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"

namespace icefield {

// The regions of the children of one group's splits; `rank` is a child's row of `regions`.
//
// Splits are in order and children come after their parents, so one pass does.
i64 run(const FindRegionsArguments& a) {
    for (i64 i = 0; i < a.splits.size; ++i) {
        const i64 node = a.splits[i];
        const u64* left = a.bits.row(a.condition_row[a.node_condition[node]]);
        for (i64 side = 0; side < 2; ++side) {
            const i64 child = side == 0 ? a.node_left[node] : a.node_right[node];
            const i64 before = a.region_before[child];
            const u64* reached = before < 0 ? a.everything.data : a.regions.row(a.rank[before]);
            narrow(reached, left, flip_of(side), a.everything.size, a.regions.row(a.rank[child]));
        }
    }
    return DONE;
}

// The share of the data in every region: axis a's are numbered from ``first[a]``.
//
// ``weight_from[weight_start[a] + k]`` is the weight in the axis's cell k and all later ones.
i64 run(const RegionSharesArguments& a) {
    i64 widest = 0;
    for (i64 axis = 0; axis < a.start.size; ++axis) {
        const i64 size = a.weight_start[axis + 1] - a.weight_start[axis];
        if (size > widest) widest = size;
    }
    Zeros<i64> at(widest);
    Zeros<f64> sign(widest);
    if (!at.ok() || !sign.ok()) return NO_MEMORY;
    for (i64 axis = 0; axis < a.start.size; ++axis) {
        const i64 size = a.weight_start[axis + 1] - a.weight_start[axis];
        const f64* weight_from = a.weight_from.data + a.weight_start[axis];
        for (i64 region = a.first[axis]; region < a.first[axis + 1]; ++region) {
            const u64* mask = a.masks.data + a.start[axis] + (region - a.first[axis]) * a.words[axis];
            const i64 runs = runs_of(mask, a.words[axis], size, at.data(), sign.data());
            f64 total = 0.0;
            for (i64 run = 0; run < runs; ++run) total += sign[run] * weight_from[at[run]];
            a.share[region] = total;
        }
    }
    return DONE;
}

}  // namespace icefield
