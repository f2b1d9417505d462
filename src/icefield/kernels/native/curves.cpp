// Running a leaf-visiting program over one block of rows: every row's ICE curve.
//
// A leaf changes a curve at the edges of its region of the grid only, so each row that can reach it gets a few
// additions into a table of differences; summing along the grid turns those into curves. All rows of a grid
// point lie together: a leaf's rows then share cache lines, and sums run over whole vectors of rows.

#include "abi.hpp"
#include "programs.hpp"

namespace icefield {
namespace {

// `visit(rows_of_point, amount)` for each of a leaf's updates: where it goes in the table, and how much it adds.
template <class Visit>
inline void each_update(const AddLeavesArguments& a, i64 leaf, Visit visit) {
    const i64 output = a.leaves.output[leaf];
    for (i64 u = a.update_start[leaf]; u < a.update_start[leaf + 1]; ++u) {
        const i64 at = a.update_at[u];
        if (output >= 0) {
            visit(a.differences.row(output, at), a.update_sign[u] * a.leaves.value(leaf, 0));
        } else {
            for (i64 o = 0; o < a.leaves.value.columns; ++o) {
                visit(a.differences.row(o, at), a.update_sign[u] * a.leaves.value(leaf, o));
            }
        }
    }
}

// Sums along one line of the innermost axis, on top of what the line before it came to.
void sum_line(const SumUpArguments& a, i64 output, i64 first_point, bool has_line_before) {
    const i64 rows = a.values.columns;
    const f64 base = a.base[output];
    for (i64 point = first_point; point < first_point + a.inner; ++point) {
        f64* sum = a.differences.row(output, point);
        f64* value = a.values.row(output, a.order[point]);
        const f64* before = point > first_point ? a.differences.row(output, point - 1) : nullptr;
        if (before != nullptr) {
            for (i64 r = 0; r < rows; ++r) sum[r] += before[r];
        }
        if (!has_line_before) {
            for (i64 r = 0; r < rows; ++r) value[r] = sum[r] + base;
        }
    }
    if (!has_line_before) return;
    for (i64 point = first_point; point < first_point + a.inner; ++point) {
        f64* sum = a.differences.row(output, point);
        f64* value = a.values.row(output, a.order[point]);
        const f64* line_before = a.differences.row(output, point - a.inner);
        for (i64 r = 0; r < rows; ++r) {
            sum[r] += line_before[r];
            value[r] = sum[r] + base;
        }
    }
}

}  // namespace

// Add every leaf to the differences of the rows that reach it.
i64 run(const AddLeavesArguments& a) {
    return visit_leaves(
        a.walk,
        [&](i64 leaf, RowSet rows) {
            const i64 reached = rows.list();
            each_update(a, leaf, [&](f64* of_point, f64 amount) {
                for (i64 k = 0; k < reached; ++k) of_point[rows.listed(k)] += amount;
            });
        },
        [&](i64 leaf, i32 entry) {
            each_update(a, leaf, [&](f64* of_point, f64 amount) { of_point[entry] += amount; });
        });
}

// Curves from differences: sums along the last two of the axes (outer, middle, inner).
//
// `order` gives the place of each grid point in `values`.
i64 run(const SumUpArguments& a) {
    for (i64 output = 0; output < a.differences.layers; ++output) {
        for (i64 line = 0; line < a.outer * a.middle; ++line) {
            sum_line(a, output, line * a.inner, line % a.middle != 0);
        }
    }
    return DONE;
}

}  // namespace icefield
