// Peer `lk23-tasks`: kernel 23 in blocks by OpenMP tasks, with dependencies on the blocks that they
// read and write.
//
// All turns are one graph: a block's next turn may begin when its neighbours have had theirs,
// independently of all other blocks.
#include <omp.h>

#include "lk23.hpp"

using namespace lk23;

static void graph(Grid &grid, int workers) {
    const size_t blocks = grid.shape.blocks, width = blocks + 2;
    // A dependency object for each block, and for the border around the matrix, which no task
    // writes.
    std::vector<char> marks(width * width);
    char *const mark = marks.data();
#pragma omp parallel num_threads(workers)
#pragma omp single
    for (size_t turn = 0; turn < grid.turns; ++turn) {
        for (size_t row = 0; row < blocks; ++row) {
            for (size_t column = 0; column < blocks; ++column) {
                const size_t at = (row + 1) * width + column + 1;
#pragma omp task firstprivate(turn, row, column) shared(grid) \
    depend(in : mark[at - width], mark[at - 1], mark[at - width - 1], mark[at + 1], mark[at + width], mark[at + width + 1]) \
    depend(inout : mark[at])
                grid.run(turn, row, column);
            }
        }
    }
}

int main() {
    omp_set_dynamic(0);
    return peer::serve([](const peer::Request &request) { return measure(request, graph); });
}
