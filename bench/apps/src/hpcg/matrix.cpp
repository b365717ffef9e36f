#include "hpcg/matrix.hpp"

#include <cstddef>

namespace teff::apps::hpcg {
namespace {

constexpr double on_diagonal = 26;

/// The column of each point of a domain and of those around it: -1 beyond the points of all ranks.
class columns_around {
 public:
  explicit columns_around(const domain& of)
      : points_{of.points.x + 2, of.points.y + 2, of.points.z + 2},
        columns_(std::size_t(points_.rows()), -1) {
    std::int32_t next = 0;
    for (int z = 0; z < of.points.z; ++z)
      for (int y = 0; y < of.points.y; ++y)
        for (int x = 0; x < of.points.x; ++x) at(x, y, z) = next++;
    visit_border(of, [&](const box& towards, int /*rank*/, int x, int y, int z) {
      at(x + towards.x, y + towards.y, z + towards.z) = next++;
    });
  }

  [[nodiscard]] std::int32_t& at(int x, int y, int z) {
    return columns_[std::size_t(points_.row(x + 1, y + 1, z + 1))];
  }

 private:
  box points_;
  std::vector<std::int32_t> columns_;
};

}  // namespace

matrix twenty_seven_points(const domain& of) {
  constexpr std::size_t most = 27;
  const auto rows = std::size_t(of.points.rows());
  columns_around all(of);
  matrix a;
  a.first.reserve(rows + 1);
  a.diagonal.reserve(rows);
  a.columns.reserve(rows * most);
  a.values.reserve(rows * most);
  a.first.push_back(0);
  const auto add = [&](std::int32_t row, std::int32_t column) {
    if (column == row) a.diagonal.push_back(static_cast<std::int32_t>(a.columns.size()));
    a.columns.push_back(column);
    a.values.push_back(column == row ? on_diagonal : -1);
  };
  for (int z = 0; z < of.points.z; ++z)
    for (int y = 0; y < of.points.y; ++y)
      for (int x = 0; x < of.points.x; ++x) {
        for (int k = z - 1; k <= z + 1; ++k)
          for (int j = y - 1; j <= y + 1; ++j)
            for (int i = x - 1; i <= x + 1; ++i)
              if (const std::int32_t column = all.at(i, j, k); column >= 0)
                add(of.points.row(x, y, z), column);
        a.first.push_back(static_cast<std::int32_t>(a.columns.size()));
      }
  return a;
}

std::vector<double> right_hand_side(const matrix& a) {
  std::vector<double> b;
  b.reserve(a.diagonal.size());
  for (std::size_t row = 0; row < a.diagonal.size(); ++row)
    b.push_back(on_diagonal - (a.first[row + 1] - a.first[row] - 1));
  return b;
}

}  // namespace teff::apps::hpcg
