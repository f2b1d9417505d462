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

// The cell of a value between `low` and `high`.
inline f64 cell_of(f64 x, f64 low, f64 scale, f64 last) {
    const f64 place = (x - low) * scale;
    return place < last ? place : last;
}

// The cells of some values; `cells` for one that is not between `low` and `high`.
template <class Values>
inline void find_cells(const Values& values, i64 start, i64 n, f64 low, f64 high, f64 scale, i64 cells, i32* found) {
    const f64 last = static_cast<f64>(cells - 1), none = static_cast<f64>(cells);
    for (i64 r = 0; r < n; ++r) {
        const f64 x = values(start + r, 0), held = cell_of(x, low, scale, last);
        found[r] = static_cast<i32>((x >= low) & (x <= high) ? held : none);
    }
}

struct Extent {
    f64 low, high;
    i64 finite;

    template <class Values>
    void take(const Values& values, i64 rows) {
        for (i64 r = 0; r < rows; ++r) {
            const f64 x = values(r, 0);
            const bool is_finite = fabs(x) <= 1.7976931348623157e308;
            low = is_finite && x < low ? x : low;
            high = is_finite && x > high ? x : high;
            finite += is_finite;
        }
    }
};

// A column that lies in one piece.
struct Piece {
    const f64* data;

    f64 operator()(i64 row, i64) const { return data[row]; }
};

// A matrix's columns one after another; few rows at a time, whose lines of memory stay near for all columns.
template <class T>
void copy_columns(const Strided<const T>& matrix, const Table<f64>& columns) {
    constexpr i64 NEAR = 64;
    for (i64 begin = 0; begin < matrix.rows; begin += NEAR) {
        const i64 end = matrix.rows - begin < NEAR ? matrix.rows : begin + NEAR;
        for (i64 c = 0; c < matrix.columns; ++c) {
            f64* column = columns.row(c);
            for (i64 r = begin; r < end; ++r) column[r] = static_cast<f64>(matrix(r, c));
        }
    }
}

// Values of one cell among which ranks and limits are looked for, at most, or this many times an even share of all.
constexpr i64 MANY = 2000, MANY_SHARES = 8;

// A column's values cell by cell, those that are not finite last. Returns how many cells hold any; 0 where cells do not
// tell the values apart, which are then as they were.
i64 into_cells(const f64* values, i64 rows, const Extent& extent, f64 scale, i64 cells, i32* starts, i32* next, f64* kept) {
    for (i64 c = 0; c <= cells; ++c) next[c] = 0;
    i32 found[AHEAD];
    const bool apart = scale > 0.0 && scale <= 1.7976931348623157e308;
    for (i64 start = 0; start < rows && apart; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(Piece{values}, start, n, extent.low, extent.high, scale, cells, found);
        for (i64 r = 0; r < n; ++r) ++next[found[r]];
    }
    const i64 share = MANY_SHARES * extent.finite / cells, most = share > MANY ? share : MANY;
    i64 filled = 0;
    bool is_even = apart;
    i32 before = 0;
    for (i64 c = 0; c <= cells; ++c) {
        const i32 own = next[c];
        starts[c] = next[c] = before;
        before += own;
        if (c == cells) break;
        filled += own > 0;
        is_even &= own <= most;
    }
    if (!is_even) {
        for (i64 r = 0; r < rows; ++r) kept[r] = values[r];
        return 0;
    }
    for (i64 start = 0; start < rows; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(Piece{values}, start, n, extent.low, extent.high, scale, cells, found);
        for (i64 r = 0; r < n; ++r) kept[next[found[r]]++] = values[start + r];
    }
    return filled;
}

template <class Arguments>
i64 look_together(const Arguments& a) {
    const i64 rows = a.matrix.rows, columns = a.matrix.columns, cells = a.starts.columns - 1;
    Zeros<i32> next(cells + 1);
    if (!next.ok()) return NO_MEMORY;
    copy_columns(a.matrix, a.kept);
    for (i64 c = columns - 1; c >= 0; --c) {
        const f64* values = a.kept.row(c);
        for (i64 i = 0; i < a.drawn.size; ++i) a.sample(c, i) = values[a.drawn[i]];
        Extent extent{HUGE_VAL, -HUGE_VAL, 0};
        extent.take(Piece{values}, rows);
        a.ends(c, 0) = extent.low;
        a.ends(c, 1) = extent.high;
        a.finite[c] = extent.finite;
        a.scale[c] = static_cast<f64>(cells) / (extent.high - extent.low);
        a.filled[c] =
            into_cells(values, rows, extent, a.scale[c], cells, a.starts.row(c), next.data(), a.kept.row(c + 1));
    }
    return DONE;
}

// The k-th smallest of some values, which change places.
f64 selected(f64* values, i64 size, i64 k) {
    i64 first = 0, last = size - 1;
    while (first < last) {
        const f64 pivot = values[first + (last - first) / 2];
        i64 i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot) ++i;
            while (pivot < values[j]) --j;
            if (i > j) break;
            const f64 other = values[i];
            values[i++] = values[j];
            values[j--] = other;
        }
        if (k <= j) {
            last = j;
        } else if (k >= i) {
            first = i;
        } else {
            break;
        }
    }
    return values[k];
}

// The last cell that begins at or before a rank.
i64 cell_of_rank(const i32* starts, i64 cells, i64 rank) {
    i64 low = 0, high = cells - 1;
    while (low < high) {
        const i64 middle = (low + high + 1) / 2;
        if (starts[middle] <= rank) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// How many values are at most a limit.
i64 at_most(const f64* values, const i32* starts, i64 cells, f64 low, f64 high, f64 scale, f64 limit) {
    if (limit < low) return 0;
    if (!(limit < high)) return starts[cells];
    const i64 cell = static_cast<i64>(cell_of(limit, low, scale, static_cast<f64>(cells - 1)));
    i64 found = starts[cell];
    for (i64 i = starts[cell]; i < starts[cell + 1]; ++i) found += values[i] <= limit;
    return found;
}

}  // namespace

// One look at several columns of a matrix: their extent, how many cells hold a value, and `kept`, their values cell by
// cell. `sample` gets those of the rows `drawn`. A column of which `filled` is 0 is kept as it is, to be looked at otherwise.
ICEFIELD_EXPORT i64 icefield_look_together(const LookTogetherArguments* a) { return look_together(*a); }

ICEFIELD_EXPORT i64 icefield_look_together_narrow(const LookTogetherNarrowArguments* a) { return look_together(*a); }

// The finite values of some ranks, and how many are at most some limits, for every column that is kept cell by cell.
ICEFIELD_EXPORT i64 icefield_ask_together(const AskTogetherArguments* a) {
    const i64 cells = a->starts.columns - 1;
    for (i64 c = 0; c < a->filled.size; ++c) {
        if (a->filled[c] == 0) continue;
        f64* values = a->kept.row(c + 1);
        const i32* starts = a->starts.row(c);
        for (i64 i = 0; i < a->ranks.columns; ++i) {
            const i64 rank = a->ranks(c, i), cell = cell_of_rank(starts, cells, rank);
            a->at_ranks(c, i) = selected(values + starts[cell], starts[cell + 1] - starts[cell], rank - starts[cell]);
        }
        for (i64 i = 0; i < a->limits.columns; ++i) {
            a->at_most(c, i) =
                at_most(values, starts, cells, a->ends(c, 0), a->ends(c, 1), a->scale[c], a->limits(c, i));
        }
    }
    return DONE;
}

ICEFIELD_EXPORT i64 icefield_extent(const ExtentArguments* a) {
    Extent extent{a->ends[0], a->ends[1], 0};
    extent.take(a->values, a->values.rows);
    a->ends[0] = extent.low;
    a->ends[1] = extent.high;
    a->finite[0] += extent.finite;
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
