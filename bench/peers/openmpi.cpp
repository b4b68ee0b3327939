// Peer `openmpi`: a message back and forth between two processes, by MPI_Send and MPI_Recv of one
// buffer in each.
#include <vector>

#include "openmpi.hpp"

namespace {

class Plain {
public:
    Plain(std::size_t bytes, int peer) : buffer(bytes), peer(peer) {}

    unsigned char *message() { return buffer.data(); }

    void send(std::uint64_t) {
        MPI_Send(buffer.data(), size(), MPI_BYTE, peer, round_trips::MESSAGE, MPI_COMM_WORLD);
    }

    void receive(std::uint64_t) {
        MPI_Recv(buffer.data(), size(), MPI_BYTE, peer, round_trips::MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

private:
    int size() const { return static_cast<int>(buffer.size()); }

    std::vector<unsigned char> buffer;
    int peer;
};

}  // namespace

int main(int count, char **words) { return round_trips::run<Plain>(count, words); }
