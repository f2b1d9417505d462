// How far a forest moves at each of its conditions: the difference between the means of the leaves on either side of a split.

#include <math.h>

#include "abi.hpp"
#include "memory.hpp"

namespace icefield {

// Of several outputs, the largest difference counts. A child comes after its parent.
i64 run(const AddDifferencesArguments& a) {
    const i64 nodes = a.node_condition.size, outputs = a.leaf_value.columns;
    Zeros<f64> sums(nodes * outputs), leaves(nodes);
    if (!sums.ok() || !leaves.ok()) return NO_MEMORY;
    for (i64 n = nodes - 1; n >= 0; --n) {
        if (a.node_condition[n] < 0) {
            leaves[n] = 1.0;
            for (i64 o = 0; o < outputs; ++o) sums[n * outputs + o] = a.leaf_value(a.node_leaf[n], o);
            continue;
        }
        const i64 left = a.node_left[n], right = a.node_right[n];
        f64 most = 0.0;
        for (i64 o = 0; o < outputs; ++o) {
            const f64 one = sums[left * outputs + o], other = sums[right * outputs + o];
            const f64 apart = fabs(one / leaves[left] - other / leaves[right]);
            most = apart > most ? apart : most;
            sums[n * outputs + o] = one + other;
        }
        leaves[n] = leaves[left] + leaves[right];
        a.differences[a.node_condition[n]] += most;
    }
    return DONE;
}

}  // namespace icefield
