// Running a leaf-visiting program over a block of rows: what curves, moves and others have in common.
#pragma once

#include "abi.hpp"
#include "bits.hpp"
#include "lists.hpp"

namespace icefield {

constexpr i64 POLL = 1023;  // instructions between two readings of the stop flag, less one

struct Instruction {
    i64 source;
    i64 condition;
    i64 target;
    i64 counter;

    Instruction(const Walk& walk, i64 number) {
        const i32* fields = walk.program.row(number);
        source = fields[0];
        condition = fields[1];
        target = fields[2];
        counter = fields[3];
    }
};

// Another thread raises the flag while the kernel runs.
inline bool is_stopped(const Walk& walk, i64 instruction) {
    return (instruction & POLL) == 0 && __atomic_load_n(walk.stop.data, __ATOMIC_RELAXED) != 0;
}

// A row set: the rows of a mask that meet a path condition, if there is one, a word at a time.
class RowSet {
public:
    RowSet(const Walk& walk, Instruction instruction, i32* room)
        : mask_(walk.buffers.row(instruction.source)),
          test_(instruction.condition < 0 ? nullptr : walk.bits.row(instruction.condition >> 1)),
          flip_(flip_of(instruction.condition)), words_(walk.buffers.columns), positions_(room) {}

    i64 words() const { return words_; }
    u64 operator[](i64 w) const { return test_ == nullptr ? mask_[w] : mask_[w] & (test_[w] ^ flip_); }

    // Write their positions to the room given; returns how many there are.
    i64 list() const {
        i64 found = 0;
        for (i64 w = 0; w < words_; ++w) found += positions_of((*this)[w], w * WORD, positions_ + found);
        return found;
    }
    // The position of one of those listed.
    i64 listed(i64 k) const { return positions_[k]; }

    static i64 room_needed(i64 words) { return words * WORD + AT_ONCE; }

private:
    const u64* mask_;
    const u64* test_;
    u64 flip_;
    i64 words_;
    i32* positions_;
};

// `at_leaf(leaf, rows)` for each leaf the masks reach, `at_row(leaf, entry)` for each row of a list that
// arrives at one; returns the kernel's status.
template <class AtLeaf, class AtRow>
i64 visit_leaves(const Walk& walk, AtLeaf at_leaf, AtRow at_row) {
    ListWalk lists(walk);
    Zeros<i32> room(RowSet::room_needed(walk.buffers.columns));
    if (!lists.ok() || !room.ok()) return NO_MEMORY;
    if (!lists.fits()) return TOO_LARGE;
    for (i64 i = 0; i < walk.program.rows; ++i) {
        if (is_stopped(walk, i)) return STOPPED;
        const Instruction now(walk, i);
        if (now.target >= 0) {
            narrow(walk.buffers.row(now.source), walk.bits.row(now.condition >> 1), flip_of(now.condition),
                   walk.buffers.columns, walk.buffers.row(now.target));
        } else if (now.target != SUBTREE) {
            at_leaf(now.counter, RowSet(walk, now, room.data()));
        } else {
            const bool finished = lists.visit(now.source, [&](i64 node, const i32* entries, i64 arrived) {
                const i64 leaf = walk.node_counter[node];
                for (i64 k = 0; k < arrived; ++k) at_row(leaf, entries[k]);
            });
            if (!finished) return NO_MEMORY;
        }
    }
    return DONE;
}

}  // namespace icefield
