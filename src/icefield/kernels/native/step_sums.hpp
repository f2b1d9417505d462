// From differences along a grid to sums over rows.
//
// A row's margin changes along a group's grid only where a leaf's run of points begins or ends. The link is taken at
// those steps only, and what is summed over rows are differences between neighbouring steps: cost does not depend on
// how many points a grid has. Steps of several rows or groups are linked together, so that exponentials come as
// vectors.
#pragma once

#include "abi.hpp"
#include "bits.hpp"
#include "links.hpp"
#include "memory.hpp"

namespace icefield {

class StepSums {
public:
    // For `rows` rows at a time.
    StepSums(const StepTotals& totals, i64 rows)
        : t_(totals), outputs_(totals.about.size), at_(1024), curves_(256), margins_(1024 * outputs_),
          own_(rows * outputs_) {}

    bool ok() const { return at_.ok() && curves_.ok() && margins_.ok() && own_.ok(); }

    // Rows from `first` on, with their own margins: adds their own predictions.
    void start(i64 first, i64 rows, const f64* margins) {
        first_ = first;
        const i64 n = rows * outputs_;
        for (i64 i = 0; i < n; ++i) own_[i] = margins[i];
        link(own_.data(), rows);
        for (i64 r = 0; r < rows; ++r) {
            const i64 segment = t_.segment[first + r];
            const f64 weight = t_.weight[first + r];
            for (i64 o = 0; o < outputs_; ++o) {
                const f64 own = own_[r * outputs_ + o];
                t_.own(segment, o, 0) += weight * own;
                t_.own(segment, o, 1) += weight * (own - t_.about[o]) * (own - t_.about[o]);
                if (t_.first.rows > 0) t_.first(first + r, o) = own;
            }
        }
    }

    // Memory for the steps of so many more curves along a group's grid; false where there is none.
    bool has_room(i64 group, i64 curves) {
        const i64 needed = n_steps_ + curves * t_.points[group] + 1;
        return at_.has_room(needed) && curves_.has_room(n_curves_ + curves) && margins_.has_room(needed * outputs_);
    }

    // The margins of row `row` of those after each step along a group's grid, for which there must be room;
    // `differences`, and the bits of `touched`, which begin where the group does, are left with no trace of the row.
    void gather(i64 row, i64 group, const f64* own, f64* differences, u64* touched) {
        const i64 last = t_.points[group], begin = t_.point_start[group];
        before_ = own;
        for (i64 w = 0; w * WORD <= last; ++w) {
            const u64 here = touched[w];
            if (here == 0) continue;
            touched[w] = 0;
            if (outputs_ == 1) {
                append<true>(here, w * WORD, last, begin, differences);
            } else {
                append<false>(here, w * WORD, last, begin, differences);
            }
        }
        curves_[n_curves_++] = {static_cast<i32>(row), static_cast<i32>(n_steps_)};
    }

    // Link the steps gathered and add what they change.
    void finish() {
        link(margins_.data(), n_steps_);
        for (i64 o = 0; o < outputs_; ++o) {
            if (t_.squares.columns > 0) {
                reduce<true>(o);
            } else {
                reduce<false>(o);
            }
        }
        if (t_.curves.columns > 0) keep();
        n_steps_ = n_curves_ = 0;
    }

private:
    // The steps of one row along one group's grid; they begin where those of the curve before end.
    struct Curve {
        i32 row;  // of those started
        i32 end;
    };

    // The steps at these places of a grid, each from the margins of the one before.
    template <bool single>
    void append(u64 places, i64 first, i64 last, i64 begin, f64* differences) {
        const i64 outputs = single ? 1 : outputs_;
        const f64* before = before_;
        f64* next = margins_.data() + n_steps_ * outputs;
        i32* at = at_.data() + n_steps_;
        for (; places != 0; places &= places - 1) {
            const i64 position = first + lowest(places);
            f64* change = differences + position * outputs;
            for (i64 o = 0; o < outputs; ++o) {
                next[o] = before[o] + change[o];
                change[o] = 0.0;
            }
            if (position == last) break;  // the end of the grid is no step
            *at++ = static_cast<i32>(begin + position);
            before = next;
            next += outputs;
        }
        before_ = before;
        n_steps_ = at - at_.data();
    }

    void link(f64* margin, i64 steps) const {
        if (t_.link == SOFTMAX) {
            softmax(margin, steps);
        } else {
            link_each(t_.link, t_.factor, margin, steps * outputs_);
        }
    }

    void softmax(f64* margins, i64 steps) const {
        for (f64* margin = margins; margin != margins + steps * outputs_; margin += outputs_) {
            f64 largest = margin[0];
            for (i64 o = 1; o < outputs_; ++o) largest = margin[o] > largest ? margin[o] : largest;
            for (i64 o = 0; o < outputs_; ++o) margin[o] -= largest;
        }
        for (i64 i = 0; i < steps * outputs_; ++i) margins[i] = exponential(margins[i]);
        for (f64* margin = margins; margin != margins + steps * outputs_; margin += outputs_) {
            f64 total = 0.0;
            for (i64 o = 0; o < outputs_; ++o) total += margin[o];
            for (i64 o = 0; o < outputs_; ++o) margin[o] /= total;
        }
    }

    template <bool squares>
    void reduce(i64 output) {
        const f64 about = 2.0 * t_.about[output];
        const f64* value = margins_.data() + output;
        i64 s = 0;
        for (i64 c = 0; c < n_curves_; ++c) {
            const Curve curve = curves_[c];
            const i64 segment = t_.segment[first_ + curve.row];
            const f64 weight = t_.weight[first_ + curve.row];
            f64* const sums = t_.sums.row(segment, output);
            f64* const about_mean = squares ? t_.squares.row(segment, output) : nullptr;
            f64 before = own_[curve.row * outputs_ + output];
            for (; s < curve.end; ++s) {
                const f64 now = value[s * outputs_];
                const f64 change = weight * (now - before);
                sums[at_[s]] += change;
                if constexpr (squares) about_mean[at_[s]] += change * (now + before - about);
                before = now;
            }
        }
    }

    // The steps of the rows' own curves.
    void keep() {
        i64 s = 0;
        for (i64 c = 0; c < n_curves_; ++c) {
            const Curve curve = curves_[c];
            const f64* before = own_.data() + curve.row * outputs_;
            for (; s < curve.end; ++s) {
                const f64* now = margins_.data() + s * outputs_;
                for (i64 o = 0; o < outputs_; ++o) t_.curves(first_ + curve.row, o, at_[s]) = now[o] - before[o];
                before = now;
            }
        }
    }

    const StepTotals& t_;
    i64 outputs_;
    Growing<i32> at_;
    Growing<Curve> curves_;
    Growing<f64> margins_;
    Zeros<f64> own_;
    i64 n_steps_ = 0, n_curves_ = 0, first_ = 0;
    const f64* before_ = nullptr;  // the margins that the next step starts from
};

}  // namespace icefield
