#pragma once

#include <cmath>
#include <cstdint>

#include "teff/apps/tiled_matrix.hpp"

namespace teff::apps {

/// The values of a square matrix, each a function of its place: any rank can make any tile.
class values {
 public:
  /// Whether the matrix is symmetric with a diagonal that outweighs the other eigenvalues. Without the
  /// diagonal, these are at most about 0.6 x the root of the size, as of any random symmetric matrix.
  enum class kind : std::uint8_t { general, positive_definite };

  values(kind what, int size, std::uint64_t seed)
      : kind_(what), diagonal_(2 * std::sqrt(size) + 1), seed_(seed) {}

  [[nodiscard]] double at(int row, int column) const;
  /// Writes a tile that begins there.
  void fill(const tile& into, int first_row, int first_column) const;

 private:
  kind kind_;
  double diagonal_;
  std::uint64_t seed_;
};

}  // namespace teff::apps
