#pragma once

#include <cmath>
#include <cstdint>

#include "teff/apps/tiled_matrix.hpp"

namespace teff::apps {

/// The values of a square matrix, each a function of its place: any rank can make any tile.
class values {
 public:
  /// Whether it is symmetric, and its diagonal outweighs the eigenvalues of the rest, which are about those
  /// of any random symmetric matrix, at most 0.6 x the root of its size.
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
