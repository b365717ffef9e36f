// The rod of stencil.cpp without its barrier: a task updates a block of points as soon as the blocks beside
// it have been updated for the step before.
#include <teff/teff.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

int main() {
  constexpr int blocks = 8;
  constexpr int block_size = 8;
  constexpr int points = blocks * block_size;
  constexpr int steps = 40'000;
  // Step s reads rod[s % 2] and writes the other one, whose readers were the tasks that it depends on.
  std::array<std::vector<double>, 2> rod;
  for (auto& each : rod) {
    each.assign(points, 0.0);
    each.back() = 1.0;
  }

  using key = std::array<int, 2>;  // step, block
  const auto first = [](int block) { return std::max(block - 1, 0); };
  const auto last = [](int block) { return std::min(block + 1, blocks - 1); };

  teff::runtime rt;
  teff::task_graph<key> graph{rt};
  graph.indegree([&](key k) { return k[0] == 0 ? 0 : last(k[1]) - first(k[1]) + 1; });
  graph.body([&](key k) {
    const auto [step, block] = k;
    const auto& now = rod[step % 2];
    auto& next = rod[(step + 1) % 2];
    const int begin = std::max(block * block_size, 1);
    const int end = std::min((block + 1) * block_size, points - 1);
    for (int i = begin; i < end; ++i) next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
    if (step + 1 < steps) {
      for (int b = first(block); b <= last(block); ++b) graph.fulfill({step + 1, b});
    }
  });
  for (int block = 0; block < blocks; ++block) graph.start({0, block});
  graph.wait();

  double error = 0;
  for (int i = 0; i < points; ++i) {
    error += std::abs(rod[steps % 2][i] - static_cast<double>(i) / (points - 1));
  }
  std::printf("distance from the straight line: %.2g\n", error);
  return error < 1e-6 ? 0 : 1;
}
