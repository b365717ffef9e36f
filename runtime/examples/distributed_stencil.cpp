// A stencil over the ranks of a job: a row of cells, step by step, each the mean of its neighbours. Rank and
// column of a task follow from its key; nobody stores the graph. Here all ranks live in one process.
#include <teff/distributed_graph.hpp>
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
using key = std::array<int, 2>;  // step, column

// The work of one rank. `cells` has room for all columns; the rank fills in the columns that it owns.
void heat(teff::communicator& comm, std::array<double, width>& cells) {
  // The values that have arrived for a column's next step, by parity: from the left, itself, the right.
  std::array<std::array<std::array<double, 3>, width>, 2> inputs{};
  teff::distributed_graph<key, int, double> g(comm);
  g.rank([&](key k) { return k[1] * comm.ranks() / width; })
      .indegree([](key k) { return k[0] == 0 ? 0 : 3; })
      .arrived([&](key k, int side, double value) { inputs[k[0] % 2][k[1]][side] = value; })
      .body([&](key k) {
        const auto& [left, own, right] = inputs[k[0] % 2][k[1]];
        const double mine = k[0] == 0 ? (k[1] == 0 ? 1.0 : 0.0) : (left + own + right) / 3;
        if (k[0] + 1 == steps) {
          cells[k[1]] = mine;
          return;
        }
        // A ring: side 0 of the column to the right, 1 of this one, 2 of the one to the left.
        for (const int side : {0, 1, 2}) g.fulfill({k[0] + 1, (k[1] + 1 - side + width) % width}, side, mine);
      });
  for (int column = 0; column < width; ++column) {
    if (column * comm.ranks() / width == comm.rank()) g.start({0, column});
  }
  g.wait();  // all tasks of all ranks have run
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
