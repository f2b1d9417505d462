// Running a counting program over one block of rows.
//
// Rows are bits; a count is a popcount. Weights are whole numbers given as bit planes, so that sums stay exact
// in any order, and groups of rows are ranges of words (*segments*).

#include "abi.hpp"
#include "bits.hpp"
#include "lists.hpp"
#include "memory.hpp"
#include "programs.hpp"
#include "value_bits.hpp"

namespace icefield {
namespace {

// Rows of a mask that pass a test, written to `target` where there is one; how many, where they are to be counted. A
// number of words that is known beforehand makes for straight code.
inline __attribute__((always_inline)) i64 passed(const u64* source, const u64* test, u64 flip, i64 words, u64* target,
                                                 bool counts) {
    if (counts) {
        return target == nullptr ? narrow_and_count<false>(source, test, flip, words, nullptr)
                                 : narrow_and_count<true>(source, test, flip, words, target);
    }
    if (target != nullptr) narrow(source, test, flip, words, target);
    return 0;
}

// Every row weighs 1 and there is one segment.
void count_plain(const CountArguments& a, const Instruction& now) {
    const Walk& walk = a.walk;
    const i64 found =
        passed(walk.buffers.row(now.source), walk.bits.row(now.condition >> 1), flip_of(now.condition),
               walk.buffers.columns, now.target < 0 ? nullptr : walk.buffers.row(now.target), now.counter >= 0);
    if (now.counter >= 0) a.counters(now.counter, 0) += found;
}

void count_weights(const CountArguments& a, Instruction now, u64* aside) {
    const Walk& walk = a.walk;
    u64* target = now.target < 0 ? aside : walk.buffers.row(now.target);
    narrow(walk.buffers.row(now.source), walk.bits.row(now.condition >> 1), flip_of(now.condition),
           walk.buffers.columns, target);
    if (now.counter < 0) return;
    for (i64 s = 0; s < a.counters.columns; ++s) {
        const i64 begin = a.segments[s], words = a.segments[s + 1] - begin;
        for (i64 p = 0; p < a.planes.rows; ++p) {
            const u64* plane = a.planes.row(p) + begin;
            a.counters(now.counter, s) += narrow_and_count<false>(target + begin, plane, 0, words, nullptr) << p;
        }
    }
}

// A program over the rows marked in the first buffer; false where the stop flag ended it. Within a larger function it
// would have fewer registers.
template <i64 known_words>
__attribute__((noinline)) bool run_plain(const Walk& walk, const Table<i64>& counters) {
    const i64 words = known_words > 0 ? known_words : walk.buffers.columns;
    for (i64 i = 0; i < walk.program.rows; ++i) {
        if (is_stopped(walk, i)) return false;
        const Instruction now(walk, i);
        const u64* source = walk.buffers.data + now.source * words;
        const u64* test = walk.bits.data + (now.condition >> 1) * words;
        const u64 flip = flip_of(now.condition);
        u64* target = now.target < 0 ? nullptr : walk.buffers.data + now.target * words;
        if (now.counter < 0) {
            if (target != nullptr) narrow(source, test, flip, words, target);
        } else if (target == nullptr) {
            counters(now.counter, 0) += narrow_and_count<false>(source, test, flip, words, nullptr);
        } else {
            counters(now.counter, 0) += narrow_and_count<true>(source, test, flip, words, target);
        }
    }
    return true;
}

// The same for all moves in one walk: bits that are the same for all are read once, and below nodes that rows reach alike
// nothing is counted twice. In layers of `bits` after the first only the rows are there that `moved` names.
class MovesCount {
public:
    MovesCount(const Walk& walk, const Cube<const u64>& bits, const u8* moved, const Table<i64>& counters)
        : walk_(walk), bits_(bits), moved_(moved), counters_(counters), words_(walk.buffers.columns),
          masks_((bits.layers - 1) * walk.buffers.rows * words_), differs_((bits.layers - 1) * walk.buffers.rows) {}

    bool ok() const { return masks_.ok() && differs_.ok(); }

    // False where the stop flag ended it.
    bool run() {
        if (bits_.layers > 1) return words_ == 64 ? run_words<64>() : words_ == 128 ? run_words<128>() : run_words<0>();
        return words_ == 64    ? run_plain<64>(walk_, counters_)
               : words_ == 128 ? run_plain<128>(walk_, counters_)
                               : run_plain<0>(walk_, counters_);
    }

private:
    template <i64 known_words>
    bool run_words() {
        const i64 words = known_words > 0 ? known_words : words_, moves = bits_.layers;
        for (i64 i = 0; i < walk_.program.rows; ++i) {
            if (is_stopped(walk_, i)) return false;
            const Instruction now(walk_, i);
            const i64 test = now.condition >> 1;
            const u64 flip = flip_of(now.condition);
            const bool stores = now.target >= 0, counts = now.counter >= 0;
            const u64* source = walk_.buffers.row(now.source);
            const i64 first = passed(source, bits_.row(0, test), flip, words,
                                     stores ? walk_.buffers.row(now.target) : nullptr, counts);
            if (counts) counters_(now.counter, 0) += first;
            for (i64 m = 1; m < moves; ++m) {
                const bool apart = differs(m, now.source) != 0, differs_here = apart || moved_[test] != 0;
                if (stores) differs(m, now.target) = differs_here;
                i64 found = first;
                if (differs_here) {
                    found = passed(apart ? mask(m, now.source) : source, bits_.row(moved_[test] != 0 ? m : 0, test),
                                   flip, words, stores ? mask(m, now.target) : nullptr, counts);
                }
                if (counts) counters_(now.counter, m) += found;
            }
        }
        return true;
    }

    // A buffer of a move after the first, and whether its rows may be others than those of the first.
    u64* mask(i64 move, i64 buffer) const {
        return masks_.data() + ((move - 1) * walk_.buffers.rows + buffer) * words_;
    }
    u8& differs(i64 move, i64 buffer) const { return differs_[(move - 1) * walk_.buffers.rows + buffer]; }

    const Walk& walk_;
    const Cube<const u64> bits_;
    const u8* moved_;
    const Table<i64> counters_;
    const i64 words_;
    Zeros<u64> masks_;
    Zeros<u8> differs_;
};

}  // namespace

// Add the counts of rows as they lie in a matrix, but for what moves, to `counters`, as many at a time as the walk's masks
// hold; for programs without lists. What does not move is packed once for all moves. With `here`, a bit for each row, only
// those are counted whose bit is set.
template <class V>
i64 run(const CountRowsArguments<V>& a) {
    const Walk& walk = a.walk;
    const i64 words = walk.buffers.columns, rows = a.matrix.rows, moves = a.bits.layers;
    const bool is_filtered = a.here.size > 0;
    if (is_filtered && a.here.size * WORD < rows) return TOO_LARGE;
    Zeros<u8> moved(a.bits.rows);
    if (!moved.ok()) return NO_MEMORY;
    for (i64 k = 0; k < a.moves.chosen.size; ++k) {
        const i64 v = a.moves.chosen[k];
        for (i64 row = a.tables.row_start[v]; row < a.tables.row_start[v + 1]; ++row) moved[row] = 1;
    }
    MovesCount count(walk, {a.bits.data, moves, a.bits.rows, words}, moved.data(), a.counters);
    if (!count.ok()) return NO_MEMORY;
    for (i64 begin = 0; begin < rows; begin += words * WORD) {
        const i64 n = rows - begin < words * WORD ? rows - begin : words * WORD;
        u64 any = 0;
        for (i64 w = 0; w < words; ++w) {
            u64 kept = first_bits(n - w * WORD);
            if (is_filtered && kept != 0) kept &= a.here[begin / WORD + w];
            walk.buffers(0, w) = kept;
            any |= kept;
        }
        if (any == 0) continue;
        for (i64 m = 0; m < moves; ++m) {
            const Table<u64> bits{a.bits.row(m, 0), a.bits.rows, words};
            if (m == 0) pack_in_order(a.matrix, a.tables, begin, n, bits, 0, (n + WORD - 1) / WORD);
            pack_move(a.moves, a.tables, m, moves, begin, n, bits);
        }
        if (!count.run()) return STOPPED;
    }
    return DONE;
}

template i64 run(const CountRowsArguments<f64>&);
template i64 run(const CountRowsArguments<f32>&);
template i64 run(const CountRowsArguments<u8>&);

// Add the counts of a block's rows, of which buffer 0 holds those there are, for each move; for programs without lists.
i64 run(const CountMovesArguments& a) {
    MovesCount count(a.walk, a.bits, a.moved.data, a.counters);
    if (!count.ok()) return NO_MEMORY;
    return count.run() ? DONE : STOPPED;
}

i64 run(const CountCodesArguments& a) {
    constexpr i64 CODES = 256, APART = 4;  // counts side by side: the same code twice in a row need not wait
    if (a.here.size * WORD < a.codes.columns || !fits_i32(a.codes.columns)) return TOO_LARGE;
    for (i64 c = 0; c < a.codes.rows; ++c) {
        const u8* codes = a.codes.row(c);
        i32 found[APART][CODES] = {};
        for (i64 first = 0; first < a.codes.columns; first += WORD) {
            const u64 kept = a.here[first / WORD] & first_bits(a.codes.columns - first);
            if (kept == ~u64{0}) {
                for (i64 r = first; r < first + WORD; ++r) ++found[r % APART][codes[r]];
            } else {
                each_bit(kept, first, [&](i64 r) { ++found[r % APART][codes[r]]; });
            }
        }
        for (i64 k = 0; k < CODES; ++k) {
            for (i64 s = 0; s < APART; ++s) a.counts(c, k) += found[s][k];
        }
    }
    return DONE;
}

// Add rows to the sums of their codes, in the order of the rows.
i64 run(const AddByCodeArguments& a) {
    for (i64 r = 0; r < a.codes.size; ++r) {
        const f64* const value = a.values.row(r);
        f64* const sum = a.sums.row(a.codes[r]);
        for (i64 c = 0; c < a.values.columns; ++c) sum[c] += value[c];
    }
    return DONE;
}

// In every set, the rows that have a level are ranked by themselves; a segment ends with the last row of the value that the row
// of a rank has. `is_last` says where that is. A row's place is its level among those of all sets, or beyond all where it has none.
i64 run(const CountBetweenRanksArguments& a) {
    constexpr i64 AHEAD = 16;  // rows fetched while others are counted: the order leads anywhere in memory
    const i64 sets = a.places.columns, levels = a.counts.columns, cuts = a.ranks.columns;
    if (!fits_i32(a.order.size) || a.counts.rows <= cuts) return TOO_LARGE;
    Zeros<i64> now(levels + sets), cut(sets);
    Zeros<i32> ranked(sets), next(sets);
    if (!now.ok() || !cut.ok() || !ranked.ok() || !next.ok()) return NO_MEMORY;
    i32 *const ranked_rows = ranked.data(), *const next_rank = next.data();
    const auto end_segment = [&](i64 s) {
        i64* const counts = a.counts.row(a.used[s]++);
        for (i64 level = a.starts[s]; level < a.starts[s + 1]; ++level) {
            counts[level] = now[level];
            now[level] = 0;
        }
        while (cut[s] < cuts && a.ranks(s, cut[s]) < ranked[s]) ++cut[s];
        next[s] = cut[s] < cuts ? static_cast<i32>(a.ranks(s, cut[s])) : INT32_MAX;
    };
    for (i64 s = 0; s < sets; ++s) next[s] = cuts > 0 ? static_cast<i32>(a.ranks(s, 0)) : INT32_MAX;
    for (i64 i = 0; i < a.order.size; ++i) {
        const i32* const place = a.places.row(a.order[i]);
        if (i + AHEAD < a.order.size) __builtin_prefetch(a.places.row(a.order[i + AHEAD]));
        i32 is_reached = 0;
        for (i64 s = 0; s < sets; ++s) ++now[place[s]];
        for (i64 s = 0; s < sets; ++s) {
            ranked_rows[s] += place[s] < levels;
            is_reached |= ranked_rows[s] > next_rank[s];
        }
        if (is_reached == 0 || a.is_last[i] == 0) continue;
        for (i64 s = 0; s < sets; ++s) {
            if (ranked[s] > next[s]) end_segment(s);
        }
    }
    for (i64 s = 0; s < sets; ++s) end_segment(s);
    return DONE;
}

// Which codes never occur with which groups of other sets, although by chance `least` rows at least would have both. What is
// expected to occur does so soon, as a rule: no more rows are looked at than it takes.
i64 run(const FindNeverTogetherArguments& a) {
    constexpr i64 AT_ONCE = 256;
    const i64 rows = a.codes.size, codes = a.never.rows;
    i64 most = 0;
    for (i64 s = 0; s < a.others.rows; ++s) {
        const i64 groups = a.group_start[s + 1] - a.group_start[s];
        most = groups > most ? groups : most;
    }
    Zeros<u8> expected(codes * most);
    Zeros<i64> with_code(codes);
    if (!expected.ok() || !with_code.ok()) return NO_MEMORY;
    const i32* const code = a.codes.data;
    for (i64 r = 0; r < rows; ++r) ++with_code[code[r]];
    for (i64 s = 0; s < a.others.rows; ++s) {
        const i64 start = a.group_start[s], groups = a.group_start[s + 1] - start;
        const i16* const group = a.others.row(s);
        u8* const left = expected.data();
        i64 to_find = 0;
        for (i64 c = 0; c < codes; ++c) {
            for (i64 g = 0; g < groups; ++g) {
                const f64 by_chance = static_cast<f64>(with_code[c] * a.group_rows[start + g]) / static_cast<f64>(rows);
                left[c * groups + g] = by_chance >= a.least;
                to_find += left[c * groups + g];
            }
        }
        for (i64 first = 0; first < rows && to_find > 0; first += AT_ONCE) {
            const i64 end = first + AT_ONCE < rows ? first + AT_ONCE : rows;
            for (i64 r = first; r < end; ++r) {
                const i64 cell = code[r] * groups + group[r];
                to_find -= left[cell];
                left[cell] = 0;
            }
        }
        for (i64 c = 0; c < codes; ++c) {
            for (i64 g = 0; g < groups; ++g) a.never(c, start + g) = left[c * groups + g];
        }
    }
    return DONE;
}

// Add a block's counts to `counters`.
//
// Buffer 0 holds the rows there are, and the last is scratch. `planes` has one row of bits per binary digit of
// the weights; none where every row weighs 1 and there is one segment.
i64 run(const CountArguments& a) {
    const Walk& walk = a.walk;
    u64* aside = walk.buffers.row(walk.buffers.rows - 1);
    ListWalk lists(walk);
    if (!lists.ok()) return NO_MEMORY;
    if (!lists.fits()) return TOO_LARGE;
    for (i64 i = 0; i < walk.program.rows; ++i) {
        if (is_stopped(walk, i)) return STOPPED;
        const Instruction now(walk, i);
        if (now.target != SUBTREE) {
            if (a.planes.rows == 0) {
                count_plain(a, now);
            } else {
                count_weights(a, now, aside);
            }
            continue;
        }
        const bool finished = lists.visit(now.source, [&](i64 node, const i32* entries, i64 arrived) {
            const i64 first = walk.node_counter[node];
            for (i64 k = 0; k < arrived; ++k) {
                const i64 row = row_of(entries[k]);
                a.counters(first + tag_of(entries[k]), a.segment_of[row]) += a.weight_of[row];
            }
        });
        if (!finished) return NO_MEMORY;
    }
    return DONE;
}

// Every slot's count from the counters: counted, or what a sibling left of the parent's.
//
// Lists count the rows that violate one group apart from those that violate none: the latter are added here.
i64 run(const ResolveArguments& a) {
    for (i64 slot = 0; slot < a.slot_kind.size; ++slot) {
        const i64* origin = a.counts.row(a.slot_origin[slot]);
        const i64* counter = a.counters.row(a.slot_counter[slot]);
        i64* count = a.counts.row(slot);
        for (i64 s = 0; s < a.total.size; ++s) {
            switch (a.slot_kind[slot]) {
                case SAME: count[s] = origin[s]; break;
                case COUNTED: count[s] = counter[s]; break;
                case REST: count[s] = origin[s] - counter[s]; break;
                case ALSO: count[s] = origin[s] + counter[s]; break;
                case ALL: count[s] = a.total[s]; break;
                default: count[s] = 0;
            }
        }
    }
    return DONE;
}

}  // namespace icefield
