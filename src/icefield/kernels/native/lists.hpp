// Subtrees that few rows of a block reach, walked with lists of rows instead of masks.
//
// A list's entry is a row's position (the low 16 bits) and a *tag* above it: the slot of the one group whose
// path conditions the row has violated so far, 0 if none. A row that has violated nothing takes both sides of a
// split on a moving group, tagged on the wrong one; a row tagged with that group takes both as well; any
// other row takes its own side.
#pragma once

#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"
#include "nodes.hpp"

namespace icefield {

constexpr i64 LARGEST_ROW = 0xFFFF;  // positions and tags share 32 bits
constexpr i64 LARGEST_TAG = 0x7FFF;

inline i64 row_of(i32 entry) { return entry & 0xFFFF; }
inline i64 tag_of(i32 entry) { return entry >> 16; }

// Walks subtrees, keeping its memory from one to the next.
class ListWalk {
public:
    explicit ListWalk(const Walk& walk) : walk_(walk), stack_(1 << 14), pending_(256) {}

    bool ok() const { return stack_.ok() && pending_.ok(); }

    // Whether the positions of a block's rows fit entries, or without lists 32 bits.
    bool fits() const {
        const i64 last = walk_.buffers.columns * WORD - 1;
        return walk_.entry_node.size > 0 ? last <= LARGEST_ROW : fits_i32(last);
    }

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
            while (part.begin < part.end && !is_leaf(node(part.node))) {
                const Node here = node(part.node);
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

    const Node& node(i64 number) const { return walk_.list_nodes[number]; }

    // Divide a node's list between its children; shortens the part to the left one's and returns the end of
    // the right one's, which begins at `top`.
    i64 divide(const Node& here, Part& part, i64 top) {
        const i32* codes = walk_.codes_by_row.data + here.rule.column;
        const i64 columns = walk_.codes_by_row.columns;
        const List<const u8> set_table = walk_.set_table;
        const i32 tag = here.group;
        const i32 mark = (tag > 0 ? tag : 0) << 16;
        i32* stack = stack_.data();
        i64 left_end = part.begin, right_end = top;
        for (i64 at = part.begin; at < part.end; ++at) {
            const i32 entry = stack[at];
            const bool left = goes_left(here.rule, codes[row_of(entry) * columns], set_table);
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
