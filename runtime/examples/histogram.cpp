// A histogram without locks: each block of values is counted by itself, and the counts are added up.
#include <teff/teff.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

using histogram = std::array<long, 256>;

int main() {
  std::vector<std::uint8_t> pixels(1'000'000);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i >> 7);

  const auto count = [](std::span<std::uint8_t> part) {
    histogram counts{};
    for (const auto value : part) ++counts[value];
    return counts;
  };
  const auto add = [](histogram a, const histogram& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };

  teff::runtime rt;
  const auto counts =
      rt.run([&] { return teff::parallel_reduce(pixels, histogram{}, add, count, {.grain = 16'384}); });

  long all = 0;
  for (const long each : counts) all += each;
  std::printf("%ld pixels, %ld of them black\n", all, counts[0]);
  return all == static_cast<long>(pixels.size()) && counts == count(pixels) ? 0 : 1;
}
