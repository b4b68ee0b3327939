// Peer `openblas`: products of square matrices by OpenBLAS.
#include <cblas.h>

#include <cmath>
#include <vector>

#include "protocol.hpp"

static double number(std::uint64_t index) {
    std::uint64_t bits = 42 + 0x9E3779B97F4A7C15u * (index + 1);
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    return static_cast<double>(bits >> 11) / 4503599627370496.0 - 1.0;
}

// The matrices of one size. Those of the last request are kept.
struct Matrices {
    std::size_t size = 0;
    std::vector<double> a, b, c;

    void make(std::size_t wanted) {
        c.assign(wanted * wanted, 0.0);
        if (size == wanted) return;
        size = wanted;
        a.resize(size * size);
        b.resize(size * size);
        for (std::size_t at = 0; at < size * size; ++at) {
            a[at] = number(2 * at);
            b[at] = number(2 * at + 1);
        }
    }
};

int main() {
    Matrices m;
    return peer::serve([&](const peer::Request &request) {
        m.make(std::stoul(request.file));
        const int n = static_cast<int>(m.size);
        openblas_set_num_threads(request.workers);
        peer::Answer answer = peer::timed([&] {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, m.a.data(), n, m.b.data(), n, 1.0, m.c.data(), n);
            return std::uint64_t{0};
        });
        // Weighted by the first column of A and the first row of B, as for all contenders.
        double sum = 0.0;
        for (std::size_t row = 0; row < m.size; ++row) {
            double of_row = 0.0;
            for (std::size_t column = 0; column < m.size; ++column) of_row += m.c[row * m.size + column] * m.b[column];
            sum += std::fabs(m.a[row * m.size] * of_row);
        }
        answer.result = static_cast<std::uint64_t>(std::llround(sum * 1024.0));
        return answer;
    });
}
