#include "teff/programs/kernels/search.hpp"

#include <cstddef>
#include <cstdlib>

namespace teff::programs {

[[gnu::noinline, gnu::aligned(64)]] bool is_safe(const board& placed, int row, int column) {
  for (int above = 0; above < row; ++above) {
    const int distance = std::abs(placed[static_cast<std::size_t>(above)] - column);
    if (distance == 0 || distance == row - above) return false;
  }
  return true;
}

[[gnu::noinline, gnu::aligned(64)]] double best_hope(const knapsack_item& next, std::int64_t capacity,
                                                     std::int64_t value) {
  return static_cast<double>(value) +
         static_cast<double>(capacity) * static_cast<double>(next.value) / static_cast<double>(next.weight);
}

[[gnu::noinline, gnu::aligned(64)]] void touch(std::uint8_t* cell) {
  ++*cell;
}

}  // namespace teff::programs
