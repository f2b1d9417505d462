// Running a leaf-visiting program over one block of rows, each row at points of its own.
//
// Local effects (ALE) move a row across one step of every axis. A leaf changes what a row gains by that only where
// its region begins or ends within the row's step, so `add_changes` visits the rows of those few steps alone.
// Where a link follows the sums, the sums themselves are needed at every *corner* of the steps, and
// `add_corners` gives them.

#include "abi.hpp"
#include "programs.hpp"

namespace icefield {
namespace {

// With more of them, looking at every row of a leaf is faster than at the rows of each edge.
constexpr i64 MANY_EDGES = 64;

// Add a leaf's value, or values, times a factor to a row's outputs.
inline void add_value(const Leaves& leaves, i64 leaf, f64 factor, f64* out) {
    const i64 output = leaves.output[leaf];
    if (output >= 0) {
        out[output] += factor * leaves.value(leaf, 0);
    } else {
        for (i64 o = 0; o < leaves.value.columns; ++o) out[o] += factor * leaves.value(leaf, o);
    }
}

// How often more a row reaches a leaf at the end of its steps than before them: -1, 0 or 1.
inline i64 change_of(const AddChangesArguments& a, i64 leaf, i64 row) {
    i64 crossed = 1;
    for (i64 axis = 0; axis < a.steps.rows; ++axis) {
        const i64 region = a.leaf_region(axis, leaf);
        crossed *= region >= 0 ? a.change(region, a.steps(axis, row)) : 0;
    }
    return crossed;
}

void add_change(const AddChangesArguments& a, i64 leaf, i64 row) {
    const i64 crossed = change_of(a, leaf, row);
    if (crossed != 0) add_value(a.leaves, leaf, static_cast<f64>(crossed), a.out.row(row));
}

void mark_steps(const AddChangesArguments& a) {
    for (i64 i = 0; i < a.step_bits.rows * a.step_bits.columns; ++i) a.step_bits.data[i] = 0;
    for (i64 axis = 0; axis < a.steps.rows; ++axis) {
        for (i64 row = 0; row < a.steps.columns; ++row) {
            set_bit(a.step_bits.row(a.step_start[axis] + a.steps(axis, row)), row);
        }
    }
}

// The rows of a leaf that lie in the steps of one edge, or of one edge on each of two axes.
void add_edge(const AddChangesArguments& a, i64 leaf, RowSet rows, const u64* own, const u64* other, f64 factor) {
    for (i64 w = 0; w < rows.words(); ++w) {
        each_bit(rows[w] & own[w] & other[w], w * WORD,
                 [&](i64 row) { add_value(a.leaves, leaf, factor, a.out.row(row)); });
    }
}

void add_edges(const AddChangesArguments& a, i64 leaf, RowSet rows) {
    const i64 axes = a.steps.rows;
    const i64 first = a.leaf_region(0, leaf), second = a.leaf_region(axes - 1, leaf);
    if (first < 0 || second < 0) return;
    const i64 begin = a.edge_start[first], end = a.edge_start[first + 1];
    const i64 other_begin = a.edge_start[second], other_end = a.edge_start[second + 1];
    const i64 combined = (end - begin) * (axes == 1 ? 1 : other_end - other_begin);
    if (combined > MANY_EDGES) {
        const i64 reached = rows.list();
        for (i64 k = 0; k < reached; ++k) add_change(a, leaf, rows.listed(k));
        return;
    }
    for (i64 e = begin; e < end; ++e) {
        const u64* own = a.step_bits.row(a.step_start[0] + a.edge_step[e]);
        if (axes == 1) {
            add_edge(a, leaf, rows, own, own, a.edge_sign[e]);
            continue;
        }
        for (i64 f = other_begin; f < other_end; ++f) {
            const u64* other = a.step_bits.row(a.step_start[1] + a.edge_step[f]);
            add_edge(a, leaf, rows, own, other, static_cast<f64>(a.edge_sign[e] * a.edge_sign[f]));
        }
    }
}

// Add a leaf to one row at each corner in its region.
void add_where_inside(const AddCornersArguments& a, i64 leaf, i64 row) {
    for (i64 corner = 0; corner < a.corners.layers; ++corner) {
        bool reached = true;
        for (i64 axis = 0; axis < a.corners.rows; ++axis) {
            const i64 region = a.leaf_region(axis, leaf);
            if (region >= 0) reached &= a.inside(region, a.corners(corner, axis, row)) != 0;
        }
        if (reached) add_value(a.leaves, leaf, 1.0, a.out.row(corner, row));
    }
}

}  // namespace

// Add to every row what crossing its steps changes.
//
// ``change[region, step]`` is 1 where a region begins within a step, -1 where it ends; its entries that are not
// zero are the region's edges. `steps` are the rows' own, and `step_bits` is room for one mask a step: all of
// the first axis, then from ``step_start[1]`` those of the second.
i64 run(const AddChangesArguments& a) {
    mark_steps(a);
    return visit_leaves(
        a.walk, [&](i64 leaf, RowSet rows) { add_edges(a, leaf, rows); },
        [&](i64 leaf, i32 entry) { add_change(a, leaf, entry); });
}

// Add every leaf to the rows that reach it, at each of their corners.
//
// ``inside[region, point]`` says which points lie in a region; `corners` are points.
i64 run(const AddCornersArguments& a) {
    return visit_leaves(
        a.walk,
        [&](i64 leaf, RowSet rows) {
            const i64 reached = rows.list();
            for (i64 k = 0; k < reached; ++k) add_where_inside(a, leaf, rows.listed(k));
        },
        [&](i64 leaf, i32 entry) { add_where_inside(a, leaf, entry); });
}

}  // namespace icefield
