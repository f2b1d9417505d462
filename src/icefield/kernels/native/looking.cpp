// A column's order statistics without sorting it.
//
// Values are tallied in many cells of equal width between the smallest and the largest. The cell of a value never
// decreases with it, so a rank, or how many values are at most some limit, is known from the tally up to one cell;
// only the values of such cells are gathered, and sorted by whoever asks. Missing and infinite values are left out.

#include <math.h>

#include "abi.hpp"

namespace icefield {
namespace {

inline i64 cell_of(f64 x, f64 low, f64 scale, i64 last) {
    const i64 cell = static_cast<i64>((x - low) * scale);
    return cell < last ? cell : last;
}

}  // namespace

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
    const i64 last = a->counts.size - 1;
    for (i64 r = 0; r < a->values.rows; ++r) {
        const f64 x = a->values(r, 0);
        if (x >= a->low && x <= a->high) a->counts[cell_of(x, a->low, a->scale, last)] += 1;
    }
    return DONE;
}

ICEFIELD_EXPORT i64 icefield_gather(const GatherArguments* a) {
    const i64 last = a->wanted.size - 1;
    i64 filled = a->filled[0];
    for (i64 r = 0; r < a->values.rows; ++r) {
        const f64 x = a->values(r, 0);
        if (!(x >= a->low && x <= a->high)) continue;
        if (!a->wanted[cell_of(x, a->low, a->scale, last)]) continue;
        if (filled == a->found.size) return STOPPED;  // the column changed since it was tallied
        a->found[filled++] = x;
    }
    a->filled[0] = filled;
    return DONE;
}

}  // namespace icefield
