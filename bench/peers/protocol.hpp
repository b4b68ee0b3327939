// The common part of all peer programs: the line protocol of the harness, and the clock.
//
// The harness starts a peer once, reads the line "ready", then sends requests
//     CASE WORKERS REPETITIONS [FILE]\n
// and reads one answer per request, either "NANOSECONDS RESULT\n" or "error TEXT\n". The peer ends
// when its input ends. The time covers only the repetitions: threads run and memory is touched
// before it starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace peer {

struct Request {
    std::string name;
    int workers = 1;
    std::uint64_t repetitions = 1;
    std::string file;
};

struct Answer {
    std::uint64_t nanoseconds = 0;
    std::uint64_t result = 0;
};

// Calls `body` and measures it.
template <class Body>
Answer timed(Body body) {
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t result = body();
    const auto ended = std::chrono::steady_clock::now();
    const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(ended - began).count();
    return {static_cast<std::uint64_t>(taken), result};
}

// Answers requests until the input ends.
inline int serve(const std::function<Answer(const Request &)> &measure) {
    std::cout << "ready" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        Request request;
        words >> request.name >> request.workers >> request.repetitions;
        words >> std::ws;
        std::getline(words, request.file);
        try {
            const Answer answer = measure(request);
            std::cout << answer.nanoseconds << ' ' << answer.result << std::endl;
        } catch (const std::exception &failure) {
            std::cout << "error " << failure.what() << std::endl;
        }
    }
    return 0;
}

}  // namespace peer
