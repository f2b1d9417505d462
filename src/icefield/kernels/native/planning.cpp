// Trees to a linear program of mask operations.
//
// Every node holds a set of rows for each *slot*: the set of moving groups whose conditions are left open
// there. What the slots are depends on the mode:
//
// * JOINT: one slot, everything in any group is open;
// * SINGLES: slot 0 with nothing open, slot y with the y-th group of the path open;
// * PAIRS: also every two groups of the path, in an order that only grows along a path.
//
// Descending a split ANDs its condition into every slot that does not have the split's group open; slots
// that do share their parent's rows. A split's counted child gets fresh counts and the other child what is
// left of the parent's, so half the counting is a subtraction done once.
//
// The program is rows of (source, condition, target, counter): condition is twice a row of bits plus 1 for
// "not" (-1: none), target a buffer (-1: none, SUBTREE: source is the number of a subtree that is walked with
// lists, see lists.hpp).

#include "abi.hpp"
#include "lists.hpp"
#include "memory.hpp"
#include "slots.hpp"

namespace icefield {
namespace {

// A node still to be planned, and how its slots' counts are found.
struct Pending {
    i64 node;
    i64 parent;
    i64 depth;
    i64 counted;
};

// The state of the node at one depth of the current path. Left is taken before right, so a depth's state
// stays its node's until both are done.
struct PathState {
    i64 groups;  // on the path
    i64 first_slot;
    i64 first_counter;  // of its children
    i64 top;            // the first buffer that is free
};

// The split that led to a node, as the path sees it.
struct Arrival {
    i64 group;    // -1: of no group
    i64 element;  // the group's number on the path, from 1
    bool is_new;  // to the path
};

// Where the rows of one of a node's slots come from.
struct Source {
    i64 origin;    // the parent's slot
    bool is_open;  // the split's condition does not narrow it
    bool is_used;
};

// The slots of a node in order, as pairs of elements (x, y) of its path: (0, 0), (0, 1), (0, 2), (1, 2), ...
class PairsInOrder {
public:
    void next() {
        if (y_ == 0 || x_ == y_ - 1) {
            ++y_;
            x_ = 0;
        } else {
            ++x_;
        }
    }
    i64 x() const { return x_; }
    i64 y() const { return y_; }

private:
    i64 x_ = 0;
    i64 y_ = 0;
};

// Plans some trees. Without `writes` only the sizes of what would be written are found.
template <bool writes>
class Planner {
public:
    Planner(const PlanQuestion& question, const WritePlanArguments* out)
        : q_(question), out_(out), width_(question.max_groups + 1),
          most_slots_(slots_of(question.mode, question.max_groups)), states_(question.max_depth + 1),
          path_group_((question.max_depth + 1) * width_), path_region_((question.max_depth + 1) * width_),
          slot_buffer_((question.max_depth + 1) * most_slots_), pending_(question.max_depth + 2) {}

    bool ok() const {
        return states_.ok() && path_group_.ok() && path_region_.ok() && slot_buffer_.ok() && pending_.ok();
    }

    PlanSizes plan() {
        n_.buffers = 1;
        for (i64 tree = 0; tree < q_.roots.size; ++tree) {
            postpone({q_.roots[tree], -1, 0, ALL});
            while (n_pending_ > 0) visit(pending_[--n_pending_]);
        }
        if constexpr (writes) {
            out_->path_start[n_.leaves] = as_i32(n_.paths);
            out_->entry_start[n_.entries] = as_i32(n_.entry_buffers);
        }
        return n_;
    }

    // Whether all that was planned has numbers of 32 bits.
    bool fits() const {
        const i64 sizes[] = {n_.instructions, n_.entries, n_.entry_buffers, n_.slots,
                             n_.counters,     n_.leaves,  n_.paths,         n_.buffers};
        bool all = fits_;
        for (const i64 size : sizes) all &= fits_i32(size);
        return all;
    }

private:
    i32 as_i32(i64 value) {
        fits_ &= fits_i32(value);
        return static_cast<i32>(value);
    }

    bool is_leaf(i64 node) const { return q_.node_left[node] < 0; }
    bool is_below_entry(i64 parent) const { return parent >= 0 && q_.apart[parent] != 0; }
    i64& buffer(i64 depth, i64 slot) { return slot_buffer_[depth * most_slots_ + slot]; }
    i64* groups_at(i64 depth) { return path_group_.data() + depth * width_; }
    i64* regions_at(i64 depth) { return path_region_.data() + depth * width_; }

    void postpone(Pending pending) { pending_[n_pending_++] = pending; }

    void visit(Pending here) {
        const bool below_entry = is_below_entry(here.parent);
        const Arrival arrival = here.parent < 0 ? begin_path() : extend_path(here);
        if (!below_entry) {
            states_[here.depth].first_slot = n_.slots;
            if (here.parent < 0) {
                place_root(here.node);
            } else {
                place_slots(here, arrival);
            }
            if (!q_.scatter) n_.slots += slots_here(here.depth);
        }
        if (is_leaf(here.node)) {
            finish_leaf(here, below_entry);
            return;
        }
        i64 left_counted = SAME, right_counted = SAME;
        if (q_.apart[here.node]) {
            if (!below_entry) enter_subtree(here);
            tag_split(here);
        } else if (!q_.scatter) {
            choose_counted(here, left_counted, right_counted);
        }
        postpone({q_.node_right[here.node], here.node, here.depth + 1, right_counted});
        postpone({q_.node_left[here.node], here.node, here.depth + 1, left_counted});
    }

    i64 slots_here(i64 depth) const { return slots_of(q_.mode, states_[depth].groups); }

    // --- the path: which groups it has met, and below which node last -------------------------------------

    Arrival begin_path() {
        states_[0].groups = 0;
        states_[0].top = 1;
        buffer(0, 0) = 0;
        return {-1, 0, false};
    }

    Arrival extend_path(Pending here) {
        const i64 group = q_.condition_group[q_.node_condition[here.parent]];
        i64 groups = states_[here.depth - 1].groups, element = 0;
        const i64 *parent_group = groups_at(here.depth - 1), *parent_region = regions_at(here.depth - 1);
        i64 *own_group = groups_at(here.depth), *own_region = regions_at(here.depth);
        for (i64 i = 0; i < groups; ++i) {
            own_group[i] = parent_group[i];
            own_region[i] = parent_region[i];
            if (own_group[i] == group) element = i + 1;
        }
        const bool is_new = group >= 0 && element == 0;
        if (is_new) {
            own_group[groups] = group;
            element = ++groups;
        }
        if (group >= 0) {
            if constexpr (writes) {
                out_->region_before[here.node] = is_new ? -1 : as_i32(parent_region[element - 1]);
            }
            own_region[element - 1] = here.node;
        }
        states_[here.depth].groups = groups;
        return {group, element, is_new};
    }

    // --- the slots: rows, and where their counts come from ------------------------------------------------

    void place_root(i64 node) {
        if (q_.scatter) {
            if (is_leaf(node)) instruct(0, -1, -1, n_.leaves);
        } else if constexpr (writes) {
            out_->slot_kind[n_.slots] = ALL;
        }
    }

    void place_slots(Pending here, Arrival arrival) {
        const PathState& parent = states_[here.depth - 1];
        PathState& own = states_[here.depth];
        const bool is_right = q_.node_left[here.parent] != here.node;
        const i64 condition = 2 * i64{q_.condition_row[q_.node_condition[here.parent]]} + is_right;
        const bool leaf = is_leaf(here.node);
        const i64 slots = slots_here(here.depth);
        own.top = parent.top;
        PairsInOrder pair;
        for (i64 slot = 0; slot < slots; ++slot) {
            if (slot > 0) pair.next();
            const Source from = source_of(slot, pair, here.depth, arrival);
            if (!from.is_used) {
                if constexpr (writes) out_->slot_kind[n_.slots + slot] = UNUSED;
                continue;
            }
            const i64 counter = parent.first_counter + from.origin;
            if constexpr (writes) {
                if (!q_.scatter) {
                    const i64 kind = from.is_open ? SAME : here.counted;
                    describe_slot(n_.slots + slot, parent.first_slot + from.origin, counter, kind);
                }
            }
            const i64 source = buffer(here.depth - 1, from.origin);
            const bool ends = leaf && q_.scatter;
            const bool counts = here.counted == COUNTED && !q_.scatter && !from.is_open;
            const bool stores = !leaf && !from.is_open;
            buffer(here.depth, slot) = stores ? own.top : source;
            if (stores || counts || ends) {
                instruct(source, from.is_open ? -1 : condition, stores ? own.top : -1,
                         ends     ? n_.leaves
                         : counts ? counter
                                  : -1);
            }
            if (stores) ++own.top;
        }
        if (own.top > n_.buffers) n_.buffers = own.top;
    }

    Source source_of(i64 slot, PairsInOrder pair, i64 depth, Arrival arrival) {
        const bool in_group = arrival.group >= 0;
        if (q_.mode == JOINT) return {slot, in_group, true};
        if (q_.mode == SINGLES) {
            const bool is_open = in_group && slot == arrival.element;
            return {is_open && arrival.is_new ? 0 : slot, is_open, true};
        }
        if (slot == 0) return {0, false, true};
        const i64 x = pair.x(), y = pair.y();
        const i64* group = groups_at(depth);
        const bool is_used = x == 0 || q_.asked(group[x - 1], group[y - 1]) != 0;
        const bool is_open = in_group && (x == arrival.element || y == arrival.element);
        // A group that is new to the path is its last, y: without it, x alone is open at the parent.
        const i64 without_new = x == 0 ? 0 : pair_slot(0, x);
        return {is_open && arrival.is_new ? without_new : slot, is_open, is_used};
    }

    void describe_slot(i64 slot, i64 origin, i64 counter, i64 kind) {
        out_->slot_origin[slot] = as_i32(origin);
        out_->slot_counter[slot] = as_i32(counter);
        out_->slot_kind[slot] = static_cast<i8>(kind);
    }

    void instruct(i64 source, i64 condition, i64 target, i64 counter) {
        if constexpr (writes) {
            i32* instruction = out_->program.row(n_.instructions);
            instruction[0] = as_i32(source);
            instruction[1] = as_i32(condition);
            instruction[2] = as_i32(target);
            instruction[3] = as_i32(counter);
        }
        ++n_.instructions;
    }

    // Counting costs nothing extra for a child whose masks are stored anyway; two subtrees walked apart count
    // themselves.
    void choose_counted(Pending here, i64& left_counted, i64& right_counted) {
        const i64 left = q_.node_left[here.node], right = q_.node_right[here.node];
        const bool left_splits = !is_leaf(left), right_splits = !is_leaf(right);
        states_[here.depth].first_counter = n_.counters;
        bool counts_left = true;
        if (left_splits && !q_.apart[left]) {
            counts_left = true;
        } else if (right_splits && !q_.apart[right]) {
            counts_left = false;
        } else if (left_splits && right_splits) {
            left_counted = right_counted = UNUSED;
            return;
        } else {
            counts_left = !right_splits;
        }
        left_counted = counts_left ? COUNTED : REST;
        right_counted = counts_left ? REST : COUNTED;
        n_.counters += slots_here(here.depth);
    }

    // --- subtrees walked with lists -----------------------------------------------------------------------

    void enter_subtree(Pending here) {
        const i64 slots = slots_here(here.depth);
        instruct(n_.entries, -1, SUBTREE, -1);
        if constexpr (writes) {
            out_->entry_node[n_.entries] = as_i32(here.node);
            out_->entry_start[n_.entries] = as_i32(n_.entry_buffers);
            for (i64 slot = 0; slot < slots; ++slot) {
                out_->entry_buffer[n_.entry_buffers + slot] = as_i32(buffer(here.depth, slot));
            }
        }
        ++n_.entries;
        n_.entry_buffers += slots;
    }

    // Which rows take both sides of a split: those that carry the slot of its group, or no slot at all.
    void tag_split(Pending here) {
        if constexpr (writes) {
            const i64 split_group = q_.condition_group[q_.node_condition[here.node]];
            const i64 groups = states_[here.depth].groups;
            i64 tag = 0;
            if (split_group >= 0) {
                tag = groups + 1;
                for (i64 i = 0; i < groups; ++i) {
                    if (groups_at(here.depth)[i] == split_group) tag = i + 1;
                }
                if (q_.mode == JOINT) tag = EITHER_WAY;
            }
            fits_ &= tag <= LARGEST_TAG;
            out_->node_tag[here.node] = as_i32(tag);
        }
    }

    // --- leaves -------------------------------------------------------------------------------------------

    void finish_leaf(Pending here, bool below_entry) {
        const i64 groups = states_[here.depth].groups;
        if constexpr (writes) {
            out_->leaf_node[n_.leaves] = as_i32(here.node);
            out_->path_start[n_.leaves] = as_i32(n_.paths);
            for (i64 i = 0; i < groups; ++i) {
                out_->path_group[n_.paths + i] = as_i32(groups_at(here.depth)[i]);
                out_->path_region[n_.paths + i] = as_i32(regions_at(here.depth)[i]);
            }
            if (q_.scatter) {
                out_->node_counter[here.node] = as_i32(n_.leaves);
            } else {
                out_->leaf_slot[n_.leaves] = as_i32(below_entry ? n_.slots : states_[here.depth].first_slot);
            }
        }
        if (below_entry && !q_.scatter) count_listed_leaf(here);
        n_.paths += groups;
        ++n_.leaves;
    }

    // Lists count the rows that violate one group apart from those that violate none.
    void count_listed_leaf(Pending here) {
        const i64 slots = slots_here(here.depth);
        if constexpr (writes) {
            out_->node_counter[here.node] = as_i32(n_.counters);
            for (i64 slot = 0; slot < slots; ++slot) {
                describe_slot(n_.slots + slot, n_.slots, n_.counters + slot, slot == 0 ? COUNTED : ALSO);
            }
        }
        n_.counters += slots;
        n_.slots += slots;
    }

    const PlanQuestion& q_;
    const WritePlanArguments* out_;
    const i64 width_;
    const i64 most_slots_;
    Zeros<PathState> states_;
    Zeros<i64> path_group_;  // by depth and element, as is path_region_
    Zeros<i64> path_region_;
    Zeros<i64> slot_buffer_;  // by depth and slot
    Zeros<Pending> pending_;
    i64 n_pending_ = 0;
    PlanSizes n_ = {};  // written so far
    bool fits_ = true;
};

}  // namespace

// Each node's depth, and the number of leaves below it.
i64 run(const SurveyArguments& a) {
    if (!fits_i32(a.node_left.size)) return TOO_LARGE;
    for (i64 tree = 0; tree < a.roots.size; ++tree) a.depth[a.roots[tree]] = 0;
    for (i64 node = 0; node < a.node_left.size; ++node) {
        if (a.node_left[node] < 0) continue;
        a.depth[a.node_left[node]] = a.depth[node] + 1;
        a.depth[a.node_right[node]] = a.depth[node] + 1;
    }
    for (i64 node = a.node_left.size - 1; node >= 0; --node) {
        a.leaves[node] = a.node_left[node] < 0 ? 1 : a.leaves[a.node_left[node]] + a.leaves[a.node_right[node]];
    }
    return DONE;
}

// How large the program and tables of some trees are.
i64 run(const MeasurePlanArguments& a) {
    Planner<false> planner(a.question, nullptr);
    if (!planner.ok()) return NO_MEMORY;
    *a.sizes = planner.plan();
    return planner.fits() ? DONE : TOO_LARGE;
}

// Write the program and tables of some trees.
//
// With `scatter`, the program visits every leaf's rows (counter is the leaf's number) and counts nothing.
// `region_before` is, for a child of a split on a group, the last node above whose split was on the same
// group (-1: none).
i64 run(const WritePlanArguments& a) {
    Planner<true> planner(a.question, &a);
    if (!planner.ok()) return NO_MEMORY;
    planner.plan();
    return planner.fits() ? DONE : TOO_LARGE;
}

}  // namespace icefield
