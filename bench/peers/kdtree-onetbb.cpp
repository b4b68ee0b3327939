// Peer `kdtree-onetbb`: the nested algorithm for kd-trees on oneTBB, like the peer on rayon.
//
// Node tasks are calls of `parallel_invoke`; the phases of large nodes are `parallel_for` over
// parts of their lists:
//
//      prepare            kdtree_build   events, the initial sort
//      FindBestPartition  kdtree_sweep   counts by parts, the cost of every event, the minimum
//      MarkTriangles      kdtree_deal    which half each triangle is in
//      CopyTriangles      kdtree_deal    each half's own triangles, and the new indices
//      CopyEvents         kdtree_copy    each half's own events, in order
//
// The case of a request is the grain: a subtree with fewer triangles is built by one thread.
//
// The input file, written by the harness, little-endian and without padding:
//     f64 traversal cost, f64 intersection cost, f64 empty bonus, u64 levels, u64 triangles,
//     f32 x y z of three corners per triangle.
// Only the build is timed, from sorted events to the tree. Its memory is freed later. The result is
// the tree's checksum.
//
// Source: Choi et al.: Parallel SAH k-D Tree Construction. High Performance Graphics 2010, section
// 4 ("nested"); Wald, Havran: On building fast kd-trees for ray tracing. IEEE Symposium on
// Interactive Ray Tracing 2006.
#include <tbb/global_control.h>

#include <fstream>
#include <optional>

#include "kdtree_build.hpp"
#include "protocol.hpp"

template <class T>
static void read_into(std::ifstream &input, T *values, std::size_t count) {
    if (!input.read(reinterpret_cast<char *>(values), static_cast<std::streamsize>(count * sizeof(T)))) {
        throw std::runtime_error("the input file ends too early");
    }
}

// The input of the builds, read once and kept.
struct Input {
    kdtree::Parameters parameters;
    kdtree::Prepared prepared;

    explicit Input(const std::string &path) {
        std::ifstream input(path, std::ios::binary);
        if (!input) throw std::runtime_error("cannot open " + path);
        double costs[3];
        std::uint64_t counts[2];
        read_into(input, costs, 3);
        read_into(input, counts, 2);
        parameters = {costs[0], costs[1], costs[2], static_cast<std::uint32_t>(counts[0])};
        kdtree::Array<kdtree::Corners> corners(counts[1]);
        read_into(input, corners.slice().data, counts[1]);
        prepared = kdtree::prepare(std::move(corners));
    }
};

int main() {
    std::string loaded;
    std::optional<Input> input;
    return peer::serve([&](const peer::Request &request) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(request.workers));
        tbb::task_arena arena(request.workers);
        if (request.file != loaded || !input) {
            arena.execute([&] { input.emplace(request.file); });
            loaded = request.file;
        }
        const std::size_t grain = std::stoull(request.name);
        peer::Answer answer;
        for (std::uint64_t i = 0; i < request.repetitions; ++i) {
            kdtree::Site site(input->prepared.copy());
            // Start the threads before the clock.
            arena.execute([] { kdtree::for_each_part(64, [](std::size_t) {}); });
            kdtree::Tree tree;
            answer.nanoseconds += peer::timed([&] {
                arena.execute([&] { tree = site.build(input->parameters, grain); });
                return 0;
            }).nanoseconds;
            answer.result = tree.checksum();
        }
        return answer;
    });
}
