// Every feature's linked curve for 64 rows and 64 leaves at a time.
//
// A leaf counts for a row's curve along one group if the row meets every condition on the leaf's path except
// some of that group. For 64 leaves, the leaves that a row's values of one group rule out are a word, put together
// from the splits it passes; leaves ruled out by no group are the row's own, leaves ruled out by exactly one are those
// it reaches if that group moves. Nothing here depends on where a row goes, so rows go side by side.

#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"
#include "step_sums.hpp"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace icefield {
namespace {

// Which of 64 words are not zero.
inline u64 filled(const u64* words) {
    u64 found = 0;
#if defined(__AVX512F__)
    for (i64 r = 0; r < WORD; r += 8) {
        const __m512i eight = _mm512_load_si512(words + r);
        found |= static_cast<u64>(_mm512_test_epi64_mask(eight, eight)) << r;
    }
#elif defined(__AVX2__)
    for (i64 r = 0; r < WORD; r += 4) {
        const __m256i four = _mm256_load_si256(reinterpret_cast<const __m256i*>(words + r));
        const __m256i empty = _mm256_cmpeq_epi64(four, _mm256_setzero_si256());
        found |= static_cast<u64>(~_mm256_movemask_pd(_mm256_castsi256_pd(empty)) & 15) << r;
    }
#else
    for (i64 r = 0; r < WORD; ++r) found |= static_cast<u64>(words[r] != 0) << r;
#endif
    return found;
}

struct alignas(64) Words {
    u64 of[WORD];
};

class WordWalk {
public:
    WordWalk(const AddPiecesArguments& arguments)
        : a_(arguments), outputs_(arguments.trees.base.size), pieces_(arguments.trees.piece_part.size - 1),
          room_(most_points() / WORD * WORD + WORD), steps_(arguments.totals, WORD), raw_(pieces_ * WORD + WORD),
          bits_(arguments.bits.rows), own_leaf_(arguments.trees.tree_output.size * WORD), margins_(WORD * outputs_),
          differences_(WORD * room_ * outputs_), touched_(room_) {
        const u64 start = reinterpret_cast<u64>(raw_.data());
        once_ = reinterpret_cast<Words*>((start + 63) / 64 * 64);
    }

    bool ok() const {
        return steps_.ok() && raw_.ok() && bits_.ok() && own_leaf_.ok() && margins_.ok() && differences_.ok() &&
               touched_.ok();
    }

    // Adds the rows of one word; false where memory ran out.
    bool add(i64 word, i64 rows) {
        for (i64 i = 0; i < bits_size(); ++i) bits_[i] = a_.bits(i, word);
        for (i64 r = 0; r < WORD; ++r) {
            for (i64 o = 0; o < outputs_; ++o) margins_[r * outputs_ + o] = a_.trees.base[o];
        }
        for (i64 piece = 0; piece < pieces_; ++piece) find_leaves(piece);
        steps_.start(word * WORD, rows, margins_.data());
        const u64 used = rows == WORD ? ~u64{0} : (u64{1} << rows) - 1;
        for (i64 group = 0; group < a_.totals.points.size; ++group) {
            if (!move(group, used)) return false;
        }
        return true;
    }

private:
    i64 bits_size() const { return a_.bits.rows; }

    i64 most_points() const {
        i64 most = 0;
        for (i64 g = 0; g < a_.totals.points.size; ++g) most = a_.totals.points[g] > most ? a_.totals.points[g] : most;
        return most;
    }

    // The leaves of a part's piece that each row's values rule out.
    void rule_out(i64 part, Words& out) const {
        i64 split = a_.trees.part_split[part];
        const i64 end = a_.trees.part_split[part + 1];
        rule_out_by<false>(split, out);
        while (++split < end) rule_out_by<true>(split, out);
    }

    template <bool more>
    void rule_out_by(i64 split, Words& out) const {
        const u64 goes_left = bits_[a_.trees.split_row[split]];
        const u64 left = a_.trees.split_leaves(split, 0), either = left ^ a_.trees.split_leaves(split, 1);
        for (i64 r = 0; r < WORD; ++r) {
            const u64 ruled_out = left ^ (either & (u64{0} - (goes_left >> r & 1)));
            out.of[r] = more ? out.of[r] | ruled_out : ruled_out;
        }
    }

    // Each row's own leaves of a piece, and those it reaches if one group moves.
    void find_leaves(i64 piece) {
        Words once{}, more{}, out;
        for (i64 part = a_.trees.piece_part[piece]; part < a_.trees.piece_part[piece + 1]; ++part) {
            rule_out(part, out);
            // A group that stays rules out for good.
            const u64 stays = a_.trees.part_group[part] < 0 ? ~u64{0} : 0;
            for (i64 r = 0; r < WORD; ++r) {
                more.of[r] |= (once.of[r] | stays) & out.of[r];
                once.of[r] |= out.of[r];
            }
        }
        const i64 first = piece * WORD, left = a_.trees.leaf_tree.size - first;
        const u64 leaves = left >= WORD ? ~u64{0} : (u64{1} << left) - 1;
        for (i64 r = 0; r < WORD; ++r) {
            once_[piece].of[r] = once.of[r] & ~more.of[r];
            each_bit(leaves & ~once.of[r], first, [&](i64 leaf) { take(r, leaf); });
        }
    }

    void take(i64 row, i64 leaf) {
        const i64 tree = a_.trees.leaf_tree[leaf], output = a_.trees.tree_output[tree];
        own_leaf_[tree * WORD + row] = static_cast<i32>(leaf);
        const f64* value = a_.trees.leaf_value.row(leaf);
        f64* margin = margins_.data() + row * outputs_;
        if (output >= 0) {
            margin[output] += value[0];
        } else {
            for (i64 o = 0; o < outputs_; ++o) margin[o] += value[o];
        }
    }

    // All that happens along one group's grid.
    bool move(i64 group, u64 used) {
        u64 met = 0;
        Words out;
        for (i64 i = a_.trees.group_part[group]; i < a_.trees.group_part[group + 1]; ++i) {
            const i64 part = a_.trees.parts_by_group[i], piece = a_.trees.part_piece[part];
            rule_out(part, out);
            for (i64 r = 0; r < WORD; ++r) out.of[r] &= once_[piece].of[r];
            const u64 elsewhere = filled(out.of) & used;
            met |= elsewhere;
            each_bit(elsewhere, 0, [&](i64 row) {
                each_bit(out.of[row], 0, [&](i64 leaf) { add_leaf(row, part, piece, leaf); });
            });
        }
        bool has_memory = true;
        each_bit(met, 0, [&](i64 row) {
            has_memory &= steps_.gather(row, group, margins_.data() + row * outputs_,
                                        differences_.data() + row * room_ * outputs_,
                                        touched_.data() + row * (room_ / WORD));
        });
        if (has_memory) steps_.finish();
        return has_memory;
    }

    void add_leaf(i64 row, i64 part, i64 piece, i64 place) {
        const i64 leaf = piece * WORD + place, tree = a_.trees.leaf_tree[leaf], output = a_.trees.tree_output[tree];
        const i64 before = popcount(a_.trees.part_leaves[part] & ((u64{1} << place) - 1));
        const i64 entry = a_.trees.part_entry[part] + before;
        const f64* value = a_.trees.leaf_value.row(leaf);
        const f64* own = a_.trees.leaf_value.row(own_leaf_[tree * WORD + row]);
        f64* differences = differences_.data() + row * room_ * outputs_;
        u64* touched = touched_.data() + row * (room_ / WORD);
        for (i64 run = a_.trees.entry_run[entry]; run < a_.trees.entry_run[entry + 1]; ++run) {
            const i64 begin = a_.trees.runs(run, 0), end = a_.trees.runs(run, 1);
            if (output >= 0) {
                const f64 change = value[0] - own[0];
                differences[begin * outputs_ + output] += change;
                differences[end * outputs_ + output] -= change;
            } else {
                for (i64 o = 0; o < outputs_; ++o) {
                    differences[begin * outputs_ + o] += value[o] - own[o];
                    differences[end * outputs_ + o] -= value[o] - own[o];
                }
            }
            set_bit(touched, begin);
            set_bit(touched, end);
        }
    }

    const AddPiecesArguments& a_;
    i64 outputs_, pieces_, room_;
    StepSums steps_;
    Zeros<u64> raw_;
    Zeros<u64> bits_;
    Zeros<i32> own_leaf_;
    Zeros<f64> margins_;
    Zeros<f64> differences_;
    Zeros<u64> touched_;
    Words* once_ = nullptr;
};

}  // namespace

// Add the rows' linked curves, as differences between neighbouring grid points, to sums and squares.
ICEFIELD_EXPORT i64 icefield_add_pieces(const AddPiecesArguments* arguments) {
    const AddPiecesArguments& a = *arguments;
    WordWalk walk(a);
    if (!walk.ok()) return NO_MEMORY;
    const i64 rows = a.totals.weight.size;
    for (i64 word = 0; word * WORD < rows; ++word) {
        if (__atomic_load_n(a.stop.data, __ATOMIC_RELAXED) != 0) return STOPPED;
        const i64 left = rows - word * WORD;
        if (!walk.add(word, left < WORD ? left : WORD)) return NO_MEMORY;
    }
    return DONE;
}

}  // namespace icefield
