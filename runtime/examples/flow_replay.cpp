// Data flow that is recorded once and replayed: the dependences of a step are found once.
#include <teff/flow.hpp>

#include <array>
#include <cstddef>
#include <cstdio>

int main() {
  constexpr std::size_t cells = 8;
  std::array<long, cells> x{};
  x[0] = 1;
  long sum = 0;
  teff::runtime rt;
  teff::flow f{rt};

  auto step = f.record([&] {
    for (std::size_t i = 0; i < cells; ++i) {
      auto& mine = x[i];
      const auto& left = x[(i + cells - 1) % cells];
      f.task(teff::in(left), teff::inout(mine), [&mine, &left] { mine = (mine + left) % 1000003; });
    }
    f.task(teff::in(x), teff::inout(sum), [&] {
      for (const long each : x) sum = (sum + each) % 1000003;
    });
  });
  step.replay(99);  // a hundred steps in all

  std::printf("sum %ld after 100 steps\n", sum);
  std::array<long, cells> y{};
  y[0] = 1;
  long expected = 0;
  for (int n = 0; n < 100; ++n) {
    for (std::size_t i = 0; i < cells; ++i) y[i] = (y[i] + y[(i + cells - 1) % cells]) % 1000003;
    for (const long each : y) expected = (expected + each) % 1000003;
  }
  return sum == expected ? 0 : 1;
}
