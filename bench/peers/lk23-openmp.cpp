// Peer `lk23-openmp`: kernel 23 in blocks by OpenMP, the blocks of a diagonal in a parallel loop
// with static chunks.
//
// Blocks on a diagonal from the lower left to the upper right are independent of each other. The
// threads stay in one parallel region for all turns, and synchronise at the end of each diagonal.
#include <omp.h>

#include "lk23.hpp"

using namespace lk23;

static void diagonals(Grid &grid, int workers) {
    const std::int64_t blocks = static_cast<std::int64_t>(grid.shape.blocks);
#pragma omp parallel num_threads(workers)
    for (size_t turn = 0; turn < grid.turns; ++turn) {
        for (std::int64_t diagonal = 0; diagonal < 2 * blocks - 1; ++diagonal) {
            const std::int64_t first = std::max<std::int64_t>(0, diagonal - blocks + 1), last = std::min(diagonal, blocks - 1);
#pragma omp for schedule(static)
            for (std::int64_t row = first; row <= last; ++row)
                grid.run(turn, static_cast<size_t>(row), static_cast<size_t>(diagonal - row));
        }
    }
}

int main() {
    omp_set_dynamic(0);
    return peer::serve([](const peer::Request &request) { return measure(request, diagonals); });
}
