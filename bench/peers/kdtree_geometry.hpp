// Boxes, perfect splits, and the pieces into which planes have cut triangles.
//
// A perfect split performs the same operations as `apps/graphics/src/kdtree/clip.rs`, one by one:
// in double precision from the original corners, with outward rounding. So the trees are the same,
// bit by bit. The compiler must not contract a multiplication and an addition to one operation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kdtree {

using Corners = std::array<std::array<float, 3>, 3>;

struct Box {
    float low[3];
    float high[3];

    static Box of_triangle(const Corners &corners) {
        Box box;
        for (int axis = 0; axis < 3; ++axis) {
            const float a = corners[0][axis], b = corners[1][axis], c = corners[2][axis];
            // Adding zero turns -0.0 into 0.0, so that there is only one zero.
            box.low[axis] = std::min(std::min(a, b), c) + 0.0f;
            box.high[axis] = std::max(std::max(a, b), c) + 0.0f;
        }
        return box;
    }

    void include(const Box &other) {
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], other.low[axis]);
            high[axis] = std::max(high[axis], other.high[axis]);
        }
    }

    Box half(int which, int axis, float position) const {
        Box box = *this;
        (which == 0 ? box.high : box.low)[axis] = position;
        return box;
    }

    // Returns true if the other box is inside this one and does not touch its border.
    bool is_around(const Box &other) const {
        for (int axis = 0; axis < 3; ++axis) {
            if (!(low[axis] < other.low[axis] && other.high[axis] < high[axis])) return false;
        }
        return true;
    }

    double edge(int axis) const { return static_cast<double>(high[axis]) - static_cast<double>(low[axis]); }
};

// The boxes of the parts of a triangle in two halves.
struct Extents {
    bool is_there[2];
    Box boxes[2];
};

namespace clip {

using Point = std::array<double, 3>;

// A triangle has three corners, and each of the six planes of a box adds at most one.
constexpr int CORNERS_MAX = 9;

struct Polygon {
    Point corners[CORNERS_MAX];
    int len = 0;

    void push(const Point &corner) {
        // Only rounding could add one more corner to a polygon.
        if (len < CORNERS_MAX) corners[len++] = corner;
    }
};

inline Point crossing(const Point &a, const Point &b, int axis, double plane) {
    const double share = (plane - a[axis]) / (b[axis] - a[axis]);
    Point point;
    for (int i = 0; i < 3; ++i) point[i] = a[i] + share * (b[i] - a[i]);
    point[axis] = plane;
    return point;
}

// Keeps the part of a polygon with sign * coordinate <= sign * plane.
inline void keep(const Polygon &from, Polygon &kept, int axis, double plane, double sign) {
    kept.len = 0;
    if (from.len == 0) return;
    const Point *previous = &from.corners[from.len - 1];
    double previous_outside = sign * ((*previous)[axis] - plane);
    for (int i = 0; i < from.len; ++i) {
        const Point &corner = from.corners[i];
        const double outside = sign * (corner[axis] - plane);
        if ((outside < 0.0 && previous_outside > 0.0) || (outside > 0.0 && previous_outside < 0.0)) {
            kept.push(crossing(*previous, corner, axis, plane));
        }
        if (outside <= 0.0) kept.push(corner);
        previous = &corner;
        previous_outside = outside;
    }
}

inline float round_down(double value) {
    const float nearest = static_cast<float>(value);
    const bool is_off = static_cast<double>(nearest) > value;
    return is_off ? std::nextafterf(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

inline float round_up(double value) {
    const float nearest = static_cast<float>(value);
    const bool is_off = static_cast<double>(nearest) < value;
    return is_off ? std::nextafterf(nearest, std::numeric_limits<float>::infinity()) : nearest;
}

// The box of a piece in double precision.
struct Piece {
    Point low = {INFINITY, INFINITY, INFINITY};
    Point high = {-INFINITY, -INFINITY, -INFINITY};

    void include(const Point &point) {
        for (int axis = 0; axis < 3; ++axis) {
            low[axis] = std::min(low[axis], point[axis]);
            high[axis] = std::max(high[axis], point[axis]);
        }
    }

    // Rounds outward and cuts off the part outside the limit. Returns false for an empty piece.
    bool round_within(const Box &limit, Box &rounded) const {
        if (low[0] > high[0]) return false;
        for (int axis = 0; axis < 3; ++axis) {
            rounded.low[axis] = std::clamp(round_down(low[axis]), limit.low[axis], limit.high[axis]);
            rounded.high[axis] = std::clamp(round_up(high[axis]), limit.low[axis], limit.high[axis]);
        }
        return true;
    }
};

// Cuts a polygon in two. Corners in the plane belong to both parts, but a polygon that only touches
// the plane has no other half.
inline void cut(const Polygon &polygon, int axis, double plane, Piece &below, Piece &above) {
    bool reaches_below = false, reaches_above = false;
    if (polygon.len == 0) return;
    const Point *previous = &polygon.corners[polygon.len - 1];
    for (int i = 0; i < polygon.len; ++i) {
        const Point &corner = polygon.corners[i];
        const double from = (*previous)[axis] - plane, to = corner[axis] - plane;
        if ((from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0)) {
            const Point point = crossing(*previous, corner, axis, plane);
            below.include(point);
            above.include(point);
        }
        if (to <= 0.0) below.include(corner);
        if (to >= 0.0) above.include(corner);
        reaches_below |= to < 0.0;
        reaches_above |= to > 0.0;
        previous = &corner;
    }
    if (reaches_below && !reaches_above) above = Piece();
    if (reaches_above && !reaches_below) below = Piece();
}

// Returns the boxes of both pieces of a triangle. `extent` is the box of its part inside `cell`.
inline Extents halves(const Corners &triangle, const Box &extent, const Box &cell, int axis, float plane) {
    Polygon first, second;
    Polygon *polygon = &first, *next = &second;
    for (const auto &corner : triangle) first.push({corner[0], corner[1], corner[2]});
    for (int side = 0; side < 3; ++side) {
        // A plane of the cell that the part inside does not touch cuts nothing off.
        if (extent.low[side] <= cell.low[side]) {
            keep(*polygon, *next, side, static_cast<double>(cell.low[side]), -1.0);
            std::swap(polygon, next);
        }
        if (extent.high[side] >= cell.high[side]) {
            keep(*polygon, *next, side, static_cast<double>(cell.high[side]), 1.0);
            std::swap(polygon, next);
        }
    }
    const Box limits[2] = {extent.half(0, axis, plane), extent.half(1, axis, plane)};
    Piece pieces[2];
    cut(*polygon, axis, static_cast<double>(plane), pieces[0], pieces[1]);
    Extents extents;
    for (int half = 0; half < 2; ++half) {
        extents.is_there[half] = pieces[half].round_within(limits[half], extents.boxes[half]);
    }
    // The part inside the cell is so thin that it got lost. Keep every half that is not excluded.
    if (!extents.is_there[0] && !extents.is_there[1]) return {{true, true}, {limits[0], limits[1]}};
    return extents;
}

}  // namespace clip

// A piece of a triangle.
struct Piece {
    Box extent;
    std::uint32_t triangle;
};

// The pieces among a node's triangles.
//
// A node names a triangle by one word: by its index in the mesh or, if a plane has cut it, by CUT
// and the number of a piece. Boxes are needed only when a plane cuts a triangle. An arena continues
// where the one of the node above ends.
class Arena {
public:
    static constexpr std::uint32_t CUT = std::uint32_t{1} << 31;

    Arena() = default;
    explicit Arena(const Arena *above) : above_(above), first_(above->len()) {}

    std::size_t len() const { return first_ + pieces_.size(); }
    void truncate(std::size_t len) { pieces_.resize(len - first_); }
    void reserve(std::size_t more) { pieces_.reserve(pieces_.size() + more); }

    static std::uint32_t name(std::size_t number) { return static_cast<std::uint32_t>(number) | CUT; }

    std::uint32_t push(const Piece &piece) {
        pieces_.push_back(piece);
        return name(len() - 1);
    }

    Piece piece(std::uint32_t name, const Corners *corners) const {
        if ((name & CUT) == 0) return {Box::of_triangle(corners[name]), name};
        return cut_piece(name);
    }

    // Returns the index in the mesh of the triangle with a name.
    std::uint32_t triangle(std::uint32_t name) const { return (name & CUT) == 0 ? name : cut_piece(name).triangle; }

private:
    const Arena *above_ = nullptr;
    std::size_t first_ = 0;
    std::vector<Piece> pieces_;

    const Piece &cut_piece(std::uint32_t name) const {
        const std::size_t number = name & ~CUT;
        const Arena *arena = this;
        while (number < arena->first_) arena = arena->above_;
        return arena->pieces_[number - arena->first_];
    }
};

}  // namespace kdtree
