// Values of given ranks in many short lanes, none of which is sorted.

#include <math.h>

#include "abi.hpp"
#include "memory.hpp"
#include "selection.hpp"

namespace icefield {
namespace {

constexpr i64 CELLS = 1024;

class Lane {
public:
    explicit Lane(i64 rows) : rows_(rows), cell_(rows), some_(rows), count_(CELLS) {}

    bool ok() const { return cell_.ok() && some_.ok() && count_.ok(); }

    // Values are put into cells of equal width; only those in the cell of a rank are looked through.
    void find(const f64* lane, const List<const i64>& ranks, f64* values) {
        f64 low = HUGE_VAL, high = -HUGE_VAL;
        bool is_number = true;
        for (i64 r = 0; r < rows_; ++r) {
            low = lane[r] < low ? lane[r] : low;
            high = lane[r] > high ? lane[r] : high;
            is_number &= lane[r] == lane[r];
        }
        const f64 scale = static_cast<f64>(CELLS) / (high - low);
        if (!is_number) {
            for (i64 k = 0; k < ranks.size; ++k) values[k] = NAN;
        } else if (scale > 0.0 && scale < HUGE_VAL) {
            fill_cells(lane, low, scale);
            for (i64 k = 0; k < ranks.size; ++k) values[k] = in_cells(lane, ranks[k]);
        } else {  // one value, or too far apart
            for (i64 r = 0; r < rows_; ++r) some_[r] = lane[r];
            for (i64 k = 0; k < ranks.size; ++k) values[k] = selected(some_.data(), rows_, ranks[k]);
        }
    }

private:
    void fill_cells(const f64* lane, f64 low, f64 scale) {
        i32* const cell = cell_.data();
        for (i64 r = 0; r < rows_; ++r) {
            const f64 place = (lane[r] - low) * scale;
            cell[r] = static_cast<i32>(place < CELLS - 1 ? place : CELLS - 1);
        }
        for (i64 c = 0; c < CELLS; ++c) count_[c] = 0;
        for (i64 r = 0; r < rows_; ++r) ++count_[cell[r]];
    }

    f64 in_cells(const f64* lane, i64 rank) {
        i64 wanted = 0, below = 0;
        while (below + count_[wanted] <= rank) below += count_[wanted++];
        i64 found = 0;
        const i32* const cell = cell_.data();
        for (i64 r = 0; r < rows_; ++r) {
            if (cell[r] == wanted) some_[found++] = lane[r];
        }
        return selected(some_.data(), found, rank - below);
    }

    const i64 rows_;
    Zeros<i32> cell_;
    Zeros<f64> some_;
    Zeros<i64> count_;
};

}  // namespace

// By lane, the values of these ranks, from 0 for the smallest; NaN where the lane has one.
i64 run(const ValuesAtRanksArguments& a) {
    Lane lane(a.lanes.columns);
    if (!lane.ok()) return NO_MEMORY;
    for (i64 k = 0; k < a.ranks.size; ++k) {
        if (a.ranks[k] < 0 || a.ranks[k] >= a.lanes.columns) return TOO_LARGE;
    }
    for (i64 i = 0; i < a.lanes.rows; ++i) lane.find(a.lanes.row(i), a.ranks, a.values.row(i));
    return DONE;
}

}  // namespace icefield
