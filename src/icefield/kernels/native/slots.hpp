// How the slots of a node are numbered: see planning.cpp for what they are.
#pragma once

#include "abi.hpp"

namespace icefield {

// How many slots a node has with so many groups on its path.
inline i64 slots_of(i64 mode, i64 groups) {
    if (mode == JOINT) return 1;
    if (mode == SINGLES) return 1 + groups;
    return 1 + groups * (groups + 1) / 2;
}

// With pairs, the slot of two path groups numbered from 1, x < y; x = 0: y alone.
inline i64 pair_slot(i64 x, i64 y) { return 1 + y * (y - 1) / 2 + x; }

}  // namespace icefield
