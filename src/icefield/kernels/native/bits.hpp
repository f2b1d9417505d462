// Words of 64 rows: the operations masks are made of.
#pragma once

#include "arrays.hpp"
#include "carry_save.hpp"

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

// Which of 64 values are at most a limit; none that is no number.
inline u64 at_most(const f64* values, f64 limit) {
    u64 found = 0;
#if defined(__AVX512F__)
    const __m512d limits = _mm512_set1_pd(limit);
    for (i64 r = 0; r < WORD; r += 8) {
        found |= static_cast<u64>(_mm512_cmp_pd_mask(_mm512_loadu_pd(values + r), limits, _CMP_LE_OQ)) << r;
    }
#elif defined(__AVX2__)
    const __m256d limits = _mm256_set1_pd(limit);
    for (i64 r = 0; r < WORD; r += 4) {
        const __m256d inside = _mm256_cmp_pd(_mm256_loadu_pd(values + r), limits, _CMP_LE_OQ);
        found |= static_cast<u64>(_mm256_movemask_pd(inside)) << r;
    }
#else
    for (i64 r = 0; r < WORD; ++r) found |= static_cast<u64>(values[r] <= limit) << r;
#endif
    return found;
}

constexpr i64 AT_ONCE = 4;

// The positions of a word's set bits, counted from `first_row`; returns how many there are. Writes up to
// AT_ONCE - 1 more than that.
inline i64 positions_of(u64 word, i64 first_row, i32* positions) {
    const i64 count = popcount(word);
    // Several at a time without asking whether they are there: a wrong guess of a branch costs more.
    i64 k = 0;
    do {
        for (i64 ahead = 0; ahead < AT_ONCE; ++ahead) {
            positions[k + ahead] = static_cast<i32>(first_row + lowest(word | u64{1} << 63));
            word &= word - 1;
        }
        k += AT_ONCE;
    } while (k < count);
    return count;
}

inline void narrow(const u64* __restrict source, const u64* __restrict test, u64 flip, i64 words,
                   u64* __restrict target) {
    for (i64 w = 0; w < words; ++w) target[w] = source[w] & (test[w] ^ flip);
}

// The same, and how many rows are left; without `stores` only that.
template <bool stores>
inline i64 narrow_and_count_words(const u64* __restrict source, const u64* __restrict test, u64 flip, i64 words,
                                  u64* __restrict target) {
    i64 alive = 0;
    for (i64 w = 0; w < words; ++w) {
        const u64 both = source[w] & (test[w] ^ flip);
        if constexpr (stores) target[w] = both;
        alive += popcount(both);
    }
    return alive;
}

#if defined(__AVX2__) && !defined(__AVX512VPOPCNTDQ__)

template <bool stores>
inline i64 narrow_and_count(const u64* source, const u64* test, u64 flip, i64 words, u64* target) {
    const i64 whole = words / CarrySave::WORDS * CarrySave::WORDS;
    CarrySave sum;
    for (i64 w = 0; w < whole; w += CarrySave::WORDS) {
        sum.add<stores>(source + w, test + w, flip, stores ? target + w : nullptr);
    }
    return sum.total() + narrow_and_count_words<stores>(source + whole, test + whole, flip, words - whole,
                                                        stores ? target + whole : nullptr);
}

#else

// With an instruction that counts the bits of whole vectors, or with none, the compiler's own way is best.
template <bool stores>
inline i64 narrow_and_count(const u64* source, const u64* test, u64 flip, i64 words, u64* target) {
    return narrow_and_count_words<stores>(source, test, flip, words, target);
}

#endif

}  // namespace icefield
