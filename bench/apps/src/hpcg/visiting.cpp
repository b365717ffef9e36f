#include "hpcg/visiting.hpp"

#include <numeric>

namespace teff::apps::hpcg {
namespace {

visiting one_by_one(const box& points) {
  visiting made{.unit = points.rows(), .first = {0, 1}};
  made.rows.resize(std::size_t(points.rows()));
  std::iota(made.rows.begin(), made.rows.end(), 0);
  return made;
}

visiting in_wavefronts(const box& points) {
  visiting made{.unit = points.x};
  for (int wave = 0; wave <= points.y - 1 + 2 * (points.z - 1); ++wave) {
    made.first.push_back(static_cast<std::int64_t>(made.rows.size()) / points.x);
    for (int z = 0; z < points.z; ++z)
      if (const int y = wave - 2 * z; y >= 0 && y < points.y)
        for (int x = 0; x < points.x; ++x) made.rows.push_back(points.row(x, y, z));
  }
  made.first.push_back(static_cast<std::int64_t>(made.rows.size()) / points.x);
  return made;
}

}  // namespace

visiting visiting_of(const box& points, sweep how) {
  return how == sweep::wavefronts ? in_wavefronts(points) : one_by_one(points);
}

}  // namespace teff::apps::hpcg
