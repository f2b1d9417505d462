// Predictions of rows at both ends of the grid interval they lie in (ALE), for every feature, 64 rows at a time.
//
// A row has a *place* in each group: between two neighbouring nodes of a number, or at a node of levels. It is moved to
// the node before its place and to the one after, and what changes is added up by place. For every leaf there are masks of
// the rows that are in it and of those that would be on either side; neighbours differ in few conditions, so these are
// mostly the same.

#include "abi.hpp"
#include "lanes.hpp"
#include "leaf_masks.hpp"
#include "links.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

constexpr i64 SIDES = 2;  // before and after
// What is known of the rows at a place are counts, their number, weight and squares; and by output, for either side, the
// sum of weight times change, and by squares the means of the changes, their squares about these, and their products.
constexpr i64 BY_OUTPUT = 7;

class PlaceSums {
public:
    explicit PlaceSums(const AddLocalMovesArguments& arguments) : a_(arguments) {}

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

template <class Change>
class LocalWalk {
public:
    explicit LocalWalk(const AddLocalMovesArguments& arguments)
        : a_(arguments), t_(arguments.trees), sums_(arguments), of_(t_), outputs_(of_.number), masks_(t_), before_(t_),
          after_(t_), margins_(outputs_ * WORD), start_(TOGETHER * outputs_ * WORD), own_(TOGETHER * outputs_ * WORD),
          moved_(SIDES * outputs_ * WORD), work_(WORD) {}

    bool ok() const {
        return masks_.ok() && before_.ok() && after_.ok() && margins_.ok() && start_.ok() && own_.ok() && moved_.ok() &&
               work_.ok();
    }

    // Adds the rows of some words.
    void add(i64 first, i64 words) {
        masks_.find(a_.own, first, words);
        before_.find(a_.before, first, words);
        after_.find(a_.after, first, words);
        for (i64 word = 0; word < words; ++word) start(word);
        for (i64 group = 0; group < a_.on_levels.size; ++group) {
            for (i64 word = 0; word < words; ++word) {
                move(word, group);
                add_up(word, group, (first + word) * WORD);
            }
        }
    }

private:
    f64* start_of(i64 word, i64 output) const { return start_.data() + (word * outputs_ + output) * WORD; }
    f64* own(i64 word, i64 output) const { return own_.data() + (word * outputs_ + output) * WORD; }
    f64* moved(i64 side, i64 output) const { return moved_.data() + (side * outputs_ + output) * WORD; }

    // The rows as they are; without a link only changes are wanted, which start from zero.
    void start(i64 word) {
        if (a_.link == IDENTITY) return;
        masks_.add_margins(word, margins_.data());
        hold_planes(a_.link, a_.factor, margins_.data(), outputs_ * WORD, start_of(word, 0));
        for (i64 i = 0; i < outputs_ * WORD; ++i) own(word, 0)[i] = start_of(word, 0)[i];
        respond(own(word, 0));
    }

    // From what is held of 64 rows to predictions.
    void respond(f64* held) const {
        if (a_.link == LOGISTIC) {
            for (i64 i = 0; i < outputs_ * WORD; ++i) held[i] = 1.0 / (1.0 + held[i]);
        } else if (a_.link == SOFTMAX) {
            for (i64 r = 0; r < WORD; ++r) work_[r] = held[r];
            for (i64 o = 1; o < outputs_; ++o) {
                for (i64 r = 0; r < WORD; ++r) work_[r] += held[o * WORD + r];
            }
            for (i64 o = 0; o < outputs_; ++o) {
                for (i64 r = 0; r < WORD; ++r) held[o * WORD + r] /= work_[r];
            }
        }
    }

    // The predictions before and after each row's place.
    [[gnu::noinline]] void move(i64 word, i64 group) {
        for (i64 o = 0; o < outputs_; ++o) {
            const i64 list = group * of_.lists + of_.list(o), value = of_.value(o);
            Lanes<Change> before(start_of(word, o)), after(start_of(word, o));
            for (i64 e = t_.entry_list[list]; e < t_.entry_list[list + 1]; ++e) {
                const i64 leaf = t_.entries(e, 0), region = t_.entries(e, 1);
                const u64 own = masks_.own(leaf, word), others = masks_.others(e, word);
                // Rows that are in the leaf on one side and not as they are, or the other way round.
                const u64 low = (others & before_.of(region, word)) ^ own,
                          high = (others & after_.of(region, word)) ^ own;
                if ((low | high) == 0) continue;
                const f64 comes = t_.value(2 * leaf, value), goes = t_.value(2 * leaf + 1, value);
                before.change(low & own, goes);
                before.change(low & ~own, comes);
                after.change(high & own, goes);
                after.change(high & ~own, comes);
            }
            before.store(moved(0, o));
            after.store(moved(1, o));
        }
        for (i64 side = 0; side < SIDES; ++side) respond(moved(side, 0));
    }

    [[gnu::noinline]] void add_up(i64 word, i64 group, i64 first) const {
        const i64 start = a_.place_start[group], left = a_.weight.size - first, rows = left < WORD ? left : WORD;
        for (i64 r = 0; r < rows; ++r) {
            const i64 place = a_.place(group, first + r);
            if (place < 0) continue;
            const f64 *before = moved(0, 0) + r, *after = moved(1, 0) + r, *as_is = own(word, 0) + r;
            if (a_.on_levels[group] != 0) {
                sums_.add<true>(first + r, start + place, [&](i64 o, i64 side) {
                    const i64 raw = a_.chosen[o] * WORD;
                    return a_.sign[o] * (side == 0 ? as_is[raw] - before[raw] : after[raw] - as_is[raw]);
                });
            } else {
                sums_.add<false>(first + r, start + place, [&](i64 o, i64) {
                    const i64 raw = a_.chosen[o] * WORD;
                    return a_.sign[o] * (after[raw] - before[raw]);
                });
            }
        }
    }

    const AddLocalMovesArguments& a_;
    const MaskedTrees& t_;
    PlaceSums sums_;
    Outputs of_;
    i64 outputs_;
    LeafMasks masks_;
    RegionMasks before_, after_;
    Zeros<f64> margins_, start_, own_;
    Zeros<f64> moved_;  // by side, output and row
    Zeros<f64> work_;
};

template <class Change>
i64 add_moves(const AddLocalMovesArguments& a) {
    LocalWalk<Change> walk(a);
    return add_words(walk, a.own.columns, a.stop);
}

}  // namespace

// The codes of rows moved to the node before their place and to the one after; `unlike` counts values of levels that
// their own node does not have.
i64 run(const MoveCodesArguments& a) {
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
i64 run(const AddLocalMovesArguments& a) { return a.link == IDENTITY ? add_moves<Added>(a) : add_moves<Multiplied>(a); }

}  // namespace icefield
