// CopyEvents: the events of one axis are copied to both halves, in order, along the routes of their
// triangles.
//
// An event of a triangle on one side is written once, at the current end of that side's list. The
// side is computed without a branch; along the split axis it is known beforehand. The few events of
// triangles that straddle the plane, and the new events that are inserted, are handled out of line.
// New events contain the old indices of their triangles, like the events that they are merged with.
#pragma once

#include "kdtree_deal.hpp"

namespace kdtree {

// The routes along which a node's events are copied.
struct Routes {
    const std::uint32_t *routes;
    const Straddler *straddlers;
    const Added &added;
    const Plane &plane;
};

// The state of copying the events of one axis. `lists` are the starts of the halves' lists, `ends`
// their current lengths.
class Copying {
public:
    Copying(const Routes &routes, int axis, Slice<const std::uint64_t> (&added)[2], std::uint64_t *(&lists)[2])
        : routes_(routes), axis_(axis), added_{added[0], added[1]}, lists_{lists[0], lists[1]} {}

    std::size_t ends[2] = {0, 0};

    // Copies some events of the list, of which the first has this index, and all remaining new
    // events.
    void run(Slice<const std::uint64_t> events, std::size_t first) {
        const Plane &plane = routes_.plane;
        if (axis_ != plane.axis) {
            run_towards<EITHER>(events);
        } else {
            const std::size_t split = std::min(plane.split > first ? plane.split - first : 0, events.len);
            run_towards<BELOW>(events.first(split));
            run_towards<ABOVE>(events.from(split));
        }
        put_added(~std::uint64_t{0});
    }

private:
    // The triangles may be in both halves; all that do not straddle the plane are below; or above.
    enum Way { EITHER, BELOW, ABOVE };

    const Routes &routes_;
    int axis_;
    // New events that have not been inserted yet.
    Slice<const std::uint64_t> added_[2];
    std::uint64_t *lists_[2];

    template <Way way>
    void run_towards(Slice<const std::uint64_t> events) {
        std::uint64_t next_added = this->next_added();
        const std::uint32_t *routes = routes_.routes;
        std::uint64_t *below = lists_[0] + ends[0], *above = lists_[1] + ends[1];
        const auto out_of_line = [&](const auto &body) {
            ends[0] = static_cast<std::size_t>(below - lists_[0]);
            ends[1] = static_cast<std::size_t>(above - lists_[1]);
            body();
            below = lists_[0] + ends[0];
            above = lists_[1] + ends[1];
        };
        for (const std::uint64_t event : events) {
            if (event >= next_added) {
                out_of_line([&] { put_added(event); });
                next_added = this->next_added();
            }
            const std::uint32_t route = routes[event::index(event)];
            if ((route & ROUTE_STRADDLES) != 0) {
                out_of_line([&] { put_straddling(event, route); });
                continue;
            }
            const std::uint64_t moved = event - (route >> 1);
            if (way == BELOW) {
                *below++ = moved;
            } else if (way == ABOVE) {
                *above++ = moved;
            } else {
                const std::size_t side = route & 1;
                const auto a = reinterpret_cast<std::uintptr_t>(below), b = reinterpret_cast<std::uintptr_t>(above);
                *reinterpret_cast<std::uint64_t *>(chosen(a, b, side)) = moved;
                above += side;
                below += 1 - side;
            }
        }
        out_of_line([] {});
    }

    std::uint64_t next_added() const {
        std::uint64_t next = ~std::uint64_t{0};
        for (const auto &added : added_) {
            if (added.len > 0) next = std::min(next, added[0]);
        }
        return next;
    }

    // Inserts the new events that precede an event.
    [[gnu::noinline, gnu::cold]] void put_added(std::uint64_t event) {
        for (int half = 0; half < 2; ++half) {
            auto &added = added_[half];
            for (; added.len > 0 && added[0] < event; added = added.from(1)) {
                const std::uint32_t number = routes_.routes[event::index(added[0])] & ~ROUTE_STRADDLES;
                const Fate &fate = routes_.straddlers[number].fates[half];
                lists_[half][ends[half]++] = event::with_index(added[0], fate.index);
            }
        }
    }

    [[gnu::noinline, gnu::cold]] void put_straddling(std::uint64_t event, std::uint32_t route) {
        const Straddler &straddler = routes_.straddlers[route & ~ROUTE_STRADDLES];
        for (int half = 0; half < 2; ++half) {
            const Fate &fate = straddler.fates[half];
            if (!fate.keeps(axis_, event::kind(event))) continue;
            lists_[half][ends[half]++] = event::with_index(event, fate.index);
        }
    }
};

// Copies all events of an axis: those above to the start of `dealt`, those below to `below_first`.
// Returns their numbers.
inline void copy_axis(const Routes &routes, Slice<const std::uint64_t> events, int axis, Slice<std::uint64_t> dealt,
                      std::size_t below_first, Lens (&lens)[2]) {
    Slice<const std::uint64_t> added[2];
    for (int half = 0; half < 2; ++half) {
        const auto &list = routes.added.lists[half][axis];
        added[half] = {list.data(), list.size()};
    }
    std::uint64_t *lists[2] = {dealt.data + below_first, dealt.data};
    Copying copying(routes, axis, added, lists);
    copying.run(events, 0);
    for (int half = 0; half < 2; ++half) lens[half].events[axis] = copying.ends[half];
}

// Copies all axes with all threads, each axis in `part_count` parts.
class CopyingByAll {
public:
    CopyingByAll(const Routes &routes, const Lists &lists, std::size_t part_count)
        : routes_(routes), lists_(lists), parts_(3 * part_count) {
        for (std::size_t number = 0; number < parts_.size(); ++number) {
            Part &part = parts_[number];
            part.axis = static_cast<int>(number / part_count);
            const std::size_t len = lists.events[part.axis].len;
            part.start = part_start(len, number % part_count, part_count);
            part.end = part_start(len, number % part_count + 1, part_count);
        }
    }

    void run(const Region &to, std::size_t below_first, Lens (&lens)[2]) {
        for_each_part(parts_.size(), [&](std::size_t number) { count(parts_[number]); });
        for (Lens &half : lens) std::fill(half.events, half.events + 3, 0);
        for (Part &part : parts_) {
            std::uint64_t *dealt = to.events[part.axis].data;
            for (int half = 0; half < 2; ++half) {
                std::size_t &len = lens[half].events[part.axis];
                part.dealt[half] = dealt + (half == 0 ? below_first : 0) + len;
                len += part.counts[half];
            }
        }
        for_each_part(parts_.size(), [&](std::size_t number) { fill(parts_[number]); });
    }

private:
    // A part of the events of one axis. It begins with an event, and has the new events up to the
    // next part's first event.
    struct Part {
        int axis = 0;
        std::size_t start = 0, end = 0;
        std::size_t counts[2] = {0, 0};
        std::uint64_t *dealt[2] = {nullptr, nullptr};
    };

    const Routes &routes_;
    const Lists &lists_;
    std::vector<Part> parts_;

    // Returns the new events between two events of the list; those before the first event of the
    // list and after its last are included.
    Slice<const std::uint64_t> added_between(int half, int axis, std::size_t start, std::size_t end) const {
        const auto &events = lists_.events[axis];
        const auto &added = routes_.added.lists[half][axis];
        const auto place = [&](std::size_t index) {
            if (index == 0) return added.begin();
            if (index >= events.len) return added.end();
            return std::lower_bound(added.begin(), added.end(), events[index]);
        };
        const auto first = place(start), last = place(end);
        if (first >= last) return {};
        return {&*first, static_cast<std::size_t>(last - first)};
    }

    // Counts the events that go to each half.
    void count(Part &part) const {
        std::size_t above = 0, straddling = 0;
        for (int half = 0; half < 2; ++half) {
            part.counts[half] = added_between(half, part.axis, part.start, part.end).len;
        }
        for (const std::uint64_t event : lists_.events[part.axis].part(part.start, part.end)) {
            const std::uint32_t route = routes_.routes[event::index(event)];
            if ((route & ROUTE_STRADDLES) == 0) {
                above += route & 1;
                continue;
            }
            ++straddling;
            const Straddler &straddler = routes_.straddlers[route & ~ROUTE_STRADDLES];
            for (int half = 0; half < 2; ++half) {
                part.counts[half] += straddler.fates[half].keeps(part.axis, event::kind(event));
            }
        }
        part.counts[1] += above;
        part.counts[0] += part.end - part.start - straddling - above;
    }

    // Copies a part to its destinations, which are known.
    void fill(Part &part) const {
        Slice<const std::uint64_t> added[2];
        for (int half = 0; half < 2; ++half) added[half] = added_between(half, part.axis, part.start, part.end);
        Copying copying(routes_, part.axis, added, part.dealt);
        copying.run(lists_.events[part.axis].part(part.start, part.end), part.start);
    }
};

}  // namespace kdtree
