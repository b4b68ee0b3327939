// Events in one word each, and the memory for the lists of nodes: two buffers, between which the lists go to and fro.
//
//      63                            32 31  30 29                           0
//     | position, in the order of u32  | kind | index of the node's triangle |
//
// A node's lists are at the start of a region of one buffer. Its children get theirs from it in a region of the other,
// those above the plane first, then those below. One thread builds what is below first, in what is behind it, and then
// what is above, over the same places again. Where two threads go on, both regions are cut in proportion.
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
    // A slice that nobody writes to is a slice that nobody writes to here.
    template <class U>
    Slice(const Slice<U> &other) : data(other.data), len(other.len) {}

    T &operator[](std::size_t index) const { return data[index]; }
    T *begin() const { return data; }
    T *end() const { return data + len; }
    Slice first(std::size_t count) const { return {data, count}; }
    Slice from(std::size_t start) const { return {data + start, len - start}; }
    Slice part(std::size_t start, std::size_t end) const { return {data + start, end - start}; }
};

// Memory that is not touched before it is written to.
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

// The sweep leaves the triangle; it lies in the plane of the sweep; the sweep meets it.
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

// Packs an event; both zeros are one position.
inline std::uint64_t pack(float position, std::uint64_t kind, std::size_t index) {
    const std::uint32_t bits = bits_of(position + 0.0f);
    const std::uint32_t ordered = bits >> 31 == 0 ? bits | std::uint32_t{1} << 31 : ~bits;
    return std::uint64_t{ordered} << 32 | kind << KIND_SHIFT | index;
}

// What the position of an event is to be flipped by; the same for all positions of one sign.
inline std::uint32_t flip_of(std::uint64_t event) {
    return event >> 63 == 0 ? ~std::uint32_t{0} : std::uint32_t{1} << 31;
}

inline float position(std::uint64_t event) {
    return float_of(static_cast<std::uint32_t>(event >> 32) ^ flip_of(event));
}

inline std::uint64_t kind(std::uint64_t event) { return event >> KIND_SHIFT & 3; }

// Position and kind: what events that no sweep tells apart have in common.
inline std::uint64_t rank(std::uint64_t event) { return event >> KIND_SHIFT; }

inline std::size_t index(std::uint64_t event) { return event & INDEX_MASK; }

inline std::uint64_t with_index(std::uint64_t event, std::uint32_t index) { return (event & ~INDEX_MASK) | index; }

// Puts the events of a triangle along an axis to a list; returns where it ends.
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

// Sorts events that were made in the order of their triangles: a radix sort of four digits, so that they end up where
// they were.
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

// The lists of a node: how long they are.
struct Lens {
    std::size_t events[3];
    std::size_t triangles;
};

// Where in a region the lists of the half below the plane begin.
struct Cut {
    std::size_t events;
    std::size_t triangles;
};

// A part of a buffer.
struct Region {
    Slice<std::uint64_t> events[3];
    Slice<std::uint32_t> triangles;

    // What is before a place, and what is behind.
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

    // Where to cut so that both sides have room in proportion.
    Cut cut_for(const std::size_t (&counts)[2]) const {
        const auto share = [&](std::size_t len) { return len * counts[1] / (counts[0] + counts[1]); };
        return {share(events_len()), share(triangles.len)};
    }

    // Whether so many triangles and their events fit.
    bool holds(std::size_t count) const { return events_len() >= 2 * count && triangles.len >= count; }

private:
    std::size_t events_len() const { return std::min({events[0].len, events[1].len, events[2].len}); }
};

struct Buffer {
    Array<std::uint64_t> events[3];
    Array<std::uint32_t> triangles;

    Buffer() = default;

    // Room for so many triangles.
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

// One of two numbers, without a jump.
inline std::size_t chosen(std::size_t below, std::size_t above, std::size_t side) {
    return below ^ ((below ^ above) & (0 - side));
}

// Where a part of a list of this length begins, if all parts are about as long.
inline std::size_t part_start(std::size_t len, std::size_t part, std::size_t part_count) {
    return len * part / part_count;
}

}  // namespace kdtree
