#include "teff/apps/values.hpp"

#include <algorithm>

namespace teff::apps {
namespace {

/// Between -1/2 and 1/2: the finaliser of splitmix64.
double random_at(std::uint64_t seed, int row, int column) {
  std::uint64_t value = seed + 0x9e3779b97f4a7c15 * ((static_cast<std::uint64_t>(row) << 32) +
                                                     static_cast<std::uint64_t>(column) + 1);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  value ^= value >> 31;
  return static_cast<double>(static_cast<std::int64_t>(value)) * 0x1p-64;
}

}  // namespace

double values::at(int row, int column) const {
  if (kind_ == kind::general) return random_at(seed_, row, column);
  return random_at(seed_, std::max(row, column), std::min(row, column)) + (row == column ? diagonal_ : 0);
}

void values::fill(const tile& into, int first_row, int first_column) const {
  for (int column = 0; column < into.columns; ++column) {
    double* const to = into.column(column);
    for (int row = 0; row < into.rows; ++row) to[row] = at(first_row + row, first_column + column);
  }
}

}  // namespace teff::apps
