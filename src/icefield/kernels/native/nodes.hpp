// Routing a row at a node, from its code: the same for every kernel that walks trees row by row.
#pragma once

#include "abi.hpp"

namespace icefield {

inline bool is_leaf(const Node& node) { return node.rule.column < 0; }

// Without a branch: a number is compared with the threshold, and its place in the table of sets is the first, which is 0;
// a category is looked up, and its threshold is below every code.
inline bool goes_left(const RoutingRule& rule, i32 code, const List<const u8>& set_table) {
    const bool is_in_set = set_table[rule.set_start + (code < rule.set_last ? code : rule.set_last)] != 0;
    return (code <= rule.threshold) | is_in_set | ((code == MISSING) & (rule.missing_left != 0));
}

}  // namespace icefield
