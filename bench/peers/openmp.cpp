// Peer `openmp`: OpenMP tasks for the forks, a static parallel loop for the loops.
#include <omp.h>

#include "protocol.hpp"
#include "sort.hpp"
#include "workloads.hpp"

using namespace workload;

static std::uint64_t fib(unsigned n) {
    if (n < 2) return n;
    std::uint64_t a = 0;
#pragma omp task shared(a) firstprivate(n)
    a = fib(n - 1);
    const std::uint64_t b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static std::uint64_t sum(const Node *node) {
    if (node->left == nullptr) return node->value;
    std::uint64_t a = 0;
#pragma omp task shared(a) firstprivate(node)
    a = sum(node->left);
    const std::uint64_t b = sum(node->right);
#pragma omp taskwait
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
    for (int i = 0; i + 1 < count; ++i) {
        const std::int8_t column = columns[i];
#pragma omp task shared(solutions, board) firstprivate(row, i, column)
        solutions[i] = queens(with_queen(board, row, column), row + 1);
    }
    solutions[count - 1] = queens(with_queen(board, row, columns[count - 1]), row + 1);
    if (count > 1) {
#pragma omp taskwait
    }
    std::uint64_t total = 0;
    for (int i = 0; i < count; ++i) total += solutions[i];
    return total;
}

static std::uint64_t fork(const std::string &name) {
    if (name == "fib38") return fib(FIB_ARGUMENT);
    if (name == "tree24") return sum(tree());
    if (name == "queens12") return queens(Board{}, 0);
    throw std::runtime_error("unknown case " + name);
}

static bool is_fork(const std::string &name) {
    return name == "fib38" || name == "tree24" || name == "queens12";
}

static peer::Answer measure_forks(const peer::Request &request) {
    if (request.name == "tree24") tree();
    peer::Answer answer;
#pragma omp parallel num_threads(request.workers)
#pragma omp single
    {
        fib(16);
        answer = peer::timed([&] {
            std::uint64_t result = 0;
            for (std::uint64_t i = 0; i < request.repetitions; ++i) result = fork(request.name);
            return result;
        });
    }
    return answer;
}

static void quicksort(sorting::Part part) {
    if (part.len <= sorting::CUTOFF) return sorting::sort_sequential(part);
    const auto halves = sorting::split(part);
    // Not const: a const object may be shared, and each task needs its own.
    sorting::Part left = halves.first;
#pragma omp task firstprivate(left)
    quicksort(left);
    quicksort(halves.second);
#pragma omp taskwait
}

static peer::Answer measure_sort(const peer::Request &request) {
    peer::Answer answer;
#pragma omp parallel num_threads(request.workers)
#pragma omp single
    answer = sorting::measure(request, quicksort);
    return answer;
}

static void loop(std::vector<std::uint64_t> &out, int workers) {
    const std::int64_t length = static_cast<std::int64_t>(out.size());
    std::uint64_t *const data = out.data();
#pragma omp parallel for schedule(static) num_threads(workers)
    for (std::int64_t i = 0; i < length; ++i) data[i] = loop_body(static_cast<std::uint64_t>(i));
}

static peer::Answer measure_loop(const peer::Request &request) {
    std::vector<std::uint64_t> out(loop_length(request.name));
    loop(out, request.workers);
    peer::Answer answer = peer::timed([&] {
        for (std::uint64_t i = 0; i < request.repetitions; ++i) loop(out, request.workers);
        return std::uint64_t{0};
    });
    answer.result = checksum(out);
    return answer;
}

int main() {
    omp_set_dynamic(0);
    return peer::serve([](const peer::Request &request) {
        if (sorting::is_case(request.name)) return measure_sort(request);
        return is_fork(request.name) ? measure_forks(request) : measure_loop(request);
    });
}
