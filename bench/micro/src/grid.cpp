#include "teff/micro/grid.hpp"

#include <algorithm>

namespace teff::micro {

void grid::reset() {
  std::ranges::fill(values_, 0);
}

std::uint64_t grid::checksum() const {
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values_) sum = (sum ^ value) * prime;
  return sum;
}

std::uint64_t expected_checksum(work asked) {
  asked.spin = {};
  grid alone(asked);
  for (std::int32_t column = 0; column < asked.columns; ++column)
    for (std::int32_t row = 0; row < asked.rows; ++row) alone.execute(row, column);
  return alone.checksum();
}

}  // namespace teff::micro
