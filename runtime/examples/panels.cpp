// Multiplies matrices whose rows lie on several ranks. A rank needs all rows of B, rank by rank. They come as
// large data of a task graph, straight from the memory of the rank that has them into the memory of the rank
// that uses them. Here all ranks live in one process; nothing but main() would change with one process for
// each.
#include <teff/distributed_graph.hpp>
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t rows = 64;  // of each rank
using matrix = std::vector<double>;

// Row by row: x += a * panel, where `a` is `rows` x `rows`, `panel` and `x` have `columns`.
void multiply_add(const double* a, std::size_t stride, std::span<const double> panel, matrix& x,
                  std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < rows; ++k) {
      for (std::size_t j = 0; j < columns; ++j)
        x[i * columns + j] += a[i * stride + k] * panel[k * columns + j];
    }
  }
}

// A rank computes its rows of A * B, from its rows of A and of B.
matrix multiply(teff::communicator& comm, const matrix& a, const matrix& b) {
  using key = std::array<int, 2>;  // task (panel, rank) multiplies by the rows of B that rank `panel` has
  const int ranks = comm.ranks();
  const auto columns = rows * static_cast<std::size_t>(ranks);
  matrix result(rows * columns);
  std::vector<matrix> panels(static_cast<std::size_t>(ranks));  // those that have come, and are not used yet
  const auto panel_of = [&](key k) -> matrix& { return panels[static_cast<std::size_t>(k[0])]; };

  teff::distributed_graph<key> tasks(comm);
  const auto panel = tasks.on_large([&](key k, std::size_t n) -> std::span<double> {
    panel_of(k).resize(n);  // on the rank k[1]: where it is to land
    return panel_of(k);
  });
  tasks.rank([](key k) { return k[1]; })
      .indegree([](key k) { return k[0] == 0 ? 1 : 2; })  // its panel, and the task before it
      .body([&](key k) {
        multiply_add(&a[static_cast<std::size_t>(k[0]) * rows], columns, panel_of(k), result, columns);
        panel_of(k) = {};
        if (k[0] + 1 < ranks) tasks.fulfill({k[0] + 1, k[1]});
      });
  for (int to = 0; to < ranks; ++to) panel.fulfill({comm.rank(), to}, b);
  tasks.wait();
  return result;
}

}  // namespace

int main() {
  constexpr int count = 3;
  const auto columns = static_cast<std::size_t>(count) * rows;
  teff::loopback job(count);
  std::vector<std::thread> ranks;
  std::vector<double> sums(count);
  for (int rank = 0; rank < count; ++rank) {
    ranks.emplace_back([&, rank] {
      teff::runtime rt{{.workers = 1}};
      teff::communicator comm(rt, job.rank(rank));
      const matrix a(rows * columns, 1.0);
      const matrix b(rows * columns, rank + 1.0);
      for (const double each : multiply(comm, a, b)) sums[static_cast<std::size_t>(rank)] += each;
    });
  }
  for (auto& each : ranks) each.join();

  // Each element is the sum of a column of B.
  const double expected = static_cast<double>(rows * columns) * static_cast<double>(rows) * (1.0 + 2.0 + 3.0);
  std::printf("sums of the rows of three ranks: %.0f %.0f %.0f\n", sums[0], sums[1], sums[2]);
  for (const double each : sums) {
    if (each != expected) return 1;
  }
  return 0;
}
