// Memory a kernel needs for itself. Without exceptions a failed allocation must be asked about: `ok()`.
#pragma once

#include <stdlib.h>

#include "arrays.hpp"

namespace icefield {

// A fixed number of elements, all zero. They begin where a line of the cache does: no vector lies across two.
template <class T>
class Zeros {
public:
    explicit Zeros(i64 size) : room_(calloc((size > 0 ? size : 1) * sizeof(T) + LINE, 1)) {
        const u64 start = reinterpret_cast<u64>(room_);
        data_ = reinterpret_cast<T*>((start + LINE - 1) / LINE * LINE);
    }
    ~Zeros() { free(room_); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;

    bool ok() const { return room_ != nullptr; }
    T& operator[](i64 i) const { return data_[i]; }
    T* data() const { return data_; }

private:
    static constexpr u64 LINE = 64;
    void* room_;
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
