// The workloads of the harness, defined as in bench/src/workload.rs: same algorithm, same layout,
// same sums.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace workload {

constexpr unsigned FIB_ARGUMENT = 38;
constexpr std::uint64_t TREE_DEPTH = 24;
constexpr int QUEENS = 12;

// A balanced binary tree with one allocation per node, allocated in depth-first order.
struct Node {
    std::uint64_t value;
    Node *left;
    Node *right;
};

inline Node *build_tree(std::uint64_t depth, std::uint64_t &next) {
    Node *node = new Node{next++, nullptr, nullptr};
    if (depth > 1) {
        node->left = build_tree(depth - 1, next);
        node->right = build_tree(depth - 1, next);
    }
    return node;
}

// The tree of the case `tree24`, built on first use and kept until the program ends.
inline const Node *tree() {
    static std::uint64_t next = 0;
    static const Node *root = build_tree(TREE_DEPTH, next);
    return root;
}

// The columns of the queens placed so far, one per row.
struct Board {
    std::int8_t columns[QUEENS];
};

inline bool is_safe(const Board &board, int row, int column) {
    for (int other = 0; other < row; ++other) {
        const int distance = board.columns[other] - column;
        if (distance == 0 || distance == row - other || distance == other - row) return false;
    }
    return true;
}

// Writes the safe columns of `row` and returns their number.
inline int safe_columns(const Board &board, int row, std::int8_t (&columns)[QUEENS]) {
    int count = 0;
    for (int column = 0; column < QUEENS; ++column) {
        if (is_safe(board, row, column)) columns[count++] = static_cast<std::int8_t>(column);
    }
    return count;
}

inline Board with_queen(const Board &board, int row, std::int8_t column) {
    Board next = board;
    next.columns[row] = column;
    return next;
}

constexpr int loop_rounds = 3;

// One iteration of the loops: rounds of a hash of the index. It uses only integers and is not
// inlined, for the reasons given in bench/src/workload.rs.
[[gnu::noinline]] inline std::uint64_t loop_body(std::uint64_t index) {
    std::uint64_t hash = index;
    for (int round = 0; round < loop_rounds; ++round) {
        hash += 0x9E3779B97F4A7C15ull;
        hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ull;
        hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBull;
        hash ^= hash >> 31;
    }
    return hash;
}

// Returns the sum of all elements, which differs if any single element is wrong.
inline std::uint64_t checksum(const std::vector<std::uint64_t> &values) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values) sum += value;
    return sum;
}

inline std::uint64_t loop_length(const std::string &name) {
    if (name == "loop1e6") return 1000000;
    if (name == "loop1e3") return 1000;
    throw std::runtime_error("unknown case " + name);
}

}  // namespace workload
