#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hpcg/domain.hpp"

namespace teff::apps::hpcg {

/// The order in which a sweep of Gauss-Seidel visits the rows. Its result is that of one row after the other,
/// bit by bit. A line of points along x must come after the line before it in its plane, and after the line
/// with the next y in the plane below. So a tile has the lines whose y + z is in one interval, its column,
/// and whose z is in another, its layer. A set is a wavefront: threads may update its tiles at the same time.
/// A forward sweep takes the sets in their order, a backward sweep takes everything in the opposite order.
struct visiting {
  struct tile {
    int column;
    int layer;
  };
  box points;
  int edge;                        ///< how many lines of a plane a tile has at most, and how many planes
  std::vector<tile> tiles = {};    ///< set after set
  std::vector<std::int64_t> sets;  ///< the first tile of each set, and at the end the number of all

  [[nodiscard]] int first_plane(const tile& of) const { return of.layer * edge; }
  [[nodiscard]] int end_plane(const tile& of) const { return std::min((of.layer + 1) * edge, points.z); }
  /// The rows of the columns from `begin` to `end - 1` in a plane.
  [[nodiscard]] range rows(int begin, int end, int z) const {
    return {points.row(0, std::clamp(begin * edge - z, 0, points.y), z),
            points.row(0, std::clamp(end * edge - z, 0, points.y), z)};
  }
};

/// A tile has at most so many rows, but at least a line. A box of as few is a tile or two.
[[nodiscard]] visiting visiting_of(const box& points, std::int64_t rows_of_tile);

}  // namespace teff::apps::hpcg
