// From margins to what is averaged, for many at once.
#pragma once

#include "abi.hpp"
#include "exponentials.hpp"

namespace icefield {

// Links that take one margin each.
inline void link_each(i64 link, f64 factor, f64* margin, i64 n) {
    if (link == IDENTITY) return;
    if (link == LOGISTIC) {
        for (i64 i = 0; i < n; ++i) margin[i] = 1.0 / (1.0 + exponential(-factor * margin[i]));
        return;
    }
    bool ordinary = true;
    for (i64 i = 0; i < n; ++i) ordinary &= is_ordinary(margin[i]);
    // Half of it squared reaches infinity and zero where exp does.
    const f64 share = ordinary ? 1.0 : 0.5;
    for (i64 i = 0; i < n; ++i) margin[i] = exponential(share * margin[i]);
    if (!ordinary) {
        for (i64 i = 0; i < n; ++i) margin[i] *= margin[i];
    }
}

// Any link, with one output's margins after another's, `n` each; `work` has room for twice as many.
inline void link_planes(i64 link, f64 factor, f64* margins, i64 outputs, i64 n, f64* work) {
    if (link != SOFTMAX) {
        link_each(link, factor, margins, outputs * n);
        return;
    }
    f64* __restrict largest = work;
    f64* __restrict total = work + n;
    for (i64 i = 0; i < n; ++i) {
        largest[i] = margins[i];
        total[i] = 0.0;
    }
    for (i64 o = 1; o < outputs; ++o) {
        const f64* margin = margins + o * n;
        for (i64 i = 0; i < n; ++i) largest[i] = margin[i] > largest[i] ? margin[i] : largest[i];
    }
    for (i64 o = 0; o < outputs; ++o) {
        f64* margin = margins + o * n;
        for (i64 i = 0; i < n; ++i) margin[i] = exponential(margin[i] - largest[i]);
        for (i64 i = 0; i < n; ++i) total[i] += margin[i];
    }
    for (i64 o = 0; o < outputs; ++o) {
        f64* margin = margins + o * n;
        for (i64 i = 0; i < n; ++i) margin[i] /= total[i];
    }
}

// What leaves multiply, or without a link add to: exponentials of margins as the link takes them.
inline void hold_planes(i64 link, f64 factor, const f64* margins, i64 n, f64* held) {
    if (link == IDENTITY) {
        for (i64 i = 0; i < n; ++i) held[i] = margins[i];
    } else {
        const f64 times = link == LOGISTIC ? -factor : 1.0;
        for (i64 i = 0; i < n; ++i) held[i] = exponential(times * margins[i]);
    }
}

}  // namespace icefield
