// FindBestPartition: the cost of a plane through every event of a node, and the cheapest plane.
//
// The events are processed in chunks of several blocks. The first pass counts the starts, without a
// branch. The second pass weighs all planes in single precision, four at a time. The results are
// correct except for rounding. So the few blocks with a plane that is about as light as the overall
// minimum are weighed again in double precision. There, the first of equal planes wins. Blocks with
// planar triangles are weighed in double precision at once.
//
// In parallel, a list is cut into parts. First, the counts at the start of each part are computed.
// Then each part is weighed independently.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "kdtree_lists.hpp"

namespace kdtree {

// The parameters of a tree.
struct Parameters {
    double traversal_cost;
    double intersection_cost;
    double empty_bonus;
    std::uint32_t levels;

    double leaf_cost(std::size_t count) const { return intersection_cost * static_cast<double>(count); }

    bool may_split(std::size_t count, std::uint32_t depth) const {
        return depth < levels && empty_bonus * traversal_cost < leaf_cost(count);
    }
};

// Calls `body` with every number below a count, each in a task of its own.
template <class Body>
void for_each_part(std::size_t count, const Body &body) {
    using Range = tbb::blocked_range<std::size_t>;
    tbb::parallel_for(
        Range(0, count, 1), [&](const Range &range) { body(range.begin()); },
        tbb::simple_partitioner());
}

struct Plane {
    int axis;
    float position;
    double cost;
    // The number of events of the axis that belong to the half below.
    std::size_t split;
    // The number of triangles in each half.
    std::size_t counts[2];
};

// The best plane so far, if there is any.
struct Candidate {
    bool is_there = false;
    Plane plane{};

    void try_plane(const Plane &other) {
        if (is_there && !(other.cost < plane.cost)) return;
        is_there = true;
        plane = other;
    }
};

// The numbers of triangles that a sweep has met and left.
struct Passed {
    std::uint32_t met = 0, left = 0;

    void pass(std::uint64_t event) {
        const auto kind = static_cast<std::uint32_t>(event::kind(event));
        met += (kind + 1) >> 1;
        left += 1 - (kind >> 1);
    }

    void pass(Slice<const std::uint64_t> events) {
        for (const std::uint64_t event : events) pass(event);
    }
};

// The number of events in a block, and the number of blocks that are counted at a time.
constexpr std::size_t BLOCK_LEN = 32, CHUNK_BLOCKS = 16;

// Memory for weighing in single precision.
struct Screen {
    struct Block {
        // The approximate minimum weight in it.
        float least;
        std::size_t first;
        Passed passed;
    };

    std::vector<Block> blocks;
    float least = 0;
    // For each block of a chunk: the number of starts before each event, and after the last.
    std::uint32_t starts[CHUNK_BLOCKS][BLOCK_LEN + 1];
    // True if a block has no planar events, and its positions have the same sign.
    bool is_plain[CHUNK_BLOCKS];

    void clear() {
        blocks.clear();
        least = INFINITY;
    }

    void push(float weight, std::size_t first, const Passed &passed) {
        if (weight < least) least = weight;
        blocks.push_back({weight, first, passed});
    }
};

// The lightest plane of some events.
struct Lightest {
    double weight = INFINITY;
    std::size_t index = 0;
    // The counts before the event.
    Passed passed;
    // True if planar triangles belong to the half below.
    bool is_planar_below = false;
};

// The sweep along one axis of a node.
class Sweep {
public:
    Sweep(Slice<const std::uint64_t> events, const Box &cell, int axis, std::size_t count)
        : events_(events), count_(static_cast<std::uint32_t>(count)), axis_(axis), low_(cell.low[axis]),
          high_(cell.high[axis]) {
        const double x = cell.edge(0), y = cell.edge(1), z = cell.edge(2);
        const double a = axis == 0 ? y : axis == 1 ? z : x;
        const double b = axis == 0 ? z : axis == 1 ? x : y;
        cross_ = a * b;
        perimeter_ = a + b;
        whole_ = x * y + y * z + z * x;
    }

    // Finds the lightest plane of some events. `passed` are the counts before them.
    Lightest lightest(std::size_t start, std::size_t end, Passed passed, Screen &screen) const {
        constexpr float TOLERANCE = 1e-5f;
        Lightest lightest;
        if (end - start < BLOCK_LEN || high_ - low_ < 1e-25f) {
            weigh(start, end, passed, lightest);
            return lightest;
        }
        screen.clear();
        std::size_t first = start;
        while (end - first >= BLOCK_LEN) {
            const std::size_t blocks = std::min(CHUNK_BLOCKS, (end - first) / BLOCK_LEN);
            weigh_blocks(&events_[first], blocks, first, end, passed, screen);
            first += blocks * BLOCK_LEN;
        }
        if (first < end) {
            // Fill the block with starts at the last event's position. They are not lighter than
            // it.
            std::uint64_t block[BLOCK_LEN];
            std::fill(block, block + BLOCK_LEN, event::pack(event::position(events_[end - 1]), event::START, 0));
            std::copy(&events_[first], &events_[first] + (end - first), block);
            weigh_blocks(block, 1, first, end, passed, screen);
        }
        const float limit = screen.least * (1.0f + TOLERANCE) + (high_ - low_) * 1e-10f;
        for (const Screen::Block &block : screen.blocks) {
            if (!(block.least <= limit)) continue;
            weigh(block.first, std::min(end, block.first + BLOCK_LEN), block.passed, lightest);
        }
        return lightest;
    }

    // Tries the lightest plane, and the planes that cut off empty space.
    void try_planes(const Lightest &lightest, const Parameters &parameters, Candidate &best) const {
        if (events_.len == 0 || whole_ <= 0.0) return;
        const auto cost = [&](double weight) {
            return parameters.traversal_cost + parameters.intersection_cost * (weight / whole_);
        };
        const float front = event::position(events_[0]), back = event::position(events_[events_.len - 1]);
        // First find the best plane of the axis, so that the first of equal planes wins. Then
        // compare the axes.
        Candidate own;
        if (front > low_) {
            const double weight = this->weight(front, 0, count_);
            own.try_plane({axis_, front, parameters.empty_bonus * cost(weight), 0, {0, count_}});
        }
        own.try_plane(plane_through(lightest, cost(lightest.weight)));
        if (back < high_) {
            const double weight = this->weight(back, count_, 0);
            own.try_plane({axis_, back, parameters.empty_bonus * cost(weight), events_.len, {count_, 0}});
        }
        best.try_plane(own.plane);
    }

private:
    Slice<const std::uint64_t> events_;
    std::uint32_t count_;
    int axis_;
    float low_, high_;
    // The area of the cross-section, half of its perimeter, and half of the surface of the node.
    double cross_, perimeter_, whole_;

    double weight(float at, std::uint32_t below, std::uint32_t above) const {
        const double position = static_cast<double>(at);
        const double area_below = cross_ + perimeter_ * (position - static_cast<double>(low_));
        const double area_above = cross_ + perimeter_ * (static_cast<double>(high_) - position);
        return area_below * static_cast<double>(below) + area_above * static_cast<double>(above);
    }

    // Weighs the planes through some events, one by one.
    void weigh(std::size_t start, std::size_t end, Passed passed, Lightest &lightest) const {
        for (std::size_t index = start; index < end; ++index) {
            const std::uint64_t event = events_[index];
            const Passed before = passed;
            const auto try_plane = [&](std::uint32_t met, std::uint32_t left, bool is_planar_below) {
                const double weight = this->weight(event::position(event), met, count_ - left);
                if (weight < lightest.weight) lightest = {weight, index, before, is_planar_below};
            };
            passed.pass(event);
            if (event::kind(event) != event::PLANAR) {
                // The sweep has left the triangles that end in the plane, and has not met those
                // that start in it.
                try_plane(before.met, passed.left, false);
                continue;
            }
            const auto is_alike = [&](std::size_t other) {
                return other < events_.len && event::rank(events_[other]) == event::rank(event);
            };
            if (index == 0 || !is_alike(index - 1)) try_plane(before.met, before.left, false);
            if (!is_alike(index + 1)) try_plane(passed.met, passed.left, true);
        }
    }

    // Weighs some blocks of events, of which the first event has the index `first`. The last block
    // is filled up from `end` on.
    void weigh_blocks(const std::uint64_t *events, std::size_t blocks, std::size_t first, std::size_t end,
                      Passed &passed, Screen &screen) const {
        // Count all blocks before weighing any: a value that was just stored word by word cannot be
        // loaded four words at a time until it has left the processor's store queue.
        std::uint32_t sum = 0;
        for (std::size_t number = 0; number < blocks; ++number) {
            const std::uint64_t *block = events + number * BLOCK_LEN;
            std::uint32_t *starts = screen.starts[number];
            std::uint64_t kinds = 0;
            starts[0] = sum;
#pragma GCC unroll 8
            for (std::size_t i = 0; i < BLOCK_LEN; ++i) {
                sum += static_cast<std::uint32_t>(block[i]) >> 31;
                starts[i + 1] = sum;
                kinds |= block[i];
            }
            const std::uint64_t signs = block[0] ^ block[BLOCK_LEN - 1];
            screen.is_plain[number] = (event::kind(kinds) & event::PLANAR) == 0 && signs >> 63 == 0;
        }
        for (std::size_t number = 0; number < blocks; ++number, first += BLOCK_LEN) {
            const Passed before = passed;
            if (screen.is_plain[number]) {
                const std::uint32_t *starts = screen.starts[number];
                const std::uint32_t met = starts[BLOCK_LEN] - starts[0];
                passed.met += met;
                passed.left += static_cast<std::uint32_t>(BLOCK_LEN) - met;
                screen.push(least_in_plain(events + number * BLOCK_LEN, starts, before), first, before);
                continue;
            }
            const std::size_t block_end = std::min(end, first + BLOCK_LEN);
            Lightest own;
            weigh(first, block_end, before, own);
            passed.pass(events_.part(first, block_end));
            screen.push(static_cast<float>(own.weight / perimeter_), first, before);
        }
    }

    // Returns the minimum weight of a block without planar events and with positions of one sign,
    // in units of the perimeter.
    float least_in_plain(const std::uint64_t *block, const std::uint32_t *starts, const Passed &before) const {
        const std::uint32_t flip = event::flip_of(block[0]);
        const float ratio = static_cast<float>(cross_ / perimeter_);
        const float below_first = static_cast<float>(static_cast<std::int32_t>(before.met));
        const float above_first = static_cast<float>(static_cast<std::int32_t>(count_ - before.left)) - 1.0f;
        const float low = low_, high = high_;
        std::uint32_t positions[BLOCK_LEN];
        for (std::size_t i = 0; i < BLOCK_LEN; ++i) positions[i] = static_cast<std::uint32_t>(block[i] >> 32) ^ flip;
        float values[BLOCK_LEN];
        std::memcpy(values, positions, sizeof values);
        const auto first = static_cast<std::int32_t>(starts[0]);
        float weights[BLOCK_LEN];
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(BLOCK_LEN); ++i) {
            const auto before_this = static_cast<std::int32_t>(starts[i]);
            const auto behind_this = static_cast<std::int32_t>(starts[i + 1]);
            const float below = below_first + static_cast<float>(before_this - first);
            // The events so far are either starts or ends.
            const float above = above_first + static_cast<float>(behind_this - (first + i));
            weights[i] = (ratio + (values[i] - low)) * below + (ratio + (high - values[i])) * above;
        }
        // Find the minima of every fourth weight, and then the minimum of those four.
        using Four [[gnu::vector_size(16)]] = float;
        Four fours[BLOCK_LEN / 4];
        std::memcpy(fours, weights, sizeof fours);
        Four least = fours[0];
        for (const Four &four : fours) least = four < least ? four : least;
        const float first_two = least[1] < least[0] ? least[1] : least[0];
        const float last_two = least[3] < least[2] ? least[3] : least[2];
        return last_two < first_two ? last_two : first_two;
    }

    // Finds where a plane cuts the list. The events between its event and the cut have the same
    // position.
    Plane plane_through(const Lightest &lightest, double cost) const {
        const std::uint64_t event = events_[lightest.index];
        const std::uint64_t last_kind = lightest.is_planar_below ? event::PLANAR : event::END;
        const std::uint64_t last_rank = (event::rank(event) & ~std::uint64_t{3}) | last_kind;
        std::size_t split = lightest.index;
        Passed passed = lightest.passed;
        for (; split < events_.len && event::rank(events_[split]) <= last_rank; ++split) passed.pass(events_[split]);
        return {axis_, event::position(event), cost, split, {passed.met, count_ - passed.left}};
    }
};

// The lists of a node, at the start of its region.
struct Lists {
    Slice<const std::uint64_t> events[3];
    Slice<const std::uint32_t> names;

    Lists(const Region &here, const Lens &lens) : names(here.triangles.first(lens.triangles)) {
        for (int axis = 0; axis < 3; ++axis) events[axis] = here.events[axis].first(lens.events[axis]);
    }
};

// Finds the cheapest plane of a node on the calling thread. Returns none if the node has no surface
// or no triangles.
inline Candidate best_plane(const Lists &lists, const Box &cell, const Parameters &parameters, Screen &screen) {
    Candidate best;
    for (int axis = 0; axis < 3; ++axis) {
        const Sweep sweep(lists.events[axis], cell, axis, lists.names.len);
        sweep.try_planes(sweep.lightest(0, lists.events[axis].len, Passed(), screen), parameters, best);
    }
    return best;
}

// Finds the cheapest plane of a node with all threads, in `part_count` parts of each list.
inline Candidate best_plane_of_all(const Lists &lists, const Box &cell, const Parameters &parameters,
                                   std::size_t part_count) {
    const auto part_of = [&](std::size_t number) {
        const auto &events = lists.events[number / part_count];
        const std::size_t part = number % part_count;
        return std::pair(part_start(events.len, part, part_count), part_start(events.len, part + 1, part_count));
    };
    std::vector<Passed> passed(3 * part_count);
    for_each_part(passed.size(), [&](std::size_t number) {
        const auto [start, end] = part_of(number);
        Passed own;
        own.pass(lists.events[number / part_count].part(start, end));
        passed[number] = own;
    });
    Passed sum;
    for (std::size_t number = 0; number < passed.size(); ++number) {
        if (number % part_count == 0) sum = Passed();
        const Passed own = passed[number];
        passed[number] = sum;
        sum.met += own.met;
        sum.left += own.left;
    }
    std::vector<Lightest> lightest(passed.size());
    for_each_part(passed.size(), [&](std::size_t number) {
        const auto axis = static_cast<int>(number / part_count);
        const auto [start, end] = part_of(number);
        const auto screen = std::make_unique<Screen>();
        const Sweep sweep(lists.events[axis], cell, axis, lists.names.len);
        lightest[number] = sweep.lightest(start, end, passed[number], *screen);
    });
    Candidate best;
    for (int axis = 0; axis < 3; ++axis) {
        Lightest of_axis;
        for (std::size_t part = 0; part < part_count; ++part) {
            const Lightest &later = lightest[static_cast<std::size_t>(axis) * part_count + part];
            if (later.weight < of_axis.weight) of_axis = later;
        }
        const Sweep sweep(lists.events[axis], cell, axis, lists.names.len);
        sweep.try_planes(of_axis, parameters, best);
    }
    return best;
}

}  // namespace kdtree
