// Livermore kernel 23 in blocks, as in apps/numerics/src/lk23: the same input, cut, sweeps and kernel, operation for operation.
//
// A block makes several sweeps a turn and goes one row up and one column to the left in each. What it needs beyond its own values it
// copies from its neighbours' beforehand: from those above and to the left as their turn left them, from those below and to the right as the turn
// before left them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol.hpp"

namespace lk23 {

using std::size_t;

// A side of the matrix and how it is cut: as `Case` in bench/src/suites/lk23.rs.
struct Shape {
    size_t size, blocks, depth, sweeps;
};

constexpr std::uint64_t SEED = 23;

inline double number(std::uint64_t index) {
    std::uint64_t bits = SEED + 0x9E3779B97F4A7C15u * (index + 1);
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    return static_cast<double>(bits >> 11) / 9007199254740992.0;
}

struct Coefficients {
    double zr, zb, zu, zv, zz;
};

inline double value(size_t size, size_t row, size_t column) { return number((row * (size + 2) + column) * 6); }

inline Coefficients coefficients(size_t size, size_t row, size_t column) {
    const std::uint64_t at = (row * (size + 2) + column) * 6;
    return {number(at + 1) * 0.25, number(at + 2) * 0.25, number(at + 3) * 0.25, number(at + 4) * 0.25, number(at + 5)};
}

// A block's part of one side; see axis.rs.
struct Axis {
    size_t start, end, origin, limit;
    bool is_first, is_last;
    size_t first_of(size_t sweep) const { return is_first ? start : start - sweep; }
    size_t end_of(size_t sweep) const { return is_last ? end : end - sweep; }
};

inline std::vector<Axis> cut(size_t len, size_t parts, size_t depth) {
    const size_t shift = len / parts > 2 * depth ? depth / 2 : 0;
    const auto at = [&](size_t index) {
        return index == 0 ? 1 : index == parts ? len + 1 : 1 + len * index / parts + shift;
    };
    std::vector<Axis> axes;
    for (size_t index = 0; index < parts; ++index) {
        const bool is_first = index == 0, is_last = index + 1 == parts;
        const size_t start = at(index), end = at(index + 1);
        axes.push_back({start, end, is_first ? 0 : start - depth - 1, is_last ? end + 1 : end, is_first, is_last});
    }
    return axes;
}

inline double point(double below, double above, double right, double left, double own, const Coefficients &z) {
    const double qa = below * z.zr + above * z.zb + right * z.zu + left * z.zv + z.zz;
    return own + 0.175 * (qa - own);
}

// Some rows at once, each a column behind the one above it; see kernel.rs.
template <int R>
void strip(double *za, size_t width, const Coefficients *z, size_t z_width, size_t count) {
    // `za` and `z` are those of the first point of the first row.
    const auto single = [&](size_t row, size_t column) {
        double *const own = za + row * width + column;
        *own = point(own[width], *(own - width), own[1], own[-1], *own, z[row * z_width + column]);
    };
    if (count < R) {
        for (size_t row = 0; row < R; ++row)
            for (size_t column = 0; column < count; ++column) single(row, column);
        return;
    }
    for (size_t step = 0; step + 1 < R; ++step)
        for (size_t row = 0; row <= step; ++row) single(row, step - row);
    const double *const above_row = za - width + (R - 1);
    const double *const below_row = za + R * width;
    double *rows[R];
    const Coefficients *zs[R];
    double left[R], own[R];
    for (int row = 0; row < R; ++row) {
        rows[row] = za + row * width + (R - 1 - row);
        zs[row] = z + row * z_width + (R - 1 - row);
        left[row] = rows[row][-1];
        own[row] = rows[row][0];
    }
    const size_t steps = count + 1 - R;
    for (size_t step = 0; step < steps; ++step) {
        double below = below_row[step];
#pragma GCC unroll 8
        for (int row = R - 1; row >= 0; --row) {
            const double right = rows[row][step + 1];
            const double above = row == 0 ? above_row[step] : left[row > 0 ? row - 1 : 0];
            const double next = point(below, above, right, left[row], own[row], zs[row][step]);
            rows[row][step] = next;
            left[row] = next;
            own[row] = right;
            below = right;
        }
    }
    for (size_t step = count; step < count + R - 1; ++step)
        for (size_t row = step + 1 - count; row < R; ++row) single(row, step - row);
}

struct Block {
    Axis rows, columns;
    size_t width, z_width;
    std::vector<double> za;
    std::vector<Coefficients> z;

    Block(size_t size, const Axis &rows, const Axis &columns)
        : rows(rows), columns(columns), width(columns.limit - columns.origin), z_width(width - 1 - (columns.is_last ? 1 : 0)) {
        za.reserve(width * (rows.limit - rows.origin));
        for (size_t row = rows.origin; row < rows.limit; ++row)
            for (size_t column = columns.origin; column < columns.limit; ++column) za.push_back(value(size, row, column));
        for (size_t row = rows.origin + 1; row < rows.limit - (rows.is_last ? 1 : 0); ++row)
            for (size_t column = columns.origin + 1; column < columns.limit - (columns.is_last ? 1 : 0); ++column)
                z.push_back(coefficients(size, row, column));
    }

    double *at(size_t row, size_t column) { return &za[(row - rows.origin) * width + column - columns.origin]; }
    const double *at(size_t row, size_t column) const { return &za[(row - rows.origin) * width + column - columns.origin]; }

    void copy(const Block &from, size_t row, size_t first, size_t end) {
        if (first < end) std::memcpy(at(row, first), from.at(row, first), (end - first) * sizeof(double));
    }

    void sweep(size_t sweeps) {
        for (size_t s = 1; s <= sweeps; ++s) {
            const size_t end = rows.end_of(s), first = columns.first_of(s), count = columns.end_of(s) - first;
            if (columns.end_of(s) <= first) continue;
            size_t row = rows.first_of(s);
            const auto run = [&](auto kernel, size_t height) {
                kernel(at(row, first), width, &z[(row - rows.origin - 1) * z_width + first - columns.origin - 1], z_width, count);
                row += height;
            };
            while (row + 8 <= end) run(strip<8>, 8);
            if (row + 4 <= end) run(strip<4>, 4);
            while (row < end) run(strip<1>, 1);
        }
    }
};

struct Grid {
    Shape shape;
    size_t turns;
    std::vector<std::unique_ptr<Block>> blocks;

    explicit Grid(const Shape &wanted) : shape(wanted) {
        turns = std::max<size_t>(1, (shape.sweeps + shape.depth - 1) / shape.depth);
        shape.depth = std::max<size_t>(1, (shape.sweeps + turns - 1) / turns);
        const auto axes = cut(shape.size, shape.blocks, shape.depth);
        for (const Axis &rows : axes)
            for (const Axis &columns : axes) blocks.emplace_back(new Block(shape.size, rows, columns));
    }

    size_t sweeps_of(size_t turn) const { return shape.sweeps * (turn + 1) / turns - shape.sweeps * turn / turns; }

    Block &block(size_t row, size_t column) { return *blocks[row * shape.blocks + column]; }

    // One turn of one block.
    void run(size_t turn, size_t row, size_t column) {
        const size_t sweeps = sweeps_of(turn), before = turn > 0 ? sweeps_of(turn - 1) : 0, last = shape.blocks - 1;
        Block &own = block(row, column);
        const Axis &r = own.rows, &c = own.columns;
        if (row < last)
            for (size_t j = r.end - before; j < r.end; ++j) own.copy(block(row + 1, column), j, c.start, c.end_of(before));
        if (column < last)
            for (size_t j = r.start; j < r.end_of(before); ++j) own.copy(block(row, column + 1), j, c.end - before, c.end);
        if (row < last && column < last)
            for (size_t j = r.end - before; j < r.end; ++j) own.copy(block(row + 1, column + 1), j, c.end - before, c.end);
        if (row > 0)
            for (size_t s = 0; s <= sweeps; ++s) own.copy(block(row - 1, column), r.start - 1 - s, c.first_of(s), c.end);
        if (column > 0)
            for (size_t j = r.first_of(sweeps); j < r.end; ++j)
                own.copy(block(row, column - 1), j, c.start - 1 - sweeps, c.start - (j < r.start ? r.start - j : 0));
        if (row > 0 && column > 0)
            for (size_t s = 0; s <= sweeps; ++s)
                own.copy(block(row - 1, column - 1), r.start - 1 - s, c.start - 1 - s, c.start - s);
        own.sweep(sweeps);
    }

    // Depends on every bit of all values and on their order.
    std::uint64_t checksum() {
        const size_t size = shape.size, width = size + 2, sweeps = sweeps_of(turns - 1);
        std::vector<double> za(width * width);
        for (size_t i = 0; i < width; ++i) {
            za[i] = value(size, 0, i);
            za[(size + 1) * width + i] = value(size, size + 1, i);
            za[i * width] = value(size, i, 0);
            za[i * width + size + 1] = value(size, i, size + 1);
        }
        for (const auto &block : blocks) {
            const Axis &c = block->columns;
            const size_t first = c.first_of(sweeps);
            for (size_t j = block->rows.first_of(sweeps); j < block->rows.end_of(sweeps); ++j)
                std::copy(block->at(j, first), block->at(j, first) + (c.end_of(sweeps) - first), &za[j * width + first]);
        }
        std::uint64_t hash = 0;
        for (const double number : za) {
            std::uint64_t bits;
            std::memcpy(&bits, &number, sizeof bits);
            hash = hash * 31 + bits;
        }
        return hash;
    }
};

// What a request asks for: its file is "SIZE BLOCKS DEPTH SWEEPS".
inline Shape shape_of(const peer::Request &request) {
    std::istringstream words(request.file);
    Shape shape{};
    if (!(words >> shape.size >> shape.blocks >> shape.depth >> shape.sweeps)) throw std::runtime_error("no shape");
    return shape;
}

// Sets up, which is not timed, and measures what `run` does with all turns.
template <class Run>
peer::Answer measure(const peer::Request &request, Run run) {
    Grid grid(shape_of(request));
    peer::Answer answer = peer::timed([&] {
        run(grid, request.workers);
        return std::uint64_t{0};
    });
    answer.result = grid.checksum();
    return answer;
}

}  // namespace lk23
