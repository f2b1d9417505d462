// Memory a kernel needs for itself. Without exceptions a failed allocation must be asked about: `ok()`.
#pragma once

#include <stdlib.h>

#include "arrays.hpp"

namespace icefield {

// A fixed number of elements, all zero.
template <class T>
class Zeros {
public:
    explicit Zeros(i64 size) : data_(static_cast<T*>(calloc(size > 0 ? size : 1, sizeof(T)))) {}
    ~Zeros() { free(data_); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;

    bool ok() const { return data_ != nullptr; }
    T& operator[](i64 i) const { return data_[i]; }
    T* data() const { return data_; }

private:
    T* data_;
};

// Elements that may become more; what was there stays, what is new is not set.
template <class T>
class Growing {
public:
    explicit Growing(i64 room) : data_(static_cast<T*>(malloc(room * sizeof(T)))), room_(room) {}
    ~Growing() { free(data_); }
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;

    bool ok() const { return data_ != nullptr; }
    bool has_room(i64 needed) {
        if (needed <= room_) return true;
        T* larger = static_cast<T*>(realloc(data_, 2 * needed * sizeof(T)));
        if (larger == nullptr) return false;
        data_ = larger;
        room_ = 2 * needed;
        return true;
    }
    T& operator[](i64 i) const { return data_[i]; }
    T* data() const { return data_; }

private:
    T* data_;
    i64 room_;
};

}  // namespace icefield
