#pragma once

#include <cstdint>
#include <vector>

#include "hpcg/domain.hpp"
#include "teff/apps/huge_vector.hpp"

namespace teff::apps::hpcg {

/// A sparse matrix row by row. Its columns are the rank's rows, and then the ghosts. The columns of a row
/// follow each other as the rows of all ranks do. So a product has the same bits over any number of ranks.
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
[[nodiscard]] matrix twenty_seven_points(const domain& of);

/// The right-hand side whose solution is 1 everywhere: 26 - (entries of the row - 1).
[[nodiscard]] std::vector<double> right_hand_side(const matrix& a);

}  // namespace teff::apps::hpcg
