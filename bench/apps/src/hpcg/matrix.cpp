#include "hpcg/matrix.hpp"

#include <algorithm>
#include <cstddef>

namespace teff::apps::hpcg {
namespace {

constexpr double on_diagonal = 26;

/// Calls visit(row) for each point around a point and for that point, in ascending order of their rows.
template <class Visit>
void visit_around(const box& of, int x, int y, int z, Visit visit) {
  const auto first = [](int at) { return std::max(at - 1, 0); };
  const auto last = [](int at, int size) { return std::min(at + 1, size - 1); };
  for (int k = first(z); k <= last(z, of.z); ++k)
    for (int j = first(y); j <= last(y, of.y); ++j)
      for (int i = first(x); i <= last(x, of.x); ++i) visit(of.row(i, j, k));
}

}  // namespace

matrix twenty_seven_points(const box& of) {
  constexpr std::size_t most = 27;
  const auto rows = std::size_t(of.rows());
  matrix a;
  a.first.reserve(rows + 1);
  a.diagonal.reserve(rows);
  a.columns.reserve(rows * most);
  a.values.reserve(rows * most);
  a.first.push_back(0);
  for (int z = 0; z < of.z; ++z)
    for (int y = 0; y < of.y; ++y)
      for (int x = 0; x < of.x; ++x) {
        visit_around(of, x, y, z, [&, row = of.row(x, y, z)](std::int32_t column) {
          if (column == row) a.diagonal.push_back(static_cast<std::int32_t>(a.columns.size()));
          a.columns.push_back(column);
          a.values.push_back(column == row ? on_diagonal : -1);
        });
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
