// From the share of rows at every leaf to the average curves and surfaces of many features, from one walk.

#include "abi.hpp"
#include "memory.hpp"
#include "regions.hpp"
#include "slots.hpp"

namespace icefield {
namespace {

// Where a region's runs begin and end along one axis.
struct Runs {
    i64* at;
    f64* sign;
    i64 count;
};

class Family {
public:
    Family(const AddFamilyArguments& arguments, i64 widest)
        : a_(arguments), at_(2 * (widest + 1)), sign_(2 * (widest + 1)) {
        for (i64 side = 0; side < 2; ++side) {
            runs_[side] = {at_.data() + side * (widest + 1), sign_.data() + side * (widest + 1), 0};
        }
    }

    bool ok() const { return at_.ok() && sign_.ok(); }

    void add(i64 leaf) {
        const i64 slot = a_.leaf_slot[leaf], first = a_.path_start[leaf];
        const i64 groups = a_.path_start[leaf + 1] - first;
        each_value(leaf, [&](i64 output, f64 value) { a_.total[output] += a_.share[slot] * value; });
        for (i64 y = 1; y <= groups; ++y) {
            const i64 alone = slot + (a_.pairs ? pair_slot(0, y) : y);
            add_single(leaf, slot, alone, a_.path_group[first + y - 1], a_.path_region[first + y - 1]);
            if (!a_.pairs) continue;
            for (i64 x = 1; x < y; ++x) add_pair(leaf, slot, x, y);
        }
    }

private:
    // `visit(output, value)` for what a leaf adds.
    template <class Visit>
    void each_value(i64 leaf, Visit visit) const {
        const i64 output = a_.leaves.output[leaf];
        if (output >= 0) {
            visit(output, a_.leaves.value(leaf, 0));
            return;
        }
        for (i64 o = 0; o < a_.leaves.value.columns; ++o) visit(o, a_.leaves.value(leaf, o));
    }

    void find_runs(i64 axis, i64 node, Runs& runs) const {
        const RegionsOfAxes& regions = a_.regions;
        const u64* mask = regions.masks.data + regions.start[axis] + regions.rank[node] * regions.words[axis];
        runs.count = runs_of(mask, regions.words[axis], regions.size[axis], runs.at, runs.sign);
    }

    void add_single(i64 leaf, i64 slot, i64 alone, i64 group, i64 node) {
        const i64 axis = a_.axis_of_group[group];
        if (axis < 0) return;
        Runs& runs = runs_[0];
        find_runs(axis, node, runs);
        each_value(leaf, [&](i64 output, f64 value) {
            f64* single = a_.singles.row(output) + a_.single_start[axis];
            a_.constant(output, axis) += a_.share[slot] * value;
            for (i64 i = 0; i < runs.count; ++i) single[runs.at[i]] += runs.sign[i] * a_.share[alone] * value;
        });
    }

    // The x-th and the y-th group of the leaf's path.
    void add_pair(i64 leaf, i64 slot, i64 x, i64 y) {
        const i64 first = a_.path_start[leaf];
        const i64 group_x = a_.path_group[first + x - 1], group_y = a_.path_group[first + y - 1];
        const i64 pair = a_.pair_of_groups(group_x, group_y);
        if (pair < 0) return;
        // The pair's first axis moves the group with the lower number.
        const bool swapped = group_x > group_y;
        const i64 place[2] = {swapped ? y : x, swapped ? x : y};
        for (i64 side = 0; side < 2; ++side) {
            find_runs(a_.pair_axes(pair, side), a_.path_region[first + place[side] - 1], runs_[side]);
        }
        const f64 neither = a_.share[slot];
        const f64 first_alone = a_.share[slot + pair_slot(0, place[0])];
        const f64 second_alone = a_.share[slot + pair_slot(0, place[1])];
        const f64 both = a_.share[slot + pair_slot(x, y)];
        const i64 inner = a_.regions.size[a_.pair_axes(pair, 1)];
        const Runs& outer_runs = runs_[0];
        const Runs& inner_runs = runs_[1];
        each_value(leaf, [&](i64 output, f64 value) {
            f64* surface = a_.surfaces.row(output) + a_.pair_start[pair];
            surface[0] += neither * value;
            for (i64 j = 0; j < inner_runs.count; ++j) {
                surface[inner_runs.at[j]] -= inner_runs.sign[j] * second_alone * value;
            }
            for (i64 i = 0; i < outer_runs.count; ++i) {
                f64* row = surface + outer_runs.at[i] * inner;
                row[0] -= outer_runs.sign[i] * first_alone * value;
                for (i64 j = 0; j < inner_runs.count; ++j) {
                    row[inner_runs.at[j]] += outer_runs.sign[i] * inner_runs.sign[j] * both * value;
                }
            }
        });
    }

    const AddFamilyArguments& a_;
    Zeros<i64> at_;
    Zeros<f64> sign_;
    Runs runs_[2];
};

}  // namespace

// Add every leaf to the averages of all groups, and with `pairs` of some pairs.
//
// By output: `total` is the average prediction, `singles` what moving one group changes of it (differences
// along the grid, less `constant`), `surfaces` what moving two changes beyond moving either: differences
// along both axes. `share` is by slot.
i64 run(const AddFamilyArguments& a) {
    i64 widest = 1;
    for (i64 axis = 0; axis < a.regions.size.size; ++axis) {
        if (a.regions.size[axis] > widest) widest = a.regions.size[axis];
    }
    Family family(a, widest);
    if (!family.ok()) return NO_MEMORY;
    for (i64 leaf = 0; leaf < a.leaf_slot.size; ++leaf) family.add(leaf);
    return DONE;
}

// By output, a level, what moving either of two groups changes of it, and differences along both axes, summed: along the first, then the second.
i64 run(const SumSurfaceArguments& a) {
    const i64 columns = a.surface.columns;
    Zeros<f64> along_first(columns);
    if (!along_first.ok()) return NO_MEMORY;
    for (i64 o = 0; o < a.surface.layers; ++o) {
        for (i64 j = 0; j < columns; ++j) along_first[j] = 0.0;
        for (i64 i = 0; i < a.surface.rows; ++i) {
            const f64 level = a.level[o] + a.first(o, i);
            f64* out = a.surface.row(o, i);
            f64 both = 0.0;
            for (i64 j = 0; j < columns; ++j) {
                along_first[j] += a.differences(o, i * columns + j);
                both += along_first[j];
                out[j] = level + a.second(o, j) + both;
            }
        }
    }
    return DONE;
}

// By output, a surface's value in the cell that each row lies in.
i64 run(const LookUpSurfaceArguments& a) {
    for (i64 o = 0; o < a.surface.layers; ++o) {
        for (i64 r = 0; r < a.first_of.size; ++r) a.values(r, o) = a.surface(o, a.first_of[r], a.second_of[r]);
    }
    return DONE;
}

}  // namespace icefield
