// Peer `plain-cpp`: C++ without a runtime. It is the baseline of the C++ peers, so that a
// difference between the compilers is not mistaken for one between the runtimes.
#include "protocol.hpp"
#include "sort.hpp"
#include "workloads.hpp"

using namespace workload;

static std::uint64_t fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static std::uint64_t sum(const Node *node) {
    if (node->left == nullptr) return node->value;
    return sum(node->left) + sum(node->right) + node->value;
}

static std::uint64_t queens(const Board &board, int row) {
    if (row == QUEENS) return 1;
    std::int8_t columns[QUEENS];
    const int count = safe_columns(board, row, columns);
    std::uint64_t total = 0;
    for (int i = 0; i < count; ++i) total += queens(with_queen(board, row, columns[i]), row + 1);
    return total;
}

static peer::Answer measure_loop(const peer::Request &request) {
    std::vector<std::uint64_t> out(loop_length(request.name));
    const auto fill = [&out] {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = loop_body(i);
    };
    fill();
    peer::Answer answer = peer::timed([&] {
        for (std::uint64_t i = 0; i < request.repetitions; ++i) fill();
        return std::uint64_t{0};
    });
    answer.result = checksum(out);
    return answer;
}

template <class Work>
static peer::Answer measure(const peer::Request &request, Work work) {
    return peer::timed([&] {
        std::uint64_t result = 0;
        for (std::uint64_t i = 0; i < request.repetitions; ++i) result = work();
        return result;
    });
}

int main() {
    // Read through a volatile: otherwise the compiler would compute the result in advance.
    static volatile unsigned argument = FIB_ARGUMENT;
    return peer::serve([](const peer::Request &request) {
        if (request.name == "fib38") return measure(request, [] { return fib(argument); });
        if (request.name == "tree24") return measure(request, [root = tree()] { return sum(root); });
        if (request.name == "queens12") return measure(request, [] { return queens(Board{}, 0); });
        if (sorting::is_case(request.name)) return sorting::measure(request, sorting::sort_sequential);
        return measure_loop(request);
    });
}
