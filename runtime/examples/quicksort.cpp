// Quicksort: each half is a task, until a part is small enough to be sorted at once.
#include <teff/teff.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

namespace {

void quicksort(std::span<double> values) {
  constexpr std::size_t small = 1000;
  if (values.size() <= small) {
    std::sort(values.begin(), values.end());
    return;
  }
  const double pivot = values[values.size() / 2];
  const auto middle = std::partition(values.begin(), values.end(), [=](double v) { return v < pivot; });
  const auto above = std::partition(middle, values.end(), [=](double v) { return v == pivot; });
  teff::join([left = std::span(values.begin(), middle)] { quicksort(left); },
             [right = std::span(above, values.end())] { quicksort(right); });
}

}  // namespace

int main() {
  std::vector<double> values(1'000'000);
  std::mt19937_64 random(1);
  for (auto& value : values) value = std::uniform_real_distribution<>()(random);

  teff::runtime rt;
  rt.run([&] { quicksort(values); });

  const bool sorted = std::is_sorted(values.begin(), values.end());
  std::printf("%s\n", sorted ? "sorted" : "not sorted");
  return sorted ? 0 : 1;
}
