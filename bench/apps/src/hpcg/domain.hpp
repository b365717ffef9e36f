#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/apps/ways.hpp"

namespace teff::apps::hpcg {

/// The points of a box; x changes fastest from row to row.
struct box {
  int x = 0;
  int y = 0;
  int z = 0;
  [[nodiscard]] std::int32_t rows() const { return x * y * z; }
  [[nodiscard]] std::int32_t row(int at_x, int at_y, int at_z) const { return (at_z * y + at_y) * x + at_x; }
  [[nodiscard]] bool has(int at_x, int at_y, int at_z) const {
    return 0 <= at_x && at_x < x && 0 <= at_y && at_y < y && 0 <= at_z && at_z < z;
  }
};

/// A rank's box among the boxes of all ranks.
struct domain {
  box points;
  box ranks = {1, 1, 1};  ///< how many domains there are in each direction
  box at = {0, 0, 0};     ///< the place of this one among them

  [[nodiscard]] int rank() const { return ranks.row(at.x, at.y, at.z); }
  /// The points of all ranks.
  [[nodiscard]] box whole() const { return {points.x * ranks.x, points.y * ranks.y, points.z * ranks.z}; }
  /// The row of all ranks that a row of this rank is.
  [[nodiscard]] std::int32_t row_of_all(std::int32_t row) const {
    return whole().row(at.x * points.x + row % points.x, at.y * points.y + row / points.x % points.y,
                       at.z * points.z + row / (points.x * points.y));
  }
};

/// The domain of a rank: all domains have as many points. Two ranks are cut along z, because the points of a
/// plane are consecutive rows. Throws bench::usage_error unless each domain has a multiple of 8 points a
/// side. Each of the four grids has half as many points a side as the grid before it.
[[nodiscard]] domain domain_of(const box& whole, int rank = 0, int ranks = 1);

/// The elements of vectors that cross between a rank and those around it. Behind its own rows, a vector has
/// ghosts: copies of the elements of other ranks beside its own.
struct halo {
  /// Elements for another rank, and as many ghosts from there.
  struct message {
    int rank;
    range elements;  ///< places in `sent`, and among the ghosts
    range readers;   ///< rows outside it read none of these ghosts
  };
  std::vector<message> messages;
  std::vector<std::int32_t> sent;  ///< the rows whose elements are sent, message by message; they ascend

  [[nodiscard]] std::size_t ghosts() const { return sent.size(); }
};
[[nodiscard]] halo halo_of(const domain& of);

/// Calls visit(towards, rank, x, y, z) for each point at the border to another domain, domain by domain.
/// `towards` has -1, 0 or 1 for each direction: the ghost is at x + towards.x, and so on. Ghosts are numbered
/// in the order of these calls.
template <class Visit>
void visit_border(const domain& of, Visit visit) {
  const auto first = [](int towards, int side) { return towards > 0 ? side - 1 : 0; };
  const auto last = [](int towards, int side) { return towards < 0 ? 0 : side - 1; };
  for (int k = -1; k <= 1; ++k)
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) {
        const box other{of.at.x + i, of.at.y + j, of.at.z + k};
        if ((i == 0 && j == 0 && k == 0) || !of.ranks.has(other.x, other.y, other.z)) continue;
        const int rank = of.ranks.row(other.x, other.y, other.z);
        for (int z = first(k, of.points.z); z <= last(k, of.points.z); ++z)
          for (int y = first(j, of.points.y); y <= last(j, of.points.y); ++y)
            for (int x = first(i, of.points.x); x <= last(i, of.points.x); ++x)
              visit(box{i, j, k}, rank, x, y, z);
      }
}

}  // namespace teff::apps::hpcg
