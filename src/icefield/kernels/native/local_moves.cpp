// Rows at both ends of the steps they stand in, for every feature, 64 rows and 64 leaves at a time.
//
// A row stands at a *place* of each group: between two neighbouring nodes of a number, or at a node of levels. It is moved to
// the node before its place and to the one after, and what changes is added up by place. Neighbours differ in few
// conditions, so most parts of the trees have no row that leaves or enters a leaf, and those are passed over.

#include "abi.hpp"
#include "leaf_words.hpp"
#include "links.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

constexpr i64 SIDES = 2;  // before and after
constexpr i64 FEW = 4;    // rows at most that are cheaper one by one than all 64 side by side
// What is known of the rows at a place are counts, their number, weight and squares; and by output, for either side, the
// sum of weight times change, and by squares the means of the changes, their squares about these, and their products.
constexpr i64 BY_OUTPUT = 7;

class PlaceSums {
public:
    PlaceSums(const AddLocalMovesArguments& arguments) : a_(arguments) {}

    // Adds a row's changes across one or two sides at a place of a group; `change(output, side)` says what they are.
    template <bool two, class Change>
    void add(i64 row, i64 place, Change change) const {
        const i64 segment = a_.segment[row];
        f64* count = a_.counts.row(segment, place);
        const f64 weight = a_.weight[row], square = a_.square[row];
        count[0] += 1.0;
        count[1] += weight;
        count[2] += square;
        const f64 share = square / count[2];
        for (i64 o = 0; o < a_.chosen.size; ++o) {
            f64* own = a_.changes.row(segment, place) + o * BY_OUTPUT;
            const f64 one = change(o, 0), apart = one - own[2];
            own[0] += weight * one;
            own[2] += share * apart;
            own[4] += square * apart * (one - own[2]);
            if constexpr (two) {
                const f64 other = change(o, 1), also = other - own[3];
                own[1] += weight * other;
                own[3] += share * also;
                own[5] += square * also * (other - own[3]);
                own[6] += square * apart * (other - own[3]);
            }
        }
    }

private:
    const AddLocalMovesArguments& a_;
};

class LocalWalk {
public:
    LocalWalk(const AddLocalMovesArguments& arguments)
        : a_(arguments), sums_(arguments), outputs_(arguments.trees.base.size),
          pieces_(arguments.trees.piece_part.size - 1), raw_((2 * pieces_ + 1) * WORD), own_bits_(arguments.own.rows),
          before_bits_(arguments.own.rows), after_bits_(arguments.own.rows), margins_(WORD * outputs_), own_(WORD * outputs_),
          moved_(SIDES * WORD * outputs_), planes_(SIDES * WORD * outputs_), work_(2 * SIDES * WORD) {
        const u64 start = reinterpret_cast<u64>(raw_.data());
        once_ = reinterpret_cast<Words*>((start + 63) / 64 * 64);
        reached_ = once_ + pieces_;
    }

    bool ok() const {
        return raw_.ok() && own_bits_.ok() && before_bits_.ok() && after_bits_.ok() && margins_.ok() && own_.ok() && moved_.ok() && planes_.ok() &&
               work_.ok();
    }

    void add(i64 word, i64 rows) {
        for (i64 i = 0; i < a_.own.rows; ++i) own_bits_[i] = a_.own(i, word);
        for (i64 i = 0; i < a_.moving_rows.size; ++i) {
            const i64 row = a_.moving_rows[i];
            before_bits_[row] = a_.before(row, word);
            after_bits_[row] = a_.after(row, word);
        }
        if (a_.link == IDENTITY) {
            for (i64 piece = 0; piece < pieces_; ++piece) find<false>(piece);
        } else {
            find_own();
        }
        for (i64 group = 0; group < a_.on_levels.size; ++group) {
            move(group, rows == WORD ? ~u64{0} : (u64{1} << rows) - 1);
            add_up(group, word * WORD, rows);
        }
    }

private:
    template <bool margins>
    [[gnu::noinline]] void find(i64 piece) {
        find_leaves(a_.trees, own_bits_.data(), piece, [&](i64 row, u64 own, u64 once) {
            reached_[piece].of[row] = own;
            once_[piece].of[row] = once;
            if constexpr (margins) {
                each_bit(own, piece * WORD, [&](i64 leaf) { add_leaf(leaf, 1.0, margins_.data() + row * outputs_); });
            }
        });
    }

    // The rows' own leaves, margins and what the link makes of these.
    void find_own() {
        for (i64 r = 0; r < WORD; ++r) {
            for (i64 o = 0; o < outputs_; ++o) margins_[r * outputs_ + o] = a_.trees.base[o];
        }
        for (i64 piece = 0; piece < pieces_; ++piece) find<true>(piece);
        for (i64 r = 0; r < WORD; ++r) {
            for (i64 o = 0; o < outputs_; ++o) planes_[o * WORD + r] = margins_[r * outputs_ + o];
        }
        link_planes(a_.link, a_.factor, planes_.data(), outputs_, WORD, work_.data());
        for (i64 r = 0; r < WORD; ++r) {
            for (i64 o = 0; o < outputs_; ++o) own_[r * outputs_ + o] = planes_[o * WORD + r];
        }
    }

    void add_leaf(i64 leaf, f64 sign, f64* to) const {
        const i64 output = a_.trees.tree_output[a_.trees.leaf_tree[leaf]];
        const f64* value = a_.trees.leaf_value.row(leaf);
        if (output >= 0) {
            to[output] += sign * value[0];
        } else {
            for (i64 o = 0; o < outputs_; ++o) to[o] += sign * value[o];
        }
    }

    const u64* bits(i64 side) const { return side == 0 ? before_bits_.data() : after_bits_.data(); }

    f64* moved(i64 row, i64 side) const { return moved_.data() + (row * SIDES + side) * outputs_; }

    // The predictions before and after each row's place.
    [[gnu::noinline]] void move(i64 group, u64 used) {
        for (i64 i = 0; i < SIDES * WORD * outputs_; ++i) moved_[i] = 0.0;
        u64 shifted[SIDES] = {0, 0};
        for (i64 i = a_.trees.group_part[group]; i < a_.trees.group_part[group + 1]; ++i) {
            const i64 part = a_.trees.parts_by_group[i];
            u64 flipped[SIDES] = {0, 0};
            for (i64 split = a_.trees.part_split[part]; split < a_.trees.part_split[part + 1]; ++split) {
                const i64 condition = a_.trees.split_row[split];
                for (i64 side = 0; side < SIDES; ++side) flipped[side] |= own_bits_[condition] ^ bits(side)[condition];
            }
            for (i64 side = 0; side < SIDES; ++side) {
                const u64 rows = flipped[side] & used;
                shifted[side] |= rows;
                if (popcount(rows) <= FEW) {
                    each_bit(rows, 0, [&](i64 row) { shift(part, row, side); });
                } else if (outputs_ == 1) {
                    shift_rows<true>(part, rows, side);
                } else {
                    shift_rows<false>(part, rows, side);
                }
            }
        }
        if (a_.link != IDENTITY) link_shifted(shifted);
    }

    // The leaves of a part's piece that a row leaves, and those it comes to, if it is moved to a side.
    void shift(i64 part, i64 row, i64 side) {
        u64 now = 0, then = 0;
        for (i64 split = a_.trees.part_split[part]; split < a_.trees.part_split[part + 1]; ++split) {
            const i64 condition = a_.trees.split_row[split];
            const u64 left = own_bits_[condition] >> row & 1, goes_left = bits(side)[condition] >> row & 1;
            now |= a_.trees.split_leaves(split, static_cast<i64>(left));
            then |= a_.trees.split_leaves(split, static_cast<i64>(goes_left));
        }
        const i64 piece = a_.trees.part_piece[part], first = piece * WORD;
        f64* to = moved(row, side);
        each_bit(once_[piece].of[row] & now & ~then, first, [&](i64 leaf) { add_leaf(leaf, 1.0, to); });
        each_bit(reached_[piece].of[row] & then, first, [&](i64 leaf) { add_leaf(leaf, -1.0, to); });
    }

    // The same for many rows, side by side.
    template <bool single>
    [[gnu::noinline]] void shift_rows(i64 part, u64 rows, i64 side) {
        const i64 piece = a_.trees.part_piece[part];
        Words now, then;
        rule_out(a_.trees, own_bits_.data(), part, now);
        rule_out(a_.trees, bits(side), part, then);
        for (i64 r = 0; r < WORD; ++r) {
            now.of[r] = once_[piece].of[r] & now.of[r] & ~then.of[r];
            then.of[r] &= reached_[piece].of[r];
        }
        add_leaves<single>(now, rows & filled(now.of), 1.0, piece * WORD, side);
        add_leaves<single>(then, rows & filled(then.of), -1.0, piece * WORD, side);
    }

    template <bool single>
    void add_leaves(Words& leaves, u64 rows, f64 sign, i64 first, i64 side) {
        i32 positions[WORD + AT_ONCE];
        // One leaf of every row, then another of those that have more.
        for (i64 n = positions_of(rows, 0, positions), more = 0; n > 0; n = more, more = 0) {
            for (i64 k = 0; k < n; ++k) {
                const i64 row = positions[k];
                const u64 own = leaves.of[row], others = own & (own - 1);
                leaves.of[row] = others;
                positions[more] = static_cast<i32>(row);
                more += others != 0;
                const i64 leaf = first + lowest(own);
                if constexpr (single) {
                    *moved(row, side) += sign * a_.trees.leaf_value.data[leaf];
                } else {
                    add_leaf(leaf, sign, moved(row, side));
                }
            }
        }
    }

    // From what was added to margins to predictions; rows that were not shifted have their own.
    void link_shifted(const u64* shifted) {
        const i64 n = popcount(shifted[0]) + popcount(shifted[1]);
        i64 at = 0;
        for (i64 side = 0; side < SIDES; ++side) {
            each_bit(shifted[side], 0, [&](i64 row) {
                for (i64 o = 0; o < outputs_; ++o) planes_[o * n + at] = margins_[row * outputs_ + o] + moved(row, side)[o];
                ++at;
            });
        }
        link_planes(a_.link, a_.factor, planes_.data(), outputs_, n, work_.data());
        for (i64 row = 0; row < WORD; ++row) {
            for (i64 side = 0; side < SIDES; ++side) {
                for (i64 o = 0; o < outputs_; ++o) moved(row, side)[o] = own_[row * outputs_ + o];
            }
        }
        at = 0;
        for (i64 side = 0; side < SIDES; ++side) {
            each_bit(shifted[side], 0, [&](i64 row) {
                for (i64 o = 0; o < outputs_; ++o) moved(row, side)[o] = planes_[o * n + at];
                ++at;
            });
        }
    }

    [[gnu::noinline]] void add_up(i64 group, i64 first, i64 rows) const {
        const i64 start = a_.place_start[group];
        for (i64 r = 0; r < rows; ++r) {
            const i64 place = a_.place(group, first + r);
            if (place < 0) continue;
            const f64 *before = moved(r, 0), *after = moved(r, 1), *own = own_.data() + r * outputs_;
            if (a_.on_levels[group] != 0) {
                sums_.add<true>(first + r, start + place, [&](i64 o, i64 side) {
                    const i64 raw = a_.chosen[o];
                    return a_.sign[o] * (side == 0 ? own[raw] - before[raw] : after[raw] - own[raw]);
                });
            } else {
                sums_.add<false>(first + r, start + place, [&](i64 o, i64) {
                    const i64 raw = a_.chosen[o];
                    return a_.sign[o] * (after[raw] - before[raw]);
                });
            }
        }
    }

    const AddLocalMovesArguments& a_;
    PlaceSums sums_;
    i64 outputs_, pieces_;
    Zeros<u64> raw_;
    Zeros<u64> own_bits_;
    Zeros<u64> before_bits_;
    Zeros<u64> after_bits_;
    Zeros<f64> margins_;  // of the rows as they are, and what the link makes of them: nothing where there is none
    Zeros<f64> own_;
    Zeros<f64> moved_;    // by row and side
    Zeros<f64> planes_;
    Zeros<f64> work_;
    Words* once_ = nullptr;
    Words* reached_ = nullptr;
};

}  // namespace

// The codes of rows moved to the node before their place and to the one after; `unlike` counts values of levels that
// their own node does not have.
ICEFIELD_EXPORT i64 icefield_move_codes(const MoveCodesArguments* arguments) {
    const MoveCodesArguments& a = *arguments;
    i64 unlike = 0;
    for (i64 m = 0; m < a.moving.size; ++m) {
        const i64 column = a.moving[m], group = a.moving_group[m], last = a.nodes[group] - 1;
        const bool on_levels = a.on_levels[group] != 0;
        const i32* node_code = a.node_code.data + a.code_start[m];
        const i32* own = a.codes.row(column);
        const i32* place = a.place.row(group);
        i32* before = a.before.row(column);
        i32* after = a.after.row(column);
        for (i64 r = 0; r < a.codes.columns; ++r) {
            const i64 at = place[r], low = on_levels ? at - 1 : at, high = at + 1;
            before[r] = at >= 0 && low >= 0 ? node_code[low] : own[r];
            after[r] = at >= 0 && high <= last ? node_code[high] : own[r];
            unlike += on_levels && at >= 0 && node_code[at] != own[r];
        }
    }
    a.unlike[0] += unlike;
    return DONE;
}

// Add what moving rows across their own steps changes to sums by place.
ICEFIELD_EXPORT i64 icefield_add_local_moves(const AddLocalMovesArguments* arguments) {
    const AddLocalMovesArguments& a = *arguments;
    LocalWalk walk(a);
    if (!walk.ok()) return NO_MEMORY;
    const i64 rows = a.weight.size;
    for (i64 word = 0; word * WORD < rows; ++word) {
        if (__atomic_load_n(a.stop.data, __ATOMIC_RELAXED) != 0) return STOPPED;
        const i64 left = rows - word * WORD;
        walk.add(word, left < WORD ? left : WORD);
    }
    return DONE;
}

}  // namespace icefield
