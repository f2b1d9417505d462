// Every feature's linked curve for 64 rows and 64 leaves at a time.
//
// A leaf counts for a row's curve along one group if the row meets every condition on the leaf's path except
// some of that group. For 64 leaves, the leaves that a row's values of one group rule out are a word, put together
// from the splits it passes; leaves ruled out by no group are the row's own, leaves ruled out by exactly one are those
// it reaches if that group moves. Nothing here depends on where a row goes, so rows go side by side.

#include "abi.hpp"
#include "leaf_words.hpp"
#include "memory.hpp"
#include "step_sums.hpp"

namespace icefield {
namespace {

class WordWalk {
public:
    WordWalk(const AddPiecesArguments& arguments)
        : a_(arguments), outputs_(arguments.trees.base.size), pieces_(arguments.trees.piece_part.size - 1),
          steps_(arguments.totals, WORD), raw_(pieces_ * WORD + WORD),
          bits_(arguments.bits.rows), own_leaf_(arguments.trees.tree_output.size * WORD),
          own_value_(arguments.trees.tree_output.size * WORD), margins_(WORD * outputs_),
          differences_(WORD * (most_points() + 1) * outputs_), touched_(most_points() + 1 + WORD) {
        const u64 start = reinterpret_cast<u64>(raw_.data());
        once_ = reinterpret_cast<Words*>((start + 63) / 64 * 64);
    }

    bool ok() const {
        return steps_.ok() && raw_.ok() && bits_.ok() && own_leaf_.ok() && own_value_.ok() && margins_.ok() && differences_.ok() &&
               touched_.ok();
    }

    // Adds the rows of one word; false where memory ran out.
    bool add(i64 word, i64 rows) {
        for (i64 i = 0; i < bits_size(); ++i) bits_[i] = a_.bits(i, word);
        for (i64 r = 0; r < WORD; ++r) {
            for (i64 o = 0; o < outputs_; ++o) margins_[r * outputs_ + o] = a_.trees.base[o];
        }
        for (i64 piece = 0; piece < pieces_; ++piece) find(piece);
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

    // Each row's own leaves of a piece, and those it reaches if one group moves.
    [[gnu::noinline]] void find(i64 piece) {
        find_leaves(a_.trees, bits_.data(), piece, [&](i64 row, u64 own, u64 once) {
            once_[piece].of[row] = once;
            each_bit(own, piece * WORD, [&](i64 leaf) { take(row, leaf); });
        });
    }

    void take(i64 row, i64 leaf) {
        const i64 tree = a_.trees.leaf_tree[leaf], output = a_.trees.tree_output[tree];
        const f64* value = a_.trees.leaf_value.row(leaf);
        own_leaf_[tree * WORD + row] = static_cast<i32>(leaf);
        own_value_[tree * WORD + row] = value[0];
        f64* margin = margins_.data() + row * outputs_;
        if (output >= 0) {
            margin[output] += value[0];
        } else {
            for (i64 o = 0; o < outputs_; ++o) margin[o] += value[o];
        }
    }

    // All that happens along one group's grid.
    [[gnu::noinline]] bool move(i64 group, u64 used) {
        // A row's differences lie close together, as far as this grid goes: all rows' stay near.
        room_ = a_.totals.points[group] + 1;
        words_ = (room_ + WORD - 1) / WORD;
        u64 met = 0;
        Words out;
        for (i64 i = a_.trees.group_part[group]; i < a_.trees.group_part[group + 1]; ++i) {
            const i64 part = a_.trees.parts_by_group[i];
            const Words& once = once_[a_.trees.part_piece[part]];
            const u64 leaves = a_.trees.part_leaves[part];
            if (leaves == 0) continue;
            rule_out(a_.trees, bits_.data(), part, out);
            for (i64 r = 0; r < WORD; ++r) out.of[r] &= once.of[r] & leaves;
            const u64 elsewhere = filled(out.of) & used;
            if (elsewhere == 0) continue;
            met |= elsewhere;
            if (outputs_ > 1) {
                add_leaves<false, false>(part, out, elsewhere);
            } else if (words_ > 1) {
                add_leaves<true, false>(part, out, elsewhere);
            } else {
                add_leaves<true, true>(part, out, elsewhere);
            }
        }
        if (!steps_.has_room(group, popcount(met))) return false;
        each_bit(met, 0, [&](i64 row) {
            steps_.gather(row, group, margins_.data() + row * outputs_, differences_.data() + row * room_ * outputs_,
                          touched_.data() + row * words_);
        });
        steps_.finish();
        return true;
    }

    // Differences of the leaves `out` that these rows reach if a part's group moves. The hottest loop of all: kept
    // apart, so that what it needs stays in registers.
    template <bool single, bool one_word>
    [[gnu::noinline]] void add_leaves(i64 part, Words& out, u64 rows) {
        const PieceTrees& t = a_.trees;
        const i64 first = t.part_piece[part] * WORD, width = single ? 1 : t.leaf_value.columns;
        const i64 outputs = single ? 1 : outputs_, room = room_;
        const u64 leaves_here = t.part_leaves[part];
        const i32* const entry_run = t.entry_run.data + t.part_entry[part];
        const i32* const leaf_tree = t.leaf_tree.data + first;
        const f64* const values = t.leaf_value.data + first * width;
        const i32* const runs = t.runs.data;
        i32 positions[WORD + AT_ONCE];
        // One leaf of every row, then another of those that have more: what one row adds does not wait for itself.
        for (i64 n = positions_of(rows, 0, positions), more = 0; n > 0; n = more, more = 0) {
            for (i64 k = 0; k < n; ++k) {
                const i64 row = positions[k];
                const u64 leaves = out.of[row], others = leaves & (leaves - 1);
                out.of[row] = others;
                positions[more] = static_cast<i32>(row);
                more += others != 0;
                const i64 place = lowest(leaves), tree = leaf_tree[place];
                const i64 entry = popcount(leaves_here & ((leaves ^ others) - 1));
                const f64 change = single ? values[place] - own_value_[tree * WORD + row] : 0.0;
                f64* const differences = differences_.data() + row * room * outputs;
                u64* const touched = touched_.data() + (one_word ? row : row * words_);
                for (i64 run = entry_run[entry]; run < entry_run[entry + 1]; ++run) {
                    const i64 begin = runs[2 * run], end = runs[2 * run + 1];
                    if constexpr (single) {
                        differences[begin] += change;
                        differences[end] -= change;
                    } else {
                        add_outputs(row, tree, values + place * width, differences + begin * outputs,
                                    differences + end * outputs);
                    }
                    if constexpr (one_word) {
                        *touched |= u64{1} << begin | u64{1} << end;
                    } else {
                        set_bit(touched, begin);
                        set_bit(touched, end);
                    }
                }
            }
        }
    }

    void add_outputs(i64 row, i64 tree, const f64* value, f64* begin, f64* end) const {
        const i64 output = a_.trees.tree_output[tree];
        if (output >= 0) {
            const f64 change = value[0] - own_value_[tree * WORD + row];
            begin[output] += change;
            end[output] -= change;
            return;
        }
        const f64* own = a_.trees.leaf_value.row(own_leaf_[tree * WORD + row]);
        for (i64 o = 0; o < outputs_; ++o) {
            begin[o] += value[o] - own[o];
            end[o] -= value[o] - own[o];
        }
    }

    const AddPiecesArguments& a_;
    i64 outputs_, pieces_;
    i64 room_ = 0, words_ = 0;  // of one row, for the group that moves
    StepSums steps_;
    Zeros<u64> raw_;
    Zeros<u64> bits_;
    Zeros<i32> own_leaf_;
    Zeros<f64> own_value_;
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
