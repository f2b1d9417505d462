// Values of given ranks in many short lanes, none of which is sorted; and the order of many numbers.

#include <math.h>

#include "abi.hpp"
#include "memory.hpp"
#include "selection.hpp"

namespace icefield {
namespace {

constexpr i64 CELLS = 1024, SAMPLE = 256;

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

struct Numbered {
    f64 value;
    i64 row;
};

// Sorted by quicksort, with what is short by insertion.
void sort_numbers(Numbered* numbers, i64 first, i64 last) {
    while (last - first > 24) {
        const f64 pivot = numbers[first + (last - first) / 2].value;
        i64 i = first, j = last;
        while (i <= j) {
            while (numbers[i].value < pivot) ++i;
            while (pivot < numbers[j].value) --j;
            if (i > j) break;
            const Numbered other = numbers[i];
            numbers[i++] = numbers[j];
            numbers[j--] = other;
        }
        // The shorter part first, so that few calls wait for each other.
        if (j - first < last - i) {
            sort_numbers(numbers, first, j);
            first = i;
        } else {
            sort_numbers(numbers, i, last);
            last = j;
        }
    }
    for (i64 i = first + 1; i <= last; ++i) {
        const Numbered moved = numbers[i];
        i64 at = i;
        for (; at > first && moved.value < numbers[at - 1].value; --at) numbers[at] = numbers[at - 1];
        numbers[at] = moved;
    }
}

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

// The rows in the order of their values, those that are not finite last; `is_last` says in that order where the next row has
// another value. Rows are laid out by cells, which are then sorted one by one: cells of equal width between what a few values
// are, and two for what is beyond.
i64 run(const OrderNumbersArguments& a) {
    const i64 rows = a.values.size, cells = rows / 8 + 1;
    Zeros<Numbered> numbers(rows);
    Zeros<i64> start(cells + 1);
    if (!numbers.ok() || !start.ok()) return NO_MEMORY;
    const f64* const values = a.values.data;
    Numbered some[SAMPLE];
    i64 n_some = 0;
    for (i64 i = 0; i < SAMPLE && i < rows; ++i) {
        const f64 value = values[rows < SAMPLE ? i : i * (rows / SAMPLE)];
        if (fabs(value) < HUGE_VAL) some[n_some++] = {value, 0};
    }
    sort_numbers(some, 0, n_some - 1);
    const f64 low = n_some > 0 ? some[n_some / 64].value : 0.0,
              high = n_some > 0 ? some[n_some - 1 - n_some / 64].value : 0.0;
    // Numbers that are all one, or too far apart for their distance, are in one cell.
    const f64 scale = static_cast<f64>(cells) / (high - low), width = scale < HUGE_VAL ? scale : 0.0;
    const auto cell = [&](f64 value) {
        const f64 place = (value - low) * width, last = static_cast<f64>(cells - 1);
        return place > 0.0 ? static_cast<i64>(place < last ? place : last) : 0;
    };
    for (i64 r = 0; r < rows; ++r) {
        if (fabs(values[r]) < HUGE_VAL) ++start[cell(values[r]) + 1];
    }
    for (i64 c = 0; c < cells; ++c) start[c + 1] += start[c];
    const i64 finite = start[cells];
    i64 beyond = finite;
    for (i64 r = 0; r < rows; ++r) {
        const bool is_finite = fabs(values[r]) < HUGE_VAL;
        numbers[is_finite ? start[cell(values[r])]++ : beyond++] = {is_finite ? values[r] : HUGE_VAL, r};
    }
    for (i64 c = 0, first = 0; c < cells; first = start[c++]) sort_numbers(numbers.data(), first, start[c] - 1);
    for (i64 i = 0; i < rows; ++i) {
        a.order[i] = numbers[i].row;
        a.is_last[i] = i + 1 == rows || numbers[i].value != numbers[i + 1].value;
    }
    a.finite[0] = finite;
    return DONE;
}

}  // namespace icefield
