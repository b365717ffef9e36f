#include "teff/programs/kernels/floors.hpp"

#include <cstddef>

namespace teff::programs {

[[gnu::noinline, gnu::aligned(64)]] bool lay(floor_rows& floor, const room& placed) {
  if (placed.top < 0 || placed.left < 0 || placed.top + placed.height > floor_side ||
      placed.left + placed.width > floor_side)
    return false;
  const std::uint64_t squares = ((std::uint64_t{1} << placed.width) - 1) << placed.left;
  for (int row = placed.top; row < placed.top + placed.height; ++row) {
    std::uint64_t& taken = floor[static_cast<std::size_t>(row)];
    if ((taken & squares) != 0) return false;
    taken |= squares;
  }
  return true;
}

}  // namespace teff::programs
