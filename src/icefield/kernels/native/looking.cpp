// Summary statistics of a column (ranks, histogram, grid) without sorting it.
//
// Values are tallied in many cells of equal width between the smallest and the largest. The cell of a value never
// decreases with it, so a rank, or how many values are at most some limit, is known from the tally up to one cell;
// only the values of such cells are gathered, and sorted by the caller. Missing and infinite values are left out.

#include <math.h>

#include "abi.hpp"
#include "memory.hpp"
#include "selection.hpp"

namespace icefield {
namespace {

constexpr i64 AHEAD = 256;  // values whose cells are found together, as vectors

// The cell of a value between `low` and `high`.
inline f64 cell_of(f64 x, f64 low, f64 scale, f64 last) {
    const f64 place = (x - low) * scale;
    return place < last ? place : last;
}

// Cells of equal width between two values: how many there are in a unit.
inline f64 scale_of(f64 low, f64 high, i64 cells) { return static_cast<f64>(cells) / (high - low); }

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
        // Both sides of each `and` are always looked at: with a branch this would not become vectors.
        const bool is_finite = fabs(x) <= 1.7976931348623157e308;
        least = is_finite & (x < least) ? x : least;
        most = is_finite & (x > most) ? x : most;
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

// Values of one cell among which ranks and limits are looked for, at most, or this many times an even share of all. A cell
// that holds more must hold one value only.
constexpr i64 MANY = 2000, MANY_SHARES = 8;

inline i64 most_in_cell(i64 finite, i64 cells) {
    const i64 share = MANY_SHARES * finite / cells;
    return share > MANY ? share : MANY;
}

// A column's values cell by cell, those that are not finite last. Returns how many cells hold any; 0 where cells do not
// tell the values apart, which are then in any order.
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
    const i64 most = most_in_cell(extent.finite, cells);
    i64 filled = 0;
    i32 before = 0;
    for (i64 c = 0; c <= cells; ++c) {
        const i32 own = next[c];
        starts[c] = next[c] = before;
        before += own;
        if (c == cells) break;
        filled += own > 0;
    }
    if (!apart) {
        for (i64 r = 0; r < rows; ++r) kept[r] = values[r];
        return 0;
    }
    for (i64 start = 0; start < rows; start += AHEAD) {
        const i64 n = rows - start < AHEAD ? rows - start : AHEAD;
        find_cells(Piece{values}, start, n, extent.low, extent.high, scale, cells, found);
        for (i64 r = 0; r < n; ++r) kept[next[found[r]]++] = values[start + r];
    }
    for (i64 c = 0; c < cells; ++c) {
        const i64 end = starts[c + 1];
        if (end - starts[c] <= most) continue;
        for (i64 i = starts[c] + 1; i < end; ++i) {
            if (kept[i] != kept[starts[c]]) return 0;
        }
    }
    return filled;
}

// A column's values between its ends, cell by cell.
struct Cells {
    f64* values;
    const i32* starts;
    i64 cells;
    f64 low, high, scale;
    i64 most;  // values of a cell that holds several

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
        const i64 size = starts[first + 1] - starts[first];
        if (size > most) return values[starts[first]];
        return selected(values + starts[first], size, rank - starts[first]);
    }

    i64 at_most(f64 limit) const {
        if (limit < low) return 0;
        if (!(limit < high)) return starts[cells];
        const i64 cell = static_cast<i64>(cell_of(limit, low, scale, static_cast<f64>(cells - 1)));
        i64 found = starts[cell];
        if (starts[cell + 1] - found > most) return values[found] <= limit ? starts[cell + 1] : found;
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

// The values of the data that a grid of quantiles and of values next to even points has, rising; how many there are.
// `ranked` are the quantiles, which never decrease.
i64 place_at_values(const f64* ranked, i64 quantiles, i64 further, const Cells& cells, f64* points) {
    const f64 step = (cells.high - cells.low) / static_cast<f64>(further - 1);
    i64 size = 0, quantile = 0;
    const auto add = [&](f64 value) {
        if (size == 0 || value > points[size - 1]) points[size++] = value;
    };
    for (i64 i = 0; i < further; ++i) {
        const f64 even = i + 1 < further ? static_cast<f64>(i) * step + cells.low : cells.high;
        // As many values as are below; the next one is the first that is not.
        const i64 below = cells.at_most(nextafter(even, -HUGE_VAL)), last = cells.starts[cells.cells] - 1;
        const f64 next = cells.at_rank(below < last ? below : last);
        while (quantile < quantiles && ranked[quantile] <= next) add(ranked[quantile++]);
        add(next);
    }
    while (quantile < quantiles) add(ranked[quantile++]);
    return size;
}

// What is known of one column: its quantiles, a histogram, a grid, and how many values are nearest to each of its points.
// False where that takes another way.
template <class T>
bool describe(const LookTogetherArguments<T>& a, i64 c, const Cells& cells) {
    const f64 total = static_cast<f64>(cells.starts[cells.cells]);
    for (i64 i = 0; i < a.probabilities.size; ++i) {
        // A hair less than the product, which rounding may put just above a whole number it should equal.
        const f64 p = a.probabilities[i], needed = p >= 1.0 ? total : p * total * (1.0 - 1e-12);
        const f64 rank = ceil(needed) - 1.0;
        a.at_ranks(c, i) = cells.at_rank(static_cast<i64>(rank > 0.0 ? rank : 0.0));
    }
    const f64* own = a.at_ranks.row(c) + a.first_of_grid;
    f64 *edges = a.edges.row(c), *points = a.grid.row(c);
    if (!place_evenly<f64>(cells.low, cells.high, edges, a.edges.columns)) return false;
    if (a.further > 0) {
        a.sizes[c] = place_at_values(own, a.probabilities.size - a.first_of_grid, a.further, cells, points);
    } else {
        a.sizes[c] = a.grid.columns;
        if (!place_evenly<T>(own[0], own[1], points, a.grid.columns)) return false;
    }
    // A value on an edge belongs to the bin above it.
    cells.count_between(a.counts.row(c), a.counts.columns, [&](i64 i) { return nextafter(edges[i + 1], -HUGE_VAL); });
    // Halves first: the sum of two large numbers may be none.
    cells.count_between(a.nearest.row(c), a.sizes[c], [&](i64 i) { return points[i] / 2 + points[i + 1] / 2; });
    return true;
}

// Where values lie among rising limits: a table by bucket says between which two to look.
class Limits {
public:
    static constexpr i64 BUCKETS = 512;

    // `first` has room for one more than there are buckets; `fill` says what it holds.
    Limits(const f64* limits, i64 size, i32* first) : limits_(limits), size_(size), first_(first) {
        low_ = size > 0 ? limits[0] : 0.0;
        const f64 scale = static_cast<f64>(BUCKETS) / (size > 0 ? limits[size - 1] - low_ : 0.0);
        // Whatever lies in one bucket is told apart by the limits themselves.
        scale_ = scale > 0.0 && scale <= 1.7976931348623157e308 ? scale : 0.0;
    }

    void fill() {
        i64 limit = 0;
        for (i64 b = 0; b < BUCKETS; ++b) {
            while (limit < size_ && bucket(limits_[limit]) < b) ++limit;
            first_[b] = static_cast<i32>(limit);
        }
        first_[BUCKETS] = static_cast<i32>(size_);
    }

    // How many limits are below a value.
    i64 below(f64 x) const {
        const i64 b = bucket(x);
        i32 first = first_[b], last = first_[b + 1];
        while (first < last) {
            const i32 middle = (first + last) / 2;
            if (x <= limits_[middle]) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        return first;
    }

private:
    // Never decreases with x.
    i64 bucket(f64 x) const {
        const f64 place = (x - low_) * scale_, above = place > 0.0 ? place : 0.0, last = BUCKETS - 1;
        return static_cast<i64>(above < last ? above : last);
    }

    const f64* limits_;
    i64 size_;
    i32* first_;
    f64 low_, scale_;
};

}  // namespace

// One look at several columns of a matrix, each of which is `known` then, if none of its values is infinite and cells tell them
// apart; NaN are counted as missing. `at_ranks` are quantiles at some `probabilities`, those of the grid from `first_of_grid` on: it lies evenly between two, or, with
// `further` values next to even points, has them all. `sizes` says how many points it has, `sample` gets the values of the
// rows `drawn`, and `kept` all values of each column, in any order.
template <class T>
i64 run(const LookTogetherArguments<T>& a) {
    const i64 rows = a.matrix.rows;
    if (!fits_i32(rows)) return TOO_LARGE;
    const i64 n_cells = a.starts.columns - 1;
    Zeros<i32> next(n_cells + 1);
    if (!next.ok()) return NO_MEMORY;
    copy_columns(a.matrix, a.kept);
    for (i64 c = a.matrix.columns - 1; c >= 0; --c) {
        const f64* values = a.kept.row(c);
        for (i64 i = 0; i < a.drawn.size; ++i) a.sample(c, i) = values[a.drawn[i]];
        Extent extent{HUGE_VAL, -HUGE_VAL, 0};
        extent.take(Piece{values}, rows);
        a.ends(c, 0) = extent.low;
        a.ends(c, 1) = extent.high;
        const f64 scale = scale_of(extent.low, extent.high, n_cells);
        f64* kept = a.kept.row(c + 1);
        const i64 filled = into_cells(values, rows, extent, scale, n_cells, a.starts.row(c), next.data(), kept);
        // As many values differ as there are cells that hold one.
        i64 missing = 0;
        if (extent.finite < rows) {
            for (i64 r = 0; r < rows; ++r) missing += values[r] != values[r];
        }
        a.missing[c] = missing;
        const bool plain = extent.finite + missing == rows && filled > a.grid.columns;
        const Cells cells{
            kept, a.starts.row(c), n_cells, extent.low, extent.high, scale, most_in_cell(extent.finite, n_cells)};
        a.known[c] = plain && describe(a, c, cells);
    }
    return DONE;
}

template i64 run(const LookTogetherArguments<f64>&);
template i64 run(const LookTogetherArguments<f32>&);

i64 run(const CountInCellsArguments& a) {
    const i64 n_cells = a.starts.columns - 1;
    for (i64 i = 0; i < a.chosen.size; ++i) {
        const i64 c = a.chosen[i];
        const f64 low = a.ends(c, 0), high = a.ends(c, 1), *limits = a.limits.row(i);
        const Cells cells{a.kept.row(c + 1),
                          a.starts.row(c),
                          n_cells,
                          low,
                          high,
                          scale_of(low, high, n_cells),
                          most_in_cell(a.starts(c, n_cells), n_cells)};
        cells.count_between(a.counts.row(i), a.sizes[i] + 1, [&](i64 limit) { return limits[limit]; });
    }
    return DONE;
}

// Values that are not finite are not counted.
template <class T>
i64 run(const CountUpToArguments<T>& a) {
    constexpr i64 NEAR = 64, ROOM = Limits::BUCKETS + 1;
    const i64 rows = a.matrix.rows, columns = a.matrix.columns;
    Zeros<i32> first(columns * ROOM);
    Zeros<i64> counts(columns * a.counts.columns);
    if (!first.ok() || !counts.ok()) return NO_MEMORY;
    for (i64 c = 0; c < columns; ++c) Limits(a.limits.row(c), a.sizes[c], first.data() + c * ROOM).fill();
    for (i64 begin = 0; begin < rows; begin += NEAR) {
        const i64 end = rows - begin < NEAR ? rows : begin + NEAR;
        for (i64 c = 0; c < columns; ++c) {
            const Limits limits(a.limits.row(c), a.sizes[c], first.data() + c * ROOM);
            i64* const own = counts.data() + c * a.counts.columns;
            for (i64 r = begin; r < end; ++r) {
                const f64 x = static_cast<f64>(a.matrix(r, c));
                if (fabs(x) <= 1.7976931348623157e308) ++own[limits.below(x)];
            }
        }
    }
    for (i64 c = 0; c < columns; ++c) {
        for (i64 i = 0; i < a.counts.columns; ++i) a.counts(c, i) = static_cast<f64>(counts[c * a.counts.columns + i]);
    }
    return DONE;
}

template i64 run(const CountUpToArguments<f64>&);
template i64 run(const CountUpToArguments<f32>&);

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
