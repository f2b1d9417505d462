// A leaf's region of one axis is a mask over its grid points: where its runs begin and end.
#pragma once

#include "bits.hpp"

namespace icefield {

// Begin (+1) and end (-1) of each run of set bits of a mask; an end at `size` is left out.
inline i64 runs_of(const u64* mask, i64 words, i64 size, i64* at, f64* sign) {
    i64 found = 0;
    u64 carry = 0;
    for (i64 w = 0; w < words; ++w) {
        const u64 word = mask[w];
        u64 edges = word ^ ((word << 1) | carry);
        carry = word >> 63;
        while (edges != 0) {
            const i64 bit = lowest(edges);
            edges &= edges - 1;
            if (w * WORD + bit < size) {
                at[found] = w * WORD + bit;
                sign[found] = (word >> bit) & 1 ? 1.0 : -1.0;
                ++found;
            }
        }
    }
    return found;
}

// Every set bit of a mask, as an update of its own.
inline i64 points_of(const u64* mask, i64 words, i64* at, f64* sign) {
    i64 found = 0;
    for (i64 w = 0; w < words; ++w) {
        each_bit(mask[w], w * WORD, [&](i64 place) {
            at[found] = place;
            sign[found] = 1.0;
            ++found;
        });
    }
    return found;
}

}  // namespace icefield
