// A rod whose ends are kept at 0 and 1, cooling to a straight line: a parallel loop a timestep.
#include <teff/teff.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

int main() {
  constexpr std::size_t points = 64;
  constexpr int steps = 40'000;
  std::vector<double> now(points, 0.0);
  std::vector<double> next(points, 0.0);
  now.back() = next.back() = 1.0;

  teff::runtime rt;
  const double error = rt.run([&] {
    for (int step = 0; step < steps; ++step) {
      teff::parallel_for(std::size_t{1}, points - 1,
                         [&](std::size_t i) { next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4; });
      std::swap(now, next);
    }
    return teff::parallel_reduce(std::size_t{0}, points, 0.0, std::plus<>{}, [&](std::size_t i) {
      return std::abs(now[i] - static_cast<double>(i) / (points - 1));
    });
  });

  std::printf("distance from the straight line: %.2g\n", error);
  return error < 1e-6 ? 0 : 1;
}
