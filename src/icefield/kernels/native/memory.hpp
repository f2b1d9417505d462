// Memory a kernel needs for itself. Without exceptions a failed allocation must be asked about: `ok()`.
#pragma once

#include <stdlib.h>

#include "arrays.hpp"

namespace icefield {

// The bytes of so many elements and some more; more than there can be where that takes more than 64 bits.
inline size_t bytes_of_elements(i64 number, i64 size, i64 more) {
    i64 bytes = 0;
    const bool overflows = __builtin_mul_overflow(number, size, &bytes) || __builtin_add_overflow(bytes, more, &bytes);
    return overflows || bytes < 0 ? SIZE_MAX : static_cast<size_t>(bytes);
}

// A fixed number of elements, all zero. They begin where a line of the cache does: no vector lies across two.
template <class T>
class Zeros {
public:
    explicit Zeros(i64 size) : size_(size), room_(calloc(bytes_of_elements(size > 0 ? size : 1, sizeof(T), LINE), 1)) {
        const u64 start = reinterpret_cast<u64>(room_);
        data_ = reinterpret_cast<T*>((start + LINE - 1) / LINE * LINE);
    }
    ~Zeros() { free(room_); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;

    bool ok() const { return room_ != nullptr; }
    T& operator[](i64 i) const {
        check_index(i, size_);
        return data_[i];
    }
    T* data() const { return data_; }

private:
    static constexpr u64 LINE = 64;
    i64 size_;
    void* room_;
    T* data_;
};

// Elements that may become more; what was there stays, what is new is not set.
template <class T>
class Growing {
public:
    explicit Growing(i64 room) : data_(static_cast<T*>(malloc(bytes_of_elements(room, sizeof(T), 0)))), room_(room) {}
    ~Growing() { free(data_); }
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;

    bool ok() const { return data_ != nullptr; }
    bool has_room(i64 needed) {
        if (needed <= room_) return true;
        T* larger = static_cast<T*>(realloc(data_, bytes_of_elements(needed, 2 * sizeof(T), 0)));
        if (larger == nullptr) return false;
        data_ = larger;
        room_ = 2 * needed;
        return true;
    }
    T& operator[](i64 i) const {
        check_index(i, room_);
        return data_[i];
    }
    T* data() const { return data_; }

private:
    T* data_;
    i64 room_;
};

}  // namespace icefield
