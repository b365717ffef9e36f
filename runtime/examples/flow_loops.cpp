// Worksharing tasks: a loop is one task of a flow, and all workers that are free run chunks of it.
#include <teff/flow.hpp>

#include <cstddef>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::size_t n = 100000;
  constexpr int steps = 50;
  std::vector<double> x(n, 1.0);
  std::vector<double> y(n, 0.0);
  double sum = 0;

  teff::runtime rt;
  teff::flow f{rt};
  for (int step = 0; step < steps; ++step) {
    // One task, which waits for the step before. Each chunk is a part of the range.
    f.task_for(0, n, teff::in(x), teff::inout(y), [&](teff::range r) {
      for (const auto i : r) y[static_cast<std::size_t>(i)] += 2 * x[static_cast<std::size_t>(i)];
    });
    // Eight worksharing tasks. Each names only its part of x, and begins when that part is free.
    f.task_loop(
        0, n, {.tasks = 8, .chunk = 64}, [&](teff::range r) { return teff::inout(teff::section(x, r)); },
        [&](std::size_t i) { x[i] = x[i] < 2 ? x[i] + 1 : 1; });
  }
  // Tasks wait for all chunks of the loops before them.
  f.task(teff::in(y), teff::inout(sum), [&] {
    for (const double each : y) sum += each;
  });
  f.wait();

  std::printf("sum %.0f\n", sum);
  return sum == 50 * 3.0 * n ? 0 : 1;
}
