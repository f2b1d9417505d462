// Average curves (PD) on the product grid of some axes, from leaves' regions and the share of rows that reach them.
//
// Regions become *updates*: plus where a run of grid points begins, minus where it ends, so that summing
// along the grid afterwards fills the runs. Cost follows the number of runs (one, for a number), not of
// grid points. One-way and all-pair questions go through families.cpp instead.

#include "abi.hpp"
#include "memory.hpp"
#include "regions.hpp"

namespace icefield {
namespace {

// One leaf's updates along each axis. The last two axes are summed along afterwards, the others are not:
// there every reached point is an update.
class LeafUpdates {
public:
    explicit LeafUpdates(const RegionsOfAxes& regions)
        : regions_(regions), axes_(regions.size.size), width_(widest(regions) + 1), at_(axes_ * width_),
          sign_(axes_ * width_), found_(axes_), index_(axes_) {}

    bool ok() const { return at_.ok() && sign_.ok() && found_.ok() && index_.ok(); }

    // Find a leaf's updates from its path; returns how many the product of the axes has.
    i64 find(const i32* group, const i32* region, i64 length) {
        for (i64 axis = 0; axis < axes_; ++axis) found_[axis] = -1;
        for (i64 i = 0; i < length; ++i) {
            const i64 axis = group[i], words = regions_.words[axis];
            const u64* mask = regions_.masks.data + regions_.start[axis] + regions_.rank[region[i]] * words;
            i64* at = at_.data() + axis * width_;
            f64* sign = sign_.data() + axis * width_;
            found_[axis] = is_summed(axis) ? runs_of(mask, words, regions_.size[axis], at, sign)
                                           : points_of(mask, words, at, sign);
        }
        i64 combined = 1;
        for (i64 axis = 0; axis < axes_; ++axis) {
            if (found_[axis] < 0) reach_everywhere(axis);
            combined *= found_[axis];
        }
        return combined;
    }

    // Write the product of what was found along the axes.
    void write(i64 combined, i32* place, f64* sign) {
        for (i64 axis = 0; axis < axes_; ++axis) index_[axis] = 0;
        for (i64 u = 0; u < combined; ++u) {
            i64 flat = 0;
            f64 product = 1.0;
            for (i64 axis = 0; axis < axes_; ++axis) {
                flat = flat * regions_.size[axis] + at_[axis * width_ + index_[axis]];
                product *= sign_[axis * width_ + index_[axis]];
            }
            place[u] = static_cast<i32>(flat);
            sign[u] = product;
            for (i64 axis = axes_ - 1; axis >= 0; --axis) {
                if (++index_[axis] < found_[axis]) break;
                index_[axis] = 0;
            }
        }
    }

private:
    static i64 widest(const RegionsOfAxes& regions) {
        i64 width = 1;
        for (i64 axis = 0; axis < regions.size.size; ++axis) {
            if (regions.size[axis] > width) width = regions.size[axis];
        }
        return width;
    }

    bool is_summed(i64 axis) const { return axis >= axes_ - 2; }

    // An axis that is not on the leaf's path.
    void reach_everywhere(i64 axis) {
        found_[axis] = is_summed(axis) ? 1 : regions_.size[axis];
        for (i64 k = 0; k < found_[axis]; ++k) {
            at_[axis * width_ + k] = k;
            sign_[axis * width_ + k] = 1.0;
        }
    }

    const RegionsOfAxes& regions_;
    const i64 axes_;
    const i64 width_;
    Zeros<i64> at_;
    Zeros<f64> sign_;
    Zeros<i64> found_;
    Zeros<i64> index_;
};

// Whether the points of the product grid of all axes can be numbered with 32 bits.
bool grid_fits(const RegionsOfAxes& regions) {
    i64 points = 1;
    for (i64 axis = 0; axis < regions.size.size; ++axis) {
        if (__builtin_mul_overflow(points, regions.size[axis], &points) || !fits_i32(points)) return false;
    }
    return true;
}

}  // namespace

// How many updates each leaf has on the product grid of all axes (axis a moves group a).
i64 run(const CountUpdatesArguments& a) {
    if (!grid_fits(a.regions)) return TOO_LARGE;
    LeafUpdates updates(a.regions);
    if (!updates.ok()) return NO_MEMORY;
    i64 total = 0;
    for (i64 leaf = 0; leaf < a.path_start.size - 1; ++leaf) {
        const i64 first = a.path_start[leaf];
        a.update_start[leaf] = total;
        total += updates.find(a.path_group.data + first, a.path_region.data + first, a.path_start[leaf + 1] - first);
    }
    a.update_start[a.path_start.size - 1] = total;
    return DONE;
}

// Each leaf's updates: their places on the product grid and their signs.
i64 run(const FindUpdatesArguments& a) {
    if (!grid_fits(a.regions)) return TOO_LARGE;
    LeafUpdates updates(a.regions);
    if (!updates.ok()) return NO_MEMORY;
    for (i64 leaf = 0; leaf < a.path_start.size - 1; ++leaf) {
        const i64 first = a.path_start[leaf], start = a.update_start[leaf];
        const i64 combined =
            updates.find(a.path_group.data + first, a.path_region.data + first, a.path_start[leaf + 1] - first);
        updates.write(combined, a.update_at.data + start, a.update_sign.data + start);
    }
    return DONE;
}

// Add every leaf, by its share of the rows, to the differences.
i64 run(const AddJointArguments& a) {
    for (i64 leaf = 0; leaf < a.share.size; ++leaf) {
        const i64 output = a.leaves.output[leaf];
        for (i64 u = a.update_start[leaf]; u < a.update_start[leaf + 1]; ++u) {
            const f64 amount = a.update_sign[u] * a.share[leaf];
            if (output >= 0) {
                a.differences(output, a.update_at[u]) += amount * a.leaves.value(leaf, 0);
            } else {
                for (i64 o = 0; o < a.leaves.value.columns; ++o) {
                    a.differences(o, a.update_at[u]) += amount * a.leaves.value(leaf, o);
                }
            }
        }
    }
    return DONE;
}

}  // namespace icefield
