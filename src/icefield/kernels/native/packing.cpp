// Rows to codes to bits.
//
// A *code* says where a value lies among a column's sorted cuts (thresholds, or the category codes that
// sets mention): the index of the first cut that is not below it. A bucket table finds the neighbourhood
// and a short search without branches the cut, so skewed columns cost about the same as even ones. From
// the codes, one bit per row and condition: does the row go left? Codes that fit a byte are compared with those of the
// cuts, 64 at a time; where a column has very few conditions, its values are, and no code is needed.

#include <math.h>

#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"
#include "value_bits.hpp"

namespace icefield {
namespace {

// Rows that are encoded together: their values are still near when the next column asks for its own.
constexpr i64 NEAR = 256;

// Where some values lie among the cuts of coded column v, each step for all of them, as vectors.
template <class Tables>
void find_places(const Tables& a, i64 v, const f64* values, i64 n, i32* at) {
    const f64 last = static_cast<f64>(a.bucket_start.columns - 2);
    const f64* cuts = a.cuts.data + a.cut_start[v];
    const i32* bucket_start = a.bucket_start.row(v);
    const f64 low = a.low[v], scale = a.scale[v];
    for (i64 r = 0; r < n; ++r) at[r] = bucket_start[bucket_of(values[r], low, scale, last)];
    for (i32 step = 1 << a.steps[v] >> 1; step > 0; step >>= 1) {
        for (i64 r = 0; r < n; ++r) at[r] += cuts[at[r] + step - 1] < values[r] ? step : 0;
    }
}

// The codes of some rows.
void encode_column(const EncodeArguments& a, i64 v, i64 begin, i64 n) {
    const i64 source = a.column[v];
    const f64* cuts = a.cuts.data + a.cut_start[v];
    f64 values[NEAR];
    i32 at[NEAR];
    for (i64 r = 0; r < n; ++r) values[r] = a.matrix(begin + r, source);
    find_places(a, v, values, n, at);
    if (a.exact[v] != 0) {
        // A category that equals no cut is none of those that sets mention; the cut after the last is NaN.
        const i32 count = static_cast<i32>(a.cut_count[v]);
        for (i64 r = 0; r < n; ++r) at[r] = cuts[at[r]] == values[r] ? at[r] : count;
    }
    // No value is within minus one of zero: then only those that are no number are missing.
    const f64 zero = a.zero_missing[v] != 0 ? a.zero_limit : -1.0;
    i32* codes = a.codes.row(v);
    for (i64 r = 0; r < n; ++r) {
        const bool missing = (values[r] != values[r]) | (fabs(values[r]) <= zero);
        codes[a.position[begin + r]] = missing ? static_cast<i32>(MISSING) : at[r];
    }
}

void clear(u64* mask, i64 words) {
    for (i64 w = 0; w < words; ++w) mask[w] = 0;
}

void unite(u64* __restrict target, const u64* __restrict other, i64 words) {
    for (i64 w = 0; w < words; ++w) target[w] |= other[w];
}

// A numeric condition's bits are those of the condition before it (same column, lower threshold) and of the
// rows whose code first fits here: `code_row` says which row of bits a code first belongs to (-1: none).
bool pack_numbers(const PackArguments& a, i64 v) {
    const i64 words = a.bits.columns, first = a.row_start[v], end = a.row_start[v + 1];
    const i32* codes = a.codes.row(v);
    const i32* code_row = a.code_row.data + a.code_start[v];
    bool any_missing = false;
    for (i64 row = first; row < end; ++row) clear(a.bits.row(row), words);
    for (i64 r = 0; r < a.position.size; ++r) {
        const i64 position = a.position[r];
        const i32 code = codes[position];
        if (code == MISSING) {
            set_bit(a.missing.data, position);
            any_missing = true;
        } else if (code_row[code] >= 0) {
            set_bit(a.bits.row(code_row[code]), position);
        }
    }
    for (i64 row = first + 1; row < end; ++row) unite(a.bits.row(row), a.bits.row(row - 1), words);
    return any_missing;
}

// A set condition's bits are those of its members.
bool pack_sets(const PackArguments& a, i64 v) {
    const i64 words = a.bits.columns;
    const i64 categories = a.code_start[v + 1] - a.code_start[v] - 1;
    const i32* codes = a.codes.row(v);
    bool any_missing = false;
    for (i64 c = 0; c < categories; ++c) clear(a.category_bits.row(c), words);
    for (i64 r = 0; r < a.position.size; ++r) {
        const i64 position = a.position[r];
        const i32 code = codes[position];
        if (code == MISSING) {
            set_bit(a.missing.data, position);
            any_missing = true;
        } else if (code < categories) {
            set_bit(a.category_bits.row(code), position);
        }
    }
    for (i64 row = a.row_start[v]; row < a.row_start[v + 1]; ++row) {
        clear(a.bits.row(row), words);
        for (i64 m = a.member_start[row]; m < a.member_start[row + 1]; ++m) {
            unite(a.bits.row(row), a.category_bits.row(a.members[m]), words);
        }
    }
    return any_missing;
}

// Whether rows are in the order of their positions, from the first on.
bool in_order(const List<const i32>& position) {
    i64 wrong = 0;
    for (i64 r = 0; r < position.size; ++r) wrong |= position[r] ^ r;
    return wrong == 0;
}

}  // namespace

// For every column, how many cuts lie in lower buckets than each bucket.
i64 run(const FillBucketsArguments& a) {
    if (!fits_i32(a.cuts.size)) return TOO_LARGE;
    const i64 last = a.bucket_start.columns - 2;
    for (i64 v = 0; v < a.bucket_start.rows; ++v) {
        i32* start = a.bucket_start.row(v);
        for (i64 b = 0; b < last + 2; ++b) start[b] = 0;
        for (i64 i = a.cut_start[v]; i < a.cut_start[v + 1]; ++i) {
            ++start[bucket_of(a.cuts[i], a.low[v], a.scale[v], static_cast<f64>(last)) + 1];
        }
        for (i64 b = 0; b <= last; ++b) start[b + 1] += start[b];
    }
    return DONE;
}

// Codes of the `chosen` coded columns for every row, written at the row's bit position.
//
// `cuts` holds each column's cuts followed by enough NaN for the search to run over the end. With `exact`,
// a value that equals no cut gets the code after the last.
i64 run(const EncodeArguments& a) {
    if (!fits_i32(a.cuts.size)) return TOO_LARGE;
    for (i64 begin = 0; begin < a.matrix.rows; begin += NEAR) {
        const i64 end = begin + NEAR < a.matrix.rows ? begin + NEAR : a.matrix.rows;
        for (i64 k = 0; k < a.chosen.size; ++k) encode_column(a, a.chosen[k], begin, end - begin);
    }
    return DONE;
}

// The codes of one byte of some rows, column by column.
template <class T>
i64 run(const CodeValuesArguments<T>& a) {
    f64 values[NEAR];
    i32 at[NEAR];
    for (i64 begin = 0; begin < a.matrix.rows; begin += NEAR) {
        const i64 n = a.matrix.rows - begin < NEAR ? a.matrix.rows - begin : NEAR;
        for (i64 v = 0; v < a.column.size; ++v) {
            for (i64 r = 0; r < n; ++r) values[r] = static_cast<f64>(a.matrix(begin + r, a.column[v]));
            find_places(a, v, values, n, at);
            u8* codes = a.codes.row(v) + a.first_row + begin;
            for (i64 r = 0; r < n; ++r) codes[r] = values[r] != values[r] ? NO_CODE : static_cast<u8>(at[r]);
        }
    }
    return DONE;
}

template i64 run(const CodeValuesArguments<f64>&);
template i64 run(const CodeValuesArguments<f32>&);

// One bit per row and condition, for columns of few cuts or categories, from the rows' values or codes.
//
// Words from `first_word` on are written; positions are counted from there, and in those that no row has, no bit is set.
template <class V>
i64 run(const PackValuesArguments<V>& a) {
    const i64 n = a.position.size;
    if (!fits_i32(n)) return TOO_LARGE;
    if (in_order(a.position)) {
        pack_in_order(a.matrix, a.tables, 0, n, a.bits, a.first_word, a.words);
        return DONE;
    }
    Zeros<i32> rows(a.words * WORD);
    Zeros<u64> here(a.words);
    if (!rows.ok() || !here.ok()) return NO_MEMORY;
    for (i64 p = 0; p < a.words * WORD; ++p) rows[p] = -1;
    for (i64 r = 0; r < n; ++r) {
        rows[a.position[r]] = static_cast<i32>(r);
        set_bit(here.data(), a.position[r]);
    }
    using H = typename Held<V>::Type;
    pack_words<H>(a.tables, a.bits, a.first_word, a.words, here.data(),
                  [&](i64 first, i64 size, i64 source, H* values) {
                      const i32* row = rows.data() + first;
                      for (i64 p = 0; p < size; ++p)
                          values[p] = row[p] < 0 ? Held<V>::NONE : static_cast<H>(a.matrix(row[p], source));
                  });
    return DONE;
}

template i64 run(const PackValuesArguments<f64>&);
template i64 run(const PackValuesArguments<f32>&);
template i64 run(const PackValuesArguments<u8>&);

// One bit per row and condition, for all conditions of the `chosen` coded columns.
i64 run(const PackArguments& a) {
    const i64 words = a.bits.columns;
    for (i64 k = 0; k < a.chosen.size; ++k) {
        const i64 v = a.chosen[k];
        if (a.row_start[v] == a.row_start[v + 1]) continue;
        clear(a.missing.data, words);
        const bool any_missing = a.is_set[v] ? pack_sets(a, v) : pack_numbers(a, v);
        if (!any_missing) continue;
        for (i64 row = a.row_start[v]; row < a.row_start[v + 1]; ++row) {
            if (a.row_missing_left[row]) unite(a.bits.row(row), a.missing.data, words);
        }
    }
    return DONE;
}

}  // namespace icefield
