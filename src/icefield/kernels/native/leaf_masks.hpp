// Masks of rows, for every leaf and group on its path: the rows that meet the path conditions of all other groups.
//
// If the group moves, these rows are in the leaf where its region is, and nowhere else.
#pragma once

#include "abi.hpp"
#include "lanes.hpp"
#include "memory.hpp"

namespace icefield {

constexpr i64 TOGETHER = 4;  // words of rows whose masks are found side by side
typedef u64 Masks __attribute__((vector_size(8 * TOGETHER), aligned(8), may_alias));

inline Masks& masks(const Zeros<u64>& data, i64 number) {
    return *reinterpret_cast<Masks*>(data.data() + TOGETHER * number);
}

// The rows of every region, by its number.
class RegionMasks {
public:
    explicit RegionMasks(const MaskedTrees& trees) : t_(trees), rows_(TOGETHER * (trees.regions.rows + 1)) {}

    bool ok() const { return rows_.ok(); }

    // Those of some words of bits.
    void find(const Table<const u64>& bits, i64 first, i64 words) {
        masks(rows_, 0) = ~Masks{};
        for (i64 r = 0; r < t_.regions.rows; ++r) {
            const i64 test = t_.regions(r, 0);
            const u64* const row = bits.row(test >> 1) + first;
            Masks passed{};
            for (i64 w = 0; w < words; ++w) passed[w] = row[w];
            masks(rows_, r + 1) = masks(rows_, t_.regions(r, 1)) & (passed ^ flip_of(test));
        }
    }

    const Masks& of(i64 region) const { return masks(rows_, region); }
    u64 of(i64 region, i64 word) const { return rows_[TOGETHER * region + word]; }

private:
    const MaskedTrees& t_;
    Zeros<u64> rows_;
};

class LeafMasks {
public:
    explicit LeafMasks(const MaskedTrees& trees)
        : t_(trees), regions_(trees), own_(TOGETHER * trees.leaf_output.size),
          others_(TOGETHER * (trees.entries.rows + 1)), path_(TOGETHER * (longest_path() + 1)) {}

    bool ok() const { return regions_.ok() && own_.ok() && others_.ok() && path_.ok(); }

    void find(const Table<const u64>& bits, i64 first, i64 words) {
        regions_.find(bits, first, words);
        for (i64 leaf = 0; leaf < t_.leaf_output.size; ++leaf) {
            const i64 begin = t_.leaf_item[leaf], items = t_.leaf_item[leaf + 1] - begin;
            Masks own = ~Masks{}, after = own;
            for (i64 i = 0; i < items; ++i) {
                masks(path_, i) = own;
                own &= regions_.of(t_.items(begin + i, 0));
            }
            masks(own_, leaf) = own;
            for (i64 i = items - 1; i >= 0; --i) {
                masks(others_, t_.items(begin + i, 1)) = masks(path_, i) & after;
                after &= regions_.of(t_.items(begin + i, 0));
            }
        }
    }

    // The rows that are in a leaf, and those that an entry's other groups lead to its leaf.
    u64 own(i64 leaf, i64 word) const { return own_[TOGETHER * leaf + word]; }
    u64 others(i64 entry, i64 word) const { return others_[TOGETHER * entry + word]; }

    // The margins of a word's rows, by output. Trees come one after another, so sums are those of any other way.
    void add_margins(i64 word, f64* margins) const {
        const i64 outputs = t_.base.size, leaves = t_.leaf_output.size;
        for (i64 o = 0; o < outputs; ++o) {
            for (i64 r = 0; r < WORD; ++r) margins[o * WORD + r] = t_.base[o];
        }
        for (i64 o = 0; o < t_.leaf_value.columns; ++o) {
            i64 leaf = 0;
            while (leaf < leaves) {
                const i64 output = t_.leaf_output[leaf];
                f64* const margin = margins + (output < 0 ? o : output) * WORD;
                Lanes<Added> lanes(margin);
                for (; leaf < leaves && t_.leaf_output[leaf] == output; ++leaf) {
                    lanes.change(own(leaf, word), t_.leaf_value(leaf, o));
                }
                lanes.store(margin);
            }
        }
    }

private:
    i64 longest_path() const {
        i64 longest = 0;
        for (i64 leaf = 0; leaf < t_.leaf_output.size; ++leaf) {
            const i64 items = t_.leaf_item[leaf + 1] - t_.leaf_item[leaf];
            longest = items > longest ? items : longest;
        }
        return longest;
    }

    const MaskedTrees& t_;
    RegionMasks regions_;
    Zeros<u64> own_, others_, path_;
};

// Lets a walk add all words of rows, a few at a time, until it is stopped.
template <class Walk>
inline i64 add_words(Walk& walk, i64 words, const List<const u8>& stop) {
    if (!walk.ok()) return NO_MEMORY;
    for (i64 word = 0; word < words; word += TOGETHER) {
        if (__atomic_load_n(stop.data, __ATOMIC_RELAXED) != 0) return STOPPED;
        const i64 left = words - word;
        walk.add(word, left < TOGETHER ? left : TOGETHER);
    }
    return DONE;
}

// Where an output finds its entries and its values: a list of its own and the one value of a leaf, or those of all.
struct Outputs {
    explicit Outputs(const MaskedTrees& trees)
        : number(trees.base.size), lists(trees.leaf_value.columns > 1 ? 1 : number) {}

    i64 list(i64 output) const { return lists > 1 ? output : 0; }
    i64 value(i64 output) const { return lists > 1 ? 0 : output; }

    i64 number;
    i64 lists;  // of entries, for each group
};

}  // namespace icefield
