// The quicksort of the harness, line by line as in apps/numerics/src/sort: partition, pivot, leaf,
// part. The reasons for each step are documented there. A change here needs the same change there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "protocol.hpp"

namespace sorting {

constexpr std::size_t CUTOFF = 1000;
constexpr std::size_t LEAF_LEN_MAX = 16;
constexpr std::size_t LEN_PER_LEVEL = 16;
constexpr std::size_t LEN_TWO_LEVELS = 64;
constexpr std::uint64_t SEED = 2004;

template <class GoesLeft>
std::size_t partition(std::int32_t *items, std::size_t len, GoesLeft goes_left) {
    std::size_t border = 0;
    for (std::size_t index = 0; index < len; ++index) {
        const std::int32_t item = items[index];
        items[index] = items[border];
        items[border] = item;
        border += static_cast<std::size_t>(goes_left(item));
    }
    return border;
}

inline std::size_t median_of_three(const std::int32_t *items, std::size_t a, std::size_t b, std::size_t c) {
    const bool a_below_b = items[a] < items[b];
    const bool a_below_c = items[a] < items[c];
    if (a_below_b != a_below_c) return a;
    const bool b_below_c = items[b] < items[c];
    return a_below_b == b_below_c ? b : c;
}

inline std::size_t median_within(const std::int32_t *items, std::size_t first, std::size_t len, unsigned levels) {
    if (levels == 0) return first + len / 2;
    const std::size_t third = len / 3;
    const std::size_t a = median_within(items, first, third, levels - 1);
    const std::size_t b = median_within(items, first + third, third, levels - 1);
    const std::size_t c = median_within(items, first + 2 * third, third, levels - 1);
    return median_of_three(items, a, b, c);
}

inline std::size_t pseudo_median(const std::int32_t *items, std::size_t len) {
    unsigned levels = 1;
    std::size_t len_next = LEN_TWO_LEVELS;
    while (len >= len_next) {
        levels += 1;
        len_next *= LEN_PER_LEVEL;
    }
    return median_within(items, 0, len, levels);
}

inline void sort_leaf(std::int32_t *items, std::size_t len) {
    if (len < 2) return;
    std::int32_t lanes[LEAF_LEN_MAX];
    std::fill(lanes, lanes + LEAF_LEN_MAX, items[len - 1]);
    std::copy(items, items + len, lanes);
    std::uint32_t ranks[LEAF_LEN_MAX] = {};
    for (std::size_t index = 0; index < len; ++index) {
        const std::int32_t item = lanes[index];
        for (std::size_t lane = 0; lane < LEAF_LEN_MAX; ++lane) ranks[lane] += item < lanes[lane] ? 1u : 0u;
    }
    std::uint32_t sum = 0;
    for (const std::uint32_t rank : ranks) sum += rank;
    sum -= static_cast<std::uint32_t>(LEAF_LEN_MAX - len) * ranks[LEAF_LEN_MAX - 1];
    if (sum != len * (len - 1) / 2) {
        std::sort(items, items + len);
        return;
    }
    for (std::size_t index = 0; index < len; ++index) items[ranks[index]] = lanes[index];
}

struct Part {
    std::int32_t *items;
    std::size_t len;
    std::int32_t least;
    bool has_least;
    unsigned splits_left;
};

inline Part whole(std::vector<std::int32_t> &items) {
    unsigned levels = 0;
    while (items.size() >> levels > 1) ++levels;
    return {items.data(), items.size(), 0, false, 2 * (levels + 1)};
}

inline std::pair<Part, Part> split(const Part &part) {
    std::int32_t *const items = part.items;
    const unsigned splits_left = part.splits_left - 1;
    if (part.splits_left == 0) {
        std::sort(items, items + part.len);
        return {Part{items, 0, 0, false, 0}, Part{items, 0, 0, false, 0}};
    }
    const std::size_t place = pseudo_median(items, part.len);
    const std::int32_t pivot = items[place];
    if (part.has_least && part.least >= pivot) {
        const std::size_t equal = partition(items, part.len, [pivot](std::int32_t item) { return item <= pivot; });
        return {Part{items, 0, 0, false, splits_left}, Part{items + equal, part.len - equal, 0, false, splits_left}};
    }
    std::swap(items[0], items[place]);
    const std::size_t less = partition(items + 1, part.len - 1, [pivot](std::int32_t item) { return item < pivot; });
    std::swap(items[0], items[less]);
    return {Part{items, less, part.least, part.has_least, splits_left},
            Part{items + less + 1, part.len - less - 1, pivot, true, splits_left}};
}

// A separate function in every peer, as in Rust.
[[gnu::noinline]] inline void sort_sequential(Part rest) {
    while (rest.len > LEAF_LEN_MAX) {
        const auto [left, right] = split(rest);
        sort_sequential(left);
        rest = right;
    }
    sort_leaf(rest.items, rest.len);
}

inline std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
    return bits ^ (bits >> 31);
}

inline bool is_case(const std::string &name) { return name == "sort2e7"; }

inline std::vector<std::int32_t> random_items() {
    std::vector<std::int32_t> items(20000000);
    for (std::size_t index = 0; index < items.size(); ++index) {
        const std::uint64_t number = mixed(SEED + 0x9E3779B97F4A7C15ull * (index + 1));
        items[index] = static_cast<std::int32_t>(static_cast<std::uint32_t>(number >> 32));
    }
    return items;
}

// Returns a hash of all items and of their order.
inline std::uint64_t checksum(const std::vector<std::int32_t> &items) {
    std::uint64_t hash = 0;
    for (const std::int32_t item : items) hash = hash * 31 + static_cast<std::uint32_t>(item);
    return hash;
}

// Sorts new copies of the input. Only `sort` is timed.
template <class Sort>
peer::Answer measure(const peer::Request &request, Sort sort) {
    static const std::vector<std::int32_t> input = random_items();
    std::vector<std::int32_t> items(input.size());
    peer::Answer answer;
    for (std::uint64_t i = 0; i < request.repetitions; ++i) {
        std::copy(input.begin(), input.end(), items.begin());
        answer.nanoseconds += peer::timed([&] {
            sort(whole(items));
            return std::uint64_t{0};
        }).nanoseconds;
    }
    answer.result = checksum(items);
    return answer;
}

}  // namespace sorting
