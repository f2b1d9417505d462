// Every feature's ICE curves on a linked scale, swept along the grid for 64 rows at a time.
//
// A leaf counts for a row's curve along one group if the row meets every condition on the leaf's path except those of
// the group: a mask of rows for every entry. Along the group's grid a leaf comes where its region begins and goes where
// it ends, for all rows of its mask at once. What is held for a row is its margin, or the margin's exponential, which a
// leaf then multiplies: no step takes an exponential. Nothing here depends on where a row goes.
//
// The levels of a category may be in a leaf's region and not in it many times over. There, each row of a mask has the leaf
// added to the steps of its region, 64 steps at a time.

#include "abi.hpp"
#include "lanes.hpp"
#include "leaf_masks.hpp"
#include "links.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

constexpr i64 LISTED = 1024;  // rows of entries, visited in one go

template <i64 link, class Change, bool skips_empty>
class Sweep {
public:
    explicit Sweep(const AddSweepsArguments& arguments)
        : a_(arguments), m_(arguments.trees.masked), t_(arguments.totals), of_(m_), outputs_(of_.number), masks_(m_),
          margins_(outputs_ * WORD), own_(TOGETHER * outputs_ * WORD), start_(TOGETHER * outputs_ * WORD),
          held_(outputs_ * WORD), response_(outputs_ * WORD), before_(outputs_ * WORD), work_(2 * WORD),
          own_sums_(TOGETHER * 2 * outputs_), sums_(2 * outputs_), curves_(outputs_ * WORD * most_room()),
          own_goes_(most_room() > 0 ? (last_tree() + 1) * WORD : 0) {}

    bool ok() const {
        return masks_.ok() && margins_.ok() && own_.ok() && start_.ok() && held_.ok() && response_.ok() &&
               before_.ok() && work_.ok() && own_sums_.ok() && sums_.ok() && curves_.ok() && own_goes_.ok();
    }

    // Adds the rows of some words.
    void add(i64 first, i64 words) {
        masks_.find(a_.bits, first, words);
        for (i64 word = 0; word < words; ++word) start(word, (first + word) * WORD);
        for (i64 group = 0; group < t_.points.size; ++group) {
            if (t_.points[group] == 0) continue;
            // A group's masks and events stay near for all words.
            for (i64 word = 0; word < words; ++word) {
                if (rows_[word].alone >= 0) {
                    move<false>(word, group);
                } else {
                    move<true>(word, group);
                }
            }
        }
    }

private:
    static i64 words_of(i64 steps) { return (steps + WORD - 1) / WORD; }

    static i64 eights_of(i64 steps) { return (steps + 7) / 8; }

    // For a row's steps along groups that are added up by steps.
    i64 most_room() const {
        i64 most = 0;
        for (i64 g = 0; g < t_.points.size; ++g) {
            const i64 room = a_.trees.group_inside[g] < 0 ? 0 : 8 * eights_of(t_.points[g]);
            most = room > most ? room : most;
        }
        return most;
    }

    i64 last_tree() const { return m_.leaf_tree.size > 0 ? m_.leaf_tree[m_.leaf_tree.size - 1] : -1; }

    // The rows of a word.
    struct Rows {
        i64 first;
        i64 number;
        i64 alone;  // the segment that all are of, or -1 where rows must be told apart
        alignas(64) f64 weight[WORD];
    };

    f64* own(i64 word, i64 output) const { return own_.data() + (word * outputs_ + output) * WORD; }
    f64* start_of(i64 word, i64 output) const { return start_.data() + (word * outputs_ + output) * WORD; }

    // The rows' own margins and predictions.
    void start(i64 word, i64 first) {
        Rows& rows = rows_[word];
        const i64 left = t_.weight.size - first;
        rows.first = first;
        rows.number = left < WORD ? left : WORD;
        rows.alone = t_.curves.columns > 0 ? -1 : t_.segment[first];
        for (i64 r = 0; r < WORD; ++r) {
            rows.weight[r] = r < rows.number ? t_.weight[first + r] : 0.0;
            if (r < rows.number && t_.segment[first + r] != rows.alone) rows.alone = -1;
        }
        masks_.add_margins(word, margins_.data());
        const i64 n = outputs_ * WORD;
        for (i64 i = 0; i < n; ++i) own(word, 0)[i] = margins_[i];
        link_planes(link, t_.factor, own(word, 0), outputs_, WORD, work_.data());
        hold_planes(link, t_.factor, margins_.data(), n, start_of(word, 0));
        for (i64 o = 0; o < outputs_; ++o) {
            add_own(rows, o, own(word, o));
            Eight sum{}, squares{};
            for (i64 i = 0; i < EIGHTS; ++i) {
                count(eight(own(word, o), i), eight(rows.weight, i), t_.about[o], sum, squares);
            }
            own_sums_[2 * (word * outputs_ + o)] = total(sum);
            own_sums_[2 * (word * outputs_ + o) + 1] = total(squares);
        }
    }

    void add_own(const Rows& rows, i64 output, const f64* own) const {
        for (i64 r = 0; r < rows.number; ++r) {
            const i64 segment = t_.segment[rows.first + r];
            const f64 apart = own[r] - t_.about[output];
            t_.own(segment, output, 0) += rows.weight[r] * own[r];
            t_.own(segment, output, 1) += rows.weight[r] * apart * apart;
            if (t_.first.rows > 0) t_.first(rows.first + r, output) = own[r];
        }
    }

    // All that happens along one group's grid; `by_rows` where rows must be told apart.
    template <bool by_rows>
    void move(i64 word, i64 group) {
        for (i64 i = 0; i < 2 * outputs_; ++i) sums_[i] = own_sums_[2 * word * outputs_ + i];
        if constexpr (by_rows) {
            for (i64 i = 0; i < outputs_ * WORD; ++i) before_[i] = own(word, 0)[i];
        }
        if (a_.trees.group_inside[group] < 0) {
            sweep<by_rows>(word, group);
        } else {
            add_by_steps<by_rows>(word, group);
        }
    }

    template <bool by_rows>
    [[gnu::noinline]] void sweep(i64 word, i64 group) {
        const SweepTrees& t = a_.trees;
        const i64 steps = t_.points[group], at = t_.point_start[group];
        u64 changed = 0;
        for (i64 o = 0; o < outputs_; ++o) {
            const i64 list = group * of_.lists + of_.list(o), value = of_.value(o);
            Lanes<Change> lanes(start_of(word, o));
            for (i64 e = m_.entry_list[list]; e < m_.entry_list[list + 1]; ++e) {
                const i64 what = t.start_value[e];
                const u64 own = masks_.own(what >> 1, word);
                // Where the leaf is there from the start, it is new to all but its own rows; else it leaves those.
                const u64 rows = own ^ (masks_.others(e, word) & ~flip_of(what));
                if (skips_empty && rows == 0) continue;
                if constexpr (by_rows) changed |= rows;
                lanes.change(rows, m_.value(what, value));
            }
            lanes.store(held_.data() + o * WORD);
        }
        respond<by_rows>(rows_[word], at, changed);
        for (i64 s = 1; s < steps; ++s) {
            changed = 0;
            for (i64 o = 0; o < outputs_; ++o) {
                const i64 list = t.group_list[group] + s * of_.lists + of_.list(o), value = of_.value(o);
                Lanes<Change> lanes(held_.data() + o * WORD);
                for (i64 e = t.list_event[list]; e < t.list_event[list + 1]; ++e) {
                    const u64 rows = masks_.others(t.events(e, 0), word);
                    if (skips_empty && rows == 0) continue;
                    if constexpr (by_rows) changed |= rows;
                    lanes.change(rows, m_.value(t.events(e, 1), value));
                }
                lanes.store(held_.data() + o * WORD);
            }
            respond<by_rows>(rows_[word], at + s, changed);
        }
    }

    template <bool by_rows>
    [[gnu::noinline]] void add_by_steps(i64 word, i64 group) {
        const SweepTrees& t = a_.trees;
        const i64 steps = t_.points[group], words = words_of(steps), eights = eights_of(steps), room = 8 * eights;
        u64 changed = 0;
        for (i64 o = 0; o < outputs_; ++o) {
            const i64 list = group * of_.lists + of_.list(o), value = of_.value(o);
            const i64 begin = m_.entry_list[list], end = m_.entry_list[list + 1];
            const i32* const start_value = t.start_value.data;
            const i32* const leaf_tree = m_.leaf_tree.data;
            const i64 columns = m_.value.columns;
            const f64* const values = m_.value.data + value;
            f64* const own_goes = own_goes_.data();
            each_row(
                begin, end, [=, this](i64 e) { return masks_.own(start_value[e] >> 1, word); },
                [=](i64 e, i64 row) {
                    const i64 goes = start_value[e] | 1;
                    own_goes[leaf_tree[goes >> 1] * WORD + row] = values[goes * columns];
                });
            f64* const curves = curves_.data() + o * WORD * room;
            for (i64 r = 0; r < WORD; ++r) {
                for (i64 i = 0; i < eights; ++i) eight(curves + r * room, i) = Eight{} + start_of(word, o)[r];
            }
            // Any other leaf takes the place of the row's own.
            const u64* const inside =
                t.inside.data + t.group_inside[group] + (begin - m_.entry_list[group * of_.lists]) * words;
            changed |= each_row(
                begin, end, [=, this](i64 e) { return masks_.others(e, word) ^ masks_.own(start_value[e] >> 1, word); },
                [=](i64 e, i64 row) {
                    const i64 comes = start_value[e] & ~i64{1}, tree = leaf_tree[comes >> 1];
                    const f64 by = Change::of(values[comes * columns], own_goes[tree * WORD + row]);
                    const u64* const here = inside + (e - begin) * words;
                    f64* const curve = curves + row * room;
                    for (i64 w = 0; w < words; ++w) {
                        const i64 left = eights - w * EIGHTS;
                        change_some<Change>(curve + w * WORD, here[w], by, left < EIGHTS ? left : EIGHTS);
                    }
                });
        }
        for (i64 s = 0; s < steps; ++s) {
            for (i64 i = 0; i < outputs_ * WORD; ++i) held_[i] = curves_[i * room + s];
            respond<by_rows>(rows_[word], t_.point_start[group] + s, changed);
        }
    }

    // `visit(entry, row)` for each row of the masks of some entries; returns the rows of any of them. Most masks have none or few, and
    // which is as good as random: rows are listed before anything depends on how many they are.
    template <class RowsOf, class Visit>
    [[gnu::always_inline]] static u64 each_row(i64 begin, i64 end, RowsOf rows_of, Visit visit) {
        i32 listed[LISTED + WORD + AT_ONCE];
        u64 any = 0;
        i64 number = 0;
        for (i64 e = begin; e < end; ++e) {
            const u64 rows = rows_of(e);
            any |= rows;
            number += positions_of(rows, (e - begin) * WORD, listed + number);
            if (number < LISTED && e + 1 < end) continue;
            for (i64 i = 0; i < number; ++i) visit(begin + (listed[i] >> 6), listed[i] & (WORD - 1));
            number = 0;
        }
        return any;
    }

    // What is held at a step, linked and added; `changed` rows only where rows are told apart.
    template <bool by_rows>
    void respond(const Rows& rows, i64 at, u64 changed) {
        if constexpr (link == SOFTMAX) {
            for (i64 i = 0; i < EIGHTS; ++i) {
                Eight all = eight(held_.data(), i);
                for (i64 o = 1; o < outputs_; ++o) all += eight(held_.data() + o * WORD, i);
                eight(work_.data(), i) = 1.0 / all;
            }
        }
        for (i64 o = 0; o < outputs_; ++o) {
            Eight sum{}, squares{};
            const f64 about = t_.about[o];
            for (i64 i = 0; i < EIGHTS; ++i) {
                Eight response = eight(held_.data() + o * WORD, i);
                if constexpr (link == LOGISTIC) response = 1.0 / (1.0 + response);
                if constexpr (link == SOFTMAX) response *= eight(work_.data(), i);
                if constexpr (by_rows) {
                    eight(response_.data() + o * WORD, i) = response;
                } else {
                    count(response, eight(rows.weight, i), about, sum, squares);
                }
            }
            if constexpr (by_rows) {
                add_rows(rows, at, o, changed);
            } else {
                // Differences between neighbouring steps are what is summed.
                const f64 now = total(sum);
                t_.sums(rows.alone, o, at) += now - sums_[2 * o];
                sums_[2 * o] = now;
                if (t_.squares.columns == 0) continue;
                const f64 squared = total(squares);
                t_.squares(rows.alone, o, at) += squared - sums_[2 * o + 1];
                sums_[2 * o + 1] = squared;
            }
        }
    }

    static void count(const Eight& response, const Eight& weight, f64 about, Eight& sum, Eight& squares) {
        const Eight apart = response - about;
        sum += weight * response;
        squares += weight * apart * apart;
    }

    void add_rows(const Rows& rows, i64 at, i64 output, u64 changed) {
        const f64 about = 2.0 * t_.about[output];
        const u64 used = rows.number == WORD ? ~u64{0} : (u64{1} << rows.number) - 1;
        each_bit(changed & used, 0, [&](i64 row) {
            const i64 segment = t_.segment[rows.first + row], place = output * WORD + row;
            const f64 now = response_[place], before = before_[place], change = now - before;
            before_[place] = now;
            t_.sums(segment, output, at) += rows.weight[row] * change;
            if (t_.squares.columns > 0) {
                t_.squares(segment, output, at) += rows.weight[row] * change * (now + before - about);
            }
            if (t_.curves.columns > 0) t_.curves(rows.first + row, output, at) = change;
        });
    }

    const AddSweepsArguments& a_;
    const MaskedTrees& m_;
    const StepTotals& t_;
    Outputs of_;
    i64 outputs_;
    LeafMasks masks_;
    Zeros<f64> margins_, own_, start_, held_, response_, before_, work_, own_sums_, sums_;
    // Of a group that is added up by steps: curves by output and row, and by tree what changes where rows' own leaves go.
    Zeros<f64> curves_, own_goes_;
    Rows rows_[TOGETHER] = {};
};

template <i64 link, class Change, bool skips_empty>
i64 add(const AddSweepsArguments& a) {
    Sweep<link, Change, skips_empty> sweep(a);
    return add_words(sweep, a.bits.columns, a.stop);
}

template <i64 link, class Change>
i64 choose(const AddSweepsArguments& a) {
    return a.trees.skips_empty ? add<link, Change, true>(a) : add<link, Change, false>(a);
}

}  // namespace

// Add the rows' linked curves, as differences between neighbouring grid points, to sums and squares.
i64 run(const AddSweepsArguments& a) {
    switch (a.totals.link) {
        case LOGISTIC: return choose<LOGISTIC, Multiplied>(a);
        case EXPONENTIAL: return choose<EXPONENTIAL, Multiplied>(a);
        case SOFTMAX: return choose<SOFTMAX, Multiplied>(a);
        default: return choose<IDENTITY, Added>(a);
    }
}

}  // namespace icefield
