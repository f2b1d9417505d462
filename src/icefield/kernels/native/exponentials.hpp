// exp of many numbers, in a form compilers turn into vectors; off by at most two units in the last place.
//
// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) is its series up to r^13, whose rest is below 5e-18, and 2^n is
// written into the exponent. Arguments are held within what stays a normal number: at the ends a link has long
// reached its limit, and whoever needs infinity asks `is_ordinary` first.
#pragma once

#include <string.h>

#include "arrays.hpp"

namespace icefield {

constexpr f64 LARGEST_EXPONENT = 708.0;

inline bool is_ordinary(f64 x) { return x > -LARGEST_EXPONENT && x < LARGEST_EXPONENT; }

inline f64 exponential(f64 x) {
    const f64 held = x < -LARGEST_EXPONENT ? -LARGEST_EXPONENT : (x > LARGEST_EXPONENT ? LARGEST_EXPONENT : x);
    // Adding and taking away 1.5 * 2^52 rounds to the nearest whole number without a branch.
    const f64 shifter = 6755399441055744.0;
    const f64 shifted = held * 1.4426950408889634 + shifter;
    const f64 n = shifted - shifter;
    const f64 r = (held - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    f64 p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    // The low bits of the shifted number are n itself.
    u64 bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + (u64{1023} << 52);
    f64 scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}

}  // namespace icefield
