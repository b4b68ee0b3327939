// Peer `openmpi`: a message there and back between two processes, by MPI_Send and MPI_Recv of one buffer in each.
//
// It is the rally of raddle_messages::nodes: each side writes the number of the trip, or one more, to the first byte and the last; all bytes
// are looked at in the first trip and in the last, which are not timed. Each rank is bound to one of the first two CPUs that it may use. Between
// requests the second rank sleeps, so that it takes nothing from others.
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <vector>

#include "protocol.hpp"

namespace {

constexpr int ORDER = 1;
constexpr int BALL = 2;
constexpr std::uint64_t WARM_UP = 100;
constexpr useconds_t REST_US = 1000;

using Ball = std::vector<unsigned char>;

// The bytes in a case's name: pingpong-1B/poll, pingpong-64K/notify.
std::size_t bytes_of(const std::string &name) {
    const auto dash = name.find('-');
    if (dash == std::string::npos) throw std::runtime_error("no such case");
    std::size_t end = 0;
    const std::string rest = name.substr(dash + 1);
    const std::size_t number = std::stoul(rest, &end);
    return rest.at(end) == 'K' ? number * 1024 : number;
}

void bind_to(int rank) {
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

unsigned char pattern(std::size_t at) { return static_cast<unsigned char>(at % 251); }

// Looks at all between the first byte and the last, and inverts it.
void check_and_invert(Ball &ball, unsigned char mask) {
    for (std::size_t at = 1; at + 1 < ball.size(); ++at) {
        if (ball[at] != static_cast<unsigned char>(pattern(at) ^ mask)) throw std::runtime_error("bytes that nobody sent");
        ball[at] = static_cast<unsigned char>(~ball[at]);
    }
}

void stamp(Ball &ball, std::uint64_t number) {
    ball.front() = static_cast<unsigned char>(number);
    ball.back() = static_cast<unsigned char>(number);
}

void check_stamp(const Ball &ball, std::uint64_t number) {
    const auto expected = static_cast<unsigned char>(number);
    if (ball.front() != expected || ball.back() != expected) throw std::runtime_error("another ball came");
}

void give_back(std::size_t bytes, std::uint64_t trips) {
    Ball ball(bytes);
    const int size = static_cast<int>(bytes);
    for (std::uint64_t number = 1; number <= trips; ++number) {
        MPI_Recv(ball.data(), size, MPI_BYTE, 0, BALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_stamp(ball, number);
        if (number == 1 || number == trips) check_and_invert(ball, 0);
        stamp(ball, number + 1);
        MPI_Send(ball.data(), size, MPI_BYTE, 0, BALL, MPI_COMM_WORLD);
    }
}

peer::Answer serve(const peer::Request &request) {
    const std::size_t bytes = bytes_of(request.name);
    const std::uint64_t trips = WARM_UP + request.repetitions + 1;
    std::uint64_t order[2] = {bytes, trips};
    MPI_Send(order, 2, MPI_UINT64_T, 1, ORDER, MPI_COMM_WORLD);
    Ball ball(bytes);
    for (std::size_t at = 0; at < bytes; ++at) ball[at] = pattern(at);
    const int size = static_cast<int>(bytes);
    std::uint64_t number = 0;
    const auto trip = [&] {
        stamp(ball, ++number);
        MPI_Send(ball.data(), size, MPI_BYTE, 1, BALL, MPI_COMM_WORLD);
        MPI_Recv(ball.data(), size, MPI_BYTE, 1, BALL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_stamp(ball, number + 1);
    };
    trip();
    check_and_invert(ball, 0xff);
    while (number < WARM_UP) trip();
    const auto answer = peer::timed([&] {
        for (std::uint64_t left = request.repetitions; left > 0; --left) trip();
        return request.repetitions;
    });
    trip();
    check_and_invert(ball, 0xff);
    return answer;
}

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
        give_back(order[0], order[1]);
    }
}

}  // namespace

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bind_to(rank);
    if (rank == 0) {
        peer::serve(serve);
        std::uint64_t end[2] = {0, 0};
        MPI_Send(end, 2, MPI_UINT64_T, 1, ORDER, MPI_COMM_WORLD);
    } else {
        try {
            follow();
        } catch (const std::exception &failure) {
            std::cerr << failure.what() << std::endl;
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Finalize();
}
