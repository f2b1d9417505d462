"""Rows to codes to bits.

A *code* says where a value lies among a column's sorted cuts (thresholds, or the category
codes that sets mention): the index of the first cut that is not below it. A bucket table finds
the neighbourhood and a short search without branches the cut, so skewed columns cost about
the same as even ones. From the codes, one bit per row and condition: does the row go left?
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel

MISSING = np.int32(2**30)  # the code of a missing value; larger than any other
ONE = np.uint64(1)


@inlined
def bucket_of(x, low, scale, last):
    """A column's bucket for a value; never decreases with x, so no rounding can lose a cut."""
    p = (x - low) * scale
    if not p > 0.0:
        return 0
    if p >= last:
        return last
    return np.int64(p)


@kernel("void(float64[::1], int64[::1], float64[::1], float64[::1], int32[:, ::1])")
def fill_buckets(cuts, cut_start, low, scale, bucket_start):
    """For every column, how many cuts lie in lower buckets than each bucket."""
    last = bucket_start.shape[1] - 2
    for v in range(bucket_start.shape[0]):
        for b in range(last + 2):
            bucket_start[v, b] = 0
        for i in range(cut_start[v], cut_start[v + 1]):
            bucket_start[v, bucket_of(cuts[i], low[v], scale[v], last) + 1] += 1
        for b in range(last + 1):
            bucket_start[v, b + 1] += bucket_start[v, b]


@kernel(
    "void(float64[:, :], int32[::1], int32[::1], int32[::1], uint8[::1], uint8[::1], float64, float64[::1],"
    "int64[::1], int64[::1], float64[::1], float64[::1], int32[:, ::1], int32[::1], int32[:, ::1])"
)
def encode(
    matrix,
    position,
    chosen,
    column,
    exact,
    zero_missing,
    zero_limit,
    cuts,
    cut_start,
    cut_count,
    low,
    scale,
    bucket_start,
    steps,
    codes,
):
    """Codes of the `chosen` coded columns for every row, written at the row's bit position.

    `cuts` holds each column's cuts followed by enough NaN for the search to run over the end.
    With `exact`, a value that equals no cut gets the code after the last.
    """
    rows = matrix.shape[0]
    last = bucket_start.shape[1] - 2
    for k in range(chosen.size):
        v = chosen[k]
        source = column[v]
        start, count = cut_start[v], cut_count[v]
        for r in range(rows):
            x = matrix[r, source]
            if x != x or (zero_missing[v] and abs(x) <= zero_limit):
                codes[v, position[r]] = MISSING
                continue
            at = start + bucket_start[v, bucket_of(x, low[v], scale[v], last)]
            for s in range(steps[v] - 1, -1, -1):
                at += np.int64(cuts[at + (1 << s) - 1] < x) << s
            code = at - start
            if exact[v] and (code >= count or cuts[at] != x):
                code = count
            codes[v, position[r]] = code


@kernel(
    "void(int32[:, ::1], int32[::1], int32[::1], uint8[::1], int64[::1], int64[::1], int32[::1],"
    "uint8[::1], int64[::1], int32[::1], uint64[:, ::1], uint64[::1], uint64[:, ::1])"
)
def pack(
    codes,
    position,
    chosen,
    is_set,
    row_start,
    code_start,
    code_row,
    row_missing_left,
    member_start,
    members,
    category_bits,
    missing,
    bits,
):
    """One bit per row and condition, for all conditions of the `chosen` coded columns.

    A numeric condition's bits are those of the condition before it (same column, lower
    threshold) and of the rows whose code first fits here: `code_row` says which condition row
    a code first belongs to (-1: none). A set condition's are those of its members.
    """
    rows = position.size
    words = bits.shape[1]
    for k in range(chosen.size):
        v = chosen[k]
        first, stop = row_start[v], row_start[v + 1]
        if first == stop:
            continue
        for w in range(words):
            missing[w] = 0
        any_missing = False
        if is_set[v]:
            categories = code_start[v + 1] - code_start[v] - 1
            for c in range(categories):
                for w in range(words):
                    category_bits[c, w] = 0
            for r in range(rows):
                p = position[r]
                code = codes[v, p]
                if code == MISSING:
                    missing[p >> 6] |= ONE << np.uint64(p & 63)
                    any_missing = True
                elif code < categories:
                    category_bits[code, p >> 6] |= ONE << np.uint64(p & 63)
            for row in range(first, stop):
                for w in range(words):
                    bits[row, w] = 0
                for m in range(member_start[row], member_start[row + 1]):
                    for w in range(words):
                        bits[row, w] |= category_bits[members[m], w]
        else:
            for row in range(first, stop):
                for w in range(words):
                    bits[row, w] = 0
            base = code_start[v]
            for r in range(rows):
                p = position[r]
                code = codes[v, p]
                if code == MISSING:
                    missing[p >> 6] |= ONE << np.uint64(p & 63)
                    any_missing = True
                else:
                    row = code_row[base + code]
                    if row >= 0:
                        bits[row, p >> 6] |= ONE << np.uint64(p & 63)
            for row in range(first + 1, stop):
                for w in range(words):
                    bits[row, w] |= bits[row - 1, w]
        if any_missing:
            for row in range(first, stop):
                if row_missing_left[row]:
                    for w in range(words):
                        bits[row, w] |= missing[w]
