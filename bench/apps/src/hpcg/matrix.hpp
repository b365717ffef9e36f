#pragma once

#include <cstdint>
#include <vector>

#include "teff/apps/huge_vector.hpp"

namespace teff::apps::hpcg {

/// The points of a box; x changes fastest from row to row.
struct box {
  int x = 0;
  int y = 0;
  int z = 0;
  [[nodiscard]] std::int32_t rows() const { return x * y * z; }
  [[nodiscard]] std::int32_t row(int at_x, int at_y, int at_z) const { return (at_z * y + at_y) * x + at_x; }
};

/// A sparse matrix row by row. The columns of a row ascend.
struct matrix {
  std::vector<std::int32_t> first;  ///< the first entry of each row, and at the end the number of all
  huge_vector<std::int32_t> columns;
  huge_vector<double> values;
  std::vector<std::int32_t> diagonal;  ///< the entry of each row on the diagonal

  [[nodiscard]] std::int32_t rows() const { return static_cast<std::int32_t>(diagonal.size()); }
  [[nodiscard]] std::int64_t nonzeros() const { return static_cast<std::int64_t>(values.size()); }
  /// The product of a row and a vector.
  [[nodiscard]] double product(std::int32_t row, const double* x) const {
    double sum = 0;
    for (std::int32_t entry = first[std::size_t(row)]; entry < first[std::size_t(row) + 1]; ++entry)
      sum += values[std::size_t(entry)] * x[columns[std::size_t(entry)]];
    return sum;
  }
};

/// The operator of HPCG: 26 on the diagonal, -1 between a point and each of its up to 26 neighbours.
[[nodiscard]] matrix twenty_seven_points(const box& of);

/// The right-hand side whose solution is 1 everywhere: 26 - (entries of the row - 1).
[[nodiscard]] std::vector<double> right_hand_side(const matrix& a);

}  // namespace teff::apps::hpcg
