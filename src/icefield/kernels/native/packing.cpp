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

namespace icefield {
namespace {

// A column's bucket for a value; never decreases with x, so no rounding can lose a cut.
inline i32 bucket_of(f64 x, f64 low, f64 scale, f64 last) {
    const f64 place = (x - low) * scale;
    const f64 above = place > 0.0 ? place : 0.0;
    return static_cast<i32>(above < last ? above : last);
}

// Rows that are encoded together: their values are still near when the next column asks for its own.
constexpr i64 NEAR = 256;

// The codes of some rows, each step for all of them, as vectors.
void encode_column(const EncodeArguments& a, i64 v, i64 begin, i64 n) {
    const f64 last = static_cast<f64>(a.bucket_start.columns - 2);
    const i64 source = a.column[v];
    const f64* cuts = a.cuts.data + a.cut_start[v];
    const i32* bucket_start = a.bucket_start.row(v);
    const f64 low = a.low[v], scale = a.scale[v];
    f64 values[NEAR];
    i32 at[NEAR];
    for (i64 r = 0; r < n; ++r) values[r] = a.matrix(begin + r, source);
    for (i64 r = 0; r < n; ++r) at[r] = bucket_start[bucket_of(values[r], low, scale, last)];
    for (i32 step = 1 << a.steps[v] >> 1; step > 0; step >>= 1) {
        for (i64 r = 0; r < n; ++r) at[r] += cuts[at[r] + step - 1] < values[r] ? step : 0;
    }
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

// Words whose values are held together: eight are a line of memory of every row of bits.
constexpr i64 AT_A_TIME = 8;
// Conditions of a column with which its values are compared as they are; of more, the values' codes are.
constexpr i64 FEW = 4;
// A code of one byte that is above that of every cut: the value is missing, or there is no row.
constexpr u8 NO_CODE = 255;

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

    // Write them from a word on.
    void write(const Table<u64>& bits, i64 first_word) {
        if (a_.row_start[v_ + 1] - a_.row_start[v_] <= FEW) {
            each_cut(bits, first_word, [&](i64 cut, i64 w) {
                return at_most(values_ + w * WORD, cuts()[cut]) & ~without_code_[w];
            });
        } else {
            find_codes();
            each_cut(bits, first_word, [&](i64 cut, i64 w) {
                return codes_at_most(codes_ + w * WORD, static_cast<u8>(cut));
            });
        }
    }

private:
    const f64* cuts() const { return a_.cuts.data + a_.cut_start[v_]; }

    // As `encode_column`, in bytes.
    void find_codes() {
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
            each_bit(without_code_[w], 0, [&](i64 r) { codes[r] = NO_CODE; });
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

// Whether rows stand in the order of their positions, from the first on.
bool in_order(const List<const i32>& position) {
    i64 wrong = 0;
    for (i64 r = 0; r < position.size; ++r) wrong |= position[r] ^ r;
    return wrong == 0;
}

// Words from `first_word` on are written; positions are counted from there, and in those that no row has, no bit is set.
template <class Arguments>
i64 pack_values(const Arguments& a) {
    const i64 n = a.position.size;
    const bool as_they_are = in_order(a.position);
    Zeros<i32> rows(as_they_are ? 0 : a.words * WORD);
    Zeros<u64> here(a.words + AT_A_TIME);
    if (!rows.ok() || !here.ok()) return NO_MEMORY;
    if (!as_they_are) {
        for (i64 p = 0; p < a.words * WORD; ++p) rows[p] = -1;
        for (i64 r = 0; r < n; ++r) rows[a.position[r]] = static_cast<i32>(r);
    }
    for (i64 r = 0; r < n; ++r) set_bit(here.data(), a.position[r]);
    f64 values[AT_A_TIME * WORD];
    for (i64 word = 0; word < a.words; word += AT_A_TIME) {
        const i64 words = a.words - word < AT_A_TIME ? a.words - word : AT_A_TIME;
        const i64 first = word * WORD, size = words * WORD;
        const i64 there = n - first < 0 ? 0 : n - first < size ? n - first : size;
        for (i64 k = 0; k < a.tables.chosen.size; ++k) {
            const i64 v = a.tables.chosen[k], source = a.tables.column[v];
            if (a.tables.row_start[v] == a.tables.row_start[v + 1]) continue;
            if (as_they_are) {
                for (i64 p = 0; p < there; ++p) values[p] = static_cast<f64>(a.matrix(first + p, source));
                for (i64 p = there; p < size; ++p) values[p] = NAN;
            } else {
                const i32* row = rows.data() + first;
                for (i64 p = 0; p < size; ++p) values[p] = row[p] < 0 ? NAN : static_cast<f64>(a.matrix(row[p], source));
            }
            ValueBits(a.tables, v, values, here.data() + word, words).write(a.bits, a.first_word + word);
        }
    }
    return DONE;
}

}  // namespace

// For every column, how many cuts lie in lower buckets than each bucket.
ICEFIELD_EXPORT i64 icefield_fill_buckets(const FillBucketsArguments* arguments) {
    const FillBucketsArguments& a = *arguments;
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
ICEFIELD_EXPORT i64 icefield_encode(const EncodeArguments* arguments) {
    const EncodeArguments& a = *arguments;
    for (i64 begin = 0; begin < a.matrix.rows; begin += NEAR) {
        const i64 end = begin + NEAR < a.matrix.rows ? begin + NEAR : a.matrix.rows;
        for (i64 k = 0; k < a.chosen.size; ++k) encode_column(a, a.chosen[k], begin, end - begin);
    }
    return DONE;
}

// One bit per row and condition, for numeric columns, from the rows' values.
ICEFIELD_EXPORT i64 icefield_pack_values(const PackValuesArguments* arguments) { return pack_values(*arguments); }

ICEFIELD_EXPORT i64 icefield_pack_narrow_values(const PackNarrowValuesArguments* arguments) {
    return pack_values(*arguments);
}

// One bit per row and condition, for all conditions of the `chosen` coded columns.
ICEFIELD_EXPORT i64 icefield_pack(const PackArguments* arguments) {
    const PackArguments& a = *arguments;
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
