// Gradient descent by the ranks of a job: in each step every rank has a part of the sum over all values, the
// sum goes to rank 0, and what follows from it to all. No rank waits for another one: each step is begun by a
// message. Here all ranks live in one process; nothing but main() would change with one process for each.
#include <teff/collectives.hpp>
#include <teff/loopback.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t steps = 40;

// One rank looks for the number that is closest to all values of all ranks. Returns it.
double closest_to_all(teff::communicator& comm, const std::vector<double>& values) {
  double guess = 0;
  std::optional<teff::rank_reduction<double>> slope;
  // On every rank, when the guess is known.
  const auto next = teff::on_broadcast(comm, [&](std::uint64_t step, double better) {
    guess = better;
    if (step == steps) return;
    double mine = 0;
    for (const double each : values) mine += each - better;
    slope->give(step, mine);
  });
  // On rank 0, when all ranks have given a value.
  slope = teff::on_reduction<double>(comm, 0, std::plus<>{}, [&](std::uint64_t step, double total) {
    next.send(step + 1, guess + 0.1 * total / comm.ranks());
  });
  comm.run([&] {
    if (comm.rank() == 0) next.send(0, 0.0);
  });  // no message is left
  return guess;
}

}  // namespace

int main() {
  constexpr int count = 5;
  teff::loopback job(count);
  std::vector<double> found(count);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.emplace_back([&, rank] {
      teff::runtime rt{{.workers = 1}};
      teff::communicator comm(rt, job.rank(rank));
      found[static_cast<std::size_t>(rank)] = closest_to_all(comm, {rank + 1.0, rank + 2.0});
    });
  }
  for (auto& each : ranks) each.join();

  bool right = true;
  for (const double each : found) right = right && std::abs(each - 3.5) < 0.01;
  std::printf("the mean is %.2f\n", found[0]);
  return right ? 0 : 1;
}
