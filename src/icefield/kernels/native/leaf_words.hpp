// 64 rows and 64 leaves at a time: which leaves the rows' values rule out.
//
// A *piece* is 64 leaves in the order of the trees, a *part* the splits above a piece that ask one group. The leaves
// that a row's values of one group rule out are a word, put together from the splits of the part.
#pragma once

#include "abi.hpp"
#include "bits.hpp"

namespace icefield {

struct alignas(64) Words {
    u64 of[WORD];
};

template <bool more>
inline void rule_out_by(const PieceTrees& trees, const u64* bits, i64 split, Words& out) {
    const u64 goes_left = bits[trees.split_row[split]];
    const u64 left = trees.split_leaves(split, 0), either = left ^ trees.split_leaves(split, 1);
    for (i64 r = 0; r < WORD; ++r) {
        const u64 ruled_out = left ^ (either & (u64{0} - (goes_left >> r & 1)));
        out.of[r] = more ? out.of[r] | ruled_out : ruled_out;
    }
}

// The leaves of a part's piece that each row's values rule out; `bits` has a word of rows for every condition.
inline void rule_out(const PieceTrees& trees, const u64* bits, i64 part, Words& out) {
    i64 split = trees.part_split[part];
    const i64 end = trees.part_split[part + 1];
    rule_out_by<false>(trees, bits, split, out);
    while (++split < end) rule_out_by<true>(trees, bits, split, out);
}

// `found(row, own, once)` for each row: its own leaves of a piece, and those it reaches if one group moves.
template <class Found>
inline void find_leaves(const PieceTrees& trees, const u64* bits, i64 piece, Found found) {
    Words once{}, more{}, out;
    for (i64 part = trees.piece_part[piece]; part < trees.piece_part[piece + 1]; ++part) {
        rule_out(trees, bits, part, out);
        // A group that stays rules out for good.
        const u64 stays = trees.part_group[part] < 0 ? ~u64{0} : 0;
        for (i64 r = 0; r < WORD; ++r) {
            more.of[r] |= (once.of[r] | stays) & out.of[r];
            once.of[r] |= out.of[r];
        }
    }
    const i64 left = trees.leaf_tree.size - piece * WORD;
    const u64 leaves = left >= WORD ? ~u64{0} : (u64{1} << left) - 1;
    for (i64 r = 0; r < WORD; ++r) found(r, leaves & ~once.of[r], once.of[r] & ~more.of[r]);
}

}  // namespace icefield
