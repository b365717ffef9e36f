// The time and memory of a task graph of many tasks. It needs memory for its frontier, not for all tasks.
//
//   teff_frontier [STEPS [WIDTH]]     a stencil, of 10^5 steps of 1000 tasks by default
#include <teff/task_graph.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using key = std::array<int, 2>;  // step, column

double peak_mebibytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct alignas(64) counters {
  long tasks = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int steps = std::max(argc > 1 ? std::atoi(argv[1]) : 100'000, 1);
  const int width = std::max(argc > 2 ? std::atoi(argv[2]) : 1000, 1);
  teff::runtime rt;
  const auto workers = static_cast<long>(rt.workers());
  std::vector<counters> ran(rt.workers());
  rt.run([] {});
  const double before = peak_mebibytes();

  const auto neighbours = [width](int column) {
    return std::array{std::max(column - 1, 0), std::min(column + 1, width - 1)};
  };
  teff::task_graph<key> g{rt};
  g.indegree([&](const key& k) {
     const auto [first, last] = neighbours(k[1]);
     return k[0] == 0 ? 0 : last - first + 1;
   })
      .place([=](const key& k) { return static_cast<unsigned>(k[1] * workers / width); })
      .body([&](const key& k) {
        ++ran[*teff::worker_index()].tasks;
        if (k[0] + 1 == steps) return;
        const auto [first, last] = neighbours(k[1]);
        for (int column = first; column <= last; ++column) g.fulfill({k[0] + 1, column});
      });
  const auto began = std::chrono::steady_clock::now();
  for (int column = 0; column < width; ++column) g.fulfill({0, column});
  g.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;

  long tasks = 0;
  for (const counters& each : ran) tasks += each.tasks;
  std::printf(
      "%ld tasks in %.2f s on %ld workers: %.1f ns of a worker a task; peak RSS %.1f MiB, %.1f MiB before\n",
      tasks, took.count(), workers,
      1e9 * took.count() * static_cast<double>(workers) / static_cast<double>(tasks), peak_mebibytes(),
      before);
  return tasks == static_cast<long>(steps) * width ? 0 : 1;
}
