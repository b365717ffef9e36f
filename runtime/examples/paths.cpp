#include <teff/teff.hpp>

#include <array>
#include <cstdio>

int main() {  // how many paths lead right and down through a grid
  constexpr int n = 16;
  long paths[n][n] = {};
  teff::runtime rt;                                // a worker per core
  teff::task_graph<std::array<int, 2>> cells{rt};  // a task per cell, after those above and left of it
  cells.indegree([](auto cell) { return (cell[0] > 0) + (cell[1] > 0); });
  cells.body([&](auto cell) {
    const auto [i, j] = cell;
    paths[i][j] = i == 0 || j == 0 ? 1 : paths[i - 1][j] + paths[i][j - 1];
    if (i + 1 < n) cells.fulfill({i + 1, j});
    if (j + 1 < n) cells.fulfill({i, j + 1});
  });
  cells.start({0, 0});
  cells.wait();
  std::printf("%ld paths\n", paths[n - 1][n - 1]);
}
