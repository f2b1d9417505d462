// Views of numpy's arrays: a pointer and a shape, nothing owned.
//
// Every member is eight bytes wide, so that a structure of them has no padding and the Python side can
// write one as a plain run of words (see `icefield.kernels.calling`).
#pragma once

#include <stdint.h>

#if defined(ICEFIELD_CHECKED)
#include <stdio.h>
#include <stdlib.h>
#endif

namespace icefield {

using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u64 = uint64_t;
using f32 = float;
using f64 = double;

// A checked build (`make sanitize`) ends the process at an index outside of a view, even where the memory there belongs
// to the same array or another one; other builds do not look.
#if defined(ICEFIELD_CHECKED)
inline void check_index(i64 index, i64 size) {
    if (index >= 0 && index < size) return;
    fprintf(stderr, "icefield: index %lld is outside of a view of %lld\n", static_cast<long long>(index),
            static_cast<long long>(size));
    abort();
}
#else
inline void check_index(i64 /*index*/, i64 /*size*/) {}
#endif

// Whether a number keeps its value in 32 bits; a kernel that meets one that does not returns TOO_LARGE.
inline bool fits_i32(i64 value) { return value == static_cast<i32>(value); }

// C-contiguous, one axis.
template <class T>
struct List {
    T* data;
    i64 size;

    T& operator[](i64 i) const {
        check_index(i, size);
        return data[i];
    }
};

// C-contiguous, two axes. The row after the last is where the data ends.
template <class T>
struct Table {
    T* data;
    i64 rows;
    i64 columns;

    T& operator()(i64 row, i64 column) const {
        check_index(row, rows);
        check_index(column, columns);
        return data[row * columns + column];
    }
    T* row(i64 number) const {
        check_index(number, rows + 1);
        return data + number * columns;
    }
};

// C-contiguous, three axes.
template <class T>
struct Cube {
    T* data;
    i64 layers;
    i64 rows;
    i64 columns;

    T& operator()(i64 layer, i64 row, i64 column) const {
        check_index(layer, layers);
        check_index(row, rows);
        check_index(column, columns);
        return data[(layer * rows + row) * columns + column];
    }
    T* row(i64 layer, i64 number) const {
        check_index(layer * rows + number, layers * rows + 1);
        return data + (layer * rows + number) * columns;
    }
};

// Two axes with any strides, counted in elements: a frame's matrix need not be contiguous.
template <class T>
struct Strided {
    T* data;
    i64 rows;
    i64 columns;
    i64 row_stride;
    i64 column_stride;

    T& operator()(i64 row, i64 column) const {
        check_index(row, rows);
        check_index(column, columns);
        return data[row * row_stride + column * column_stride];
    }
};

}  // namespace icefield
