#pragma once

#include <cstdint>

#include "teff/apps/box.hpp"
#include "teff/apps/huge_vector.hpp"

/// HPCCG: a linear system of the 27-point stencil, and the kernels of conjugate gradients for it. Kernels
/// work on the rows from `begin` to `end - 1`, on the calling thread.
namespace teff::apps::hpccg {

/// A sparse matrix by rows. A row is a point of the grid, with an element for itself (27) and for each
/// neighbour (-1). Rows are numbered along the first direction, then the second, then the third.
///
/// With several ranks, each has a grid, and they stand one above the other in the third direction. The rows
/// of the plane below the grid, and of the plane above, are the neighbours'. A vector to be multiplied has
/// `below` elements for the plane below, then the rank's, then as many for the plane above as it has.
struct matrix {
  matrix(const box& grid, bool has_below, bool has_above);

  std::int64_t rows;
  std::int64_t plane;  ///< rows of a plane
  std::int64_t below;  ///< rows of the neighbour below: a plane or none
  std::int64_t above;
  std::int64_t reach;               ///< a row has elements in columns at most so far from its own
  huge_vector<std::int64_t> first;  ///< element of each row, and behind the last one
  huge_vector<std::int32_t> columns;
  huge_vector<double> values;

  [[nodiscard]] std::int64_t elements() const { return first[rows]; }
};

/// The right-hand side, whose solution is 1 everywhere.
void fill_right_side(const matrix& a, double* b, std::int64_t begin, std::int64_t end);

/// to := A from
void multiply(const matrix& a, const double* from, double* to, std::int64_t begin, std::int64_t end);
/// w := x + beta y; w may be x or y.
void add_multiple(const double* x, double beta, const double* y, double* w, std::int64_t begin,
                  std::int64_t end);
/// x . y, always added up in the same order.
[[nodiscard]] double dot(const double* x, const double* y, std::int64_t begin, std::int64_t end);

}  // namespace teff::apps::hpccg
