#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hpcg/matrix.hpp"

namespace teff::apps::hpcg {

/// How a sweep of Gauss-Seidel visits the rows.
enum class sweep : std::uint8_t {
  rows,        ///< one row after the other; nothing is parallel
  wavefronts,  ///< lines of points along x: a set has the lines with the same y + 2 z. The result is that of
               ///< `rows`, bit by bit, because each line still comes after its lower neighbours
};

/// The rows in the order of a sweep, in units within sets. Threads may update the units of a set at the same
/// time, and the rows of a unit in their order. A forward sweep takes the sets in their order, a backward
/// sweep takes everything in the opposite order.
struct visiting {
  std::vector<std::int32_t> rows;
  std::int64_t unit = 1;            ///< rows of a unit
  std::vector<std::int64_t> first;  ///< the first unit of each set, and at the end the number of all

  [[nodiscard]] std::size_t sets() const { return first.size() - 1; }
};

[[nodiscard]] visiting visiting_of(const box& points, sweep how);

}  // namespace teff::apps::hpcg
