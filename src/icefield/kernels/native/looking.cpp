// A column's order statistics without sorting it.
//
// Values are tallied in many cells of equal width between the smallest and the largest. The cell of a value never
// decreases with it, so a rank, or how many values are at most some limit, is known from the tally up to one cell;
// only the values of such cells are gathered, and sorted by whoever asks. Missing and infinite values are left out.

#include <math.h>

#include "abi.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

constexpr i64 AHEAD = 256;  // values whose cells are found together, as vectors

// The cells of some values; `cells` for one that is not between `low` and `high`.
inline void find_cells(const Strided<const f64>& values, i64 start, i64 n, f64 low, f64 high, f64 scale, i64 cells,
                       i32* found) {
    const f64 last = static_cast<f64>(cells - 1), none = static_cast<f64>(cells);
    for (i64 r = 0; r < n; ++r) {
        const f64 x = values(start + r, 0), place = (x - low) * scale;
        const f64 held = place < last ? place : last;
        found[r] = static_cast<i32>((x >= low) & (x <= high) ? held : none);
    }
}

// A matrix's columns one after another; few rows at a time, whose lines of memory stay near for all columns.
template <class T>
void copy_columns(const Strided<const T>& matrix, const Table<f64>& columns) {
    constexpr i64 NEAR = 64;
    for (i64 begin = 0; begin < matrix.rows; begin += NEAR) {
        const i64 end = matrix.rows - begin < NEAR ? matrix.rows : begin + NEAR;
        for (i64 c = 0; c < columns.rows; ++c) {
            f64* column = columns.row(c);
            for (i64 r = begin; r < end; ++r) column[r] = static_cast<f64>(matrix(r, c));
        }
    }
}

}  // namespace

ICEFIELD_EXPORT i64 icefield_copy_columns(const CopyColumnsArguments* a) {
    copy_columns(a->matrix, a->columns);
    return DONE;
}

ICEFIELD_EXPORT i64 icefield_copy_narrow_columns(const CopyNarrowColumnsArguments* a) {
    copy_columns(a->matrix, a->columns);
    return DONE;
}

ICEFIELD_EXPORT i64 icefield_extent(const ExtentArguments* a) {
    f64 low = a->ends[0], high = a->ends[1];
    i64 finite = 0;
    for (i64 r = 0; r < a->values.rows; ++r) {
        const f64 x = a->values(r, 0);
        const bool is_finite = fabs(x) <= 1.7976931348623157e308;
        low = is_finite && x < low ? x : low;
        high = is_finite && x > high ? x : high;
        finite += is_finite;
    }
    a->ends[0] = low;
    a->ends[1] = high;
    a->finite[0] += finite;
    return DONE;
}

ICEFIELD_EXPORT i64 icefield_tally(const TallyArguments* a) {
    const i64 cells = a->counts.size, rows = a->values.rows;
    Zeros<i64> counts(cells + 1);
    if (!counts.ok()) return NO_MEMORY;
    i32 found[AHEAD];
    for (i64 start = 0; start < rows; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(a->values, start, n, a->low, a->high, a->scale, cells, found);
        for (i64 r = 0; r < n; ++r) ++counts[found[r]];
    }
    for (i64 c = 0; c < cells; ++c) a->counts[c] += counts[c];
    return DONE;
}

ICEFIELD_EXPORT i64 icefield_gather(const GatherArguments* a) {
    const i64 cells = a->wanted.size, rows = a->values.rows;
    Zeros<u8> wanted(cells + 1);
    if (!wanted.ok()) return NO_MEMORY;
    for (i64 c = 0; c < cells; ++c) wanted[c] = a->wanted[c];
    i64 filled = a->filled[0];
    i32 found[AHEAD];
    for (i64 start = 0; start < rows; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(a->values, start, n, a->low, a->high, a->scale, cells, found);
        for (i64 r = 0; r < n; ++r) {
            if (!wanted[found[r]]) continue;
            if (filled == a->found.size) return STOPPED;  // the column changed since it was tallied
            a->found[filled++] = a->values(start + r, 0);
        }
    }
    a->filled[0] = filled;
    return DONE;
}

}  // namespace icefield
