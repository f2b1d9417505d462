// Averages at a few rows' own values on a linked scale: every row with the values of every other in some groups.
//
// A tree's sum is a sum over leaves of value x product over the groups of the leaf's path of (does the row's value
// lead there?). Moving groups from row l's values to row i's changes those factors only. So the margin of row l with
// group j from row i is own(l) + move_j(l, i), and with groups j and k it is
//   own(l) + move_j(l, i) + move_k(l, i) + what leaves with both on their path add,
// where such a leaf adds its value, with a sign, for the rows i that differ from l in both factors, if l meets all
// others. Rows i are bits of words; the link is taken of whole vectors.

#include "abi.hpp"
#include "bits.hpp"
#include "links.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

// Adds `value` where a bit is set.
inline void add_where(u64 word, f64 value, f64* target, i64 n) {
    for (i64 r = 0; r < n; ++r) target[r] += (word >> r & 1) != 0 ? value : 0.0;
}

class Crossing {
public:
    // `planes` = outputs x rows l at a time.
    Crossing(const CrossTrees& trees, i64 first, i64 planes)
        : t_(trees), first_(first), outputs_(trees.own.rows), rows_(trees.own.columns), words_(trees.masks.columns),
          here_(planes / outputs_), margins_(outputs_ * rows_), work_(2 * rows_), met_(words_), apart_(words_) {}

    bool ok() const { return margins_.ok() && work_.ok() && met_.ok() && apart_.ok(); }

    // Adds what moving some groups of a leaf's path does: `changed` are their places, `moves` has (outputs, here, rows).
    template <i64 groups>
    void add_leaf(i64 leaf, const i32* changed, f64* moves) {
        const u64* moving[groups];
        for (i64 g = 0; g < groups; ++g) moving[g] = t_.masks.row(t_.path_mask[changed[g]]);
        for (i64 w = 0; w < words_; ++w) met_[w] = ~u64{0};
        for (i64 p = t_.path_start[leaf]; p < t_.path_start[leaf + 1]; ++p) {
            bool stays = true;
            for (i64 g = 0; g < groups; ++g) stays &= p != changed[g];
            if (!stays) continue;
            const u64* mask = t_.masks.row(t_.path_mask[p]);
            for (i64 w = 0; w < words_; ++w) met_[w] &= mask[w];
        }
        for (i64 row = 0; row < here_; ++row) {
            const i64 l = first_ + row;
            if ((met_[l / WORD] >> l % WORD & 1) == 0) continue;
            f64 sign = 1.0;
            for (i64 w = 0; w < words_; ++w) apart_[w] = ~u64{0};
            for (i64 g = 0; g < groups; ++g) {
                const u64 own = u64{0} - (moving[g][l / WORD] >> l % WORD & 1);
                if (own != 0) sign = -sign;
                for (i64 w = 0; w < words_; ++w) apart_[w] &= moving[g][w] ^ own;
            }
            const f64* value = t_.leaf_value.row(leaf);
            const i64 output = t_.leaf_output[leaf];
            if (output >= 0) {
                add_row(sign * value[0], moves + (output * here_ + row) * rows_);
            } else {
                for (i64 o = 0; o < outputs_; ++o) add_row(sign * value[o], moves + (o * here_ + row) * rows_);
            }
        }
    }

    // Links row `row` of those here, whose moves (and those of another group) are given, and adds its average.
    void average(i64 row, const f64* moves, const f64* more, const f64* third, f64* averages, f64* others) {
        const i64 l = first_ + row;
        for (i64 o = 0; o < outputs_; ++o) {
            const i64 plane = (o * here_ + row) * rows_;
            const f64 own = t_.own(o, l);
            f64* margin = margins_.data() + o * rows_;
            if (more == nullptr) {
                for (i64 i = 0; i < rows_; ++i) margin[i] = own + moves[plane + i];
            } else {
                for (i64 i = 0; i < rows_; ++i) margin[i] = own + moves[plane + i] + more[plane + i] + third[plane + i];
            }
        }
        link_planes(t_.link, t_.factor, margins_.data(), outputs_, rows_, work_.data());
        const f64 weight = t_.weight[l];
        for (i64 o = 0; o < outputs_; ++o) {
            const f64* response = margins_.data() + o * rows_;
            f64* average = averages + o * rows_;
            for (i64 i = 0; i < rows_; ++i) average[i] += weight * response[i];
            if (others == nullptr) continue;
            f64 total = 0.0;
            for (i64 i = 0; i < rows_; ++i) total += t_.weight[i] * response[i];
            others[o * rows_ + l] = total;
        }
    }

    i64 here() const { return here_; }

private:
    void add_row(f64 value, f64* target) const {
        for (i64 w = 0; w < words_; ++w) {
            if (apart_[w] == 0) continue;
            const i64 left = rows_ - w * WORD;
            if (left >= WORD) {
                add_where(apart_[w], value, target + w * WORD, WORD);
            } else {
                add_where(apart_[w], value, target + w * WORD, left);
            }
        }
    }

    const CrossTrees& t_;
    i64 first_, outputs_, rows_, words_, here_;
    Zeros<f64> margins_;
    Zeros<f64> work_;
    Zeros<u64> met_;
    Zeros<u64> apart_;
};

bool is_stopped(const List<const u8>& stop) { return __atomic_load_n(stop.data, __ATOMIC_RELAXED) != 0; }

}  // namespace

// Moves of some groups, and the rows' averages with that group from one row, or all others, where there is room.
i64 run(const CrossSinglesArguments& a) {
    Crossing crossing(a.trees, a.first, a.moves.rows);
    if (!crossing.ok()) return NO_MEMORY;
    for (i64 k = 0; k < a.groups.size; ++k) {
        if (is_stopped(a.stop)) return STOPPED;
        const i64 group = a.groups[k];
        f64* moves = a.moves.row(group, 0);
        for (i64 i = 0; i < a.moves.rows * a.moves.columns; ++i) moves[i] = 0.0;
        for (i64 e = a.entry_start[group]; e < a.entry_start[group + 1]; ++e) {
            crossing.add_leaf<1>(a.entry_leaf[e], a.entry_path.data + e, moves);
        }
        const i64 averaged = a.averages.layers > 0 ? crossing.here() : 0;
        for (i64 row = 0; row < averaged; ++row) {
            crossing.average(row, moves, nullptr, nullptr, a.averages.row(group, 0), a.others.row(group, 0));
        }
    }
    return DONE;
}

// The rows' averages with two groups from one row, for some pairs; `moves` are those of single groups.
i64 run(const CrossPairsArguments& a) {
    Crossing crossing(a.trees, a.first, a.moves.rows);
    const i64 size = a.moves.rows * a.moves.columns;
    Zeros<f64> both(size);
    if (!crossing.ok() || !both.ok()) return NO_MEMORY;
    for (i64 k = 0; k < a.asked.size; ++k) {
        if (is_stopped(a.stop)) return STOPPED;
        const i64 pair = a.asked[k];
        for (i64 i = 0; i < size; ++i) both[i] = 0.0;
        for (i64 e = a.entry_start[pair]; e < a.entry_start[pair + 1]; ++e) {
            crossing.add_leaf<2>(a.entry_leaf[e], a.entry_path.row(e), both.data());
        }
        const f64* first = a.moves.row(a.pairs(pair, 0), 0);
        const f64* second = a.moves.row(a.pairs(pair, 1), 0);
        for (i64 row = 0; row < crossing.here(); ++row) {
            crossing.average(row, first, second, both.data(), a.averages.row(pair, 0), nullptr);
        }
    }
    return DONE;
}

}  // namespace icefield
