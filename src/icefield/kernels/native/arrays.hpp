// Views of numpy's arrays: a pointer and a shape, nothing owned and nothing checked.
//
// Every member is eight bytes wide, so that a structure of them has no padding and the Python side can
// write one as a plain run of words (see `icefield.kernels.declarations`).
#pragma once

#include <stdint.h>

namespace icefield {

using i8 = int8_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u64 = uint64_t;
using f32 = float;
using f64 = double;

// C-contiguous, one axis.
template <class T>
struct List {
    T* data;
    i64 size;

    T& operator[](i64 i) const { return data[i]; }
};

// C-contiguous, two axes.
template <class T>
struct Table {
    T* data;
    i64 rows;
    i64 columns;

    T& operator()(i64 row, i64 column) const { return data[row * columns + column]; }
    T* row(i64 number) const { return data + number * columns; }
};

// C-contiguous, three axes.
template <class T>
struct Cube {
    T* data;
    i64 layers;
    i64 rows;
    i64 columns;

    T& operator()(i64 layer, i64 row, i64 column) const { return data[(layer * rows + row) * columns + column]; }
    T* row(i64 layer, i64 number) const { return data + (layer * rows + number) * columns; }
};

// Two axes with any strides, counted in elements: a frame's matrix need not be contiguous.
template <class T>
struct Strided {
    T* data;
    i64 rows;
    i64 columns;
    i64 row_stride;
    i64 column_stride;

    T& operator()(i64 row, i64 column) const { return data[row * row_stride + column * column_stride]; }
};

}  // namespace icefield
