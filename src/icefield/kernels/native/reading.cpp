// Numbers written as text, as models of LightGBM are.
//
// A decimal number is `digits * 10^-places`. With at most 19 digits and 27 places, `digits` and `5^places` are whole
// numbers of 64 bits: a quotient that is nearly right is put right by comparing whole numbers of 128 bits, so that
// what comes out is the nearest number, even where half-way, as every careful reader gives it. Any other number is
// left to the caller, as are all that need 128 bits where the compiler has none.

#include <string.h>

#include "abi.hpp"

namespace icefield {
namespace {

#if defined(__SIZEOF_INT128__)
__extension__ using u128 = unsigned __int128;
#endif

constexpr i64 MOST_DIGITS = 19;
constexpr i64 MOST_PLACES = 27;
constexpr i64 EXACT_PLACES = 22;            // 10^22 is a floating number, 10^23 is not
constexpr u64 EXACT_DIGITS = u64(1) << 53;  // whole numbers up to here are floating numbers

constexpr f64 TENS[EXACT_PLACES + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct Fives {
    u64 of[MOST_PLACES + 1];
    constexpr Fives() : of() {
        of[0] = 1;
        for (i64 i = 1; i <= MOST_PLACES; ++i) of[i] = 5 * of[i - 1];
    }
};
constexpr Fives FIVES;

inline bool is_digit(u8 c) { return c >= '0' && c <= '9'; }

// The floating number nearest to digits / 10^places; false where it takes wider whole numbers to tell.
inline bool quotient(u64 digits, i64 places, f64& found) {
    if (digits <= EXACT_DIGITS && places <= EXACT_PLACES) {
        found = static_cast<f64>(digits) / TENS[places];
        return true;
    }
#if defined(__SIZEOF_INT128__)
    f64 near = static_cast<f64>(digits);
    near = places <= EXACT_PLACES ? near / TENS[places] : near / TENS[EXACT_PLACES] / TENS[places - EXACT_PLACES];
    u64 bits;
    memcpy(&bits, &near, 8);
    u64 whole = (bits & (EXACT_DIGITS / 2 - 1)) | EXACT_DIGITS / 2;
    i64 exponent = static_cast<i64>(bits >> 52) - 1075;
    // digits / 10^places against whole * 2^exponent, both times 2^(1 - exponent) * 5^places.
    const i64 shift = 1 - exponent - places;
    if (shift < 0 || shift > 126) return false;
    const u128 wanted = static_cast<u128>(digits) << shift;
    if (wanted >> shift != digits) return false;
    const u128 five = FIVES.of[places];
    for (i64 tries = 0; tries < 8; ++tries) {
        const u128 below = (2 * static_cast<u128>(whole) - 1) * five, above = (2 * static_cast<u128>(whole) + 1) * five;
        const bool is_even = whole % 2 == 0;
        if (wanted < below || (wanted == below && !is_even)) {
            --whole;
        } else if (wanted > above || (wanted == above && !is_even)) {
            ++whole;
        } else {
            // At a power of two the neighbour below is half as far.
            if (whole <= EXACT_DIGITS / 2 || whole >= EXACT_DIGITS) return false;
            bits = static_cast<u64>(exponent + 1075) << 52 | (whole & (EXACT_DIGITS / 2 - 1));
            memcpy(&found, &bits, 8);
            return true;
        }
    }
#endif
    return false;
}

// Reads one number from `at` on and moves behind it; false where its value is left to the caller.
inline bool read_number(const u8*& at, const u8* end, f64& found) {
    const bool is_negative = at < end && *at == '-';
    if (is_negative) ++at;
    u64 digits = 0;
    i64 n_digits = 0, places = 0;
    bool any = false;
    for (; at < end && is_digit(*at); ++at) {
        any = true;
        n_digits += n_digits > 0 || *at != '0';
        digits = 10 * digits + (*at - '0');
    }
    if (at < end && *at == '.') {
        ++at;
        for (; at < end && is_digit(*at); ++at) {
            any = true;
            n_digits += n_digits > 0 || *at != '0';
            digits = 10 * digits + (*at - '0');
            ++places;
        }
    }
    if (!any || n_digits > MOST_DIGITS) return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        ++at;
        const bool shrinks = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) ++at;
        i64 power = 0;
        if (at == end || !is_digit(*at)) return false;
        for (; at < end && is_digit(*at) && power < 10000; ++at) power = 10 * power + (*at - '0');
        places += shrinks ? power : -power;
    }
    if (places > MOST_PLACES || places < -EXACT_PLACES) return false;
    if (places < 0) {
        if (digits > EXACT_DIGITS) return false;
        found = static_cast<f64>(digits) * TENS[-places];
    } else if (!quotient(digits, places, found)) {
        return false;
    }
    if (is_negative) found = -found;
    return true;
}

}  // namespace

// The numbers of a text, between single spaces; `left` marks those whose text the caller has to read.
//
// STOPPED where there are more or fewer than there is room for.
i64 run(const ReadNumbersArguments& a) {
    const u8* at = a.text.data;
    const u8* end = at + a.text.size;
    for (i64 i = 0; i < a.found.size; ++i) {
        if (i > 0 && (at == end || *at++ != ' ')) return STOPPED;
        f64 number = 0.0;
        const bool is_read = read_number(at, end, number) && (at == end || *at == ' ');
        while (at < end && *at != ' ') ++at;
        a.found[i] = number;
        a.left[i] = !is_read;
    }
    return at == end ? DONE : STOPPED;
}

}  // namespace icefield
