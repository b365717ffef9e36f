#include "hpcg/problem.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "teff/bench/failure.hpp"

namespace teff::apps::hpcg {
namespace {

constexpr int grids = 4;
constexpr std::int64_t most_rows = std::int64_t{1} << 26;  // 27 entries a row are counted in 32 bits

level make_level(const box& points, sweep how) {
  level made{.points = points, .a = twenty_seven_points(points), .order = visiting_of(points, how)};
  made.r.resize(std::size_t(points.rows()));
  made.x.resize(std::size_t(points.rows()));
  return made;
}

/// For each point of a box, the row of the same point in the box with twice as many points a side.
std::vector<std::int32_t> rows_of_every_other_point(const box& coarse) {
  const box fine{2 * coarse.x, 2 * coarse.y, 2 * coarse.z};
  std::vector<std::int32_t> rows;
  for (int z = 0; z < coarse.z; ++z)
    for (int y = 0; y < coarse.y; ++y)
      for (int x = 0; x < coarse.x; ++x) rows.push_back(fine.row(2 * x, 2 * y, 2 * z));
  return rows;
}

void check(const box& points) {
  constexpr int multiple = 1 << (grids - 1);
  for (const int side : {points.x, points.y, points.z})
    if (side < multiple || side % multiple != 0)
      throw bench::usage_error(fmt::format("{} points along a side: four grids need a multiple of {}, as {}",
                                           side, multiple,
                                           side < multiple ? multiple : side - side % multiple));
  if (std::int64_t{points.x} * points.y * points.z > most_rows)
    throw bench::usage_error(
        fmt::format("{} x {} x {} points: at most {} are possible, so take shorter sides", points.x, points.y,
                    points.z, most_rows));
}

}  // namespace

problem::problem(const box& points, sweep how) {
  check(points);
  levels.push_back(make_level(points, how));
  for (box coarse = points; levels.size() < grids;) {
    coarse = {coarse.x / 2, coarse.y / 2, coarse.z / 2};
    levels.push_back(make_level(coarse, how));
    levels.back().finer = rows_of_every_other_point(coarse);
  }
  b = right_hand_side(finest().a);
  for (std::vector<double>* each : {&x, &p, &ap, &terms}) each->resize(b.size());
}

void exaggerate_diagonal(problem& of) {
  matrix& a = of.finest().a;
  for (std::size_t row = 0; row < of.b.size(); ++row) {
    const double factor = 1e6 * (row < 9 ? static_cast<double>(row + 2) : 1);
    a.values[std::size_t(a.diagonal[row])] *= factor;
    of.b[row] *= factor;
  }
}

double flops(const problem& of, int iterations) {
  // Three products of vectors, three sums of vectors, one product with the matrix. On each level but the
  // coarsest there are two symmetric sweeps and the product with the matrix of a full residual.
  double each = 12.0 * of.rows() + 2.0 * static_cast<double>(of.finest().a.nonzeros());
  for (const level& at : of.levels)
    each += (&at == &of.levels.back() ? 4.0 : 10.0) * static_cast<double>(at.a.nonzeros());
  return each * iterations;
}

}  // namespace teff::apps::hpcg
