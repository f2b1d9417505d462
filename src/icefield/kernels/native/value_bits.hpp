// From the values of a block of rows straight to the bits of its conditions.
#pragma once

#include <math.h>

#include "abi.hpp"
#include "bits.hpp"

namespace icefield {

// A column's bucket for a value; never decreases with x, so no rounding can lose a cut.
inline i32 bucket_of(f64 x, f64 low, f64 scale, f64 last) {
    const f64 place = (x - low) * scale;
    const f64 above = place > 0.0 ? place : 0.0;
    return static_cast<i32>(above < last ? above : last);
}

// Words whose values are held together: eight are a line of memory of every row of bits.
constexpr i64 AT_A_TIME = 8;
// Conditions of a column with which its values are compared as they are; of more, the values' codes are.
constexpr i64 FEW = 4;
// A code of one byte that is above that of every cut: the value is missing, or there is no row.
constexpr u8 NO_CODE = 255;

// What a block's values are held as while bits are made of them, and what stands where there is no row.
template <class V>
struct Held {
    using Type = f64;
    static constexpr f64 NONE = NAN;
};
template <>
struct Held<u8> {
    using Type = u8;
    static constexpr u8 NONE = NO_CODE;
};

// Which of 64 codes are at most a cut's.
inline u64 codes_at_most(const u8* codes, u8 limit) {
    u64 found = 0;
#if defined(__AVX512BW__)
    found = _mm512_cmple_epu8_mask(_mm512_loadu_si512(codes), _mm512_set1_epi8(static_cast<char>(limit)));
#elif defined(__AVX2__)
    const __m256i limits = _mm256_set1_epi8(static_cast<char>(limit));
    for (i64 r = 0; r < WORD; r += 32) {
        const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + r));
        const __m256i inside = _mm256_cmpeq_epi8(_mm256_min_epu8(own, limits), own);
        found |= static_cast<u64>(static_cast<unsigned>(_mm256_movemask_epi8(inside))) << r;
    }
#else
    for (i64 r = 0; r < WORD; ++r) found |= static_cast<u64>(codes[r] <= limit) << r;
#endif
    return found;
}

// The bits of one column's conditions for some words of values.
class ValueBits {
public:
    ValueBits(const ValueTables& tables, i64 v, const f64* values, const u64* here, i64 words)
        : a_(tables), v_(v), values_(values), words_(words) {
        const bool zeros = a_.zero_missing[v] != 0;
        for (i64 w = 0; w < words; ++w) {
            const f64* own = values + w * WORD;
            u64 found = ~at_most(own, HUGE_VAL);
            if (zeros) {
                for (i64 r = 0; r < WORD; ++r) found |= static_cast<u64>(fabs(own[r]) <= a_.zero_limit) << r;
            }
            missing_[w] = found & here[w];
            any_missing_ |= missing_[w];
            without_code_[w] = found;
        }
    }

    // The same from codes of one byte, which may be those of more cuts.
    ValueBits(const ValueTables& tables, i64 v, const u8* codes, const u64* here, i64 words)
        : a_(tables), v_(v), values_(nullptr), words_(words) {
        const u8* missing_of = a_.missing_of.row(v);
        const u8* code_of = a_.code_of.row(v);
        for (i64 w = 0; w < words; ++w) {
            const u8* own = codes + w * WORD;
            u8* found = codes_ + w * WORD;
            if (a_.as_coded[v] != 0) {
                for (i64 r = 0; r < WORD; ++r) found[r] = own[r];
                missing_[w] = ~codes_at_most(own, NO_CODE - 1) & here[w];
            } else {
                missing_[w] = 0;
                for (i64 r = 0; r < WORD; ++r) found[r] = code_of[own[r]];
                for (i64 r = 0; r < WORD; ++r) missing_[w] |= static_cast<u64>(missing_of[own[r]]) << r;
                missing_[w] &= here[w];
            }
            any_missing_ |= missing_[w];
        }
    }

    // Write them from a word on; where they were found, so that they need not go through memory.
    inline __attribute__((always_inline)) void write(const Table<u64>& bits, i64 first_word) {
        if (a_.is_set[v_] != 0) {
            if (values_ != nullptr) find_codes();
            write_sets(bits, first_word);
        } else if (values_ != nullptr && a_.row_start[v_ + 1] - a_.row_start[v_] <= FEW) {
            each_cut(bits, first_word,
                     [&](i64 cut, i64 w) { return at_most(values_ + w * WORD, cuts()[cut]) & ~without_code_[w]; });
        } else {
            if (values_ != nullptr) find_codes();
            each_cut(bits, first_word,
                     [&](i64 cut, i64 w) { return codes_at_most(codes_ + w * WORD, static_cast<u8>(cut)); });
        }
    }

private:
    const f64* cuts() const { return a_.cuts.data + a_.cut_start[v_]; }

    // As `encode_column`, in bytes.
    inline __attribute__((always_inline)) void find_codes() {
        const f64 last = static_cast<f64>(a_.bucket_start.columns - 2);
        const f64 low = a_.low[v_], scale = a_.scale[v_];
        const f64* cut = cuts();
        const i32* bucket_start = a_.bucket_start.row(v_);
        for (i64 w = 0; w < words_; ++w) {
            const f64* own = values_ + w * WORD;
            i32 at[WORD];
            for (i64 r = 0; r < WORD; ++r) at[r] = bucket_start[bucket_of(own[r], low, scale, last)];
            for (i32 step = 1 << a_.steps[v_] >> 1; step > 0; step >>= 1) {
                for (i64 r = 0; r < WORD; ++r) at[r] += cut[at[r] + step - 1] < own[r] ? step : 0;
            }
            u8* codes = codes_ + w * WORD;
            for (i64 r = 0; r < WORD; ++r) codes[r] = static_cast<u8>(at[r]);
            if (a_.is_set[v_] != 0) {
                for (i64 r = 0; r < WORD; ++r) codes[r] = cut[at[r]] == own[r] ? codes[r] : NO_CODE;
            }
            each_bit(without_code_[w], 0, [&](i64 r) { codes[r] = NO_CODE; });
        }
    }

    // The rows of every category first; a set's are those of its members.
    void write_sets(const Table<u64>& all, i64 first_word) const {
        u64 rows[NO_CODE + 1][AT_A_TIME];
        const i64 categories = a_.code_start[v_ + 1] - a_.code_start[v_] - 1;
        const auto clear_rows = [&](i64 c) {
            for (i64 w = 0; w < AT_A_TIME; ++w) rows[c][w] = 0;
        };
        for (i64 c = 0; c < categories; ++c) clear_rows(c);
        clear_rows(NO_CODE);  // of none
        for (i64 p = 0; p < words_ * WORD; ++p) rows[codes_[p]][p / WORD] |= u64{1} << p % WORD;
        for (i64 row = a_.row_start[v_]; row < a_.row_start[v_ + 1]; ++row) {
            u64* bits = all.row(row) + first_word;
            u64 found[AT_A_TIME];
            for (i64 w = 0; w < AT_A_TIME; ++w)
                found[w] = a_.row_missing_left[row] != 0 && w < words_ ? missing_[w] : 0;
            for (i64 m = a_.member_start[row]; m < a_.member_start[row + 1]; ++m) {
                for (i64 w = 0; w < AT_A_TIME; ++w) found[w] |= rows[a_.members[m]][w];
            }
            for (i64 w = 0; w < words_; ++w) bits[w] = found[w];
        }
    }

    // `below(cut, word)` gives the rows whose value is there and at most a cut.
    template <class Below>
    void each_cut(const Table<u64>& all, i64 first_word, Below below) const {
        const i32* code_row = a_.code_row.data + a_.code_start[v_];
        const i64 end = a_.row_start[v_ + 1], codes = a_.code_start[v_ + 1] - a_.code_start[v_];
        // A cut's conditions differ in where missing values go.
        for (i64 c = 0; c + 1 < codes && code_row[c] >= 0; ++c) {
            const i64 last = code_row[c + 1] >= 0 ? code_row[c + 1] : end;
            for (i64 row = code_row[c]; row < last; ++row) {
                u64* bits = all.row(row) + first_word;
                if (words_ == AT_A_TIME) {
                    for (i64 w = 0; w < AT_A_TIME; ++w) bits[w] = below(c, w);
                } else {
                    for (i64 w = 0; w < words_; ++w) bits[w] = below(c, w);
                }
                if (any_missing_ == 0 || a_.row_missing_left[row] == 0) continue;
                for (i64 w = 0; w < words_; ++w) bits[w] |= missing_[w];
            }
        }
    }

    const ValueTables& a_;
    const i64 v_;
    const f64* values_;
    const i64 words_;
    u64 any_missing_ = 0;
    u64 missing_[AT_A_TIME];
    u64 without_code_[AT_A_TIME];  // missing, or no row
    u8 codes_[AT_A_TIME * WORD];
};

// The bits of all chosen columns for some words of rows, from `first_word` on; `here` says where there is one.
// `read(first, size, source, values)` gives the values, or codes, of rows from one on in a column of the matrix.
template <class H, class Read>
void pack_words(const ValueTables& tables, const Table<u64>& bits, i64 first_word, i64 words, const u64* here,
                Read read) {
    H values[AT_A_TIME * WORD] = {};
    for (i64 word = 0; word < words; word += AT_A_TIME) {
        const i64 some = words - word < AT_A_TIME ? words - word : AT_A_TIME;
        for (i64 k = 0; k < tables.chosen.size; ++k) {
            const i64 v = tables.chosen[k];
            if (tables.row_start[v] == tables.row_start[v + 1]) continue;
            read(word * WORD, some * WORD, tables.column[v], values);
            ValueBits(tables, v, values, here + word, some).write(bits, first_word + word);
        }
    }
}

// A word whose first bits are set.
inline u64 first_bits(i64 count) { return count >= WORD ? ~u64{0} : count <= 0 ? 0 : (u64{1} << count) - 1; }

// Ask for the memory of some rows that are needed soon, where they are few lines.
template <class T>
void fetch(const Strided<const T>& matrix, i64 begin, i64 end) {
    constexpr i64 LINE = 64 / sizeof(T), MOST = 2 * 1024;
    const i64 size = (end - begin) * matrix.row_stride;
    if (matrix.column_stride != 1 || matrix.row_stride < matrix.columns || size > MOST * LINE) return;
    const T* first = matrix.data + begin * matrix.row_stride;
    for (i64 i = 0; i < size; i += LINE) __builtin_prefetch(first + i, 0, 2);
}

// The same for `n` rows of a matrix from `begin` on, in their order.
template <class V>
void pack_in_order(const Strided<const V>& matrix, const ValueTables& tables, i64 begin, i64 n, const Table<u64>& bits,
                   i64 first_word, i64 words) {
    using H = typename Held<V>::Type;
    u64 here[AT_A_TIME];
    for (i64 word = 0; word < words; word += AT_A_TIME) {
        const i64 some = words - word < AT_A_TIME ? words - word : AT_A_TIME, start = word * WORD;
        for (i64 w = 0; w < some; ++w) here[w] = first_bits(n - start - w * WORD);
        const i64 soon = begin + start + AT_A_TIME * WORD, later = soon + AT_A_TIME * WORD;
        if (soon < matrix.rows) fetch(matrix, soon, later < matrix.rows ? later : matrix.rows);
        pack_words<H>(tables, bits, first_word + word, some, here, [&](i64, i64 size, i64 source, H* values) {
            const i64 there = n - start < 0 ? 0 : n - start < size ? n - start : size;
            for (i64 p = 0; p < there; ++p) values[p] = static_cast<H>(matrix(begin + start + p, source));
            for (i64 p = there; p < size; ++p) values[p] = Held<V>::NONE;
        });
    }
}

// Pack what moves of the same rows, in one of so many moves, over what is there.
inline void pack_move(const Moves& moves, const ValueTables& tables, i64 move, i64 n_moves, i64 begin, i64 n,
                      const Table<u64>& bits) {
    if (moves.chosen.size == 0) return;
    ValueTables own = tables;
    own.chosen = moves.chosen;
    own.column = moves.column;
    Strided<const f64> values = moves.values;
    values.columns /= n_moves;
    values.data += move * values.columns * values.column_stride;
    pack_in_order(values, own, begin, n, bits, 0, (n + WORD - 1) / WORD);
}

}  // namespace icefield
