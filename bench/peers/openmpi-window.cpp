// Peer `openmpi-window`: one-sided communication. MPI_Put into a window that MPI has allocated,
// MPI_Win_flush, and the same for a number that the receiver watches.
#include "openmpi.hpp"

namespace {

class Window {
public:
    Window(std::size_t bytes, int peer) : bytes(bytes), peer(peer) {
        MPI_Win_allocate(static_cast<MPI_Aint>(MESSAGE_AT + bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        *number() = 0;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
        MPI_Barrier(MPI_COMM_WORLD);
    }

    ~Window() {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }

    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;

    unsigned char *message() { return memory + MESSAGE_AT; }

    void send(std::uint64_t sent) {
        put(message(), bytes, MESSAGE_AT);
        put(&sent, sizeof sent, 0);
    }

    void receive(std::uint64_t expected) {
        while (*number() != expected) MPI_Win_sync(window);
        MPI_Win_sync(window);
    }

private:
    // The message follows the number, on lines of its own.
    static constexpr std::size_t MESSAGE_AT = 128;

    volatile std::uint64_t *number() { return reinterpret_cast<volatile std::uint64_t *>(memory); }

    void put(const void *from, std::size_t size, std::size_t at) {
        const int count = static_cast<int>(size);
        MPI_Put(from, count, MPI_BYTE, peer, static_cast<MPI_Aint>(at), count, MPI_BYTE, window);
        MPI_Win_flush(peer, window);
    }

    std::size_t bytes;
    int peer;
    unsigned char *memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
};

}  // namespace

int main(int count, char **words) { return round_trips::run<Window>(count, words); }
