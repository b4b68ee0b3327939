// Events of one word each, and the memory for the lists of nodes: two buffers, between which the
// lists move back and forth.
//
//      63                            32 31  30 29                           0
//     | position, in the order of u32  | kind | index of the node's triangle |
//
// A node's lists are at the start of a region of one buffer. Its children's lists are written to a
// region of the other buffer: first those above the plane, then those below. A single thread first
// builds the half below, in the part of the region behind the cut. Then it builds the half above,
// over the same memory. If two threads continue, both regions are cut in proportion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "kdtree_geometry.hpp"

namespace kdtree {

// A part of an array.
template <class T>
struct Slice {
    T *data = nullptr;
    std::size_t len = 0;

    Slice() = default;
    Slice(T *data, std::size_t len) : data(data), len(len) {}
    // Converts to a slice for reading.
    template <class U>
    Slice(const Slice<U> &other) : data(other.data), len(other.len) {}

    T &operator[](std::size_t index) const { return data[index]; }
    T *begin() const { return data; }
    T *end() const { return data + len; }
    Slice first(std::size_t count) const { return {data, count}; }
    Slice from(std::size_t start) const { return {data + start, len - start}; }
    Slice part(std::size_t start, std::size_t end) const { return {data + start, end - start}; }
};

// Memory that is not touched before it is written.
template <class T>
class Array {
public:
    Array() = default;
    explicit Array(std::size_t len) : values_(new T[len]), len_(len) {}

    Array copy() const {
        Array copied(len_);
        std::memcpy(copied.values_.get(), values_.get(), len_ * sizeof(T));
        return copied;
    }

    Slice<T> slice() const { return {values_.get(), len_}; }
    T &operator[](std::size_t index) const { return values_[index]; }

private:
    std::unique_ptr<T[]> values_;
    std::size_t len_ = 0;
};

namespace event {

// The kinds: the sweep leaves the triangle; the triangle lies in the plane of the sweep; the sweep
// reaches the triangle.
constexpr std::uint64_t END = 0, PLANAR = 1, START = 2;
constexpr unsigned KIND_SHIFT = 30;
constexpr std::uint64_t INDEX_MASK = (std::uint64_t{1} << KIND_SHIFT) - 1;

inline std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Packs an event. Both zeros are the same position.
inline std::uint64_t pack(float position, std::uint64_t kind, std::size_t index) {
    const std::uint32_t bits = bits_of(position + 0.0f);
    const std::uint32_t ordered = bits >> 31 == 0 ? bits | std::uint32_t{1} << 31 : ~bits;
    return std::uint64_t{ordered} << 32 | kind << KIND_SHIFT | index;
}

// Returns the bits to flip in the position of an event. They depend only on its sign.
inline std::uint32_t flip_of(std::uint64_t event) {
    return event >> 63 == 0 ? ~std::uint32_t{0} : std::uint32_t{1} << 31;
}

inline float position(std::uint64_t event) {
    return float_of(static_cast<std::uint32_t>(event >> 32) ^ flip_of(event));
}

inline std::uint64_t kind(std::uint64_t event) { return event >> KIND_SHIFT & 3; }

// Returns position and kind. A sweep does not distinguish events with the same rank.
inline std::uint64_t rank(std::uint64_t event) { return event >> KIND_SHIFT; }

inline std::size_t index(std::uint64_t event) { return event & INDEX_MASK; }

inline std::uint64_t with_index(std::uint64_t event, std::uint32_t index) { return (event & ~INDEX_MASK) | index; }

// Appends the events of a triangle along an axis to a list. Returns the end of the list.
inline std::uint64_t *push(std::uint64_t *end, const Box &extent, int axis, std::size_t index) {
    const float low = extent.low[axis], high = extent.high[axis];
    if (low == high) {
        *end++ = pack(low, PLANAR, index);
    } else {
        *end++ = pack(low, START, index);
        *end++ = pack(high, END, index);
    }
    return end;
}

// Sorts events that were created in the order of their triangles. The radix sort has four digits,
// so the events end in the buffer in which they began.
inline void sort(Slice<std::uint64_t> events, Slice<std::uint64_t> spare) {
    constexpr unsigned DIGIT_BITS = 9;
    constexpr std::size_t DIGITS = std::size_t{1} << DIGIT_BITS;
    std::uint64_t *from = events.data, *to = spare.data;
    for (unsigned shift = KIND_SHIFT; shift < 64; shift += DIGIT_BITS) {
        std::size_t places[DIGITS] = {};
        for (std::size_t i = 0; i < events.len; ++i) ++places[(from[i] >> shift) % DIGITS];
        std::size_t sum = 0;
        for (std::size_t &place : places) {
            const std::size_t count = place;
            place = sum;
            sum += count;
        }
        for (std::size_t i = 0; i < events.len; ++i) to[places[(from[i] >> shift) % DIGITS]++] = from[i];
        std::swap(from, to);
    }
}

}  // namespace event

// The lengths of a node's lists.
struct Lens {
    std::size_t events[3];
    std::size_t triangles;
};

// The place in a region at which the lists of the half below the plane begin.
struct Cut {
    std::size_t events;
    std::size_t triangles;
};

// A part of a buffer.
struct Region {
    Slice<std::uint64_t> events[3];
    Slice<std::uint32_t> triangles;

    // Returns the parts of the region before and behind a cut.
    Region before(const Cut &cut) const {
        Region region;
        for (int axis = 0; axis < 3; ++axis) region.events[axis] = events[axis].first(cut.events);
        region.triangles = triangles.first(cut.triangles);
        return region;
    }

    Region behind(const Cut &cut) const {
        Region region;
        for (int axis = 0; axis < 3; ++axis) region.events[axis] = events[axis].from(cut.events);
        region.triangles = triangles.from(cut.triangles);
        return region;
    }

    // Returns the cut that gives both halves memory in proportion to their triangles.
    Cut cut_for(const std::size_t (&counts)[2]) const {
        const auto share = [&](std::size_t len) { return len * counts[1] / (counts[0] + counts[1]); };
        return {share(events_len()), share(triangles.len)};
    }

    // Returns true if `count` triangles and their events fit.
    bool holds(std::size_t count) const { return events_len() >= 2 * count && triangles.len >= count; }

private:
    std::size_t events_len() const { return std::min({events[0].len, events[1].len, events[2].len}); }
};

struct Buffer {
    Array<std::uint64_t> events[3];
    Array<std::uint32_t> triangles;

    Buffer() = default;

    // Creates a buffer for `count` triangles.
    explicit Buffer(std::size_t count) : triangles(count) {
        for (auto &list : events) list = Array<std::uint64_t>(2 * count);
    }

    Buffer copy() const {
        Buffer copied;
        for (int axis = 0; axis < 3; ++axis) copied.events[axis] = events[axis].copy();
        copied.triangles = triangles.copy();
        return copied;
    }

    Region region() const {
        Region region;
        for (int axis = 0; axis < 3; ++axis) region.events[axis] = events[axis].slice();
        region.triangles = triangles.slice();
        return region;
    }
};

// Selects one of two numbers without a branch.
inline std::size_t chosen(std::size_t below, std::size_t above, std::size_t side) {
    return below ^ ((below ^ above) & (0 - side));
}

// Returns the start of a part of a list of this length, if all parts have about the same length.
inline std::size_t part_start(std::size_t len, std::size_t part, std::size_t part_count) {
    return len * part / part_count;
}

}  // namespace kdtree
