// The rod of stencil_graph.cpp over the ranks of a job, each of which has some of the blocks. Started alone
// it is one rank, by mpirun as many as that says.
#include <teff/distributed_graph.hpp>
#include <teff/message.hpp>
#include <teff/mpi.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  constexpr int blocks = 8;
  constexpr int block_size = 4;
  constexpr int points = blocks * block_size;
  constexpr int steps = 10'000;
  // As on one machine. A rank keeps all points up to date that its own blocks read.
  std::array<std::vector<double>, 2> rod;
  for (auto& each : rod) {
    each.assign(points, 0.0);
    each.back() = 1.0;
  }

  using key = std::array<int, 2>;  // step, block
  const auto first = [](int block) { return std::max(block - 1, 0); };
  const auto last = [](int block) { return std::min(block + 1, blocks - 1); };

  teff::mpi job(argc, argv);
  teff::runtime rt{{.workers = 1}};
  teff::communicator comm{rt, job};
  const auto rank_of = [&](int block) { return block * comm.ranks() / blocks; };

  teff::distributed_graph<key, int, double> graph{comm};
  graph.rank([&](key k) { return rank_of(k[1]); });
  graph.indegree([&](key k) { return k[0] == 0 ? 0 : last(k[1]) - first(k[1]) + 1; });
  graph.arrived([&](key k, int point, double value) {
    if (rank_of(point / block_size) != comm.rank()) rod[k[0] % 2][point] = value;
  });
  graph.body([&](key k) {
    const auto [step, block] = k;
    const auto& now = rod[step % 2];
    auto& next = rod[(step + 1) % 2];
    const int begin = std::max(block * block_size, 1);
    const int end = std::min((block + 1) * block_size, points - 1);
    for (int i = begin; i < end; ++i) next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
    if (step + 1 < steps) {
      for (int b = first(block); b <= last(block); ++b) {
        const int border = b < block ? block * block_size : (block + 1) * block_size - 1;
        graph.fulfill({step + 1, b}, border, next[border]);
      }
    }
  });
  for (int block = 0; block < blocks; ++block) {
    if (rank_of(block) == comm.rank()) graph.start({0, block});
  }
  graph.wait();  // all tasks of all ranks have run

  double error = 0;
  const auto add = comm.on(teff::ordered, [&](double part) { error += part; });
  comm.run([&] {
    double mine = 0;
    for (int i = 0; i < points; ++i) {
      if (rank_of(i / block_size) == comm.rank())
        mine += std::abs(rod[steps % 2][i] - static_cast<double>(i) / (points - 1));
    }
    add.send(0, mine);
  });
  if (comm.rank() == 0) std::printf("%d ranks, distance from the straight line: %.2g\n", comm.ranks(), error);
  return error < 1e-6 ? 0 : 1;
}
