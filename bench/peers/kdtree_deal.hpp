// MarkTriangles and CopyTriangles: the half that a triangle belongs to, and its index there.
//
// The split plane cuts the list of its axis in two. Initially, every triangle counts as being on
// the side with more events. Each event on the other side moves its triangle one step towards that
// side. So a triangle with both events there (or one planar event) is on that side, and one with a
// single event there straddles the plane.
//
// Then each half gets its triangles in order, and each triangle of the node gets a route for its
// events. Triangles that straddle the plane are cut. Where the box of a piece differs from that of
// the whole triangle, new events are created.
#pragma once

#include <atomic>

#include "kdtree_sweep.hpp"

namespace kdtree {

// Set in the route of a triangle that straddles the plane. The bits below are its number among
// those triangles. Any other route is twice the distance by which the index of the triangle
// decreases, plus one for the half above.
constexpr std::uint32_t ROUTE_STRADDLES = std::uint32_t{1} << 31;

// The result of the split for one half of a straddling triangle.
struct Fate {
    static constexpr std::uint32_t GONE = ~std::uint32_t{0};

    // Its index in the half, or GONE.
    std::uint32_t index = GONE;
    // The old events that it keeps, two bits per axis: its end or planar event, and its start.
    std::uint8_t keep = 0;

    bool keeps(int axis, std::uint64_t kind) const {
        return index != GONE && (keep >> (2 * static_cast<unsigned>(axis) + static_cast<unsigned>(kind >> 1)) & 1) != 0;
    }
};

// A triangle on both sides: the results below and above.
struct Straddler {
    Fate fates[2];
};

// New events of both halves and all axes, with the old indices of their triangles.
struct Added {
    std::vector<std::uint64_t> lists[2][3];

    template <class Body>
    void for_each(const Body &body) {
        for (auto &half : lists) {
            for (auto &list : half) body(list);
        }
    }

    void clear() {
        for_each([](auto &list) { list.clear(); });
    }

    // Often they are in order already.
    void sort() {
        for_each([](auto &list) {
            if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
        });
    }
};

// A straddling triangle that has been cut.
struct Pieces {
    Piece old;
    Extents extents;

    // Creates the new events of one piece of the triangle with this index. Returns the old events
    // that it keeps.
    std::uint8_t add_events(int half, std::size_t index, std::vector<std::uint64_t> (&added)[3]) const {
        const Box &extent = extents.boxes[half];
        unsigned keep = 0;
        for (unsigned axis = 0; axis < 3; ++axis) {
            const float low = extent.low[axis], high = extent.high[axis];
            const bool keeps_low = low == old.extent.low[axis], keeps_high = high == old.extent.high[axis];
            if (keeps_low && keeps_high) {
                keep |= 3u << 2 * axis;
                continue;
            }
            if (low == high) {
                added[axis].push_back(event::pack(low, event::PLANAR, index));
                continue;
            }
            if (keeps_low) {
                keep |= 2u << 2 * axis;
            } else {
                added[axis].push_back(event::pack(low, event::START, index));
            }
            if (keeps_high) {
                keep |= 1u << 2 * axis;
            } else {
                added[axis].push_back(event::pack(high, event::END, index));
            }
        }
        return static_cast<std::uint8_t>(keep);
    }
};

// The memory that a thread needs besides the lists of its nodes.
struct Scratch {
    std::vector<std::uint8_t> marks;
    std::vector<std::uint32_t> routes;
    std::vector<Straddler> straddlers;
    Added added;
    Screen screen;
};

// The result of distributing the triangles of a large node with all threads.
struct Dealt {
    Array<std::uint32_t> routes;
    std::vector<Straddler> straddlers;
    Added added;
    // The numbers of triangles in the halves.
    std::size_t counts[2] = {0, 0};
};

// Marks that several threads set: whether a triangle has a start on the shorter side, and whether
// it has an end there. A planar event counts as both. Each event sets its own marks, so no two
// threads set the same one.
class SharedMarks {
public:
    explicit SharedMarks(std::size_t count) : marks_(new std::atomic<bool>[2 * count]()) {}

    void set(std::uint64_t event) {
        const std::size_t kind = event::kind(event), first = 2 * event::index(event);
        // Relaxed: read after all threads have finished marking.
        marks_[first + (kind >> 1)].store(true, std::memory_order_relaxed);
        marks_[first + ((kind + 1) >> 1)].store(true, std::memory_order_relaxed);
    }

    // Returns the same as the sum of the marks on one thread: 0 or 2, and 1 for a straddling
    // triangle.
    unsigned mark(std::size_t index) const {
        const unsigned end = marks_[2 * index].load(std::memory_order_relaxed);
        return end + marks_[2 * index + 1].load(std::memory_order_relaxed);
    }

private:
    std::unique_ptr<std::atomic<bool>[]> marks_;
};

// The distribution of a node's triangles to both halves.
class Deal {
public:
    Deal(const Lists &lists, const Box &cell, const Plane &plane, const Corners *corners, Arena &arena)
        : names_(lists.names), cell_(cell), plane_(plane), corners_(corners), arena_(arena) {
        const auto events = lists.events[plane.axis];
        const bool is_below_shorter = plane.split < events.len - plane.split;
        shorter_ = is_below_shorter ? events.first(plane.split) : events.from(plane.split);
        // A mark of 2 means the shorter half, 0 the other one.
        flip_ = is_below_shorter ? 1 : 0;
    }

    // Distributes the triangles: those above the plane go to the start of `dealt`, those below to
    // the cut. Returns their numbers.
    void run(Scratch &scratch, Slice<std::uint32_t> dealt, const Cut &cut, std::size_t (&counts)[2]) {
        mark(scratch.marks);
        scratch.straddlers.clear();
        scratch.added.clear();
        if (scratch.routes.size() < names_.len) scratch.routes.resize(names_.len);
        std::uint32_t *routes = scratch.routes.data();
        const std::uint8_t *marks = scratch.marks.data();
        std::uint32_t *lists[2] = {dealt.data + cut.triangles, dealt.data};
        std::size_t below = 0, above = 0;
        for (std::size_t index = 0; index < names_.len; ++index) {
            if (marks[index] == 1) {
                routes[index] = ROUTE_STRADDLES | static_cast<std::uint32_t>(scratch.straddlers.size());
                std::size_t ends[2] = {below, above};
                scratch.straddlers.push_back(put_pieces(index, lists, ends, scratch.added));
                below = ends[0];
                above = ends[1];
                continue;
            }
            const std::size_t side = (marks[index] >> 1) ^ flip_;
            dealt[chosen(cut.triangles + below, above, side)] = names_[index];
            routes[index] = static_cast<std::uint32_t>((index - chosen(below, above, side)) << 1 | side);
            above += side;
            below += 1 - side;
        }
        counts[0] = below;
        counts[1] = above;
    }

    // Distributes the triangles to two leaves by appending both lists to `entries`. Returns their
    // lengths.
    void run_to_leaves(std::vector<std::uint8_t> &marks, std::vector<std::uint32_t> &entries,
                       std::size_t (&counts)[2]) {
        mark(marks);
        const std::size_t first = entries.size(), below_max = plane_.counts[0];
        entries.resize(first + below_max + plane_.counts[1]);
        std::uint32_t *lists = entries.data() + first;
        std::size_t below = 0, above = below_max;
        for (std::size_t index = 0; index < names_.len; ++index) {
            const std::uint32_t triangle = arena_.triangle(names_[index]);
            if (marks[index] == 1) {
                bool reaches[2];
                find_reach(names_[index], reaches);
                if (reaches[0]) lists[below++] = triangle;
                if (reaches[1]) lists[above++] = triangle;
                continue;
            }
            const std::size_t side = (marks[index] >> 1) ^ flip_;
            lists[chosen(below, above, side)] = triangle;
            above += side;
            below += 1 - side;
        }
        // If pieces below have vanished, the list above moves up.
        if (below < below_max) std::copy(lists + below_max, lists + above, lists + below);
        counts[0] = below;
        counts[1] = above - below_max;
        entries.resize(first + counts[0] + counts[1]);
    }

    // Does the work of `run` with all threads, in `part_count` parts.
    Dealt run_by_all(std::size_t part_count, Slice<std::uint32_t> dealt, const Cut &cut) {
        SharedMarks marks(names_.len);
        for_each_part(part_count, [&](std::size_t number) {
            const std::size_t start = part_start(shorter_.len, number, part_count);
            for (auto event : shorter_.part(start, part_start(shorter_.len, number + 1, part_count))) marks.set(event);
        });
        std::vector<Part> parts(part_count);
        for_each_part(part_count, [&](std::size_t number) {
            parts[number].start = part_start(names_.len, number, part_count);
            parts[number].end = part_start(names_.len, number + 1, part_count);
            count(marks, parts[number]);
        });
        Dealt all;
        std::size_t straddler_count = 0;
        for (Part &part : parts) {
            for (int half = 0; half < 2; ++half) {
                part.first[half] = all.counts[half];
                all.counts[half] += part.counts[half];
            }
            part.first_straddler = straddler_count;
            straddler_count += part.pieces.size();
        }
        all.routes = Array<std::uint32_t>(names_.len);
        std::uint32_t *lists[2] = {dealt.data + cut.triangles, dealt.data};
        const std::size_t first_piece = arena_.len();
        for_each_part(part_count, [&](std::size_t number) {
            fill(marks, parts[number], lists, first_piece, all.routes.slice());
        });
        all.straddlers.reserve(straddler_count);
        arena_.reserve(2 * straddler_count);
        for (Part &part : parts) {
            all.straddlers.insert(all.straddlers.end(), part.straddlers.begin(), part.straddlers.end());
            for (const Pieces &pieces : part.pieces) {
                // The name of a piece that has vanished is not used anywhere.
                for (const Box &extent : pieces.extents.boxes) arena_.push({extent, pieces.old.triangle});
            }
            for (int half = 0; half < 2; ++half) {
                for (int axis = 0; axis < 3; ++axis) {
                    auto &list = all.added.lists[half][axis];
                    const auto &more = part.added.lists[half][axis];
                    list.insert(list.end(), more.begin(), more.end());
                }
            }
        }
        all.added.sort();
        return all;
    }

private:
    // A part of the triangles of a large node.
    struct Part {
        std::size_t start = 0, end = 0;
        std::vector<Pieces> pieces;
        std::size_t counts[2] = {0, 0};
        // The numbers of triangles of the halves, and of straddling ones, before this part.
        std::size_t first[2] = {0, 0};
        std::size_t first_straddler = 0;
        std::vector<Straddler> straddlers;
        Added added;
    };

    Slice<const std::uint32_t> names_;
    // Returns the shorter side of the list of the split axis.
    Slice<const std::uint64_t> shorter_;
    std::size_t flip_;
    const Box &cell_;
    const Plane &plane_;
    const Corners *corners_;
    Arena &arena_;

    void mark(std::vector<std::uint8_t> &marks) const {
        marks.assign(names_.len, 0);
        std::uint8_t *values = marks.data();
        for (const std::uint64_t event : shorter_) {
            values[event::index(event)] += static_cast<std::uint8_t>(1 + (event::kind(event) & event::PLANAR));
        }
    }

    Pieces cut(std::uint32_t name) const {
        const Piece old = arena_.piece(name, corners_);
        const Corners &triangle = corners_[old.triangle];
        return {old, clip::halves(triangle, old.extent, cell_, plane_.axis, plane_.position)};
    }

    [[gnu::noinline, gnu::cold]] Straddler put_pieces(std::size_t index, std::uint32_t *(&lists)[2],
                                                      std::size_t (&ends)[2], Added &added) {
        const Pieces pieces = cut(names_[index]);
        Straddler straddler;
        for (int half = 0; half < 2; ++half) {
            if (!pieces.extents.is_there[half]) continue;
            lists[half][ends[half]] = arena_.push({pieces.extents.boxes[half], pieces.old.triangle});
            straddler.fates[half] = {static_cast<std::uint32_t>(ends[half]++),
                                     pieces.add_events(half, index, added.lists[half])};
        }
        return straddler;
    }

    // Returns which halves a straddling triangle reaches into.
    [[gnu::noinline, gnu::cold]] void find_reach(std::uint32_t name, bool (&reaches)[2]) const {
        // A triangle that does not touch the border of the cell is whole, or no plane of the cell
        // has cut it. Then it has corners on both sides.
        if (cell_.is_around(arena_.piece(name, corners_).extent)) {
            reaches[0] = reaches[1] = true;
            return;
        }
        const Pieces pieces = cut(name);
        std::copy(pieces.extents.is_there, pieces.extents.is_there + 2, reaches);
    }

    // Cuts the straddling triangles of a part and counts the triangles that go to each half.
    void count(const SharedMarks &marks, Part &part) const {
        for (std::size_t index = part.start; index < part.end; ++index) {
            const unsigned mark = marks.mark(index);
            if (mark != 1) {
                const std::size_t side = (mark >> 1) ^ flip_;
                part.counts[1] += side;
                part.counts[0] += 1 - side;
                continue;
            }
            part.pieces.push_back(cut(names_[index]));
            for (int half = 0; half < 2; ++half) part.counts[half] += part.pieces.back().extents.is_there[half];
        }
    }

    // Distributes a part to its destinations, which are known.
    void fill(const SharedMarks &marks, Part &part, std::uint32_t *(&lists)[2], std::size_t first_piece,
              Slice<std::uint32_t> routes) const {
        std::size_t ends[2] = {part.first[0], part.first[1]};
        for (std::size_t index = part.start; index < part.end; ++index) {
            const unsigned mark = marks.mark(index);
            if (mark != 1) {
                const std::size_t side = (mark >> 1) ^ flip_;
                lists[side][ends[side]] = names_[index];
                routes[index] = static_cast<std::uint32_t>((index - ends[side]) << 1 | side);
                ++ends[side];
                continue;
            }
            const std::size_t number = part.first_straddler + part.straddlers.size();
            routes[index] = ROUTE_STRADDLES | static_cast<std::uint32_t>(number);
            const Pieces &pieces = part.pieces[part.straddlers.size()];
            Straddler straddler;
            for (int half = 0; half < 2; ++half) {
                if (!pieces.extents.is_there[half]) continue;
                lists[half][ends[half]] = Arena::name(first_piece + 2 * number + static_cast<std::size_t>(half));
                straddler.fates[half] = {static_cast<std::uint32_t>(ends[half]++),
                                         pieces.add_events(half, index, part.added.lists[half])};
            }
            part.straddlers.push_back(straddler);
        }
    }
};

}  // namespace kdtree
