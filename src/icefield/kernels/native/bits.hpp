// Words of 64 rows: the operations masks are made of.
#pragma once

#include "arrays.hpp"

namespace icefield {

constexpr i64 WORD = 64;

inline i64 lowest(u64 word) { return __builtin_ctzll(word); }
inline i64 popcount(u64 word) { return __builtin_popcountll(word); }

// All ones where a condition is negated, which is the lowest bit of its number in a program.
inline u64 flip_of(i64 condition) { return u64{0} - static_cast<u64>(condition & 1); }

inline void set_bit(u64* mask, i64 position) { mask[position >> 6] |= u64{1} << (position & 63); }

// `visit(row)` for each set bit of one word of a mask.
template <class Visit>
inline void each_bit(u64 word, i64 first_row, Visit visit) {
    while (word != 0) {
        visit(first_row + lowest(word));
        word &= word - 1;
    }
}

inline void narrow(const u64* __restrict source, const u64* __restrict test, u64 flip, i64 words,
                   u64* __restrict target) {
    for (i64 w = 0; w < words; ++w) target[w] = source[w] & (test[w] ^ flip);
}

// The same, and how many rows are left.
inline i64 narrow_and_count(const u64* __restrict source, const u64* __restrict test, u64 flip, i64 words,
                            u64* __restrict target) {
    i64 alive = 0;
    for (i64 w = 0; w < words; ++w) {
        const u64 both = source[w] & (test[w] ^ flip);
        target[w] = both;
        alive += popcount(both);
    }
    return alive;
}

// Only how many rows would be left.
inline i64 count_of(const u64* __restrict source, const u64* __restrict test, u64 flip, i64 words) {
    i64 alive = 0;
    for (i64 w = 0; w < words; ++w) alive += popcount(source[w] & (test[w] ^ flip));
    return alive;
}

}  // namespace icefield
