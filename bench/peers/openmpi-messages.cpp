// Peer `openmpi-messages`: messages as raddle-net's transport sends them by MPI, without knowing
// the receiver of each in advance: MPI_Isend, MPI_Improbe, MPI_Mrecv.
#include <vector>

#include "openmpi.hpp"

namespace {

class Messages {
public:
    Messages(std::size_t bytes, int peer) : buffer(bytes), peer(peer) {}

    unsigned char *message() { return buffer.data(); }

    void send(std::uint64_t) {
        MPI_Request request;
        MPI_Isend(buffer.data(), size(), MPI_BYTE, peer, round_trips::MESSAGE, MPI_COMM_WORLD, &request);
        // The next trip changes the buffer. It begins after the other side has received this
        // message.
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }

    void receive(std::uint64_t) {
        int has_come = 0;
        MPI_Message message;
        MPI_Status status;
        while (!has_come) MPI_Improbe(peer, round_trips::MESSAGE, MPI_COMM_WORLD, &has_come, &message, &status);
        MPI_Mrecv(buffer.data(), size(), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    }

private:
    int size() const { return static_cast<int>(buffer.size()); }

    std::vector<unsigned char> buffer;
    int peer;
};

}  // namespace

int main(int count, char **words) { return round_trips::run<Messages>(count, words); }
