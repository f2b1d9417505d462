// How every row's curve steps along every feature: the smallest and the largest step, where they are, and the largest fall and
// rise in all, for 64 rows at a time.
//
// The trees, masks and events are those of the sweeps. What leaves change at a step is added up by itself, from zero: a step is
// the difference of the leaves on its two sides, and not of two sums over all trees, so that leaves that only rise never give
// a fall by rounding. A step within its tolerance is none.

#include "abi.hpp"
#include "lanes.hpp"
#include "leaf_masks.hpp"
#include "links.hpp"
#include "memory.hpp"

namespace icefield {
namespace {

constexpr i64 PICKED = 256;  // events looked at in one go

// As many numbers side by side as all that is kept of a row fits into registers for.
#if defined(__AVX512F__)
constexpr i64 ABREAST = 8;
#elif defined(__AVX2__)
constexpr i64 ABREAST = 4;
#else
constexpr i64 ABREAST = 2;
#endif
typedef f64 Abreast __attribute__((vector_size(8 * ABREAST), aligned(8), may_alias));

// By output: what is found of a row.
enum { SMALLEST, LARGEST, FALL, RISE, MISSING, RANGE, STATISTICS };

template <i64 link>
class StepAudit {
public:
    explicit StepAudit(const AuditStepsArguments& arguments)
        : a_(arguments), m_(arguments.trees.masked), of_(m_), outputs_(of_.number), masks_(m_),
          margins_(outputs_ * WORD), first_(outputs_ * WORD), work_(2 * WORD), before_(outputs_ * WORD),
          steps_(outputs_ * ROW_SUMS * most_steps()) {}

    bool ok() const { return masks_.ok() && margins_.ok() && first_.ok() && work_.ok() && before_.ok() && steps_.ok(); }

    void add(i64 first, i64 words) {
        masks_.find(a_.bits, first, words);
        for (i64 group = 0; group < a_.points.size; ++group) {
            if (a_.points[group] == 0) continue;
            for (i64 word = 0; word < words; ++word) {
                find_steps(word, group);
                if constexpr (link != IDENTITY) {
                    find_margins(word, group);
                    respond(group);
                }
                for (i64 o = 0; o < outputs_; ++o) reduce(group, o, (first + word) * WORD);
            }
        }
    }

private:
    i64 most_steps() const {
        i64 most = 1;
        for (i64 g = 0; g < a_.points.size; ++g) most = a_.points[g] > most ? a_.points[g] : most;
        return most;
    }

    f64* step(i64 s, i64 output) const { return steps_.data() + (s * outputs_ + output) * ROW_SUMS; }

    // What changes at every step, in margins; the first point has none before it.
    void find_steps(i64 word, i64 group) {
        const SweepTrees& t = a_.trees;
        for (i64 s = 1; s < a_.points[group]; ++s) {
            for (i64 o = 0; o < outputs_; ++o) {
                const i64 list = t.group_list[group] + s * of_.lists + of_.list(o);
                f64* const sums = step(s, o);
                for (i64 i = 0; i < ROW_SUMS / 8; ++i) eight(sums, i) = Eight{};
                for (i64 e = t.list_event[list]; e < t.list_event[list + 1]; e += PICKED) {
                    const i64 left = t.list_event[list + 1] - e;
                    add_events(word, e, left < PICKED ? left : PICKED, of_.value(o), sums);
                }
            }
        }
    }

    // Most events have no rows, and which is as good as random: they are sorted out before anything depends on it.
    void add_events(i64 word, i64 first, i64 number, i64 value, f64* sums) const {
        const SweepTrees& t = a_.trees;
        u64 rows[PICKED];
        i32 what[PICKED];
        i64 picked = 0;
        for (i64 e = first; e < first + number; ++e) {
            const u64 own = masks_.others(t.events(e, 0), word);
            rows[picked] = own;
            what[picked] = t.events(e, 1);
            picked += own != 0;
        }
        for (i64 i = 0; i < picked; ++i) add_to_rows(sums, rows[i], m_.value(what[i], value));
    }

    // The margins at the first point.
    void find_margins(i64 word, i64 group) {
        masks_.add_margins(word, margins_.data());
        for (i64 o = 0; o < outputs_; ++o) {
            const i64 list = group * of_.lists + of_.list(o), value = of_.value(o);
            Lanes<Added> lanes(margins_.data() + o * WORD);
            for (i64 e = m_.entry_list[list]; e < m_.entry_list[list + 1]; ++e) {
                const i64 what = a_.trees.start_value[e];
                const u64 rows = masks_.own(what >> 1, word) ^ (masks_.others(e, word) & ~flip_of(what));
                if (rows != 0) lanes.change(rows, m_.value(what, value));
            }
            lanes.store(margins_.data() + o * WORD);
        }
    }

    // From steps of margins to those of responses. A response that takes one margin never steps against it.
    void respond(i64 group) {
        const i64 n = outputs_ * WORD;
        for (i64 i = 0; i < n; ++i) before_[i] = margins_[i];
        link_planes(link, a_.factor, before_.data(), outputs_, WORD, work_.data());
        for (i64 s = 1; s < a_.points[group]; ++s) {
            const f64 tolerance = a_.tolerance[a_.point_start[group] + s];
            for (i64 o = 0; o < outputs_; ++o) {
                for (i64 r = 0; r < WORD; ++r) margins_[o * WORD + r] += step(s, o)[r];
            }
            for (i64 i = 0; i < n; ++i) first_[i] = margins_[i];
            link_planes(link, a_.factor, first_.data(), outputs_, WORD, work_.data());
            for (i64 o = 0; o < outputs_; ++o) {
                f64* const steps = step(s, o);
                for (i64 r = 0; r < WORD; ++r) {
                    const f64 margin = steps[r];
                    f64 change = first_[o * WORD + r] - before_[o * WORD + r];
                    if constexpr (link != SOFTMAX) {
                        const bool rises = a_.factor < 0.0 ? margin < -tolerance : margin > tolerance;
                        const bool falls = a_.factor < 0.0 ? margin > tolerance : margin < -tolerance;
                        change = rises ? (change > 0.0 ? change : 0.0) : (falls && change < 0.0 ? change : 0.0);
                    }
                    steps[r] = change;
                }
            }
            for (i64 i = 0; i < n; ++i) before_[i] = first_[i];
        }
    }

    void reduce(i64 group, i64 output, i64 first) const {
        const i64 points = a_.points[group], numbers = a_.numbers[group];
        const i64 left = a_.rows - first, rows = left < WORD ? left : WORD;
        for (i64 begin = 0; begin < rows; begin += ABREAST) {
            Abreast smallest{}, largest{}, sum{}, peak{}, trough{}, fall{}, rise{};
            Abreast smallest_at{}, largest_at{};
            for (i64 s = 1; s < numbers; ++s) {
                const f64 tolerance =
                    link == IDENTITY || link == SOFTMAX ? a_.tolerance[a_.point_start[group] + s] : 0.0;
                const Abreast given = abreast(s, output, begin), here = Abreast{} + static_cast<f64>(s);
                const Abreast change = (given > tolerance) | (given < -tolerance) ? given : Abreast{};
                smallest_at = change < smallest ? here : smallest_at;
                smallest = change < smallest ? change : smallest;
                largest_at = change > largest ? here : largest_at;
                largest = change > largest ? change : largest;
                sum += change;
                peak = sum > peak ? sum : peak;
                trough = sum < trough ? sum : trough;
                fall = peak - sum > fall ? peak - sum : fall;
                rise = sum - trough > rise ? sum - trough : rise;
            }
            Abreast missing = sum - trough;
            for (i64 s = numbers; s < points; ++s) missing += abreast(s, output, begin);
            const Abreast found[STATISTICS] = {smallest, largest, fall, rise, missing, peak - trough};
            for (i64 r = 0; r < ABREAST && begin + r < rows; ++r) {
                const i64 row = first + begin + r;
                for (i64 k = 0; k < STATISTICS; ++k) a_.found(group, output * STATISTICS + k, row) = found[k][r];
                a_.places(group, 2 * output, row) = static_cast<i32>(smallest_at[r]);
                a_.places(group, 2 * output + 1, row) = static_cast<i32>(largest_at[r]);
            }
        }
    }

    const Abreast& abreast(i64 s, i64 output, i64 begin) const {
        return *reinterpret_cast<const Abreast*>(step(s, output) + begin);
    }

    const AuditStepsArguments& a_;
    const MaskedTrees& m_;
    Outputs of_;
    i64 outputs_;
    LeafMasks masks_;
    Zeros<f64> margins_, first_, work_, before_, steps_;
};

template <i64 link>
i64 audit(const AuditStepsArguments& a) {
    StepAudit<link> walk(a);
    return add_words(walk, a.bits.columns, a.stop);
}

}  // namespace

// Find how the rows' curves step along every group's grid.
i64 run(const AuditStepsArguments& a) {
    switch (a.link) {
        case LOGISTIC: return audit<LOGISTIC>(a);
        case EXPONENTIAL: return audit<EXPONENTIAL>(a);
        case SOFTMAX: return audit<SOFTMAX>(a);
        default: return audit<IDENTITY>(a);
    }
}

}  // namespace icefield
