// y += a * x, and what it comes to: loops that a compiler vectorises, over indices, ranges and parts.
#include <teff/teff.hpp>

#include <cstdio>
#include <functional>
#include <span>
#include <vector>

int main() {
  constexpr int n = 1 << 16;
  constexpr float a = 0.5F;
  std::vector<float> x(n, 2.0F);
  std::vector<float> y(n, 1.0F);

  teff::runtime rt;
  const double sum = rt.run([&] {
    // By index, as the plain loop reads.
    teff::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
    // The same, written as a function of two elements.
    teff::parallel_transform(x, y, y.begin(), [=](float x, float y) { return a * x + y; });
    // A body that takes a part of the range, as a call of a library would.
    teff::parallel_for(y, [](std::span<float> part) {
      for (float& each : part) each *= 2;
    });
    // Every other element, in blocks of a thousand.
    teff::parallel_for(0, n, 2, [&](int i) { y[i] = -y[i]; }, {.grain = 1000});
    return teff::parallel_reduce(y, 0.0, std::plus<>{}, [](float each) { return each * each; });
  });

  std::printf("the squares' sum: %g\n", sum);
  return sum == 36.0 * n ? 0 : 1;
}
