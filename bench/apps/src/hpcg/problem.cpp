#include "hpcg/problem.hpp"

#include <cstddef>

namespace teff::apps::hpcg {
namespace {

constexpr int grids = 4;

level make_level(const domain& part, std::int64_t rows_of_tile) {
  level made{.part = part,
             .a = twenty_seven_points(part),
             .around = halo_of(part),
             .order = visiting_of(part.points, rows_of_tile)};
  const auto rows = std::size_t(part.points.rows());
  made.r.resize(rows);
  made.x.resize(rows + made.around.ghosts());
  made.sent.resize(made.around.ghosts());
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

/// The entries of the matrix of all ranks.
double nonzeros(const box& of) {
  return (3.0 * of.x - 2) * (3.0 * of.y - 2) * (3.0 * of.z - 2);
}

}  // namespace

problem::problem(const domain& part, std::int64_t rows_of_tile) {
  levels.push_back(make_level(part, rows_of_tile));
  for (domain coarse = part; levels.size() < grids;) {
    coarse.points = {coarse.points.x / 2, coarse.points.y / 2, coarse.points.z / 2};
    levels.push_back(make_level(coarse, rows_of_tile));
    levels.back().finer = rows_of_every_other_point(coarse.points);
  }
  b = right_hand_side(finest().a);
  for (std::vector<double>* each : {&x, &ap, &terms}) each->resize(b.size());
  p.resize(finest().x.size());
}

double flops(const problem& of, int iterations) {
  // Three products of vectors, three sums of vectors, one product with the matrix. On each level but the
  // coarsest there are two symmetric sweeps and the product with the matrix of a full residual.
  const box whole = of.finest().part.whole();
  double each = 12.0 * whole.rows() + 2.0 * nonzeros(whole);
  for (const level& at : of.levels)
    each += (&at == &of.levels.back() ? 4.0 : 10.0) * nonzeros(at.part.whole());
  return each * iterations;
}

}  // namespace teff::apps::hpcg
