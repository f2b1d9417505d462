// Running a leaf-visiting program in which nothing moves: every row's own prediction.
//
// A row then reaches one leaf of every tree. The number of that leaf among the tree's is collected for all rows at
// once, a bit at a time, in as many masks as it has digits; it is turned into one byte a row when the tree ends, and
// the leaf's value is looked up. So a leaf costs a few operations on words of 64 rows, however few rows it has.

#include <string.h>

#include "abi.hpp"
#include "memory.hpp"
#include "programs.hpp"
#include "value_bits.hpp"

namespace icefield {
namespace {

constexpr i64 MOST_DIGITS = 8;  // of a leaf's number: MOST_NUMBERED has as many

// Eight bits of a word as eight bytes that are 0 or 1, the lowest first.
inline u64 bytes_of(u64 eight) {
    // Every byte gets all bits and keeps its own, which the addition carries to its highest place.
    const u64 own = (eight * 0x0101010101010101) & 0x8040201008040201;
    return ((own + 0x00406070787c7e7f) >> 7) & 0x0101010101010101;
}

#if defined(__AVX512BW__)

constexpr i64 LANES = 8;

// Up to 8 * `registers` values, looked up by permuting registers: gathering them from memory takes several times as long.
template <i64 registers>
class Held {
public:
    Held(const f64* values, i64 n) {
        for (i64 i = 0; i < registers; ++i) {
            const i64 left = n - i * LANES;
            const __mmask8 there = left >= LANES ? 255 : left > 0 ? (1 << left) - 1 : 0;
            held_[i] = _mm512_maskz_loadu_pd(there, values + (left > 0 ? i * LANES : 0));
        }
    }

    __m512d at(__m512i number) const {
        if constexpr (registers == 1) {
            return _mm512_permutexvar_pd(number, held_[0]);
        } else {
            return among(number, 0, registers);
        }
    }

private:
    // Those held in `n` registers from one on: halves are told apart by a digit.
    __m512d among(__m512i number, i64 from, i64 n) const {
        if (n == 2) return _mm512_permutex2var_pd(held_[from], number, held_[from + 1]);
        const __mmask8 upper = _mm512_test_epi64_mask(number, _mm512_set1_epi64(n * LANES / 2));
        return _mm512_mask_blend_pd(upper, among(number, from, n / 2), among(number, from + n / 2, n / 2));
    }

    __m512d held_[registers];
};

#endif

class LeafNumbers {
public:
    explicit LeafNumbers(const AddPredictionsArguments& arguments)
        : a_(arguments), words_(arguments.walk.buffers.columns), digits_(MOST_DIGITS * words_), here_(words_) {}

    bool ok() const { return digits_.ok() && here_.ok(); }

    void add(i64 leaf, RowSet rows) {
        while (leaf >= a_.tree_start[tree_ + 1]) ++tree_;
        const i64 first = a_.tree_start[tree_], leaves = a_.tree_start[tree_ + 1] - first;
        if (a_.leaf_by_leaf[tree_]) {
            const i64 reached = rows.list();
            for (i64 k = 0; k < reached; ++k) add_row(leaf, rows.listed(k));
            return;
        }
        const i64 number = leaf - first;
        if (number > 0) {
            for (i64 w = 0; w < words_; ++w) here_[w] = rows[w];
        }
        for (i64 digit = 0; number >> digit != 0; ++digit) {
            if ((number >> digit & 1) == 0) continue;
            u64* mask = digits_.data() + digit * words_;
            for (i64 w = 0; w < words_; ++w) mask[w] |= here_[w];
        }
        if (number == leaves - 1) look_up(first, leaves);
    }

    void add_row(i64 leaf, i64 row) const {
        const i64 output = a_.leaves.output[leaf];
        if (output >= 0) {
            a_.out(output, row) += a_.leaves.value(leaf, 0);
            return;
        }
        for (i64 o = 0; o < a_.leaves.value.columns; ++o) a_.out(o, row) += a_.leaves.value(leaf, o);
    }

private:
    // Add the values of the leaves whose numbers were collected, and forget these.
    void look_up(i64 first, i64 leaves) {
        i64 n_digits = 0;
        while ((leaves - 1) >> n_digits != 0) ++n_digits;
        const i64 output = a_.leaves.output[first], width = a_.leaves.value.columns, n_rows = a_.out.columns;
        const f64* values = a_.leaves.value.row(first);
        i64 w = 0;
#if defined(__AVX512BW__)
        if (output >= 0 && n_digits <= 6) {
            f64* out = a_.out.row(output);
            const i64 whole = n_rows / WORD;
            if (n_digits <= 3) {
                look_up_held<1>(values, leaves, n_digits, whole, out);
            } else if (n_digits == 4) {
                look_up_held<2>(values, leaves, n_digits, whole, out);
            } else if (n_digits == 5) {
                look_up_held<4>(values, leaves, n_digits, whole, out);
            } else {
                look_up_held<8>(values, leaves, n_digits, whole, out);
            }
            w = whole;
        }
#endif
        u8 number[WORD];
        for (; w * WORD < n_rows; ++w) {
            spell_out(w, n_digits, number);
            const i64 begin = w * WORD, here = n_rows - begin < WORD ? n_rows - begin : WORD;
            if (output >= 0) {
                add_values(values, 1, number, here, a_.out.row(output) + begin);
                continue;
            }
            for (i64 o = 0; o < width; ++o) add_values(values + o, width, number, here, a_.out.row(o) + begin);
        }
        memset(digits_.data(), 0, sizeof(u64) * n_digits * words_);
    }

#if defined(__AVX512BW__)
    template <i64 registers>
    void look_up_held(const f64* values, i64 leaves, i64 n_digits, i64 whole_words, f64* out) const {
        const Held<registers> held(values, leaves);
        alignas(64) u8 number[WORD];
        for (i64 w = 0; w < whole_words; ++w) {
            __m512i numbers = _mm512_setzero_si512();
            for (i64 digit = 0; digit < n_digits; ++digit) {
                const __m512i own = _mm512_maskz_set1_epi8(digits_[digit * words_ + w], static_cast<char>(1 << digit));
                numbers = _mm512_or_si512(numbers, own);
            }
            _mm512_store_si512(number, numbers);
            for (i64 r = 0; r < WORD; r += LANES) {
                const __m512i eight =
                    _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(number + r)));
                f64* sums = out + w * WORD + r;
                _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), held.at(eight)));
            }
        }
    }
#endif

    static void add_values(const f64* __restrict values, i64 width, const u8* __restrict number, i64 n,
                           f64* __restrict out) {
        if (width == 1) {
            for (i64 r = 0; r < n; ++r) out[r] += values[number[r]];
        } else {
            for (i64 r = 0; r < n; ++r) out[r] += values[number[r] * width];
        }
    }

    // The numbers of 64 rows, one byte each.
    void spell_out(i64 w, i64 n_digits, u8* number) const {
        for (i64 eight = 0; eight < WORD; eight += 8) {
            u64 bytes = 0;
            for (i64 digit = 0; digit < n_digits; ++digit) {
                bytes |= bytes_of(digits_[digit * words_ + w] >> eight & 255) << digit;
            }
            memcpy(number + eight, &bytes, sizeof bytes);
        }
    }

    const AddPredictionsArguments& a_;
    const i64 words_;
    Zeros<u64> digits_;  // by digit, then word
    Zeros<u64> here_;    // the rows of one leaf
    i64 tree_ = 0;
};

}  // namespace

// Add the value of the leaf each row reaches, of every tree. Leaves of one tree follow each other; every condition
// of the program narrows. Trees with more than MOST_NUMBERED leaves, and those with subtrees that are walked with
// lists, are added leaf by leaf.
i64 run(const AddPredictionsArguments& a) {
    LeafNumbers numbers(a);
    if (!numbers.ok()) return NO_MEMORY;
    return visit_leaves(
        a.walk, [&](i64 leaf, RowSet rows) { numbers.add(leaf, rows); },
        [&](i64 leaf, i32 entry) { numbers.add_row(leaf, row_of(entry)); });
}

// The same for rows of a matrix, as many at a time as the walk's masks hold; for programs without lists. `out` is zero.
template <class V>
i64 run(const PredictRowsArguments<V>& a) {
    const i64 words = a.walk.buffers.columns, rows = a.matrix.rows, block = words * WORD;
    for (i64 begin = 0; begin < rows; begin += block) {
        const i64 n = rows - begin < block ? rows - begin : block;
        pack_in_order(a.matrix, a.tables, begin, n, a.bits, 0, (n + WORD - 1) / WORD);
        for (i64 w = 0; w < words; ++w) a.walk.buffers(0, w) = first_bits(n - w * WORD);
        for (i64 m = 0; m < a.out.layers; ++m) {
            pack_move(a.moves, a.tables, m, a.out.layers, begin, n, a.bits);
            Zeros<f64> found(a.out.rows * n);
            if (!found.ok()) return NO_MEMORY;
            const i64 status = run(
                AddPredictionsArguments{a.walk, a.leaves, a.tree_start, a.leaf_by_leaf, {found.data(), a.out.rows, n}});
            if (status != DONE) return status;
            for (i64 o = 0; o < a.out.rows; ++o) memcpy(&a.out(m, o, begin), found.data() + o * n, sizeof(f64) * n);
        }
    }
    return DONE;
}

template i64 run(const PredictRowsArguments<f64>&);
template i64 run(const PredictRowsArguments<f32>&);
template i64 run(const PredictRowsArguments<u8>&);

}  // namespace icefield
