// Which instruction levels this machine can run. Python asks the library of the lowest level, then loads the
// best one that was built; no kernel decides anything by itself.

#include "abi.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>
#endif

namespace icefield {

#if defined(__x86_64__) || defined(_M_X64)

namespace {

struct Leaf {
    unsigned a = 0, b = 0, c = 0, d = 0;

    explicit Leaf(unsigned number) { __get_cpuid_count(number, 0, &a, &b, &c, &d); }
};

bool has(unsigned flags, unsigned wanted) { return (flags & wanted) == wanted; }

constexpr unsigned bit(int number) { return 1u << number; }

// The registers the operating system saves when it switches threads.
bool system_saves(unsigned states) {
    constexpr unsigned OSXSAVE = bit(27);
    if (!has(Leaf(1).c, OSXSAVE)) return false;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has(low, states);
}

constexpr unsigned SSE_AND_AVX = bit(1) | bit(2);
constexpr unsigned AVX512_STATES = bit(5) | bit(6) | bit(7);

// SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT.
bool runs_v2() { return has(Leaf(1).c, bit(0) | bit(9) | bit(13) | bit(19) | bit(20) | bit(23)); }

bool runs_v3() {
    const bool first = has(Leaf(1).c, bit(12) | bit(22) | bit(28) | bit(29));  // FMA, MOVBE, AVX, F16C
    const bool seventh = has(Leaf(7).b, bit(3) | bit(5) | bit(8));             // BMI1, AVX2, BMI2
    const bool extended = has(Leaf(0x80000001u).c, bit(5));                    // LZCNT
    return runs_v2() && first && seventh && extended && system_saves(SSE_AND_AVX);
}

bool runs_v4() {
    const bool sets = has(Leaf(7).b, bit(16) | bit(17) | bit(28) | bit(30) | bit(31));  // AVX-512 F, DQ, CD, BW, VL
    const bool counts = has(Leaf(7).c, bit(14));                                        // VPOPCNTDQ
    return runs_v3() && sets && counts && system_saves(SSE_AND_AVX | AVX512_STATES);
}

}  // namespace

// Bit n of the answer: level n.
ICEFIELD_EXPORT i64 icefield_levels() {
    return (runs_v2() ? i64{1} << 2 : 0) | (runs_v3() ? i64{1} << 3 : 0) | (runs_v4() ? i64{1} << 4 : 0);
}

#else

// Elsewhere there is one level, which is called 0.
ICEFIELD_EXPORT i64 icefield_levels() { return 1; }

#endif

}  // namespace icefield
