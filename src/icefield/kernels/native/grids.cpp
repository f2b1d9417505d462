// Regions of grids as runs of points, in terms of the points where any of them begins or ends; and curves from changes
// at those points.

#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

// The first point of each run of set bits, and the one after its last, in turns.
template <class See>
inline void each_edge(const u64* mask, i64 words, i64 size, See see) {
    u64 carry = 0;
    for (i64 w = 0; w < words; ++w) {
        const u64 word = mask[w];
        each_bit(word ^ (word << 1 | carry), w * WORD, see);
        carry = word >> 63;
    }
    // Where the last word is full, the end of its last run is no bit of it.
    if (carry != 0 && size % WORD == 0) see(size);
}

}  // namespace

// How many runs each region has, added up, and the points where any region of an axis has an edge.
i64 run(const CountRunsArguments& a) {
    const RegionsOfGrids& g = a.regions;
    i64 edges = 0;
    a.run_start[0] = 0;
    for (i64 axis = 0; axis < g.start.size; ++axis) {
        u8* const is_step = a.is_step.data + g.point_start[axis];
        const i64 size = g.point_start[axis + 1] - g.point_start[axis];
        for (i64 region = g.first[axis]; region < g.first[axis + 1]; ++region) {
            const u64* mask = g.masks.data + g.start[axis] + (region - g.first[axis]) * g.words[axis];
            each_edge(mask, g.words[axis], size, [&](i64 point) {
                if (point < size) is_step[point] = 1;
                ++edges;
            });
            a.run_start[region + 1] = edges / 2;
        }
    }
    return DONE;
}

// The runs themselves: their first step and the one after their last, counted from the axis's first, and whose they are.
i64 run(const FindRunsArguments& a) {
    const RegionsOfGrids& g = a.regions;
    if (!fits_i32(a.is_step.size)) return TOO_LARGE;
    Growing<i32> steps_before(1);
    if (!steps_before.ok()) return NO_MEMORY;
    i32* edge = a.runs.data;
    for (i64 axis = 0; axis < g.start.size; ++axis) {
        const u8* const is_step = a.is_step.data + g.point_start[axis];
        const i64 size = g.point_start[axis + 1] - g.point_start[axis];
        if (!steps_before.has_room(size + 1)) return NO_MEMORY;
        steps_before[0] = 0;
        for (i64 p = 0; p < size; ++p) steps_before[p + 1] = steps_before[p] + is_step[p];
        const i32* const first = edge;
        for (i64 region = g.first[axis]; region < g.first[axis + 1]; ++region) {
            const u64* mask = g.masks.data + g.start[axis] + (region - g.first[axis]) * g.words[axis];
            each_edge(mask, g.words[axis], size, [&](i64 point) { *edge++ = steps_before[point]; });
        }
        for (i64 run = (first - a.runs.data) / 2; run < (edge - a.runs.data) / 2; ++run) {
            a.run_axis[run] = static_cast<i32>(axis);
        }
    }
    return DONE;
}

// The curves of some rows on all axes, from their values before any step and their changes at the steps.
//
// An axis's curves lie together, ``(outputs, all rows, points)``; those of its points are in the caller's order.
i64 run(const UnfoldArguments& a) {
    const i64 outputs = a.changes.rows;
    for (i64 axis = 0; axis + 1 < a.point_start.size; ++axis) {
        const i64 begin = a.point_start[axis], size = a.point_start[axis + 1] - begin;
        const u8* const is_step = a.is_step.data + begin;
        const i32* const order = a.order.data + begin;
        f64* const curves = a.curves.data + outputs * a.rows * begin;
        for (i64 row = 0; row < a.changes.layers; ++row) {
            for (i64 o = 0; o < outputs; ++o) {
                const f64 first = a.first(row, o);
                const f64* change = a.changes.row(row, o) + a.step_start[axis];
                f64* const curve = curves + (o * a.rows + a.begin + row) * size;
                f64 changed = 0.0, value = first;
                for (i64 p = 0; p < size; ++p) {
                    if (is_step[p] != 0) {
                        changed += *change++;
                        value = first + changed;
                    }
                    curve[order[p]] = value;
                }
            }
        }
    }
    return DONE;
}

}  // namespace icefield
