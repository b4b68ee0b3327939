// The creation of nodes: large nodes by all threads, the others by a task each, and subtrees below
// the grain by one thread.
#pragma once

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include <array>
#include <optional>
#include <set>
#include <unordered_map>

#include "kdtree_copy.hpp"
#include "kdtree_tree.hpp"

namespace kdtree {

// In a node with fewer triangles than this, no phase is worth several threads.
constexpr std::size_t PHASE_LEN_MIN = 16 * 1024;
// The number of parts per thread in the phases of a large node.
constexpr std::size_t PARTS_PER_THREAD = 4;

// A node before it is split.
struct BuildNode {
    Box cell;
    std::uint32_t depth;
    Lens lens;

    BuildNode half(int which, const Plane &plane, const Lens &its) const {
        return {cell.half(which, plane.axis, plane.position), depth + 1, its};
    }
};

// The destinations of a node's halves, and the memory that is free afterwards. If a region is too
// small, both are new buffers.
class Ways {
public:
    Ways(const Plane &plane, const Region &here, const Region &there) : to(there), from(here) {
        const std::size_t count = plane.counts[0] + plane.counts[1];
        if (there.holds(count)) return;
        fresh_[0] = Buffer(2 * count);
        fresh_[1] = Buffer(2 * count);
        to = fresh_[0].region();
        from = fresh_[1].region();
    }

    Ways(const Ways &) = delete;
    Ways &operator=(const Ways &) = delete;

    Region to, from;

private:
    Buffer fresh_[2];
};

class Build;

// The builder of subtrees below the grain, on one thread.
class Alone {
public:
    Alone(const Build &build, const Arena &above, Scratch &scratch)
        : build_(build), arena_(&above), scratch_(scratch) {}

    void subtree(const BuildNode &node, const Region &here, const Region &there);

    Fragment fragment;

private:
    const Build &build_;
    Arena arena_;
    Scratch &scratch_;

    Candidate plane(const BuildNode &node, const Region &here);
    void leaf(Slice<const std::uint32_t> names);
    void leaves(const BuildNode &node, const Plane &plane, const Region &here);
    void halves(const BuildNode &node, const Plane &plane, const Region &here, const Region &there);
};

// The data that all nodes of a tree share.
class Build {
public:
    Build(const Corners *corners, std::size_t triangle_count, const Parameters &parameters, std::size_t grain)
        : corners(corners), parameters(parameters), grain_(grain),
          thread_count_(static_cast<std::size_t>(tbb::this_task_arena::max_concurrency())) {
        // All threads split a node together while there are hardly more nodes than threads. This
        // costs more work in total than one thread alone would need. So for the last such nodes it
        // is better if the other threads wait a little instead of helping.
        const std::size_t share = 3 * triangle_count / (2 * thread_count_);
        large_ = thread_count_ == 1 ? ~std::size_t{0} : std::max(share, PHASE_LEN_MIN);
    }

    const Corners *const corners;
    const Parameters parameters;

    // Builds the subtree of a node with all threads that have nothing else to do. The lists of the
    // node are in `here`.
    Built subtree(const BuildNode &node, const Region &here, const Region &there, const Arena &arena) {
        const std::size_t count = node.lens.triangles;
        if (count < grain_ || thread_count_ == 1 || node.depth + 1 >= parameters.levels) {
            return alone(node, here, there, arena);
        }
        Built built;
        const Candidate best = plane(node, Lists(here, node.lens));
        if (!best.is_there || !(best.plane.cost < parameters.leaf_cost(count))) return alone(node, here, there, arena);
        built.plane = best.plane;
        for (auto &half : built.halves) half = std::make_unique<Built>();
        const std::size_t(&counts)[2] = built.plane.counts;
        if (counts[0] > 0 && counts[1] > 0) {
            halves(node, built, here, there, arena);
            return built;
        }
        // The half that gets all triangles has the same lists as the node.
        const int full = counts[0] == 0 ? 1 : 0;
        built.halves[1 - full]->fragment.push_leaf(0);
        *built.halves[full] = subtree(node.half(full, built.plane, node.lens), here, there, arena);
        return built;
    }

    // Distributes a node's lists to both halves on this thread.
    void split(const BuildNode &node, const Plane &plane, const Lists &lists, Arena &arena, const Region &to,
               const Cut &cut, Scratch &scratch, Lens (&lens)[2]) const {
        std::size_t counts[2];
        Deal(lists, node.cell, plane, corners, arena).run(scratch, to.triangles, cut, counts);
        scratch.added.sort();
        const Routes routes{scratch.routes.data(), scratch.straddlers.data(), scratch.added, plane};
        for (int axis = 0; axis < 3; ++axis) {
            copy_axis(routes, lists.events[axis], axis, to.events[axis], cut.events, lens);
        }
        for (int half = 0; half < 2; ++half) lens[half].triangles = counts[half];
    }

private:
    // A subtree with fewer triangles is built by one thread.
    std::size_t grain_;
    std::size_t thread_count_;
    // Nodes with at least this many triangles are split by all threads.
    std::size_t large_;
    // No thread waits for another task while it uses its scratch memory.
    tbb::enumerable_thread_specific<Scratch> scratches_;

    std::size_t part_count() const { return thread_count_ * PARTS_PER_THREAD; }

    Candidate plane(const BuildNode &node, const Lists &lists) {
        if (lists.names.len >= large_) return best_plane_of_all(lists, node.cell, parameters, part_count());
        return best_plane(lists, node.cell, parameters, scratches_.local().screen);
    }

    // Splits a node and builds both halves.
    void halves(const BuildNode &node, const Built &built, const Region &here, const Region &there,
                const Arena &arena) {
        const Plane &plane = built.plane;
        Arena own(&arena);
        const Ways ways(plane, here, there);
        const Cut cut = ways.to.cut_for(plane.counts), spare_cut = ways.from.cut_for(plane.counts);
        const Lists lists(here, node.lens);
        Lens lens[2];
        if (node.lens.triangles >= large_) {
            split_by_all(node, plane, lists, own, ways.to, cut, lens);
        } else {
            split(node, plane, lists, own, ways.to, cut, scratches_.local(), lens);
        }
        tbb::parallel_invoke(
            [&] {
                *built.halves[0] = subtree(node.half(0, plane, lens[0]), ways.to.behind(cut),
                                           ways.from.behind(spare_cut), own);
            },
            [&] {
                *built.halves[1] = subtree(node.half(1, plane, lens[1]), ways.to.before(cut),
                                           ways.from.before(spare_cut), own);
            });
    }

    // Distributes a node's lists to both halves with all threads.
    void split_by_all(const BuildNode &node, const Plane &plane, const Lists &lists, Arena &arena, const Region &to,
                      const Cut &cut, Lens (&lens)[2]) const {
        const Dealt dealt = Deal(lists, node.cell, plane, corners, arena).run_by_all(part_count(), to.triangles, cut);
        const Routes routes{dealt.routes.slice().data, dealt.straddlers.data(), dealt.added, plane};
        CopyingByAll(routes, lists, part_count()).run(to, cut.events, lens);
        for (int half = 0; half < 2; ++half) lens[half].triangles = dealt.counts[half];
    }

    // Builds the subtree of a node on this thread.
    Built alone(const BuildNode &node, const Region &here, const Region &there, const Arena &arena) {
        Alone alone(*this, arena, scratches_.local());
        alone.subtree(node, here, there);
        Built built;
        built.fragment = std::move(alone.fragment);
        return built;
    }
};

inline void Alone::subtree(const BuildNode &node, const Region &here, const Region &there) {
    const Candidate best = plane(node, here);
    if (!best.is_there) return leaf(here.triangles.first(node.lens.triangles));
    const Plane &plane = best.plane;
    const std::size_t index = fragment.open();
    if (plane.counts[0] == 0) {
        fragment.push_leaf(0);
        fragment.close(index, plane);
        subtree(node.half(1, plane, node.lens), here, there);
    } else if (plane.counts[1] == 0) {
        subtree(node.half(0, plane, node.lens), here, there);
        fragment.close(index, plane);
        fragment.push_leaf(0);
    } else if (build_.parameters.may_split(std::max(plane.counts[0], plane.counts[1]), node.depth + 1)) {
        halves(node, plane, here, there);
    } else {
        leaves(node, plane, here);
    }
}

inline Candidate Alone::plane(const BuildNode &node, const Region &here) {
    const std::size_t count = node.lens.triangles;
    if (!build_.parameters.may_split(count, node.depth)) return {};
    Candidate best = best_plane(Lists(here, node.lens), node.cell, build_.parameters, scratch_.screen);
    best.is_there = best.is_there && best.plane.cost < build_.parameters.leaf_cost(count);
    return best;
}

inline void Alone::leaf(Slice<const std::uint32_t> names) {
    for (const std::uint32_t name : names) fragment.entries.push_back(arena_.triangle(name));
    fragment.push_leaf(names.len);
}

// Makes two leaves of a node without distributing its events.
inline void Alone::leaves(const BuildNode &node, const Plane &plane, const Region &here) {
    const std::size_t index = fragment.nodes.size() - 1;
    std::size_t counts[2];
    Deal(Lists(here, node.lens), node.cell, plane, build_.corners, arena_)
        .run_to_leaves(scratch_.marks, fragment.entries, counts);
    fragment.push_leaf(counts[0], counts[1]);
    fragment.close(index, plane);
    fragment.push_leaf(counts[1]);
}

// Splits a node and builds both halves: first the one below, with its lists behind the cut.
inline void Alone::halves(const BuildNode &node, const Plane &plane, const Region &here, const Region &there) {
    const std::size_t index = fragment.nodes.size() - 1, pieces = arena_.len();
    const Ways ways(plane, here, there);
    const Cut cut{2 * plane.counts[1], plane.counts[1]};
    Lens lens[2];
    build_.split(node, plane, Lists(here, node.lens), arena_, ways.to, cut, scratch_, lens);
    subtree(node.half(0, plane, lens[0]), ways.to.behind(cut), ways.from);
    fragment.close(index, plane);
    subtree(node.half(1, plane, lens[1]), ways.to, ways.from);
    arena_.truncate(pieces);
}

// The triangles of a mesh and their sorted events. A build consumes them.
struct Prepared {
    Array<Corners> corners;
    BuildNode root;
    // The lists of the root, and memory for the build.
    Buffer buffers[2];

    Prepared copy() const { return {corners.copy(), root, {buffers[0].copy(), buffers[1].copy()}}; }
};

// If fewer triangles than this begin at one place, duplicates are not searched.
constexpr std::size_t RUN_LEN_MIN = 16;

// Removes all but the first of several triangles with the same corners, if many begin at one place
// along the first axis. `apps/graphics/src/kdtree/duplicates.rs` does the same.
inline void leave_out_duplicates(const Array<Corners> &corners, std::vector<Box> &extents,
                                 std::vector<std::uint32_t> &names) {
    // The rank of the event at which a triangle begins.
    const auto begin = [](const Box &extent) {
        const std::uint64_t kind = extent.low[0] == extent.high[0] ? event::PLANAR : event::START;
        return event::rank(event::pack(extent.low[0], kind, 0));
    };
    const auto bits = [&](std::uint32_t name) {
        std::array<std::uint32_t, 9> words;
        std::memcpy(words.data(), &corners[name], sizeof words);
        return words;
    };
    std::unordered_map<std::uint64_t, std::size_t> run_lens;
    for (const Box &extent : extents) ++run_lens[begin(extent)];
    std::set<std::array<std::uint32_t, 9>> seen;
    std::size_t kept = 0;
    for (std::size_t index = 0; index < names.size(); ++index) {
        const bool is_one_of_many = run_lens[begin(extents[index])] >= RUN_LEN_MIN;
        if (is_one_of_many && !seen.insert(bits(names[index])).second) continue;
        extents[kept] = extents[index];
        names[kept++] = names[index];
    }
    extents.resize(kept);
    names.resize(kept);
}

// Sorts the input of a build with all threads.
inline Prepared prepare(Array<Corners> corners) {
    // The length of a buffer over that of its initial contents. Planes cut triangles, which adds
    // some.
    const auto room = [](std::size_t count) { return count + count / 2; };
    Prepared prepared;
    prepared.root = {Box{}, 0, Lens{}};
    std::vector<Box> extents;
    std::vector<std::uint32_t> names;
    for (std::size_t index = 0; index < corners.slice().len; ++index) {
        const auto &[a, b, c] = corners[index];
        // No ray hits a triangle with two equal corners.
        if (a == b || b == c || c == a) continue;
        extents.push_back(Box::of_triangle(corners[index]));
        names.push_back(static_cast<std::uint32_t>(index));
    }
    leave_out_duplicates(corners, extents, names);
    if (!extents.empty()) prepared.root.cell = extents[0];
    for (const Box &extent : extents) prepared.root.cell.include(extent);
    for (auto &buffer : prepared.buffers) {
        buffer = Buffer(room(names.size()));
        for (auto &list : buffer.events) std::memset(list.slice().data, 0, list.slice().len * sizeof(std::uint64_t));
    }
    Lens &lens = prepared.root.lens;
    lens.triangles = names.size();
    for (auto &buffer : prepared.buffers) std::copy(names.begin(), names.end(), buffer.triangles.slice().data);
    for_each_part(3, [&](std::size_t axis) {
        const auto events = prepared.buffers[0].events[axis].slice();
        std::uint64_t *end = events.data;
        for (std::size_t index = 0; index < extents.size(); ++index) {
            end = event::push(end, extents[index], static_cast<int>(axis), index);
        }
        lens.events[axis] = static_cast<std::size_t>(end - events.data);
        event::sort(events.first(lens.events[axis]), prepared.buffers[1].events[axis].slice());
    });
    prepared.corners = std::move(corners);
    return prepared;
}

// A build and its memory, which is freed with this object. That happens after the clock has
// stopped, as in the measurements of the other builders.
class Site {
public:
    explicit Site(Prepared prepared) : prepared_(std::move(prepared)) {}

    // Builds a tree with all threads of the current arena. May be called once.
    Tree build(const Parameters &parameters, std::size_t grain) {
        const auto corners = prepared_.corners.slice();
        build_.emplace(corners.data, corners.len, parameters, grain);
        built_ = build_->subtree(prepared_.root, prepared_.buffers[0].region(), prepared_.buffers[1].region(), arena_);
        layout_.emplace(built_);
        return layout_->tree();
    }

private:
    Prepared prepared_;
    std::optional<Build> build_;
    Arena arena_;
    Built built_;
    std::optional<Layout> layout_;
};

}  // namespace kdtree
