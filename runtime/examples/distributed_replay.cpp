// The stencil of distributed_stencil.cpp, whose steps are all alike: the columns of one step are planned, and
// run as often as there are steps. Here all ranks live in one process.
#include <teff/distributed_replay.hpp>
#include <teff/loopback.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int width = 12;
constexpr int steps = 50;

// The work of one rank. `cells` has room for all columns; the rank fills in the columns that it owns.
void heat(teff::communicator& comm, std::array<double, width>& cells) {
  const auto owner = [&](int column) { return column * comm.ranks() / width; };
  teff::distributed_replay<int> columns(comm);
  columns.rank(owner);
  for (int i = 0; i < width; ++i) {
    if (owner(i) != comm.rank()) continue;
    // A ring: it reads what both neighbours and itself have made one step before.
    columns.add(i, sizeof(double), {{(i + width - 1) % width, 1}, {i, 1}, {(i + 1) % width, 1}});
  }
  columns.replay(steps, [&](int column, const teff::replayed_task& task) {
    double& mine = task.output_as<double>()[0];
    if (task.iteration == 0) {
      mine = column == 0 ? 1.0 : 0.0;
    } else {
      mine = (task.input_as<double>(0)[0] + task.input_as<double>(1)[0] + task.input_as<double>(2)[0]) / 3;
    }
    if (task.iteration + 1 == steps) cells[column] = mine;
  });
}

}  // namespace

int main() {
  constexpr int size = 3;
  teff::loopback job(size);
  std::array<double, width> cells{};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      teff::runtime rt{{.workers = 1}};
      teff::communicator comm(rt, job.rank(rank));
      heat(comm, cells);
    });
  }
  for (auto& each : ranks) each.join();

  double total = 0;
  for (const double cell : cells) total += cell;
  std::printf("total heat %.3f, from %.4f to %.4f\n", total, *std::ranges::min_element(cells),
              *std::ranges::max_element(cells));
  return std::abs(total - 1) < 1e-9 ? 0 : 1;
}
