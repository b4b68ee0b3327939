// Peer `onetbb`: oneTBB's task_group, with one task per fork. The second half runs in place.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "protocol.hpp"
#include "sort.hpp"
#include "workloads.hpp"

using namespace workload;

static std::uint64_t fib(unsigned n) {
    if (n < 2) return n;
    std::uint64_t a = 0;
    tbb::task_group group;
    group.run([&a, n] { a = fib(n - 1); });
    const std::uint64_t b = fib(n - 2);
    group.wait();
    return a + b;
}

static std::uint64_t sum(const Node *node) {
    if (node->left == nullptr) return node->value;
    std::uint64_t a = 0;
    tbb::task_group group;
    group.run([&a, node] { a = sum(node->left); });
    const std::uint64_t b = sum(node->right);
    group.wait();
    return a + b + node->value;
}

static std::uint64_t queens(const Board &board, int row) {
    if (row == QUEENS) return 1;
    std::int8_t columns[QUEENS];
    const int count = safe_columns(board, row, columns);
    if (count == 0) return 0;
    // All but one candidate become tasks, and the last runs here: as many forks as in a chain of
    // joins.
    std::uint64_t solutions[QUEENS] = {};
    tbb::task_group group;
    for (int i = 0; i + 1 < count; ++i) {
        group.run([&solutions, &board, row, i, column = columns[i]] {
            solutions[i] = queens(with_queen(board, row, column), row + 1);
        });
    }
    solutions[count - 1] = queens(with_queen(board, row, columns[count - 1]), row + 1);
    if (count > 1) group.wait();
    std::uint64_t total = 0;
    for (int i = 0; i < count; ++i) total += solutions[i];
    return total;
}

static void quicksort(const sorting::Part &part) {
    if (part.len <= sorting::CUTOFF) return sorting::sort_sequential(part);
    const auto halves = sorting::split(part);
    tbb::task_group group;
    group.run([&halves] { quicksort(halves.first); });
    quicksort(halves.second);
    group.wait();
}

static std::uint64_t run(const std::string &name) {
    if (name == "fib38") return fib(FIB_ARGUMENT);
    if (name == "tree24") return sum(tree());
    if (name == "queens12") return queens(Board{}, 0);
    throw std::runtime_error("unknown case " + name);
}

int main() {
    return peer::serve([](const peer::Request &request) {
        if (request.name == "tree24") tree();
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(request.workers));
        tbb::task_arena arena(request.workers);
        arena.execute([] { fib(16); });
        if (sorting::is_case(request.name)) {
            return sorting::measure(request, [&arena](const sorting::Part &part) {
                arena.execute([&part] { quicksort(part); });
            });
        }
        return peer::timed([&] {
            std::uint64_t result = 0;
            for (std::uint64_t i = 0; i < request.repetitions; ++i) {
                arena.execute([&] { result = run(request.name); });
            }
            return result;
        });
    });
}
