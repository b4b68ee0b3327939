// The common part of the peers by Open MPI: round trips of a message between two processes.
//
// The protocol is that of raddle_messages::nodes. Each side writes the number of the trip, or one
// more, to the first byte and to the last. All bytes are checked in the first and in the last trip,
// which are not timed. Each rank is bound to one of the first two CPUs that it may use. Between
// requests the second rank sleeps, so that it does not disturb other processes.
//
// A `Way` brings the message to the other rank. Both ranks create it at the same time, from the
// number of bytes and the rank of the other side. It has
//     unsigned char *message();         the place of the message
//     void send(std::uint64_t number);  sends it, in the trip of that number or back from it
//     void receive(std::uint64_t number);
#pragma once

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstddef>

#include "protocol.hpp"

namespace round_trips {

constexpr int ORDER = 1;
constexpr int MESSAGE = 2;
constexpr std::uint64_t WARM_UP = 100;
constexpr useconds_t REST_US = 1000;

// Returns the number of bytes in a case's name: pingpong-1B/poll, pingpong-64K/notify.
inline std::size_t bytes_of(const std::string &name) {
    const auto dash = name.find('-');
    if (dash == std::string::npos) throw std::runtime_error("no such case");
    std::size_t end = 0;
    const std::string rest = name.substr(dash + 1);
    const std::size_t number = std::stoul(rest, &end);
    return rest.at(end) == 'K' ? number * 1024 : number;
}

inline void bind_to(int rank) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int count = CPU_COUNT(&allowed);
    int wanted = count > 0 ? rank % count : 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

inline unsigned char pattern(std::size_t at) { return static_cast<unsigned char>(at % 251); }

// Checks all bytes between the first and the last, and inverts them.
inline void check_and_invert(unsigned char *message, std::size_t bytes, unsigned char mask) {
    for (std::size_t at = 1; at + 1 < bytes; ++at) {
        if (message[at] != static_cast<unsigned char>(pattern(at) ^ mask)) throw std::runtime_error("wrong bytes arrived");
        message[at] = static_cast<unsigned char>(~message[at]);
    }
}

inline void stamp(unsigned char *message, std::size_t bytes, std::uint64_t number) {
    message[0] = static_cast<unsigned char>(number);
    message[bytes - 1] = static_cast<unsigned char>(number);
}

inline void check_stamp(const unsigned char *message, std::size_t bytes, std::uint64_t number) {
    const auto expected = static_cast<unsigned char>(number);
    if (message[0] != expected || message[bytes - 1] != expected) throw std::runtime_error("another message arrived");
}

template <class Way>
void give_back(std::size_t bytes, std::uint64_t trips) {
    Way way(bytes, 0);
    for (std::uint64_t number = 1; number <= trips; ++number) {
        way.receive(number);
        check_stamp(way.message(), bytes, number);
        if (number == 1 || number == trips) check_and_invert(way.message(), bytes, 0);
        stamp(way.message(), bytes, number + 1);
        way.send(number);
    }
}

template <class Way>
peer::Answer serve(const peer::Request &request) {
    const std::size_t bytes = bytes_of(request.name);
    const std::uint64_t trips = WARM_UP + request.repetitions + 1;
    std::uint64_t order[2] = {bytes, trips};
    MPI_Send(order, 2, MPI_UINT64_T, 1, ORDER, MPI_COMM_WORLD);
    Way way(bytes, 1);
    for (std::size_t at = 0; at < bytes; ++at) way.message()[at] = pattern(at);
    std::uint64_t number = 0;
    const auto trip = [&] {
        stamp(way.message(), bytes, ++number);
        way.send(number);
        way.receive(number);
        check_stamp(way.message(), bytes, number + 1);
    };
    trip();
    check_and_invert(way.message(), bytes, 0xff);
    while (number < WARM_UP) trip();
    const auto answer = peer::timed([&] {
        for (std::uint64_t left = request.repetitions; left > 0; --left) trip();
        return request.repetitions;
    });
    trip();
    check_and_invert(way.message(), bytes, 0xff);
    return answer;
}

template <class Way>
void follow() {
    for (;;) {
        int has_order = 0;
        MPI_Iprobe(0, ORDER, MPI_COMM_WORLD, &has_order, MPI_STATUS_IGNORE);
        if (!has_order) {
            usleep(REST_US);
            continue;
        }
        std::uint64_t order[2];
        MPI_Recv(order, 2, MPI_UINT64_T, 0, ORDER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (order[0] == 0) return;
        give_back<Way>(order[0], order[1]);
    }
}

// The whole program.
template <class Way>
int run(int count, char **words) {
    MPI_Init(&count, &words);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bind_to(rank);
    if (rank == 0) {
        peer::serve(serve<Way>);
        std::uint64_t end[2] = {0, 0};
        MPI_Send(end, 2, MPI_UINT64_T, 1, ORDER, MPI_COMM_WORLD);
    } else {
        try {
            follow<Way>();
        } catch (const std::exception &failure) {
            std::cerr << failure.what() << std::endl;
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Finalize();
    return 0;
}

}  // namespace round_trips
