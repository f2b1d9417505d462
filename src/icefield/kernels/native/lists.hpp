// Subtrees that few rows of a block reach, walked with lists of rows instead of masks.
//
// A list's entry is a row's position (the low 16 bits) and a *tag* above it: the slot of the one group whose
// conditions the row has violated so far, 0 if none. A row that has violated nothing takes both sides of a
// split on an asked group, tagged on the wrong one; a row tagged with that group takes both as well; any
// other row takes its own side.
#pragma once

#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"

namespace icefield {

inline i64 row_of(i32 entry) { return entry & 0xFFFF; }
inline i64 tag_of(i32 entry) { return entry >> 16; }

// A node as lists need it: half a cache line, since many nodes see a handful of rows each.
//
// A row's answer comes from its code without a branch: a number is compared with `test`, and its place in the
// table of sets is the first, which is 0; a category is looked up, and its `test` is below every code.
struct ListNode {
    i32 left;  // -1: a leaf
    i32 right;
    i32 tag;
    i32 column;
    i32 test;
    i32 set_start;
    i32 last;
    i32 missing_left;

    bool goes_left(i32 code, const u8* set_table) const {
        const bool is_in_set = set_table[set_start + (code < last ? code : last)] != 0;
        return (code <= test) | is_in_set | ((code == MISSING) & (missing_left != 0));
    }
};

// Walks subtrees, keeping its memory from one to the next.
class ListWalk {
public:
    explicit ListWalk(const Walk& walk) : walk_(walk), stack_(1 << 14), pending_(256) {}

    bool ok() const { return stack_.ok() && pending_.ok(); }

    // `arrive(leaf_node, entries, how_many)` for each leaf of a subtree that rows reach; false without memory.
    template <class Arrive>
    bool visit(i64 entry_number, Arrive arrive) {
        i64 end = 0;
        if (!gather(entry_number, end)) return false;
        i64 n_pending = 0;
        pending_[n_pending++] = {walk_.entry_node[entry_number], 0, end};
        while (n_pending > 0) {
            Part part = pending_[--n_pending];
            // The list of the left child replaces its parent's in place; that of the right child waits on top
            // of the stack.
            i64 top = part.end;
            while (part.begin < part.end && node(part.node).left >= 0) {
                const ListNode here = node(part.node);
                __builtin_prefetch(&node(here.left));
                __builtin_prefetch(&node(here.right));
                if (!stack_.has_room(top + part.end - part.begin + 1)) return false;
                const i64 right_end = divide(here, part, top);
                if (right_end > top) {
                    if (!pending_.has_room(n_pending + 1)) return false;
                    pending_[n_pending++] = {here.right, top, right_end};
                    top = right_end;
                }
                part.node = here.left;
            }
            if (part.begin < part.end) arrive(part.node, stack_.data() + part.begin, part.end - part.begin);
        }
        return true;
    }

private:
    // A node and the part of the stack that holds its list.
    struct Part {
        i64 node;
        i64 begin;
        i64 end;
    };

    // The rows of the masks at a subtree's root as a list: those that meet everything, then those of each slot.
    bool gather(i64 entry_number, i64& end) {
        const i64 words = walk_.buffers.columns, first = walk_.entry_start[entry_number];
        const u64* plain = walk_.buffers.row(walk_.entry_buffer[first]);
        for (i64 slot = 0; slot < walk_.entry_start[entry_number + 1] - first; ++slot) {
            const u64* mask = walk_.buffers.row(walk_.entry_buffer[first + slot]);
            const i32 tag = static_cast<i32>(slot << 16);
            for (i64 w = 0; w < words; ++w) {
                const u64 word = slot > 0 ? mask[w] & ~plain[w] : mask[w];
                if (word == 0) continue;
                if (!stack_.has_room(end + WORD)) return false;
                i32* stack = stack_.data();
                each_bit(word, w * WORD, [&](i64 row) { stack[end++] = static_cast<i32>(row) | tag; });
            }
        }
        return true;
    }

    const ListNode& node(i64 number) const { return reinterpret_cast<const ListNode*>(walk_.list_nodes.data)[number]; }

    // Divide a node's list between its children; shortens the part to the left one's and returns the end of
    // the right one's, which begins at `top`.
    i64 divide(const ListNode& here, Part& part, i64 top) {
        const i32* codes = walk_.codes_by_row.data + here.column;
        const i64 columns = walk_.codes_by_row.columns;
        const u8* set_table = walk_.set_table.data;
        const i32 tag = here.tag;
        const i32 mark = (tag > 0 ? tag : 0) << 16;
        i32* stack = stack_.data();
        i64 left_end = part.begin, right_end = top;
        for (i64 at = part.begin; at < part.end; ++at) {
            const i32 entry = stack[at];
            const bool left = here.goes_left(codes[row_of(entry) * columns], set_table);
            const i32 held = entry >> 16;
            const bool both = (tag < 0) | ((tag > 0) & ((held == 0) | (held == tag)));
            const i32 wrong = entry | mark;
            stack[left_end] = left ? entry : wrong;
            left_end += left | both;
            stack[right_end] = left ? wrong : entry;
            right_end += !left | both;
        }
        part.end = left_end;
        return right_end;
    }

    const Walk& walk_;
    Growing<i32> stack_;
    Growing<Part> pending_;
};

}  // namespace icefield
