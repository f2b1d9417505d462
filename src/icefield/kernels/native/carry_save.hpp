// Counting bits of 256-bit vectors where no instruction does: carry-save adders take in eight vectors before the
// bits of one are counted (the Harley-Seal way).
#pragma once

#include "arrays.hpp"

#if defined(__AVX2__)

#include <immintrin.h>

namespace icefield {

class CarrySave {
public:
    static constexpr i64 WORDS = 32;  // taken in at once: eight vectors of four

    // Take in the words of a mask that meet a condition; with `stores` they are written as well.
    template <bool stores>
    void add(const u64* source, const u64* test, u64 flip, u64* target) {
        const __m256i flips = _mm256_set1_epi64x(static_cast<long long>(flip));
        const auto next = [&](i64 k) {
            const __m256i both =
                _mm256_and_si256(loaded(source + 4 * k), _mm256_xor_si256(loaded(test + 4 * k), flips));
            if constexpr (stores) _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + 4 * k), both);
            return both;
        };
        const __m256i twos_a = carry(ones_, next(0), next(1)), twos_b = carry(ones_, next(2), next(3));
        const __m256i fours_a = carry(twos_, twos_a, twos_b);
        const __m256i twos_c = carry(ones_, next(4), next(5)), twos_d = carry(ones_, next(6), next(7));
        const __m256i fours_b = carry(twos_, twos_c, twos_d);
        eights_ = _mm256_add_epi64(eights_, counted(carry(fours_, fours_a, fours_b)));
    }

    // How many bits were set in all.
    i64 total() const {
        return 8 * summed(eights_) + 4 * summed(counted(fours_)) + 2 * summed(counted(twos_)) + summed(counted(ones_));
    }

private:
    static __m256i loaded(const u64* words) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)); }

    // Adds two vectors to a sum, bit by bit; returns what is carried.
    static __m256i carry(__m256i& sum, __m256i a, __m256i b) {
        const __m256i differ = _mm256_xor_si256(sum, a);
        const __m256i carried = _mm256_or_si256(_mm256_and_si256(sum, a), _mm256_and_si256(differ, b));
        sum = _mm256_xor_si256(differ, b);
        return carried;
    }

    // Set bits of each 64-bit lane, by looking up half bytes.
    static __m256i counted(__m256i bits) {
        const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                               0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i low = _mm256_set1_epi8(15);
        const __m256i of_low = _mm256_shuffle_epi8(table, _mm256_and_si256(bits, low));
        const __m256i of_high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low));
        return _mm256_sad_epu8(_mm256_add_epi8(of_low, of_high), _mm256_setzero_si256());
    }

    static i64 summed(__m256i lanes) {
        return _mm256_extract_epi64(lanes, 0) + _mm256_extract_epi64(lanes, 1) + _mm256_extract_epi64(lanes, 2) +
               _mm256_extract_epi64(lanes, 3);
    }

    __m256i ones_ = _mm256_setzero_si256();
    __m256i twos_ = _mm256_setzero_si256();
    __m256i fours_ = _mm256_setzero_si256();
    __m256i eights_ = _mm256_setzero_si256();
};

}  // namespace icefield

#endif
