// Livermore kernel 23 in blocks, as in apps/numerics/src/lk23: the same input, blocks and sweeps,
// and the same operations for each point. Here the values are stored by rows, there by pairs of
// rows.
//
// A block makes several sweeps per turn and moves one row up and one column to the left with each.
// Before that, it copies the values that it needs from its neighbours: from those above and to the
// left as their present turn left them, from those below and to the right as the previous turn left
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol.hpp"

namespace lk23 {

using std::size_t;

// A side of the matrix and its division into blocks, as `Setting` in bench/src/suites/lk23.rs.
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

// The part of one side that belongs to a block; see axis.rs.
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

// The two lanes of a vector of the baseline processor.
typedef double Pair __attribute__((vector_size(16)));

// The coefficients of a point of the upper row of a pair, and of the point to its lower left.
struct PairCoefficients {
    Pair zr, zb, zu, zv, zz;
};

// Sweeps over pairs of rows at once, each row a column behind the one above it. `za` is the first
// point of the first row. Entry `k` of a pair, at `z`, has the coefficients of column `k` of the
// upper row and of column `k - 1` of the lower one.
template <int P, class Single>
void strip(double *za, size_t width, const PairCoefficients *z, size_t z_width, size_t count, Single single) {
    constexpr size_t R = 2 * P;
    if (count < R) {
        for (size_t row = 0; row < R; ++row)
            for (size_t column = 0; column < count; ++column) single(row, column);
        return;
    }
    for (size_t step = 0; step + 1 < R; ++step)
        for (size_t row = 0; row <= step; ++row) single(row, step - row);
    const double *const above_row = za - width + (R - 1);
    const double *const below_row = za + R * width;
    double *rows[P][2];
    const PairCoefficients *zs[P];
    Pair left[P], own[P];
    for (int pair = 0; pair < P; ++pair) {
        zs[pair] = z + pair * z_width + (R - 1 - 2 * pair);
        for (int lane = 0; lane < 2; ++lane) {
            const size_t row = 2 * pair + lane;
            rows[pair][lane] = za + row * width + (R - 1 - row);
            left[pair][lane] = rows[pair][lane][-1];
            own[pair][lane] = rows[pair][lane][0];
        }
    }
    const size_t steps = count + 1 - R;
    for (size_t step = 0; step < steps; ++step) {
        Pair right[P], next[P];
#pragma GCC unroll 8
        for (int pair = 0; pair < P; ++pair) right[pair] = Pair{rows[pair][0][step + 1], rows[pair][1][step + 1]};
#pragma GCC unroll 8
        for (int pair = 0; pair < P; ++pair) {
            const double under = pair + 1 == P ? below_row[step] : right[pair + 1 < P ? pair + 1 : 0][0];
            const double over = pair == 0 ? above_row[step] : left[pair > 0 ? pair - 1 : 0][1];
            const Pair below = {right[pair][1], under}, above = {over, left[pair][0]};
            const PairCoefficients &c = zs[pair][step];
            const Pair qa = below * c.zr + above * c.zb + right[pair] * c.zu + left[pair] * c.zv + c.zz;
            next[pair] = own[pair] + 0.175 * (qa - own[pair]);
        }
#pragma GCC unroll 8
        for (int pair = 0; pair < P; ++pair) {
            rows[pair][0][step] = next[pair][0];
            rows[pair][1][step] = next[pair][1];
            left[pair] = next[pair];
            own[pair] = right[pair];
        }
    }
    for (size_t step = count; step < count + R - 1; ++step)
        for (size_t row = step + 1 - count; row < R; ++row) single(row, step - row);
}

struct Block {
    Axis rows, columns;
    size_t width, z_width;
    std::vector<double> za;
    // The coefficients by pairs of rows, from the first row that has coefficients.
    std::vector<PairCoefficients> z;

    Block(size_t size, const Axis &rows, const Axis &columns)
        : rows(rows), columns(columns), width(columns.limit - columns.origin), z_width(width - (columns.is_last ? 1 : 0)) {
        za.reserve(width * (rows.limit - rows.origin));
        for (size_t row = rows.origin; row < rows.limit; ++row)
            for (size_t column = columns.origin; column < columns.limit; ++column) za.push_back(value(size, row, column));
        const size_t height = rows.limit - rows.origin - 1 - (rows.is_last ? 1 : 0);
        z.resize((height + 1) / 2 * z_width, PairCoefficients{});
        for (size_t row = 0; row < height; ++row) {
            for (size_t column = 0; column + 1 < z_width; ++column) {
                const Coefficients of = coefficients(size, rows.origin + 1 + row, columns.origin + 1 + column);
                PairCoefficients &entry = z[row / 2 * z_width + column + row % 2];
                const size_t lane = row % 2;
                entry.zr[lane] = of.zr;
                entry.zb[lane] = of.zb;
                entry.zu[lane] = of.zu;
                entry.zv[lane] = of.zv;
                entry.zz[lane] = of.zz;
            }
        }
    }

    double *at(size_t row, size_t column) { return &za[(row - rows.origin) * width + column - columns.origin]; }
    const double *at(size_t row, size_t column) const { return &za[(row - rows.origin) * width + column - columns.origin]; }

    void copy(const Block &from, size_t row, size_t first, size_t end) {
        if (first < end) std::memcpy(at(row, first), from.at(row, first), (end - first) * sizeof(double));
    }

    // Sweeps over a point. Both indices count from the first value.
    void single(size_t row, size_t column) {
        double *const own = &za[row * width + column];
        const size_t of = row - 1, lane = of % 2;
        const PairCoefficients &c = z[of / 2 * z_width + column - 1 + lane];
        const Coefficients z = {c.zr[lane], c.zb[lane], c.zu[lane], c.zv[lane], c.zz[lane]};
        *own = point(own[width], *(own - width), own[1], own[-1], *own, z);
    }

    void sweep(size_t sweeps) {
        for (size_t s = 1; s <= sweeps; ++s) {
            const size_t end = rows.end_of(s) - rows.origin, first = columns.first_of(s) - columns.origin;
            if (columns.end_of(s) - columns.origin <= first) continue;
            const size_t count = columns.end_of(s) - columns.origin - first;
            size_t row = rows.first_of(s) - rows.origin;
            const auto one = [&] {
                for (size_t column = first; column < first + count; ++column) single(row, column);
                ++row;
            };
            const auto some = [&](auto pairs) {
                constexpr int P = decltype(pairs)::value;
                const auto point = [&](size_t r, size_t c) { single(row + r, first + c); };
                strip<P>(&za[row * width + first], width, &z[(row - 1) / 2 * z_width + first - 1], z_width, count, point);
                row += 2 * P;
            };
            // Pairs begin with the first row of coefficients.
            if (row % 2 == 0 && row < end) one();
            while (row + 8 <= end) some(std::integral_constant<int, 4>());
            if (row + 4 <= end) some(std::integral_constant<int, 2>());
            if (row + 2 <= end) some(std::integral_constant<int, 1>());
            if (row < end) one();
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

    // Executes one turn of one block.
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

    // Returns a hash of all bits of all values and of their order.
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

// The parameters of a request. Its file is "SIZE BLOCKS DEPTH SWEEPS".
inline Shape shape_of(const peer::Request &request) {
    std::istringstream words(request.file);
    Shape shape{};
    if (!(words >> shape.size >> shape.blocks >> shape.depth >> shape.sweeps)) throw std::runtime_error("no shape");
    return shape;
}

// Creates the blocks, untimed, and measures `run`, which executes all turns.
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
