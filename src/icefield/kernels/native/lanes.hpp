// Numbers of 64 rows side by side, and what is done to those of a mask.
#pragma once

#include "bits.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace icefield {

// Compilers make of it what their level has: one register, or several.
typedef f64 Eight __attribute__((vector_size(64), aligned(8), may_alias));
constexpr i64 EIGHTS = WORD / 8;

inline Eight& eight(f64* values, i64 number) { return reinterpret_cast<Eight*>(values)[number]; }
inline const Eight& eight(const f64* values, i64 number) { return reinterpret_cast<const Eight*>(values)[number]; }

inline f64 total(const Eight& v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

#if defined(__AVX512F__)

struct Multiplied {
    static f64 of(f64 a, f64 b) { return a * b; }
    static __m512d of(__m512d a, __mmask8 rows, __m512d b) { return _mm512_mask_mul_pd(a, rows, a, b); }
};

struct Added {
    static f64 of(f64 a, f64 b) { return a + b; }
    static __m512d of(__m512d a, __mmask8 rows, __m512d b) { return _mm512_mask_add_pd(a, rows, a, b); }
};

// 64 rows' numbers, in registers while some of them change.
template <class Change>
class Lanes {
public:
    explicit Lanes(const f64* from) {
        for (i64 i = 0; i < EIGHTS; ++i) of_[i] = _mm512_loadu_pd(from + 8 * i);
    }
    void store(f64* to) const {
        for (i64 i = 0; i < EIGHTS; ++i) _mm512_storeu_pd(to + 8 * i, of_[i]);
    }
    void change(u64 rows, f64 by) {
        const __m512d all = _mm512_set1_pd(by);
        for (i64 i = 0; i < EIGHTS; ++i) of_[i] = Change::of(of_[i], static_cast<__mmask8>(rows >> (8 * i)), all);
    }

private:
    __m512d of_[EIGHTS];
};

// Change those of some numbers, eights of them, that a mask has.
template <class Change>
inline void change_some(f64* values, u64 which, f64 by, i64 eights) {
    const __m512d all = _mm512_set1_pd(by);
    for (i64 i = 0; i < eights; ++i, values += 8, which >>= 8) {
        _mm512_storeu_pd(values, Change::of(_mm512_loadu_pd(values), static_cast<__mmask8>(which), all));
    }
}

#else

struct Multiplied {
    static constexpr f64 NOTHING = 1.0;
    template <class Vector>
    static Vector of(Vector a, Vector b) {
        return a * b;
    }
};

struct Added {
    static constexpr f64 NOTHING = 0.0;
    template <class Vector>
    static Vector of(Vector a, Vector b) {
        return a + b;
    }
};

#if defined(__AVX2__)
constexpr i64 SIDE_BY_SIDE = 4;
#else
constexpr i64 SIDE_BY_SIDE = 2;
#endif

// By set of rows side by side, ones where a row is of it.
struct Sets {
    alignas(32) u64 of[1 << SIDE_BY_SIDE][SIDE_BY_SIDE] = {};
    constexpr Sets() {
        for (i64 set = 0; set < 1 << SIDE_BY_SIDE; ++set) {
            for (i64 row = 0; row < SIDE_BY_SIDE; ++row) of[set][row] = u64{0} - (static_cast<u64>(set) >> row & 1);
        }
    }
};
constexpr Sets SETS;

typedef f64 Side __attribute__((vector_size(8 * SIDE_BY_SIDE), aligned(8), may_alias));
typedef u64 SideBits __attribute__((vector_size(8 * SIDE_BY_SIDE), aligned(8), may_alias));

// Without vectors that know masks, rows are changed by a number that does nothing where it should not.
template <class Change>
class ChangeBy {
public:
    explicit ChangeBy(f64 by)
        : nothing_(SideBits(Side{} + Change::NOTHING)), either_(nothing_ ^ SideBits(Side{} + by)) {}

    // Those of the lowest rows of a mask.
    Side of(Side values, u64 rows) const {
        const u64* set = SETS.of[rows & ((1 << SIDE_BY_SIDE) - 1)];
        return Change::of(values, Side(nothing_ ^ (either_ & *reinterpret_cast<const SideBits*>(set))));
    }

private:
    SideBits nothing_, either_;
};

template <class Change>
class Lanes {
public:
    explicit Lanes(const f64* from) {
        for (i64 i = 0; i < VECTORS; ++i) of_[i] = reinterpret_cast<const Side*>(from)[i];
    }
    void store(f64* to) const {
        for (i64 i = 0; i < VECTORS; ++i) reinterpret_cast<Side*>(to)[i] = of_[i];
    }
    void change(u64 rows, f64 by) {
        const ChangeBy<Change> changed(by);
        for (i64 i = 0; i < VECTORS; ++i) of_[i] = changed.of(of_[i], rows >> (SIDE_BY_SIDE * i));
    }

private:
    static constexpr i64 VECTORS = WORD / SIDE_BY_SIDE;
    Side of_[VECTORS];
};

// Change those of some numbers, eights of them, that a mask has.
template <class Change>
inline void change_some(f64* values, u64 which, f64 by, i64 eights) {
    const ChangeBy<Change> changed(by);
    Side* const sides = reinterpret_cast<Side*>(values);
    for (i64 i = 0; i < eights * 8 / SIDE_BY_SIDE; ++i, which >>= SIDE_BY_SIDE) sides[i] = changed.of(sides[i], which);
}

#endif

// --- numbers of 64 rows in memory, of which few change at a time ---------------------------------------------------

// Room for 64 rows' numbers, and for those of no row that are added to in vain.
constexpr i64 ROW_SUMS = WORD + 8;
constexpr i64 FEW_ROWS = 4;  // that are changed without asking whether there are as many

// Up to how many rows each is changed by itself.
#if defined(__AVX512F__)
constexpr i64 ONE_BY_ONE = FEW_ROWS;
#elif defined(__AVX2__)
constexpr i64 ONE_BY_ONE = 8;
#else
constexpr i64 ONE_BY_ONE = 20;
#endif

// Add a number to those of a mask's rows, at least one.
inline void add_to_rows(f64* sums, u64 rows, f64 by) {
    const i64 number = popcount(rows);
    if (number <= FEW_ROWS) {
        sums[lowest(rows)] += by;
        for (i64 i = 1; i < FEW_ROWS; ++i) {
            rows &= rows - 1;
            sums[rows == 0 ? WORD + i : lowest(rows)] += by;
        }
        return;
    }
    if (number <= ONE_BY_ONE) {
        each_bit(rows, 0, [&](i64 row) { sums[row] += by; });
        return;
    }
    Lanes<Added> lanes(sums);
    lanes.change(rows, by);
    lanes.store(sums);
}

}  // namespace icefield
