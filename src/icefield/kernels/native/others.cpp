// Running a leaf-visiting program over one block of rows: each row's prediction averaged over one group at a time.
//
// With group g left to the data, a row gets a leaf's value times the share of the data whose g lies in the
// leaf's region, if it meets all other conditions. One walk with a slot for every group of a path does this
// for all groups.

#include "abi.hpp"
#include "memory.hpp"
#include "programs.hpp"

namespace icefield {
namespace {

// Add a leaf's value, or values, times a factor to one row of a column.
inline void add_times(const AddOthersArguments& a, i64 leaf, i64 column, i64 row, f64 factor) {
    const i64 output = a.leaves.output[leaf];
    if (output >= 0) {
        a.out(output, column, row) += factor * a.leaves.value(leaf, 0);
    } else {
        for (i64 o = 0; o < a.leaves.value.columns; ++o) {
            a.out(o, column, row) += factor * a.leaves.value(leaf, o);
        }
    }
}

// The same for every row listed: one column at a time stays in the nearest cache.
void add_to_rows(const AddOthersArguments& a, i64 leaf, i64 column, const i32* rows, i64 n_rows, f64 factor) {
    const i64 output = a.leaves.output[leaf];
    if (output < 0) {
        for (i64 k = 0; k < n_rows; ++k) add_times(a, leaf, column, rows[k], factor);
        return;
    }
    const f64 value = factor * a.leaves.value(leaf, 0);
    f64* out = a.out.row(output, column);
    for (i64 k = 0; k < n_rows; ++k) out[rows[k]] += value;
}

// A leaf's slots follow each other in the program: first the rows that meet everything, then, for each group of
// its path, those that meet everything else.
class SlotsOfLeaves {
public:
    explicit SlotsOfLeaves(const AddOthersArguments& arguments)
        : a_(arguments), own_(arguments.walk.buffers.columns),
          positions_(RowSet::room_needed(arguments.walk.buffers.columns)) {}

    bool ok() const { return own_.ok() && positions_.ok(); }

    void add(i64 leaf, RowSet rows) {
        slot_ = leaf == leaf_ ? slot_ + 1 : 0;
        leaf_ = leaf;
        if (slot_ == 0) {
            add_own(rows);
        } else {
            add_rest(rows);
        }
    }

private:
    void add_own(RowSet rows) {
        i64 found = 0;
        for (i64 w = 0; w < rows.words(); ++w) {
            own_[w] = rows[w];
            found += positions_of(own_[w], w * WORD, positions_.data() + found);
        }
        add_to_rows(a_, leaf_, 0, positions_.data(), found, 1.0);
        for (i64 p = a_.path_start[leaf_]; p < a_.path_start[leaf_ + 1]; ++p) {
            add_to_rows(a_, leaf_, 1 + a_.path_group[p], positions_.data(), found, a_.path_share[p] - 1.0);
        }
    }

    void add_rest(RowSet rows) {
        i64 found = 0;
        for (i64 w = 0; w < rows.words(); ++w) {
            found += positions_of(rows[w] & ~own_[w], w * WORD, positions_.data() + found);
        }
        const i64 p = a_.path_start[leaf_] + slot_ - 1;
        add_to_rows(a_, leaf_, 1 + a_.path_group[p], positions_.data(), found, a_.path_share[p]);
    }

    const AddOthersArguments& a_;
    Zeros<u64> own_;
    Zeros<i32> positions_;
    i64 leaf_ = -1;
    i64 slot_ = 0;
};

void add_entry(const AddOthersArguments& a, i64 leaf, i32 entry) {
    const i64 row = row_of(entry), tag = tag_of(entry);
    if (tag > 0) {
        const i64 p = a.path_start[leaf] + tag - 1;
        add_times(a, leaf, 1 + a.path_group[p], row, a.path_share[p]);
        return;
    }
    add_times(a, leaf, 0, row, 1.0);
    for (i64 p = a.path_start[leaf]; p < a.path_start[leaf + 1]; ++p) {
        add_times(a, leaf, 1 + a.path_group[p], row, a.path_share[p] - 1.0);
    }
}

}  // namespace

// Add every leaf to its rows of `out`: column 0 is the prediction, column 1 + g what averaging over group g
// changes of it.
i64 run(const AddOthersArguments& a) {
    SlotsOfLeaves slots(a);
    if (!slots.ok()) return NO_MEMORY;
    return visit_leaves(
        a.walk, [&](i64 leaf, RowSet rows) { slots.add(leaf, rows); },
        [&](i64 leaf, i32 entry) { add_entry(a, leaf, entry); });
}

}  // namespace icefield
