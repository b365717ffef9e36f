// A blocked heat equation as data flow: each task names the blocks that it reads and the block that it
// writes. It names whole blocks, also where it reads one element of a block.
#include <teff/flow.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::size_t blocks = 16;
  constexpr std::size_t size = 1000;  // of a block
  constexpr int steps = 200;
  std::vector<double> now(blocks * size);
  std::vector<double> next(now);
  now.front() = next.front() = 1;

  teff::runtime rt;
  teff::flow f{rt};

  const auto relax = [](const std::vector<double>& from, std::vector<double>& to, std::size_t first,
                        std::size_t end) {
    for (std::size_t i = first; i < end; ++i) to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;
  };
  const auto block = [](std::vector<double>& of, std::size_t b) { return teff::section(of, b * size, size); };
  double heat = 0;
  for (int step = 0; step < steps; ++step) {
    auto& from = step % 2 == 0 ? now : next;
    auto& to = step % 2 == 0 ? next : now;
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t first = b == 0 ? 1 : b * size;  // the ends stay as they are
      const std::size_t end = b + 1 == blocks ? b * size + size - 1 : (b + 1) * size;
      f.task(teff::in(block(from, b == 0 ? b : b - 1)), teff::in(block(from, b)),
             teff::in(block(from, b + 1 == blocks ? b : b + 1)), teff::out(block(to, b)),
             [=, &from, &to] { relax(from, to, first, end); });
    }
  }
  for (std::size_t b = 0; b < blocks; ++b)
    f.task(teff::in(block(now, b)), teff::reduction(heat), [&now, b](double& mine) {
      for (std::size_t i = b * size; i < (b + 1) * size; ++i) mine += now[i];
    });
  f.wait();

  std::printf("heat %.6f after %d steps\n", heat, steps);
  return std::isfinite(heat) && heat > 1 ? 0 : 1;
}
