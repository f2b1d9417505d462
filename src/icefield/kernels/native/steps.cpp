// Every feature's ICE curves on a linked scale in one walk, row by row.
//
// A row's curve for one group of columns differs from its own prediction only through trees whose path meets the
// group, and changes only at the few thresholds met there. So each row's own margin is summed once; every
// leaf that the row would reach if one group moved adds its difference from the row's own leaf over the
// leaf's run of grid points; see `step_sums.hpp` for what becomes of those. Here each row walks down the trees;
// `sweeps.cpp` does the same for forests that are not too large, 64 rows at a time.

#include "abi.hpp"
#include "bits.hpp"
#include "memory.hpp"
#include "nodes.hpp"
#include "step_sums.hpp"

namespace icefield {
namespace {

class RowWalk {
public:
    explicit RowWalk(const AddStepsArguments& arguments)
        : a_(arguments), nodes_(arguments.trees.nodes), outputs_(arguments.trees.base.size),
          flat_(arguments.totals.sums.columns), steps_(arguments.totals, 1), differences_(flat_ * outputs_),
          touched_(flat_ / WORD), is_met_(arguments.totals.point_start.size), met_(arguments.totals.point_start.size),
          own_(outputs_), path_(arguments.trees.nodes.size + 1), open_(arguments.trees.nodes.size + 1) {}

    bool ok() const {
        return steps_.ok() && differences_.ok() && touched_.ok() && is_met_.ok() && met_.ok() && own_.ok() &&
               path_.ok() && open_.ok();
    }

    // Adds a row; false where memory ran out.
    bool add(i64 row) {
        codes_ = a_.codes.row(row);
        for (i64 o = 0; o < outputs_; ++o) own_[o] = a_.trees.base[o];
        n_met_ = 0;
        for (i64 t = 0; t < a_.trees.roots.size; ++t) add_tree(a_.trees.roots[t], a_.trees.tree_output[t]);
        steps_.start(row, 1, own_.data());
        for (i64 m = 0; m < n_met_; ++m) {
            const i64 group = met_[m], first = a_.totals.point_start[group];
            is_met_[group] = 0;
            if (!steps_.has_room(group, 1)) return false;
            steps_.gather(0, group, own_.data(), differences_.data() + first * outputs_,
                          touched_.data() + first / WORD);
        }
        steps_.finish();
        return true;
    }

private:
    bool routes_left(const Node& node) const {
        return goes_left(node.rule, codes_[node.rule.column], a_.trees.set_table);
    }

    void add_tree(i64 root, i64 output) {
        // The row's path, and the splits on it where a moving group could route the row to the other child.
        i64 depth = 0, at = root;
        while (!is_leaf(nodes_[at])) {
            const Node& node = nodes_[at];
            const bool left = routes_left(node);
            if (node.group >= 0) path_[depth++] = {left ? node.right : node.left, node.group};
            at = left ? node.left : node.right;
        }
        const f64* own = a_.trees.node_value.row(at);
        if (output >= 0) {
            own_[output] += own[0];
        } else {
            for (i64 o = 0; o < outputs_; ++o) own_[o] += own[o];
        }
        for (i64 d = 0; d < depth; ++d) add_subtree(path_[d].node, path_[d].group, own, output);
    }

    // The leaves below a node that the row reaches for some value of one moving group.
    void add_subtree(i64 node, i32 group, const f64* own, i64 output) {
        i64 open = 0;
        for (;;) {
            while (!is_leaf(nodes_[node])) {
                const Node& here = nodes_[node];
                if (here.group == group) {
                    open_[open++] = here.right;
                    node = here.left;
                } else {
                    node = routes_left(here) ? here.left : here.right;
                }
            }
            add_leaf(node, group, own, output);
            if (open == 0) return;
            node = open_[--open];
        }
    }

    void add_leaf(i64 node, i32 group, const f64* own, i64 output) {
        const f64* value = a_.trees.node_value.row(node);
        const i64 leaf = nodes_[node].left;
        i64 entry = a_.trees.path_start[leaf];
        while (a_.trees.path_group[entry] != group) ++entry;
        const i64 region = a_.trees.path_region[entry];
        for (i64 r = a_.trees.run_start[region]; r < a_.trees.run_start[region + 1]; ++r) {
            const i64 begin = a_.trees.runs(r, 0), end = a_.trees.runs(r, 1);
            if (output >= 0) {
                const f64 change = value[0] - own[0];
                differences_[begin * outputs_ + output] += change;
                differences_[end * outputs_ + output] -= change;
            } else {
                for (i64 o = 0; o < outputs_; ++o) {
                    differences_[begin * outputs_ + o] += value[o] - own[o];
                    differences_[end * outputs_ + o] -= value[o] - own[o];
                }
            }
            set_bit(touched_.data(), begin);
            set_bit(touched_.data(), end);
            if (!is_met_[group]) {
                is_met_[group] = 1;
                met_[n_met_++] = group;
            }
        }
    }

    struct OtherChild {
        i32 node;
        i32 group;
    };

    const AddStepsArguments& a_;
    const List<const Node> nodes_;
    i64 outputs_, flat_;
    const i32* codes_ = nullptr;
    StepSums steps_;
    Zeros<f64> differences_;
    Zeros<u64> touched_;
    Zeros<u8> is_met_;
    Zeros<i32> met_;
    Zeros<f64> own_;
    Zeros<OtherChild> path_;
    Zeros<i32> open_;
    i64 n_met_ = 0;
};

}  // namespace

// Add the rows' linked curves, as differences between neighbouring grid points, to sums and squares.
i64 run(const AddStepsArguments& a) {
    if (!fits_i32(a.totals.sums.columns)) return TOO_LARGE;
    RowWalk walk(a);
    if (!walk.ok()) return NO_MEMORY;
    for (i64 row = 0; row < a.codes.rows; ++row) {
        if ((row & 31) == 0 && __atomic_load_n(a.stop.data, __ATOMIC_RELAXED) != 0) return STOPPED;
        if (!walk.add(row)) return NO_MEMORY;
    }
    return DONE;
}

// The transpose of some columns, a tile at a time: rows side by side become rows one after another.
i64 run(const TurnArguments& a) {
    constexpr i64 TILE = 32;
    for (i64 row = 0; row < a.turned.rows; row += TILE) {
        const i64 stop = row + TILE < a.turned.rows ? row + TILE : a.turned.rows;
        for (i64 column = 0; column < a.turned.columns; ++column) {
            const i32* from = a.codes.row(column);
            for (i64 r = row; r < stop; ++r) a.turned(r, column) = from[r];
        }
    }
    return DONE;
}

}  // namespace icefield
