// Peer `yard`: the unit of the time of programs that are not available: std::sort of 2·10⁷ numbers.
//
// The result is 1 if the numbers are sorted.
#include <algorithm>
#include <random>
#include <vector>

#include "protocol.hpp"

int main() {
    return peer::serve([](const peer::Request &request) {
        std::mt19937 random(1);
        std::vector<std::uint32_t> numbers(20'000'000);
        for (auto &number : numbers) number = static_cast<std::uint32_t>(random());
        peer::Answer answer = peer::timed([&] {
            for (std::uint64_t i = 0; i < request.repetitions; ++i) std::sort(numbers.begin(), numbers.end());
            return std::uint64_t(0);
        });
        answer.result = std::is_sorted(numbers.begin(), numbers.end());
        return answer;
    });
}
