// Summary statistics of a column (ranks, histogram, grid) without sorting it.
//
// Values are tallied in many cells of equal width between the smallest and the largest. The cell of a value never
// decreases with it, so a rank, or how many values are at most some limit, is known from the tally up to one cell;
// only the values of such cells are gathered, and sorted by the caller. Missing and infinite values are left out.

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
        // Several side by side, which become vectors.
        constexpr i64 LANES = 32;
        f64 lows[LANES], highs[LANES];
        i64 counts[LANES];
        for (i64 k = 0; k < LANES; ++k) {
            lows[k] = low;
            highs[k] = high;
            counts[k] = 0;
        }
        const i64 whole = rows / LANES * LANES;
        for (i64 start = 0; start < whole; start += LANES) {
            for (i64 k = 0; k < LANES; ++k) take_one(values(start + k, 0), lows[k], highs[k], counts[k]);
        }
        for (i64 r = whole; r < rows; ++r) take_one(values(r, 0), lows[0], highs[0], counts[0]);
        for (i64 k = 0; k < LANES; ++k) {
            low = lows[k] < low ? lows[k] : low;
            high = highs[k] > high ? highs[k] : high;
            finite += counts[k];
        }
    }

private:
    static void take_one(f64 x, f64& least, f64& most, i64& count) {
        const bool is_finite = fabs(x) <= 1.7976931348623157e308;
        least = is_finite && x < least ? x : least;
        most = is_finite && x > most ? x : most;
        count += is_finite;
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
    constexpr i64 NEAR = 64, FAR = 512;
    const bool are_far = matrix.row_stride * static_cast<i64>(sizeof(T)) > FAR;
    for (i64 begin = 0; begin < matrix.rows; begin += NEAR) {
        const i64 end = matrix.rows - begin < NEAR ? matrix.rows : begin + NEAR;
        // Nothing else would ask for rows that are far apart before they are needed.
        for (i64 r = end; are_far && r < end + NEAR && r < matrix.rows; ++r) {
            __builtin_prefetch(&matrix(r, 0));
            __builtin_prefetch(&matrix(r, matrix.columns - 1));
        }
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
i64 into_cells(const f64* values, i64 rows, const Extent& extent, f64 scale, i64 cells, i32* starts, i32* next,
               f64* kept) {
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

// A column's values between its ends, cell by cell.
struct Cells {
    f64* values;
    const i32* starts;
    i64 cells;
    f64 low, high, scale;

    f64 at_rank(i64 rank) const {
        // The last cell that begins at or before the rank.
        i64 first = 0, last = cells - 1;
        while (first < last) {
            const i64 middle = (first + last + 1) / 2;
            if (starts[middle] <= rank) {
                first = middle;
            } else {
                last = middle - 1;
            }
        }
        return selected(values + starts[first], starts[first + 1] - starts[first], rank - starts[first]);
    }

    i64 at_most(f64 limit) const {
        if (limit < low) return 0;
        if (!(limit < high)) return starts[cells];
        const i64 cell = static_cast<i64>(cell_of(limit, low, scale, static_cast<f64>(cells - 1)));
        i64 found = starts[cell];
        for (i64 i = starts[cell]; i < starts[cell + 1]; ++i) found += values[i] <= limit;
        return found;
    }

    // How many values are at most each limit and above the one before; `limit_of(i)` for all but the last.
    template <class Limit>
    void count_between(f64* counts, i64 size, Limit limit_of) const {
        i64 before = 0;
        for (i64 i = 0; i < size; ++i) {
            const i64 here = i + 1 < size ? at_most(limit_of(i)) : starts[cells];
            counts[i] = static_cast<f64>(here - before);
            before = here;
        }
    }
};

// Points from `low` to `high`, evenly apart, as numbers of type T; false where they do not all differ.
template <class T>
bool place_evenly(f64 low, f64 high, f64* points, i64 size) {
    const f64 step = (high - low) / static_cast<f64>(size - 1);
    if (!(step > 0.0)) return false;
    for (i64 i = 0; i < size; ++i) {
        const f64 exact = i + 1 < size ? static_cast<f64>(i) * step + low : high;
        points[i] = static_cast<f64>(static_cast<T>(exact));
        if (i > 0 && !(points[i] > points[i - 1])) return false;
    }
    return true;
}

constexpr i64 CELLS = 4096;

// What is known of one column: its quantiles, a histogram, a grid between the last two quantiles, and how many values
// are nearest to each of its points. False where that takes another way.
template <class T>
bool describe(const LookTogetherArguments<T>& a, i64 c, const Cells& cells) {
    for (i64 i = 0; i < a.ranks.size; ++i) a.at_ranks(c, i) = cells.at_rank(a.ranks[i]);
    const f64* ends = a.at_ranks.row(c) + a.ranks.size - 2;
    f64 *edges = a.edges.row(c), *points = a.grid.row(c);
    if (!place_evenly<f64>(cells.low, cells.high, edges, a.edges.columns)) return false;
    if (!place_evenly<T>(ends[0], ends[1], points, a.grid.columns)) return false;
    // A value on an edge belongs to the bin above it.
    cells.count_between(a.counts.row(c), a.counts.columns, [&](i64 i) { return nextafter(edges[i + 1], -HUGE_VAL); });
    // Halves first: the sum of two large numbers may be none.
    cells.count_between(a.nearest.row(c), a.nearest.columns, [&](i64 i) { return points[i] / 2 + points[i + 1] / 2; });
    return true;
}

}  // namespace

// One look at several columns of a matrix, each of which is `known` then, if it is complete and cells tell its values
// apart. `ranks` are those of quantiles, the last two of which the grid lies between; `sample` gets the values of the rows
// `drawn`, and `kept` all values of each column, in any order.
template <class T>
i64 run(const LookTogetherArguments<T>& a) {
    const i64 rows = a.matrix.rows;
    if (!fits_i32(rows)) return TOO_LARGE;
    Zeros<i32> starts(CELLS + 1), next(CELLS + 1);
    if (!starts.ok() || !next.ok()) return NO_MEMORY;
    copy_columns(a.matrix, a.kept);
    for (i64 c = a.matrix.columns - 1; c >= 0; --c) {
        const f64* values = a.kept.row(c);
        for (i64 i = 0; i < a.drawn.size; ++i) a.sample(c, i) = values[a.drawn[i]];
        Extent extent{HUGE_VAL, -HUGE_VAL, 0};
        extent.take(Piece{values}, rows);
        const f64 scale = static_cast<f64>(CELLS) / (extent.high - extent.low);
        f64* kept = a.kept.row(c + 1);
        const i64 filled = into_cells(values, rows, extent, scale, CELLS, starts.data(), next.data(), kept);
        // As many values differ as there are cells that hold one.
        const bool plain = extent.finite == rows && filled > a.grid.columns;
        const Cells cells{kept, starts.data(), CELLS, extent.low, extent.high, scale};
        a.known[c] = plain && describe(a, c, cells);
    }
    return DONE;
}

template i64 run(const LookTogetherArguments<f64>&);
template i64 run(const LookTogetherArguments<f32>&);

i64 run(const ExtentArguments& a) {
    Extent extent{a.ends[0], a.ends[1], 0};
    extent.take(a.values, a.values.rows);
    a.ends[0] = extent.low;
    a.ends[1] = extent.high;
    a.finite[0] += extent.finite;
    return DONE;
}

i64 run(const TallyArguments& a) {
    const i64 cells = a.counts.size, rows = a.values.rows;
    Zeros<i64> counts(cells + 1);
    if (!counts.ok()) return NO_MEMORY;
    i32 found[AHEAD];
    for (i64 start = 0; start < rows; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(a.values, start, n, a.low, a.high, a.scale, cells, found);
        for (i64 r = 0; r < n; ++r) ++counts[found[r]];
    }
    for (i64 c = 0; c < cells; ++c) a.counts[c] += counts[c];
    return DONE;
}

i64 run(const GatherArguments& a) {
    const i64 cells = a.wanted.size, rows = a.values.rows;
    Zeros<u8> wanted(cells + 1);
    if (!wanted.ok()) return NO_MEMORY;
    for (i64 c = 0; c < cells; ++c) wanted[c] = a.wanted[c];
    i64 filled = a.filled[0];
    i32 found[AHEAD];
    for (i64 start = 0; start < rows; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(a.values, start, n, a.low, a.high, a.scale, cells, found);
        for (i64 r = 0; r < n; ++r) {
            if (!wanted[found[r]]) continue;
            if (filled == a.found.size) return STOPPED;  // the column changed since it was tallied
            a.found[filled++] = a.values(start + r, 0);
        }
    }
    a.filled[0] = filled;
    return DONE;
}

}  // namespace icefield
