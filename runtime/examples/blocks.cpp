// A matrix whose blocks lie on several ranks is gathered on rank 0. The blocks are not copied on their way:
// each lands where it belongs. Here all ranks live in one process; nothing but main() would change with one
// process for each.
#include <teff/loopback.hpp>
#include <teff/message.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <span>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t columns = 1000;
constexpr std::size_t rows_of_rank = 200;

// What one rank does. On rank 0 the matrix has the rows of all ranks when this returns.
void gather(teff::communicator& comm, std::vector<double>& matrix) {
  std::atomic<int> came{0};
  const auto rows = comm.on_large(
      // Where to land: called on rank 0 with the arguments and the number of elements.
      [&](int from, std::size_t n) -> std::span<double> {
        return std::span(matrix).subspan(static_cast<std::size_t>(from) * rows_of_rank * columns, n);
      },
      // On arrival: also there.
      [&](int, std::span<double>) { ++came; });

  std::vector<double> mine(rows_of_rank * columns, comm.rank() + 1.0);
  comm.run([&] {
    rows.send(0, comm.rank(), mine, [&] { mine.assign(1, 0.0); });  // it is not needed any more
  });
  if (comm.rank() == 0) std::printf("%d blocks\n", came.load());
}

}  // namespace

int main() {
  constexpr int count = 3;
  teff::loopback job(count);
  std::vector<double> matrix(count * rows_of_rank * columns);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.emplace_back([&, rank] {
      teff::runtime rt{{.workers = 1}};
      teff::communicator comm(rt, job.rank(rank));
      gather(comm, matrix);
    });
  }
  for (auto& each : ranks) each.join();

  double sum = 0;
  for (const double each : matrix) sum += each;
  std::printf("the sum of all elements: %.0f\n", sum);
  return sum == (1.0 + 2.0 + 3.0) * rows_of_rank * columns ? 0 : 1;
}
