// The value of a rank among some values, without sorting them.
#pragma once

#include "arrays.hpp"

namespace icefield {

// The k-th smallest of some values, which change places.
inline f64 selected(f64* values, i64 size, i64 k) {
    i64 first = 0, last = size - 1;
    while (first < last) {
        const f64 pivot = values[first + (last - first) / 2];
        i64 i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot) ++i;
            while (pivot < values[j]) --j;
            if (i > j) break;
            const f64 other = values[i];
            values[i++] = values[j];
            values[j--] = other;
        }
        if (k <= j) {
            last = j;
        } else if (k >= i) {
            first = i;
        } else {
            break;
        }
    }
    return values[k];
}

}  // namespace icefield
