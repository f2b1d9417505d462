// Running a leaf-visiting program over one block of rows: every row's curve.
//
// A leaf changes a curve at the edges of its region of the grid only, so each row that can reach it gets a few
// additions into a table of differences; summing along the grid turns those into curves.

#include "abi.hpp"
#include "programs.hpp"

namespace icefield {
namespace {

// Add one leaf to one row's differences.
void add_leaf(const AddLeavesArguments& a, i64 leaf, i64 row) {
    const i64 output = a.leaves.output[leaf];
    for (i64 u = a.update_start[leaf]; u < a.update_start[leaf + 1]; ++u) {
        const i64 at = a.update_at[u];
        if (output >= 0) {
            a.differences(output, row, at) += a.update_sign[u] * a.leaves.value(leaf, 0);
        } else {
            for (i64 o = 0; o < a.leaves.value.columns; ++o) {
                a.differences(o, row, at) += a.update_sign[u] * a.leaves.value(leaf, o);
            }
        }
    }
}

// The same for all rows of a mask, where a leaf's region begins once and perhaps ends once.
void add_interval(const AddLeavesArguments& a, i64 leaf, Rows rows) {
    const i64 first = a.update_start[leaf], updates = a.update_start[leaf + 1] - first;
    if (updates == 0) return;
    const i64 grid = a.differences.columns;
    const f64 value = a.leaves.value(leaf, 0);
    const f64 first_value = a.update_sign[first] * value;
    f64* begin = a.differences.row(a.leaves.output[leaf], 0) + a.update_at[first];
    if (updates == 1) {
        rows.each([&](i64 row) { begin[row * grid] += first_value; });
        return;
    }
    const f64 second_value = a.update_sign[first + 1] * value;
    const i64 length = a.update_at[first + 1] - a.update_at[first];
    rows.each([&](i64 row) {
        begin[row * grid] += first_value;
        begin[row * grid + length] += second_value;
    });
}

}  // namespace

// Add every leaf to the differences of the rows that reach it.
ICEFIELD_EXPORT i64 icefield_add_leaves(const AddLeavesArguments* arguments) {
    const AddLeavesArguments& a = *arguments;
    return visit_leaves(
        a.walk,
        [&](i64 leaf, Rows rows) {
            if (a.leaves.output[leaf] >= 0 && a.update_start[leaf + 1] - a.update_start[leaf] <= 2) {
                add_interval(a, leaf, rows);
            } else {
                rows.each([&](i64 row) { add_leaf(a, leaf, row); });
            }
        },
        [&](i64 leaf, i32 entry) { add_leaf(a, leaf, entry); });
}

// Curves from differences: sums along the last two of the axes (outer, middle, inner).
//
// `order` gives the place of each grid point in `values`.
ICEFIELD_EXPORT i64 icefield_sum_up(const SumUpArguments* arguments) {
    const SumUpArguments& a = *arguments;
    for (i64 r = 0; r < a.values.layers; ++r) {
        for (i64 o = 0; o < a.differences.layers; ++o) {
            f64* curve = a.differences.row(o, r);
            i64 k = 0;
            for (i64 outer = 0; outer < a.outer; ++outer) {
                for (i64 m = 0; m < a.middle; ++m) {
                    f64 running = 0.0;
                    for (i64 inner = 0; inner < a.inner; ++inner, ++k) {
                        running += curve[k];
                        curve[k] = m == 0 ? running : running + curve[k - a.inner];
                        a.values(r, a.order[k], o) = curve[k] + a.base[o];
                    }
                }
            }
        }
    }
    return DONE;
}

}  // namespace icefield
